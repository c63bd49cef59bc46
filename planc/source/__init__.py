"""Graph files to models with places, and models to an expanded graph."""
