"""One kernel's parameters: the author's declaration checked against the source and the PTX.

The PTX has offsets, widths and alignment; the ``__global__`` declaration has names, element types, signedness
and const; the graph file has the effects, and everything else where there is no source to ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

from planc.diagnostics import Related, Span
from planc.graph.report import Reporter
from planc.kernels.artifact import EntryParameter, KernelArtifact, SourceParameter
from planc.plan.dtypes import DTYPES, DType
from planc.plan.program import FunctionParameter
from planc.source.flat import DeclaredParameter, FlatKernel

POINTER_BYTES = 8

_VECTORS: Mapping[str, str] = MappingProxyType(
    {
        "char": "i8",
        "uchar": "u8",
        "short": "i16",
        "ushort": "u16",
        "int": "i32",
        "uint": "u32",
        "longlong": "i64",
        "ulonglong": "u64",
        "float": "f32",
        "double": "f64",
    }
)
_VECTOR = re.compile(r"\b(u?char|u?short|u?int|u?longlong|float|double)([124])(?:_(16|32)a)?\b")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, settled. ``dtype`` None: a pointer to anything, or a struct.

    ``alignment`` is what a pointer's address must be a multiple of, in bytes (16 for ``float4*``).
    """

    index: int
    name: str
    offset: int
    size: int
    align: int
    pointer: bool
    dtype: DType | None
    effect: str | None
    alignment: int

    def row(self) -> FunctionParameter:
        """Return the row of Function.parameters."""
        dtype = None if self.dtype is None else self.dtype.name
        return FunctionParameter(self.name, self.offset, self.size, self.align, self.pointer, dtype)


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel that nodes can run: its parameters in order."""

    kernel: FlatKernel
    artifact: KernelArtifact
    parameters: tuple[Parameter, ...]
    blob_size: int

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameters' names in order."""
        return tuple(p.name for p in self.parameters)


def build_signature(
    kernel: FlatKernel, artifact: KernelArtifact, folder: str, reporter: Reporter
) -> Signature | None:
    """Return the settled parameters, or report PLC458 to PLC465 and return None.

    ``folder`` is the graph file's folder as a person types it, for places in the kernel's source.
    """
    before = reporter.errors
    entry = artifact.parameters
    declared = kernel.parameters
    source = artifact.source_parameters
    if source is not None and len(source) != len(entry):
        source = None
    if not _counts_agree(kernel, entry, source, reporter):
        return None
    check = _Check(kernel, folder, reporter, has_ptx(artifact))
    parameters = [
        check.parameter(index, raw, mine, theirs)
        for index, (raw, mine, theirs) in enumerate(zip_longest(entry, declared or (), source or ()))
    ]
    if reporter.errors > before:
        return None
    size = max((p.offset + p.size for p in entry), default=0)
    return Signature(kernel, artifact, tuple(parameters), size)


def _counts_agree(
    kernel: FlatKernel,
    entry: tuple[EntryParameter, ...],
    source: tuple[SourceParameter, ...] | None,
    reporter: Reporter,
) -> bool:
    declared = kernel.parameters
    if declared is None or len(declared) == len(entry):
        return True
    names = "" if source is None else " (" + ", ".join(f"`{p.name}`" for p in source) + ")"
    reporter.add(
        "PLC458",
        f"kernel `{kernel.name}` is declared with {_count(len(declared))}, and it has {len(entry)}{names}",
        kernel.entry_span,
        help="declare each parameter of the kernel, in its order",
        kernel=kernel.name,
        declared=len(declared),
        found=len(entry),
    )
    return False


def _count(number: int) -> str:
    return "1 parameter" if number == 1 else f"{number} parameters"


