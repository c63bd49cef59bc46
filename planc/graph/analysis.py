"""The analysis of the PTX of a graph's kernels, for every target, each distinct text and launch once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planc.diagnostics import PlancError
from planc.effects import (
    Analyser,
    BytesFact,
    IntegerFact,
    KernelEffects,
    LaunchFacts,
    PointerFact,
)
from planc.graph.binding import Bound
from planc.graph.launch import Launch
from planc.graph.values import integer_range
from planc.graph.views import View
from planc.kernels.artifact import KernelArtifact, ModuleArtifact
from planc.plan.dtypes import DType
from planc.ptx import parse
from planc.source.flat import FlatScalar, Number

_ALIGN = 16
"""No access of the PTX ISA needs more ("Addresses as Operands"; vectors are at most 16 bytes)."""
_HEADER = (".version", ".target")

ParameterFact = PointerFact | IntegerFact | BytesFact


class Analyses:
    """The analysers of all modules. Targets whose PTX differs in its header alone share one."""

    def __init__(self) -> None:
        """Start with none; modules are parsed when they are first asked for."""
        self._texts: dict[str, Analyser | None] = {}
        self._modules: dict[str, tuple[Analyser | None, ...]] = {}

    def of(self, artifact: KernelArtifact, launch: LaunchFacts) -> tuple[KernelEffects, ...]:
        """Return the effects of a launch, one for each distinct PTX of the kernel; none where there is none.

        A module some of whose PTX cannot be analysed has none either: nothing is proved of it.
        """
        analysers = self._of_module(artifact.module)
        if any(a is None or artifact.symbol not in a.module.functions for a in analysers):
            return ()
        return tuple(a.analyse(artifact.symbol, launch) for a in analysers if a is not None)

    def _of_module(self, module: ModuleArtifact) -> tuple[Analyser | None, ...]:
        if module.key not in self._modules:
            targets = {image.target for image in module.images}
            texts = [image for image in module.images if image.form == "ptx"]
            if {image.target for image in texts} != targets:
                texts = []
            found = [self._of_text(bytes(image.data)) for image in texts]
            self._modules[module.key] = tuple(dict.fromkeys(found))
        return self._modules[module.key]

    def _of_text(self, data: bytes) -> Analyser | None:
        text = data.decode("utf-8", "replace")
        key = "\n".join("" if line.startswith(_HEADER) else line for line in text.split("\n"))
        if key not in self._texts:
            try:
                self._texts[key] = Analyser(parse(text))
            except PlancError:
                self._texts[key] = None
        return self._texts[key]


def launch_facts(bound: Sequence[Bound], launch: Launch, scalars: Mapping[str, FlatScalar]) -> LaunchFacts:
    """Return what is known of a run before it happens: a slot may be anything in its range."""
    parameters: dict[int, ParameterFact] = {}
    for b in bound:
        fact = _pointer(b.view) if b.view is not None else _scalar(b, scalars)
        if fact is not None:
            parameters[b.parameter.offset] = fact
    return LaunchFacts(launch.grid, launch.block, launch.shared, parameters)


def _pointer(view: View) -> PointerFact:
    """Return the bytes that may be used from the address on; a view that runs backwards has others before it.

    Places in the buffer that an alignment cannot tell apart are the same, so that rows share one analysis.
    """
    align = min(view.known.buffer.align, _ALIGN)
    return PointerFact(view.footprint.interval[1] - view.box.offset, view.box.offset % align, align)


def _scalar(bound: Bound, scalars: Mapping[str, FlatScalar]) -> ParameterFact | None:
    dtype = bound.parameter.dtype
    assert dtype is not None
    if bound.slot is None:
        if dtype.kind not in "iu":
            return BytesFact(bound.data)
        value = int.from_bytes(bound.data, "little", signed=dtype.kind == "i")
        return IntegerFact(dtype.itemsize, value, value)
    if dtype.kind == "f" or bound.scalar is None:
        return None
    low, high = _range(scalars[bound.scalar], dtype)
    return IntegerFact(dtype.itemsize, int(low), int(high))


def _range(scalar: FlatScalar, dtype: DType) -> tuple[Number, Number]:
    low, high = (0, 1) if dtype.kind == "b" else integer_range(dtype)
    return low if scalar.low is None else scalar.low, high if scalar.high is None else scalar.high
