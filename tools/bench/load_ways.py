"""Ways to load a graph and launch it once, each timed in stages; for tools/bench/load.py.

A way is made with a :class:`Case` once per process; ``load()`` loads, launches, replays, checks, frees, and
returns seconds by stage. The device's primary context is there already.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planc.plan.program import Program
from planc.runtime import load
from planc.runtime.cuda import primary_context
from planc.runtime.images import image_for_gpu
from planc.runtime.loops import PythonLoop, graph_loop
from planc.runtime.nodes import DriverEdges
from tests.runtime.chains import THREADS

STAGES = ("read", "modules", "memory", "tables", "add", "instantiate", "upload", "launch", "warm")
REPLAYS = 5
Seconds = dict[str, float]


class Unavailable(Exception):
    """This way cannot be had here; the text says why."""


@dataclass(frozen=True)
class Case:
    """A plan file and what is in it: ``nodes`` kernels as ``lanes`` chains."""

    name: str
    nodes: int
    lanes: int
    path: Path

    @property
    def program(self) -> Program:
        """The program, read anew."""
        return load(self.path).program


class Watch:
    """A stopwatch whose laps go by name."""

    def __init__(self) -> None:
        """Start."""
        self.seconds: Seconds = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Give the time since the last lap a name."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now

    def warm(self, replay: Callable[[], object]) -> Seconds:
        """Time replays, keep the best, and return all laps."""
        found = []
        for _ in range(REPLAYS):
            start = time.perf_counter()
            replay()
            found.append(time.perf_counter() - start)
        self.seconds["warm"] = min(found)
        return self.seconds


def architecture() -> str:
    """Return the device's, ``sm_90``."""
    return primary_context(0).architecture


class Planc:
    """The runtime of planc: ``load``, ``instantiate``, ``replay``."""

    def __init__(self, case: Case, python: bool = False) -> None:
        """Choose the loop."""
        self._case = case
        entries = primary_context(0).entries
        self._loop = PythonLoop(entries) if python else graph_loop(entries)
        if not python and self._loop.name != "native":
            raise Unavailable("there is no native loop here")

    def load(self) -> Seconds:
        """Load from the file."""
        primary_context(0).loop = self._loop
        watch = Watch()
        plan = load(self._case.path)
        watch.lap("read")
        exe = plan.instantiate("cuda:0")
        watch.lap("instance")
        exe.replay().wait()
        watch.lap("launch")
        whole = watch.seconds.pop("instance")
        stages = dict(exe._instance.stages.seconds)  # type: ignore[attr-defined]
        seconds = {**watch.warm(lambda: exe.replay().wait()), **stages}
        seconds["other"] = whole - sum(stages.values())
        wanted = (1 + REPLAYS) * self._case.nodes // self._case.lanes
        if not (exe.read("y") == wanted).all():
            raise AssertionError(f"{self._case.name}: {exe.read('y')} is not {wanted}")
        exe.close()
        return seconds


_FLOOR_CALLS = (
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuLibraryGetKernel",
    "cuKernelGetFunction",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpyHtoDAsync",
    "cuMemsetD8Async",
    "cuGraphCreate",
    "cuGraphAddKernelNode",
    "cuGraphAddDependencies",
    "cuGraphInstantiateWithParams",
    "cuGraphUpload",
    "cuStreamSynchronize",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
)
_COUNTS = ("nodes", "buffers", "parameters", "relocations", "blob", "edges", "late")
_ARRAYS = ("sizes", "constant", "ops", "links", "arguments", "offsets", "firsts", "befores")


