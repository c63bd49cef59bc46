"""The initial bytes of constants, state and globals: from data files or from values in the graph file."""

from __future__ import annotations

from math import prod

from planc.diagnostics import Span
from planc.graph.arrays import Mismatch, read_array, shape_text
from planc.graph.report import Reporter, name_cure
from planc.graph.safetensors import BadFile, NoMember
from planc.graph.values import encode, value_fault
from planc.plan.digests import sha256
from planc.plan.dtypes import DType
from planc.source.flat import DataSource

EMBED_LIMIT = 1 << 20
"""Data of this many bytes or more is named by digest unless the file says ``embed: true``."""


class DataLoader:
    """Reads data sources and collects what is to be embedded, by digest (SHA-256, hex)."""

    def __init__(self, reporter: Reporter) -> None:
        """Start with nothing embedded."""
        self._reporter = reporter
        self.constants: dict[str, bytes] = {}

    def load(
        self, name: str, source: DataSource, dtype: DType, shape: tuple[int, ...]
    ) -> tuple[str, bool] | None:
        """Return (digest, embedded) of the data for ``name``; None after a report (PLC328 to PLC332)."""
        if source.file is not None:
            data = self._from_file(name, source, dtype, shape)
        else:
            data = self._from_values(name, source, dtype, shape)
        if data is None:
            return None
        digest = sha256(data)
        embedded = len(data) < EMBED_LIMIT if source.embed is None else source.embed
        if embedded:
            self.constants[digest] = data
        return digest, embedded

    def _from_file(self, name: str, source: DataSource, dtype: DType, shape: tuple[int, ...]) -> bytes | None:
        assert source.file is not None
        file = source.file.name
        try:
            return read_array(source.file, source.member, dtype, shape)
        except Mismatch as wrong:
            self._mismatch(name, file, wrong, dtype, shape, source.span)
        except NoMember as missing:
            self._no_member(name, file, source, list(missing.args[0]))
        except BadFile as bad:
            self._unreadable(name, file, str(bad), source.span)
        except OSError as error:
            self._unreadable(name, file, (error.strerror or "it cannot be read").lower(), source.span)
        return None

    def _unreadable(self, name: str, file: str, why: str, span: Span) -> None:
        self._reporter.add(
            "PLC328",
            f"the data of `{name}` cannot be read from `{file}`: {why}",
            span,
            help="give a .npy, .npz or .safetensors file that holds plain numbers",
            buffer=name,
            file=file,
        )

    def _no_member(self, name: str, file: str, source: DataSource, members: list[str]) -> None:
        if source.member is None:
            message = f"`{file}` holds several arrays, and `{name}` names none of them"
        elif members:
            message = f"`{file}` has no member `{source.member}`"
        else:
            message = f"`{file}` holds one array, and `{name}` asks for a member `{source.member}`"
        cure = name_cure("member", source.member or "", members) if members else "leave the member out"
        self._reporter.add("PLC329", message, source.span, help=cure, buffer=name, file=file)

    def _mismatch(
        self, name: str, file: str, wrong: Mismatch, dtype: DType, shape: tuple[int, ...], span: Span
    ) -> None:
        declared = dtype.name if wrong.code == "PLC330" else shape_text(shape)
        what = "element type" if wrong.code == "PLC330" else "shape"
        self._reporter.add(
            wrong.code,
            f"`{name}` is declared with {what} `{declared}`, and `{file}` has `{wrong.found}`",
            span,
            help=f"declare `{wrong.found}`, or convert the file",
            buffer=name,
            file=file,
            declared=declared,
            found=wrong.found,
        )

    def _from_values(
        self, name: str, source: DataSource, dtype: DType, shape: tuple[int, ...]
    ) -> bytes | None:
        flat: list[object] = []
        values = source.values
        if not isinstance(values, list | tuple):
            flat = [values] * prod(shape)
        else:
            found = _flatten(values, flat)
            if found != shape:
                self._wrong_shape(name, source.span, found, shape)
                return None
        encoded = []
        for value in flat if isinstance(values, list | tuple) else flat[:1]:
            fault = value_fault(value, dtype)
            if fault is not None or not isinstance(value, bool | int | float):
                self._reporter.add(
                    "PLC332",
                    f"`{name}` cannot hold a literal value: {fault}",
                    source.span,
                    help=f"give values of type `{dtype.name}`, or change the element type of `{name}`",
                    buffer=name,
                )
                return None
            encoded.append(encode(value, dtype))
        return b"".join(encoded) if len(encoded) == len(flat) else encoded[0] * len(flat)

    def _wrong_shape(
        self, name: str, span: Span, found: tuple[int, ...] | None, shape: tuple[int, ...]
    ) -> None:
        held = "rows of different lengths" if found is None else f"shape `{shape_text(found)}`"
        self._reporter.add(
            "PLC331",
            f"`{name}` is declared with shape `{shape_text(shape)}`, and its values have {held}",
            span,
            help=f"give {prod(shape)} values nested as the shape says, or one value for all elements",
            buffer=name,
        )


def _flatten(values: list[object] | tuple[object, ...], into: list[object]) -> tuple[int, ...] | None:
    """Append all leaves to ``into``; return the shape, or None where rows differ."""
    nested = [isinstance(v, list | tuple) for v in values]
    if not any(nested):
        into.extend(values)
        return (len(values),)
    if not all(nested):
        return None
    shapes = {_flatten(v, into) for v in values if isinstance(v, list | tuple)}
    inner = shapes.pop()
    return None if shapes or inner is None else (len(values), *inner)
