"""Loading a program's modules on a driver, and checking what they hold against the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.program import Buffer, Function, Image, Program, Role
from planc.runtime.driver import Driver, DriverFailure, Handle
from planc.runtime.images import image_for_gpu


@dataclass(frozen=True, slots=True)
class Loaded:
    """``functions`` by row of the program; ``globals`` maps a buffer row to (address, bytes)."""

    images: tuple[Image, ...]
    functions: tuple[Handle, ...]
    globals: dict[int, tuple[int, int]]


def load_modules(
    driver: Driver, program: Program, on_close: Callable[[Callable[[], None]], object]
) -> Loaded:
    """Load the best image of each module; ``on_close`` is given what unloads it.

    Raises :class:`ReplayError`: PLC725 no image for this architecture, PLC728 an image that does not
    hold what the plan says.
    """
    images = tuple(image_for_gpu(m, driver.architecture) for m in program.modules)
    modules = []
    for image in images:
        module = driver.load_module(image)
        on_close(partial(driver.unload_module, module))
        modules.append(module)
    functions = tuple(_function(driver, modules[f.module], f) for f in program.functions)
    _allow_shared(driver, program, functions)
    variables = {
        row: _variable(driver, modules, program, row)
        for row, buffer in enumerate(program.buffers)
        if buffer.role is Role.GLOBAL
    }
    return Loaded(images, functions, variables)


def _function(driver: Driver, module: Handle, function: Function) -> Handle:
    try:
        handle = driver.function(module, function.symbol)
    except DriverFailure as failure:
        raise _missing(failure, f"kernel `{function.name}` (`{function.symbol}`)") from None
    found = driver.parameters(handle)
    if found is not None:
        compare_parameters(function, found)
    return handle


def compare_parameters(function: Function, found: tuple[tuple[int, int], ...]) -> None:
    """Raise PLC728 unless the image has the plan's parameters; ``found`` are their (offset, size)."""
    planned = tuple((p.offset, p.size) for p in function.parameters)
    if found != planned:
        raise _unlike(
            f"kernel `{function.name}` has parameters (offset, size) {list(found)} in its image, and "
            f"{list(planned)} in the plan",
            function.symbol,
        )


def _allow_shared(driver: Driver, program: Program, functions: tuple[Handle, ...]) -> None:
    ops = program.kernel_ops
    ops = ops[ops["shared"] > 0]
    most = np.zeros(len(functions), np.int64)
    np.maximum.at(most, ops["function"], ops["shared"])
    for handle, nbytes in zip(functions, most.tolist(), strict=True):
        if nbytes:
            driver.allow_shared(handle, nbytes)


def _variable(driver: Driver, modules: list[Handle], program: Program, row: int) -> tuple[int, int]:
    buffer = program.buffers[row]
    module, symbol = symbol_of(buffer)
    try:
        address, nbytes = driver.variable(modules[module], symbol)
    except DriverFailure as failure:
        raise _missing(failure, f"global `{buffer.name}` (`{symbol}`)") from None
    compare_sizes(buffer, nbytes)
    return address, nbytes


def symbol_of(buffer: Buffer) -> tuple[int, str]:
    """Return (module row, symbol) of a global. Raises PLC728 where it has none."""
    if buffer.symbol is None:
        raise _unlike(f"global `{buffer.name}` names no symbol", buffer.name)
    return buffer.symbol


def compare_sizes(buffer: Buffer, found: int | None) -> None:
    """Raise PLC728 unless the image has the global, in the plan's size; ``found`` None: it has not."""
    _, symbol = symbol_of(buffer)
    if found is None:
        raise _unlike(f"global `{buffer.name}` (`{symbol}`) is not in its image", symbol)
    if found != buffer.nbytes:
        raise _unlike(
            f"global `{buffer.name}` has {found} bytes in its image, and {buffer.nbytes} in the plan", symbol
        )


def _missing(failure: DriverFailure, what: str) -> Exception:
    if failure.error != "CUDA_ERROR_NOT_FOUND":
        return failure
    return _unlike(f"{what} is not in its image", what)


def _unlike(message: str, symbol: str) -> ReplayError:
    return ReplayError(
        Diagnostic(
            "PLC728",
            message,
            help="compile the graph again: the plan and its images do not belong together",
            facts={"symbol": symbol},
        )
    )
