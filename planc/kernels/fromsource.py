"""``source:`` kernels: CUDA C++ to one PTX and one cubin for each target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from planc.diagnostics import CATALOGUE, Diagnostic, GraphError, Severity
from planc.kernels.artifact import GlobalSymbol
from planc.kernels.context import Context, Group, ModuleBuild, image, module_artifact, report_all
from planc.kernels.cubin import read_linked
from planc.kernels.facts import facts_of_ptx, globals_of_ptx
from planc.kernels.includes import SearchScope, Unreadable, missing_folders, read_sources
from planc.kernels.instances import Built, Recipe, build_source, parse_stored
from planc.kernels.log import read_compiler_log, read_linker_log
from planc.kernels.options import compiler_options, refused_defines, refused_options
from planc.kernels.paths import Namer, display_path, is_inside
from planc.kernels.reports import (
    Scene,
    compiler_diagnostic,
    linker_diagnostic,
    mend_the_kernel,
    merge_targets,
    unreadable,
)
from planc.kernels.sources import SourceSet
from planc.kernels.target import Target
from planc.kernels.written import declarations_in
from planc.source.flat import FlatKernel


def build_from_source(group: Group, context: Context) -> ModuleBuild | None:
    """Build the module of CUDA C++ kernels; None, with reports, where that fails on a target."""
    sources = _read(group, context)
    if sources is None:
        return None
    first = group[0]
    options = compiler_options(first.options, first.defines or {})
    instances = tuple(sorted({k.entry for k in group if "<" in k.entry}))
    recipe = Recipe(sources, options, instances, first.exact)
    scene = Scene(sources, group, tuple(context.target_names), options.flags)
    built: dict[Target, Built] = {}
    for target in context.targets:
        context.step(f"{first.path_label} for {target.real}")
        try:
            built[target] = build_source(recipe, target, context.toolkit, context.cache)
        except RuntimeError as error:
            context.collector.add(_tool_failed(first, str(error)))
            return None
        except GraphError as error:
            context.collector.extend(_own_ptx(error, scene, target))
            return None
    found = [(t.real, d) for t, b in built.items() for d in _said(b, scene, context)]
    merged = merge_targets(found, context.target_names)
    context.collector.extend(merged)
    if any(CATALOGUE[d.code].severity is Severity.ERROR for d in merged):
        return None
    return _module(group, scene, built, context)


def _read(group: Group, context: Context) -> SourceSet | None:
    first = group[0]
    if context.toolkit.nvrtc is None:
        context.collector.add(_no_compiler(first))
        return None
    if not report_all(list(_settings(first, context)), context):
        return None
    namer = Namer(first.path, first.path_label, context.root, context.base)
    folders = tuple(path for _, path in first.include_dirs)
    scope = SearchScope(folders, context.root, context.allow_outside)
    try:
        return read_sources(first.path, namer, scope, context.headers)
    except Unreadable as error:
        context.collector.add(unreadable(first, error.path, display_path(error.path), error.reason))
        return None


def _settings(kernel: FlatKernel, context: Context) -> Iterator[Diagnostic]:
    facts = {"kernel": kernel.name}
    for option, cure in refused_options(kernel.options):
        message = f"compiler option `{option}` of kernel `{kernel.name}` is refused"
        yield Diagnostic("PLC411", message, kernel.span, cure, facts={**facts, "option": option})
    for name, reason, cure in refused_defines(kernel.defines or {}):
        message = f"macro `{name}` of kernel `{kernel.name}` {reason}"
        yield Diagnostic("PLC412", message, kernel.span, cure, facts={**facts, "macro": name})
    for folder in missing_folders(kernel.include_dirs):
        message = f"include folder `{folder}` of kernel `{kernel.name}` is not there"
        cure = "name a folder relative to the graph file, or leave it out"
        yield Diagnostic("PLC403", message, kernel.span, cure, facts={**facts, "folder": folder})
    if (outside := outside_project(kernel, context)) is not None:
        yield outside


def outside_project(kernel: FlatKernel, context: Context) -> Diagnostic | None:
    """Return PLC163 where a kernel's file lies outside the project and that is not allowed.

    ``planc.source`` reports most of them; this is for paths that did not come through it.
    """
    if context.allow_outside or is_inside(kernel.path, context.root):
        return None
    return Diagnostic(
        "PLC163",
        f"`{kernel.path_label}` lies outside the project",
        kernel.path_span,
        help="move the file into the project, or allow it with `--allow-outside`",
        facts={"kernel": kernel.name, "file": kernel.path_label},
    )


def _no_compiler(kernel: FlatKernel) -> Diagnostic:
    return Diagnostic(
        "PLC413",
        f"`{kernel.path_label}` cannot be compiled: NVRTC is not installed",
        kernel.path_span,
        help='install it with `pip install "planc[author]"`, or give the kernel as `ptx:`',
        facts={"kernel": kernel.name, "tool": "nvrtc"},
    )


def _tool_failed(kernel: FlatKernel, reason: str) -> Diagnostic:
    return Diagnostic(
        "PLC413",
        f"`{kernel.path_label}` cannot be compiled: {reason}",
        kernel.path_span,
        help="run `planc doctor`",
        facts={"kernel": kernel.name, "tool": "nvrtc"},
    )


def _own_ptx(error: GraphError, scene: Scene, target: Target) -> Iterator[Diagnostic]:
    """Report PTX of the compiler's that planc cannot read, at the graph's file."""
    for found in error.diagnostics:
        note = f"in the PTX that NVRTC made for `{target.real}`, line {found.span.line if found.span else 0}"
        cure = "give the kernel as `ptx:` made by another compiler, or write it without what makes this PTX"
        yield replace(found, span=scene.span, help=cure, notes=(*found.notes, note))


def _said(built: Built, scene: Scene, context: Context) -> Iterator[Diagnostic]:
    for message in read_compiler_log(built.compiler_log):
        yield from compiler_diagnostic(message, scene)
    ptx = built.ptx or ""
    for link in read_linker_log(built.linker_log):
        yield linker_diagnostic(link, ptx, scene)
    yield from _silent(built, scene)
    for folder in _named_folders(ptx, context.toolkit.include):
        yield Diagnostic(
            "PLC423",
            f"the code of `{scene.sources.main.name}` would name this machine's folder `{folder}`",
            scene.span,
            help="name the header itself in `#include` and not by a macro, or define `NDEBUG`",
            facts=scene.facts(),
        )


def _silent(built: Built, scene: Scene) -> Iterator[Diagnostic]:
    """Report a failure that no message explains."""
    compiler = any(m.error for m in read_compiler_log(built.compiler_log))
    if built.ptx is None and not compiler:
        text = built.compiler_log.strip() or "the compiler failed and did not say why"
        cure = mend_the_kernel(scene)
        yield Diagnostic("PLC406", text.splitlines()[0], scene.span, cure, facts=scene.facts())
    linker = any(m.error for m in read_linker_log(built.linker_log))
    if built.ptx is not None and not built.complete and not linker:
        text = built.linker_log.strip() or "the linker failed and did not say why"
        cure = mend_the_kernel(scene)
        yield Diagnostic("PLC416", text.splitlines()[0], scene.span, cure, facts=scene.facts())


def _named_folders(ptx: str, include: Sequence[Path]) -> list[str]:
    """Return the include folders whose names are in the PTX, as text or as bytes of a string."""
    found = []
    for folder in include:
        name = f"{folder.as_posix()}/"
        if name in ptx or ", ".join(map(str, name.encode())) in ptx:
            found.append(folder.as_posix())
    return found[:1]


def _module(
    group: Group, scene: Scene, built: Mapping[Target, Built], context: Context
) -> ModuleBuild | None:
    images = []
    facts = {}
    names: dict[str, str] = {}
    symbols: dict[str, GlobalSymbol] = {}
    for target, made in built.items():
        ptx = made.ptx or ""
        module = parse_stored(ptx, f"{scene.sources.main.name} ({target.real})")
        if isinstance(module, GraphError):
            context.collector.extend(_own_ptx(module, scene, target))
            return None
        images.append(image(target, "ptx", ptx.encode("utf-8", "surrogateescape")))
        if made.cubin is not None:
            images.append(image(target, "cubin", made.cubin))
        cubin = read_linked(made.cubin) if made.cubin is not None else None
        facts[target.real] = facts_of_ptx(module, cubin, target)
        symbols.update(globals_of_ptx(module))
        names.update(made.names)
    declared = declarations_in(scene.sources.project)
    return ModuleBuild(module_artifact(group, images, symbols), facts, names, declared)
