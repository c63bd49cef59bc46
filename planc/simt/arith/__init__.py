"""Arithmetic of PTX on NumPy arrays: every instruction that touches neither memory nor control flow.

Exact, in the sense of the PTX ISA: each result is rounded once, in the direction that the form
names. See :class:`Decoded` for how registers go in and results come out.

What the ISA leaves open is decided in one place each, as an NVIDIA H200 is taken to decide it
(``python -m tools.fuzz.straight_line`` compares the two):

- integer division by zero: :func:`planc.simt.arith.integer._divided`, all ones
- NaN of f64 arithmetic: :func:`planc.simt.arith.double.propagated`, the first NaN operand, quiet
- NaN of f32, f16 and bf16: ``Format.nan``, one canonical pattern
- ``neg`` and ``abs`` of a NaN, ``min`` and ``max`` of two f64 NaNs: :mod:`planc.simt.arith.floating`
- ``.ftz`` flushes results that are subnormal after rounding: :func:`planc.simt.arith.narrow.finished`
- NaN to f64 by ``cvt``: :mod:`planc.simt.arith.convert`
"""

from planc.simt.arith.approx import APPROXIMATE, Bound, violations
from planc.simt.arith.forms import Decoded, Form, UnsupportedForm
from planc.simt.arith.table import OPCODES, OPERATIONS, decode, forms, supports_arith
from planc.simt.arith.types import UNSIGNED, WIDTHS, Bits, Function, register_dtype
from planc.simt.arith.values import binary

__all__ = [
    "APPROXIMATE",
    "OPCODES",
    "OPERATIONS",
    "UNSIGNED",
    "WIDTHS",
    "Bits",
    "Bound",
    "Decoded",
    "Form",
    "Function",
    "UnsupportedForm",
    "binary",
    "decode",
    "forms",
    "register_dtype",
    "supports_arith",
    "violations",
]
