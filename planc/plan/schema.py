"""The header's maps: which keys, in which order, of which types, within which bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from planc.plan import limits
from planc.plan.dtypes import DTYPES
from planc.plan.findings import Findings
from planc.plan.program import Role

Kind = Callable[[object, str, Findings], None]
"""Checks one value; the text is its place in the header, for messages."""

ROLE_WORDS = tuple(role.name.lower() for role in Role)
FORMS = ("ptx", "cubin")


def _wrong(found: Findings, place: str, want: str, value: object) -> None:
    found.add("PLC614", f"`{place}` is {_word(value)}, not {want}", place=place)


def _word(value: object) -> str:
    return "nil" if value is None else f"of type {type(value).__name__}"


def text(most: int) -> Kind:
    """Text of at most ``most`` bytes of UTF-8."""

    def check(value: object, place: str, found: Findings) -> None:
        if type(value) is not str:
            _wrong(found, place, "text", value)
        elif len(value.encode("utf-8", "surrogatepass")) > most:
            found.add("PLC603", f"`{place}` is longer than {most} bytes", place=place, limit=most)

    return check


def integer(low: int, high: int) -> Kind:
    """An integer from ``low`` to ``high``, both included."""

    def check(value: object, place: str, found: Findings) -> None:
        if type(value) is not int:
            _wrong(found, place, "an integer", value)
        elif not low <= value <= high:
            found.add("PLC603", f"`{place}` is {value}, outside {low} to {high}", place=place)

    return check


def boolean(value: object, place: str, found: Findings) -> None:
    """True or false."""
    if type(value) is not bool:
        _wrong(found, place, "true or false", value)


def number(value: object, place: str, found: Findings) -> None:
    """An integer, a float or a boolean; which of them fits is the slot's own rule."""
    if type(value) not in (int, float, bool):
        _wrong(found, place, "a number", value)


def optional(kind: Kind) -> Kind:
    """Nil, or what ``kind`` says."""

    def check(value: object, place: str, found: Findings) -> None:
        if value is not None:
            kind(value, place, found)

    return check


def word(*words: str) -> Kind:
    """One of a few words."""

    def check(value: object, place: str, found: Findings) -> None:
        if type(value) is not str:
            _wrong(found, place, "text", value)
        elif value not in words:
            found.add("PLC634", f"`{place}` is `{value[:40]}`, not one of {', '.join(words)}", place=place)

    return check


def listing(kind: Kind, most: int = limits.LIST_ENTRIES, exactly: int | None = None) -> Kind:
    """An array of ``kind``, of at most ``most`` entries or of ``exactly`` so many."""

    def check(value: object, place: str, found: Findings) -> None:
        if type(value) is not list:
            _wrong(found, place, "an array", value)
        elif len(value) > most:
            found.add("PLC603", f"`{place}` has {len(value)} entries, over {most}", place=place, limit=most)
        elif exactly is not None and len(value) != exactly:
            found.add("PLC614", f"`{place}` has {len(value)} entries, not {exactly}", place=place)
        else:
            for index, entry in enumerate(value):
                kind(entry, f"{place}[{index}]", found)

    return check


@dataclass(frozen=True, slots=True)
class Record:
    """A map with exactly these keys in this order."""

    fields: tuple[tuple[str, Kind], ...]

    def __call__(self, value: object, place: str, found: Findings) -> None:
        """Check that ``value`` is such a map."""
        if type(value) is not dict:
            _wrong(found, place, "a map", value)
            return
        wanted = [key for key, _ in self.fields]
        if self._keys(wanted, list(value), place, found):
            for key, kind in self.fields:
                kind(value[key], f"{place}.{key}", found)

    @staticmethod
    def _keys(wanted: list[str], present: list[object], place: str, found: Findings) -> bool:
        if present == wanted:
            return True
        for key in present:
            if key not in wanted:
                found.add("PLC612", f"`{place}` has the unknown key `{key}`", place=place, key=str(key))
        for key in wanted:
            if key not in present:
                found.add("PLC613", f"`{place}` lacks the key `{key}`", place=place, key=key)
        if sorted(map(str, present)) == sorted(wanted):
            found.add("PLC611", f"the keys of `{place}` are not in canonical order", place=place)
        return False


def _record(*fields: tuple[str, Kind]) -> Record:
    return Record(fields)


def _strings(kind: Kind, entries: Iterable[str]) -> Record:
    return Record(tuple((entry, kind) for entry in entries))


_NAME = text(limits.NAME_BYTES)
_SYMBOL = text(limits.SYMBOL_BYTES)
_TEXT = text(limits.TEXT_BYTES)
_DIGEST = text(64)
_DTYPE = word(*DTYPES)
_ROW = integer(0, 0xFFFF_FFFE)
_TARGETS = listing(text(16), limits.TARGETS)
_BYTES = integer(0, (1 << 63) - 1)

BUFFER = _record(
    ("name", _NAME),
    ("dtype", _DTYPE),
    ("shape", listing(integer(1, limits.BUFFER_BYTES), limits.RANK)),
    ("role", word(*ROLE_WORDS)),
    ("nbytes", integer(1, limits.BUFFER_BYTES)),
    ("align", integer(1, limits.BUFFER_ALIGN)),
    ("data", optional(_DIGEST)),
    ("embedded", boolean),
    ("symbol", optional(_record(("module", _ROW), ("name", _SYMBOL)))),
    ("device", integer(0, limits.DEVICES - 1)),
)
SLOT = _record(
    ("name", _NAME),
    ("dtype", _DTYPE),
    ("value", number),
    ("low", optional(number)),
    ("high", optional(number)),
)
IMAGE = _record(("target", text(16)), ("form", word(*FORMS)), ("digest", _DIGEST))
MODULE = _record(("name", _NAME), ("exact", boolean), ("images", listing(IMAGE, 2 * limits.TARGETS)))
PARAMETER = _record(
    ("name", _NAME),
    ("offset", integer(0, limits.PARAMETER_BYTES - 1)),
    ("size", integer(1, limits.PARAMETER_BYTES)),
    ("align", integer(1, limits.PARAMETER_ALIGN)),
    ("pointer", boolean),
    ("dtype", optional(_DTYPE)),
)
FUNCTION = _record(
    ("name", _NAME),
    ("symbol", _SYMBOL),
    ("module", _ROW),
    ("parameters", listing(PARAMETER, limits.PARAMETER_BYTES)),
)
SCHEDULE = _record(
    ("name", _NAME),
    ("targets", _TARGETS),
    ("arena_bytes", integer(0, limits.ARENA_BYTES)),
)
PROGRAM = _record(
    ("name", _NAME),
    ("digest", _DIGEST),
    ("targets", _TARGETS),
    ("devices", integer(1, limits.DEVICES)),
    ("slots", listing(SLOT)),
    ("buffers", listing(BUFFER)),
    ("modules", listing(MODULE)),
    ("functions", listing(FUNCTION)),
    ("may_alias", listing(listing(_ROW, exactly=2))),
    ("memory", _strings(_BYTES, ROLE_WORDS)),
    ("files", listing(_NAME)),
    ("schedules", listing(SCHEDULE, limits.SCHEDULES)),
)
SECTION = _record(("name", text(128)), ("offset", _BYTES), ("length", _BYTES), ("sha256", _DIGEST))
HEADER = _record(
    ("producer", _TEXT),
    ("verdict", _TEXT),
    ("facts", listing(_TEXT)),
    ("program", _DIGEST),
    ("programs", listing(PROGRAM, limits.PROGRAMS)),
    ("sections", listing(SECTION)),
)
