"""Races, inferred edges, redundant edges, and reads of bytes that nobody wrote."""

from planc.hazards.check import check_graph
from planc.hazards.edits import apply_fixes
from planc.hazards.infer import infer_order
from planc.hazards.premises import rests_on
from planc.hazards.races import Conflict, Race, Races, find_races

__all__ = ["Conflict", "Race", "Races", "apply_fixes", "check_graph", "find_races", "infer_order", "rests_on"]
