"""From Python's syntax tree to functions of an environment: a whitelist, never ``eval``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planc.source.expressions.fault import BROKEN, FOLLOWS, Fault, Mistake
from planc.source.expressions.lexical import parse
from planc.source.expressions.operators import (
    BINARY,
    COMPARE,
    CONSTANTS,
    FUNCTIONS,
    UNARY,
    Binary,
    Number,
    checked,
    truth,
)
from planc.source.limits import Limits
from planc.source.report import advice

Environment = Mapping[str, object]
Evaluate = Callable[[Environment], Number]
RESERVED: frozenset[str] = frozenset({*CONSTANTS, *FUNCTIONS, "range", "True", "False", "None"})
ONE_NUMBER = "write one number: symbols, operators and " + ", ".join(f"`{name}`" for name in FUNCTIONS)
_FOREIGN: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Attribute: ("a name with a dot", "write the number itself, or name it under `symbols`"),
    ast.Subscript: ("an index", "write a number known now: what is in a buffer is known only on the device"),
    ast.Tuple: ("a list with commas", "write one number"),
    ast.List: ("a list in brackets", "write one number"),
    ast.Slice: ("a slice", "write one number; slices belong in views"),
    ast.Starred: ("a star", "write each value out"),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression: ``text`` from ``start`` up to ``end`` of the text that holds it.

    ``names`` are the names it mentions. ``evaluate`` raises Fault: PLC135 (division by zero), PLC136 (out
    of range), PLC137 (wrong type), PLC202 (unknown name).
    """

    text: str
    start: int
    end: int
    names: frozenset[str]
    evaluate: Evaluate


def compile_text(text: str, base: int, limits: Limits) -> Expression:
    """Compile ``text``, which begins at ``base`` of the text that holds it.

    Raises Fault: PLC131 (no expression), PLC132 (outside the language), PLC133 (too long), PLC134 (nested
    too deeply), PLC138 (unknown function).
    """
    node, lead = parse(text, base, limits)
    return compile_node(node, text, lead, base, limits)


def constant(value: Number, text: str) -> Expression:
    """Return the expression that is always ``value``, written as ``text``."""
    return Expression(text, 0, len(text), frozenset(), lambda environment: value)


def compile_node(node: ast.expr, text: str, lead: int, base: int, limits: Limits) -> Expression:
    """Compile one node of the tree of ``text``; see :func:`planc.source.expressions.lexical.parse`."""
    compiler = _Compiler(lead, limits)
    evaluate = compiler.compile(node, 0)
    start, end = compiler.place(node)
    return Expression(text[start - base : end - base], start, end, frozenset(compiler.names), evaluate)


