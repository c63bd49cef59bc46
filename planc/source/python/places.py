"""Where in a Python file a builder's method was called."""

from __future__ import annotations

import linecache
import sys
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

from planc.diagnostics import Span
from planc.source.syntax import label_of

_HERE = str(Path(__file__).parent)


class CallPlaces:
    """Spans of the calls that reach the builder from outside; each place in the code is looked up once."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: dict[tuple[CodeType, int], Span] = {}

    def caller(self) -> Span:
        """Return the place of the innermost call from outside of this package."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        if frame is None:
            return Span("<python>")
        key = (frame.f_code, frame.f_lasti)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _span(frame)
        return found


def _span(frame: FrameType) -> Span:
    code = frame.f_code
    file = code.co_filename
    label = label_of(Path(file)) if not file.startswith("<") else file
    line, end_line, start, end = next(
        islice(code.co_positions(), frame.f_lasti // 2, None), (frame.f_lineno, None, None, None)
    )
    if line is None or end_line is None or start is None or end is None:
        return Span(label, frame.f_lineno)
    return Span(label, line, _column(file, line, start), end_line, _column(file, end_line, end))


def _column(file: str, line: int, offset: int) -> int:
    """Turn an offset in UTF-8 bytes into a column of characters."""
    text = linecache.getline(file, line).encode()
    return len(text[:offset].decode(errors="replace")) + 1 if text else offset + 1
