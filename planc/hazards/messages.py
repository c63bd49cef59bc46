"""Races as diagnostics: both nodes, the bytes, how it is known, and the edge that mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from planc.diagnostics import Diagnostic, Fact, Related
from planc.hazards.mend import Mending
from planc.hazards.races import Conflict, Race
from planc.hazards.references import Edge
from planc.plan.program import NONE, EffectKind, NodeKind, Program, Provenance
from planc.plan.regions import region_text
from planc.source.flat import FlatGraph

_EDGES = 6
SHOWN = 20
"""How many races are reported at most; the last report counts the others."""

_VERBS: Mapping[EffectKind, str] = MappingProxyType(
    {
        EffectKind.READ: "reads",
        EffectKind.WRITE: "writes",
        EffectKind.READ_WRITE: "reads and writes",
        EffectKind.REDUCE: "reduces into",
    }
)
_KNOWN: Mapping[Provenance, str] = MappingProxyType(
    {
        Provenance.OPERATION: "exact",
        Provenance.PROVED: "proved",
        Provenance.DECLARED: "declared",
        Provenance.ASSUMED: "assumed to stay inside its view",
        Provenance.UNKNOWN: "unknown",
    }
)


@dataclass(slots=True)
class _Group:
    """Races between the same two texts, over the same buffer; ``race`` is the nearest."""

    race: Race
    edges: list[Edge] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """How many pairs of nodes it stands for."""
        return len(self.edges)


def race_diagnostics(
    flat: FlatGraph, program: Program, races: Sequence[Race], count: int, mending: Mapping[Edge, Mending]
) -> list[Diagnostic]:
    """Return PLC502 and PLC503, one for each two texts and buffer, ``SHOWN`` at most.

    ``races`` are the listed ones, nearest first, of ``count`` in all.
    """
    groups = _grouped(flat, races)
    writer = _Writer(flat, program, mending)
    shown = list(groups.values())[:SHOWN]
    left = count - sum(g.pairs for g in shown)
    found = []
    for place, group in enumerate(shown):
        last = place == len(shown) - 1
        found.append(writer.diagnostic(group, left if last else 0))
    return found


def _grouped(flat: FlatGraph, races: Sequence[Race]) -> dict[object, _Group]:
    groups: dict[object, _Group] = {}
    for race in races:
        texts = (flat.nodes[race.first].site.key, flat.nodes[race.second].site.key)
        key = (texts, race.write_write, frozenset(c.buffer for c in race.conflicts))
        group = groups.setdefault(key, _Group(race))
        group.edges.append((race.first, race.second))
    return groups


class _Writer:
    def __init__(self, flat: FlatGraph, program: Program, mending: Mapping[Edge, Mending]) -> None:
        self._flat = flat
        self._program = program
        self._mending = mending

    def diagnostic(self, group: _Group, left: int) -> Diagnostic:
        """Return the report of one group; ``left`` races are mentioned as not shown."""
        race = group.race
        first, second = self._flat.nodes[race.first], self._flat.nodes[race.second]
        edge = next((e for e in group.edges if e in self._mending), None)
        mending = None if edge is None else self._mending[edge]
        return Diagnostic(
            "PLC503" if race.write_write else "PLC502",
            self._message(race),
            second.span,
            help=self._help(edge, mending),
            related=(Related(f"`{first.name}` is here, and no path joins the two", first.span),),
            notes=tuple(self._notes(group, left)),
            facts=self._facts(group),
            fix=None if mending is None else mending.fix,
        )

    def _message(self, race: Race) -> str:
        first, second = self._name(race.first), self._name(race.second)
        if not race.conflicts:
            return f"`{first}` and `{second}` race: one of them may touch anything"
        main = self._main(race)
        one, two = self._verb(main.first), self._verb(main.second)
        deeds = f"both {_plural(one)}" if one == two else f"the first {one} and the second {two}"
        return f"`{first}` and `{second}` race on `{self._buffer(main.buffer)}`: {deeds} {self._where(main)}"

    def _main(self, race: Race) -> Conflict:
        return next((c for c in race.conflicts if c.write_write), race.conflicts[0])

    def _where(self, conflict: Conflict) -> str:
        if conflict.buffer != conflict.other:
            other = self._buffer(conflict.other)
            return f"memory that it may share with `{other}`"
        span = f"bytes {conflict.low} to {conflict.high - 1}"
        if conflict.region is None:
            return f"some of {span}"
        return f"{span}, `{self._elements(conflict)}`"

    def _elements(self, conflict: Conflict) -> str | None:
        if conflict.region is None:
            return None
        buffer = self._program.buffers[conflict.buffer]
        return region_text(buffer.name, conflict.region, buffer.shape)

    def _notes(self, group: _Group, left: int) -> list[str]:
        race = group.race
        notes = []
        if race.conflicts:
            main = self._main(race)
            notes += [self._provenance(race.first, main.first), self._provenance(race.second, main.second)]
            notes += [
                f"they also race on `{self._buffer(c.buffer)}`, {self._where(c)}"
                for c in race.conflicts
                if c is not main
            ][:4]
        if group.pairs > 1:
            notes.append(f"{group.pairs - 1} more pairs of nodes from these two places race in the same way")
        if left > 0:
            notes.append(f"{left} more races are not shown")
        return notes

    def _provenance(self, node: int, effect: int) -> str:
        row = self._program.effects[effect]
        kind, span = Provenance(int(row["kind_provenance"])), Provenance(int(row["range_provenance"]))
        deed = f"`{self._name(node)}` {self._verb(effect)} it{self._parameter(node, int(row['parameter']))}"
        known = _KNOWN[kind] if kind is span else f"{_KNOWN[kind]}, its range {_KNOWN[span]}"
        return f"{deed}: {known}"

    def _parameter(self, node: int, parameter: int) -> str:
        row = self._program.nodes[node]
        if parameter == NONE or int(row["kind"]) != NodeKind.KERNEL:
            return ""
        function = self._program.functions[int(self._program.kernel_ops[int(row["op"])]["function"])]
        return f" through `{function.parameters[parameter].name}`"

    def _help(self, edge: Edge | None, mending: Mending | None) -> str:
        if edge is None or mending is None:
            return self._others()
        if not mending.references:
            before, after = (self._name(row) for row in edge)
            return f"let `{after}` come after `{before}`, and so in each iteration"
        texts = ", ".join(mending.references)
        return f"add `{texts}` to `after:` of `{self._flat.nodes[edge[1]].site.pattern}`"

    def _others(self) -> str:
        """Return the help for a race that the edges for other races mend on the way."""
        texts = []
        for (before, after), mending in self._mending.items():
            references = ", ".join(mending.references) or self._name(before)
            target = self._flat.nodes[after].site.pattern if mending.references else self._name(after)
            texts.append(f"`{references}` before `{target}`")
        distinct = list(dict.fromkeys(texts))
        more = f" and {len(distinct) - _EDGES} more" if len(distinct) > _EDGES else ""
        return f"what mends the other races mends this one: {', '.join(distinct[:_EDGES])}{more}"

    def _facts(self, group: _Group) -> dict[str, Fact]:
        race = group.race
        facts: dict[str, Fact] = {
            "nodes": [self._name(race.first), self._name(race.second)],
            "pairs": group.pairs,
        }
        if race.conflicts:
            main = self._main(race)
            facts |= {
                "buffer": self._buffer(main.buffer),
                "bytes": [main.low, main.high],
                "elements": self._elements(main),
                "kinds": [self._kind(main.first), self._kind(main.second)],
            }
        return facts

    def _name(self, node: int) -> str:
        return self._flat.nodes[node].name

    def _buffer(self, row: int) -> str:
        return self._program.buffers[row].name

    def _kind(self, effect: int) -> str:
        return EffectKind(int(self._program.effects[effect]["kind"])).name.lower()

    def _verb(self, effect: int) -> str:
        return _VERBS[EffectKind(int(self._program.effects[effect]["kind"]))]


def _plural(verb: str) -> str:
    """Return the verb for two nodes: ``reads and writes`` is ``read and write``."""
    return verb.replace("reads", "read").replace("writes", "write").replace("reduces", "reduce")
