"""CUDA C++ to PTX at test time, and launching what comes out."""

from __future__ import annotations

import functools
import struct
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cuda.bindings import nvrtc

from planc.ptx import parse
from planc.simt import Memory, RunStatistics, load_variables, prepare

_INCLUDE = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "include"


@functools.cache
def compile_cuda(source: str, *options: str) -> str:
    """Return the PTX of CUDA C++ source, with line information for the file `k.cu`."""
    error, program = nvrtc.nvrtcCreateProgram(source.encode(), b"k.cu", 0, [], [])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    flags = ["-arch=compute_90", "--std=c++17", "-lineinfo", f"-I{_INCLUDE}", *options]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise AssertionError(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    nvrtc.nvrtcDestroyProgram(program)
    return text.rstrip(b"\0 ").decode()


class Device:
    """Simulated memory, and kernels of one module launched on it."""

    def __init__(self, ptx: str) -> None:
        self.module = parse(ptx, "k.ptx")
        self.memory = Memory()
        self.variables = load_variables(self.module, self.memory)
        self.printed: list[str] = []
        self.kernels: dict[str, object] = {}

    def array(self, name: str, data: np.ndarray, *, writable: bool = True) -> int:
        """Map an array (changes are seen through it) and return its address."""
        flat = data.reshape(-1).view(np.uint8)
        assert np.shares_memory(flat, data) or data.size == 0
        return self.memory.map(name, flat, writable=writable)

    def run(
        self,
        entry: str,
        grid: int | tuple[int, int, int],
        block: int | tuple[int, int, int],
        *arguments: object,
        shared: int = 0,
        budget: int | None = 200_000_000,
        trace: Callable[..., None] | None = None,
    ) -> RunStatistics:
        """Launch a kernel. Arguments are Python ints (addresses, 64 bits) and NumPy scalars."""
        kernel = prepare(self.module, entry)
        return kernel.run(
            _three(grid),
            _three(block),
            shared,
            pack(*arguments),
            self.memory,
            variables=self.variables,
            stdout=self.printed.append,
            budget=budget,
            trace=trace,
        )


def cuda(source: str, *options: str) -> Device:
    """Compile CUDA C++ and return a device with its module."""
    return Device(compile_cuda(source, *options))


def _three(sizes: int | tuple[int, int, int]) -> tuple[int, int, int]:
    return (sizes, 1, 1) if isinstance(sizes, int) else sizes


def pack(*arguments: object) -> bytes:
    """Lay arguments out as the driver does: each at a multiple of its size; bytes are taken at 8."""
    data = b""
    for each in arguments:
        raw, align = _raw(each)
        data += bytes(-len(data) % align) + raw
    return data


def _raw(value: object) -> tuple[bytes, int]:
    if isinstance(value, bytes):
        return value, 8
    if isinstance(value, int):
        return struct.pack("<q", value), 8
    array = np.asarray(value)
    return array.tobytes(), array.dtype.itemsize
