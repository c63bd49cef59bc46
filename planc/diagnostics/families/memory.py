"""Codes 3xx: buffers, views and what is read and written."""

from __future__ import annotations

from planc.diagnostics.diagnostic import Severity
from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC301", "index out of bounds"),
    CodeEntry("PLC302", "slice out of bounds"),
    CodeEntry("PLC303", "empty view"),
    CodeEntry("PLC304", "more indices than axes"),
    CodeEntry("PLC305", "slice step of zero"),
    CodeEntry("PLC306", "more than one ellipsis"),
    CodeEntry("PLC307", "misaligned view"),
    CodeEntry("PLC308", "copy between views of different shapes"),
    CodeEntry("PLC309", "copy between element types"),
    CodeEntry("PLC310", "copy onto itself"),
    CodeEntry("PLC311", "fill value that the element type cannot hold"),
    CodeEntry("PLC312", "fill pattern wider than 4 bytes"),
    CodeEntry("PLC313", "fill pattern that does not fit the view"),
    CodeEntry("PLC314", "write to an input"),
    CodeEntry("PLC315", "write to a constant"),
    CodeEntry("PLC316", "read of scratch that nobody wrote"),
    CodeEntry("PLC317", "read of an output before it is written"),
    CodeEntry("PLC318", "read of bytes that may never be written", Severity.WARNING),
    CodeEntry("PLC319", "output never written"),
    CodeEntry("PLC320", "output written in part", Severity.WARNING),
    CodeEntry("PLC321", "argument overlaps what its node writes"),
    CodeEntry("PLC322", "two written arguments overlap"),
    CodeEntry("PLC323", "buffer of no bytes"),
    CodeEntry("PLC324", "buffer too large"),
    CodeEntry("PLC325", "alignment that is no power of two"),
    CodeEntry("PLC326", "constant without data"),
    CodeEntry("PLC327", "data for a buffer that takes none"),
    CodeEntry("PLC328", "data file that cannot be read"),
    CodeEntry("PLC329", "data file without that member"),
    CodeEntry("PLC330", "data of another element type"),
    CodeEntry("PLC331", "data of another shape"),
    CodeEntry("PLC332", "literal value that the element type cannot hold"),
    CodeEntry("PLC333", "global of another size than its symbol"),
    CodeEntry("PLC334", "state never written", Severity.WARNING),
)