class _Check:
    """The checks of single parameters of one kernel."""

    def __init__(self, kernel: FlatKernel, folder: str, reporter: Reporter, has_ptx: bool) -> None:
        self._kernel = kernel
        self._has_ptx = has_ptx
        self._file = (Path(folder) / kernel.path_label).as_posix()
        self._reporter = reporter

    def parameter(
        self,
        index: int,
        entry: EntryParameter,
        mine: DeclaredParameter | None,
        theirs: SourceParameter | None,
    ) -> Parameter:
        """Return the parameter as far as it is known, reporting what does not fit."""
        pointer = theirs.pointer if theirs is not None else mine is not None and mine.pointer
        vector_dtype, alignment = _pointed(theirs)
        dtype_name = (theirs.dtype if theirs is not None else None) or vector_dtype
        if mine is not None and theirs is not None:
            self._compare(mine, theirs, dtype_name)
        if dtype_name is None and mine is not None:
            dtype_name = mine.dtype
        dtype = None if dtype_name is None else DTYPES[dtype_name]
        names = (theirs and theirs.name, mine and mine.name, f"parameter {index}")
        name = next(n for n in names if n)
        parameter = Parameter(
            index,
            name,
            entry.offset,
            entry.size,
            entry.align,
            pointer,
            dtype,
            None if mine is None else mine.effect,
            max(alignment, dtype.itemsize if dtype is not None else 1),
        )
        self._width(parameter, mine, theirs)
        self._effect(parameter, mine, theirs)
        return parameter

    def _span(self, mine: DeclaredParameter | None) -> Span:
        return self._kernel.entry_span if mine is None else mine.span

    def _related(self, theirs: SourceParameter | None) -> tuple[Related, ...]:
        if theirs is None or theirs.line < 1:
            return ()
        place = Span(theirs.file or self._file, theirs.line, max(theirs.column, 1))
        return (Related(f"the source declares `{theirs.text} {theirs.name}`", place),)

    def _compare(self, mine: DeclaredParameter, theirs: SourceParameter, dtype: str | None) -> None:
        kernel = self._kernel.name
        if mine.name != theirs.name and theirs.name:
            self._reporter.add(
                "PLC459",
                f"kernel `{kernel}` is declared with a parameter `{mine.name}`, and the source has "
                f"`{theirs.name}` there",
                mine.span,
                help=f"write `{theirs.name}`",
                related=self._related(theirs),
                kernel=kernel,
                parameter=theirs.name,
            )
        wrong_type = mine.dtype is not None and dtype is not None and mine.dtype != dtype
        if wrong_type or mine.pointer != theirs.pointer:
            written = _type_text(mine.dtype, mine.pointer)
            found = _type_text(dtype, theirs.pointer)
            self._reporter.add(
                "PLC460",
                f"parameter `{theirs.name}` of kernel `{kernel}` is declared `{written}`, and the source has "
                f"`{theirs.text}`",
                mine.span,
                help=f"write `{found}`",
                related=self._related(theirs),
                kernel=kernel,
                parameter=theirs.name,
                declared=written,
                found=found,
            )

    def _width(
        self, parameter: Parameter, mine: DeclaredParameter | None, theirs: SourceParameter | None
    ) -> None:
        if parameter.pointer:
            width: int | None = POINTER_BYTES
        else:
            width = None if parameter.dtype is None else parameter.dtype.itemsize
        kernel = self._kernel.name
        if width is None:
            self._reporter.add(
                "PLC465",
                f"parameter `{parameter.name}` of kernel `{kernel}` is neither a pointer nor a number",
                self._span(mine),
                help="pass its members as parameters of their own",
                related=self._related(theirs),
                kernel=kernel,
                parameter=parameter.name,
            )
        elif width != parameter.size:
            written = _type_text(None if parameter.dtype is None else parameter.dtype.name, parameter.pointer)
            self._reporter.add(
                "PLC461",
                f"parameter `{parameter.name}` of kernel `{kernel}` is `{written}` of {width} bytes, and the "
                "PTX "
                f"has {parameter.size} bytes there",
                self._span(mine),
                help=f"declare a type of {parameter.size} bytes",
                related=self._related(theirs),
                kernel=kernel,
                parameter=parameter.name,
                declared_bytes=width,
                bytes=parameter.size,
            )

    def _effect(
        self, parameter: Parameter, mine: DeclaredParameter | None, theirs: SourceParameter | None
    ) -> None:
        kernel = self._kernel.name
        related = self._related(theirs)
        span = self._span(mine)
        if parameter.pointer and parameter.effect is None and not self._has_ptx:
            self._reporter.add(
                "PLC462",
                f"`{parameter.name}` of kernel `{kernel}` is a pointer, and neither a declaration nor "
                "PTX says what the kernel does to it",
                span,
                help=f"write `in`, `out`, `inout` or `reduce` before it: `{_proposal(parameter, theirs)}`",
                related=related,
                kernel=kernel,
                parameter=parameter.name,
            )
        elif parameter.effect is not None and not parameter.pointer:
            self._reporter.add(
                "PLC464",
                f"`{parameter.name}` of kernel `{kernel}` is no pointer, and is declared "
                f"`{parameter.effect}`",
                span,
                help=f"leave `{parameter.effect}` out",
                related=related,
                kernel=kernel,
                parameter=parameter.name,
            )
        elif parameter.effect not in (None, "in") and theirs is not None and theirs.const:
            self._reporter.add(
                "PLC463",
                f"`{parameter.name}` of kernel `{kernel}` is declared `{parameter.effect}`, and the source "
                "has a "
                "pointer to const",
                span,
                help="write `in`, or drop the `const` in the source",
                related=related,
                kernel=kernel,
                parameter=parameter.name,
            )


def has_ptx(artifact: KernelArtifact) -> bool:
    """Return whether the analysis has something to look at."""
    return any(image.form == "ptx" for image in artifact.module.images)


def _pointed(theirs: SourceParameter | None) -> tuple[str | None, int]:
    """Return (element type, alignment in bytes) of a pointer to one of CUDA's vector types.

    Alignments: CUDA C++ Programming Guide, "Built-in Vector Types": 2 and 4 elements are aligned to their
    whole size, at most 16 bytes unless the type says otherwise.
    """
    if theirs is None or not theirs.pointer:
        return None, 1
    match = _VECTOR.search(theirs.text)
    if match is None:
        return None, 1
    dtype = _VECTORS[match[1]]
    whole = DTYPES[dtype].itemsize * int(match[2])
    return dtype, min(whole, int(match[3] or 16))


def _type_text(dtype: str | None, pointer: bool) -> str:
    return (dtype or "void") + ("*" if pointer else "")


def _proposal(parameter: Parameter, theirs: SourceParameter | None) -> str:
    word = "in" if theirs is not None and theirs.const else "inout"
    dtype = None if parameter.dtype is None else parameter.dtype.name
    return f"{word} {_type_text(dtype, True)} {parameter.name}"
