"""How many operands an instruction takes: checked once, so that decoders need not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from planc.ptx.syntax import Instruction
from planc.simt.faults import Unsupported

_COUNTS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "activemask": (1, 1),
        "atom": (3, 5),
        "bar.arrive": (2, 2),
        "bar.red": (3, 4),
        "bar.sync": (1, 2),
        "bar.warp": (1, 1),
        "bra": (1, 1),
        "brx": (2, 2),
        "cp": (0, 6),
        "createpolicy": (1, 4),
        "cvta": (2, 2),
        "elect": (2, 2),
        "exit": (0, 0),
        "isspacep": (2, 2),
        "ld": (2, 3),
        "ldu": (2, 2),
        "match": (2, 3),
        "red": (2, 4),
        "redux": (3, 3),
        "ret": (0, 0),
        "shfl": (4, 5),
        "st": (2, 3),
        "trap": (0, 0),
        "vote": (2, 3),
    }
)
_SYNC_TAKES_ONE_MORE = frozenset({"match", "shfl", "vote"})


def check_operands(instruction: Instruction) -> None:
    """Raise :class:`Unsupported` where an instruction has too few or too many operands.

    Instructions of :mod:`planc.simt.arith` and calls check theirs themselves.
    """
    least, most = _COUNTS.get(_key(instruction), (0, 1 << 16))
    if instruction.opcode in _SYNC_TAKES_ONE_MORE and "sync" in instruction.modifiers:
        least = most
    if instruction.opcode in ("atom", "red") and "cas" in instruction.modifiers:
        least += 1
    if instruction.opcode == "cp" and {"shared", "global"} & set(instruction.modifiers):
        least = 3
    if not least <= len(instruction.operands) <= most:
        raise Unsupported(instruction.form, f"with {len(instruction.operands)} operands")


def _key(instruction: Instruction) -> str:
    if instruction.opcode not in ("bar", "barrier"):
        return instruction.opcode
    kind = next((word for word in ("arrive", "red", "warp") if word in instruction.modifiers), "sync")
    return f"bar.{kind}"
