"""How much a graph file may ask of the one who reads it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one graph; beyond each there is a diagnostic (the table in docs/language.md names its code).

    ``file_bytes`` holds for each file, ``depth`` for mappings and lists inside each other, ``values``
    for what stands in a file, ``aliased`` for what aliases repeat. ``nesting`` holds for loops and
    instances of sub-graphs inside each other. ``nodes`` and ``edges`` count after expansion; ``steps``
    counts loop iterations and instances, also those that make no node.
    """

    file_bytes: int = 16 * 2**20
    depth: int = 64
    values: int = 2_000_000
    aliased: int = 100_000
    include_depth: int = 16
    nesting: int = 64
    nodes: int = 250_000
    edges: int = 2_000_000
    steps: int = 1_000_000
    expression_length: int = 4_096
    expression_depth: int = 64


LIMITS = Limits()

# What a 64-bit register can hold, read as signed or as unsigned.
LEAST = -(2**63)
GREATEST = 2**64 - 1