class _Job(ctypes.Structure):
    _fields_ = (
        ("calls", ctypes.c_void_p),
        ("path", ctypes.c_char_p),
        ("symbol", ctypes.c_char_p),
        ("image", ctypes.c_char_p),
        ("stream", ctypes.c_uint64),
        *((name, ctypes.c_uint64) for name in _COUNTS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("seconds", ctypes.c_double * len(STAGES)),
    )


class Floor:
    """The same stages in C, over the tables of the plan (floor.c); ``late``: all edges in one call."""

    def __init__(self, case: Case, late: bool = False) -> None:
        """Compile, and point at the tables."""
        self._call = _floor()
        self._context = primary_context(0)
        program = case.program
        kernel = program.functions[0]
        edges = program.edges
        order = DriverEdges.of(
            case.nodes,
            edges["before"].astype(np.intp),
            edges["after"].astype(np.intp),
            np.zeros(len(edges), np.uint32),
        )
        x = program.buffers[0]
        arrays: dict[str, Any] = {
            "sizes": np.array([b.nbytes for b in program.buffers], np.uint64),
            "constant": np.frombuffer(program.constants[x.data or ""], np.uint8),
            "ops": np.ascontiguousarray(program.kernel_ops),
            "links": np.ascontiguousarray(program.relocations),
            "arguments": np.frombuffer(program.arguments, np.uint8),
            "offsets": np.array([p.offset for p in kernel.parameters], np.uint64),
            "firsts": order.firsts,
            "befores": order.befores,
        }
        counts = (case.nodes, len(program.buffers), len(kernel.parameters), len(program.relocations))
        numbers = dict(zip(_COUNTS, (*counts, len(arrays["arguments"]), len(edges), int(late)), strict=True))
        self._calls = np.array([_entry(name) for name in _FLOOR_CALLS], np.uint64)
        image = image_for_gpu(program.modules[0], architecture())
        self._kept = (arrays, bytes(image.data) + b"\0", str(case.path).encode(), kernel.symbol.encode())
        self._context.call("cuCtxPushCurrent", self._context.handle)
        self._stream = self._context.call("cuStreamCreate", 1)
        self._context.call("cuCtxPopCurrent")
        self._job = _Job(
            calls=self._calls.ctypes.data,
            path=self._kept[2],
            symbol=self._kept[3],
            image=self._kept[1],
            stream=int(self._stream),
            **numbers,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )

    def load(self) -> Seconds:
        """Do it all in C."""
        self._context.call("cuCtxPushCurrent", self._context.handle)
        try:
            status = self._call(ctypes.byref(self._job))
        finally:
            self._context.call("cuCtxPopCurrent")
        if status:
            raise RuntimeError(f"the floor failed with {status}")
        return dict(zip(STAGES, self._job.seconds, strict=True))


def _entry(name: str) -> int:
    address, _ = primary_context(0).call("cuGetProcAddress", name.encode(), 12030, 0)
    return int(address)


def _floor() -> Any:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise Unavailable("there is no C compiler")
    folder = tempfile.mkdtemp(prefix="floor")
    library = Path(folder) / "floor.so"
    source = Path(__file__).with_name("floor.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).floor_load


class Bindings:
    """cuda.bindings: parameters and handles node by node, in Python."""

    def __init__(self, case: Case) -> None:
        """Note the graph."""
        self._context = primary_context(0)
        self._case, program = case, case.program
        self._image = bytes(image_for_gpu(program.modules[0], architecture()).data) + b"\0"
        self._before: list[list[int]] = [[] for _ in range(case.nodes)]
        for before, after, _ in program.edges.tolist():
            self._before[after].append(before)

    def load(self) -> Seconds:
        """Load, allocate, add, instantiate."""
        call, api = self._context.call, self._context.api
        call("cuCtxPushCurrent", self._context.handle)
        stream = call("cuStreamCreate", 1)
        code = np.frombuffer(self._image, np.uint8)
        watch = Watch()
        library = call("cuLibraryLoadData", code.ctypes.data, [], [], 0, [], [], 0)
        function = call("cuKernelGetFunction", call("cuLibraryGetKernel", library, b"axpy"))
        watch.lap("modules")
        x, y = _buffers(call, api, self._case.lanes, stream)
        watch.lap("memory")
        graph = call("cuGraphCreate", 0)
        types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, ctypes.c_uint32)
        nodes: list[Any] = []
        for index, before in enumerate(self._before):
            params = api.CUDA_KERNEL_NODE_PARAMS()
            params.func = function
            params.gridDimX = params.gridDimY = params.gridDimZ = 1
            params.blockDimX, params.blockDimY, params.blockDimZ = THREADS, 1, 1
            target = int(y) + 4 * THREADS * (index % self._case.lanes)
            params.kernelParams = ((int(x), target, 1.0, THREADS), types)
            ends = [nodes[b] for b in before]
            nodes.append(call("cuGraphAddKernelNode", graph, ends, len(ends), params))
        watch.lap("add")
        executable = call("cuGraphInstantiateWithParams", graph, api.CUDA_GRAPH_INSTANTIATE_PARAMS())
        watch.lap("instantiate")
        call("cuGraphUpload", executable, stream)
        call("cuStreamSynchronize", stream)
        watch.lap("upload")

        def replay() -> None:
            call("cuGraphLaunch", executable, stream)
            call("cuStreamSynchronize", stream)

        replay()
        watch.lap("launch")
        seconds = watch.warm(replay)
        for free, handle in (("cuGraphExecDestroy", executable), ("cuGraphDestroy", graph)):
            call(free, handle)
        for free, handle in (("cuMemFree", x), ("cuMemFree", y), ("cuLibraryUnload", library)):
            call(free, handle)
        call("cuStreamDestroy", stream)
        call("cuCtxPopCurrent")
        return seconds


def _buffers(call: Any, api: Any, lanes: int, stream: Any) -> tuple[Any, Any]:
    ones = np.ones(THREADS, np.float32)
    x, y = call("cuMemAlloc", ones.nbytes), call("cuMemAlloc", ones.nbytes * lanes)
    call("cuMemcpyHtoDAsync", x, ones.ctypes.data, ones.nbytes, stream)
    call("cuMemsetD8Async", y, 0, ones.nbytes * lanes, stream)
    call("cuStreamSynchronize", stream)
    return x, y


class Core:
    """cuda.core's GraphBuilder: launches captured; lanes by split and join, without the edges across."""

    def __init__(self, case: Case) -> None:
        """Import, and make the device current."""
        try:
            from cuda import core
        except ImportError as error:
            raise Unavailable(f"cuda.core: {error}") from None
        self._core, self._case = core, case
        self._device = core.Device(0)
        self._device.set_current()
        image = image_for_gpu(case.program.modules[0], architecture())
        maker = core.ObjectCode.from_cubin if image.form == "cubin" else core.ObjectCode.from_ptx
        self._code = lambda: maker(bytes(image.data))

    def load(self) -> Seconds:
        """Build and launch."""
        core, lanes, context = self._core, self._case.lanes, primary_context(0)
        stream = self._device.create_stream()
        watch = Watch()
        kernel = self._code().get_kernel("axpy")
        watch.lap("modules")
        x, y = _buffers(context.call, context.api, lanes, int(stream.handle))
        watch.lap("memory")
        builder = self._device.create_graph_builder().begin_building()
        config = core.LaunchConfig(grid=1, block=THREADS)
        each = builder.split(lanes) if lanes > 1 else (builder,)
        one, count = np.float32(1), np.uint32(THREADS)
        for index in range(self._case.nodes):
            lane = index % lanes
            target = int(y) + 4 * THREADS * lane
            core.launch(each[lane], config, kernel, int(x), target, one, count)
        if lanes > 1:
            builder = type(builder).join(*each)
        builder.end_building()
        watch.lap("add")
        graph = builder.complete()
        watch.lap("instantiate")
        graph.upload(stream)
        stream.sync()
        watch.lap("upload")

        def replay() -> None:
            graph.launch(stream)
            stream.sync()

        replay()
        watch.lap("launch")
        seconds = watch.warm(replay)
        graph.close()
        for buffer in (x, y):
            context.call("cuMemFree", buffer)
        return seconds


class Torch:
    """PyTorch's capture of ``x.add_(1)`` on eight elements; lanes by streams, without the edges across."""

    def __init__(self, case: Case) -> None:
        """Import, and launch the kernel once."""
        try:
            import torch
        except ImportError as error:
            raise Unavailable(f"torch: {error}") from None
        self._torch, self._case = torch, case
        torch.zeros(THREADS, device="cuda").add_(1)
        torch.cuda.synchronize()

    def load(self) -> Seconds:
        """Capture (which instantiates at its end), and replay."""
        torch, lanes = self._torch, self._case.lanes
        watch = Watch()
        xs = [torch.zeros(THREADS, device="cuda") for _ in range(lanes)]
        torch.cuda.synchronize()
        watch.lap("memory")
        graph = torch.cuda.CUDAGraph()
        sides = [torch.cuda.Stream() for _ in range(lanes - 1)]
        with torch.cuda.graph(graph):
            main = torch.cuda.current_stream()
            for side in sides:
                side.wait_stream(main)
            for stream, x in zip((main, *sides), xs, strict=True):
                with torch.cuda.stream(stream):
                    for _ in range(self._case.nodes // lanes):
                        x.add_(1)
            for side in sides:
                main.wait_stream(side)
        watch.lap("add")

        def replay() -> None:
            graph.replay()
            torch.cuda.synchronize()

        replay()
        watch.lap("launch")
        seconds = watch.warm(replay)
        graph.reset()
        return seconds


WAYS: Mapping[str, Callable[[Case], Any]] = {
    "planc": Planc,
    "floor": Floor,
    "planc, no compiler": lambda case: Planc(case, python=True),
    "floor, edges last": lambda case: Floor(case, late=True),
    "cuda.bindings": Bindings,
    "cuda.core": Core,
    "torch": Torch,
}
