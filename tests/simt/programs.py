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
        if pick < 0.4:
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
__device__ unsigned body(unsigned t, unsigned x) {
  unsigned a = t, b = x, c = 1;
BODY
  return a ^ b * 3 ^ c * 7;
}
extern "C" __global__ void k(const unsigned* x, unsigned* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = body(i, x[i]);
}
"""


def text(program: list[object]) -> str:
    """Return the program as CUDA C++."""
    return SOURCE.replace("BODY", "\n".join(_lines(program, "  ")))


def _expression(node: object) -> str:
    if isinstance(node, Binary):
        return f"({_expression(node.left)} {node.sign} {_expression(node.right)})"
    return f"{node}u" if isinstance(node, int) else str(node)


def _lines(block: list[object], indent: str) -> list[str]:
    found: list[str] = []
    for node in block:
        if isinstance(node, Assign):
            found.append(f"{indent}{node.name} = {_expression(node.value)};")
        elif isinstance(node, If):
            found += [f"{indent}if ({_expression(node.condition)}) {{", *_lines(node.then, indent + "  ")]
            found += [f"{indent}}} else {{", *_lines(node.other, indent + "  "), indent + "}"]
        elif isinstance(node, For):
            end = f"n_{node.index}"
            found.append(f"{indent}for (unsigned {node.index} = 0, {end} = {_expression(node.count)};")
            found.append(f"{indent}     {node.index} < {end}; ++{node.index}) {{")
            found += [*_lines(node.body, indent + "  "), indent + "}"]
        elif isinstance(node, Switch):
            found.append(f"{indent}switch ({_expression(node.value)}) {{")
            for number, case in enumerate(node.cases):
                found += [
                    f"{indent}case {number}: {{",
                    *_lines(case, indent + "  "),
                    indent + "} break;",
                ]
            found.append(indent + "}")
        elif isinstance(node, Call):
            found.append(f"{indent}{node.target} = {node.name}({_expression(node.argument)});")
        elif isinstance(node, Jump):
            jump = "return a + 2 * b + 3 * c" if node.kind == "return" else node.kind
            found.append(f"{indent}{jump};")
    return found


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


def run(program: list[object], t: int, x: int) -> int:
    """Run the program for one thread."""
    state = {"t": t, "x": x, "a": t, "b": x, "c": 1}
    try:
        _run_block(program, state)
    except _Return:
        return (state["a"] + 2 * state["b"] + 3 * state["c"]) & MASK
    return (state["a"] ^ (state["b"] * 3 & MASK) ^ (state["c"] * 7 & MASK)) & MASK


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


def _value(node: object, state: dict[str, int]) -> int:
    if isinstance(node, Binary):
        return _OPERATIONS[node.sign](_value(node.left, state), _value(node.right, state)) & MASK
    return node if isinstance(node, int) else state[str(node)]


def _run_block(block: list[object], state: dict[str, int]) -> None:
    for node in block:
        _RUNNERS[type(node)](node, state)


def _run_if(node: If, state: dict[str, int]) -> None:
    _run_block(node.then if _value(node.condition, state) else node.other, state)


def _run_for(node: For, state: dict[str, int]) -> None:
    count = _value(node.count, state)
    for index in range(count):
        state[node.index] = index
        try:
            _run_block(node.body, state)
        except _Break:
            break
        except _Continue:
            continue


def _run_jump(node: Jump, state: dict[str, int]) -> None:
    raise {"break": _Break, "continue": _Continue, "return": _Return}[node.kind]


def _run_assign(node: Assign, state: dict[str, int]) -> None:
    state[node.name] = _value(node.value, state)


def _run_switch(node: Switch, state: dict[str, int]) -> None:
    # In C a `break` leaves the switch alone, and `continue` goes on with the loop around it.
    try:
        _run_block(node.cases[_value(node.value, state)], state)
    except _Break:
        return


def _run_call(node: Call, state: dict[str, int]) -> None:
    state[node.target] = {"mix": mix, "walk": walk}[node.name](_value(node.argument, state))


_RUNNERS = {
    Assign: _run_assign,
    If: _run_if,
    For: _run_for,
    Switch: _run_switch,
    Call: _run_call,
    Jump: _run_jump,
}
