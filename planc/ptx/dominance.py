"""Orders and dominator trees of small directed graphs, given as successor lists."""

from __future__ import annotations

from collections.abc import Sequence

Successors = Sequence[Sequence[int]]


def reverse_postorder(successors: Successors, root: int) -> list[int]:
    """Return the nodes that ``root`` reaches, each before its successors but for loops."""
    seen = {root}
    order: list[int] = []
    stack = [(root, iter(successors[root]))]
    while stack:
        node, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(successors[following])))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def invert(successors: Successors) -> list[list[int]]:
    """Return the predecessors of each node."""
    found: list[list[int]] = [[] for _ in successors]
    for node, following in enumerate(successors):
        for each in following:
            found[each].append(node)
    return found


def dominator_tree(successors: Successors, root: int) -> list[int | None]:
    """Return the immediate dominator of each node; None for ``root`` and for what it does not reach.

    The intersection over predecessors in reverse postorder until nothing changes: in a graph of
    few nested loops two rounds do.
    """
    order = reverse_postorder(successors, root)
    rank = {node: place for place, node in enumerate(order)}
    predecessors = invert(successors)
    tree: list[int | None] = [None] * len(successors)
    tree[root] = root
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [p for p in predecessors[node] if p in rank and tree[p] is not None]
            best = known[0]
            for other in known[1:]:
                best = _meet(tree, rank, best, other)
            changed = changed or tree[node] != best
            tree[node] = best
    tree[root] = None
    return tree


def _meet(tree: Sequence[int | None], rank: dict[int, int], a: int, b: int) -> int:
    """Return the nearest common ancestor in a tree whose root is its own parent."""
    while a != b:
        if rank[a] < rank[b]:
            a, b = b, a
        parent = tree[a]
        assert parent is not None
        a = parent
    return a


def strong_components(successors: Successors, nodes: Sequence[int]) -> list[list[int]]:
    """Return the strongly connected components among ``nodes``, every one after those it reaches.

    All successors of ``nodes`` must be among them.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[list[int]] = []
    for first in nodes:
        if first in index:
            continue
        stack = [(first, iter(successors[first]))]
        while stack:
            node, rest = stack[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                open_nodes.append(node)
                is_open.add(node)
            deeper = next((n for n in rest if n not in index), None)
            if deeper is not None:
                stack.append((deeper, iter(successors[deeper])))
                continue
            stack.pop()
            low[node] = min([low[node], *(low[n] for n in successors[node] if n in is_open)])
            if low[node] == index[node]:
                found.append(_pop_component(open_nodes, is_open, node))
    return found


def _pop_component(open_nodes: list[int], is_open: set[int], node: int) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != node:
        component.append(open_nodes.pop())
    is_open.difference_update(component)
    return component
