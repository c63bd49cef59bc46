"""A small, strict reader of one tensor of a safetensors file.

The format (its README): 8 bytes of header length, a JSON header of at most 100 MB, then the data, which the
tensors cover without overlap, hole or rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

_HEADER_LIMIT = 100_000_000
_KEYS = {"dtype", "shape", "data_offsets"}

SAFETENSORS_DTYPES: Mapping[str, str] = MappingProxyType(
    {
        "BOOL": "bool",
        "I8": "i8",
        "I16": "i16",
        "I32": "i32",
        "I64": "i64",
        "U8": "u8",
        "U16": "u16",
        "U32": "u32",
        "U64": "u64",
        "F16": "f16",
        "BF16": "bf16",
        "F32": "f32",
        "F64": "f64",
    }
)


class BadFile(Exception):
    """The file is not what its name says; the text says why."""


class NoMember(Exception):
    """The file has no such member; ``args[0]`` lists those it has."""


def read_tensor(path: Path, member: str) -> tuple[str, tuple[int, ...], bytes]:
    """Return (dtype as in the file, shape, bytes in C order) of one tensor.

    Raises BadFile for a file that breaks the format, NoMember for an unknown name, OSError as ``open`` does.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        prefix = stream.read(8)
        length = int.from_bytes(prefix, "little")
        if len(prefix) < 8 or length > min(_HEADER_LIMIT, size - 8):
            raise BadFile("the header is longer than the file or than 100 MB")
        tensors = _tensors(stream.read(length), size - 8 - length)
        if member not in tensors:
            raise NoMember(list(tensors))
        dtype, shape, (begin, end) = tensors[member]
        stream.seek(8 + length + begin)
        return dtype, shape, stream.read(end - begin)


def _tensors(header: bytes, data_size: int) -> dict[str, tuple[str, tuple[int, ...], tuple[int, int]]]:
    try:
        parsed = json.loads(header.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"the header is no JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise BadFile("the header is no JSON object")
    parsed.pop("__metadata__", None)
    tensors = {name: _entry(name, entry) for name, entry in parsed.items()}
    place = 0
    for begin, end in sorted(offsets for _, _, offsets in tensors.values()):
        if begin != place or end < begin:
            raise BadFile("the tensors overlap or leave a hole")
        place = end
    if place != data_size:
        raise BadFile(f"the tensors cover {place} of {data_size} bytes")
    return tensors


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key appears twice")
    return table


def _entry(name: str, entry: object) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    if not isinstance(entry, dict) or set(entry) != _KEYS:
        raise BadFile(f"`{name}` lacks dtype, shape or data_offsets, or has more")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        raise BadFile(f"`{name}` has a malformed dtype, shape or data_offsets")
    return dtype, tuple(shape), (offsets[0], offsets[1])


def _naturals(value: object) -> bool:
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in value)
