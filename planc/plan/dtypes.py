"""Element types: the one table of names, sizes and their NumPy forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    ``kind`` is ``f`` (floating), ``i`` (signed), ``u`` (unsigned) or ``b`` (bool, one byte);
    ``itemsize`` is in bytes, and is the alignment too; ``code`` is the number in a plan file.
    """

    name: str
    code: int
    kind: str
    itemsize: int
    numpy: np.dtype[Any]


def _table() -> Mapping[str, DType]:
    rows = (
        ("bool", 1, "b", np.bool_),
        ("i8", 2, "i", np.int8),
        ("i16", 3, "i", np.int16),
        ("i32", 4, "i", np.int32),
        ("i64", 5, "i", np.int64),
        ("u8", 6, "u", np.uint8),
        ("u16", 7, "u", np.uint16),
        ("u32", 8, "u", np.uint32),
        ("u64", 9, "u", np.uint64),
        ("f16", 10, "f", np.float16),
        ("bf16", 11, "f", ml_dtypes.bfloat16),
        ("f32", 12, "f", np.float32),
        ("f64", 13, "f", np.float64),
    )
    table = {}
    for name, code, kind, scalar in rows:
        numpy = np.dtype(scalar)
        table[name] = DType(name, code, kind, numpy.itemsize, numpy)
    return MappingProxyType(table)


DTYPES: Mapping[str, DType] = _table()
DTYPE_BY_CODE: Mapping[int, DType] = MappingProxyType({d.code: d for d in DTYPES.values()})
