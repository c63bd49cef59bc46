"""The answer of the analysis: effects per parameter and variable, accesses, findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planc.plan.boxes import Box


@dataclass(frozen=True, slots=True)
class AccessRange:
    """One access through one pointer.

    ``kind`` is ``read``, ``write``, ``read-write`` or ``reduce``; ``line`` the PTX line; ``file`` and
    ``source_line`` the CUDA line (``""``, 0 without ``-lineinfo``); ``width`` bytes a thread, 0 where not
    known; ``address`` the byte offset from the pointer as a formula; ``guard`` what the path demands.
    ``may`` is None where any byte may be touched, ``must`` None where no byte surely is. ``is_inside``:
    every byte is shown inside the view.
    ``reason`` says why the range is not known. ``is_own``: no two threads, and no thread in two turns of its
    loops, touch a byte in common.
    """

    kind: str
    line: int
    file: str
    source_line: int
    width: int
    address: str
    guard: str
    may: Box | None
    must: Box | None
    is_inside: bool
    is_aligned: bool = True
    reason: str = ""
    operator: str = ""
    is_cached: bool = False
    calls: tuple[int, ...] = ()
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What a kernel does through one pointer.

    ``kind`` is ``none``, ``read``, ``write``, ``read-write``, ``reduce`` or ``unknown`` (with ``reason``);
    ``may`` covers every byte touched, offsets from the pointer, None where nothing bounds them; ``must`` are
    bytes written for sure; ``is_inside``: every access is shown inside the view, so that the range is proved.
    ``operator`` is that of a reduction, ``add.f32``.
    """

    kind: str
    accesses: tuple[AccessRange, ...] = ()
    may: tuple[Box, ...] | None = ()
    must: tuple[Box, ...] = ()
    is_inside: bool = True
    reason: str = ""
    operator: str = ""

    @property
    def reads(self) -> tuple[AccessRange, ...]:
        """The accesses that read."""
        return tuple(a for a in self.accesses if a.kind != "write")

    @property
    def writes(self) -> tuple[AccessRange, ...]:
        """The accesses that change bytes."""
        return tuple(a for a in self.accesses if a.kind != "read")


@dataclass(frozen=True, slots=True)
class Witness:
    """A thread that does it: ``thread`` and ``block`` are (x, y, z), ``offset`` the byte from the pointer."""

    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    offset: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about an access that an author should know.

    ``kind`` is ``out-of-bounds`` or ``misaligned`` (then ``witness`` is a thread that does it),
    ``not-shown``, ``alignment-not-shown`` or ``cached-load-of-written``. ``target`` is a parameter's byte
    offset or a variable's name; ``guard`` the missing condition, as C.
    """

    kind: str
    target: int | str
    access: AccessRange
    message: str
    guard: str = ""
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class KernelEffects:
    """What one launch of a kernel does.

    ``parameters`` maps the byte offset in the parameter block of each pointer to its effect, ``globals``
    each module variable that the kernel touches. ``external`` lists why a launch has effects beyond memory
    (printing, assertions); ``unknown`` why it may touch anything: then no effect listed here bounds it.
    """

    entry: str
    parameters: Mapping[int, Effect]
    globals: Mapping[str, Effect] = field(default_factory=dict)
    external: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
