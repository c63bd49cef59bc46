"""Arguments of a run: each parameter of the kernel gets its view, slot or value.

Positional arguments come first, named ones next; a parameter that has none takes the buffer, scalar or symbol
of the file with its own name.
"""

from __future__ import annotations

from dataclasses import dataclass

from planc.diagnostics import Span
from planc.graph.names import KnownBuffer, Names, find_buffer
from planc.graph.report import Reporter, name_cure
from planc.graph.signature import Parameter, Signature
from planc.graph.values import encode, kind_fault, range_fault
from planc.graph.views import View, resolve_view
from planc.plan.dtypes import DTYPES, DType
from planc.source.flat import Argument, ArgumentValue, Literal, Number, RunOp, ScalarRef, ViewRef


@dataclass(frozen=True, slots=True)
class Bound:
    """What one parameter gets: a view, a slot (row of Program.slots; ``data`` is its default) or bytes.

    ``scalar`` is the name of the scalar that the bytes come from.
    """

    parameter: Parameter
    span: Span
    view: View | None = None
    slot: int | None = None
    data: bytes = b""
    scalar: str | None = None


def bind(op: RunOp, signature: Signature, names: Names, reporter: Reporter) -> tuple[Bound, ...] | None:
    """Return one Bound per parameter, or report what is wrong (PLC230 to PLC457) and return None."""
    before = reporter.errors
    given = _assign(op, signature, reporter)
    binder = _Binder(op, names, reporter)
    bound = [b for p in signature.parameters if (b := binder.bind(p, given.get(p.name))) is not None]
    complete = len(bound) == len(signature.parameters) and reporter.errors == before
    return tuple(bound) if complete else None


def _assign(op: RunOp, signature: Signature, reporter: Reporter) -> dict[str, Argument]:
    """Return the arguments by parameter name."""
    given: dict[str, Argument] = {}
    known = signature.names
    for place, argument in enumerate(op.arguments):
        if argument.name is None and place >= len(known):
            reporter.add(
                "PLC450",
                f"`{op.kernel}` is run with {len(op.arguments)} arguments, and it has {len(known)}",
                argument.span,
                help=_signature_text(signature),
                kernel=op.kernel,
            )
            break
        name = known[place] if argument.name is None else argument.name
        if name not in known:
            reporter.add(
                "PLC233",
                f"kernel `{op.kernel}` has no parameter `{name}`",
                argument.span,
                help=name_cure("parameter", name, known),
                kernel=op.kernel,
                parameter=name,
            )
        elif name in given:
            reporter.add(
                "PLC242",
                f"parameter `{name}` of `{op.kernel}` is given twice",
                argument.span,
                help="keep one of them",
                kernel=op.kernel,
                parameter=name,
            )
        else:
            given[name] = argument
    return given


def _signature_text(signature: Signature) -> str:
    names = ", ".join(f"`{n}`" for n in signature.names)
    return f"its parameters are {names}" if names else "it takes none"


