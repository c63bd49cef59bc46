"""Who runs the generated kernels: a GPU, or planc's own interpreter on simulated memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from planc.ptx import parse
from planc.simt import Memory, prepare
from tools.fuzz.driver import Gpu

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of a module to run: rows of input words, and the number of result words per thread."""

    entry: str
    inputs: Words
    results: int


class Engine(Protocol):
    """Runs all jobs of each module; yields the rows of results in the order of modules and jobs."""

    name: str

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        """Run (PTX text, jobs) pairs."""


class GpuEngine:
    """A GPU through the driver."""

    def __init__(self, gpu: Gpu) -> None:
        """Run on an open device."""
        self.name = gpu.name
        self._gpu = gpu

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        """Load modules some at a time, run and unload them."""
        for start in range(0, len(modules), 32):
            some = modules[start : start + 32]
            for loaded, (_, jobs) in zip(self._gpu.load([text for text, _ in some]), some, strict=True):
                for job in jobs:
                    yield self._gpu.run(loaded, job.entry, job.inputs, job.results)
                self._gpu.unload(loaded)


class InterpreterEngine:
    """The interpreter on the parsed text: tests the parser and the core with the arithmetic."""

    name = "planc interpreter"

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        """Parse each module once and interpret its entries."""
        for text, jobs in modules:
            parsed = parse(text)
            for job in jobs:
                memory = Memory()
                source = np.frombuffer(bytearray(job.inputs.tobytes() or bytes(8)), np.uint8)
                taken = np.zeros((len(job.inputs), job.results), np.uint64)
                addresses = [
                    memory.map("source", source),
                    memory.map("destination", taken.reshape(-1).view(np.uint8)),
                ]
                grid = ((len(job.inputs) + 127) // 128, 1, 1)
                parameters = struct.pack("<QQI", *addresses, len(job.inputs))
                prepare(parsed, job.entry).run(grid, (128, 1, 1), 0, parameters, memory)
                yield taken


@contextmanager
def engine(cpu_only: bool, optimisation: int = 4) -> Iterator[Engine]:
    """The interpreter, or the first GPU while the context lasts, its assembler at a level of 0 to 4."""
    if cpu_only:
        yield InterpreterEngine()
        return
    with Gpu(optimisation=optimisation) as gpu:
        yield GpuEngine(gpu)
