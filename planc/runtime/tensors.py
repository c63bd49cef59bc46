"""Reading what a caller's array is: NumPy, ``__cuda_array_interface__``, DLPack."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.plan.dtypes import DTYPES
from planc.runtime.device import Tensor

_BY_NUMPY = MappingProxyType({d.numpy: d.name for d in DTYPES.values()})


class NotATensor(Exception):
    """The object follows no protocol that planc reads; the text says what it is."""


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return planc's name of a NumPy dtype, or NumPy's own where planc has none (byte order included)."""
    return _BY_NUMPY.get(dtype, str(dtype) if dtype.isnative else dtype.str)


def describe(value: object) -> Tensor:
    """Describe an array without copying it. Raises :class:`NotATensor`."""
    if isinstance(value, np.ndarray):
        return _from_numpy(value, value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(value)
    interface = cuda_interface(value)
    if interface is not None:
        return _from_cuda_interface(value, interface)
    raise NotATensor(f"it is a `{type(value).__name__}`")


def cuda_interface(value: object) -> Any:
    """Return ``__cuda_array_interface__``, or None where the object has none or will not give it.

    PyTorch raises for tensors that require a gradient.
    """
    try:
        return getattr(value, "__cuda_array_interface__", None)
    except Exception:
        return None


def _from_numpy(array: NDArray[Any], owner: object) -> Tensor:
    contiguous = bool(array.flags.c_contiguous)
    return Tensor(
        dtype=dtype_name(array.dtype),
        shape=array.shape,
        contiguous=contiguous,
        writable=bool(array.flags.writeable),
        address=array.ctypes.data,
        nbytes=array.nbytes,
        place="cpu",
        ordinal=None,
        owner=owner,
        octets=np.asarray(array).reshape(-1).view(np.uint8) if contiguous and array.dtype != object else None,
    )


def _from_cuda_interface(value: object, interface: Mapping[str, Any]) -> Tensor:
    try:
        dtype = np.dtype(interface["typestr"])
        shape = tuple(int(n) for n in interface["shape"])
        address, read_only = interface["data"]
        strides = interface.get("strides")
    except (KeyError, TypeError, ValueError) as error:
        raise NotATensor(f"its `__cuda_array_interface__` cannot be read: {error}") from None
    return Tensor(
        dtype=dtype_name(dtype),
        shape=shape,
        contiguous=strides is None or is_contiguous(shape, strides, dtype.itemsize),
        writable=not read_only,
        address=int(address),
        nbytes=math.prod(shape) * dtype.itemsize,
        place="cuda",
        ordinal=None,
        owner=value,
    )


def is_contiguous(shape: Sequence[int], strides: Sequence[int], item: int) -> bool:
    """Whether strides (in the unit of ``item``) are those of C order; axes of one element may have any."""
    if 0 in shape:
        return True
    expected = item
    for count, stride in zip(reversed(shape), reversed(strides), strict=True):
        if count != 1 and stride != expected:
            return False
        expected *= count
    return True


class _DLDevice(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("ordinal", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    """The head of a DLManagedTensor (DLPack, ``dlpack.h``, ABI before 1.0 and ``DLManagedTensor`` since)."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_CUDA_MANAGED = 1, 2, 3, 13
_DL_KINDS = MappingProxyType({0: "i", 1: "u", 2: "f", 4: "bf", 6: "b"})
_DL_NAMES = MappingProxyType(
    {("b", 8): "bool", ("bf", 16): "bf16", **{(d.kind, d.itemsize * 8): d.name for d in DTYPES.values()
                                              if d.name not in ("bool", "bf16")}}
)  # fmt: skip


def _from_dlpack(value: Any) -> Tensor:
    kind = int(value.__dlpack_device__()[0])
    try:
        if kind in (_DL_CUDA, _DL_CUDA_MANAGED):
            # -1: no ordering by the producer; the contract is that its work is complete before replay.
            return _read_capsule(value, value.__dlpack__(stream=-1))
        if kind in (_DL_CPU, _DL_CUDA_HOST):
            return _from_numpy(np.from_dlpack(value), value)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:  # each framework raises its own
        raise NotATensor(f"it does not export itself through DLPack: {error}") from None
    raise NotATensor(f"it is on a device of DLPack's kind {kind}")


def _read_capsule(value: object, capsule: object) -> Tensor:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DLTensor.from_address(get(capsule, b"dltensor"))
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    bits = tensor.dtype.bits
    key = (_DL_KINDS.get(tensor.dtype.code, f"code {tensor.dtype.code} of "), bits)
    return Tensor(
        dtype=_DL_NAMES.get(key, f"{key[0]}{bits}") if tensor.dtype.lanes == 1 else "a vector type",
        shape=shape,
        contiguous=strides is None or is_contiguous(shape, strides, 1),
        writable=True,
        address=(tensor.data or 0) + tensor.byte_offset,
        nbytes=math.prod(shape) * bits // 8,
        place="cuda",
        ordinal=tensor.device.ordinal,
        # An unconsumed capsule calls the producer's deleter when it is dropped.
        owner=(value, capsule),
    )
