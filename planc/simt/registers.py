"""Registers as NumPy sees them: raw bits, one element per thread."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[Any]
"""A register of many threads: 1-D; ``bool`` for ``.pred``, else uint8, 16, 32 or 64 by width."""

BY_WIDTH: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {
        1: np.dtype(np.bool_),
        8: np.dtype(np.uint8),
        16: np.dtype(np.uint16),
        32: np.dtype(np.uint32),
        64: np.dtype(np.uint64),
    }
)
"""The dtype of a register of so many bits; 1 is a predicate."""

SIGNED: Mapping[int, np.dtype[Any]] = MappingProxyType({w: np.dtype(f"i{w // 8}") for w in (8, 16, 32, 64)})
"""Signed integers by width."""

_WIDTHS = {
    1: ("pred",),
    8: ("b8", "u8", "s8"),
    16: ("b16", "u16", "s16", "f16", "bf16"),
    32: ("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32"),
    64: ("b64", "u64", "s64", "f64", "f32x2"),
}
WIDTHS: Mapping[str, int] = MappingProxyType({name: w for w, names in _WIDTHS.items() for name in names})
"""Bits of the PTX types a register can have (PTX ISA, "Types"); ``b128`` is not among them."""


def width_of(dtype: np.dtype[Any]) -> int:
    """Return the width in bits of a register held as ``dtype`` (1 for a predicate)."""
    return 1 if dtype == np.bool_ else dtype.itemsize * 8


def resize(bits: Bits, width: int, *, signed: bool = False) -> Bits:
    """Return integer ``bits`` truncated, zero-extended or sign-extended to ``width`` (8 to 64)."""
    have = bits.dtype.itemsize * 8
    if have == width:
        return bits
    if signed and have < width:
        return bits.view(SIGNED[have]).astype(SIGNED[width]).view(BY_WIDTH[width])
    return bits.astype(BY_WIDTH[width])
