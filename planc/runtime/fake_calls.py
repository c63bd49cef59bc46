"""The ground of the fake driver: calls that are recorded and can fail, handles that are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from planc.runtime.driver import DriverFailure, Handle

_OF_OTHERS = ("node", "function")  # belong to a graph or a module and go with it


class FakeCalls:
    """Records calls and keeps handles. ``depth`` counts the contexts pushed and not popped."""

    def __init__(self, fail_at: int | None, error: str, fail_on: dict[str, str]) -> None:
        """Start without handles."""
        self.calls: list[str] = []
        self.depth = 0
        self.fail_at, self.error, self.fail_on = fail_at, error, fail_on
        self._dead: DriverFailure | None = None
        self._handles: dict[int, tuple[str, Any]] = {}
        self._opened = False

    @property
    def dead(self) -> DriverFailure | None:
        """The fault that cost the context."""
        return self._dead

    @property
    def live(self) -> Counter[str]:
        """Handles by kind."""
        return Counter(kind for kind, _ in self._handles.values() if kind not in _OF_OTHERS)

    def open(self) -> None:
        """Retain the context, once."""
        if self._opened:
            return
        for call in ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"):
            self._enter(call)
        self._opened = True

    def _enter(self, call: str) -> None:
        """Record a call, and let it fail where that was asked for."""
        index = len(self.calls)
        self.calls.append(call)
        if self._dead is not None:
            raise DriverFailure(call, self._dead.error, self._dead.text)
        error = self.error if index == self.fail_at else self.fail_on.get(call)
        if error is not None:
            self._fail(call, error, "as the test asked")

    def _fail(self, call: str, error: str, text: str) -> NoReturn:
        failure = DriverFailure(call, error, text)
        if failure.sticky:
            self._dead = failure
        raise failure

    def _new(self, kind: str, payload: Any) -> int:
        handle = 0x1000 + 0x10 * len(self.calls)
        while handle in self._handles:
            handle += 1
        self._handles[handle] = (kind, payload)
        return handle

    def _get(self, call: str, kind: str, handle: Handle) -> Any:
        found = self._handles.get(int(handle))
        if found is None or found[0] != kind:
            self._fail(call, "CUDA_ERROR_INVALID_HANDLE", f"{handle} is no {kind}")
        return found[1]

    def _drop(self, call: str, kind: str, handle: Handle) -> Any:
        self._enter(call)
        payload = self._get(call, kind, handle)
        del self._handles[int(handle)]
        return payload

    @contextmanager
    def current(self) -> Iterator[None]:
        """Push and pop."""
        self._enter("cuCtxPushCurrent")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if self._dead is None:
                self._enter("cuCtxPopCurrent")
