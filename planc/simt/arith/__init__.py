"""Arithmetic of PTX on NumPy arrays: every instruction that touches neither memory nor control flow.

Exact, in the sense of the PTX ISA: each result is rounded once, in the direction that the form
names. See :class:`Decoded` for how registers go in and results come out.

What the ISA leaves open is decided in one place each, as an NVIDIA H200 decides it
(``python -m tools.fuzz.straight_line`` compares the two). "Measured" marks what was seen on one:

- integer division by zero: :func:`planc.simt.arith.integer._divided`, all ones
- NaN of f64 arithmetic: :mod:`planc.simt.arith.double`, one of the NaN operands, quiet (measured)
- NaN of f32, f16 and bf16: ``Format.nan``, one canonical pattern
- ``neg`` and ``abs`` of a NaN, ``min`` and ``max`` of two f64 NaNs: :mod:`planc.simt.arith.floating`
- ``.ftz`` of results next to the smallest normal number: :mod:`planc.simt.arith.narrow` (measured)
- NaN between formats by ``cvt``: :mod:`planc.simt.arith.convert` (measured)
- ``fns`` with offset -2**31: :func:`planc.simt.arith.fields._nth_set`, 0 (measured)

Where the ISA is explicit and the machine, which runs what the assembler makes of the text, does otherwise
for every program, the machine is followed and the place says so: 64-bit ``bfe`` and ``bfi`` with positions
or lengths beyond 255 (:mod:`planc.simt.arith.fields`), ``cvt`` to tf32 by ``.rna`` and ``.ftz`` to f16
(:mod:`planc.simt.arith.convert`).

The assembler's optimiser breaks some instructions in the company of others, mostly where one register
holds a float for one instruction and an integer for another: a 64-bit shift by the bits of a float shifts
by the float's value, ``set`` with a float result may give the integer 1, ``bfi.b32`` with a constant length
of 33 inserts one bit. Alone the same instructions do what the manual says; that is followed here.
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
