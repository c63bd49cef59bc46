"""Operands where arithmetic goes wrong, by PTX type, and cross products of them.

Every list holds bit patterns as integers. Where a full cross product is too large, ``cases`` takes a
fixed sample of it: the same call always gives the same operands.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from planc.simt.arith import UNSIGNED, WIDTHS


def _f32(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def _f64(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _both_signs(patterns: Sequence[int], sign: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(p | s for p in patterns for s in (0, sign)))


# Zero, one, the ends of the subnormal and normal ranges, infinity, quiet NaNs with and without payload, a
# signalling NaN; the hardest first, since small samples take the head of each list.
_F32_SPECIAL = [
    *(0x00000000, 0x3F800000, 0x00000001, 0x7F800000, 0x7FFFFFFF, 0x7F7FFFFF, 0x00800000, 0x007FFFFF),
    *(0x3F7FFFFF, 0x3F800001, 0x7FC12345, 0x7F800001, 0x00400000, 0x00800001, 0x00FFFFFF, 0x01000000),
]
_F32_VALUES = [
    *(0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 1 / 3, 100.25, 3.5, 255.5, 127.5, 128.5, 32767.5, 65535.5),
    # Ties of f16 and bf16, and the limits of f16 and of the formats of 8 bits.
    *(1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 65504.0, 65519.99, 65520.0),
    *(2.0**-14, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 448.0, 464.0, 57344.0, 61440.0, 2.0**-9, 2.0**-10),
    # tf32 ties, integers at the end of exactness, limits of integer types.
    *(1 + 2.0**-11 + 2.0**-23, 8388608.5, 16777216.0, 16777215.0, 8388607.5, 2.0**31, 2147483520.0, 2.0**32),
    *(4294967040.0, 2.0**63, 2.0**64, 2.0**126, 2.0**127, 2.0**-63, 2.0**-75, 2.0**-126 * 1.5, 1e-30, 1e30),
]
_F64_SPECIAL = [
    *(0x0, 0x3FF0000000000000, 0x1, 0x7FF0000000000000, 0x7FF8000012345678, 0x7FEFFFFFFFFFFFFF),
    *(0x10000000000000, 0xFFFFFFFFFFFFF, 0x3FEFFFFFFFFFFFFF, 0x3FF0000000000001, 0x7FF8000000000000),
    *(0x7FFFFFFFFFFFFFFF, 0x7FF0000000000001, 0x7FF4000000000000, 0x8000000000000, 0x10000000000001),
]
_F64_VALUES = [
    *(0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 1 / 3, 100.25, 255.5, 127.5, 32767.5, 65535.5, 65504.0, 65520.0),
    # Ties of f32, its overflow and its subnormals.
    *(1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-24 + 2.0**-52, 2.0**128, 3.4028235677973366e38, 2.0**-149),
    # Below the smallest normal f32: rounded up to it, a tie, of full precision.
    *(2.0**-126 * (1 - 2.0**-26), 2.0**-126 * (1 - 2.0**-25), 2.0**-126 * (1 - 2.0**-24)),
    *(2.0**-150, 3 * 2.0**-150, 2.0**-126, 2.0**-127 * (1 + 2.0**-30), 2.0**-25, 2.0**-134, 1 + 2.0**-9),
    *(2.0**31 - 0.5, 2.0**31, 2.0**32 - 0.5, 2.0**32, 2.0**52 + 0.5, 2.0**53, 2.0**53 - 1, 2.0**63, 2.0**64),
    *(9223372036854774784.0, 18446744073709549568.0, 2.0**511, 2.0**-511, 2.0**1023, 2.0**-537, 2.0**-969),
    *(1e300, 1e-300, 2.0**-1022 * 1.5, 134217729.0, 1 + 2.0**-26, 1 + 2.0**-27),
]
_F16 = [
    *(0x0000, 0x3C00, 0x0001, 0x7C00, 0x7FFF, 0x7BFF, 0x0400, 0x03FF, 0x3BFF, 0x3C01, 0x7E01, 0x7C01, 0x0200),
    *(0x0401, 0x3800, 0x3E00, 0x4000, 0x4100, 0x4200, 0x2E66, 0x3555, 0x5640, 0x5BF8, 0x6400, 0x1400, 0x07FF),
]
_BF16 = [
    *(0x0000, 0x3F80, 0x0001, 0x7F80, 0x7FFF, 0x7F7F, 0x0080, 0x007F, 0x3F7F, 0x3F81, 0x7FC1, 0x7F81, 0x0040),
    *(0x0081, 0x3F00, 0x3FC0, 0x4000, 0x4020, 0x4040, 0x3DCC, 0x3EAB, 0x42C8, 0x437F, 0x4F00, 0x5F80, 0x1F80),
]


def _integers(bits: int) -> tuple[int, ...]:
    """Limits first, then small numbers, counts about the widths, powers of two and neighbours, patterns."""
    top = 1 << (bits - 1)
    values = [0, 1, 2 * top - 1, top, top - 1, 32, 31, 2, 64, 63, 16]
    values += [3, 7, 10, 15, 17, 33, 65, 127, 128, 255, 256]
    values += [v for k in (15, 16, 31, 32, 63) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)]
    values += [top + 1, 2 * top - 2, 2 * top - 3, 0x123456789ABCDEF0, 0xF0F0A5A55A5A0F0F]
    values += [(2 * top - 1) // 3, 2 * (2 * top - 1) // 3, 2 * top - 32, 2 * top - 128]
    return tuple(dict.fromkeys(v % (2 * top) for v in values))


def _pairs(lanes: Sequence[int]) -> tuple[int, ...]:
    """Registers of two lanes: every lane beside the one a few places on, and beside itself."""
    turned = [*lanes[5:], *lanes[:5]]
    return tuple(dict.fromkeys(low | high << 16 for low, high in [*zip(lanes, turned, strict=True), (0, 0)]))


def _table() -> dict[str, tuple[int, ...]]:
    table: dict[str, tuple[int, ...]] = {"pred": (0, 1)}
    for bits in (8, 16, 32, 64):
        table |= {f"{kind}{bits}": _integers(bits) for kind in "bus"}
    table["f32"] = _both_signs([*_F32_SPECIAL, *map(_f32, _F32_VALUES)], 1 << 31)
    table["f64"] = _both_signs([*_F64_SPECIAL, *map(_f64, _F64_VALUES)], 1 << 63)
    table["f16"], table["bf16"] = _both_signs(_F16, 1 << 15), _both_signs(_BF16, 1 << 15)
    for lane, name in (("f16", "f16x2"), ("bf16", "bf16x2"), ("u16", "u16x2"), ("s16", "s16x2")):
        table[name] = _pairs(table[lane])
    table |= {name: tuple(range(0, 1 << 16, 251)) for name in ("e4m3x2", "e5m2x2")}
    return table


HARD: Mapping[str, tuple[int, ...]] = MappingProxyType(_table())
"""Hard operands of every PTX type, as bit patterns."""

# Hard only together. Results next to the smallest normal number: exact and of full precision below it,
# rounded up to it at full precision, rounded up to it only where subnormals are spaced wider.
_F32_TINY = (
    *((0x00800000, 0x3F7FFFFF), (0x207ED4D5, 0x1F809645), (0x2035BF99, 0x1FB44B0D), (0x200741C7, 0x1FF243CB)),
    *((0x1FFFFFFF, 0x1FFFFFFF), (0x00800000, 0x3F800001), (0x207ED4D5, 0x9F809645)),
)
_F16_TINY = ((0x0400, 0x3BFF), (0x21A9, 0x1DA7), (0x21A9, 0x9DA7), (0x3800, 0x07FF), (0x03FF, 0x3C01))
_TOGETHER: Mapping[tuple[str, ...], tuple[tuple[int, ...], ...]] = MappingProxyType(
    {
        ("f32", "f32"): _F32_TINY,
        ("f32", "f32", "f32"): (
            *((a, b, c) for a, b in _F32_TINY for c in (0, 0x80000001)),
            # A sum that is nearer to -2**-126 than any number of 24 bits.
            *((0x20000000, 0x0DA24060, 0x80800000), (0x20000000, 0x0DA24060, 0x00800000)),
        ),
        ("f16", "f16"): _F16_TINY,
        ("f16", "f16", "f16"): tuple((a, b, c) for a, b in _F16_TINY for c in (0, 0x83FF)),
        ("f16x2", "f16x2"): tuple((a << 16 | 0xFC00, b << 16 | 0xFBFF) for a, b in _F16_TINY),
        ("b64", "b64", "u32", "u32"): ((0, ~0 % (1 << 64), 4, 0x100), (~0 % (1 << 64), 0, 0x104, 4)),
        ("u64", "u32", "u32"): ((~0 % (1 << 64), 4, 0x100), (~0 % (1 << 64), 0x104, 4)),
        ("s64", "u32", "u32"): ((~0 % (1 << 64), 4, 0x100), (1 << 63, 0xFFFFFFFF, 2)),
        ("b32", "b32", "s32"): ((0xFF, 4, 1 << 31), (0, 40, 1 << 31), (0xFF, 4, (1 << 31) + 1)),
        ("f64", "f64", "f64"): (
            (0x3FF0000000000000, 0x7FF8000000000001, 0x7FF8000000000002),
            (0x7FF8000000000003, 0x3FF0000000000000, 0x7FF8000000000002),
            (0x7FF8000000000003, 0x7FF8000000000001, 0x3FF0000000000000),
            (0x7FF8000000000003, 0x7FF8000000000001, 0x7FF8000000000002),
        ),
    }
)

Columns = tuple[npt.NDArray[Any], ...]


def _random(name: str, count: int, random: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Random patterns; of integers half are small, of floats half have exponents near zero."""
    bits = WIDTHS[name]
    values = random.integers(0, 1 << 64, count, np.uint64, endpoint=False) & np.uint64((1 << bits) - 1)
    small = random.random(count) < 0.5
    if name[0] in "bus" and name[1:].isdigit():
        return np.where(small, values & np.uint64(0x3F), values)
    if name in ("f32", "f64"):
        mantissa, bias = (23, 127) if name == "f32" else (52, 1023)
        exponent = random.integers(bias - 20, bias + 20, count).astype(np.uint64) << np.uint64(mantissa)
        near = values & np.uint64(1 << (bits - 1) | ((1 << mantissa) - 1)) | exponent
        return np.where(small, near, values)
    return values


