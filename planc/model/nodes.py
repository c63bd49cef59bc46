"""The nodes of a graph file, one form for each operation, and sub-graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from planc.model.base import NAME, Dims, Form, Name, Value, Whole, Written, text_schema

OPERATIONS: tuple[str, ...] = ("run", "fill", "copy", "join", "for", "use")
PARAMETER_KINDS: tuple[str, ...] = ("buffer", "scalar", "int", "float", "bool")

Id = Annotated[
    str, text_schema("NAME, or NAME[LOOP VARIABLES] inside loops.", rf"^\s*{NAME}\s*(\[.*\])?\s*$", "fwd[t]")
]
After = Annotated[
    Annotated[
        Annotated[
            str, text_schema("References to nodes with commas.", "", "seed, back[t-1]", "back[:]", "r1.last")
        ],
        Tag("<text>"),
    ]
    | Annotated[tuple[str, ...], Field(strict=False), Tag("<list>")],
    Written,
]
View = Annotated[str, text_schema("BUFFER or BUFFER[INDICES], as in NumPy.", "", "u", "u[1:-1, :]")]


class RunLong(Form):
    """A launch in its long form; short: ``run: step(src=u, dst=v[1:-1, :], alpha=0.5)``."""

    kernel: Name = Field(description="A kernel of the file.")
    arguments: dict[str, Value] = Field(
        {},
        description="Arguments by parameter: a view, a scalar or an expression; missing ones bind by name.",
    )


class FillLong(Form):
    """A fill in its long form; short: ``fill: v[0:16] = 0`` or ``fill: v = 0xFFFF as u16``."""

    target: View = Field(description="What is filled.")
    value: Value | None = Field(None, description="A value of the buffer's element type.")
    pattern: Whole | None = Field(None, description="Raw bytes as an unsigned integer, instead of a value.")
    item: Literal[1, 2, 4] | None = Field(None, description="How many bytes the pattern has.")


class CopyLong(Form):
    """A copy in its long form; short: ``copy: v <- u``."""

    target: View = Field(description="What is written.")
    source: View = Field(description="What is read.")


class ForLong(Form):
    """A loop's head in its long form; short: ``for: t in range(pairs)``."""

    variable: Name = Field(description="The loop variable.")
    start: Whole = Field(0, description="Its first value.")
    stop: Whole = Field(description="The first value it does not take.")
    step: Whole = Field(1, description="What is added each time; not zero.")


class UseLong(Form):
    """An instance of a sub-graph in its long form; short: ``use: relax(src=u, dst=v, n=4)``."""

    graph: Name = Field(description="A sub-graph under `graphs:`.")
    arguments: dict[str, Value] = Field({}, description="Arguments by parameter.")


class _Named(Form):
    id: Id | None = Field(None, description="The node's name; in a loop with the loop's variable: `fwd[t]`.")
    after: After | None = Field(None, description="The nodes that must be done before.")


class RunNode(_Named):
    """Launches a kernel."""

    run: Annotated[
        Annotated[
            Annotated[str, text_schema("KERNEL(ARGUMENTS)", rf"^\s*{NAME}\s*\(", "step(src=u, dst=v)")],
            Tag("<text>"),
        ]
        | Annotated[RunLong, Tag("<mapping>")],
        Written,
    ] = Field(description="The kernel and its arguments.")
    grid: Dims | None = Field(None, description="Blocks in the grid, instead of the kernel's.")
    cover: Dims | None = Field(None, description="Elements to cover, instead of the kernel's.")
    block: Dims | None = Field(None, description="Threads in a block, instead of the kernel's.")
    shared: Whole | None = Field(None, description="Dynamic shared memory in bytes, instead of the kernel's.")


