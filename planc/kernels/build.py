"""All kernels of a graph, built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from planc.diagnostics import Collector, Diagnostic, Span
from planc.kernels.artifact import KernelArtifact, SourceParameter
from planc.kernels.cache import Cache
from planc.kernels.context import Context, Group, ModuleBuild
from planc.kernels.cudaheaders import CudaHeaders
from planc.kernels.entries import Entry, entries_of, find_entry
from planc.kernels.fromfiles import build_from_cubin, build_from_ptx
from planc.kernels.fromsource import build_from_source
from planc.kernels.limits import LIMITS
from planc.kernels.target import DEFAULT_TARGETS, Target, parse_target
from planc.kernels.toolkit import Toolkit, find_toolkit
from planc.kernels.written import source_parameters, template_names
from planc.source.flat import FlatKernel

Progress = Callable[[str, int, int], None]

_BUILDERS: Mapping[str, Callable[[Group, Context], ModuleBuild | None]] = MappingProxyType(
    {"source": build_from_source, "ptx": build_from_ptx, "cubin": build_from_cubin}
)


def build_kernels(
    kernels: Sequence[FlatKernel],
    targets: Sequence[str | tuple[str, Span]] = (),
    *,
    root: Path,
    collector: Collector,
    allow_outside: bool = False,
    cache: Cache | None = None,
    progress: Progress | None = None,
    base: Path | None = None,
    toolkit: Toolkit | None = None,
) -> Mapping[str, KernelArtifact]:
    """Compile, link and read every kernel; a kernel that failed is reported and absent.

    ``targets`` are names (``sm_90``), each maybe with its place in the graph file; none means
    :data:`DEFAULT_TARGETS`. Files are read only below ``root`` unless ``allow_outside``. ``base`` is
    the graph's folder, from which stored names are relative; without it the labels of the kernels
    tell. ``cache`` is the user's where None. ``progress`` is told a label, the steps done and the
    steps in all. Reports PLC163, PLC401 to PLC423 and, for PTX files, PLC490 to PLC495.
    """
    tools = find_toolkit() if toolkit is None else toolkit
    chosen = _targets(targets, tools, collector)
    groups = _groups(kernels)
    steps = sum(len(chosen) for group in groups if group[0].form != "cubin")
    context = Context(
        targets=chosen,
        root=root,
        base=base,
        allow_outside=allow_outside,
        toolkit=tools,
        cache=Cache() if cache is None else cache,
        headers=CudaHeaders(tools.include),
        collector=collector,
        step=_steps(progress, steps),
    )
    found: dict[str, KernelArtifact] = {}
    for group in groups if chosen else ():
        build = _BUILDERS[group[0].form](group, context)
        for kernel in group if build is not None else ():
            artifact = _artifact(kernel, build, context)
            if artifact is not None:
                found[kernel.name] = artifact
    _report_cache(context)
    return {kernel.name: found[kernel.name] for kernel in kernels if kernel.name in found}


def _steps(progress: Progress | None, total: int) -> Callable[[str], None]:
    done = iter(range(total + 1))

    def step(label: str) -> None:
        if progress is not None:
            progress(label, next(done, total), total)

    return step


def _targets(
    targets: Sequence[str | tuple[str, Span]], toolkit: Toolkit, collector: Collector
) -> tuple[Target, ...]:
    known = [n for n in LIMITS if not toolkit.architectures or n in toolkit.architectures]
    found: dict[Target, None] = {}
    for item in targets or DEFAULT_TARGETS:
        name, span = (item, None) if isinstance(item, str) else item
        target = parse_target(name)
        if target is None or target.number not in known or not name.startswith("sm_"):
            names = ", ".join(f"`sm_{number}`" for number in known)
            message = f"`{name}` is no target that planc knows"
            help_text = f"name one of {names}"
            collector.add(Diagnostic("PLC414", message, span, help_text, facts={"target": name}))
        else:
            found[target] = None
    return tuple(found)


def _groups(kernels: Iterable[FlatKernel]) -> list[Group]:
    groups: dict[tuple[object, ...], list[FlatKernel]] = {}
    for kernel in kernels:
        key = (
            kernel.form,
            kernel.path,
            tuple(sorted((kernel.defines or {}).items())),
            kernel.include_dirs,
            kernel.options,
            kernel.exact,
        )
        groups.setdefault(key, []).append(kernel)
    return [tuple(group) for group in groups.values()]


def _artifact(kernel: FlatKernel, build: ModuleBuild | None, context: Context) -> KernelArtifact | None:
    if build is None:
        return None
    entry = _entry(kernel, build, context)
    if entry is None:
        return None
    facts = {target: entries[entry.symbol] for target, entries in build.facts.items()}
    kinds = {item.parameters for item in facts.values()}
    if len(kinds) > 1:
        context.collector.add(_differing(kernel, facts.keys()))
        return None
    (parameters,) = kinds
    written = source_parameters(entry, kernel.entry, build.declared, parameters)
    return KernelArtifact(
        kernel.name,
        entry.symbol,
        build.module,
        parameters,
        None if written is None else _named(written, kernel),
        {target: item.resources for target, item in facts.items()},
    )


def _entry(kernel: FlatKernel, build: ModuleBuild, context: Context) -> Entry | None:
    """Return the kernel's entry, reporting one that is missing on a target."""
    templates = template_names(build.declared)
    chosen: Entry | None = None
    absent: list[str] = []
    report: Diagnostic | None = None
    for target, facts in build.facts.items():
        found = find_entry(kernel, entries_of(facts), build.names, templates)
        if isinstance(found, Diagnostic):
            report = found
            absent.append(target)
        else:
            chosen = found
    if report is None:
        return chosen
    if chosen is not None:
        note = "it is there for other targets, not for " + " and ".join(f"`{t}`" for t in absent)
        report = replace(report, notes=(note,))
    context.collector.add(report)
    return None


def _differing(kernel: FlatKernel, targets: Iterable[str]) -> Diagnostic:
    names = ", ".join(f"`{name}`" for name in targets)
    return Diagnostic(
        "PLC421",
        f"the parameters of kernel `{kernel.name}` differ between the targets {names}",
        kernel.entry_span,
        help="declare the same parameters whatever `__CUDA_ARCH__` is",
        facts={"kernel": kernel.name},
    )


def _named(written: tuple[SourceParameter, ...], kernel: FlatKernel) -> tuple[SourceParameter, ...]:
    """Give a parameter without a name in the source the graph's name for it."""
    declared = kernel.parameters or ()
    names = [p.name for p in declared] if len(declared) == len(written) else []
    return tuple(
        item if item.name else replace(item, name=names[i] if names else f"arg{i}")
        for i, item in enumerate(written)
    )


def _report_cache(context: Context) -> None:
    if context.cache.problem:
        folder = context.cache.folder.as_posix()
        context.collector.add(
            Diagnostic(
                "PLC422",
                f"compiled kernels cannot be kept in `{folder}`: {context.cache.problem.lower()}",
                help="name a folder that can be written in `PLANC_CACHE`",
                facts={"folder": folder},
            )
        )
