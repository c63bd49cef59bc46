"""The analysis of one launch of one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from planc.effects.bounds import Facts
from planc.effects.collect import collect_effects
from planc.effects.engine import Engine, TooLargeError
from planc.effects.findings import Search
from planc.effects.flow import Flow, function_flow
from planc.effects.launch import LaunchFacts, PointerFact
from planc.effects.result import Effect, KernelEffects
from planc.effects.state import State
from planc.effects.walk import Walker
from planc.ptx.syntax import Module


@dataclass(slots=True, eq=False)
class FirstStage:
    """What is the same for every launch of a module's kernels."""

    module: Module
    flows: dict[str, Flow] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Module) -> FirstStage:
        """Prepare every function that has a body."""
        stage = cls(module)
        for name, function in module.functions.items():
            if function.body:
                stage.flows[name] = function_flow(function)
        return stage


def analyse_once(stage: FirstStage, entry: str, launch: LaunchFacts) -> KernelEffects:
    """Return the effects of one launch; see :func:`planc.effects.analyse`."""
    flow = stage.flows.get(entry)
    if flow is None:
        return _nothing_known(entry, launch, "the kernel has no instructions")
    if not flow.graph.is_reducible:
        return _nothing_known(entry, launch, "the kernel has a loop with two entries")
    engine = Engine(stage.module, launch)
    try:
        Walker(engine, stage.flows, flow).run(State({}, Facts()))
    except TooLargeError:
        return _nothing_known(entry, launch, "the kernel is too large to be followed")
    effects, mets = collect_effects(engine, entry)
    return replace(effects, findings=Search(stage, engine, entry).run(mets))


def _nothing_known(entry: str, launch: LaunchFacts, reason: str) -> KernelEffects:
    pointers = [o for o, fact in launch.parameters.items() if isinstance(fact, PointerFact)]
    effects: Mapping[int, Effect] = {o: Effect("unknown", (), None, (), False, reason) for o in pointers}
    return KernelEffects(entry, effects, {}, (), (reason,))
