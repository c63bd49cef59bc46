"""Bytes of the PTX types (PTX ISA, "Types")."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ONE = ("b8", "u8", "s8", "e4m3", "e5m2", "e2m1x2", "ue8m0", "pred")
_TWO = ("b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2")
_FOUR = ("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32")
_EIGHT = ("b64", "u64", "s64", "f64", "texref", "samplerref", "surfref", "f32x2")

TYPE_BYTES: Mapping[str, int] = MappingProxyType(
    {name: 1 for name in _ONE}
    | {name: 2 for name in _TWO}
    | {name: 4 for name in _FOUR}
    | {name: 8 for name in _EIGHT}
    | {"b128": 16}
)
"""Bytes of one element; ``pred`` has none in memory and counts as 1."""

VECTOR_LENGTHS: Mapping[str, int] = MappingProxyType({"v2": 2, "v4": 4, "v8": 8})
"""Elements of a vector type."""

OPAQUE_TYPES = frozenset({"texref", "samplerref", "surfref"})
"""Handles of textures, samplers and surfaces."""
