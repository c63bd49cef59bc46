"""Expressions against Python's own evaluation, and what they refuse."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from planc.source import LIMITS
from planc.source.expressions import Fault, compile_text

NAMES: dict[str, object] = {"n": 7, "m": -3, "big": 2**40, "x": 2.5, "y": -0.125, "yes": True, "no": False}
GREATEST, LEAST = 2**64 - 1, -(2**63)


def value_of(text: str) -> object:
    return compile_text(text, 0, LIMITS).evaluate(NAMES)


def ceildiv(a: int, b: int) -> int:
    return -(-a // b)


class Expressions:
    """Random expressions of a wanted type, with few of them refused."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def make(self, kind: str, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        return self.random.choice(self.rules(kind))(depth - 1)

    def leaf(self, kind: str) -> str:
        pick = self.random.choice
        if kind == "bool":
            return pick(["True", "False", "yes", "no"])
        if kind == "float":
            return pick(["x", "y", "0.5", "1e3", ".25", "2.", "1.5e-3", "0.0"])
        return pick(["n", "m", "big", "0", "1", "2", "3", "0x1F", "0b101", "0o17", "1_000", "64"])

    def rules(self, kind: str) -> list[Callable[[int], str]]:
        rules = {"int": self.integer, "float": self.real, "bool": self.truth}[kind]
        return [rules, rules, rules, lambda d: self.choice(kind, d), lambda d: f"({self.make(kind, d)})"]

    def choice(self, kind: str, depth: int) -> str:
        return f"({self.make(kind, depth)} if {self.make('bool', depth)} else {self.make(kind, depth)})"

    def integer(self, depth: int) -> str:
        a, b = self.make("int", depth), self.make("int", depth)
        op = self.random.choice(["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**", "call", "unary"])
        if op == "unary":
            return f"{self.random.choice('+-~')}({a})"
        if op == "call":
            return self.random.choice(
                [f"min({a}, {b})", f"max({a}, {b}, 1)", f"abs({a})", f"ceildiv({a}, {b})"]
            )
        return f"({a}) {op} ({self.random.choice(['0', '1', '2', '5']) if op in ('<<', '>>', '**') else b})"

    def real(self, depth: int) -> str:
        a, b = self.make("float", depth), self.make(self.random.choice(["int", "float"]), depth)
        op = self.random.choice(["+", "-", "*", "/", "//", "%", "**", "float", "min"])
        if op == "float":
            return f"float({self.make('int', depth)})"
        if op == "min":
            return f"min({a}, {b})" if self.random.random() < 0.5 else f"-({a})"
        return f"({a}) {op} ({'2' if op == '**' else b})"

    def truth(self, depth: int) -> str:
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "chain"])
        if op in ("and", "or"):
            return f"({self.make('bool', depth)} {op} {self.make('bool', depth)})"
        if op == "not":
            return f"(not {self.make('bool', depth)})"
        a, b, c = (self.make(self.random.choice(["int", "float"]), depth) for _ in range(3))
        return f"(({a}) < ({b}) <= ({c}))" if op == "chain" else f"(({a}) {op} ({b}))"


@pytest.mark.parametrize("seed", range(8))
def test_against_python(seed: int) -> None:
    make = Expressions(seed)
    agreed = 0
    for number in range(600):
        text = make.make(make.random.choice(["int", "float", "bool"]), 4)
        if len(text) > LIMITS.expression_length:
            continue
        try:
            wanted: object = eval(text, {"__builtins__": {}}, {**NAMES, **functions()})
        except (ZeroDivisionError, OverflowError) as error:
            wanted = error
        try:
            found = value_of(text)
        except Fault as fault:
            assert_refused_rightly(text, fault, wanted)
            continue
        assert type(found) is type(wanted), (seed, number, text)
        assert found == wanted or (found != found and wanted != wanted), (seed, number, text)
        agreed += 1
    assert agreed > 300


def functions() -> dict[str, object]:
    return {"min": min, "max": max, "abs": abs, "int": int, "float": float, "ceildiv": ceildiv}