class _Compiler:
    """Compiles one tree; ``names`` gathers what it mentions."""

    def __init__(self, lead: int, limits: Limits) -> None:
        self.lead = lead
        self.limits = limits
        self.names: set[str] = set()

    def place(self, node: ast.AST) -> tuple[int, int]:
        start = getattr(node, "col_offset", 0) + self.lead
        end = getattr(node, "end_col_offset", None)
        return start, start + 1 if end is None else end + self.lead

    def compile(self, node: ast.expr, depth: int) -> Evaluate:
        if depth > self.limits.expression_depth:
            message = f"the expression is nested more than {self.limits.expression_depth} levels deep"
            raise Fault("PLC134", message, *self.place(node), "name parts of it as symbols")
        build = _BUILDERS.get(type(node))
        if build is None:
            what, cure = _FOREIGN.get(type(node), (f"`{type(node).__name__.lower()}`", ONE_NUMBER))
            raise Fault("PLC132", f"{what} is not part of the expression language", *self.place(node), cure)
        return build(self, node, depth + 1)

    def guarded(self, function: Evaluate, node: ast.AST) -> Evaluate:
        """Give the mistakes of ``function`` the place of ``node``."""
        start, end = self.place(node)

        def evaluate(environment: Environment) -> Number:
            try:
                return function(environment)
            except Mistake as mistake:
                raise Fault(mistake.code, mistake.message, start, end, mistake.help) from None

        return evaluate

    # -- one method for each kind of node -------------------------------------------------------

    def constant(self, node: ast.Constant, depth: int) -> Evaluate:
        value = node.value
        if not isinstance(value, bool | int | float):
            what = "`None`" if value is None else "this value"
            cure = "write a number, `true` or `false`"
            raise Fault("PLC132", f"{what} is not part of the expression language", *self.place(node), cure)
        try:
            number = checked(value)
        except Mistake as mistake:
            raise Fault(mistake.code, mistake.message, *self.place(node), mistake.help) from None
        return lambda environment: number

    def name(self, node: ast.Name, depth: int) -> Evaluate:
        name = node.id
        if name in CONSTANTS:
            known = CONSTANTS[name]
            return lambda environment: known
        self.names.add(name)
        start, end = self.place(node)

        def evaluate(environment: Environment) -> Number:
            value = environment.get(name)
            if isinstance(value, int | float):
                return value
            raise _no_number(name, value, environment, start, end)

        return evaluate

    def binary(self, node: ast.BinOp, depth: int) -> Evaluate:
        apply = BINARY.get(type(node.op))
        if apply is None:
            cure = "write `*` for a product"
            raise Fault("PLC132", "`@` is not part of the expression language", *self.place(node), cure)
        return self._apply(apply, node.left, node.right, node, depth)

    def _apply(self, apply: Binary, left: ast.expr, right: ast.expr, node: ast.AST, depth: int) -> Evaluate:
        first, second = self.compile(left, depth), self.compile(right, depth)
        start, end = self.place(node)

        def evaluate(environment: Environment) -> Number:
            a, b = first(environment), second(environment)
            try:
                return apply(a, b)
            except Mistake as mistake:
                raise Fault(mistake.code, mistake.message, start, end, mistake.help) from None

        return evaluate

    def unary(self, node: ast.UnaryOp, depth: int) -> Evaluate:
        apply, operand = UNARY[type(node.op)], self.compile(node.operand, depth)
        return self.guarded(lambda environment: apply(operand(environment)), node)

    def both(self, node: ast.BoolOp, depth: int) -> Evaluate:
        stop = isinstance(node.op, ast.Or)
        word = "or" if stop else "and"
        parts = [self.compile(value, depth) for value in node.values]

        def evaluate(environment: Environment) -> Number:
            return stop if any(truth(word, part(environment)) is stop for part in parts) else not stop

        return self.guarded(evaluate, node)

    def compare(self, node: ast.Compare, depth: int) -> Evaluate:
        parts = [self.compile(value, depth) for value in (node.left, *node.comparators)]
        applies = []
        for op in node.ops:
            apply = COMPARE.get(type(op))
            if apply is None:
                message = "`in` and `is` are not part of the expression language"
                raise Fault("PLC132", message, *self.place(node), "compare with `==`, `<` and the like")
            applies.append(apply)

        def evaluate(environment: Environment) -> Number:
            left = parts[0](environment)
            for apply, part in zip(applies, parts[1:], strict=True):
                right = part(environment)
                if not apply(left, right):
                    return False
                left = right
            return True

        return self.guarded(evaluate, node)

    def conditional(self, node: ast.IfExp, depth: int) -> Evaluate:
        test, then, otherwise = (self.compile(n, depth) for n in (node.test, node.body, node.orelse))
        chosen = self.guarded(lambda environment: truth("if", test(environment)), node.test)
        return lambda environment: then(environment) if chosen(environment) else otherwise(environment)

    def call(self, node: ast.Call, depth: int) -> Evaluate:
        if not isinstance(node.func, ast.Name):
            cure = "call one of " + ", ".join(f"`{name}`" for name in FUNCTIONS)
            raise Fault("PLC132", "only named functions can be called", *self.place(node.func), cure)
        name = node.func.id
        function = FUNCTIONS.get(name)
        if function is None:
            what = "belongs only in `for`" if name == "range" else "is not a function of the language"
            cure = "write a number" if name == "range" else advice(name, FUNCTIONS)
            raise Fault("PLC138", f"`{name}` {what}", *self.place(node.func), cure)
        most = function.most
        if node.keywords or len(node.args) < function.least or (most is not None and len(node.args) > most):
            count = f"at least {function.least}" if most is None else str(most)
            cure = f"write `{name}({', '.join('abc'[: max(function.least, 1)])})`"
            raise Fault("PLC138", f"`{name}` takes {count} arguments, without names", *self.place(node), cure)
        parts = [self.compile(argument, depth) for argument in node.args]
        apply = function.apply
        return self.guarded(lambda environment: apply(*[part(environment) for part in parts]), node)


_BUILDERS: Mapping[type[ast.expr], Callable[..., Evaluate]] = {
    ast.Constant: _Compiler.constant,
    ast.Name: _Compiler.name,
    ast.BinOp: _Compiler.binary,
    ast.UnaryOp: _Compiler.unary,
    ast.BoolOp: _Compiler.both,
    ast.Compare: _Compiler.compare,
    ast.IfExp: _Compiler.conditional,
    ast.Call: _Compiler.call,
}


def _no_number(name: str, value: object, environment: Environment, start: int, end: int) -> Fault:
    """Return the fault of a name that is unknown, or known as something else than a number."""
    if value is BROKEN:
        return Fault(FOLLOWS, "", start, end)
    if value is not None:
        cure = "an expression uses symbols, loop variables and number parameters"
        return Fault("PLC137", f"`{name}` is {value}, not a number known now", start, end, cure)
    return Fault(
        "PLC202",
        f"no symbol or loop variable is named `{name}`",
        start,
        end,
        lambda: advice(
            name,
            [n for n, other in environment.items() if isinstance(other, int | float)],
            f"declare `{name}` under `symbols`",
        ),
    )
