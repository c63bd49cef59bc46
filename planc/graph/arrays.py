"""Arrays from data files: .npy, .npz, .safetensors. Never unpickles; checks the header before the data."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np
from numpy.lib import format as npy

from planc.graph.safetensors import SAFETENSORS_DTYPES, BadFile, NoMember, read_tensor
from planc.plan.dtypes import DTYPES, DType


class Mismatch(Exception):
    """The array is fine and not the declared one; ``code`` says in what, ``found`` what it is."""

    def __init__(self, code: str, found: str) -> None:
        """Keep both."""
        super().__init__(code, found)
        self.code = code
        self.found = found


Reader = Callable[[Path, str | None, DType, tuple[int, ...]], bytes]


def read_array(path: Path, member: str | None, dtype: DType, shape: tuple[int, ...]) -> bytes:
    """Return the little-endian C-ordered bytes of an array of exactly this type and shape.

    Raises BadFile, NoMember, Mismatch (codes PLC330, PLC331), or OSError as ``open`` does.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise BadFile(f"`{path.suffix}` is none of {', '.join(_READERS)}")
    if path.exists() and not (path.is_file() or path.is_dir()):
        # A pipe or a device would hang the check.
        raise BadFile("it is no regular file")
    return reader(path, member, dtype, shape)


def _read_npy(path: Path, member: str | None, dtype: DType, shape: tuple[int, ...]) -> bytes:
    if member is not None:
        raise NoMember([])
    with path.open("rb") as stream:
        return _npy_stream(stream, dtype, shape)


def _read_npz(path: Path, member: str | None, dtype: DType, shape: tuple[int, ...]) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [n.removesuffix(".npy") for n in archive.namelist()]
            if member is None and len(names) == 1:
                member = names[0]
            if member not in names:
                raise NoMember(names)
            with archive.open(f"{member}.npy") as stream:
                return _npy_stream(stream, dtype, shape)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise BadFile(str(error)) from None


def _npy_stream(stream: IO[bytes], dtype: DType, shape: tuple[int, ...]) -> bytes:
    try:
        version = npy.read_magic(stream)
        if version not in _HEADERS:
            raise BadFile(f"npy version {version[0]}.{version[1]} is not read")
        found_shape, fortran, found = _HEADERS[version](stream)
    except ValueError as error:
        raise BadFile(str(error)) from None
    if found.hasobject:
        raise BadFile("it holds pickled objects")
    if not _same_dtype(found, dtype):
        raise Mismatch("PLC330", _dtype_name(found))
    if tuple(found_shape) != shape:
        raise Mismatch("PLC331", shape_text(tuple(found_shape)))
    size = prod(shape) * dtype.itemsize
    data = stream.read(size + 1)
    if len(data) != size:
        raise BadFile(
            f"it holds {'more' if len(data) > size else 'fewer'} than the {size} bytes of its shape"
        )
    return _plain(np.frombuffer(data, dtype=found), fortran, dtype, shape)


_HEADERS: Mapping[tuple[int, int], Callable[[IO[bytes]], tuple[tuple[int, ...], bool, np.dtype]]] = (
    MappingProxyType({(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0})
)


def _same_dtype(found: np.dtype, dtype: DType) -> bool:
    # NumPy writes types it does not know, bf16 among them, as plain bytes of their size.
    if dtype.name == "bf16":
        return found.kind == "V" and found.itemsize == 2 and found.names is None
    return found.newbyteorder("=") == dtype.numpy


def _plain(array: np.ndarray, fortran: bool, dtype: DType, shape: tuple[int, ...]) -> bytes:
    array = array.reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "b":
        array = array.view(np.uint8) != 0
    elif array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes(order="C")


def _read_safetensors(path: Path, member: str | None, dtype: DType, shape: tuple[int, ...]) -> bytes:
    found, found_shape, data = read_tensor(path, member or "")
    name = SAFETENSORS_DTYPES.get(found)
    if name != dtype.name:
        raise Mismatch("PLC330", name or found)
    if found_shape != shape:
        raise Mismatch("PLC331", shape_text(found_shape))
    if len(data) != prod(shape) * dtype.itemsize:
        raise BadFile(f"`{member}` has {len(data)} bytes, and its shape {prod(shape) * dtype.itemsize}")
    return _plain(np.frombuffer(data, dtype=dtype.numpy), False, dtype, shape)


_READERS: Mapping[str, Reader] = MappingProxyType(
    {".npy": _read_npy, ".npz": _read_npz, ".safetensors": _read_safetensors}
)

_NAMES: Mapping[np.dtype, str] = MappingProxyType({d.numpy: d.name for d in DTYPES.values()})


def _dtype_name(found: np.dtype) -> str:
    return _NAMES.get(found.newbyteorder("="), str(found))


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as the file writes it: ``[4, 8]``."""
    return f"[{', '.join(str(n) for n in shape)}]"
