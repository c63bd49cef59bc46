"""What a kernel really touches: a run on the interpreter with every byte noted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planc.ptx.syntax import Module
from planc.simt import Memory, load_variables, prepare
from tests.effects.table import Case, Pointer, raw


@dataclass
class Seen:
    """Bytes of one buffer."""

    size: int
    read: np.ndarray = field(init=False)
    written: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.read = np.zeros(self.size, bool)
        self.written = np.zeros(self.size, bool)


def run_case(
    module: Module, case: Case, *, slack: int = 0, fill: np.ndarray | None = None
) -> list[Seen | None]:
    """Run a case; return what it touches of each argument, ``slack`` bytes longer; None for scalars."""
    memory = Memory()
    variables = load_variables(module, memory)
    seen: dict[str, Seen] = {}
    block = b""
    for place, (argument, parameter) in enumerate(
        zip(case.arguments, module.functions[case.name].parameters, strict=True)
    ):
        block += bytes(parameter.offset - len(block))
        if isinstance(argument, Pointer):
            data = np.zeros(argument.size + slack, np.uint8)
            if fill is not None:
                data[:] = fill[: data.size]
            address = memory.map(f"argument {place}", data)
            seen[f"argument {place}"] = Seen(data.size)
            block += address.to_bytes(8, "little")
        else:
            block += raw(argument.value)

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
    return [seen.get(f"argument {place}") for place in range(len(case.arguments))]
