"""Pipelines as text: ``reduce,lanes{width=16},arena{memory=tight,effort=0}``, read and printed back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planc.diagnostics import Collector, Diagnostic
from planc.graph import closest
from planc.passes.base import Option, Pass, Value, changed, options

_ITEM = re.compile(r"([^\s,{}=]+)(?:\{([^{}]*)\})?(,|$)")
_SHAPE = "write passes with commas between them, options in braces: `lanes{width=16},reduce`"


def render(pipeline: tuple[Pass, ...]) -> str:
    """Return the text of a pipeline: each pass with the options that are not at their defaults."""
    return ",".join(_render_pass(item) for item in pipeline)


def _render_pass(item: Pass) -> str:
    inside = ",".join(f"{name}={value}" for name, value in changed(item).items())
    return item.name + (f"{{{inside}}}" if inside else "")


def parse(text: str, kinds: Mapping[str, type[Any]]) -> tuple[Pass, ...]:
    """Return the passes that ``text`` names, of the classes in ``kinds`` by name. Spaces mean nothing.

    Raises :class:`planc.diagnostics.GraphError` with everything that is wrong: PLC590 for the shape of the
    text, PLC591 for a pass and PLC592 for an option that there is not, PLC593 for an option's value.
    """
    collector = Collector()
    passes = tuple(_parse_pass(*item, kinds, collector) for item in _items(text, collector))
    collector.raise_errors()
    return tuple(item for item in passes if item is not None)


def _items(text: str, collector: Collector) -> Iterator[tuple[str, str]]:
    """Yield (name, text of the options); the first piece that is none ends it."""
    packed = "".join(text.split())
    at = 0
    while at < len(packed):
        match = _ITEM.match(packed, at)
        if match is None or (match[3] and match.end() == len(packed)):
            rest = packed[at : at + 24]
            collector.add(
                Diagnostic(
                    "PLC590",
                    f"the text of the passes cannot be read from `{rest}`",
                    help=_SHAPE,
                    facts={"pipeline": text, "place": at},
                )
            )
            return
        yield match[1], match[2] or ""
        at = match.end()


def _parse_pass(name: str, inside: str, kinds: Mapping[str, type[Any]], collector: Collector) -> Pass | None:
    if name not in kinds:
        near = closest(name, kinds)
        known = ", ".join(f"`{k}`" for k in kinds)
        cure = f"perhaps `{near}`; the passes are {known}" if near else f"the passes are {known}"
        collector.add(Diagnostic("PLC591", f"no pass is called `{name}`", help=cure, facts={"pass": name}))
        return None
    values = dict(_values(name, inside, options(kinds[name]), collector))
    item: Pass = kinds[name](**values)
    return item


def _values(
    name: str, inside: str, known: Mapping[str, Option], collector: Collector
) -> Iterator[tuple[str, Value]]:
    seen: set[str] = set()
    for piece in inside.split(",") if inside else ():
        key, sign, text = piece.partition("=")
        facts = {"pass": name, "option": key}
        if not sign or key in seen:
            message = f"`{piece}` is no option of `{name}`" if not sign else f"`{name}` has `{key}` twice"
            collector.add(Diagnostic("PLC590", message, help=_SHAPE, facts=facts))
        elif key not in known:
            collector.add(_unknown_option(name, key, known))
        elif (value := known[key].read(text)) is None:
            message = f"`{key}` of `{name}` cannot be `{text}`"
            collector.add(Diagnostic("PLC593", message, help=f"give {known[key].meaning}", facts=facts))
        else:
            yield key, value
        seen.add(key)


def _unknown_option(name: str, key: str, known: Mapping[str, Option]) -> Diagnostic:
    those = ", ".join(f"`{k}`" for k in known)
    cure = f"its options are {those}" if known else "it has none"
    message = f"`{name}` has no option `{key}`"
    return Diagnostic("PLC592", message, help=cure, facts={"pass": name, "option": key})
