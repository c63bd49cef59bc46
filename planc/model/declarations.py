"""What a graph file declares: scalars, buffers, globals and kernels."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Tag, WithJsonSchema

from planc.model.base import (
    DTYPE,
    NAME,
    ROLES,
    Dims,
    DTypeName,
    Form,
    Name,
    Value,
    Whole,
    Written,
    text_schema,
)

Role = Literal["input", "output", "inout", "constant", "state", "scratch"]
Effect = Literal["in", "out", "inout", "reduce"]


class ScalarLong(Form):
    """A scalar in its long form; short: ``alpha: f32 slot = 0.1 in [0, 1]``."""

    dtype: DTypeName = Field(description="Element type.")
    value: Value = Field(description="The value; of a slot, the value until the service gives another.")
    slot: bool = Field(False, description="Whether the service may change the value between replays.")
    range: Annotated[tuple[Value, Value], Field(strict=False)] | None = Field(
        None, description="Least and greatest value that a slot takes; without it, the type's."
    )


ScalarShort = Annotated[
    str,
    text_schema(
        "TYPE [slot] = VALUE [in [LOW, HIGH]]",
        rf"^\s*{DTYPE}(\s+slot)?\s*=",
        "f32 slot = 0.1 in [0, 1]",
        "i32 = nx * ny",
    ),
]
Scalar = Annotated[Annotated[ScalarShort, Tag("<text>")] | Annotated[ScalarLong, Tag("<mapping>")], Written]


class DataFile(Form):
    """Bytes from a file; short: ``weights.npz:w1``."""

    file: str = Field(
        description="A `.npy`, `.npz` or `.safetensors` file, relative to the file that names it."
    )
    member: str | None = Field(None, description="The array's name in a `.npz` or `.safetensors` file.")


# Nested lists of any depth; the reader of literals checks what stands in them.
Item = Annotated[
    Any,
    WithJsonSchema({"type": ["boolean", "number", "string", "array"], "description": "A value or a list."}),
]
Data = Annotated[
    Annotated[bool, Tag("<bool>")]
    | Annotated[int | float, Tag("<number>")]
    | Annotated[
        Annotated[
            str,
            text_schema(
                "FILE, FILE:MEMBER, an expression or a list of them.", "", "weights.npz:w1", "[1, 2]"
            ),
        ],
        Tag("<text>"),
    ]
    | Annotated[tuple[Item, ...], Field(strict=False), Tag("<list>")]
    | Annotated[DataFile, Tag("<mapping>")],
    Written,
]
Shape = Annotated[
    Annotated[int, Tag("<number>")]
    | Annotated[Annotated[str, text_schema("Extents with commas.", "", "ny, nx")], Tag("<text>")]
    | Annotated[tuple[Whole, ...], Field(strict=False), Tag("<list>")],
    Written,
]


class BufferLong(Form):
    """A buffer in its long form; short: ``w: f32[64, 32] constant = weights.npz:w1``."""

    dtype: DTypeName = Field(description="Element type.")
    shape: Shape = Field(
        description="Extents in elements, slowest axis first (C order); `[]` is one element."
    )
    role: Role = Field("scratch", description="What the buffer is for; `scratch` lives in the plan's arena.")
    data: Data | None = Field(
        None, description="The bytes of a constant: a file, a list, or one number for all."
    )
    embed: bool | None = Field(
        None, description="Whether the plan holds the bytes (default: below 1 MiB) or only their digest."
    )
    align: Whole | None = Field(None, description="Alignment in bytes, a power of two; default 256.")
    inplace: bool = Field(
        False,
        description="Whether one node may read and write overlapping parts of it through two arguments.",
    )


BufferShort = Annotated[
    str,
    text_schema(
        "TYPE[SHAPE] [ROLE] [= DATA]",
        rf"^\s*{DTYPE}\s*\[.*\]\s*({'|'.join(ROLES)})?\s*(=.*)?$",
        "f32[ny, nx] inout",
        "f32[64, 32] constant = weights.npz:w1",
    ),
]
Buffer = Annotated[Annotated[BufferShort, Tag("<text>")] | Annotated[BufferLong, Tag("<mapping>")], Written]


class GlobalLong(Form):
    """Data of a ``__device__`` or ``__constant__`` variable; short: ``lut: f32[256] of step = lut.npy``."""

    kernel: Name = Field(description="A kernel whose module has the variable.")
    dtype: DTypeName = Field(description="Element type.")
    shape: Shape = Field(description="Extents in elements; `[]` is one element.")
    data: Data | None = Field(None, description="Its first content; without it, what the module says.")
    embed: bool | None = Field(None, description="Whether the plan holds the bytes or only their digest.")


GlobalShort = Annotated[
    str,
    text_schema(
        "TYPE[SHAPE] of KERNEL [= DATA]",
        rf"^\s*{DTYPE}\s*\[.*\]\s*of\s+{NAME}\s*(=.*)?$",
        "f32[256] of step = lut.npy",
    ),
]
Global = Annotated[Annotated[GlobalShort, Tag("<text>")] | Annotated[GlobalLong, Tag("<mapping>")], Written]


class ParameterLong(Form):
    """A kernel parameter; short: ``in f32* src``."""

    name: Name = Field(description="Its name, by which arguments are given.")
    type: Annotated[str, text_schema("An element type, with `*` for a pointer.", "", "f32", "f32*")] = Field(
        description="An element type, with `*` for a pointer; `void*` points to bytes of no known type."
    )
    effect: Effect | None = Field(None, description="What the kernel does through a pointer.")


class EntryLong(Form):
    """A kernel's function; short: ``heat_step(in f32* src, out f32* dst, f32 alpha)``."""

    name: str = Field(description="The function, with template arguments if it has any: `gemm<float, 32>`.")
    parameters: (
        Annotated[
            tuple[
                Annotated[
                    Annotated[
                        Annotated[str, text_schema("[EFFECT] TYPE[*] NAME", "", "in f32* src")], Tag("<text>")
                    ]
                    | Annotated[ParameterLong, Tag("<mapping>")],
                    Written,
                ],
                ...,
            ],
            Field(strict=False),
        ]
        | None
    ) = Field(None, description="All parameters in order; without it, they are read from the source.")