class FillNode(_Named):
    """Sets every element of a view to one value."""

    fill: Annotated[
        Annotated[
            Annotated[
                str, text_schema("VIEW = VALUE, or VIEW = PATTERN as u8, u16 or u32", "=", "v[0:16] = 0")
            ],
            Tag("<text>"),
        ]
        | Annotated[FillLong, Tag("<mapping>")],
        Written,
    ] = Field(description="What is filled, and with what.")


class CopyNode(_Named):
    """Copies one view to another of the same shape and element type."""

    copy_: Annotated[
        Annotated[Annotated[str, text_schema("TARGET <- SOURCE", "<-", "v <- u[0:16]")], Tag("<text>")]
        | Annotated[CopyLong, Tag("<mapping>")],
        Written,
    ] = Field(alias="copy", description="Target and source.")


class JoinNode(_Named):
    """Does nothing itself: a name for the moment when everything in ``after`` is done."""

    join: Literal[True] = Field(description="Always `true`.")


class ForNode(Form):
    """Repeats its nodes, unrolled when the file is read."""

    for_: Annotated[
        Annotated[
            Annotated[
                str, text_schema("VARIABLE in range(...)", rf"^\s*{NAME}\s+in\s+range\s*\(", "t in range(8)")
            ],
            Tag("<text>"),
        ]
        | Annotated[ForLong, Tag("<mapping>")],
        Written,
    ] = Field(alias="for", description="The loop variable and its values.")
    nodes: Nodes = Field(description="The nodes to repeat.")


class UseNode(_Named):
    """Puts a sub-graph here; its nodes are named ``id.name``."""

    use: Annotated[
        Annotated[
            Annotated[
                str, text_schema("SUBGRAPH(ARGUMENTS)", rf"^\s*{NAME}\s*\(", "relax(src=u, dst=v, n=4)")
            ],
            Tag("<text>"),
        ]
        | Annotated[UseLong, Tag("<mapping>")],
        Written,
    ] = Field(description="The sub-graph and its arguments.")


def _operation(value: Any) -> str | None:
    if isinstance(value, Form):
        return next((tag for tag, form in _FORMS.items() if type(value) is form), None)
    if not isinstance(value, Mapping):
        return None
    return next((f"<{name}>" for name in OPERATIONS if name in value), None)


_FORMS: Mapping[str, type[Form]] = {
    "<run>": RunNode,
    "<fill>": FillNode,
    "<copy>": CopyNode,
    "<join>": JoinNode,
    "<for>": ForNode,
    "<use>": UseNode,
}

Node = Annotated[
    Annotated[RunNode, Tag("<run>")]
    | Annotated[FillNode, Tag("<fill>")]
    | Annotated[CopyNode, Tag("<copy>")]
    | Annotated[JoinNode, Tag("<join>")]
    | Annotated[ForNode, Tag("<for>")]
    | Annotated[UseNode, Tag("<use>")],
    Discriminator(_operation),
]
Nodes = TypeAliasType("Nodes", Annotated[tuple[Node, ...], Field(strict=False)])


class ParameterKindLong(Form):
    """A parameter of a sub-graph in its long form; short: ``n: int = 4``."""

    kind: Literal["buffer", "scalar", "int", "float", "bool"] = Field(
        description="What the parameter stands for."
    )
    default: Value | None = Field(
        None, description="The value when an instance gives none (not for buffers)."
    )


ParameterKind = Annotated[
    Annotated[
        Annotated[
            str,
            text_schema(
                "KIND [= DEFAULT]", rf"^\s*({'|'.join(PARAMETER_KINDS)})\s*(=.*)?$", "buffer", "int = 4"
            ),
        ],
        Tag("<text>"),
    ]
    | Annotated[ParameterKindLong, Tag("<mapping>")],
    Written,
]


class SubGraph(Form):
    """Nodes with parameters, put into the graph by ``use:``."""

    parameters: dict[str, ParameterKind] = Field(
        {}, description="Its parameters, in order, each with its kind."
    )
    nodes: Nodes = Field(description="Its nodes; they see its parameters and everything the file declares.")


ForNode.model_rebuild()
