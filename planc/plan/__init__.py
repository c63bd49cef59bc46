"""Program and Schedule as tables, and the file that holds them."""
