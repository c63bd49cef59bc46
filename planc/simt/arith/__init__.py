"""Arithmetic of PTX on NumPy arrays: every instruction that touches neither memory nor control flow.

Exact, in the sense of the PTX ISA: each result is rounded once, in the direction that the form
names. See :class:`Decoded` for how registers go in and results come out.
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
