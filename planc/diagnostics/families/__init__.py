"""The tables of codes, one module per family."""
