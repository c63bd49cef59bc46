"""PTX whose floating-point sums and products ptxas may not contract."""

from __future__ import annotations

from planc.diagnostics import GraphError
from planc.ptx.lexer import DIRECTIVE, WORD, tokenize
from planc.ptx.text import Mistake, Source

_OPCODES = frozenset({"add", "sub", "mul"})
_TYPES = frozenset({"f32", "f64", "f32x2", "f16", "f16x2", "bf16", "bf16x2"})
_ROUNDING = frozenset({"rn", "rz", "rm", "rp"})


def make_exact(text: str, file: str = "") -> str:
    """Return PTX in which every floating ``add``, ``sub`` and ``mul`` without a rounding has ``.rn``.

    That is the rounding they have anyway, but written out it forbids to merge a product and a sum into
    one ``fma``, which rounds once (PTX ISA, "Floating-Point Instructions: add, sub, mul"). It holds for
    f32, f64, their packed and mixed forms, f16 and bf16, with ``.ftz`` and ``.sat``; nothing else
    changes, nor does any line move. Raises :class:`planc.diagnostics.GraphError` (PLC490) for a text
    that is no PTX.
    """
    source = Source(text, file)
    try:
        tokens = tokenize(source)
    except Mistake as mistake:
        raise GraphError(mistake.diagnostic) from None
    pieces: list[str] = []
    end = 0
    for at, (kind, word) in enumerate(zip(tokens.kinds, tokens.texts, strict=True)):
        if kind != WORD or word[:3] not in _OPCODES:
            continue
        following = at + 1
        while tokens.kinds[following] == DIRECTIVE:
            word += tokens.texts[following]
            following += 1
        if _is_open(word):
            place = tokens.starts[at] + 3
            pieces += [text[end:place], ".rn"]
            end = place
    return "".join([*pieces, text[end:]])


def _is_open(form: str) -> bool:
    opcode, *modifiers = form.split(".")
    present = set(modifiers)
    return opcode in _OPCODES and bool(present & _TYPES) and not present & _ROUNDING