class _Binder:
    """Binds the parameters of one run."""

    def __init__(self, op: RunOp, names: Names, reporter: Reporter) -> None:
        self._op = op
        self._names = names
        self._reporter = reporter

    def bind(self, parameter: Parameter, argument: Argument | None) -> Bound | None:
        """Return what ``parameter`` gets, or report and return None."""
        value = self._by_name(parameter) if argument is None else argument.value
        if value is None:
            return None
        if parameter.pointer:
            return self._pointer(parameter, value)
        return self._scalar(parameter, value)

    def _by_name(self, parameter: Parameter) -> ArgumentValue | None:
        name, span = parameter.name, self._op.kernel_span
        if name in self._names.symbols:
            return Literal(self._names.symbols[name], span)
        if name in self._names.scalars:
            return ScalarRef(name, span)
        if name in self._names.buffers:
            return ViewRef(name, None, span, name)
        if name in self._names.broken:
            return None
        self._report(
            "PLC451",
            f"`{self._op.kernel}` is run without its parameter `{name}`",
            span,
            f"write `{name}=`, or name a {'buffer' if parameter.pointer else 'scalar'} of the file `{name}`",
            parameter,
        )
        return None

    def _pointer(self, parameter: Parameter, value: ArgumentValue) -> Bound | None:
        if not isinstance(value, ViewRef) or self._is_scalar(value):
            what = f"`{value.name}`" if isinstance(value, ScalarRef) else f"`{_text(value)}`"
            self._report(
                "PLC452",
                f"`{parameter.name}` of `{self._op.kernel}` is a pointer, and {what} is no buffer",
                value.span,
                "give a buffer or a view of one",
                parameter,
            )
            return None
        known = find_buffer(self._names, value.buffer, value.span, self._reporter)
        view = None if known is None else resolve_view(value, known, self._reporter)
        if known is None or view is None or not self._element_fits(parameter, known, value):
            return None
        if not self._aligned(parameter, view, value):
            return None
        return Bound(parameter, value.span, view=view)

    def _is_scalar(self, value: ViewRef) -> bool:
        if value.indices is not None or value.buffer in self._names.buffers:
            return False
        return value.buffer in self._names.scalars or value.buffer in self._names.symbols

    def _element_fits(self, parameter: Parameter, known: KnownBuffer, value: ViewRef) -> bool:
        if parameter.dtype is None or parameter.dtype == known.dtype:
            return True
        self._report(
            "PLC454",
            f"`{parameter.name}` of `{self._op.kernel}` points to `{parameter.dtype.name}`, and "
            f"`{known.buffer.name}` holds `{known.dtype.name}`",
            value.span,
            f"give a buffer of `{parameter.dtype.name}`",
            parameter,
            known,
        )
        return False

    def _aligned(self, parameter: Parameter, view: View, value: ViewRef) -> bool:
        known, need = view.known, parameter.alignment
        if view.box.offset % need == 0 and known.buffer.align % need == 0:
            return True
        if known.buffer.align % need:
            what = f"`{known.buffer.name}` is aligned to {known.buffer.align} bytes"
            cure = f"declare `{known.buffer.name}` with `align: {need}` or more"
        else:
            what = f"`{value.text}` starts {view.box.offset} bytes into `{known.buffer.name}`"
            cure = f"let the view start at a multiple of {need // known.dtype.itemsize} elements"
        self._report(
            "PLC307",
            f"`{parameter.name}` of `{self._op.kernel}` needs an address that is a multiple of {need}, and "
            f"{what}",
            value.span,
            cure,
            parameter,
            known,
        )
        return False

    def _scalar(self, parameter: Parameter, value: ArgumentValue) -> Bound | None:
        assert parameter.dtype is not None
        if isinstance(value, ViewRef):
            resolved = self._scalar_of_name(parameter, value)
            if resolved is None:
                return None
            value = resolved
        if isinstance(value, ScalarRef):
            return self._named_scalar(parameter, parameter.dtype, value)
        return self._literal(parameter, parameter.dtype, value.value, value.span)

    def _scalar_of_name(self, parameter: Parameter, value: ViewRef) -> ScalarRef | Literal | None:
        """Return the scalar that a bare name means where a scalar is needed."""
        if value.buffer in self._names.buffers:
            self._report(
                "PLC453",
                f"`{parameter.name}` of `{self._op.kernel}` is a scalar, and `{value.text}` is in a buffer",
                value.span,
                "give a scalar or a number; a kernel reads an element of a buffer through a pointer",
                parameter,
            )
            return None
        if value.buffer in self._names.symbols and value.indices is None:
            return Literal(self._names.symbols[value.buffer], value.span)
        if value.indices is not None and value.buffer in self._names.scalars:
            find_buffer(self._names, value.buffer, value.span, self._reporter)
            return None
        return ScalarRef(value.buffer, value.span)

    def _named_scalar(self, parameter: Parameter, dtype: DType, value: ScalarRef) -> Bound | None:
        scalar = self._names.scalars.get(value.name)
        if scalar is None and value.name in self._names.broken:
            return None
        if scalar is None:
            everything = [*self._names.scalars, *self._names.symbols]
            self._reporter.add(
                "PLC232",
                f"no scalar is named `{value.name}`",
                value.span,
                help=name_cure("scalar", value.name, everything),
                name=value.name,
            )
            return None
        if scalar.dtype != dtype.name:
            self._report(
                "PLC455",
                f"`{parameter.name}` of `{self._op.kernel}` is `{dtype.name}`, and `{value.name}` is "
                f"`{scalar.dtype}`",
                value.span,
                f"declare `{value.name}: {dtype.name}`",
                parameter,
            )
            return None
        data = encode_or_zero(scalar.value, DTYPES[scalar.dtype])
        return Bound(
            parameter, value.span, slot=self._names.slots.get(value.name), data=data, scalar=value.name
        )

    def _literal(self, parameter: Parameter, dtype: DType, value: Number, span: Span) -> Bound | None:
        kind = kind_fault(value, dtype)
        fault = kind or range_fault(value, dtype)
        if fault is None:
            return Bound(parameter, span, data=encode(value, dtype))
        code = "PLC457" if kind else "PLC456"
        cure = f"give a value of type `{dtype.name}`"
        if kind and isinstance(value, float) and value.is_integer():
            cure = f"write `{int(value)}`"
        self._report(
            code, f"`{parameter.name}` of `{self._op.kernel}` cannot be set: {fault}", span, cure, parameter
        )
        return None

    def _report(
        self,
        code: str,
        message: str,
        span: Span,
        cure: str,
        parameter: Parameter,
        known: KnownBuffer | None = None,
    ) -> None:
        kernel, buffer = self._op.kernel, None if known is None else known.buffer.name
        self._reporter.add(
            code, message, span, help=cure, kernel=kernel, parameter=parameter.name, buffer=buffer
        )


def _text(value: ArgumentValue) -> str:
    return value.text if isinstance(value, ViewRef) else str(getattr(value, "value", ""))


def encode_or_zero(value: Number, dtype: DType) -> bytes:
    """Return the bytes of a scalar's value; zeros where its declaration is already reported."""
    if kind_fault(value, dtype) or range_fault(value, dtype):
        return bytes(dtype.itemsize)
    return encode(value, dtype)


def check_writable(known: KnownBuffer, span: Span, how: str, reporter: Reporter) -> bool:
    """Report a write to an input (PLC314) or a constant (PLC315); return whether the write is allowed."""
    if not known.read_only:
        return True
    name, role = known.buffer.name, known.buffer.role.name.lower()
    code = "PLC314" if role == "input" else "PLC315"
    what = {"input": "an input", "constant": "a constant"}.get(role, "in constant memory")
    cure = (
        f"declare `{name}` as `inout`, or write another buffer" if role == "input" else "write another buffer"
    )
    reporter.add(code, f"`{name}` is {what}, and {how}", span, help=cure, buffer=name)
    return False
