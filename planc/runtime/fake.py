"""The fake device: driver calls made of Python, recorded, checked, and failing on demand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planc.plan.dtypes import DTYPES
from planc.runtime.device import Instance, Job
from planc.runtime.devices import check_options
from planc.runtime.driven import DrivenInstance
from planc.runtime.driver import DriverFailure
from planc.runtime.failures import open_error
from planc.runtime.fake_driver import FakeDriver, FakeLaunch
from planc.runtime.fake_memory import FakeMemory

__all__ = ["FakeDevice", "FakeLaunch", "FakeTensor"]


class FakeDevice:
    """A device without hardware, for tests of everything but kernels.

    It runs fills and copies on host memory, and records kernels in ``launches`` instead of running them.
    ``calls`` lists every driver call by its CUDA name; call ``fail_at`` (from 0) fails with ``error``, a
    ``CUresult`` name, and so does every call named in ``fail_on``. ``live`` counts what was made and not
    yet freed. ``deferred`` leaves launches pending until somebody waits, or :meth:`run`.
    """

    name = "fake"

    def __init__(
        self,
        *,
        architecture: str = "sm_90",
        fail_at: int | None = None,
        error: str = "CUDA_ERROR_OUT_OF_MEMORY",
        fail_on: Mapping[str, str] | None = None,
        deferred: bool = False,
    ) -> None:
        """Open no context yet; the first ``instantiate`` does."""
        self.driver = FakeDriver(architecture, fail_at, error, dict(fail_on or {}), deferred)

    def instantiate(self, job: Job) -> Instance:
        """Build as on a GPU."""
        check_options(job.options, interpreted=False)
        try:
            self.driver.open()
        except DriverFailure as failure:
            raise open_error(self.name, failure) from None
        return DrivenInstance(self.driver, job)

    @property
    def calls(self) -> list[str]:
        """Names of the driver calls so far."""
        return self.driver.calls

    @property
    def launches(self) -> list[FakeLaunch]:
        """Kernels of all replays so far, in an order that the edges allow."""
        return self.driver.launches

    @property
    def live(self) -> Counter[str]:
        """Handles that are not freed, by kind; the process's one context is not counted."""
        return self.driver.live

    def run(self) -> None:
        """Complete what is pending."""
        self.driver.run()

    def tensor(self, shape: Sequence[int], dtype: str) -> FakeTensor:
        """Return a tensor of the caller's in the fake memory, zeros, of a planc element type."""
        return FakeTensor(self.driver.memory, tuple(shape), DTYPES[dtype].numpy)


class FakeTensor:
    """A caller's tensor with ``__cuda_array_interface__``."""

    def __init__(self, memory: FakeMemory, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Allocate it."""
        nbytes = math.prod(shape) * dtype.itemsize
        address = memory.allocate(nbytes)
        octets = memory.bytes("cuMemAlloc", address, nbytes)
        octets[:] = 0
        self.array = octets.view(dtype).reshape(shape)
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "data": (address, False),
            "strides": None,
            "version": 3,
        }
