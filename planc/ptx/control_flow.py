"""Control flow of a function: blocks, dominators, post-dominators, loops."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planc.ptx.dominance import dominator_tree, invert, reverse_postorder, strong_components
from planc.ptx.instructions import LEAVES
from planc.ptx.syntax import Function, Instruction, Symbol

EXIT = -1
"""Stands for the end of the function where a block number is expected."""


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions ``start`` to ``stop - 1``, entered only at the first and left only at the last.

    ``successors`` are numbers of blocks without repetition, :data:`EXIT` for the end.
    """

    start: int
    stop: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """The blocks of a function in the order of the text; block 0 is the entry.

    ``order`` is a reverse postorder of the blocks that the entry reaches. ``dominators`` holds the
    immediate dominator of each block, None for the entry and for unreachable blocks.
    ``post_dominators`` holds the immediate post-dominator of each block, :data:`EXIT` where only the
    end of the function comes after all its paths. Blocks of an endless loop reach no end: there the last
    block of the loop, in ``order``, counts as if it could leave, so that the paths of one turn
    still meet. ``loops`` maps the header of each natural loop to all its blocks.
    ``is_reducible`` is false where a loop has more than one entry (it then is in no ``loops``).
    """

    blocks: tuple[Block, ...]
    order: tuple[int, ...]
    dominators: tuple[int | None, ...]
    post_dominators: tuple[int, ...]
    loops: Mapping[int, frozenset[int]]
    is_reducible: bool

    def block_of(self, instruction: int) -> int:
        """Return the block that holds the instruction of an index; :data:`EXIT` past the last."""
        if instruction >= self.blocks[-1].stop:
            return EXIT
        return bisect_right(self.blocks, instruction, key=lambda block: block.start) - 1

    def reconvergence(self, instruction: int) -> int:
        """Return the index of the instruction where all paths from one meet again.

        That is the start of the immediate post-dominator of its block, or the number of
        instructions where the paths meet only at the end.
        """
        after = self.post_dominators[self.block_of(instruction)]
        return self.blocks[-1].stop if after == EXIT else self.blocks[after].start


def control_flow(function: Function) -> ControlFlow:
    """Return the control flow of a function with a body.

    An instruction ends a block if it is ``bra``, ``brx.idx``, ``ret``, ``exit`` or ``trap`` (PTX ISA,
    "Control Flow Instructions"); with a guard it may also fall through. ``call`` returns here.
    """
    blocks = _cut(function)
    inner = [[n for n in block.successors if n != EXIT] for block in blocks]
    order = reverse_postorder(inner, 0)
    tree = dominator_tree(inner, 0)
    back, is_reducible = _back_edges(inner, order, tree)
    return ControlFlow(
        blocks,
        tuple(order),
        tuple(tree),
        _post_dominators(blocks, order),
        _loops(inner, back, frozenset(order)),
        is_reducible,
    )


def targets_of(function: Function, instruction: Instruction) -> tuple[int, ...]:
    """Return the indices that a ``bra`` or ``brx.idx`` may jump to, in the order of its table."""
    operand = instruction.operands[-1]
    assert isinstance(operand, Symbol), "the parser checks branches"
    if instruction.opcode == "bra":
        return (function.labels[operand.name],)
    return tuple(function.labels[label] for label in function.branch_targets[operand.name])


def _cut(function: Function) -> tuple[Block, ...]:
    body = function.body
    leaders = {0}
    jumps: dict[int, tuple[int, ...]] = {}
    for index, instruction in enumerate(body):
        if instruction.opcode in LEAVES:
            jumps[index] = _after(function, index, instruction)
            leaders.update((index + 1, *jumps[index]))
    starts = sorted(index for index in leaders if index < len(body)) or [0]
    number = {start: block for block, start in enumerate(starts)} | {len(body): EXIT}
    blocks: list[Block] = []
    for start, stop in zip(starts, [*starts[1:], len(body)], strict=True):
        following = jumps.get(stop - 1, (stop,))
        blocks.append(Block(start, stop, _unique(number[index] for index in following)))
    return tuple(blocks)


def _after(function: Function, index: int, instruction: Instruction) -> tuple[int, ...]:
    """Return where control goes after an instruction that ends a block; the end is ``len(body)``."""
    if instruction.opcode in ("bra", "brx"):
        found = targets_of(function, instruction)
    else:
        found = (len(function.body),)
    return found if instruction.guard is None else (*found, index + 1)


def _unique(items: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(items))


def _post_dominators(blocks: Sequence[Block], order: Sequence[int]) -> tuple[int, ...]:
    """Dominators of the reversed graph from one added node, the end."""
    end = len(blocks)
    edges = [[end if n == EXIT else n for n in block.successors] for block in blocks] + [[]]
    for block in _endless(edges, order, end):
        edges[block].append(end)
    tree = dominator_tree(invert(edges), end)
    return tuple(EXIT if parent is None or parent == end else parent for parent in tree[:end])


def _endless(edges: Sequence[Sequence[int]], order: Sequence[int], end: int) -> list[int]:
    """Return one block, the last, of each loop that no path leaves."""
    leaving = set(reverse_postorder(invert(edges), end))
    stuck = [node for node in range(end) if node not in leaving]
    rank = {node: place for place, node in enumerate(order)}
    found: list[int] = []
    for component in strong_components(edges, stuck):
        inside = set(component)
        if all(following in inside for node in component for following in edges[node]):
            found.append(max(component, key=lambda node: (rank.get(node, -1), node)))
    return found


def _back_edges(
    edges: Sequence[Sequence[int]], order: Sequence[int], tree: Sequence[int | None]
) -> tuple[list[tuple[int, int]], bool]:
    """Return the edges to a dominator, and whether all edges that go back in ``order`` are such."""
    rank = {node: place for place, node in enumerate(order)}
    going_back = [(node, n) for node in order for n in edges[node] if rank[n] <= rank[node]]
    back = [(node, header) for node, header in going_back if _dominates(tree, rank, header, node)]
    return back, len(back) == len(going_back)


def _dominates(tree: Sequence[int | None], rank: Mapping[int, int], upper: int, lower: int) -> bool:
    node: int | None = lower
    while node is not None and rank[node] > rank[upper]:
        node = tree[node]
    return node == upper


def _loops(
    edges: Sequence[Sequence[int]], back: Sequence[tuple[int, int]], reached: frozenset[int]
) -> Mapping[int, frozenset[int]]:
    predecessors = invert(edges)
    found: dict[int, set[int]] = {}
    for node, header in back:
        body = found.setdefault(header, {header})
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if each not in body and each in reached:
                body.add(each)
                waiting += predecessors[each]
    return {header: frozenset(body) for header, body in sorted(found.items())}
