"""Replaying plans: load, instantiate on a device, bind, write, replay, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planc.runtime.device import Device, Instance, Job, Options, Tensor
from planc.runtime.executable import Executable
from planc.runtime.loaded import LoadedPlan, load
from planc.runtime.ticket import Ticket

if TYPE_CHECKING:
    from planc.runtime.fake import FakeDevice

__all__ = [
    "Device",
    "Executable",
    "FakeDevice",
    "Instance",
    "Job",
    "LoadedPlan",
    "Options",
    "Tensor",
    "Ticket",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import the fake device on first use: services do not need it."""
    if name == "FakeDevice":
        from planc.runtime.fake import FakeDevice

        return FakeDevice
    raise AttributeError(f"module 'planc.runtime' has no attribute {name!r}")
