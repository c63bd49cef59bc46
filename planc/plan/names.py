"""Names: what a name may be, and the table that holds those of the nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from planc.plan.findings import refuse
from planc.plan.layout import INDEX
from planc.plan.program import Table

_BAD = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Control characters, format characters that hide or reorder text on a terminal, lone surrogates."""

_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://")


def well_formed(text: str) -> bool:
    """Return whether a text may be shown to a person: no control or invisible characters."""
    return _BAD.search(text) is None


def is_absolute(path: str) -> bool:
    """Return whether a path names a place of one machine: ``/a``, ``C:a``, ``~/a``, ``file://a``."""
    return _ABSOLUTE.match(path) is not None


def encode_names(names: Sequence[str]) -> tuple[Table, bytes]:
    """Return the end of each name (uint32, bytes) and the text of all, UTF-8 without separators."""
    encoded = [name.encode() for name in names]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return ends.astype(INDEX), b"".join(encoded)


def decode_names(ends: Table, text: memoryview) -> tuple[str, ...]:
    """Return the names of a table.

    Raises :class:`planc.diagnostics.PlanError`: PLC624 if the ends do not divide the text into
    UTF-8 names.
    """
    starts = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if (np.diff(starts) < 0).any() or starts[-1] != len(text):
        raise refuse("PLC624", "the ends in the node-name table do not divide its text", bytes=len(text))
    raw, cuts = bytes(text), starts.tolist()
    try:
        if raw.isascii():
            whole = raw.decode("ascii")
            return tuple([whole[a:b] for a, b in pairwise(cuts)])
        return tuple([raw[a:b].decode() for a, b in pairwise(cuts)])
    except UnicodeDecodeError as error:
        raise refuse("PLC624", f"a node name is not UTF-8: {error.reason}") from None
