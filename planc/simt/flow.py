"""Cutting a function into blocks, and the order in which blocks are served.

A block is straight-line code. It may begin with a **gate**, an instruction at which threads wait for
others (barriers, shuffles, votes), and it ends where control may leave: a branch, a call, a return.

**Reconvergence.** Blocks carry a rank, and the scheduler serves the fragment of the lowest rank
("min-PC scheduling"). Ranks are a topological order of the control-flow graph in which every loop is
contiguous (loops are strongly connected components, taken apart recursively) and, among blocks free to
come next, the one deepest in the post-dominator tree comes first. So the blocks between a branch and
its immediate post-dominator rank below the latter, and threads that diverged wait there for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from planc.ptx.syntax import Function, Guard, Instruction, Operand, Symbol
from planc.simt.arity import check_operands
from planc.simt.faults import Unsupported
from planc.simt.order import Order, rank
from planc.simt.roles import call_parts

_GATES = frozenset({"bar", "barrier", "shfl", "vote", "match", "redux", "elect"})
_ENDS = frozenset({"bra", "brx", "ret", "exit"})

IsIntrinsic = Callable[[str], bool]
"""Whether a function of that name is part of the interpreter (``vprintf``)."""


@dataclass(slots=True)
class RawEnd:
    """How a block ends.

    ``kind`` is ``jump``, ``branch`` (to the first target if the guard holds, else to the second),
    ``table``, ``call`` (then on to the target), ``return`` or ``exit``.
    """

    kind: str
    targets: list[int] = field(default_factory=list)
    instruction: Instruction | None = None


@dataclass(slots=True)
class RawBlock:
    """Straight-line code: an optional gate, the steps after it, and the end."""

    gate: Instruction | None
    steps: list[Instruction]
    end: RawEnd

    def instructions(self) -> list[Instruction]:
        """Every instruction in order, gate and end included."""
        ends = [self.gate, *self.steps, self.end.instruction]
        return [each for each in ends if each is not None]


@dataclass(slots=True)
class Flow:
    """The reachable blocks of a function, and their order; block 0 is the entry."""

    blocks: list[RawBlock]
    order: Order


def is_gate(instruction: Instruction) -> bool:
    """Whether threads may wait for others at ``instruction``."""
    return instruction.opcode in _GATES and "arrive" not in instruction.modifiers


def is_barrier(instruction: Instruction) -> bool:
    """Whether ``instruction`` only waits, for the block or the warp; it stands in a block of its own."""
    return is_gate(instruction) and instruction.opcode in ("bar", "barrier")


def build_flow(function: Function, intrinsic: IsIntrinsic) -> Flow:
    """Cut the reachable code of ``function`` into blocks and rank them.

    Calls of intrinsics do not end a block. Raises :class:`Unsupported` for a branch or call without a target.
    """
    code, labels = _plain(function, intrinsic)
    blocks = _reachable(_cut(code, labels, function, intrinsic))
    blocks = _reachable(_fuse(blocks))
    return Flow(blocks, rank([block.end.targets for block in blocks]))


def ends_block(instruction: Instruction, intrinsic: IsIntrinsic) -> bool:
    """Whether control may leave a block at ``instruction``."""
    if instruction.opcode == "call":
        target = call_parts(instruction).target
        return not (isinstance(target, Symbol) and intrinsic(target.name))
    return instruction.opcode in _ENDS


def _plain(function: Function, intrinsic: IsIntrinsic) -> tuple[list[Instruction], dict[str, int]]:
    """Return the body and its labels, with a branch around each guarded gate, call or return."""
    code: list[Instruction] = []
    moved: list[int] = []
    labels: dict[str, int] = {}
    for each in function.body:
        moved.append(len(code))
        apart = is_gate(each) or (each.opcode != "bra" and ends_block(each, intrinsic))
        if each.guard is None or not apart:
            code.append(each)
            continue
        name = f"$past{len(code)}"
        inverse = Guard(each.guard.register, not each.guard.negated)
        code.append(Instruction("bra", (), (Symbol(name),), inverse, each.line, each.source))
        code.append(replace(each, guard=None))
        labels[name] = len(code)
    moved.append(len(code))
    labels.update({name: moved[index] for name, index in function.labels.items()})
    return code, labels


def _cut(
    code: list[Instruction], labels: dict[str, int], function: Function, intrinsic: IsIntrinsic
) -> list[RawBlock]:
    last = Instruction("exit" if function.is_entry else "ret", (), (), line=code[-1].line if code else 0)
    code = [*code, last]
    starts = {0, *labels.values()}
    for index, each in enumerate(code):
        if is_gate(each):
            starts.add(index)
        if is_barrier(each):
            starts.add(index + 1)
        if ends_block(each, intrinsic):
            starts.add(index + 1)
    starts.discard(len(code))
    order = sorted(starts)
    at = {index: number for number, index in enumerate(order)}
    places = {name: at[index] for name, index in labels.items()}
    tables = {name: [places[each] for each in names] for name, names in function.branch_targets.items()}
    blocks: list[RawBlock] = []
    for start, stop in zip(order, [*order[1:], len(code)], strict=True):
        part = code[start:stop]
        gate = part.pop(0) if is_gate(part[0]) else None
        if part and ends_block(part[-1], intrinsic):
            end = _end(part.pop(), places, tables, at.get(stop, -1))
        else:
            end = RawEnd("jump", [at[stop]])
        blocks.append(RawBlock(gate, part, end))
    return blocks


def _end(
    instruction: Instruction, places: dict[str, int], tables: dict[str, list[int]], following: int
) -> RawEnd:
    check_operands(instruction)
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "ret":
        return RawEnd("return", [], instruction)
    if opcode == "exit":
        return RawEnd("exit", [], instruction)
    if opcode == "call":
        return RawEnd("call", [following], instruction)
    if opcode == "brx":
        return RawEnd("table", list(tables[_name(operands[1], tables, instruction)]), instruction)
    taken = places[_name(operands[0], places, instruction)]
    if instruction.guard is None:
        return RawEnd("jump", [taken], instruction)
    return RawEnd("branch", [taken, following], instruction)


def _name(operand: Operand, known: Mapping[str, object], instruction: Instruction) -> str:
    if isinstance(operand, Symbol) and operand.name in known:
        return operand.name
    raise Unsupported(instruction.form, "to this target")


def _reachable(blocks: list[RawBlock]) -> list[RawBlock]:
    """Drop what the entry cannot reach, and renumber."""
    seen = {0}
    todo = [0]
    while todo:
        for target in blocks[todo.pop()].end.targets:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    number = {old: new for new, old in enumerate(sorted(seen))}
    kept = [blocks[old] for old in sorted(seen)]
    for block in kept:
        block.end.targets = [number[target] for target in block.end.targets]
    return kept


def _fuse(blocks: list[RawBlock]) -> list[RawBlock]:
    """Append to a block the one that it alone jumps to, so that fewer blocks are dispatched."""
    entries = [0] * len(blocks)
    for block in blocks:
        for target in block.end.targets:
            entries[target] += 1
    gone: set[int] = set()
    for number, block in enumerate(blocks):
        while number not in gone and block.end.kind == "jump":
            target = block.end.targets[0]
            after = blocks[target]
            if target in (0, number) or entries[target] != 1 or after.gate is not None:
                break
            if block.gate is not None and is_barrier(block.gate):
                break
            jump = [block.end.instruction] if block.end.instruction is not None else []
            block.steps = [*block.steps, *jump, *after.steps]
            block.end = after.end
            after.end = RawEnd("exit")
            gone.add(target)
    return blocks
