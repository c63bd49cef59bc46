"""Declared buffers and globals as rows of Program.buffers."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from planc.graph.data import DataLoader
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter, name_cure
from planc.kernels.artifact import GlobalSymbol, KernelArtifact
from planc.plan import limits
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Role
from planc.source.flat import DataSource, FlatBuffer, FlatGlobal, FlatGraph

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "input": Role.INPUT,
        "output": Role.OUTPUT,
        "inout": Role.INOUT,
        "constant": Role.CONSTANT,
        "state": Role.STATE,
        "scratch": Role.SCRATCH,
    }
)

DEFAULT_ALIGN = 256


def build_buffers(
    flat: FlatGraph,
    artifacts: Mapping[str, KernelArtifact],
    modules: Mapping[str, int],
    loader: DataLoader,
    reporter: Reporter,
) -> dict[str, KnownBuffer]:
    """Return all buffers and globals by name, rows in the order of the file, globals last.

    ``modules`` gives the row of each kernel's module. A buffer with a wrong extent or missing data is
    reported (PLC323 to PLC333) and still returned where its shape makes sense, so that its uses are checked.
    """
    known: dict[str, KnownBuffer] = {}
    for declared in flat.buffers:
        if declared.name not in known and _extent_is_right(declared, reporter):
            buffer = _buffer(declared, loader, reporter)
            known[declared.name] = KnownBuffer(
                len(known), buffer, DTYPES[declared.dtype], declared.span, declared.inplace
            )
    for item in flat.globals:
        if item.name in known or not _extent_is_right(item, reporter):
            continue
        found = _global(item, flat, artifacts, modules, loader, reporter)
        if found is not None:
            buffer, symbol = found
            known[item.name] = KnownBuffer(
                len(known), buffer, DTYPES[item.dtype], item.span, space=symbol.space
            )
    return known


def _extent_is_right(declared: FlatBuffer | FlatGlobal, reporter: Reporter) -> bool:
    nbytes = prod(declared.shape) * DTYPES[declared.dtype].itemsize
    if any(extent < 1 for extent in declared.shape):
        reporter.add(
            "PLC323",
            f"`{declared.name}` has an axis of {min(declared.shape)} elements",
            declared.span,
            help="give each axis one element or more",
            buffer=declared.name,
        )
        return False
    if nbytes > limits.BUFFER_BYTES or len(declared.shape) > limits.RANK:
        reporter.add(
            "PLC324",
            f"`{declared.name}` has {len(declared.shape)} axes and {nbytes} bytes",
            declared.span,
            help=f"a buffer may have {limits.RANK} axes and {limits.BUFFER_BYTES} bytes",
            buffer=declared.name,
            bytes=nbytes,
        )
        return False
    return True


def _buffer(declared: FlatBuffer, loader: DataLoader, reporter: Reporter) -> Buffer:
    role = ROLES[declared.role]
    dtype = DTYPES[declared.dtype]
    data: tuple[str, bool] | None = None
    if role is Role.CONSTANT:
        data = _constant_data(declared, declared.data, loader, reporter)
    elif declared.data is not None:
        reporter.add(
            "PLC327",
            f"`{declared.name}` has data, and its role is `{declared.role}`",
            declared.data.span,
            help="only constants have data; state starts with zeros, and other buffers get theirs from the "
            "service",
            buffer=declared.name,
        )
    digest, embedded = data if data is not None else (None, True)
    nbytes = prod(declared.shape) * dtype.itemsize
    align = _alignment(declared, dtype.itemsize, reporter)
    return Buffer(
        declared.name, dtype.name, declared.shape, role, nbytes, align=align, data=digest, embedded=embedded
    )


def _constant_data(
    declared: FlatBuffer, source: DataSource | None, loader: DataLoader, reporter: Reporter
) -> tuple[str, bool] | None:
    if source is None:
        reporter.add(
            "PLC326",
            f"constant `{declared.name}` has no data",
            declared.span,
            help="give it a value, a list, or a data file (`= weights.npz:w1`), or make it an input",
            buffer=declared.name,
        )
        return None
    return loader.load(declared.name, source, DTYPES[declared.dtype], declared.shape)


def _alignment(declared: FlatBuffer, itemsize: int, reporter: Reporter) -> int:
    align = declared.align
    if align is None:
        return DEFAULT_ALIGN
    if align < itemsize or align & (align - 1) or align > limits.BUFFER_ALIGN:
        reporter.add(
            "PLC325",
            f"`{declared.name}` asks for an alignment of {align} bytes",
            declared.span,
            help=f"use a power of two from {itemsize} (one element) to {limits.BUFFER_ALIGN}",
            buffer=declared.name,
            align=align,
        )
        return DEFAULT_ALIGN
    return align


def _global(
    item: FlatGlobal,
    flat: FlatGraph,
    artifacts: Mapping[str, KernelArtifact],
    modules: Mapping[str, int],
    loader: DataLoader,
    reporter: Reporter,
) -> tuple[Buffer, GlobalSymbol] | None:
    dtype = DTYPES[item.dtype]
    if not _kernel_is_known(item, flat, reporter) or item.kernel not in artifacts:
        return None
    module = artifacts[item.kernel].module
    symbol = _symbol(item, module.globals, reporter)
    if symbol is None:
        return None
    nbytes = prod(item.shape) * dtype.itemsize
    if nbytes != symbol.size:
        reporter.add(
            "PLC333",
            f"`{item.name}` has {nbytes} bytes, and the symbol `{symbol.name}` has {symbol.size}",
            item.span,
            help="give it the type and shape of the symbol in the source",
            buffer=item.name,
            bytes=nbytes,
            symbol_bytes=symbol.size,
        )
    data = None if item.data is None else loader.load(item.name, item.data, dtype, item.shape)
    digest, embedded = data if data is not None else (None, True)
    buffer = Buffer(
        item.name,
        dtype.name,
        item.shape,
        Role.GLOBAL,
        nbytes,
        align=max(symbol.align, dtype.itemsize),
        data=digest,
        embedded=embedded,
        symbol=(modules.get(item.kernel, 0), symbol.name),
    )
    return buffer, symbol


def _kernel_is_known(item: FlatGlobal, flat: FlatGraph, reporter: Reporter) -> bool:
    names = [k.name for k in flat.kernels]
    if item.kernel in names or item.kernel in flat.broken:
        return True
    reporter.add(
        "PLC231",
        f"no kernel is named `{item.kernel}`",
        item.span,
        help=name_cure("kernel", item.kernel, names),
        name=item.kernel,
    )
    return False


def _symbol(item: FlatGlobal, symbols: Mapping[str, GlobalSymbol], reporter: Reporter) -> GlobalSymbol | None:
    found = symbols.get(item.name)
    if found is None:
        reporter.add(
            "PLC240",
            f"the module of kernel `{item.kernel}` has no symbol `{item.name}`",
            item.span,
            help="declare it `__device__` or `__constant__` in the source; "
            + name_cure("symbol", item.name, symbols),
            symbol=item.name,
            kernel=item.kernel,
        )
    return found