def _crossed(lists: Sequence[Sequence[int]]) -> npt.NDArray[np.uint64]:
    return np.array(list(product(*lists)), np.uint64).reshape(-1, len(lists))


def _sampled(types: Sequence[str], limit: int, random: np.random.Generator) -> npt.NDArray[np.uint64]:
    """The full product of the first few cases of each type, and a sample of the rest."""
    first = int((limit / 2) ** (1 / len(types)))
    heads = _crossed([HARD[name][:first] for name in types])
    rest = limit - len(heads)
    tail = np.stack([random.choice(np.array(HARD[name], np.uint64), rest) for name in types], axis=1)
    return np.concatenate([heads, tail])


@cache
def cases(types: tuple[str, ...], limit: int, seed: int = 0) -> Columns:
    """Operands for an instruction with operands of ``types``: one array of register dtype for each.

    First what is hard together. Then the whole cross product of hard cases if it has at most ``limit`` rows,
    else a fixed sample of that many that holds the full product of the hardest; then ``limit // 4`` rows of
    random patterns.
    """
    random = np.random.default_rng(seed)
    whole = int(np.prod([len(HARD[name]) for name in types])) <= limit
    rows = _crossed([HARD[name] for name in types]) if whole else _sampled(types, limit, random)
    extra = np.stack([_random(name, max(1, limit // 4), random) for name in types], axis=1)
    together = np.array(_TOGETHER.get(types, ()), np.uint64).reshape(-1, len(types))
    columns = np.concatenate([together, rows, extra]).T
    return tuple(column.astype(UNSIGNED[WIDTHS[name]]) for column, name in zip(columns, types, strict=True))
