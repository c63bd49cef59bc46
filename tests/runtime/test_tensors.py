"""What planc reads of a caller's array: NumPy, DLPack, ``__cuda_array_interface__``."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.runtime import load
from planc.runtime.tensors import NotATensor, describe, is_contiguous
from tests.runtime.programs import axpy_maker


def test_numpy_arrays() -> None:
    array = np.zeros((3, 4), np.int16)
    tensor = describe(array)
    assert (tensor.dtype, tensor.shape, tensor.nbytes, tensor.place) == ("i16", (3, 4), 24, "cpu")
    assert tensor.octets is not None and np.shares_memory(tensor.octets, array)
    assert not describe(array[:, ::2]).contiguous and describe(array[1:]).contiguous
    assert describe(np.zeros((), ml_dtypes.bfloat16)).dtype == "bf16"
    assert describe(np.zeros(2, np.complex64)).dtype == "complex64"
    assert describe(np.zeros(2, ">i4")).dtype == ">i4"
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    assert not describe(frozen).writable


@pytest.mark.parametrize(
    ("shape", "strides", "wanted"),
    [
        ((2, 3), (12, 4), True),
        ((2, 3), (4, 8), False),
        ((2, 3), (16, 4), False),
        ((1, 3), (99, 4), True),
        ((2, 1), (4, 99), True),
        ((0, 3), (1, 1), True),
        ((), (), True),
        ((3,), (-4,), False),
        ((3,), (0,), False),
    ],
)
def test_contiguity(shape: tuple, strides: tuple, wanted: bool) -> None:
    assert is_contiguous(shape, strides, 4) is wanted


class OnGpu:
    """A producer of DLPack capsules that says that its bytes are on a GPU."""

    def __init__(
        self, array: np.ndarray, *, code: int, bits: int, strides: tuple | None, offset: int = 0
    ) -> None:
        from planc.runtime.tensors import _DLTensor

        class Managed(ctypes.Structure):
            _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))

        self.array = array
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*strides) if strides else None
        self.managed = Managed()
        tensor = self.managed.tensor
        tensor.data = array.ctypes.data
        tensor.device.type, tensor.device.ordinal = 2, 3
        tensor.ndim = array.ndim
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = code, bits, 1
        tensor.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        if self.strides is not None:
            tensor.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = offset
        self.streams: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3

    def __dlpack__(self, *, stream: object = None) -> object:
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(self.managed), b"dltensor", None)


@pytest.mark.parametrize(
    ("dtype", "code", "bits", "name"),
    [
        (np.float32, 2, 32, "f32"),
        (np.float16, 2, 16, "f16"),
        (np.uint16, 4, 16, "bf16"),
        (np.int64, 0, 64, "i64"),
        (np.uint8, 1, 8, "u8"),
        (np.bool_, 6, 8, "bool"),
        (np.complex64, 5, 64, "code 5 of 64"),
    ],
)
def test_dlpack(dtype: type, code: int, bits: int, name: str) -> None:
    array = np.zeros((2, 3), dtype)
    producer = OnGpu(array, code=code, bits=bits, strides=(3, 1), offset=16)
    tensor = describe(producer)
    assert tensor.dtype == name and tensor.shape == (2, 3) and tensor.contiguous
    assert tensor.address == array.ctypes.data + 16 and tensor.nbytes == array.nbytes
    assert (tensor.place, tensor.ordinal) == ("cuda", 3)
    assert producer.streams == [-1]
    assert describe(OnGpu(array, code=code, bits=bits, strides=None)).contiguous
    assert not describe(OnGpu(array, code=code, bits=bits, strides=(1, 2))).contiguous


class OnHost:
    """A producer that is no NumPy array itself."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__()


def test_dlpack_on_the_host() -> None:
    array = np.arange(6.0)
    tensor = describe(OnHost(array))
    assert tensor.place == "cpu" and tensor.octets is not None and np.shares_memory(tensor.octets, array)


def test_strange_objects() -> None:
    class Elsewhere:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 10, 0

        def __dlpack__(self) -> None:
            raise AssertionError

    for value in (3, "x", [1, 2], object(), Elsewhere()):
        with pytest.raises(NotATensor):
            describe(value)


class Unwilling:
    """A tensor that requires a gradient, as PyTorch's do."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **options: object) -> None:
        raise BufferError("requires gradient")

    @property
    def __cuda_array_interface__(self) -> None:
        raise RuntimeError("requires gradient")


def test_a_tensor_that_will_not_export_itself_is_refused() -> None:
    with load(axpy_maker().plan()).instantiate("fake") as exe:
        for call in (lambda: exe.bind(x=Unwilling()), lambda: exe.write("x", Unwilling())):
            with pytest.raises(ReplayError) as caught:
                call()
            assert caught.value.code in ("PLC707", "PLC702")
