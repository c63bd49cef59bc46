"""How long each stage of a load took."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType


class Stages:
    """A stopwatch with laps: ``modules``, ``memory``, ``tables``, ``add``, ``instantiate``, ``upload``."""

    def __init__(self) -> None:
        """Start."""
        self._seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, stage: str) -> None:
        """Count the time since the last end to a stage."""
        now = time.perf_counter()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + now - self._last
        self._last = now

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each stage, in order."""
        return MappingProxyType(self._seconds)

    def __str__(self) -> str:
        """List the stages in milliseconds."""
        return ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in self._seconds.items())