Entry = Annotated[
    Annotated[
        Annotated[
            str,
            text_schema(
                "NAME, or NAME(PARAMETERS) with effects on pointers.",
                "",
                "heat_step(in f32* src, out f32* dst, f32 alpha, i32 nx)",
                "gemm<float, 32>",
            ),
        ],
        Tag("<text>"),
    ]
    | Annotated[EntryLong, Tag("<mapping>")],
    Written,
]


class DefineLong(Form):
    """A define whose value is computed; short: ``TILE: = 2 * tile``."""

    expression: Value = Field(description="An expression over symbols.")


Define = Annotated[
    Annotated[bool, Tag("<bool>")]
    | Annotated[int | float, Tag("<number>")]
    | Annotated[
        Annotated[str, text_schema("C text as it stands; after a leading `=`, an expression over symbols.")],
        Tag("<text>"),
    ]
    | Annotated[DefineLong, Tag("<mapping>")],
    Written,
]


class Kernel(Form):
    """A kernel: where its code is, which function, and how it is launched."""

    source: str | None = Field(None, description="A CUDA C++ file, relative to the file that names it.")
    ptx: str | None = Field(None, description="A PTX file.")
    cubin: str | None = Field(None, description="A cubin file; its effects cannot be proved.")
    entry: Entry = Field(description="The `__global__` function and its parameters.")
    block: Dims | None = Field(None, description="Threads in a block.")
    grid: Dims | None = Field(None, description="Blocks in the grid.")
    cover: Dims | None = Field(None, description="Elements to cover: grid = ceildiv(cover, block).")
    shared: Whole = Field(0, description="Dynamic shared memory in bytes.")
    defines: dict[str, Define] = Field({}, description="Macros for the compiler.")
    include_dirs: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description="Folders for `#include`, relative to the file that names them."
    )
    options: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description="Further options for the compiler."
    )
    exact: bool = Field(
        False, description="Forbid contraction to fused multiply-add, so that CPU and GPU agree bit for bit."
    )
    inplace: bool = Field(
        False, description="Whether what it reads may overlap what it writes in one launch."
    )
