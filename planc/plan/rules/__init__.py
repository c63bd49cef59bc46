"""What a plan must satisfy beyond its container: one set of rules for the writer and the reader.

The rules come in stages. All rules of a stage report together; a later stage may rely on the
earlier ones (an index is in range before it is used), so it runs only if they found nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from planc.plan.findings import Findings
from planc.plan.program import Plan
from planc.plan.rules.arguments import arguments
from planc.plan.rules.blobs import blobs
from planc.plan.rules.boxes import boxes, well_formed
from planc.plan.rules.declared import declared, plan_texts
from planc.plan.rules.effects import effects
from planc.plan.rules.operations import operations
from planc.plan.rules.order import edges
from planc.plan.rules.references import parameters, references
from planc.plan.rules.schedules import coverage, orders, placements
from planc.plan.rules.scope import Scope

__all__ = ["check_plan", "validate"]

Rule = Callable[[Scope], None]

STAGES: tuple[tuple[Rule, ...], ...] = (
    (declared,),
    (references,),
    (parameters, well_formed),
    (boxes, operations, arguments, edges, orders, placements),
    (effects, coverage),
)


def validate(plan: Plan) -> None:
    """Check everything that can be wrong with a plan in memory, digests of blobs included.

    Raises :class:`planc.diagnostics.PlanError` with all findings of the first stage that has any.
    """
    found = Findings()
    for program in plan.programs:
        blobs(program, found)
    found.settle()
    check_plan(plan)


def check_plan(plan: Plan) -> None:
    """Check a plan whose images and constants are known to have their digests."""
    found = Findings()
    plan_texts(plan, found)
    found.settle()
    scopes = [
        Scope(program, schedules, found)
        for program, schedules in zip(plan.programs, plan.schedules, strict=True)
    ]
    for stage in STAGES:
        for rule in stage:
            for scope in scopes:
                rule(scope)
        found.settle()
