"""Launches in flight: a number for each, an event behind each, and what must live until then."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field

from planc.runtime.driver import Driver, Handle

_MANY = 64  # launches in flight, from which on each new one looks for complete ones
_FIRST_NAP, _LONGEST_NAP = 20e-6, 1e-3  # seconds between two queries


@dataclass(slots=True)
class _Launch:
    number: int
    event: Handle
    waiters: int = 0
    kept: list[object] = field(default_factory=list)


class Flight:
    """Tracks the launches of one stream.

    The context must be current in every method, and the owner's lock held in all but :meth:`wait`. An
    event is used again only when its launch is complete and nobody waits for it.
    """

    def __init__(self, driver: Driver, stream: Handle, lock: threading.RLock) -> None:
        """Start with none in flight."""
        self._driver = driver
        self._stream = stream
        self._lock = lock
        self._launches: deque[_Launch] = deque()
        self._idle: list[Handle] = []
        self._last = 0

    @property
    def last(self) -> int:
        """The number of the latest launch, 0 before the first."""
        return self._last

    def launched(self) -> int:
        """Put an event behind the launch just enqueued and return its number."""
        if len(self._launches) >= _MANY:
            self.reap()
        event = self._idle.pop() if self._idle else self._driver.create_event()
        try:
            self._driver.record(event, self._stream)
        except BaseException:
            self._idle.append(event)
            raise
        self._last += 1
        self._launches.append(_Launch(self._last, event))
        return self._last

    def keep(self, owner: object) -> None:
        """Hold ``owner`` until all launches so far are complete."""
        self.reap()
        if self._launches:
            self._launches[-1].kept.append(owner)

    def reap(self) -> None:
        """Forget the launches that are complete."""
        while self._launches and self._driver.completed(self._launches[0].event):
            self._retire(self._launches.popleft())

    def settle(self) -> None:
        """Forget all launches, the stream having been waited for."""
        while self._launches:
            self._retire(self._launches.popleft())

    def _retire(self, launch: _Launch) -> None:
        launch.kept.clear()
        if not launch.waiters:
            self._idle.append(launch.event)

    def done(self, number: int) -> bool:
        """Whether a launch is complete."""
        if self._launches and self._launches[0].number <= number:
            self.reap()
        return not self._launches or self._launches[0].number > number

    def wait(self, number: int, timeout: float | None) -> bool:
        """Wait for a launch, the lock free meanwhile; return whether it is complete.

        It ends in a blocking wait, if only for an event that is complete: that is what makes the driver
        print what kernels have printed (CUDA programming guide, "Formatted output").
        """
        with self._lock:
            if self.done(number):
                self._flush()
                return True
            launch = next(x for x in self._launches if x.number >= number)
            launch.waiters += 1
        try:
            complete = self._poll(launch.event, timeout)
            if complete:
                self._driver.wait_event(launch.event)
            return complete
        finally:
            with self._lock:
                launch.waiters -= 1
                if not launch.waiters and launch not in self._launches:
                    self._idle.append(launch.event)

    def _flush(self) -> None:
        if self._idle:
            self._driver.wait_event(self._idle[-1])

    def _poll(self, event: Handle, timeout: float | None) -> bool:
        if timeout is None:
            return True
        end, nap = time.monotonic() + timeout, _FIRST_NAP
        while not self._driver.completed(event):
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(nap, left))
            nap = min(2 * nap, _LONGEST_NAP)
        return True

    def take_events(self) -> list[Handle]:
        """Hand over every event, for destruction; nothing is in flight any more."""
        self.settle()
        taken, self._idle = self._idle, []
        return taken
