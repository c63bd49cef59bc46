"""What can go wrong inside an instruction, before anyone knows which thread and line it was."""

from __future__ import annotations


class AccessFault(Exception):
    """An access that the memory refuses.

    ``kind`` is ``outside``, ``readonly`` or ``misaligned``; ``lane`` the position of the first
    offender in its fragment; ``space`` the state space that ``address`` belongs to.
    """

    def __init__(self, kind: str, lane: int, address: int, size: int, space: str) -> None:
        """Keep the facts."""
        super().__init__(kind, lane, address, size, space)
        self.kind = kind
        self.lane = lane
        self.address = address
        self.size = size
        self.space = space


class Unsupported(Exception):
    """An instruction that the interpreter does not have; ``reason`` goes after "is not supported"."""

    def __init__(self, form: str, reason: str = "", *, code: str = "PLC750") -> None:
        """Keep the form as written."""
        super().__init__(form, reason)
        self.form = form
        self.reason = reason
        self.code = code
