"""What a driver failure means to the person: one diagnostic, with the node and its place."""

from __future__ import annotations

from planc.diagnostics import DeviceError, Diagnostic, Fact
from planc.plan.program import Program
from planc.runtime.driver import ABSENT, DriverFailure
from planc.runtime.errors import node_facts, node_span

NO_DRIVER = "libcuda"
"""What stands for the call where there is no driver to call."""
_NO_GPU = 'use the CPU device, `device="cpu"` (`--device cpu`): it needs no GPU'
_RESTART = "restart the process: the driver cannot be used in it any more"


def open_error(device: str, failure: DriverFailure) -> DeviceError:
    """Return the error for a device that could not be opened: PLC730, PLC731 or PLC732."""
    if failure.error in ABSENT:
        return absent_error(device, failure)
    if failure.sticky:
        return lost_error(device, failure)
    message = f"`{device}` could not be opened: {_said(failure)}"
    return DeviceError(Diagnostic("PLC731", message, facts={"device": device, **_facts(failure)}))


def absent_error(device: str, failure: DriverFailure) -> DeviceError:
    """Return PLC730: there is no such device, or no driver."""
    return DeviceError(
        Diagnostic(
            "PLC730",
            f"no GPU for `{device}`: {_said(failure)}",
            help=_NO_GPU,
            facts={"device": device, **_facts(failure)},
        )
    )


def lost_error(device: str, failure: DriverFailure) -> DeviceError:
    """Return PLC732: the context is lost, and every call says so."""
    return DeviceError(
        Diagnostic(
            "PLC732",
            f"`{device}` is lost to this process since {_said(failure)}",
            help=_RESTART,
            facts={"device": device, **_facts(failure)},
        )
    )


def broken_error(program: Program, device: str, failure: DriverFailure) -> DeviceError:
    """Return PLC735: a patch failed half way and could not be undone; this executable alone is lost."""
    return DeviceError(
        Diagnostic(
            "PLC735",
            f"this executable of `{program.name}` on `{device}` is unusable since {_said(failure)}: "
            "a patch failed and could not be undone",
            help="close it and instantiate the plan again",
            facts={"device": device, **_facts(failure)},
        )
    )


def device_error(program: Program, device: str, failure: DriverFailure, doing: str) -> DeviceError:
    """Return the error for a failed call: PLC730, PLC731, or PLC734 where the context is lost with it."""
    if failure.error in ABSENT:
        return absent_error(device, failure)
    where, facts = "", _facts(failure)
    if failure.node is not None:
        where = f", node `{program.node_names[failure.node]}`"
        facts |= node_facts(program, failure.node)
    if failure.sticky:
        return DeviceError(_fault(program, device, failure, doing))
    return DeviceError(
        Diagnostic(
            "PLC731",
            f"{doing} of `{program.name}` on `{device}`{where}: {_said(failure)}",
            span=None if failure.node is None else node_span(program, failure.node),
            help=_HELP.get(failure.error, ""),
            facts={"device": device, "doing": doing, **facts},
        )
    )


def _fault(program: Program, device: str, failure: DriverFailure, doing: str) -> Diagnostic:
    return Diagnostic(
        "PLC734",
        f"a replay of `{program.name}` failed on `{device}`, seen in {doing}: {_said(failure)}",
        help=_RESTART,
        notes=('replay with `device="cpu"` to see which node and access it is',),
        facts={"device": device, "doing": doing, **_facts(failure)},
    )


_HELP = {
    "CUDA_ERROR_OUT_OF_MEMORY": "`memory()` of the plan says how much it needs, before a device is touched",
    "CUDA_ERROR_INVALID_PTX": "the PTX does not compile for this device: check it with `ptxas`",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the PTX is newer than the driver: add the device to `targets`",
}


def _said(failure: DriverFailure) -> str:
    if failure.call == NO_DRIVER:
        return f"no NVIDIA driver was found ({failure.text})"
    return f"`{failure.call}` gave {failure.error} ({failure.text})"


def _facts(failure: DriverFailure) -> dict[str, Fact]:
    return {"call": failure.call, "error": failure.error}
