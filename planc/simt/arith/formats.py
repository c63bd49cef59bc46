"""Binary floating-point formats of PTX: where the fields lie and which bit patterns are special."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from planc.simt.arith.types import Bits, cut


@dataclass(frozen=True, slots=True)
class Format:
    """A format with a sign, ``exponent`` bits and ``mantissa`` stored bits.

    ``nan`` is the NaN that arithmetic yields. ``finite`` says that there is no infinity and only the
    top pattern is NaN (e4m3). ``pad`` zero bits follow the mantissa in the register (tf32).
    """

    name: str
    width: int
    mantissa: int
    exponent: int
    nan: int
    finite: bool = False
    pad: int = 0

    @property
    def bias(self) -> int:
        """What is added to the exponent of a normal number."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def least(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def sign(self) -> int:
        """The mask of the sign bit."""
        return 1 << (self.mantissa + self.exponent)

    @property
    def infinity(self) -> int:
        """The pattern of +infinity; for ``finite`` formats, of the NaN that takes its place."""
        if self.finite:
            return self.sign - 1
        return ((1 << self.exponent) - 1) << self.mantissa

    @property
    def largest(self) -> int:
        """The pattern of the largest finite number."""
        return self.infinity - 1


F16 = Format("f16", 16, 10, 5, nan=0x7FFF)
BF16 = Format("bf16", 16, 7, 8, nan=0x7FFF)
F32 = Format("f32", 32, 23, 8, nan=0x7FFFFFFF)
F64 = Format("f64", 64, 52, 11, nan=0xFFF8000000000000)
TF32 = Format("tf32", 32, 10, 8, nan=0x7FFFE000, pad=13)
E4M3 = Format("e4m3", 8, 3, 4, nan=0x7F, finite=True)
E5M2 = Format("e5m2", 8, 2, 5, nan=0x7F)

FORMATS: Mapping[str, Format] = MappingProxyType({f.name: f for f in (F16, BF16, F32, F64, TF32, E4M3, E5M2)})
"""Formats by their PTX name."""


def to_double(bits: Bits, fmt: Format) -> Bits:
    """The exact ``float64`` values of f16, bf16, f32 or f64 bits."""
    if fmt is F32:
        return cut(bits, np.uint32).view(np.float32).astype(np.float64)
    if fmt is F64:
        return cut(bits, np.uint64).view(np.float64)
    if fmt is F16:
        return cut(bits, np.uint16).view(np.float16).astype(np.float64)
    return (cut(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def flush(bits: Bits, fmt: Format) -> Bits:
    """``bits`` with subnormal numbers made zeros of the same sign (``.ftz``)."""
    kind = bits.dtype.type
    subnormal = (bits & kind(fmt.infinity)) == 0
    return np.where(subnormal, bits & kind(fmt.sign), bits)


def canonical(bits: Bits, fmt: Format) -> Bits:
    """``bits`` with every NaN made the NaN of the format."""
    kind = bits.dtype.type
    nan = (bits & kind(fmt.sign - 1)) > kind(fmt.infinity)
    return np.where(nan, kind(fmt.nan), bits) if nan.any() else bits
