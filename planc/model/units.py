"""Validators of the parts of a graph file, so that one bad part leaves the others to be read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from planc.model.base import Value
from planc.model.declarations import Buffer, Global, Kernel, Scalar
from planc.model.nodes import Node, SubGraph

SECTIONS: tuple[str, ...] = ("symbols", "scalars", "buffers", "globals", "kernels", "graphs")
UNITS: Mapping[str, TypeAdapter[Any]] = MappingProxyType(
    {
        "symbols": TypeAdapter(Value),
        "scalars": TypeAdapter(Scalar),
        "buffers": TypeAdapter(Buffer),
        "globals": TypeAdapter(Global),
        "kernels": TypeAdapter(Kernel),
        "graphs": TypeAdapter(SubGraph),
        "node": TypeAdapter(Node),
    }
)
