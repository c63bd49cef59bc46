"""The PTX version and target that an instruction needs, and the lowest version of a module.

The rules of each form come from the section "PTX ISA Notes" and "Target ISA Notes" of its description in the
manual, and each was held against ptxas 13.0, which says which version and target a form wants
(tests/ptx/data/forms.tsv).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from planc.diagnostics import Diagnostic, GraphError, Span
from planc.ptx.requirement_rules import BASES, RULES
from planc.ptx.syntax import Function, Instruction, Module, Operand, Pair, Register, Vector
from planc.ptx.widths import TYPE_BYTES

Version = tuple[int, int]

LOWEST_VERSION: Version = (7, 2)
"""What :func:`lowest_version` never goes below.

Some of what a text may hold is not in the syntax tree (``.loc … inlined_at``, masked initial values,
attributes); none of it needs more. CUDA 11.2 reads it.
"""

_TARGET = re.compile(r"sm_(\d+)([af]?)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """The least PTX version and target of a form.

    ``target`` is the number of the architecture, and ``suffix`` is ``a`` or ``f`` where only that
    architecture or its family has the feature. Version 3.2 and target 20 stand for all that is older.
    """

    version: Version
    target: int
    suffix: str = ""

    @property
    def narrowness(self) -> tuple[int, int]:
        """A key by which targets compare: ``sm_90`` before ``sm_90f`` before ``sm_90a`` before ``sm_100``."""
        return self.target, ("", "f", "a").index(self.suffix)


def requirement(instruction: Instruction) -> Requirement | None:
    """Return what an instruction needs, None where the table lacks its opcode or one of its modifiers.

    The answer may be too high for a rare form, never too low for one of the table.
    """
    found = _form_requirement(instruction.opcode, instruction.modifiers)
    if found is None:
        return None
    needs = [found, *_operand_requirements(instruction)]
    return _highest(needs)


def lowest_version(module: Module) -> Version:
    """Return the lowest PTX version that a module can be stored at.

    That is the version of the module itself where an instruction, directive, type or target is unknown to the
    tables, and never below :data:`LOWEST_VERSION` nor above the module's own.
    """
    versions = [*_target_versions(module.target), *_variable_versions(module)]
    for function in module.functions.values():
        versions += _function_versions(function)
    versions += [_extra_version(extra) for extra in module.extras]
    if any(version is None for version in versions):
        return module.version
    lowest = max([LOWEST_VERSION, *(version for version in versions if version is not None)])
    return min(lowest, module.version)


_HEADER = re.compile(r"(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)*+\.version\s++(\d+\.\d+)")


def with_version(text: str, version: Version) -> str:
    """Return PTX with its ``.version`` directive set, all else as it was.

    Raises :class:`planc.diagnostics.GraphError` (PLC495) where the text does not begin with one.
    """
    match = _HEADER.match(text)
    if match is None:
        raise GraphError(
            Diagnostic(
                "PLC495", "the PTX does not begin with `.version`", Span(""), help="begin with `.version 9.0`"
            )
        )
    return f"{text[: match.start(1)]}{version[0]}.{version[1]}{text[match.end(1) :]}"


def _read(text: str) -> Requirement:
    version, target = text.split()
    major, minor = version.split(".")
    match = _TARGET.fullmatch(target)
    assert match is not None, target
    return Requirement((int(major), int(minor)), int(match[1]), match[2])


@cache
def _bases() -> Mapping[str, tuple[Requirement, frozenset[str]]]:
    found: dict[str, tuple[Requirement, frozenset[str]]] = {}
    for opcodes, needs, plain in BASES:
        for opcode in opcodes.split():
            found[opcode] = _read(needs), frozenset(plain.split())
    return MappingProxyType(found)


@cache
def _rules() -> Mapping[str, tuple[tuple[frozenset[str], Requirement], ...]]:
    """Return for each opcode the sets of modifiers that together raise the requirement."""
    found: dict[str, list[tuple[frozenset[str], Requirement]]] = {}
    for opcodes, words, needs in RULES:
        for opcode in opcodes.split():
            for word in words.split():
                found.setdefault(opcode, []).append((frozenset(word.split("+")), _read(needs)))
    return MappingProxyType({opcode: tuple(rules) for opcode, rules in found.items()})


@lru_cache(maxsize=4096)
def _form_requirement(opcode: str, modifiers: tuple[str, ...]) -> Requirement | None:
    base = _bases().get(opcode)
    if base is None:
        return None
    least, plain = base
    present = frozenset(modifiers)
    rules = _rules().get(opcode, ())
    single = {word for words, _ in rules if len(words) == 1 for word in words}
    if present - plain - single:
        return None
    return _highest([least, *(needs for words, needs in rules if words <= present)])


def _highest(needs: Iterable[Requirement]) -> Requirement:
    """Return the version and the target that satisfy all."""
    found = list(needs)
    target = max(found, key=lambda need: need.narrowness)
    return Requirement(max(need.version for need in found), target.target, target.suffix)


_SPECIAL: tuple[tuple[str, Requirement], ...] = (
    ("%is_explicit_cluster", Requirement((7, 8), 90)),
    ("%cluster", Requirement((7, 8), 90)),
    ("%nclusterid", Requirement((7, 8), 90)),
    ("%reserved_smem", Requirement((7, 6), 80)),
    ("%current_graph_exec", Requirement((8, 0), 50)),
    ("%aggr_smem_size", Requirement((8, 1), 90)),
    ("%dynamic_smem_size", Requirement((4, 1), 20)),
    ("%total_smem_size", Requirement((4, 1), 20)),
    ("%clock_hi", Requirement((5, 0), 20)),
    ("%globaltimer", Requirement((3, 2), 30)),
    ("%pm", Requirement((4, 0), 50)),
)


def _operand_requirements(instruction: Instruction) -> Iterable[Requirement]:
    """Yield what operands ask for beyond the form: new special registers, a third input of ``min``.

    A fourth operand of ``cp.async`` may be a predicate, which came later than a size.
    """
    operands = instruction.operands
    if instruction.opcode == "cp" and len(operands) == 4 and isinstance(operands[3], Register):
        yield Requirement((7, 5), 80)
    if instruction.opcode in ("min", "max") and len(operands) == 4:
        yield Requirement((8, 8), 100)
    if instruction.opcode == "lop3" and operands and isinstance(operands[0], Pair):
        yield Requirement((8, 2), 70)
    if instruction.opcode in ("ld", "st") and _is_wide(instruction):
        yield Requirement((8, 8), 100)
    for operand in operands:
        if isinstance(operand, Register):
            yield from (needs for prefix, needs in _SPECIAL if operand.name.startswith(prefix))


def _is_wide(instruction: Instruction) -> bool:
    """Whether a vector is longer than 16 bytes."""
    lengths: list[Operand] = [o for o in instruction.operands if isinstance(o, Vector)]
    count = max((len(o.items) for o in lengths if isinstance(o, Vector)), default=1)
    return count * TYPE_BYTES.get(instruction.modifiers[-1] if instruction.modifiers else "", 16) > 16


_TARGET_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {
        "sm_75": (6, 3), "sm_80": (7, 0), "sm_86": (7, 1), "sm_87": (7, 4), "sm_88": (9, 0), "sm_89": (7, 8),
        "sm_90": (7, 8), "sm_90a": (8, 0), "sm_100": (8, 6), "sm_100a": (8, 6), "sm_100f": (8, 8),
        "sm_103": (8, 8), "sm_103a": (8, 8), "sm_103f": (8, 8), "sm_110": (9, 0), "sm_110a": (9, 0),
        "sm_110f": (9, 0), "sm_120": (8, 7), "sm_120a": (8, 7), "sm_120f": (8, 8), "sm_121": (8, 8),
        "sm_121a": (8, 8), "sm_121f": (8, 8),
    }
)  # fmt: skip
_OLD_TARGETS = frozenset(f"sm_{n}" for n in (20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72)) | {
    "debug", "texmode_unified", "texmode_independent",
}  # fmt: skip


def _target_versions(target: Iterable[str]) -> list[Version | None]:
    return [LOWEST_VERSION if name in _OLD_TARGETS else _TARGET_VERSIONS.get(name) for name in target]


_TYPE_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {name: LOWEST_VERSION for base in "bus" for name in (f"{base}8", f"{base}16", f"{base}32", f"{base}64")}
    | {
        name: LOWEST_VERSION
        for name in ("pred", "f16", "f16x2", "f32", "f64", "texref", "samplerref", "surfref")
    }
    | {"b128": (8, 3)}
)
_DIRECTIVE_VERSIONS: Mapping[str, Version] = MappingProxyType(
    dict.fromkeys(
        ("maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "noreturn"), LOWEST_VERSION
    )
    | dict.fromkeys(("reqnctapercluster", "explicitcluster", "maxclusterrank"), (7, 8))
)
_EXTRA_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {"pragma nounroll": LOWEST_VERSION, "attribute managed": LOWEST_VERSION, "pragma used_bytes_mask": (8, 3)}
)
_SMALL_PARAMETERS = 4352


def _extra_version(extra: str) -> Version | None:
    return _EXTRA_VERSIONS.get(extra)


def _variable_versions(module: Module) -> list[Version | None]:
    return [_TYPE_VERSIONS.get(variable.type) for variable in module.variables.values()]


def _function_versions(function: Function) -> list[Version | None]:
    parameters = (*function.parameters, *function.results)
    types = {p.type for p in parameters} | {v.type for v in function.variables}
    types |= set(function.registers.values())
    found = [_TYPE_VERSIONS.get(name) for name in types]
    found += [_DIRECTIVE_VERSIONS.get(name) for name in function.directives]
    if parameters and max(p.offset + p.size for p in parameters) > _SMALL_PARAMETERS:
        found.append((8, 1))
    for needs in {requirement(instruction) for instruction in function.body}:
        found.append(None if needs is None else needs.version)
    return found
