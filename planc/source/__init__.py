"""Graph files to models with places, and models to an expanded graph.

In the order of the work: ``syntax`` reads text to trees, ``shape`` and ``reading`` validate units of
a file and what it includes, ``forms`` and ``expressions`` read short forms, ``symbols``, ``declare`` and
``kernels`` evaluate declarations, ``template_reader`` parses nodes once, ``expand`` (with ``operations``,
``instances`` and ``views``) unrolls them, ``references`` and ``search`` find their edges, ``assemble`` puts
all of it together, and ``load`` is the way in. ``python`` is the other way in.
"""

from planc.source.limits import LIMITS, Limits
from planc.source.load import load_graph, load_text
from planc.source.python import Graph, load_python
from planc.source.sites import edit_after

__all__ = ["LIMITS", "Graph", "Limits", "edit_after", "load_graph", "load_python", "load_text"]
