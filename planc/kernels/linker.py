"""PTX to a cubin by nvJitLink, which needs no driver and no GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Linked:
    """What nvJitLink said; ``cubin`` is None where it refused the PTX."""

    cubin: bytes | None
    log: str


def link_cubin(ptx: str, label: str, target: str, registers: int | None = None) -> Linked:
    """Assemble and link ``ptx`` for ``target`` (``sm_90``), keeping its line numbers.

    Symbols that the driver has (``vprintf``, ``__assertfail``, ``malloc``) stay open. ``label`` names
    the input in messages.
    """
    from cuda.bindings import nvjitlink

    options = [f"-arch={target}", "-lineinfo"]
    if registers is not None:
        options.append(f"-maxrregcount={registers}")
    handle = nvjitlink.create(len(options), options)
    try:
        data = ptx.encode("utf-8", "surrogateescape")
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), label)
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = _log(handle, nvjitlink.get_error_log_size, nvjitlink.get_error_log)
            return Linked(None, log or str(error))
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return Linked(bytes(cubin), _log(handle, nvjitlink.get_info_log_size, nvjitlink.get_info_log))
    finally:
        nvjitlink.destroy(handle)


def _log(handle: int, size_of: Callable[[int], int], get: Callable[[int, bytearray], object]) -> str:
    data = bytearray(size_of(handle))
    get(handle, data)
    return data.rstrip(b"\0").decode("utf-8", "replace")
