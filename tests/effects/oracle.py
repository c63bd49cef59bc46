"""What a kernel really touches: a run on the interpreter with every byte noted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planc.ptx.syntax import Module
from planc.simt import Memory, load_variables, prepare
from tests.effects.table import Case, Pointer, pieces, raw


@dataclass
class Seen:
    """Bytes of one buffer."""

    size: int
    read: np.ndarray = field(init=False)
    written: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.read = np.zeros(self.size, bool)
        self.written = np.zeros(self.size, bool)


def run_case(module: Module, case: Case) -> dict[int, Seen]:
    """Run a case; return what it touches through the pointer at each offset of the parameter block."""
    memory = Memory()
    variables = load_variables(module, memory)
    seen: dict[str, Seen] = {}
    block = b""
    found = pieces(case, module.functions[case.name].parameters)
    for offset, argument in found:
        block += bytes(offset - len(block))
        if isinstance(argument, Pointer):
            data = np.zeros(argument.size, np.uint8)
            address = memory.map(f"argument {offset}", data)
            seen[f"argument {offset}"] = Seen(data.size)
            block += address.to_bytes(8, "little")
        else:
            block += raw(argument.value)
    end = max((p.offset + p.size for p in module.functions[case.name].parameters), default=0)
    block += bytes(end - len(block))

    def trace(kind: str, addresses: np.ndarray, size: int, region: object, threads: np.ndarray) -> None:
        found = seen.get(region.name)  # type: ignore[attr-defined]
        if found is None:
            return
        places = np.asarray(addresses).astype(np.int64) - region.start  # type: ignore[attr-defined]
        for byte in range(size):
            if kind != "write":
                found.read[places + byte] = True
            if kind != "read":
                found.written[places + byte] = True

    prepare(module, case.name).run(
        case.grid, case.block, 0, block, memory, variables=variables, budget=50_000_000, trace=trace
    )
    return {offset: seen[f"argument {offset}"] for offset, each in found if isinstance(each, Pointer)}
