"""Races, the edges that mend them, and inferred edges."""
