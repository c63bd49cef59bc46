"""Tests on an NVIDIA GPU: marked ``gpu``, and skipped only where there is no driver."""

from __future__ import annotations

import pytest

from planc.runtime.cuda import primary_context
from planc.runtime.driver import DriverFailure


def _absent() -> str:
    try:
        primary_context(0)
    except DriverFailure as failure:
        return str(failure)
    return ""


@pytest.fixture(scope="session", autouse=True)
def gpu() -> None:
    """Skip where there is no driver or no GPU."""
    reason = _absent()
    if reason:
        pytest.skip(reason)
