"""The few calls of the CUDA driver that the comparison needs, through cuda.bindings.

Nothing is imported from CUDA before a :class:`Gpu` is opened, so that the rest of the tools runs without one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


class DriverError(RuntimeError):
    """A driver call that failed: its name and the driver's name of the error."""


class Gpu:
    """The primary context of one device, as a context manager.

    ``name`` is the device's name. Modules live until the context is left.
    """

    def __init__(self, ordinal: int = 0, optimisation: int = 4) -> None:
        """Open the device; raises ImportError or RuntimeError without bindings, driver or GPU.

        ``optimisation`` is the assembler's level, 0 to 4 (CU_JIT_OPTIMIZATION_LEVEL).
        """
        from cuda.bindings import driver

        self._driver: Any = driver
        self._level = optimisation
        self._modules: list[Any] = []
        self._check("cuInit", driver.cuInit(0))
        self._device = self._check("cuDeviceGet", driver.cuDeviceGet(ordinal))
        self._context = self._check("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(self._device))
        raw = self._check("cuDeviceGetName", driver.cuDeviceGetName(256, self._device))
        self.name = bytes(raw).split(b"\0")[0].decode()

    def __enter__(self) -> Gpu:
        """Make the context current in this thread."""
        self._make_current()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Unload the modules and let the context go; errors on the way are not raised over the first."""
        for loaded in self._modules:
            self._driver.cuModuleUnload(loaded)
        self._modules.clear()
        self._driver.cuDevicePrimaryCtxRelease(self._device)

    def _check(self, call: str, answer: tuple[Any, ...]) -> Any:
        """The value of a driver call; raises :class:`DriverError` if it failed."""
        status, *values = answer
        if int(status) != 0:
            _, name = self._driver.cuGetErrorName(status)
            raise DriverError(f"{call} failed: {name.decode() if isinstance(name, bytes) else status}")
        return values[0] if values else None

    def _make_current(self) -> None:
        self._check("cuCtxSetCurrent", self._driver.cuCtxSetCurrent(self._context))

    def _load(self, text: str) -> Any:
        self._make_current()
        image = np.frombuffer(text.encode() + b"\0", np.uint8)
        try:
            option = self._driver.CUjit_option.CU_JIT_OPTIMIZATION_LEVEL
            answer = self._driver.cuModuleLoadDataEx(image.ctypes.data, 1, [option], [self._level])
            return self._check("cuModuleLoadDataEx", answer)
        except DriverError as error:
            raise DriverError(f"{error}\n{assembler_log(text)}") from None

    def load(self, texts: Sequence[str]) -> list[Any]:
        """Assemble and load PTX modules, several at a time; raises :class:`DriverError` with the log."""
        with ThreadPoolExecutor(max_workers=min(16, os.cpu_count() or 1)) as pool:
            loaded = list(pool.map(self._load, texts))
        self._modules.extend(loaded)
        return loaded

    def unload(self, loaded: Any) -> None:
        """Forget one module."""
        self._modules.remove(loaded)
        self._check("cuModuleUnload", self._driver.cuModuleUnload(loaded))

    def run(self, loaded: Any, name: str, inputs: Words, results: int) -> Words:
        """Run one entry on rows of input words (threads, words) and return rows of ``results`` words.

        Raises :class:`DriverError` if the launch or the kernel fails; the context is then lost.
        """
        driver = self._driver
        function = self._check("cuModuleGetFunction", driver.cuModuleGetFunction(loaded, name.encode()))
        threads = len(inputs)
        given = np.ascontiguousarray(inputs, np.uint64)
        taken = np.zeros((threads, results), np.uint64)
        source = self._check("cuMemAlloc", driver.cuMemAlloc(max(8, given.nbytes)))
        destination = self._check("cuMemAlloc", driver.cuMemAlloc(max(8, taken.nbytes)))
        try:
            self._copy_in(source, given)
            self._copy_in(destination, taken)
            self._launch(function, int(source), int(destination), threads)
            answer = driver.cuMemcpyDtoH(taken.ctypes.data, destination, taken.nbytes)
            self._check("cuMemcpyDtoH", answer)
        finally:
            driver.cuMemFree(source)
            driver.cuMemFree(destination)
        return taken

    def _copy_in(self, address: Any, words: Words) -> None:
        if words.nbytes:
            self._check("cuMemcpyHtoD", self._driver.cuMemcpyHtoD(address, words.ctypes.data, words.nbytes))

    def _launch(self, function: Any, source: int, destination: int, threads: int) -> None:
        # The arrays must live until the launch returns: the driver copies what their addresses point to.
        values: list[npt.NDArray[Any]] = [
            np.array([source], np.uint64),
            np.array([destination], np.uint64),
            np.array([threads], np.uint32),
        ]
        addresses = np.array([v.ctypes.data for v in values], np.uint64)
        block = 128
        grid = (threads + block - 1) // block
        answer = self._driver.cuLaunchKernel(
            function, grid, 1, 1, block, 1, 1, 0, 0, addresses.ctypes.data, 0
        )
        self._check("cuLaunchKernel", answer)
        self._check("cuCtxSynchronize", self._driver.cuCtxSynchronize())


def assembler_log(text: str, target: str = "sm_90") -> str:
    """What nvJitLink says of a PTX module: empty if it assembles, else the assembler's messages."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(1, [f"-arch={target}"])
    try:
        data = text.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "generated.ptx")
        nvjitlink.complete(handle)
        return ""
    except nvjitlink.nvJitLinkError as error:
        size = nvjitlink.get_error_log_size(handle)
        log = bytearray(size)
        nvjitlink.get_error_log(handle, log)
        return log.split(b"\0")[0].decode(errors="replace") or str(error)
    finally:
        nvjitlink.destroy(handle)
