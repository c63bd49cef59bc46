"""Kernels made ready to run, and the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from planc.diagnostics import Diagnostic, ReplayError
from planc.ptx.syntax import Function, Module
from planc.simt.closure import find_functions
from planc.simt.faults import Unsupported
from planc.simt.flow import Flow, build_flow
from planc.simt.functions import FunctionBuilder, refusal
from planc.simt.grid import run_grid
from planc.simt.intrinsics import is_intrinsic
from planc.simt.launch import Dimensions, Launch, RunStatistics, parameter_region
from planc.simt.layout import shared_layout
from planc.simt.memory import Memory, Trace
from planc.simt.polling import polls
from planc.simt.program import FunctionCode, SharedLayout
from planc.simt.sites import Observer
from planc.simt.variables import Variables

MAX_BLOCK = 1024
"""Threads of a block, at most."""
MAX_LOCAL = 512 << 10
"""Bytes of local memory and registers of a thread, at most: the limit of CUDA for local memory."""
MAX_SHARED = 227 << 10
"""Bytes of shared memory of a block, static and dynamic, at most: those of an NVIDIA H200."""


def _discard(text: str) -> None:
    """Throw printed text away."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedKernel:
    """A kernel decoded once; run it as often as you like, from several threads too.

    ``parameter_bytes`` is the size of its parameter block, ``shared`` that of its static shared memory.
    """

    name: str
    parameter_bytes: int
    entry: FunctionCode
    functions: Mapping[int, FunctionCode]
    layout: SharedLayout
    required_block: Dimensions | None
    variables: frozenset[str]

    @property
    def shared(self) -> int:
        """Bytes of static shared memory."""
        return self.layout.static

    def run(
        self,
        grid: Dimensions,
        block: Dimensions,
        shared: int,
        params: bytes,
        memory: Memory,
        *,
        variables: Variables | None = None,
        stdout: Callable[[str], None] = _discard,
        budget: int | None = None,
        trace: Trace | None = None,
        observer: Observer | None = None,
    ) -> RunStatistics:
        """Run the kernel to its end.

        ``grid`` and ``block`` are (x, y, z); ``shared`` is the dynamic shared memory in bytes; ``params`` the
        parameter block as the driver lays it out. ``budget`` bounds the thread-instructions. ``stdout`` gets
        the text of each device printf; ``trace`` and ``observer`` see every access to global memory. Raises
        :class:`planc.diagnostics.ReplayError` with a code from PLC750 on; ``memory`` then holds what was
        written before.
        """
        self._check(grid, block, shared, params)
        padded = params + bytes(-len(params) % 8)
        launch = Launch(
            self.name,
            self.entry,
            self.functions,
            self.layout,
            grid,
            block,
            shared,
            memory,
            variables.addresses if variables is not None else {},
            parameter_region(padded),
            stdout,
            trace,
            budget,
            observer=observer,
        )
        with np.errstate(all="ignore"):
            return run_grid(launch)

    def _check(self, grid: Dimensions, block: Dimensions, shared: int, params: bytes) -> None:
        threads = block[0] * block[1] * block[2]
        if min(*grid, *block) < 1 or threads > MAX_BLOCK:
            what = f"a block of {block} threads in a grid of {grid}"
            self._refuse(what, f"take 1 to {MAX_BLOCK} threads per block")
        if self.required_block is not None and block != self.required_block:
            cure = f"the kernel requires {self.required_block} (`.reqntid`)"
            self._refuse(f"a block of {block} threads", cure)
        if self.layout.static + shared > MAX_SHARED:
            what = f"{self.layout.static + shared} bytes of shared memory per block"
            self._refuse(what, f"take at most {MAX_SHARED} bytes")
        thread = max(code.local_size + code.bytes_per_thread() for code in self.functions.values())
        if thread > MAX_LOCAL:
            self._refuse(f"{thread} bytes of local memory per thread", f"take at most {MAX_LOCAL} bytes")
        if len(params) < self.parameter_bytes:
            self._refuse(f"{len(params)} bytes of parameters", f"it takes {self.parameter_bytes}")

    def _refuse(self, what: str, cure: str) -> None:
        message = f"`{self.name}` is launched with {what}"
        raise ReplayError(Diagnostic("PLC761", message, None, cure, facts={"kernel": self.name}))


def prepare(module: Module, entry: str) -> PreparedKernel:
    """Decode kernel ``entry`` of ``module`` and every function that it may call.

    Raises :class:`planc.diagnostics.ReplayError`: PLC750 for each instruction form that the interpreter does
    not have, PLC751 for a kernel or function that is not there, PLC759 for a device heap; all at once.
    """
    closure = find_functions(module, entry)
    kernel = module.functions[entry]
    layout, shared = shared_layout(module, closure.functions.values())
    flows = {number: _flow(each) for number, each in closure.functions.items()}
    polling = any(polls(flow) for flow in flows.values())
    found: list[Diagnostic] = []
    codes: dict[int, FunctionCode] = {}
    for number, function in closure.functions.items():
        names = shared[function.name]
        builder = FunctionBuilder(module, function, flows[number], closure, names, found)
        codes[number] = builder.build(polling)
    if found:
        raise ReplayError(found)
    used = frozenset(given[1] for code in codes.values() for _, given in code.given if given[0] == "symbol")
    parameters = max((p.offset + p.size for p in kernel.parameters), default=0)
    block = _required_block(kernel)
    return PreparedKernel(entry, parameters, codes[closure.entry], codes, layout, block, used)


def _flow(function: Function) -> Flow:
    try:
        return build_flow(function, is_intrinsic)
    except Unsupported as refused:
        where = next((each for each in function.body if each.form == refused.form), function.body[0])
        raise ReplayError(refusal(refused, where)) from None


def _required_block(kernel: Function) -> Dimensions | None:
    sizes = kernel.directives.get("reqntid")
    if not sizes:
        return None
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
