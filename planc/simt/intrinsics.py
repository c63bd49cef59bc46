"""Functions that the driver supplies: ``vprintf`` and ``__assertfail``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from planc.ptx.syntax import Instruction, Operand, Symbol
from planc.simt.decode import Decoder
from planc.simt.faults import Unsupported
from planc.simt.frames import Fragment
from planc.simt.memory import GLOBAL_BASE
from planc.simt.printf import count_bytes, format_text
from planc.simt.program import Step
from planc.simt.registers import Bits
from planc.simt.report import failure, place, thread_facts, who
from planc.simt.roles import call_parts
from planc.simt.spaces import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE

_HEAP = frozenset({"malloc", "free"})
_ARGUMENTS = {"vprintf": 2, "__assertfail": 5}


def is_intrinsic(name: str) -> bool:
    """Whether the interpreter itself supplies, or refuses, function ``name``."""
    return name in _INTRINSICS or name in _HEAP


def call_intrinsic(d: Decoder, instruction: Instruction) -> Step:
    """Decode a call of one of them."""
    target = call_parts(instruction).target
    assert isinstance(target, Symbol)
    parts = call_parts(instruction)
    wanted = _ARGUMENTS.get(target.name)
    if wanted is not None and len(parts.arguments) != wanted:
        raise Unsupported(f"call {target.name}", f"with {len(parts.arguments)} arguments")
    if target.name in _HEAP:
        raise Unsupported(f"call {target.name}", "because simulated kernels have no heap", code="PLC759")
    return _INTRINSICS[target.name](d, instruction)


def peek(f: Fragment, lane: int, address: int, size: int) -> bytes:
    """Return up to ``size`` bytes at a generic address of one thread, fewer where the buffer ends."""
    chunk = f.chunk
    thread = int(f.threads[lane])
    if address >= GLOBAL_BASE:
        region = chunk.launch.memory.find(address)
        return b"" if region is None else region.data[address - region.start :][:size].tobytes()
    for window, data, start, length in (
        (LOCAL_WINDOW, chunk.local.data, thread * chunk.local_stride, chunk.local_stride),
        (SHARED_WINDOW, chunk.shared.data, int(chunk.shared_base[thread]), chunk.shared_stride),
        (PARAM_WINDOW, chunk.launch.parameters.data, 0, chunk.launch.parameters.size),
    ):
        offset = address - window
        if 0 <= offset < WINDOW_SIZE:
            return data[start + offset : start + min(length, offset + size)].tobytes()
    return b""


def text_at(f: Fragment, lane: int, address: int) -> bytes | None:
    """Return the string at a generic address; None where no terminated one is."""
    if address >= GLOBAL_BASE:
        return f.chunk.launch.memory.text(address)
    data = peek(f, lane, address, 1 << 16)
    end = data.find(0)
    return data[:end] if end >= 0 else None


def _argument(d: Decoder, operand: Operand, width: int) -> Callable[[Fragment], Bits]:
    """Return the function that gives an argument, a ``.param`` variable or a register."""
    if isinstance(operand, Symbol) and operand.name in d.slots:
        slot = d.slots[operand.name]
        kind, size = d.code.kinds[slot]
        if kind != "bytes" or size < width // 8:
            raise Unsupported("call", f"with `{operand.name}` of {size} bytes")
        dtype = np.dtype(f"u{width // 8}")
        return lambda f: np.ascontiguousarray(f.regs[slot][:, : width // 8]).view(dtype)[:, 0]
    held = d.source(operand, width)
    return lambda f: f.regs[held]


def _result(d: Decoder, results: tuple[Operand, ...]) -> int:
    """Return the slot of a 32-bit result in a ``.param`` variable, -1 where there is none."""
    for operand in results[:1]:
        if isinstance(operand, Symbol) and d.code.kinds[d.slots.get(operand.name, 0)] == ("bytes", 4):
            return d.slots[operand.name]
    return -1


def _vprintf(d: Decoder, instruction: Instruction) -> Step:
    parts = call_parts(instruction)
    pattern, buffer = (_argument(d, each, 64) for each in parts.arguments)
    target = _result(d, parts.results)

    def step(f: Fragment) -> None:
        stdout = f.chunk.launch.stdout
        counts = np.zeros(f.n, np.int32)
        for lane, (where, data) in enumerate(zip(pattern(f).tolist(), buffer(f).tolist(), strict=True)):
            text = text_at(f, lane, where)
            if text is None:
                counts[lane] = -1
                continue
            size, counts[lane] = count_bytes(text)
            reader = partial(text_at, f, lane)
            stdout(format_text(text, peek(f, lane, data, size), reader))
        if target >= 0:
            f.regs[target] = counts.view(np.uint8).reshape(f.n, 4)

    return step


def _assertfail(d: Decoder, instruction: Instruction) -> Step:
    parts = call_parts(instruction)
    widths = (64, 64, 32, 64)
    message, file, line, function = (
        _argument(d, each, width) for each, width in zip(parts.arguments, widths, strict=False)
    )

    def step(f: Fragment) -> None:
        texts = [text_at(f, 0, int(each(f)[0])) or b"?" for each in (message, file, function)]
        what, where, inside = (text.decode("utf-8", "replace") for text in texts)
        number = int(line(f)[0])
        facts = thread_facts(f, 0) | {"assertion": what, "file": where, "line": number, "function": inside}
        text = f"assertion `{what}` fails in {who(facts)}, at {where}:{number} and {place(instruction)}"
        raise failure("PLC758", text, instruction, facts, f"see `{inside}`")

    return step


_INTRINSICS: Mapping[str, Callable[[Decoder, Instruction], Step]] = MappingProxyType(
    {"vprintf": _vprintf, "__assertfail": _assertfail}
)
