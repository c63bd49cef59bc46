"""What other folders ask of an instruction: kind, memory, results.

Opcodes and their groups follow the PTX ISA manual, chapter "Instruction Set".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from planc.ptx.syntax import (
    Address,
    Arguments,
    Discard,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Vector,
)


class Kind(StrEnum):
    """The section of the manual that describes an opcode."""

    INTEGER = "Integer Arithmetic Instructions"
    CARRY = "Extended-Precision Integer Arithmetic Instructions"
    FLOAT = "Floating-Point Instructions"
    COMPARISON = "Comparison and Selection Instructions"
    LOGIC = "Logic and Shift Instructions"
    DATA = "Data Movement and Conversion Instructions"
    TEXTURE = "Texture Instructions"
    SURFACE = "Surface Instructions"
    CONTROL = "Control Flow Instructions"
    SYNCHRONIZATION = "Parallel Synchronization and Communication Instructions"
    MATRIX = "Warp Level Matrix Multiply-Accumulate Instructions"
    WARPGROUP = "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"
    TENSOR = "TensorCore 5th Generation Family Instructions"
    STACK = "Stack Manipulation Instructions"
    VIDEO = "Video Instructions"
    MISCELLANEOUS = "Miscellaneous Instructions"


_OPCODES: tuple[tuple[Kind, str], ...] = (
    (
        Kind.INTEGER,
        "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk "
        "dp4a dp2a",
    ),
    (Kind.CARRY, "addc subc madc"),
    (Kind.FLOAT, "testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh"),
    (Kind.COMPARISON, "set setp selp slct"),
    (Kind.LOGIC, "and or xor not cnot lop3 shf shl shr"),
    (
        Kind.DATA,
        "mov shfl prmt ld ldu st multimem prefetch prefetchu applypriority discard createpolicy isspacep "
        "cvta cvt mapa getctarank cp tensormap",
    ),
    (Kind.TEXTURE, "tex tld4 txq istypep"),
    (Kind.SURFACE, "suld sust sured suq"),
    (Kind.CONTROL, "bra brx call ret exit"),
    (
        Kind.SYNCHRONIZATION,
        "bar barrier membar fence atom red vote match activemask redux griddepcontrol elect mbarrier "
        "clusterlaunchcontrol",
    ),
    (Kind.MATRIX, "wmma mma ldmatrix stmatrix movmatrix"),
    (Kind.WARPGROUP, "wgmma"),
    (Kind.TENSOR, "tcgen05"),
    (Kind.STACK, "stacksave stackrestore alloca"),
    (
        Kind.VIDEO,
        "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 "
        "vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4",
    ),
    (Kind.MISCELLANEOUS, "brkpt nanosleep pmevent trap setmaxnreg"),
)

KINDS: Mapping[str, Kind] = MappingProxyType(
    {opcode: kind for kind, words in _OPCODES for opcode in words.split()}
)
"""The opcodes of PTX ISA 9.0, the first words of the instructions."""

LEAVES = frozenset({"bra", "brx", "ret", "exit", "trap"})
"""Opcodes after which control may go elsewhere than to the next instruction."""

SPACES = frozenset(
    {"global", "shared", "local", "const", "param", "shared::cta", "shared::cluster", "param::entry"}
)
"""Modifiers that name a state space; without one an address is generic."""

_NO_RESULT = frozenset(
    {"st", "red", "bra", "brx", "ret", "exit", "trap", "brkpt", "membar", "fence", "prefetch", "prefetchu"}
    | {"applypriority", "discard", "griddepcontrol", "nanosleep", "pmevent", "setmaxnreg", "stackrestore"}
    | {"sust", "sured", "stmatrix", "cp"}
)
_RESULT_ONLY_WITH: Mapping[str, str] = MappingProxyType(
    {"bar": "red", "barrier": "red", "wgmma": "mma_async", "tcgen05": "ld", "wmma": ""}
)


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """What an instruction does to memory; ``space`` is ``generic`` where none is named.

    A copy has two: each address operand gets its own.
    """

    address: Address
    space: str
    reads: bool
    writes: bool


def is_control_flow(instruction: Instruction) -> bool:
    """Whether control may go elsewhere than to the next instruction; ``call`` counts, it comes back."""
    return instruction.opcode in LEAVES or instruction.opcode == "call"


def is_barrier(instruction: Instruction) -> bool:
    """Whether threads wait for each other here: ``bar``, ``barrier``, the waits of ``mbarrier``.

    ``bar.arrive`` and its like do not wait and are not counted.
    """
    if instruction.opcode in ("bar", "barrier"):
        return "arrive" not in instruction.modifiers
    return instruction.opcode == "mbarrier" and instruction.modifiers[:1] in (("try_wait",), ("test_wait",))


def is_warp_wide(instruction: Instruction) -> bool:
    """Whether lanes of a warp exchange values here (shuffles, votes, matches, matrix products)."""
    return instruction.opcode in _WARP_WIDE or KINDS.get(instruction.opcode) in _WARP_KINDS


_WARP_WIDE = frozenset({"shfl", "vote", "match", "redux", "elect", "activemask"})
_WARP_KINDS = frozenset({Kind.MATRIX, Kind.WARPGROUP, Kind.TENSOR})


def result_operands(instruction: Instruction) -> tuple[Operand, ...]:
    """Return the operands that an instruction writes, as they stand in the text.

    The first operand is the result unless it is an address or the opcode has none; a ``call`` writes its
    leading list. An opcode that the table lacks follows the same rule.
    """
    operands = instruction.operands
    if not operands or not _has_result(instruction):
        return ()
    first = operands[0]
    if instruction.opcode == "call":
        return first.items if isinstance(first, Arguments) else ()
    return (first,) if isinstance(first, Register | Vector | Pair | Discard) else ()


def _has_result(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode in _NO_RESULT:
        return False
    needed = _RESULT_ONLY_WITH.get(opcode)
    return not needed or needed in instruction.modifiers


def written_registers(instruction: Instruction) -> tuple[str, ...]:
    """Return the names of the registers that an instruction writes, in the order of the text."""
    return tuple(_registers(result_operands(instruction)))


def read_registers(instruction: Instruction) -> tuple[str, ...]:
    """Return the names of the registers that an instruction reads, its guard first, without repetition.

    A result that is read too (``wgmma``, whose accumulator is both) is among them; so are the
    registers of an address.
    """
    guard = () if instruction.guard is None else (instruction.guard.register,)
    results = result_operands(instruction)
    if instruction.opcode in ("call", "wgmma"):
        skipped = 1 if results and instruction.opcode == "call" else 0
    else:
        skipped = len(results)
    return tuple(dict.fromkeys((*guard, *_registers(instruction.operands[skipped:]))))


def _registers(operands: Iterable[Operand]) -> Iterable[str]:
    for operand in operands:
        if isinstance(operand, Register):
            yield operand.name
        elif isinstance(operand, Negated):
            yield operand.register.name
        elif isinstance(operand, Vector | Arguments):
            yield from _registers(operand.items)
        elif isinstance(operand, Pair):
            yield from _registers((operand.first, operand.second))
        elif isinstance(operand, Address):
            yield from _registers((*(() if operand.base is None else (operand.base,)), *operand.more))


_READS = frozenset(["ld", "ldu", "tex", "tld4", "suld", "ldmatrix"])
_WRITES = frozenset(["st", "sust", "stmatrix", "discard"])
_NO_ACCESS = frozenset(["prefetch", "prefetchu", "applypriority", "createpolicy", "txq", "suq", "istypep"])


def memory_accesses(instruction: Instruction) -> tuple[MemoryAccess, ...]:
    """Return what an instruction does to memory, one entry for each address operand.

    What is neither a load nor a store may read and write; so may an opcode that the table lacks. ``cp``
    (asynchronous copies) writes its first address, reads its second, and does both to the barrier that
    may follow. ``call`` itself accesses nothing.
    """
    addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
    if not addresses or instruction.opcode in _NO_ACCESS or "prefetch" in instruction.modifiers:
        return ()
    spaces = [modifier for modifier in instruction.modifiers if modifier in SPACES]
    if instruction.opcode == "cp" and len(addresses) > 1:
        return _copy(addresses, spaces, "reduce" in instruction.modifiers)
    reads, writes = _direction(instruction)
    space = spaces[0] if spaces else "generic"
    return tuple(MemoryAccess(address, space, reads, writes) for address in addresses)


def _direction(instruction: Instruction) -> tuple[bool, bool]:
    opcode = instruction.opcode
    if opcode in _READS or (opcode == "wmma" and "load" in instruction.modifiers):
        return True, False
    if opcode in _WRITES or (opcode == "wmma" and "store" in instruction.modifiers):
        return False, True
    return True, True


def _copy(addresses: list[Address], spaces: list[str], reduces: bool) -> tuple[MemoryAccess, ...]:
    """``cp.async.dst-space.src-space [dst], [src]``, then perhaps ``[mbarrier]``."""
    target, origin, *barriers = addresses
    to, source = [*spaces, "generic", "generic"][:2]
    found = [MemoryAccess(target, to, reduces, True), MemoryAccess(origin, source, True, False)]
    found += [MemoryAccess(address, "shared", True, True) for address in barriers]
    return tuple(found)
