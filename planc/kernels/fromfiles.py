"""``ptx:`` and ``cubin:`` kernels: code that somebody else compiled, taken as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planc import ptx as ptx_text
from planc.diagnostics import CATALOGUE, Diagnostic, GraphError, Severity
from planc.kernels.context import Context, Group, ModuleBuild, image, module_artifact, report_all
from planc.kernels.cubin import Cubin, read_cubin, read_linked
from planc.kernels.elf import CubinError
from planc.kernels.facts import facts_of_cubin, facts_of_ptx, globals_of_ptx
from planc.kernels.fromsource import outside_project
from planc.kernels.includes import Unreadable, read_text, refuse_special
from planc.kernels.instances import Built, build_ptx
from planc.kernels.log import read_linker_log
from planc.kernels.nvrtc import relative_files
from planc.kernels.options import compiler_options
from planc.kernels.paths import display_path
from planc.kernels.reports import merge_targets, ptx_link_diagnostic, unreadable
from planc.kernels.sources import MAX_FILE_BYTES
from planc.kernels.target import Target, parse_target
from planc.ptx.syntax import Module
from planc.source.flat import FlatKernel

_FATBIN = b"\x50\xed\x55\xba"


def build_from_ptx(group: Group, context: Context) -> ModuleBuild | None:
    """Build the module of a PTX file: the same text for every target, with a cubin for each.

    Of the text only the paths of ``.file`` are changed, and sums and products where ``exact``.
    """
    first = group[0]
    if not report_all(list(_useless(group, context)), context):
        return None
    shown = display_path(first.path)
    try:
        text = read_text(first.path)
        module = ptx_text.parse(text, shown)
        text = relative_files(ptx_text.make_exact(text) if first.exact else text, ())
    except Unreadable as error:
        context.collector.add(unreadable(first, error.path, shown, error.reason))
        return None
    except GraphError as error:
        context.collector.extend(error.diagnostics)
        return None
    if not report_all(list(_newer(first, module, shown, context)), context):
        return None
    built = _link(first, text, context)
    found = [
        (target.real, ptx_link_diagnostic(message, shown, first))
        for target, made in built.items()
        for message in read_linker_log(made.linker_log)
    ] + [(t.real, _silent(first, b, shown)) for t, b in built.items() if _is_silent(b)]
    merged = merge_targets(found, context.target_names)
    context.collector.extend(merged)
    if any(CATALOGUE[d.code].severity is Severity.ERROR for d in merged):
        return None
    return _ptx_module(group, module, built)


def _link(kernel: FlatKernel, text: str, context: Context) -> Mapping[Target, Built]:
    registers = compiler_options(kernel.options, {}).registers
    built = {}
    for target in context.targets:
        context.step(f"{kernel.path_label} for {target.real}")
        label = kernel.path_label
        built[target] = build_ptx(text, label, registers, target, context.toolkit, context.cache)
    return built


def _is_silent(built: Built) -> bool:
    return not built.complete and not any(m.error for m in read_linker_log(built.linker_log))


def _silent(kernel: FlatKernel, built: Built, shown: str) -> Diagnostic:
    text = built.linker_log.strip() or "the linker failed and did not say why"
    cure = "mend the PTX, or assemble it yourself and give the kernel as `cubin:`"
    return Diagnostic("PLC416", text.splitlines()[0], kernel.path_span, cure, facts={"file": shown})


def _ptx_module(group: Group, module: Module, built: Mapping[Target, Built]) -> ModuleBuild:
    images = []
    facts = {}
    for target, made in built.items():
        images.append(image(target, "ptx", (made.ptx or "").encode("utf-8", "surrogateescape")))
        cubin = None
        if made.cubin is not None:
            images.append(image(target, "cubin", made.cubin))
            cubin = read_linked(made.cubin)
        facts[target.real] = facts_of_ptx(module, cubin, target)
    return ModuleBuild(module_artifact(group, images, globals_of_ptx(module)), facts)


def _newer(kernel: FlatKernel, module: Module, shown: str, context: Context) -> Iterator[Diagnostic]:
    made_for = parse_target(module.target[0]) if module.target else None
    if made_for is None:
        return
    refused = [t.real for t in context.targets if not t.runs_ptx_of(made_for)]
    if refused:
        names = " and ".join(f"`{name}`" for name in refused)
        yield Diagnostic(
            "PLC415",
            f"`{kernel.path_label}` is for `{made_for.real}`, and {names} cannot run it",
            kernel.path_span,
            help=f"name only targets from `{made_for.real}` on, or compile the PTX for the lowest of them",
            facts={"kernel": kernel.name, "file": shown, "made_for": made_for.real, "targets": [*refused]},
        )


def _useless(group: Group, context: Context) -> Iterator[Diagnostic]:
    """Report what only a source can use, and a file outside the project."""
    kernel = group[0]
    given = {
        "defines": bool(kernel.defines),
        "include_dirs": bool(kernel.include_dirs),
        "options": bool(kernel.options),
        "exact": kernel.exact and kernel.form == "cubin",
    }
    for field, present in given.items():
        if present:
            yield Diagnostic(
                "PLC420",
                f"`{field}` of kernel `{kernel.name}` has no meaning for a `{kernel.form}:` file",
                kernel.span,
                help=f"leave `{field}` out, or give the kernel as `source:`",
                facts={"kernel": kernel.name, "field": field},
            )
    if (outside := outside_project(kernel, context)) is not None:
        yield outside


def build_from_cubin(group: Group, context: Context) -> ModuleBuild | None:
    """Build the module of a cubin: its image for each target that can run it."""
    first = group[0]
    if not report_all(list(_useless(group, context)), context):
        return None
    shown = display_path(first.path)
    try:
        data = _read_bytes(first)
        cubin = read_cubin(data)
    except Unreadable as error:
        context.collector.add(unreadable(first, error.path, shown, error.reason))
        return None
    except CubinError as error:
        context.collector.add(_damaged(first, shown, str(error)))
        return None
    if not report_all(list(_foreign(first, cubin, shown, context)), context):
        return None
    images = [image(target, "cubin", data) for target in context.targets]
    facts = {target.real: facts_of_cubin(cubin, target) for target in context.targets}
    return ModuleBuild(module_artifact(group, images, cubin.globals), facts)


def _read_bytes(kernel: FlatKernel) -> bytes:
    refuse_special(kernel.path)
    try:
        with kernel.path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Unreadable(kernel.path, (error.strerror or type(error).__name__).lower()) from error
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(kernel.path, f"more than {MAX_FILE_BYTES >> 20} MiB")
    if data[:4] == _FATBIN:
        raise CubinError("a fat binary, which holds cubins: extract one with `cuobjdump -xelf all`")
    return data


def _damaged(kernel: FlatKernel, shown: str, reason: str) -> Diagnostic:
    return Diagnostic(
        "PLC418",
        f"`{kernel.path_label}` is no cubin that planc can read: {reason}",
        kernel.path_span,
        help="make it with `nvcc -cubin`, or give the kernel as `ptx:` or `source:`",
        facts={"kernel": kernel.name, "file": shown},
    )


def _runs(number: int, target: Target) -> bool:
    """Whether a cubin serves a target: same major capability and no lower one.

    A cubin does not say whether it is for ``sm_90`` or ``sm_90a``.
    """
    if target.suffix:
        return target.number == number
    return target.number // 10 == number // 10 and target.number >= number


def _foreign(kernel: FlatKernel, cubin: Cubin, shown: str, context: Context) -> Iterator[Diagnostic]:
    """Report targets that cannot run a cubin."""
    number = cubin.number
    refused = [t.real for t in context.targets if not _runs(number, t)]
    if refused:
        names = " and ".join(f"`{name}`" for name in refused)
        yield Diagnostic(
            "PLC419",
            f"`{kernel.path_label}` is code for `sm_{number}`, and {names} cannot run it",
            kernel.path_span,
            help=f"name `sm_{number}` alone under `targets`, or give the kernel as `ptx:` or `source:`",
            facts={"kernel": kernel.name, "file": shown, "made_for": f"sm_{number}", "targets": [*refused]},
        )
