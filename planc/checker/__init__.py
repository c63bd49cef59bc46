"""Proves a Schedule against its Program; never imports the passes."""
