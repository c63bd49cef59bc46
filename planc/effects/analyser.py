"""Analyses with a memory: launches that differ in nothing that matters share one result."""

from __future__ import annotations

from collections.abc import Hashable

from planc.effects.analyse import FirstStage, analyse_once
from planc.effects.launch import LaunchFacts, ParameterFact, PointerFact
from planc.effects.result import KernelEffects
from planc.effects.slices import EVERYTHING, Spans, relevant_parameters, takes_parameter_address
from planc.ptx.syntax import Module


class Analyser:
    """The effects of the kernels of one module.

    Keep one per digest of a module: control flow, slices and the results per launch are kept in it. Not for
    several threads at once.
    """

    def __init__(self, module: Module) -> None:
        """Prepare a module."""
        self._stage = FirstStage.of(module)
        self._relevant: dict[str, Spans] = {}
        self._results: dict[Hashable, KernelEffects] = {}

    @property
    def module(self) -> Module:
        """The module whose kernels are analysed."""
        return self._stage.module

    @property
    def count(self) -> int:
        """How many analyses were made; launches that share a result count once."""
        return len(self._results)

    def analyse(self, entry: str, launch: LaunchFacts) -> KernelEffects:
        """Return what a launch of kernel ``entry`` does.

        Raises KeyError where the module has no such kernel.
        """
        key = self._key(entry, launch)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = analyse_once(self._stage, entry, launch)
        return found

    def relevant(self, entry: str) -> Spans:
        """Return (first, end) of the parameter bytes that flow into addresses, guards or calls."""
        found = self._relevant.get(entry)
        if found is None:
            function = self.module.functions[entry]
            whole = takes_parameter_address(function)
            found = self._relevant[entry] = EVERYTHING if whole else relevant_parameters(function)
        return found

    def _key(self, entry: str, launch: LaunchFacts) -> Hashable:
        spans = self.relevant(entry)
        facts = tuple(
            (offset, fact)
            for offset, fact in sorted(launch.parameters.items())
            if isinstance(fact, PointerFact) or _matters(offset, fact, spans)
        )
        return entry, launch.grid, launch.block, facts


def _matters(offset: int, fact: ParameterFact, spans: Spans) -> bool:
    size = len(fact.data) if hasattr(fact, "data") else getattr(fact, "size", 8)
    return any(first < offset + size and offset < end for first, end in spans)


def analyse(module: Module, entry: str, launch: LaunchFacts) -> KernelEffects:
    """Return what a launch of kernel ``entry`` of ``module`` reads, writes and reduces.

    Nothing is guessed: what is not understood is ``unknown`` with its reason. For many launches
    of one module keep an :class:`Analyser`. Raises KeyError where the module has no such kernel.
    """
    return Analyser(module).analyse(entry, launch)
