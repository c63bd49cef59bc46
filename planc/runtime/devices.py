"""From the name of a device to the device."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.diagnostics import Diagnostic, ReplayError
from planc.runtime.device import MEMORY_MODES, Device, Options

_NAME = re.compile(r"(cpu|fake|cuda)(?::(\d{1,4}))?")


def open_device(device: str | Device) -> Device:
    """Return the device of a name (``cpu``, ``fake``, ``cuda``, ``cuda:1``), or the device itself.

    Raises :class:`ReplayError` PLC717 for anything else. Nothing of CUDA is imported for other devices.
    """
    if not isinstance(device, str):
        if callable(getattr(device, "instantiate", None)):
            return device
        raise _unknown(type(device).__name__)
    match = _NAME.fullmatch(device)
    if match is None or (match[2] is not None and match[1] != "cuda"):
        raise _unknown(device)
    return _MAKERS[match[1]](int(match[2] or 0))


def check_options(options: Options, interpreted: bool) -> None:
    """Raise PLC720 for an option that the device does not have."""
    if options.memory not in MEMORY_MODES:
        raise _no_option("memory", repr(options.memory), "give `arena` or `separate`")
    if interpreted:
        return
    for name in ("target", "stdout", "budget"):
        if getattr(options, name) is not None:
            raise _no_option(name, "on this device", "leave it out: only the CPU device has it")


def _no_option(name: str, what: str, cure: str) -> ReplayError:
    return ReplayError(
        Diagnostic("PLC720", f"the option `{name}` is refused: {what}", help=cure, facts={"option": name})
    )


def _unknown(device: str) -> ReplayError:
    return ReplayError(
        Diagnostic(
            "PLC717",
            f"there is no device `{device}`",
            help="the devices are `cpu`, `cuda:0` (and other numbers) and `fake`",
            facts={"device": device},
        )
    )


def _cpu(ordinal: int) -> Device:
    from planc.runtime.cpu import CpuDevice

    return CpuDevice()


def _fake(ordinal: int) -> Device:
    from planc.runtime.fake import FakeDevice

    return FakeDevice()


def _cuda(ordinal: int) -> Device:
    from planc.runtime.cuda import CudaDevice

    return CudaDevice(ordinal)


_MAKERS: Mapping[str, Callable[[int], Device]] = MappingProxyType({"cpu": _cpu, "fake": _fake, "cuda": _cuda})
