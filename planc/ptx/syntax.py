"""The shape of parsed PTX: frozen values with the line each came from.

Names follow the PTX ISA manual. Lines count from 1 in the PTX text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A ``.loc``: the line of the CUDA file that an instruction came from (needs ``-lineinfo``)."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Register:
    """A register or special register, ``%r1``, ``%tid.x``, ``%laneid``.

    A part of a register in a video instruction keeps its dot (``%r1.b0``), and is no key of
    ``Function.registers``. A vector register ``.reg .v2 .f32 a`` is two registers, ``a$x`` and ``a$y``.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal. ``bits`` is its two's complement or IEEE pattern.

    ``kind`` is ``int`` (``bits`` may be negative and any width up to 64), ``f32`` (``0f…``) or
    ``f64`` (``0d…`` and decimal floating literals; PTX ISA, "Floating-Point Constants").
    """

    kind: str
    bits: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, parameter, function or label, plus a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """``[base+offset]``; ``base`` None is an absolute address.

    ``more`` is what follows a comma inside the brackets: coordinates of textures, surfaces and
    tensors (``[map, {x, y}]``).
    """

    base: Register | Symbol | None
    offset: int = 0
    more: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b, c, d}``; ``_`` (a discarded element) is ``Discard``."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Discard:
    """The operand ``_``."""


@dataclass(frozen=True, slots=True)
class Negated:
    """``!p`` as an operand, or ``-r`` (``sign``; video instructions alone)."""

    register: Register
    sign: str = "!"


@dataclass(frozen=True, slots=True)
class Pair:
    """``a|b``: two results (``setp``, ``shfl``, ``match``)."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Arguments:
    """``(a, b)`` in a ``call``."""

    items: tuple[Operand, ...]


Operand = Register | Immediate | Symbol | Address | Vector | Discard | Negated | Pair | Arguments


@dataclass(frozen=True, slots=True)
class Guard:
    """``@p`` or ``@!p`` before an instruction."""

    register: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: ``opcode`` is the first word, ``modifiers`` the rest (``ld``, ``global.f32``).

    ``form`` joins them again as written.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    line: int = 0
    source: SourceLine | None = None

    @property
    def form(self) -> str:
        """The opcode with its modifiers, ``ld.global.f32``."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: state space, element type, alignment, shape, initial bytes.

    ``size`` is in bytes; 0 for ``extern .shared`` arrays of open length. ``count`` is the number
    of elements. ``symbols`` are (byte offset, symbol name, addend, generic) for initialisers that are
    addresses. ``initial`` is None where the text gives none (zero for global and const).
    """

    name: str
    space: str
    type: str
    align: int
    size: int
    count: int = 1
    linkage: str = ""
    initial: bytes | None = None
    symbols: tuple[tuple[int, str, int, bool], ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an entry or function: bytes at ``offset`` of the parameter block.

    ``type`` is the PTX type of one element (``u64``, ``b8``); a by-value struct is ``b8`` with
    ``size`` > 1. ``pointer`` is the ``.ptr`` attribute where written. ``register`` is true for a
    function parameter declared ``.reg``.
    """

    name: str
    type: str
    offset: int
    size: int
    align: int
    pointer: str | None = None
    register: bool = False


@dataclass(frozen=True, slots=True)
class Prototype:
    """A ``.callprototype``: what an indirect ``call`` passes."""

    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """An ``.entry`` or ``.func``. ``labels`` map a name to the index of the next instruction.

    ``registers`` map a name to its PTX type, ``variables`` are the local and shared variables
    declared inside (``.param`` call space included). ``directives`` holds performance directives
    such as ``maxntid`` (tuples of integers). ``branch_targets`` are the tables of ``brx.idx``.
    ``body`` is empty for a declaration without a body (``is_declaration``). ``linkage`` is ``visible``,
    ``extern``, ``weak`` or empty. ``prototypes`` and ``call_targets`` are named by the last operand of an
    indirect ``call``.

    Names are unique in a function: where a ``{ }`` block declares one that is taken, it gets a suffix ``$1``.
    """

    name: str
    is_entry: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    body: tuple[Instruction, ...]
    labels: Mapping[str, int]
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    directives: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    branch_targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_declaration: bool = False
    line: int = 0
    linkage: str = ""
    prototypes: Mapping[str, Prototype] = field(default_factory=dict)
    call_targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX file.

    ``extras`` names what the tree holds in no other way: ``pragma nounroll``, ``attribute managed``.
    """

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    functions: Mapping[str, Function]
    variables: Mapping[str, Variable]
    files: Mapping[int, str]
    extras: frozenset[str] = frozenset()

    @property
    def entries(self) -> tuple[Function, ...]:
        """The kernels, in the order of the text."""
        return tuple(f for f in self.functions.values() if f.is_entry)
