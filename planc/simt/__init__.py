"""Reference semantics of PTX on NumPy."""
