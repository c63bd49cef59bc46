"""One source for one target: exact PTX and the cubin made from it, from the cache or compiled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack

from planc import ptx as ptx_text
from planc.diagnostics import GraphError
from planc.kernels.cache import Cache
from planc.kernels.linker import link_cubin
from planc.kernels.nvrtc import compile_ptx
from planc.kernels.options import CompilerOptions
from planc.kernels.sources import SourceSet
from planc.kernels.target import Target
from planc.kernels.toolkit import Toolkit
from planc.ptx.syntax import Module

CACHE_VERSION = 2
"""Raised when planc itself changes what it makes from the same source."""

_LARGE_PARAMETERS = 4_096
_LARGE_PARAMETERS_SINCE = (8, 1)


@dataclass(frozen=True, slots=True)
class Built:
    """What one target got. ``ptx`` or ``cubin`` is None where that step failed or was not done.

    ``names`` map template instances to symbols. The logs are the tools' own words.
    """

    ptx: str | None
    cubin: bytes | None
    names: Mapping[str, str]
    compiler_log: str
    linker_log: str
    linked: bool

    @property
    def complete(self) -> bool:
        """Whether every step that was due succeeded."""
        return self.ptx is not None and (self.cubin is not None or not self.linked)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A source with everything that is the same for all targets."""

    sources: SourceSet
    options: CompilerOptions
    expressions: tuple[str, ...]
    exact: bool


def build_source(recipe: Recipe, target: Target, toolkit: Toolkit, cache: Cache | None) -> Built:
    """Compile and link ``recipe`` for ``target``. Raises RuntimeError where a tool itself fails.

    Also raises GraphError where planc cannot read the PTX that the compiler made.
    """
    return _cached(cache, _source_key(recipe, target, toolkit), lambda: _compile(recipe, target, toolkit))


def build_ptx(
    ptx: str, label: str, registers: int | None, target: Target, toolkit: Toolkit, cache: Cache | None
) -> Built:
    """Link PTX as it is for ``target``; without a linker there is only the PTX."""
    if toolkit.nvjitlink is None:
        return Built(ptx, None, {}, "", "", False)
    parts = ["ptx", ptx, label, registers, target.real, toolkit.linker]
    return _cached(cache, _key(parts), lambda: _link(ptx, label, registers, target))


def _cached(cache: Cache | None, key: str, make: Any) -> Built:
    stored = cache.load(key) if cache is not None else None
    found = _unpack(stored) if stored is not None else None
    if found is not None:
        return found
    built: Built = make()
    if cache is not None and built.complete:
        cache.store(key, _pack(built))
    return built


def _key(parts: Sequence[Any]) -> str:
    text = json.dumps([CACHE_VERSION, *parts], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _source_key(recipe: Recipe, target: Target, toolkit: Toolkit) -> str:
    """Hash exactly what the compiler is given; the wheels' headers count by their version."""
    sources = recipe.sources
    headers = [(n, _digest(t)) for n, t in sources.headers.items() if n not in sources.cuda]
    return _key(
        [
            "source",
            sources.main.name,
            _digest(sources.text),
            headers,
            sorted(sources.cuda),
            recipe.options.for_target(target.virtual),
            recipe.expressions,
            recipe.exact,
            target.real,
            toolkit.compiler,
            toolkit.linker,
        ]
    )


def _compile(recipe: Recipe, target: Target, toolkit: Toolkit) -> Built:
    flags = recipe.options.for_target(target.virtual)
    compiled = compile_ptx(recipe.sources, flags, recipe.expressions, toolkit.include)
    if compiled.ptx is None:
        return Built(None, None, {}, compiled.log, "", False)
    name = recipe.sources.main.name
    module = ptx_text.parse(compiled.ptx, f"{name} ({target.real})")
    newest = ptx_text.make_exact(compiled.ptx) if recipe.exact else compiled.ptx
    lowest = ptx_text.with_version(newest, _needed_version(module))
    if toolkit.nvjitlink is None:
        return Built(lowest, None, compiled.names, compiled.log, "", False)
    # Should the linker find the lowest version too low after all, the compiler's own one stands.
    for ptx in (lowest, newest):
        linked = link_cubin(ptx, name, target.real, recipe.options.registers)
        if linked.cubin is not None:
            break
    return Built(ptx, linked.cubin, compiled.names, compiled.log, linked.log, True)


def _link(ptx: str, label: str, registers: int | None, target: Target) -> Built:
    linked = link_cubin(ptx, label, target.real, registers)
    return Built(ptx, linked.cubin, {}, "", linked.log, True)


def _needed_version(module: Module) -> tuple[int, int]:
    needed = ptx_text.lowest_version(module)
    if any(p.offset + p.size > _LARGE_PARAMETERS for f in module.entries for p in f.parameters):
        needed = max(needed, _LARGE_PARAMETERS_SINCE)
    return needed


def _pack(built: Built) -> bytes:
    packed = msgpack.packb(
        {
            "ptx": (built.ptx or "").encode("utf-8", "surrogateescape"),
            "cubin": built.cubin,
            "names": dict(built.names),
            "compiler": built.compiler_log,
            "linker": built.linker_log,
            "linked": built.linked,
        },
        unicode_errors="surrogateescape",
    )
    return bytes(packed)


_FIELDS: Mapping[str, tuple[type, ...]] = {
    "ptx": (bytes,),
    "cubin": (bytes, type(None)),
    "names": (dict,),
    "compiler": (str,),
    "linker": (str,),
    "linked": (bool,),
}


def _unpack(data: bytes) -> Built | None:
    """Read an entry; None for one that is not of this shape (another version of planc wrote it)."""
    try:
        value = msgpack.unpackb(data, unicode_errors="surrogateescape")
    except (ValueError, msgpack.UnpackException):
        return None
    if not isinstance(value, dict) or value.keys() != _FIELDS.keys():
        return None
    if not all(isinstance(value[name], kinds) for name, kinds in _FIELDS.items()):
        return None
    ptx = value["ptx"].decode("utf-8", "surrogateescape")
    logs = value["compiler"], value["linker"]
    return Built(ptx, value["cubin"], value["names"], *logs, value["linked"])


def parse_stored(ptx: str, label: str) -> Module | GraphError:
    """Parse PTX, giving back what it refuses instead of raising it."""
    try:
        return ptx_text.parse(ptx, label)
    except GraphError as error:
        return error
