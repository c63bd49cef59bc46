"""The one msgpack form that a plan's header may have.

Maps with text keys, arrays, text, integers, 64-bit floats, booleans and nil; each in its shortest
spelling. No extension types, timestamps or binary; no key twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgpack

from planc.plan import limits
from planc.plan.findings import refuse

_ALLOWED = frozenset({dict, list, str, int, float, bool, type(None)})


class _DuplicateKey(Exception):
    """Carries the key that stood twice in one map."""


def pack(value: object) -> bytes:
    """Return the canonical msgpack form of plain values (maps keep their order)."""
    return cast(bytes, msgpack.packb(value, use_bin_type=True, strict_types=True))


def unpack(data: bytes) -> Any:
    """Read one value that fills ``data`` and is in canonical form.

    Raises :class:`planc.diagnostics.PlanError`: PLC608 malformed, PLC609 a type that headers do not
    have, PLC610 duplicate key, PLC611 not canonical, PLC623 nested too deep.
    """
    value = _parse(data)
    _walk(value)
    if pack(value) != data:
        raise refuse("PLC611", "the header is not in canonical form", bytes=len(data))
    return value


def _parse(data: bytes) -> Any:
    unpacker = msgpack.Unpacker(
        None,
        raw=False,
        strict_map_key=True,
        object_pairs_hook=_map,
        max_buffer_size=max(len(data), 1),
        max_array_len=limits.LIST_ENTRIES,
        max_map_len=limits.LIST_ENTRIES,
    )
    unpacker.feed(data)
    try:
        value = unpacker.unpack()
    except _DuplicateKey as error:
        raise refuse("PLC610", f"the header has the key `{error}` twice in one map", key=str(error)) from None
    except msgpack.StackError:
        raise refuse("PLC623", "the header is nested too deep", limit=limits.HEADER_DEPTH) from None
    except (ValueError, msgpack.UnpackException) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise refuse("PLC608", f"the header is not well-formed msgpack: {reason}") from None
    if unpacker.tell() != len(data):
        raise refuse("PLC608", "the header is followed by other bytes inside its length", bytes=len(data))
    return value


def _map(pairs: Iterable[tuple[object, object]]) -> dict[object, object]:
    result: dict[object, object] = {}
    for key, value in pairs:
        if key in result:
            raise _DuplicateKey(key)
        result[key] = value
    return result


def _walk(root: object) -> None:
    """Refuse foreign types and depth; level by level, so that depth costs no stack."""
    level: list[object] = [root]
    for _ in range(limits.HEADER_DEPTH):
        below: list[object] = []
        for value in level:
            _allowed(value)
            if isinstance(value, dict):
                below.extend(value.keys())
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        if not below:
            return
        level = below
    raise refuse("PLC623", "the header is nested too deep", limit=limits.HEADER_DEPTH)


def _allowed(value: object) -> None:
    if type(value) not in _ALLOWED:
        raise refuse(
            "PLC609", f"the header holds a value of a kind that headers do not have: {type(value).__name__}"
        )
