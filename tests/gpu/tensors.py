"""A tensor in device memory without a framework."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from planc.plan.dtypes import DTYPES
from planc.runtime.cuda import CudaDriver, primary_context


class GpuTensor:
    """A cuMemAlloc allocation with ``__cuda_array_interface__``; freed when it is dropped."""

    def __init__(self, shape: Sequence[int], dtype: str, *, skew: int = 0) -> None:
        """Allocate zeros; ``skew`` moves the start by that many bytes."""
        self.driver = CudaDriver(primary_context(0))
        self.numpy = DTYPES[dtype].numpy
        self.shape = tuple(shape)
        self.nbytes = math.prod(shape) * self.numpy.itemsize
        with self.driver.current():
            self.stream = self.driver.create_stream()
            self.base = self.driver.allocate(self.nbytes + skew + 1)
        self.address = self.base + skew
        self.array = np.zeros(self.shape, self.numpy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The protocol, version 3."""
        data = (self.address, False)
        return {
            "shape": self.shape,
            "typestr": self.numpy.str,
            "data": data,
            "strides": None,
            "version": 3,
        }

    @property
    def array(self) -> np.ndarray:
        """A host copy of the elements."""
        octets = np.empty(self.nbytes, np.uint8)
        with self.driver.current():
            self.driver.download(octets, self.address, self.stream)
        return octets.view(self.numpy).reshape(self.shape)

    @array.setter
    def array(self, value: np.ndarray) -> None:
        octets = np.ascontiguousarray(value, self.numpy).reshape(-1).view(np.uint8)
        with self.driver.current():
            self.driver.upload(self.address, octets, self.stream)

    def __del__(self) -> None:
        if self.driver.dead is None:
            with self.driver.current():
                self.driver.free(self.base)
                self.driver.destroy_stream(self.stream)
