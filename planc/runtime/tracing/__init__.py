"""Watching the CPU device: which bytes each node reads, writes and reduces, and who does it first."""

from planc.runtime.tracing.areas import Area, find_areas
from planc.runtime.tracing.bytesets import EMPTY, ByteSet
from planc.runtime.tracing.feeding import feed, random_inputs
from planc.runtime.tracing.recorder import AreaTrace, NodeTrace, Recorder
from planc.runtime.tracing.session import Session, open_session
from planc.runtime.tracing.watch import Watch
from planc.runtime.tracing.witness import Hit, Wanted, Witness

__all__ = [
    "EMPTY",
    "Area",
    "AreaTrace",
    "ByteSet",
    "Hit",
    "NodeTrace",
    "Recorder",
    "Session",
    "Wanted",
    "Watch",
    "Witness",
    "feed",
    "find_areas",
    "open_session",
    "random_inputs",
]
