"""planc: compile a written description of a GPU graph into a plan, and replay it.

The service side needs only the base install: :func:`load`. The author's side (``planc[author]``)
adds :func:`check`, :func:`compile`, :func:`trace`, :func:`shuffle` and :class:`Graph`. Names are
imported on first use, so that ``import planc`` alone is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planc.api import check, compile
    from planc.plan import read, write
    from planc.runtime import load
    from planc.source import Graph
    from planc.tracing_api import shuffle, trace

__version__ = "0.1.0"

_HOMES = {
    "Graph": "planc.source",
    "check": "planc.api",
    "compile": "planc.api",
    "load": "planc.runtime",
    "read": "planc.plan",
    "shuffle": "planc.tracing_api",
    "trace": "planc.tracing_api",
    "write": "planc.plan",
}

__all__ = ["Graph", "check", "compile", "load", "read", "shuffle", "trace", "write"]


def __getattr__(name: str) -> Any:
    """Import a public name from the folder that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'planc' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
