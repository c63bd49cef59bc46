"""What the walk over a kernel hands on: every access to memory with the forms of its address."""

from __future__ import annotations

from dataclasses import dataclass

from planc.effects.forms import Form
from planc.effects.state import Domain
from planc.ptx.syntax import Instruction


@dataclass(frozen=True, slots=True)
class Touch:
    """How an instruction touches memory.

    ``kind`` is ``read``, ``write``, ``read-write`` or ``reduce``.
    ``width`` is in bytes, 0 where not known; ``align`` what the instruction demands of its address.
    ``operator`` is ``add.f32`` for a reduction. ``is_cached``: a ``.nc`` load. ``reason`` says why the range
    is not known.
    ``is_certain`` is false where a thread may come here and yet touch fewer bytes.
    """

    kind: str
    width: int
    align: int = 1
    operator: str = ""
    is_cached: bool = False
    reason: str = ""
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class RawAccess:
    """One access as met: the address, the facts on the path, the exact domain where there is one.

    ``turns`` are the counters of the loops around; ``calls`` the call instructions on the way.
    """

    instruction: Instruction
    touch: Touch
    form: Form
    facts: tuple[Form, ...]
    domain: Domain
    turns: tuple[int, ...]
    calls: tuple[Instruction, ...] = ()
