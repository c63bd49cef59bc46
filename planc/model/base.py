"""What every form of the description language shares: strictness, and how a value was written.

A value that has a short form and a long one is a union told apart by the type that stands in the
file. Its tags are the words in angle brackets below, so that they can never be a key of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from planc.plan.dtypes import DTYPES

NAME = "[A-Za-z_][A-Za-z0-9_]*"
DTYPE_NAMES: tuple[str, ...] = tuple(DTYPES)
DTYPE = "(?:" + "|".join(DTYPE_NAMES) + ")"
ROLES: tuple[str, ...] = ("input", "output", "inout", "constant", "state", "scratch")

_TAGS: Mapping[type, str] = {
    bool: "<bool>",
    int: "<number>",
    float: "<number>",
    str: "<text>",
    list: "<list>",
    tuple: "<list>",
    dict: "<mapping>",
}


class Form(BaseModel):
    """A mapping of the language: its keys are exactly the fields, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def written_as(value: Any) -> str | None:
    """Return the tag of the way ``value`` was written, or None for null and what no file can hold."""
    tag = _TAGS.get(type(value))
    if tag is None and isinstance(value, Mapping | Form):
        return "<mapping>"
    return tag


def text_schema(description: str, pattern: str = "", *examples: str) -> WithJsonSchema:
    """Return the JSON Schema of a text; ``pattern`` guides editors, planc's own reader says more."""
    schema: dict[str, Any] = {"type": "string", "description": description}
    if pattern:
        schema["pattern"] = pattern
    if examples:
        schema["examples"] = list(examples)
    return WithJsonSchema(schema)


Written = Discriminator(written_as)

Name = Annotated[
    str, text_schema("A name: letters, digits and `_`, not beginning with a digit.", f"^{NAME}$")
]
DTypeName = Annotated[
    str, WithJsonSchema({"enum": list(DTYPE_NAMES), "description": "An element type.", "type": "string"})
]
Expression = Annotated[
    str,
    text_schema(
        "An expression over symbols, loop variables and parameters.", "", "nx // 2", "ceildiv(n, 32)"
    ),
]
Value = Annotated[
    Annotated[bool, Tag("<bool>")]
    | Annotated[int | float, Tag("<number>")]
    | Annotated[Expression, Tag("<text>")],
    Written,
]
Whole = Annotated[Annotated[int, Tag("<number>")] | Annotated[Expression, Tag("<text>")], Written]


class DimsLong(Form):
    """Up to three extents by axis."""

    x: Whole = Field(description="Extent along x, the fastest axis of thread and block indices.")
    y: Whole = Field(1, description="Extent along y.")
    z: Whole = Field(1, description="Extent along z.")


Dims = Annotated[
    Annotated[int, Tag("<number>")]
    | Annotated[
        Annotated[str, text_schema("One to three extents with commas: x, y, z.", "", "256", "32, 8")],
        Tag("<text>"),
    ]
    | Annotated[tuple[Whole, ...], Field(strict=False, min_length=1, max_length=3), Tag("<list>")]
    | Annotated[DimsLong, Tag("<mapping>")],
    Written,
]
Names = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[tuple[str, ...], Field(strict=False), Tag("<list>")], Written
]
