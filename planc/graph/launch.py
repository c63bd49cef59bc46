"""Launch configurations: grid, block and dynamic shared memory of a run, within each target's limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from planc.diagnostics import Span
from planc.graph.report import Reporter
from planc.graph.signature import Signature
from planc.kernels.artifact import Resources
from planc.kernels.limits import LaunchLimits, launch_limits, threads_for_registers
from planc.source.flat import Dims, FlatKernel, RunOp

Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """Blocks in the grid, threads in a block (x, y, z), and bytes of dynamic shared memory."""

    grid: Extents
    block: Extents
    shared: int


@dataclass(frozen=True, slots=True)
class _Case:
    """A launch under the limits of one target, with the places to blame."""

    launch: Launch
    target: str
    limits: LaunchLimits
    resources: Resources
    grid_span: Span
    block_span: Span

    @property
    def threads(self) -> int:
        return prod(self.launch.block)


def build_launch(
    op: RunOp, signature: Signature, targets: tuple[str, ...], reporter: Reporter
) -> Launch | None:
    """Return the launch of a run, or report PLC466 to PLC478 and return None.

    The run's own ``grid`` or ``cover`` replaces both of the kernel's; ``cover`` counts threads, and the grid
    is its quotient by the block, rounded up.
    """
    kernel = signature.kernel
    before = reporter.errors
    block = _block(op, signature, reporter)
    grid = None if block is None else _grid(op, kernel, block, reporter)
    if block is None or grid is None:
        return None
    shared = kernel.shared if op.shared is None else op.shared
    launch = Launch(grid.values, block.values, shared)
    for target in targets:
        limits = launch_limits(target)
        resources = signature.artifact.resources.get(target)
        if limits is not None and resources is not None:
            _check(_Case(launch, target, limits, resources, grid.span, block.span), kernel, op, reporter)
    return launch if reporter.errors == before else None


def _block(op: RunOp, signature: Signature, reporter: Reporter) -> Dims | None:
    block = op.block or signature.kernel.block
    if block is None:
        for resources in signature.artifact.resources.values():
            if resources.required_block is not None:
                return Dims(resources.required_block, op.kernel_span)
        reporter.add(
            "PLC467",
            f"nothing says how many threads a block of `{op.kernel}` has",
            op.kernel_span,
            help="give `block:` to the kernel or to the node",
            kernel=op.kernel,
        )
        return None
    return block if _positive("block", block, op, reporter) else None


def _grid(op: RunOp, kernel: FlatKernel, block: Dims, reporter: Reporter) -> Dims | None:
    own = (op.grid, op.cover)
    grid, cover = own if any(own) else (kernel.grid, kernel.cover)
    if grid is not None and cover is not None:
        reporter.add(
            "PLC476",
            f"`{op.kernel}` has both `grid` and `cover`",
            cover.span,
            help="keep `grid` (blocks) or `cover` (threads, from which the grid follows)",
            kernel=op.kernel,
        )
        return None
    if grid is not None:
        return grid if _positive("grid", grid, op, reporter) else None
    if cover is None:
        reporter.add(
            "PLC466",
            f"nothing says how many blocks `{op.kernel}` has",
            op.kernel_span,
            help="give `cover:` (threads) or `grid:` (blocks) to the kernel or to the node",
            kernel=op.kernel,
        )
        return None
    if not _positive("cover", cover, op, reporter):
        return None
    x, y, z = (-(-c // b) for c, b in zip(cover.values, block.values, strict=True))
    return Dims((x, y, z), cover.span)


def _positive(word: str, dims: Dims, op: RunOp, reporter: Reporter) -> bool:
    if min(dims.values) >= 1:
        return True
    reporter.add(
        "PLC468",
        f"`{word}` of `{op.kernel}` is {_extents(dims.values)}",
        dims.span,
        help="let each extent be 1 or more",
        kernel=op.kernel,
    )
    return False


def _extents(values: Extents) -> str:
    return ", ".join(str(v) for v in values)


Finding = tuple[str, str, Span, str]  # code, message, span, help


def _check(case: _Case, kernel: FlatKernel, op: RunOp, reporter: Reporter) -> None:
    for rule in _RULES:
        for code, message, span, cure in rule(case, kernel, op):
            reporter.add(
                code,
                f"{message} on `{case.target}`",
                span,
                help=cure,
                kernel=kernel.name,
                target=case.target,
            )


def _block_rule(case: _Case, kernel: FlatKernel, op: RunOp) -> Iterator[Finding]:
    threads, most = case.threads, case.limits.threads_block
    if threads > most:
        message = f"a block of `{kernel.name}` has {threads} threads, and at most {most} are allowed"
        yield "PLC469", message, case.block_span, f"use {most} threads or fewer in a block"
    for axis, (extent, limit) in enumerate(zip(case.launch.block, case.limits.block, strict=True)):
        if extent > limit:
            message = (
                f"a block of `{kernel.name}` is {extent} long in {'xyz'[axis]}, and at most {limit} is "
                "allowed"
            )
            yield "PLC470", message, case.block_span, f"use {limit} or less in {'xyz'[axis]}"


def _grid_rule(case: _Case, kernel: FlatKernel, op: RunOp) -> Iterator[Finding]:
    for axis, (extent, limit) in enumerate(zip(case.launch.grid, case.limits.grid, strict=True)):
        if extent > limit:
            message = (
                f"the grid of `{kernel.name}` is {extent} long in {'xyz'[axis]}, and at most {limit} is "
                "allowed"
            )
            cure = f"use {limit} or less in {'xyz'[axis]}, or let a thread do more"
            yield "PLC471", message, case.grid_span, cure


def _shared_rule(case: _Case, kernel: FlatKernel, op: RunOp) -> Iterator[Finding]:
    static, dynamic, most = case.resources.static_shared, case.launch.shared, case.limits.shared_block
    if dynamic < 0 or static + dynamic > most:
        message = (
            f"a block of `{kernel.name}` has {static} bytes of static and {dynamic} of dynamic shared "
            "memory, "
            f"and at most {most} in all are allowed"
        )
        span = kernel.span if op.shared is None else op.kernel_span
        yield "PLC472", message, span, f"ask for 0 to {max(0, most - static)} bytes of dynamic shared memory"


def _threads_rule(case: _Case, kernel: FlatKernel, op: RunOp) -> Iterator[Finding]:
    threads = case.threads
    if threads > case.limits.threads_block:
        return
    registers = case.resources.registers
    allowed = threads if registers is None else threads_for_registers(registers, case.limits)
    if threads > allowed:
        message = (
            f"`{kernel.name}` takes {registers} registers a thread, which allows {allowed} threads in a "
            "block, "
            f"and a block has {threads}"
        )
        yield "PLC478", message, case.block_span, "use smaller blocks, or bound them with `__launch_bounds__`"
    elif threads > case.resources.max_threads:
        message = (
            f"`{kernel.name}` allows {case.resources.max_threads} threads in a block, and a block has "
            f"{threads}"
        )
        yield (
            "PLC474",
            message,
            case.block_span,
            "use smaller blocks, or raise the kernel's `__launch_bounds__`",
        )


def _required_rule(case: _Case, kernel: FlatKernel, op: RunOp) -> Iterator[Finding]:
    required = case.resources.required_block
    if required is not None and required != case.launch.block:
        message = (
            f"`{kernel.name}` requires blocks of {_extents(required)}, and has {_extents(case.launch.block)}"
        )
        yield "PLC475", message, case.block_span, f"write `block: {_extents(required)}`"


_RULES: tuple[Callable[[_Case, FlatKernel, RunOp], Iterator[Finding]], ...] = (
    _block_rule,
    _grid_rule,
    _shared_rule,
    _threads_rule,
    _required_rule,
)
