"""Graph files to models with places, and models to an expanded graph."""

from planc.source.limits import LIMITS, Limits
from planc.source.load import load_graph, load_text
from planc.source.python import Graph, load_python
from planc.source.sites import edit_after

__all__ = ["LIMITS", "Graph", "Limits", "edit_after", "load_graph", "load_python", "load_text"]
