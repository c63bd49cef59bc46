"""Tickets: the answer to one replay."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from planc.diagnostics import Diagnostic, ReplayError
from planc.runtime.device import Instance

_NAP = 5e-4  # seconds between two looks of an `await`


class Ticket:
    """One replay. Owns nothing: it may be dropped, kept, or asked after close.

    ``number`` counts the replays of its executable from 1.
    """

    __slots__ = ("_instance", "number")

    def __init__(self, instance: Instance, number: int) -> None:
        """Made by ``Executable.replay``."""
        self._instance = instance
        self.number = number

    @property
    def done(self) -> bool:
        """Whether the replay is complete. Raises :class:`DeviceError` where the device failed in it."""
        return self._instance.done(self.number)

    def wait(self, timeout: float | None = None) -> Ticket:
        """Wait for the replay, at most ``timeout`` seconds, and return the ticket.

        Raises :class:`DeviceError` where the device failed, :class:`ReplayError` PLC733 where time ran out.
        """
        if not self._instance.wait(self.number, timeout):
            raise ReplayError(
                Diagnostic(
                    "PLC733",
                    f"replay {self.number} is not complete after {timeout} s",
                    help="wait longer; the replay goes on",
                    facts={"replay": self.number, "timeout": timeout},
                )
            )
        return self

    def __await__(self) -> Generator[Any, None, Ticket]:
        """Let other coroutines run until the replay is complete."""
        import asyncio

        while not self.done:
            yield from asyncio.sleep(_NAP).__await__()
        return self.wait()

    def __repr__(self) -> str:
        """Name the replay."""
        return f"<Ticket of replay {self.number}>"
