"""What one reference names, from where it stands: the meaning of indices in and out of loops."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from planc.diagnostics import Fact
from planc.source.expand import Frame, Instance, Scope, Turn
from planc.source.expressions import Environment, Expression, Fault, kind_of
from planc.source.forms import NodeIndex, PartForm, SliceForm
from planc.source.report import Help, Report, advice
from planc.source.templates import LoopHead, NodeTemplate, Reference
from planc.source.values import Refused


class Search:
    """Looks one reference up; ``environment`` holds the values of the loops around it (``frame``).

    An index is the value of the loop's variable. Outside of the loop a negative constant counts from the
    last iteration. Inside it ``t-k`` may lie before the first and then names nothing. Everything else
    must exist.
    """

    def __init__(self, reference: Reference, frame: Frame, environment: Environment, report: Report) -> None:
        """Look up ``reference``."""
        self.reference = reference
        self.frame = frame
        self.environment = environment
        self.report = report

    def find(self, scope: Scope) -> list[int | Instance]:
        """Return the rows and instances that it names in ``scope``.

        Raises Refused: PLC209 (unknown), PLC211 (out of range), PLC212 (number of indices), PLC213 (from the
        end, inside the loop), and the codes of expressions.
        """
        scopes = [scope]
        found: list[int | Instance] = []
        for depth, part in enumerate(self.reference.form.parts):
            found = [what for inner in scopes for what in self._part(part, inner, depth == 0)]
            if depth + 1 < len(self.reference.form.parts):
                scopes = [self._inside(what, part) for what in found]
        return found

    def _part(self, part: PartForm, scope: Scope, here: bool) -> list[int | Instance]:
        template = scope.body.names.get(part.name)
        if template is None:
            if part.name not in scope.body.names:
                self._unknown(part, scope)
            raise Refused
        if len(part.indices) != len(template.axes):
            self._wrong_count(part, template)
        if not template.axes:
            what = scope.found.get(part.name)
            if what is None:
                raise Refused
            return [what]
        levels: list[Any] = [scope.found.get(part.name, {})]
        for axis, index in zip(template.axes, part.indices, strict=True):
            turn = self._turn(axis) if here else None
            levels = [item for level in levels for item in self._pick(level, index, turn, part, scope)]
        return levels

    def _turn(self, axis: LoopHead) -> Turn | None:
        """Return the iteration of the loop ``axis`` in which the reference stands, if it stands in it."""
        for turn in self.frame.turns:
            if turn.head.key == axis.key:
                return turn
        return None

    def _inside(self, what: int | Instance, part: PartForm) -> Scope:
        if isinstance(what, int):
            message = f"`{part.name}` is a node, not an instance of a sub-graph"
            self._refuse("PLC209", message, part.start, part.end, "leave out what follows the dot")
        return what.scope

    def _pick(
        self,
        level: Mapping[int, Any],
        index: NodeIndex | SliceForm,
        turn: Turn | None,
        part: PartForm,
        scope: Scope,
    ) -> list[Any]:
        if isinstance(index, SliceForm):
            return self._slice(level, index, part, scope)
        return self._one(level, index, turn, part, scope)

    # -- one index ------------------------------------------------------------------------------

    def _one(
        self, level: Mapping[int, Any], index: NodeIndex, turn: Turn | None, part: PartForm, scope: Scope
    ) -> list[Any]:
        value = self._whole(index.value)
        if value in level:
            return [level[value]]
        variables = {variable for variable, _ in self.frame.pairs}
        if value < 0 and not index.value.names & variables:
            return [self._from_the_end(level, value, index, turn, part, scope)]
        if turn is not None and index.variable == turn.head.variable and not index.others & variables:
            first = next(iter(level), None)
            if first is None or (value < first if turn.forward else value > first):
                return []
        self._out_of_range(level, value, index.value, part, scope)

    def _from_the_end(
        self,
        level: Mapping[int, Any],
        value: int,
        index: NodeIndex,
        turn: Turn | None,
        part: PartForm,
        scope: Scope,
    ) -> Any:
        if turn is not None:
            message = f"`{part.name}[{index.value.text}]` counts from the end of the loop it stands in"
            cure = f"write `{part.name}[{turn.head.variable}-1]` for the iteration before"
            self._refuse("PLC213", message, index.value.start, index.value.end, cure)
        if -value > len(level):
            self._out_of_range(level, value, index.value, part, scope)
        return level[list(level)[value]]

    def _slice(self, level: Mapping[int, Any], index: SliceForm, part: PartForm, scope: Scope) -> list[Any]:
        if index.start is None and index.stop is None and index.step is None:
            return list(level.values())
        least, greatest = (min(level), max(level)) if level else (0, -1)
        start = least if index.start is None else self._whole(index.start)
        stop = greatest + 1 if index.stop is None else self._whole(index.stop)
        step = 1 if index.step is None else self._whole(index.step)
        for end, form in ((start, index.start), (stop, index.stop)):
            if form is not None and not least <= end <= greatest + 1:
                self._out_of_range(level, end, form, part, scope)
        if step < 1 and index.step is not None:
            cure = "write a step of 1 or more"
            self._refuse("PLC211", "the step is not positive", index.step.start, index.step.end, cure)
        return [level[value] for value in range(start, stop, step) if value in level]

    def _whole(self, expression: Expression) -> int:
        try:
            value = expression.evaluate(self.environment)
        except Fault as fault:
            fault.report(self.report, self.reference.place)
            raise Refused from None
        if type(value) is int:
            return value
        message = f"an index is an integer, not {kind_of(value)}"
        self._refuse("PLC137", message, expression.start, expression.end, "write a whole number")

    # -- reports --------------------------------------------------------------------------------

    def _unknown(self, part: PartForm, scope: Scope) -> NoReturn:
        where = f" in `{scope.prefix[:-1]}`" if scope.prefix else ""
        message = f"no node is named `{part.name}`{where}"
        cure = partial(advice, part.name, scope.body.names)
        self._refuse("PLC209", message, part.start, part.start + len(part.name), cure)

    def _wrong_count(self, part: PartForm, template: NodeTemplate) -> NoReturn:
        wanted = [loop.variable for loop in template.axes]
        if not wanted:
            message = f"`{part.name}` stands in no loop and takes no index"
            self._refuse("PLC212", message, part.start, part.end, f"write `{part.name}`")
        colons = ", ".join(":" for _ in wanted)
        count = "an index" if len(wanted) == 1 else f"{len(wanted)} indices"
        message = f"`{part.name}` takes {count}, for " + ", ".join(f"`{v}`" for v in wanted)
        cure = f"write `{part.name}[{colons}]` for all of them, `{part.name}[{', '.join(wanted)}]` for one"
        self._refuse("PLC212", message, part.start, part.end, cure)

    def _out_of_range(
        self, level: Mapping[int, Any], value: int, form: Expression, part: PartForm, scope: Scope
    ) -> NoReturn:
        if part.name in scope.missing:
            raise Refused
        what = f"`{part.name}` has no iteration {value}"
        range_ = f"; it has {min(level)} to {max(level)}" if level else "; its loop runs not once"
        where = ", ".join(f"{variable} = {at}" for variable, at in self.frame.pairs)
        notes = [f"where {where}"] if where else []
        place = self.reference.place.part(form.start, form.end)
        facts: dict[str, Fact] = {"node": part.name, "index": value}
        cure = (
            f"write an index from {min(level)} to {max(level)}" if level else "let its loop run at least once"
        )
        self.report.add("PLC211", what + range_, place, help=cure, notes=notes, facts=facts)
        raise Refused

    def _refuse(self, code: str, message: str, start: int, end: int, help: Help = "") -> NoReturn:
        self.report.add(code, message, self.reference.place.part(start, end), help=help)
        raise Refused
