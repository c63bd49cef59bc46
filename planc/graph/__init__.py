"""From an expanded graph to a program."""

from planc.graph.build import Built, build, build_program
from planc.graph.order import edge_table, predecessors, topological_order
from planc.graph.report import Reporter, closest, name_cure

__all__ = [
    "Built",
    "Reporter",
    "build",
    "build_program",
    "closest",
    "edge_table",
    "name_cure",
    "predecessors",
    "topological_order",
]
