"""What a program declares: names, targets, buffers, slots, modules, functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from planc.plan import limits
from planc.plan.dtypes import DTYPES, DType
from planc.plan.findings import Findings
from planc.plan.names import is_absolute, well_formed
from planc.plan.places import PlaceTable
from planc.plan.program import Buffer, Function, Module, Plan, Program, Role, Slot
from planc.plan.rules.blobs import is_digest
from planc.plan.rules.scope import Scope
from planc.plan.schema import FORMS

_TARGET = re.compile(r"sm_[1-9][0-9]{1,2}a?")
_WITH_DATA = frozenset({Role.CONSTANT, Role.GLOBAL})


def plan_texts(plan: Plan, found: Findings) -> None:
    """Check what belongs to the plan as a whole: at least one program, names, texts."""
    if not plan.programs:
        found.add("PLC628", "the plan has no program")
    if len(plan.schedules) != len(plan.programs):
        found.add("PLC628", f"{len(plan.programs)} programs have {len(plan.schedules)} lists of schedules")
    for text in (plan.verdict, plan.producer, *plan.facts):
        if not well_formed(text):
            found.add("PLC630", f"the text {text[:40]!r} holds control characters")
    names("program", [program.name for program in plan.programs], found)


def declared(scope: Scope) -> None:
    """Check all that the header says of a program."""
    program, found = scope.program, scope.found
    names("node", program.node_names, found)
    names("buffer", [buffer.name for buffer in program.buffers], found)
    names("slot", [slot.name for slot in program.slots], found)
    names("kernel", [function.name for function in program.functions], found)
    names("module", [module.name for module in program.modules], found, unique=False)
    names("schedule", [schedule.name for schedule in scope.schedules], found)
    _targets(program.targets, f"program `{program.name}`", found)
    _schedules(scope)
    _files(program, found)
    for buffer in program.buffers:
        _buffer(buffer, program, found)
    for slot in program.slots:
        _slot(slot, found)
    for row, module in enumerate(program.modules):
        _module(row, module, program, found)
    for function in program.functions:
        _function(function, len(program.modules), found)
    _aliases(program, found)


def names(what: str, given: Sequence[str], found: Findings, *, unique: bool = True) -> None:
    """PLC630 for an empty, overlong or unprintable name, PLC631 for one that stands twice."""
    if "" in given:
        found.add("PLC630", f"a {what} has an empty name")
    if not well_formed("".join(given)):
        bad = next(name for name in given if not well_formed(name))
        found.add("PLC630", f"the {what} name {bad[:40]!r} holds control characters")
    elif max(map(len, given), default=0) > limits.NAME_BYTES // 4:
        _lengths(what, given, found)
    if unique and len(set(given)) != len(given):
        for name in sorted(_repeated(given))[:8]:
            found.add("PLC631", f"two {what}s are named `{name}`", name=name)


def _lengths(what: str, given: Iterable[str], found: Findings) -> None:
    for name in given:
        if len(name.encode()) > limits.NAME_BYTES:
            found.add("PLC630", f"the {what} name `{name[:40]}…` is longer than {limits.NAME_BYTES} bytes")


def _repeated(given: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    twice: set[str] = set()
    for name in given:
        (twice if name in seen else seen).add(name)
    return twice


def _targets(targets: Sequence[str], owner: str, found: Findings) -> None:
    for target in targets:
        if _TARGET.fullmatch(target) is None:
            found.add("PLC633", f"{owner} has the target `{target}`", "write it as `sm_90` or `sm_90a`")
    for target in sorted(_repeated(targets)):
        found.add("PLC631", f"{owner} has the target `{target}` twice", name=target)


def _schedules(scope: Scope) -> None:
    program, found = scope.program, scope.found
    if "written" not in [schedule.name for schedule in scope.schedules]:
        found.add("PLC667", f"program `{program.name}` has no schedule `written`")
    for schedule in scope.schedules:
        for target in schedule.targets:
            if target not in program.targets:
                found.add(
                    "PLC633",
                    f"schedule `{schedule.name}` is for `{target}`, which its program is not for",
                    target=target,
                )


def _files(program: Program, found: Findings) -> None:
    places = program.places
    files = places.files if isinstance(places, PlaceTable) else sorted({place.file for place in places})
    names("file", files, found)
    for file in (*files, *(module.name for module in program.modules)):
        if is_absolute(file):
            found.add("PLC632", f"`{file}` is an absolute path", file=file)


def _buffer(buffer: Buffer, program: Program, found: Findings) -> None:
    item = DTYPES[buffer.dtype].itemsize
    if prod(buffer.shape) * item != buffer.nbytes:
        found.add(
            "PLC638",
            f"buffer `{buffer.name}`: {buffer.dtype}{list(buffer.shape)} does not have {buffer.nbytes} bytes",
            buffer=buffer.name,
            bytes=buffer.nbytes,
        )
    if buffer.align & (buffer.align - 1) or buffer.align < item:
        found.add(
            "PLC639",
            f"buffer `{buffer.name}` has the alignment {buffer.align}",
            buffer=buffer.name,
            align=buffer.align,
        )
    _data(buffer, program, found)
    if (buffer.symbol is not None) != (buffer.role is Role.GLOBAL):
        found.add("PLC640", f"buffer `{buffer.name}` must have a symbol exactly if its role is global")
    if buffer.symbol is not None and buffer.symbol[0] >= len(program.modules):
        found.add("PLC636", f"buffer `{buffer.name}` names module {buffer.symbol[0]}, which is not there")


def _data(buffer: Buffer, program: Program, found: Findings) -> None:
    name = buffer.name
    if buffer.data is None:
        if buffer.role is Role.CONSTANT or not buffer.embedded:
            found.add("PLC640", f"buffer `{name}` has no digest of its initial bytes", buffer=name)
        return
    if buffer.role not in _WITH_DATA:
        found.add("PLC640", f"buffer `{name}` may not have initial bytes in its role", buffer=name)
    if not is_digest(buffer.data):
        found.add("PLC640", f"the digest of buffer `{name}` is not a SHA-256 in hexadecimal", buffer=name)
    elif buffer.embedded:
        data = program.constants.get(buffer.data)
        if data is None or len(data) != buffer.nbytes:
            size = "no" if data is None else len(data)
            message = f"buffer `{name}` has {size} of its {buffer.nbytes} initial bytes"
            found.add("PLC640", message, buffer=name)


def _slot(slot: Slot, found: Findings) -> None:
    dtype = DTYPES[slot.dtype]
    for label, value in (("value", slot.value), ("low", slot.low), ("high", slot.high)):
        if value is not None and not _holds(dtype, value):
            found.add(
                "PLC643", f"the {label} of slot `{slot.name}`, {value!r}, is no {slot.dtype}", slot=slot.name
            )
            return
    low = slot.value if slot.low is None else slot.low
    high = slot.value if slot.high is None else slot.high
    if dtype.kind == "b" and (slot.low is not None or slot.high is not None):
        found.add("PLC643", f"slot `{slot.name}` is a bool and has a range", slot=slot.name)
    elif not low <= slot.value <= high:
        found.add(
            "PLC643",
            f"the value {slot.value!r} of slot `{slot.name}` is outside its range {low!r} to {high!r}",
            slot=slot.name,
        )


def _holds(dtype: DType, value: float) -> bool:
    """Return whether a slot of ``dtype`` can have this value; NaN has no place in a range."""
    if dtype.kind == "b":
        return type(value) is bool
    if dtype.kind == "f":
        return type(value) is float and value == value and not _overflows(dtype, value)
    if type(value) is not int:
        return False
    info = np.iinfo(dtype.numpy)
    return int(info.min) <= value <= int(info.max)


def _overflows(dtype: DType, value: float) -> bool:
    with np.errstate(over="ignore"):
        rounded = float(dtype.numpy.type(value))
    return abs(rounded) == float("inf") and abs(value) != float("inf")


def _module(row: int, module: Module, program: Program, found: Findings) -> None:
    for form in FORMS:
        targets = [image.target for image in module.images if image.form == form]
        _targets(targets, f"the {form} of module `{module.name}`", found)
    if not module.images or not all(len(image.data) for image in module.images):
        found.add("PLC669", f"module `{module.name}` lacks code", module=module.name)
    for image in module.images:
        if image.target not in program.targets:
            found.add(
                "PLC633",
                f"module `{module.name}` has code for `{image.target}`, which its program is not for",
                target=image.target,
            )
        if not is_digest(image.digest):
            found.add("PLC640", f"the digest of an image of module `{module.name}` is not a SHA-256")
    entries = any(function.module == row for function in program.functions)
    if not entries and not any(buffer.symbol and buffer.symbol[0] == row for buffer in program.buffers):
        found.add("PLC669", f"nothing uses module `{module.name}`", module=module.name)


def _function(function: Function, modules: int, found: Findings) -> None:
    if function.module >= modules:
        found.add("PLC636", f"kernel `{function.name}` names module {function.module}, which is not there")
    if not function.symbol or not well_formed(function.symbol):
        found.add("PLC630", f"kernel `{function.name}` has the symbol {function.symbol[:40]!r}")
    names(f"parameter of `{function.name}`", [p.name for p in function.parameters], found)
    end = 0
    for parameter in function.parameters:
        size = parameter.size
        wanted = 8 if parameter.pointer else DTYPES[parameter.dtype].itemsize if parameter.dtype else size
        power = parameter.align > 0 and not parameter.align & (parameter.align - 1)
        if not power or parameter.offset % parameter.align or parameter.offset < end or size != wanted:
            found.add(
                "PLC652",
                f"parameter `{parameter.name}` of kernel `{function.name}` cannot have "
                f"{size} bytes at {parameter.offset}, aligned to {parameter.align}",
                kernel=function.name,
                parameter=parameter.name,
            )
        end = max(end, parameter.offset + size)
    if end > limits.PARAMETER_BYTES:
        found.add("PLC652", f"the parameters of kernel `{function.name}` need {end} bytes", bytes=end)


def _aliases(program: Program, found: Findings) -> None:
    count = len(program.buffers)
    for first, second in program.may_alias:
        if not first < second < count:
            found.add("PLC636", f"`may_alias` pairs buffers {first} and {second}", buffers=count)
    if list(program.may_alias) != sorted(set(program.may_alias)):
        found.add("PLC655", "the pairs of `may_alias` are not in order", table="may_alias")
