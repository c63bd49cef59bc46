"""Every code that planc can print, from one table per family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from planc.diagnostics.entry import CodeEntry
from planc.diagnostics.families import internal, kernels, memory, names, order, plan, runtime, source

_FAMILIES = (source, names, memory, kernels, order, plan, runtime, internal)


def _merge() -> Mapping[str, CodeEntry]:
    merged: dict[str, CodeEntry] = {}
    for family in _FAMILIES:
        for entry in family.CODES:
            if entry.code in merged:
                raise ValueError(f"code {entry.code} is in the catalogue twice")
            merged[entry.code] = entry
    return MappingProxyType(dict(sorted(merged.items())))


CATALOGUE: Mapping[str, CodeEntry] = _merge()
