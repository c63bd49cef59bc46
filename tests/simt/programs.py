"""Random structured programs: one text in CUDA C++, and the same program run thread by thread in Python."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
VARIABLES = ("a", "b", "c")


@dataclass
class Binary:
    sign: str
    left: object
    right: object


@dataclass
class Assign:
    name: str
    value: object


@dataclass
class Element:
    """`m[index & 7]` of the thread's own array of 8."""

    index: object


@dataclass
class Store:
    index: object
    value: object


@dataclass
class Count:
    """An atomic add to a counter that all threads share; only the totals are compared."""

    index: object
    value: object


@dataclass
class If:
    condition: object
    then: list[object]
    other: list[object]


@dataclass
class For:
    """Goes round `count` (0 to 7) times; `index` is readable inside."""

    index: str
    count: object
    body: list[object]


@dataclass
class Switch:
    value: object
    cases: list[list[object]]


@dataclass
class Call:
    name: str
    target: str
    argument: object


@dataclass
class Jump:
    kind: str


@dataclass
class Generator:
    """Builds programs over the variables a, b, c (unsigned 32-bit), the thread `t` and the input `x`."""

    random: random.Random
    loops: int = 0
    calls: list[str] = field(default_factory=list)

    def expression(self, names: tuple[str, ...], depth: int = 2) -> object:
        pick = self.random.random()
        if depth == 0 or pick < 0.25:
            return self.random.choice(names)
        if pick < 0.32:
            return Element(self.expression(names, depth - 1))
        if pick < 0.45:
            return self.random.choice((0, 1, 2, 3, 5, 7, 13, 255, 0x9E3779B9))
        sign = self.random.choice(("+", "-", "*", "^", "&", "|", ">>", "%"))
        right: object = (
            self.random.choice((1, 3, 5)) if sign in (">>", "%") else self.expression(names, depth - 1)
        )
        return Binary(sign, self.expression(names, depth - 1), right)

    def condition(self, names: tuple[str, ...]) -> object:
        modulus = self.random.choice((2, 3, 4, 7))
        return Binary(self.random.choice(("<", "==", "!=")), Binary("%", self.expression(names), modulus), 1)

    def block(self, names: tuple[str, ...], depth: int, inside_loop: bool) -> list[object]:
        return [self.statement(names, depth, inside_loop) for _ in range(self.random.randint(1, 3))]

    def statement(self, names: tuple[str, ...], depth: int, inside_loop: bool) -> object:
        pick = self.random.random()
        if depth == 0 or pick < 0.3:
            kind = self.random.random()
            if kind < 0.2:
                return Store(self.expression(names, 1), self.expression(names))
            if kind < 0.3:
                return Count(self.expression(names, 1), self.expression(names, 1))
            return Assign(self.random.choice(VARIABLES), self.expression(names))
        if pick < 0.55:
            other = self.block(names, depth - 1, inside_loop) if self.random.random() < 0.6 else []
            return If(self.condition(names), self.block(names, depth - 1, inside_loop), other)
        if pick < 0.75:
            self.loops += 1
            index = f"i{self.loops}"
            count = Binary("&", self.expression(names), 7)
            return For(index, count, self.block((*names, index), depth - 1, True))
        if pick < 0.83:
            cases = [self.block(names, depth - 1, inside_loop) for _ in range(4)]
            return Switch(Binary("&", self.expression(names), 3), cases)
        if pick < 0.9:
            return Call(
                self.random.choice(("mix", "walk")), self.random.choice(VARIABLES), self.expression(names)
            )
        kinds = ["break", "continue"] if inside_loop and self.random.random() < 0.8 else ["return"]
        return If(self.condition(names), [Jump(self.random.choice(kinds))], [])

    def program(self) -> list[object]:
        return [each for _ in range(4) for each in self.block(("a", "b", "c", "t", "x"), 3, False)]


SOURCE = """
__device__ __noinline__ unsigned mix(unsigned v) { return v % 3 ? v * 2654435761u + 1 : v >> 2; }
__device__ __noinline__ unsigned walk(unsigned v) {
  unsigned n = 0;
  while (v % 11 && n < 9) { v = v % 2 ? 3 * v + 1 : v / 2; ++n; }
  return v + n;
}
__device__ unsigned body(unsigned t, unsigned x, unsigned* counters) {
  unsigned a = t, b = x, c = 1, m[8] = {0};
BODY
  return a ^ b * 3 ^ c * 7;
}
extern "C" __global__ void k(const unsigned* x, unsigned* y, unsigned* counters) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = body(i, x[i], counters);
}
"""


def text(program: list[object]) -> str:
    """Return the program as CUDA C++."""
    return SOURCE.replace("BODY", "\n".join(_lines(program, "  ")))


