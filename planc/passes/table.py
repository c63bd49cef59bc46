"""The pass table: every pass, the pipeline of each level, and why its passes stand in this order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from planc.passes.arena import Arena
from planc.passes.base import Pass
from planc.passes.lanes import Lanes
from planc.passes.order import Order
from planc.passes.reduce import Reduce

PASSES: Mapping[str, type[Any]] = MappingProxyType({p.name: p for p in (Lanes, Arena, Reduce, Order)})

DEFAULT: tuple[Pass, ...] = (
    Lanes(),  # width is what costs most: launches of thousands of streams
    Arena(),  # scratch shares bytes where the order, lanes included, allows
    Reduce(),  # edges that paths imply, the author's as well as those just added
    Order(),  # last, since it only arranges what is there
)

ORDER: tuple[tuple[str, str, str], ...] = (
    ("lanes", "arena", "the order that lanes add lets more buffers share bytes"),
    ("lanes", "reduce", "an edge along a lane can imply edges of the author"),
    ("arena", "reduce", "tight placement adds edges, and some of them imply others"),
    ("reduce", "order", "start times are those of the edges that will be launched"),
)
"""(before, after, why), for pipelines that planc itself gives."""

LEVELS: Mapping[str, tuple[Pass, ...]] = MappingProxyType({"O0": (), "O2": DEFAULT})


def check_order(pipeline: Sequence[Pass]) -> None:
    """Raise ValueError unless every row of :data:`ORDER` holds in ``pipeline``."""
    names = [item.name for item in pipeline]
    for before, after, why in ORDER:
        if before in names and after in names and names.index(before) > names.index(after):
            raise ValueError(f"pass `{before}` must stand before `{after}`: {why}")


for _level in LEVELS.values():
    check_order(_level)
