"""The order in which blocks are served: loops contiguous, join points last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

Successors = Sequence[Sequence[int]]
"""For each block the blocks that may follow it."""


@dataclass(frozen=True, slots=True)
class Order:
    """Blocks ranked and loops found.

    ``ranks`` has the rank of each block; ``loops`` the header of the innermost loop around it, or -1;
    ``outer`` maps the header of a loop to that of the loop around it, or -1.
    """

    ranks: list[int]
    loops: list[int]
    outer: dict[int, int]


def rank(successors: Successors) -> Order:
    """Order the blocks of a function; block 0 is the entry and reaches every other.

    See :mod:`planc.simt.flow` for what ranks promise.
    """
    count = len(successors)
    depth = post_dominator_depths(successors)
    loops = [-1] * count
    outer: dict[int, int] = {}
    order: list[int] = []
    work: list[int | frozenset[int]] = [frozenset(range(count))]
    while work:
        item = work.pop()
        if isinstance(item, int):
            order.append(item)
        else:
            work.extend(reversed(_arrange(item, successors, depth, loops, outer)))
    ranks = [0] * count
    for place, block in enumerate(order):
        ranks[block] = place
    return Order(ranks, loops, outer)


def _arrange(
    members: frozenset[int],
    successors: Successors,
    depth: Sequence[int],
    loops: list[int],
    outer: dict[int, int],
) -> list[int | frozenset[int]]:
    """Order the components of ``members``: a block alone, or a loop as its header and the rest."""
    inside = {block: [s for s in successors[block] if s in members] for block in members}
    components = strong_components(inside)
    home = {block: number for number, component in enumerate(components) for block in component}
    entered = {s for block in successors_outside(members, successors) for s in successors[block]}
    result: list[int | frozenset[int]] = []
    for number in _topological(components, inside, home, depth):
        component = components[number]
        if len(component) == 1 and component[0] not in inside[component[0]]:
            result.append(component[0])
            continue
        header = _header(component, inside, home, entered)
        outer[header] = loops[header]
        for block in component:
            loops[block] = header
        result.append(header)
        rest = frozenset(component) - {header}
        if rest:
            result.append(rest)
    return result


def successors_outside(members: frozenset[int], successors: Successors) -> Iterable[int]:
    """Yield the blocks that are not in ``members``."""
    return (block for block in range(len(successors)) if block not in members)


def _header(
    component: Sequence[int], inside: dict[int, list[int]], home: dict[int, int], entered: set[int]
) -> int:
    """Return the first block of a loop that is entered from outside it."""
    number = home[component[0]]
    targets = {s for block, nexts in inside.items() if home[block] != number for s in nexts}
    heads = [block for block in component if block == 0 or block in targets or block in entered]
    return min(heads or component)


def _topological(
    components: Sequence[Sequence[int]],
    inside: dict[int, list[int]],
    home: dict[int, int],
    depth: Sequence[int],
) -> list[int]:
    """Kahn's algorithm; of the components that may come next, the deepest post-dominator first."""
    after: list[set[int]] = [set() for _ in components]
    waits = [0] * len(components)
    for block, nexts in inside.items():
        for target in nexts:
            a, b = home[block], home[target]
            if a != b and b not in after[a]:
                after[a].add(b)
                waits[b] += 1
    ready: list[tuple[int, int, int]] = []
    for number, component in enumerate(components):
        if waits[number] == 0:
            heappush(ready, (-max(depth[b] for b in component), min(component), number))
    order: list[int] = []
    while ready:
        number = heappop(ready)[2]
        order.append(number)
        for target in after[number]:
            waits[target] -= 1
            if waits[target] == 0:
                component = components[target]
                heappush(ready, (-max(depth[b] for b in component), min(component), target))
    return order


def strong_components(graph: dict[int, list[int]]) -> list[list[int]]:
    """Return the strongly connected components (Tarjan's algorithm without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            block, nexts = work[-1]
            for target in nexts:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(graph[target])))
                    break
                if target in on_stack:
                    low[block] = min(low[block], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[block])
                if low[block] == index[block]:
                    found.append(_pop_component(block, stack, on_stack))
    return found


def _pop_component(block: int, stack: list[int], on_stack: set[int]) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != block:
        component.append(stack.pop())
        on_stack.discard(component[-1])
    return component


def post_dominator_depths(successors: Successors) -> list[int]:
    """Return the depth of each block in the post-dominator tree, whose root is a virtual exit.

    Cooper, Harvey and Kennedy's algorithm on the reversed graph. Blocks from which no exit can be
    reached (endless loops) get depth 0.
    """
    count = len(successors)
    predecessors: list[list[int]] = [[] for _ in range(count + 1)]
    for block, nexts in enumerate(successors):
        for target in nexts:
            predecessors[target].append(block)
    predecessors[count] = [block for block, nexts in enumerate(successors) if not nexts]
    order = _postorder(predecessors, count)
    place = {block: number for number, block in enumerate(order)}
    parent: dict[int, int] = {count: count}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            best = -1
            for target in successors[block] or (count,):
                if target in parent:
                    best = target if best < 0 else _meet(best, target, parent, place)
            if parent.get(block) != best:
                parent[block] = best
                changed = True
    depth = [0] * (count + 1)
    for block in reversed(order[:-1]):
        depth[block] = depth[parent[block]] + 1
    return depth[:count]


def _meet(a: int, b: int, parent: dict[int, int], place: dict[int, int]) -> int:
    while a != b:
        while place[a] < place[b]:
            a = parent[a]
        while place[b] < place[a]:
            b = parent[b]
    return a


def _postorder(graph: Sequence[Sequence[int]], root: int) -> list[int]:
    seen = {root}
    order: list[int] = []
    work = [(root, iter(graph[root]))]
    while work:
        block, nexts = work[-1]
        for target in nexts:
            if target not in seen:
                seen.add(target)
                work.append((target, iter(graph[target])))
                break
        else:
            work.pop()
            order.append(block)
    return order
