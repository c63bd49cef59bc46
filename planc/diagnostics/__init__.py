"""Diagnostics: codes, what they say, and how they are shown."""

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.collector import Collector
from planc.diagnostics.diagnostic import (
    DeviceError,
    Diagnostic,
    Edit,
    Fact,
    Fix,
    GraphError,
    InternalFault,
    PlancError,
    PlanError,
    Related,
    ReplayError,
    Severity,
)
from planc.diagnostics.entry import CodeEntry
from planc.diagnostics.span import Span

__all__ = [
    "CATALOGUE",
    "CodeEntry",
    "Collector",
    "DeviceError",
    "Diagnostic",
    "Edit",
    "Fact",
    "Fix",
    "GraphError",
    "InternalFault",
    "PlanError",
    "PlancError",
    "Related",
    "ReplayError",
    "Severity",
    "Span",
]
