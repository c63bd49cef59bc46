"""A whole graph file, and a file that another one includes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag

from planc.model.base import Form, Name, Names, Value, Written, text_schema
from planc.model.declarations import Buffer, Global, Kernel, Scalar
from planc.model.nodes import Nodes, SubGraph

LANGUAGE = 1
ORDERS: tuple[str, ...] = ("explicit", "inferred")


class Fragment(Form):
    """A file that ``include:`` names: declarations without nodes."""

    planc: Literal[1] = Field(description="The version of the language.")
    include: Names = Field((), description="Files whose declarations are merged in, relative to this one.")
    symbols: dict[str, Value] = Field({}, description="Named numbers, known when the file is read.")
    scalars: dict[str, Scalar] = Field(
        {}, description="Values for kernel parameters; slots can change later."
    )
    buffers: dict[str, Buffer] = Field({}, description="Arrays in device memory.")
    globals: dict[str, Global] = Field({}, description="Data of `__device__` and `__constant__` variables.")
    kernels: dict[str, Kernel] = Field({}, description="Kernels, by the names that nodes use.")
    graphs: dict[str, SubGraph] = Field({}, description="Sub-graphs, by the names that `use:` takes.")


class GraphFile(Fragment):
    """A graph file."""

    name: Name | None = Field(None, description="The graph's name; default: the file's.")
    order: Literal["explicit", "inferred"] = Field(
        "explicit",
        description="Whether `after:` alone orders nodes, or reads and writes in file order do too.",
    )
    targets: Names = Field((), description="Architectures to compile for, as `sm_90`.")
    may_alias: Annotated[
        tuple[
            Annotated[
                Annotated[Annotated[str, text_schema("A buffer.")], Tag("<text>")]
                | Annotated[tuple[str, ...], Field(strict=False), Tag("<list>")],
                Written,
            ],
            ...,
        ],
        Field(strict=False),
    ] = Field(
        (),
        description="Buffers that may be bound to overlapping memory: one group, or a list of groups.",
    )
    nodes: Nodes = Field(description="What the graph does.")
