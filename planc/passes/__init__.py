"""From a Program to a Schedule: a table of passes, each from one legal schedule to another."""

from planc.passes.arena import ArenaReport, arena_report
from planc.passes.base import Pass
from planc.passes.observers import Dump, Timing, Verify, text_of, together
from planc.passes.packing import pack
from planc.passes.pipeline import Observer, Step, read_pipeline, run_pipeline
from planc.passes.problem import Placed, Problem, interval_problem
from planc.passes.spec import render
from planc.passes.table import LEVELS, ORDER, PASSES
from planc.passes.written import written

__all__ = [
    "LEVELS",
    "ORDER",
    "PASSES",
    "ArenaReport",
    "Dump",
    "Observer",
    "Pass",
    "Placed",
    "Problem",
    "Step",
    "Timing",
    "Verify",
    "arena_report",
    "interval_problem",
    "pack",
    "read_pipeline",
    "render",
    "run_pipeline",
    "text_of",
    "together",
    "written",
]
