"""Refusals and faults as diagnostics: which thread, which line, which buffer, by how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planc.diagnostics import Diagnostic, ReplayError, Span
from planc.diagnostics.diagnostic import Fact
from planc.ptx.syntax import Instruction, SourceLine

if TYPE_CHECKING:
    from planc.simt.faults import AccessFault
    from planc.simt.frames import Fragment

_VERBS = {"read": "reads", "write": "writes", "atomic": "updates"}


def place(instruction: Instruction) -> str:
    """Return ``PTX line 12 (k.cu:7)``, without the part that is not known."""
    source = instruction.source
    return f"PTX line {instruction.line}" + (f" ({source.file}:{source.line})" if source else "")


def span(source: SourceLine | None) -> Span | None:
    """Return the CUDA line, where there is one."""
    return Span(source.file, source.line, max(source.column, 1)) if source and source.line else None


def line_facts(instruction: Instruction) -> dict[str, Fact]:
    """Return the facts ``form``, ``ptx_line`` and, where known, ``cuda_file`` and ``cuda_line``."""
    facts: dict[str, Fact] = {"form": instruction.form, "ptx_line": instruction.line}
    if instruction.source is not None:
        facts |= {"cuda_file": instruction.source.file, "cuda_line": instruction.source.line}
    return facts


def thread_facts(fragment: Fragment, lane: int) -> dict[str, Fact]:
    """Return the facts ``kernel``, ``thread`` and ``block`` (x, y, z) of one thread of a fragment."""
    thread, block = fragment.chunk.coordinates(int(fragment.threads[lane]))
    return {"kernel": fragment.chunk.launch.name, "thread": [*thread], "block": [*block]}


def who(facts: Mapping[str, Fact]) -> str:
    """Return ``thread (1, 0, 0) of block (2, 0, 0) of `k```."""
    thread, block = facts["thread"], facts["block"]
    assert isinstance(thread, list) and isinstance(block, list)
    first, second = (", ".join(map(str, each)) for each in (thread, block))
    return f"thread ({first}) of block ({second}) of `{facts['kernel']}`"


def failure(
    code: str,
    message: str,
    instruction: Instruction,
    facts: Mapping[str, Fact],
    cure: str = "",
    notes: tuple[str, ...] = (),
) -> ReplayError:
    """Return the error for something at an instruction."""
    merged = {**facts, **line_facts(instruction)}
    return ReplayError(Diagnostic(code, message, span(instruction.source), cure, (), notes, merged))


def thread_failure(
    code: str, what: str, fragment: Fragment, lane: int, instruction: Instruction, cure: str = ""
) -> ReplayError:
    """Return the error for what one thread did: ``thread … of block … of … {what} at PTX line …``."""
    facts = thread_facts(fragment, lane)
    return failure(code, f"{who(facts)} {what} at {place(instruction)}", instruction, facts, cure)


def access_failure(
    fault: AccessFault, fragment: Fragment, instruction: Instruction, kind: str
) -> ReplayError:
    """Return the error for a refused access; ``kind`` is ``read``, ``write``, ``atomic`` or ``copy``."""
    facts = thread_facts(fragment, fault.lane)
    buffer = _buffer(fault, fragment)
    facts |= {"address": f"{fault.address:#x}", "bytes": fault.size, "space": fault.space, "access": kind}
    facts |= buffer
    what = f"{_VERBS[kind]} {fault.size} byte{'s' if fault.size > 1 else ''} at {fault.address:#x}"
    code, tail, cure = _WORDS[fault.kind](fault, buffer)
    message = f"{who(facts)} {what}, {tail}, at {place(instruction)}"
    return failure(code, message, instruction, facts, cure)


def _buffer(fault: AccessFault, fragment: Fragment) -> dict[str, Fact]:
    """Return ``buffer``, ``buffer_bytes``, ``offset`` (of the access in it) and ``off_by``."""
    near = fragment.chunk.nearest(fault.space, fault.address, fault.size)
    if near is None:
        return {}
    name, start, size = near
    past = fault.address + fault.size - (start + size)
    off_by = max(start - fault.address, past, 0)
    return {"buffer": name, "buffer_bytes": size, "offset": fault.address - start, "off_by": off_by}


def _outside(fault: AccessFault, buffer: Mapping[str, Fact]) -> tuple[str, str, str]:
    if not buffer:
        return "PLC754", f"but no memory is mapped in the {fault.space} space", ""
    offset, size, off_by = buffer["offset"], buffer["buffer_bytes"], buffer["off_by"]
    assert isinstance(offset, int) and isinstance(size, int)
    side = "before the start" if offset < 0 else "past the end"
    text = f"{off_by} byte{'s' if off_by != 1 else ''} {side} of `{buffer['buffer']}`, which has {size} bytes"
    return "PLC754", text, "guard the access, or make the buffer as large as the kernel takes it to be"


def _readonly(fault: AccessFault, buffer: Mapping[str, Fact]) -> tuple[str, str, str]:
    name = buffer.get("buffer", fault.space)
    cure = "write to a buffer that the node declares as `out` or `inout`"
    return "PLC756", f"but `{name}` is read-only", cure


def _misaligned(fault: AccessFault, buffer: Mapping[str, Fact]) -> tuple[str, str, str]:
    inside = f" in `{buffer['buffer']}`" if buffer and buffer["off_by"] == 0 else ""
    text = f"{fault.address % fault.size} bytes past a multiple of {fault.size}{inside}"
    return "PLC755", text, "align the view or the address to the width of the access"


_WORDS = {"outside": _outside, "readonly": _readonly, "misaligned": _misaligned}
