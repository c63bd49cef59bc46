"""For a process with the driver made of host memory: lives of executables under either loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from planc.diagnostics import DeviceError
from planc.plan.program import EdgeType, Plan
from planc.runtime import load
from planc.runtime.cuda import primary_context
from planc.runtime.loaded import LoadedPlan
from planc.runtime.loops import NativeLoop, PythonLoop
from planc.runtime.native import native
from tests.gpu.tensors import GpuTensor
from tests.gpu.test_driver import bound_plan, fed
from tests.runtime.programs import axpy_maker

DRIVER = ctypes.CDLL("libcuda.so.1")
DRIVER.host_driver_journal.restype = DRIVER.host_driver_last.restype = ctypes.c_char_p
DRIVER.host_driver_calls.restype = ctypes.c_long
DRIVER.host_driver_begin.argtypes = [ctypes.c_long, ctypes.c_int]
RELEASES = (
    "cuMemFree",
    "cuLibraryUnload",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
)
UNKNOWN, ILLEGAL_ADDRESS, NEVER = 999, 700, -1

CONTEXT = primary_context(0)
assert native().module is not None, native()
LOOPS = (NativeLoop(native().module, CONTEXT.entries), PythonLoop(CONTEXT.entries))


def journal() -> str:
    return DRIVER.host_driver_journal().decode()


def live() -> int:
    return DRIVER.host_driver_live()


def pops() -> int:
    """Pop what is left on the stack of contexts; return how many."""
    count = DRIVER.host_driver_depth()
    for _ in range(count):
        DRIVER.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    return count


@contextmanager
def loop(index: int) -> Iterator[None]:
    CONTEXT.loop = LOOPS[index]
    try:
        yield
    finally:
        CONTEXT.loop = LOOPS[0]


def programmatic() -> Plan:
    maker = axpy_maker()
    schedule = maker.schedule()
    schedule.edges["type"] = EdgeType.PROGRAMMATIC
    return maker.plan(checked=False, schedules=[schedule])


def mixed_life(tensors: bool = True) -> None:
    """Kernels, fills and copies: built, patched by value and by pointer, rebuilt, closed."""
    with load(bound_plan().plan()).instantiate("cuda:0") as exe:
        fed(exe).replay(a=3.0, n=4).wait()
        if tensors:
            exe.bind(**{name: TENSORS[name] for name in ("x", "plain")})
            exe.bind(filled=TENSORS["filled"])
            exe.replay(n=8).wait()


def programmatic_life() -> None:
    with LoadedPlan(programmatic()).instantiate("cuda:0") as exe:
        fed(exe).replay().wait()


TENSORS = {"x": GpuTensor([8], "f32"), "plain": GpuTensor([8], "f32"), "filled": GpuTensor([6, 8], "f32")}
FIRST = live()
LIVES: dict[str, Callable[[], None]] = {"mixed": mixed_life, "programmatic": programmatic_life}


def told(life: Callable[[], None], at: int, result: int) -> tuple[str, ...]:
    """Live with a failure at call ``at``: (the call that failed, code, node)."""
    DRIVER.host_driver_begin(at, result)
    try:
        life()
        return (DRIVER.host_driver_last().decode(), "", "")
    except DeviceError as error:
        (found,) = error.diagnostics
        return (DRIVER.host_driver_last().decode(), found.code, str(found.facts.get("node", "")))
    finally:
        DRIVER.host_driver_begin(NEVER, 0)