def assert_refused_rightly(text: str, fault: Fault, wanted: object) -> None:
    """A refusal names what Python raises, or a number of the text that leaves the range."""
    if isinstance(wanted, ZeroDivisionError):
        assert fault.code in ("PLC135", "PLC136"), text
    elif isinstance(wanted, OverflowError):
        assert fault.code == "PLC136", text
    else:
        assert fault.code == "PLC136", (text, fault.code, fault.message)
    assert 0 <= fault.start < fault.end <= len(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551615", GREATEST),
        ("-9223372036854775808", LEAST),
        ("1 << 63", 2**63),
        ("2 ** 63 + (2 ** 63 - 1)", GREATEST),
        ("0 << 64", 0),
        ("1 >> 200", 0),
        ("-1 >> 200", -1),
        ("0 ** 0", 1),
        ("1 ** 100000000000", 1),
        ("(-1) ** 3", -1),
        ("2 ** -1", 0.5),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("inf + 1", math.inf),
        ("true", True),
        ("yes and no", False),
        ("no and 1 // 0 == 0", False),
        ("1 if yes else 1 // 0", 1),
        ("int(2.75)", 2),
        ("int(-2.75)", -2),
        ("ceildiv(7, 2)", 4),
        ("ceildiv(-7, 2)", -3),
        ("1 < n < 9", True),
        (" n ", 7),
        ("n +\n m", 4),
    ],
)
def test_value(text: str, value: object) -> None:
    found = value_of(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "code", "start", "end"),
    [
        ("18446744073709551616", "PLC136", 0, 20),
        ("-9223372036854775809", "PLC136", 0, 20),
        ("1 + (1 << 64)", "PLC136", 5, 12),
        ("1 << -1", "PLC136", 0, 7),
        ("10 ** 400", "PLC136", 0, 9),
        ("9 ** 9 ** 9", "PLC136", 0, 11),
        ("1e308 * 10", "PLC136", 0, 10),
        ("1e999", "PLC136", 0, 5),
        ("int(inf)", "PLC136", 0, 8),
        ("n // (m + 3)", "PLC135", 0, 12),
        ("n % 0", "PLC135", 0, 5),
        ("0.0 ** -1", "PLC135", 0, 9),
        ("ceildiv(1, 0)", "PLC135", 0, 13),
        ("(-8) ** 0.5", "PLC137", 0, 11),
        ("yes + 1", "PLC137", 0, 7),
        ("~x", "PLC137", 0, 2),
        ("x & 1", "PLC137", 0, 5),
        ("not n", "PLC137", 0, 5),
        ("1 if n else 2", "PLC137", 5, 6),
        ("n == yes", "PLC137", 0, 8),
        ("n and yes", "PLC137", 0, 9),
        ("min(yes, no)", "PLC137", 0, 12),
        ("a + 1", "PLC202", 0, 1),
        ("n + nn", "PLC202", 4, 6),
        ("min(n)", "PLC138", 0, 6),
        ("abs(1, 2)", "PLC138", 0, 9),
        ("min(a=1, b=2)", "PLC138", 0, 13),
        ("range(3)", "PLC138", 0, 5),
        ("print(1)", "PLC138", 0, 5),
        ("n.real", "PLC132", 0, 6),
        ("n[0]", "PLC132", 0, 4),
        ("[1]", "PLC132", 0, 3),
        ("1, 2", "PLC132", 0, 4),
        ("lambda: 1", "PLC132", 0, 9),
        ("1 in n", "PLC132", 0, 6),
        ("n is n", "PLC132", 0, 6),
        ("None", "PLC132", 0, 4),
        ("...", "PLC132", 0, 3),
        ("min(1)(2)", "PLC132", 0, 6),
        ("[n for n in n]", "PLC132", 0, 14),
        ("", "PLC131", 0, 1),
        ("1 +", "PLC131", 2, 3),
        ("'a'", "PLC131", 0, 1),
        ("n # 1", "PLC131", 2, 3),
        ("n @ n", "PLC131", 2, 3),
        ("n; n", "PLC131", 1, 2),
        ("é", "PLC131", 0, 1),
        ("1 if yes", "PLC131", None, None),
        ("(n", "PLC131", None, None),
        ("n := 1", "PLC131", None, None),
        ("1if yes else 2", "PLC131", 0, 3),
        ("0x", "PLC131", 0, 2),
        ("1j", "PLC131", 0, 2),
        ("1__0", "PLC131", None, None),
        ("012", "PLC131", 0, 3),
        ("yield", "PLC131", None, None),
        ("await n", "PLC132", 0, 7),
    ],
)
def test_refusal(text: str, code: str, start: int | None, end: int | None) -> None:
    with pytest.raises(Fault) as caught:
        value_of(text)
    fault = caught.value
    assert fault.code == code, fault.message
    if start is not None:
        assert (fault.start, fault.end) == (start, end)
    assert 0 <= fault.start < fault.end


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + "1" + ")" * 2000,
        "-" * 3000 + "1",
        "not " * 1000 + "yes",
        "1" + "**1" * 1300,
        "1 if yes else " * 250 + "1",
        "1" + "+1" * 2000,
        "lambda:" * 500 + "1",
        "abs(" * 900 + "1" + ")" * 900,
        "1" * 4000,
        "1" * 5000,
        "[" * 1000,
        "((((((((((" * 6 + "1",
        "~" * 60 + "1",
    ],
    ids=lambda t: f"{t[:8]}...{len(t)}",
)
def test_large_texts_are_refused_or_right(text: str) -> None:
    try:
        found = value_of(text)
    except Fault as fault:
        assert fault.code in ("PLC131", "PLC132", "PLC133", "PLC134", "PLC136")
    else:
        assert found == eval(text)


def test_columns_count_in_the_text_that_holds_the_expression() -> None:
    expression = compile_text("  n + 1  ", 10, LIMITS)
    assert (expression.start, expression.end, expression.text) == (12, 17, "n + 1")
    with pytest.raises(Fault) as caught:
        compile_text("  n + a  ", 10, LIMITS).evaluate(NAMES)
    assert (caught.value.start, caught.value.end) == (16, 17)


def test_names_are_those_it_mentions() -> None:
    assert compile_text("min(n, m) if true else x", 0, LIMITS).names == {"n", "m", "x"}


def test_a_name_that_is_no_number_is_told_apart_from_an_unknown_one() -> None:
    with pytest.raises(Fault) as caught:
        compile_text("u + 1", 0, LIMITS).evaluate({"u": "a buffer"})
    assert caught.value.code == "PLC137"
