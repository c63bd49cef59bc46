"""YAML to a tree with places, from the events of libyaml, or of PyYAML's own parser where that lacks.

Events rather than PyYAML's loader, because the loader keeps the last of two equal keys in silence,
resolves scalars by YAML 1.1, and would expand aliases before anyone could count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from planc.source.limits import Limits
from planc.source.report import Report
from planc.source.syntax.composer import GIVE_UP_CURES, Composer, Unreadable
from planc.source.syntax.text import SourceText
from planc.source.syntax.tree import Tree

ParserFactory = Callable[[str], Any]


class PureParser(Reader, Scanner, Parser):
    """PyYAML's parser in Python, with the interface of ``CParser``."""

    def __init__(self, stream: str) -> None:
        """Parse ``stream``."""
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)


def fastest_parser() -> ParserFactory:
    """Return libyaml's parser if PyYAML was built with it, else PyYAML's own."""
    try:
        found: ParserFactory = import_module("yaml.cyaml").CParser
    except ImportError:
        return PureParser
    return found


def read_yaml(
    source: SourceText, limits: Limits, report: Report, parser: ParserFactory | None = None
) -> Tree | None:
    """Read the one document of a YAML text; None where it cannot be read, which is reported."""
    composer = Composer(source, limits, report)
    handlers: dict[type, Callable[[Any], None]] = {
        yaml.ScalarEvent: composer.scalar,
        yaml.MappingStartEvent: composer.mapping,
        yaml.SequenceStartEvent: composer.sequence,
        yaml.MappingEndEvent: composer.end,
        yaml.SequenceEndEvent: composer.end,
        yaml.AliasEvent: composer.alias,
        yaml.DocumentStartEvent: composer.document,
    }
    try:
        for event in _events(parser or fastest_parser(), source.text):
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)
        return composer.result()
    except yaml.YAMLError as error:
        _syntax_error(error, composer)
    except Unreadable:
        pass
    return None


def _events(parser: ParserFactory, text: str) -> Iterator[Any]:
    events = parser(text)
    while (event := events.get_event()) is not None:
        yield event


def _syntax_error(error: yaml.YAMLError, composer: Composer) -> None:
    """Report what the parser stumbled over: PLC107, PLC108 (a tab) or PLC115 (a bracket split)."""
    source, report = composer.source, composer.report
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        report.add("PLC107", "the file is not YAML", source.span(1, 1), help=_cure(str(error)))
        return
    problem = getattr(error, "problem", None) or "it cannot be read"
    place = source.span(mark.line + 1, mark.column + 1)
    line = source.lines[mark.line] if mark.line < len(source.lines) else ""
    tab = line.find("\t")
    if tab >= 0 and (not line[:tab].strip() or tab == mark.column):
        place = source.span(mark.line + 1, tab + 1)
        report.add("PLC108", "a tab indents this line", place, help="indent with spaces")
    elif "nesting depth" in problem:  # libyaml has a cap of its own, on tokens read ahead
        report.add("PLC114", "nested too deeply", place, help=GIVE_UP_CURES["PLC114"])
    elif line[mark.column : mark.column + 1] in ("[", "{") and composer.ends_at(mark):
        composer.split()
    else:
        report.add("PLC107", f"the file is not YAML here: {problem}", place, help=_cure(problem))


def _cure(problem: str) -> str:
    if "mapping values" in problem:
        return "put the text in quotes: a colon with a space after it begins a mapping"
    if "cannot start any token" in problem:
        return "put the text in quotes: YAML gives this character a meaning of its own"
    return "check indentation, brackets and quotes on this line and the one before"
