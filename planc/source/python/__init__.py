"""Graphs written in Python: the builder behind :class:`planc.Graph`, and files that use it."""

from planc.source.python.builder import Graph
from planc.source.python.file import load_python
from planc.source.python.handles import BufferHandle, Call, KernelHandle, NodeHandle, ScalarHandle, View

__all__ = [
    "BufferHandle",
    "Call",
    "Graph",
    "KernelHandle",
    "NodeHandle",
    "ScalarHandle",
    "View",
    "load_python",
]
