"""Gathering what is wrong with a plan, so that one refusal says all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import CATALOGUE, Diagnostic, PlanError
from planc.diagnostics.diagnostic import Fact

MOST = 50
"""After so many findings the rest are left out; a hostile plan could hold millions."""

AGAIN = "compile its graph again, and keep the file as planc wrote it"
"""The cure where a plan is not what the writer makes."""

Mask = NDArray[np.bool_]


class Findings:
    """The mistakes of one plan, one diagnostic for each rule that it breaks."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: list[Diagnostic] = []

    def add(self, code: str, message: str, help: str = "", **facts: Fact) -> None:
        """Keep one mistake; the code must be in the catalogue."""
        CATALOGUE[code]
        if len(self._found) < MOST:
            self._found.append(Diagnostic(code, message, help=help or AGAIN, facts=facts))

    def rows(self, code: str, table: str, bad: Mask, message: str, name: Callable[[int], str] = str) -> bool:
        """Report the first row of ``table`` where ``bad`` holds, and how many do; return whether any does.

        ``{row}`` in the message stands for that row, or for what ``name`` calls it.
        """
        if not bad.any():
            return False
        row = int(np.argmax(bad))
        count = int(np.count_nonzero(bad))
        more = f" (and {count - 1} more rows)" if count > 1 else ""
        self.add(code, message.replace("{row}", name(row)) + more, table=table, row=row, rows=count)
        return True

    @property
    def any(self) -> bool:
        """Whether something is wrong."""
        return bool(self._found)

    def settle(self) -> None:
        """Raise :class:`PlanError` with everything found, if anything was."""
        if self._found:
            raise PlanError(self._found)


def refuse(code: str, message: str, help: str = "", **facts: Any) -> PlanError:
    """Return the exception for a mistake after which nothing else can be trusted."""
    CATALOGUE[code]
    return PlanError(Diagnostic(code, message, help=help or AGAIN, facts=facts))
