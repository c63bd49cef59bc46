"""The description language as pydantic models."""