def _expression(node: object) -> str:
    if isinstance(node, Binary):
        return f"({_expression(node.left)} {node.sign} {_expression(node.right)})"
    if isinstance(node, Element):
        return f"m[{_expression(node.index)} & 7]"
    return f"{node}u" if isinstance(node, int) else str(node)


def _lines(block: list[object], indent: str) -> list[str]:
    return [indent + line for node in block for line in _WRITERS[type(node)](node)]


def _write_if(node: If) -> list[str]:
    then, other = _lines(node.then, "  "), _lines(node.other, "  ")
    return [f"if ({_expression(node.condition)}) {{", *then, "} else {", *other, "}"]


def _write_for(node: For) -> list[str]:
    head = f"for (unsigned {node.index} = 0, n_{node.index} = {_expression(node.count)};"
    return [head, f"     {node.index} < n_{node.index}; ++{node.index}) {{", *_lines(node.body, "  "), "}"]


def _write_switch(node: Switch) -> list[str]:
    lines = [f"switch ({_expression(node.value)}) {{"]
    for number, case in enumerate(node.cases):
        lines += [f"case {number}: {{", *_lines(case, "  "), "} break;"]
    return [*lines, "}"]


_WRITERS = {
    Assign: lambda n: [f"{n.name} = {_expression(n.value)};"],
    Store: lambda n: [f"m[{_expression(n.index)} & 7] = {_expression(n.value)};"],
    Count: lambda n: [f"atomicAdd(counters + ({_expression(n.index)} & 3), {_expression(n.value)});"],
    If: _write_if,
    For: _write_for,
    Switch: _write_switch,
    Call: lambda n: [f"{n.target} = {n.name}({_expression(n.argument)});"],
    Jump: lambda n: ["return a + 2 * b + 3 * c;" if n.kind == "return" else f"{n.kind};"],
}


@dataclass
class State:
    """Variables and array of one thread, and the shared counters."""

    names: dict[str, int]
    array: list[int]
    counters: list[int]


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


def run(program: list[object], t: int, x: int, counters: list[int]) -> int:
    """Run the program for one thread; adds to the four ``counters``."""
    state = State({"t": t, "x": x, "a": t, "b": x, "c": 1}, [0] * 8, counters)
    try:
        _run_block(program, state)
    except _Return:
        return (state.names["a"] + 2 * state.names["b"] + 3 * state.names["c"]) & MASK
    return (state.names["a"] ^ (state.names["b"] * 3 & MASK) ^ (state.names["c"] * 7 & MASK)) & MASK


def mix(v: int) -> int:
    return (v * 2654435761 + 1) & MASK if v % 3 else v >> 2


def walk(v: int) -> int:
    n = 0
    while v % 11 and n < 9:
        v = (3 * v + 1) & MASK if v % 2 else v // 2
        n += 1
    return (v + n) & MASK


_OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    ">>": lambda a, b: a >> b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: int(a < b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}


def _value(node: object, state: State) -> int:
    if isinstance(node, Binary):
        return _OPERATIONS[node.sign](_value(node.left, state), _value(node.right, state)) & MASK
    if isinstance(node, Element):
        return state.array[_value(node.index, state) & 7]
    return node if isinstance(node, int) else state.names[str(node)]


def _run_block(block: list[object], state: State) -> None:
    for node in block:
        _RUNNERS[type(node)](node, state)


def _run_if(node: If, state: State) -> None:
    _run_block(node.then if _value(node.condition, state) else node.other, state)


def _run_for(node: For, state: State) -> None:
    count = _value(node.count, state)
    for index in range(count):
        state.names[node.index] = index
        try:
            _run_block(node.body, state)
        except _Break:
            break
        except _Continue:
            continue


def _run_jump(node: Jump, state: State) -> None:
    raise {"break": _Break, "continue": _Continue, "return": _Return}[node.kind]


def _run_assign(node: Assign, state: State) -> None:
    state.names[node.name] = _value(node.value, state)


def _run_store(node: Store, state: State) -> None:
    value = _value(node.value, state)
    state.array[_value(node.index, state) & 7] = value


def _run_count(node: Count, state: State) -> None:
    at = _value(node.index, state) & 3
    state.counters[at] = (state.counters[at] + _value(node.value, state)) & MASK


def _run_switch(node: Switch, state: State) -> None:
    # In C a `break` leaves the switch alone, and `continue` goes on with the loop around it.
    try:
        _run_block(node.cases[_value(node.value, state)], state)
    except _Break:
        return


def _run_call(node: Call, state: State) -> None:
    state.names[node.target] = {"mix": mix, "walk": walk}[node.name](_value(node.argument, state))


_RUNNERS = {
    Assign: _run_assign,
    Store: _run_store,
    Count: _run_count,
    If: _run_if,
    For: _run_for,
    Switch: _run_switch,
    Call: _run_call,
    Jump: _run_jump,
}
