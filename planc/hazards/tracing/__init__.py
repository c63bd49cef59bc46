"""Traced replays against the program: what a node did and nobody said, what raced, what an order changes."""

from planc.hazards.tracing.findings import Finding, find_all
from planc.hazards.tracing.minimise import Difference, find_difference
from planc.hazards.tracing.orders import random_orders
from planc.hazards.tracing.reports import report, witnesses
from planc.hazards.tracing.shuffling import float_reduced, shuffle_diagnostics

__all__ = [
    "Difference",
    "Finding",
    "find_all",
    "find_difference",
    "float_reduced",
    "random_orders",
    "report",
    "shuffle_diagnostics",
    "witnesses",
]
