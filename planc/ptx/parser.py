"""PTX text to a Module (PTX ISA, "Directives")."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from planc.diagnostics import Collector, Diagnostic, GraphError, Span
from planc.ptx.body import Body, BodyReader, Stop, read_file
from planc.ptx.cursor import Cursor
from planc.ptx.declarations import (
    LINKAGES,
    SPACES,
    read_parameters,
    read_variables,
    whole_number,
)
from planc.ptx.lexer import DIRECTIVE, END, NUMBER, SECTION, STRING, WORD, tokenize
from planc.ptx.names import Scopes
from planc.ptx.syntax import Function, Module, Parameter, Variable
from planc.ptx.text import Mistake, Source

LARGEST_TEXT = 16 << 20
"""The most characters of PTX that are read."""
_MOST_MISTAKES = 20


def parse(text: str, file: str = "") -> Module:
    """Parse PTX, as nvcc, NVRTC, Triton and Numba write it or a person does.

    Opcodes are not looked up: any word with operands is an instruction. ``file`` is the name that
    diagnostics show. Raises :class:`planc.diagnostics.GraphError` with all mistakes found:
    PLC490 (syntax), PLC491 (a name nobody declares), PLC492 (a name declared twice), PLC493 (larger
    or deeper than planc reads), PLC494 (a number without a meaning), PLC495 (no usable header).
    """
    found = Collector()
    if len(text) > LARGEST_TEXT:
        message = f"the PTX has {len(text)} characters; planc reads {LARGEST_TEXT}"
        raise GraphError(
            Diagnostic("PLC493", message, Span(file), help="split it, or leave debug information out")
        )
    source = Source(text, file)
    try:
        reader = ModuleReader(Cursor(source, tokenize(source)), found)
        module = reader.read()
    except Mistake as mistake:
        found.add(mistake.diagnostic)
    except Stop:
        pass
    found.raise_errors()
    return module


@dataclass(slots=True)
class _Pending:
    """Names that a function uses and its scopes lack, to be looked up when all is read."""

    scopes: Scopes
    function: str


@dataclass(slots=True)
class ModuleReader:
    """Reads the top level."""

    cursor: Cursor
    found: Collector
    version: tuple[int, int] | None = None
    target: tuple[str, ...] = ()
    address_size: int = 64
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    aliases: dict[str, int] = field(default_factory=dict)
    pending: list[_Pending] = field(default_factory=list)
    uses: list[tuple[str, str, int]] = field(default_factory=list)
    mistakes: int = 0

    def read(self) -> Module:
        """Read the whole text."""
        cursor = self.cursor
        self._scan_files()
        self._header()
        while cursor.kind != END:
            try:
                self._statement()
            except Mistake as mistake:
                self._recover(mistake)
        self._resolve()
        return Module(
            self.version or (0, 0),
            self.target,
            self.address_size,
            self.functions,
            self.variables,
            self.files,
            frozenset(cursor.extras),
        )

    def _scan_files(self) -> None:
        """Note all ``.file`` first: nvcc writes them after the ``.loc`` that need them."""
        cursor = self.cursor
        for at, text in enumerate(cursor.texts):
            if text == ".file" and cursor.kinds[at + 1] == NUMBER and cursor.kinds[at + 2] == STRING:
                cursor.at = at + 1
                number, name = read_file(cursor)
                self.files[number] = name
        cursor.at = 0

    def _recover(self, mistake: Mistake) -> None:
        """Note a mistake and go on at the next declaration."""
        self.found.add(mistake.diagnostic)
        self.mistakes += 1
        if self.mistakes >= _MOST_MISTAKES:
            raise Stop
        cursor = self.cursor
        cursor.at += cursor.kind != END
        while cursor.kind != END and cursor.text not in _STARTS:
            cursor.at += 1

    def _header(self) -> None:
        """Read ``.version`` and ``.target``, which come first (PTX ISA, ".version")."""
        cursor = self.cursor
        if not cursor.accept(".version"):
            raise cursor.mistake(
                "PLC495", "the PTX does not begin with `.version`", "begin with `.version 9.0`"
            )
        text = cursor.take(NUMBER, "a version", "`.version`")
        major, point, minor = text.partition(".")
        if not (point and major.isdigit() and minor.isdigit() and len(text) <= 6):
            raise cursor.mistake(
                "PLC495", f"`{text}` is no PTX version", "write `.version 9.0`", cursor.at - 1
            )
        self.version = int(major), int(minor)
        if not cursor.accept(".target"):
            raise cursor.mistake("PLC495", "no `.target` follows `.version`", "write `.target sm_90`")
        self._target()

    def _target(self) -> None:
        cursor = self.cursor
        names = [cursor.take(WORD, "a target", "`.target`")]
        while cursor.accept(","):
            names.append(cursor.take(WORD, "a target", "`.target`"))
        self.target = tuple(names)

    def _statement(self) -> None:
        cursor = self.cursor
        if cursor.kind in (SECTION, ";"):
            cursor.at += 1
            return
        linkage = ""
        while cursor.text in LINKAGES:
            linkage = cursor.text[1:]
            cursor.at += 1
        word = cursor.text
        if cursor.kind != DIRECTIVE:
            raise cursor.unexpected("a directive", "a PTX file")
        if word in (".entry", ".func"):
            self._function(linkage)
        elif word in SPACES:
            cursor.at += 1
            self._variable_list(word[1:], linkage)
        else:
            self._other(word)

    def _other(self, word: str) -> None:
        cursor = self.cursor
        cursor.at += 1
        if word == ".address_size":
            self._address_size()
        elif word == ".file":
            read_file(cursor)
        elif word == ".target":
            self._target()
        elif word == ".alias":
            self._alias()
        elif word == ".pragma":
            cursor.pragma()
        else:
            raise cursor.mistake(
                "PLC490",
                f"`{word}` starts nothing at the top of a PTX file",
                help="take it out, or move it into a function",
                at=cursor.at - 1,
            )

    def _address_size(self) -> None:
        size = whole_number(self.cursor, "`.address_size`")
        if size not in (32, 64):
            raise self.cursor.mistake(
                "PLC495",
                f"an address has 32 or 64 bits, not {size}",
                help="write `.address_size 64`",
                at=self.cursor.at - 1,
            )
        self.address_size = size

    def _alias(self) -> None:
        cursor = self.cursor
        name = cursor.take(WORD, "a name", "`.alias`")
        cursor.expect(",", "`.alias`")
        aliased = cursor.take(WORD, "a name", "`.alias`")
        self.aliases[aliased] = cursor.at - 1
        known = self.functions.get(aliased)
        if known is None:
            raise cursor.mistake(
                "PLC491",
                f"no function `{aliased}` is declared here",
                help="declare the function before its alias, or mend the name",
                at=cursor.at - 1,
            )
        self.functions[name] = replace(known, name=name)
        cursor.expect(";", "`.alias`")

    def _variable_list(self, space: str, linkage: str) -> None:
        for declared in read_variables(self.cursor, space, linkage):
            variable, at = declared.variable, declared.at
            self.uses += [(variable.name, name, place) for name, place in declared.uses]
            known = self.variables.get(variable.name)
            if variable.name in self.functions or (known and not _redeclares(known, variable)):
                raise self.cursor.mistake(
                    "PLC492",
                    f"`{variable.name}` is declared twice",
                    help="rename one of them, or take one out",
                    at=at,
                )
            if known is None or known.linkage == "extern":
                self.variables[variable.name] = variable

    def _function(self, linkage: str) -> None:
        cursor = self.cursor
        line = cursor.line
        is_entry = cursor.text == ".entry"
        cursor.at += 1
        if cursor.accept(".attribute"):
            cursor.attribute()
        results = [] if is_entry else read_parameters(cursor)
        at = cursor.at
        name = cursor.take(WORD, "a name", "a function")
        parameters = read_parameters(cursor)
        directives = read_directives(cursor)
        scopes = Scopes(_Outer(self.variables, self.functions))
        registers: dict[str, str] = {}
        flat_results = _declare_parameters(cursor, scopes, results, registers)
        flat_parameters = _declare_parameters(cursor, scopes, parameters, registers)
        body = None if cursor.accept(";") else self._body(scopes, name)
        self._check_function(name, body, at)
        function = _build(name, is_entry, flat_parameters, flat_results, body, registers)
        if body is not None or name not in self.functions:
            self.functions[name] = replace(function, directives=directives, line=line, linkage=linkage)

    def _body(self, scopes: Scopes, name: str) -> Body:
        self.pending.append(_Pending(scopes, name))
        return BodyReader(self.cursor, scopes, self.files, self.found).read()

    def _check_function(self, name: str, body: Body | None, at: int) -> None:
        known = self.functions.get(name)
        defined_twice = known is not None and body is not None and not known.is_declaration
        if defined_twice or name in self.variables:
            raise self.cursor.mistake(
                "PLC492", f"`{name}` is declared twice", help="rename one of them, or take one out", at=at
            )

    def _resolve(self) -> None:
        """Look up what no scope declared: it must be a variable or function of the module."""
        uses = [(user, name, at) for user, name, at in self.uses if not self._is_known(name)]
        for pending in self.pending:
            for name, at in pending.scopes.missing.items():
                if name in pending.scopes.taken or not self._is_known(name):
                    uses.append((pending.function, name, at))
        for user, name, at in uses[:_MOST_MISTAKES]:
            message = f"`{user}` uses `{name}`, which nobody declares"
            self.found.add(
                self.cursor.mistake(
                    "PLC491",
                    message,
                    help="declare it, with `.extern` if another module has it, or mend the name",
                    at=at,
                ).diagnostic
            )

    def _is_known(self, name: str) -> bool:
        return name in self.variables or name in self.functions


_STARTS = LINKAGES | SPACES | {".entry", ".func", ".alias"}


@dataclass(frozen=True, slots=True)
class _Outer:
    """The names of the module so far."""

    variables: dict[str, Variable]
    functions: dict[str, Function]

    def __contains__(self, name: object) -> bool:
        return name in self.variables or name in self.functions


def _redeclares(known: Variable, new: Variable) -> bool:
    """Whether one of two declarations of a name only announces the other."""
    return known.linkage in ("extern", "common") or new.linkage in ("extern", "common")


def _declare_parameters(
    cursor: Cursor, scopes: Scopes, parameters: list[tuple[int, Parameter]], registers: dict[str, str]
) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for at, parameter in parameters:
        if parameter.name == "_":
            found.append(parameter)
            continue
        if scopes.declares(parameter.name):
            raise cursor.mistake(
                "PLC492", f"`{parameter.name}` is declared twice", help="rename one of the parameters", at=at
            )
        name = scopes.register(parameter.name) if parameter.register else scopes.symbol(parameter.name)
        if parameter.register:
            registers[name] = parameter.type
        found.append(replace(parameter, name=name))
    return tuple(found)


def _build(
    name: str,
    is_entry: bool,
    parameters: tuple[Parameter, ...],
    results: tuple[Parameter, ...],
    body: Body | None,
    registers: dict[str, str],
) -> Function:
    if body is None:
        return Function(name, is_entry, parameters, results, (), {}, registers, (), is_declaration=True)
    return Function(
        name,
        is_entry,
        parameters,
        results,
        tuple(body.instructions),
        body.labels,
        registers | body.registers,
        tuple(body.variables),
        branch_targets=body.branch_targets,
        prototypes=body.prototypes,
        call_targets=body.call_targets,
    )


def read_directives(cursor: Cursor) -> dict[str, tuple[int, ...]]:
    """Read the performance directives between the head of a function and its body.

    A directive with numbers keeps them (``.maxntid 256, 1, 1``); one without maps to ``()``;
    ``.pragma`` is a hint to ptxas alone and is left out.
    """
    found: dict[str, tuple[int, ...]] = {}
    while cursor.kind == DIRECTIVE:
        name = cursor.text[1:]
        cursor.at += 1
        if name == "pragma":
            cursor.pragma()
            continue
        if name == "attribute":
            cursor.attribute()
            continue
        values: list[int] = []
        if cursor.kind == NUMBER:
            values.append(whole_number(cursor, f"`.{name}`"))
            while cursor.accept(","):
                values.append(whole_number(cursor, f"`.{name}`"))
        found[name] = tuple(values)
    return found
