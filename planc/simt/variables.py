"""Variables of a module in simulated memory: ``.global`` and ``.const``, with their first values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, ReplayError
from planc.diagnostics.diagnostic import Fact
from planc.ptx.syntax import Module, Variable
from planc.simt.closure import function_address, function_numbers
from planc.simt.memory import Memory

_NOTHING: Mapping[str, NDArray[np.uint8]] = MappingProxyType({})


class Variables:
    """The loaded variables of one module; ``addresses`` has the address of each by name."""

    def __init__(self, module: Module, memory: Memory, storage: Mapping[str, NDArray[np.uint8]]) -> None:
        """Map every variable; see :func:`load_variables`."""
        self._memory = memory
        self._first: dict[str, bytes] = {}
        self._data: dict[str, NDArray[np.uint8]] = {}
        found: dict[str, int] = {}
        wanted = [v for v in module.variables.values() if v.space in ("global", "const")]
        for variable in wanted:
            data = storage.get(variable.name)
            self._check(variable, data)
            mine = _zeros(variable) if data is None else data
            self._data[variable.name] = mine
            found[variable.name] = memory.map(variable.name, mine, writable=variable.space == "global")
        self.addresses: Mapping[str, int] = MappingProxyType(found)
        numbers = function_numbers(module)
        for variable in wanted:
            self._first[variable.name] = self._bytes(variable, numbers)
            if variable.name not in storage:
                self._fill(variable.name)

    def _check(self, variable: Variable, data: NDArray[np.uint8] | None) -> None:
        if data is None and variable.linkage == "extern":
            raise ReplayError(
                Diagnostic(
                    "PLC751",
                    f"variable `{variable.name}` is `.extern` and has no value",
                    help="link the PTX that defines it in, or give its bytes",
                    facts={"variable": variable.name},
                )
            )
        if data is not None and data.size < variable.size:
            raise ValueError(f"`{variable.name}` has {variable.size} bytes, its storage {data.size}")

    def _bytes(self, variable: Variable, numbers: Mapping[str, int]) -> bytes:
        data = bytearray((variable.initial or b"").ljust(variable.size, b"\0"))
        for offset, name, addend, _ in variable.symbols:
            base = self.addresses[name] if name in self.addresses else function_address(numbers[name])
            width = min(8, variable.size - offset)
            data[offset : offset + width] = (base + addend).to_bytes(8, "little")[:width]
        return bytes(data)

    def _fill(self, name: str) -> None:
        first = np.frombuffer(self._first[name], np.uint8)
        self._data[name][: first.size] = first

    def reset(self) -> None:
        """Give every variable its first value again, as a freshly loaded module has."""
        for name in self._first:
            self._fill(name)

    def unload(self) -> None:
        """Take the variables out of memory."""
        for address in self.addresses.values():
            self._memory.unmap(address)


def _zeros(variable: Variable) -> NDArray[np.uint8]:
    try:
        return np.zeros(variable.size, np.uint8)
    except (MemoryError, ValueError):
        message = f"no memory is left for the {variable.size} bytes of `{variable.name}`"
        facts: dict[str, Fact] = {"variable": variable.name, "bytes": variable.size}
        raise ReplayError(Diagnostic("PLC736", message, facts=facts)) from None


def load_variables(
    module: Module, memory: Memory, *, storage: Mapping[str, NDArray[np.uint8]] = _NOTHING
) -> Variables:
    """Map the ``.global`` and ``.const`` variables of ``module``, with their first values.

    A variable named in ``storage`` uses those bytes (1-D uint8, at least its size) and keeps what they hold
    until :meth:`Variables.reset`. Strings of printf are among the variables. Raises
    :class:`planc.diagnostics.ReplayError` (PLC751) for an ``.extern`` variable without storage.
    """
    return Variables(module, memory, storage)
