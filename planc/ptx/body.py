"""Bodies of functions: scopes, labels, declarations, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from planc.diagnostics import Collector
from planc.ptx.cursor import Cursor
from planc.ptx.declarations import (
    SPACES,
    Shape,
    read_parameters,
    read_registers,
    read_variables,
    whole_number,
)
from planc.ptx.lexer import DIRECTIVE, END, NUMBER, SECTION, STRING, WORD
from planc.ptx.names import Scopes
from planc.ptx.operands import OperandReader
from planc.ptx.syntax import (
    Discard,
    Guard,
    Instruction,
    Operand,
    Prototype,
    Register,
    SourceLine,
    Symbol,
    Variable,
    Vector,
)
from planc.ptx.text import Mistake

_MAX_DEPTH = 64
_MOST_MISTAKES = 20
_STATEMENT_STARTS = frozenset({";", "{", "}", ":", STRING, NUMBER, SECTION, WORD})
_TABLES = frozenset({".branchtargets", ".calltargets", ".callprototype"})
_COMPONENTS = (("x", "r"), ("y", "g"), ("z", "b"), ("w", "a"))


@dataclass(slots=True)
class Body:
    """What the braces of a function hold."""

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    branch_targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    call_targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: dict[str, Prototype] = field(default_factory=dict)


class BodyReader:
    """Reads one body, from its ``{`` to its ``}``; mistakes go to the collector."""

    def __init__(self, cursor: Cursor, scopes: Scopes, files: Mapping[int, str], found: Collector) -> None:
        """Read with the names of the parameters already in ``scopes``."""
        self.body = Body()
        self._cursor = cursor
        self._scopes = scopes
        self._files = files
        self._found = found
        self._operands = OperandReader(cursor, scopes)
        self._forms: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._place: SourceLine | None = None
        self._mistakes = 0
        self._block_labels: dict[int, list[int]] = {}
        self._branches: list[tuple[int, str, Operand]] = []

    def read(self) -> Body:
        """Read all; raises :class:`Mistake` only where no going on makes sense."""
        cursor = self._cursor
        self._block_labels = find_labels(cursor)
        self._declare_labels()
        cursor.expect("{", "a function")
        depth = 1
        while depth:
            try:
                depth += self._statement(depth)
            except Mistake as mistake:
                self._recover(mistake)
        self._check_branches()
        return self.body

    def _check_branches(self) -> None:
        """A branch goes to a label, directly or through a table (PTX ISA, "bra" and "brx.idx")."""
        for at, opcode, operand in self._branches:
            name = operand.name if isinstance(operand, Symbol) else ""
            names = (name,) if opcode == "bra" else self.body.branch_targets.get(name, ("",))
            if not all(each in self.body.labels for each in names) and name not in self._scopes.missing:
                what = "no label" if opcode == "bra" else "no table of labels"
                self._found.add(
                    self._cursor.mistake(
                        "PLC491",
                        f"`{opcode}` goes to {what}",
                        help="declare the label in this function, or mend its name",
                        at=at,
                    ).diagnostic
                )

    def _recover(self, mistake: Mistake) -> None:
        self._found.add(mistake.diagnostic)
        self._mistakes += 1
        cursor = self._cursor
        if cursor.kind == END or self._mistakes >= _MOST_MISTAKES:
            raise Stop
        while cursor.kind not in (";", END) and not self._closes_block():
            cursor.at += 1
        cursor.accept(";")

    def _closes_block(self) -> bool:
        """Whether a ``}`` at the cursor ends a block, not a vector."""
        cursor = self._cursor
        return cursor.kind == "}" and cursor.kinds[cursor.at + 1] not in (",", ";")

    def _statement(self, depth: int) -> int:
        """Read one statement and return by how much the depth of braces changed."""
        cursor = self._cursor
        kind = cursor.kinds[cursor.at]
        if kind == WORD:
            if cursor.kinds[cursor.at + 1] == ":":
                self._label()
            else:
                self._instruction(None)
        elif kind == "@":
            self._instruction(self._guard())
        elif kind == DIRECTIVE:
            self._directive()
        elif kind in ("{", "}"):
            return self._brace(kind, depth)
        elif kind in (";", SECTION):
            cursor.at += 1
        else:
            raise cursor.unexpected("an instruction", "a function")
        return 0

    def _brace(self, kind: str, depth: int) -> int:
        if kind == "}":
            self._cursor.at += 1
            if depth > 1:
                self._scopes.close()
            return -1
        if depth >= _MAX_DEPTH:
            self._found.add(
                self._cursor.mistake(
                    "PLC493",
                    f"blocks nest deeper than {_MAX_DEPTH}",
                    help="take blocks out of each other: registers of other names need no block",
                ).diagnostic
            )
            raise Stop
        self._scopes.open()
        self._declare_labels()
        self._cursor.at += 1
        return 1

    def _declare_labels(self) -> None:
        """Declare the labels of the block whose ``{`` is at the cursor, for they may be used before."""
        cursor = self._cursor
        for at in self._block_labels.get(cursor.at, ()):
            name = cursor.texts[at]
            if self._scopes.declares(name):
                raise cursor.mistake(
                    "PLC492",
                    f"the label `{name}` stands twice",
                    help="rename one of the labels, and its branches",
                    at=at,
                )
            self._scopes.symbol(name)

    def _flat(self, name: str) -> str:
        found = self._scopes.find(name)
        return getattr(found, "name", name)

    def _label(self) -> None:
        cursor = self._cursor
        name = self._flat(cursor.text)
        cursor.at += 2
        if cursor.kind == DIRECTIVE and cursor.text in _TABLES:
            self._table(name, cursor.text)
        else:
            self.body.labels[name] = len(self.body.instructions)

    def _table(self, name: str, directive: str) -> None:
        cursor = self._cursor
        cursor.at += 1
        if directive == ".callprototype":
            self.body.prototypes[name] = read_prototype(cursor)
            return
        found = [self._target(directive)]
        while cursor.accept(","):
            found.append(self._target(directive))
        cursor.expect(";", f"`{directive}`")
        tables = self.body.branch_targets if directive == ".branchtargets" else self.body.call_targets
        tables[name] = tuple(found)

    def _target(self, directive: str) -> str:
        cursor = self._cursor
        name = cursor.take(WORD, "a name", f"`{directive}`")
        if self._scopes.find(name) is None:
            self._scopes.missing.setdefault(name, cursor.at - 1)
        return self._flat(name)

    def _guard(self) -> Guard:
        cursor = self._cursor
        cursor.at += 1
        negated = cursor.accept("!")
        name = cursor.take(WORD, "a predicate", "a guard")
        found = self._scopes.find(name)
        if not isinstance(found, Register):
            raise cursor.mistake(
                "PLC491",
                f"no predicate `{name}` is declared here",
                "declare it with `.reg .pred`",
                cursor.at - 1,
            )
        return Guard(found.name, negated)

    def _instruction(self, guard: Guard | None) -> None:
        cursor = self._cursor
        line = cursor.line
        text = cursor.take(WORD, "an instruction", "a function")
        while cursor.kinds[cursor.at] == DIRECTIVE:
            text += cursor.text
            cursor.at += 1
        form = self._forms.get(text)
        if form is None:
            opcode, *modifiers = text.split(".")
            form = self._forms[text] = (opcode, tuple(modifiers))
        at = cursor.at
        operands = self._operands.operands(form[0])
        if form[0] in ("bra", "brx"):
            self._branches.append((at, form[0], operands[-1] if operands else Discard()))
        self.body.instructions.append(Instruction(*form, operands, guard, line, self._place))

    def _directive(self) -> None:
        cursor = self._cursor
        word = cursor.text
        cursor.at += 1
        if word == ".loc":
            self._place = read_place(cursor, self._files)
        elif word == ".reg":
            self._registers()
        elif word in SPACES:
            self._variables(word[1:])
        elif word == ".pragma":
            cursor.pragma()
        elif word == ".file":
            read_file(cursor)
        else:
            raise cursor.mistake(
                "PLC490",
                f"`{word}` stands in no function",
                help="move it out of the function, or take it out",
                at=cursor.at - 1,
            )

    def _variables(self, space: str) -> None:
        for declared in read_variables(self._cursor, space, ""):
            variable = declared.variable
            self._check_new(variable.name, declared.at)
            self.body.variables.append(replace(variable, name=self._scopes.symbol(variable.name)))
            for name, at in declared.uses:
                if self._scopes.find(name) is None:
                    self._scopes.missing.setdefault(name, at)

    def _registers(self) -> None:
        shape, names = read_registers(self._cursor)
        if shape.vector > len(_COMPONENTS):
            raise self._cursor.mistake(
                "PLC490", "a register has at most 4 elements", help="write `.v2` or `.v4`", at=names[0][0]
            )
        for at, name, count in names:
            for each in [name] if count is None else [f"{name}{k}" for k in range(count)]:
                self._check_new(each, at)
                self._register(each, shape)

    def _register(self, name: str, shape: Shape) -> None:
        if shape.vector == 1:
            self.body.registers[self._scopes.register(name)] = shape.type
            return
        flat: list[Register] = []
        for position, colour in _COMPONENTS[: shape.vector]:
            part = Register(self._scopes.register(f"{name}${position}"))
            self._scopes.alias(f"{name}.{position}", part)
            self._scopes.alias(f"{name}.{colour}", part)
            self.body.registers[part.name] = shape.type
            flat.append(part)
        self._scopes.alias(name, Vector(tuple(flat)))

    def _check_new(self, name: str, at: int) -> None:
        if self._scopes.declares(name):
            raise self._cursor.mistake(
                "PLC492",
                f"`{name}` is declared twice in one block",
                help="rename one of them, or take one out",
                at=at,
            )


class Stop(Exception):
    """Reading of this text ends; the collector knows why."""


def find_labels(cursor: Cursor) -> dict[int, list[int]]:
    """Return, for each ``{`` from the cursor to its ``}``, the label tokens directly inside."""
    kinds = cursor.kinds
    found: dict[int, list[int]] = {}
    stack: list[list[int]] = []
    for at in range(cursor.at, len(kinds)):
        kind = kinds[at]
        if kind == ":":
            if stack and kinds[at - 1] == WORD and kinds[at - 2] in _STATEMENT_STARTS:
                stack[-1].append(at - 1)
        elif kind == "{":
            stack.append(found.setdefault(at, []))
        elif kind == "}" and stack:
            stack.pop()
            if not stack:
                break
    return found


def read_prototype(cursor: Cursor) -> Prototype:
    """Read ``(.param .b32 _) _ (.param .b32 _);``."""
    results = read_parameters(cursor)
    cursor.expect("_", "`.callprototype`")
    parameters = read_parameters(cursor)
    while cursor.kind == DIRECTIVE:
        cursor.at += 1
        if cursor.kind == NUMBER:
            cursor.at += 1
    cursor.expect(";", "`.callprototype`")
    return Prototype(tuple(p for _, p in parameters), tuple(p for _, p in results))


def read_place(cursor: Cursor, files: Mapping[int, str]) -> SourceLine | None:
    """Read ``.loc 1 15 3, function_name $L+4, inlined_at 1 20 3`` after the ``.loc``.

    Line 0 marks what no line of the source gave, so it is None (PTX ISA, ".loc").
    """
    file = whole_number(cursor, "`.loc`")
    line = whole_number(cursor, "`.loc`")
    column = whole_number(cursor, "`.loc`") if cursor.kind == NUMBER else 0
    while cursor.kind == "," and cursor.texts[cursor.at + 1] in ("function_name", "inlined_at"):
        cursor.at += 2
        if cursor.texts[cursor.at - 1] == "function_name":
            cursor.take(WORD, "a label", "`.loc`")
        while cursor.kind in (NUMBER, "+"):
            cursor.at += 1
    return SourceLine(files.get(file, ""), line, column) if line else None


def read_file(cursor: Cursor) -> tuple[int, str]:
    """Read ``1 "name", 1234, 99`` after ``.file``: number and name."""
    number = whole_number(cursor, "`.file`")
    name = cursor.take(STRING, "a string", "`.file`")[1:-1]
    if cursor.kind == STRING:
        name = f"{name}/{cursor.text[1:-1]}"
        cursor.at += 1
    while cursor.accept(","):
        whole_number(cursor, "`.file`")
    return number, name
