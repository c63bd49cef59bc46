"""Binding the arguments of an instance to the parameters of its sub-graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from planc.diagnostics import Fact, Related, Span
from planc.source.expressions import BROKEN, Environment, Number, kind_of
from planc.source.report import Report, advice
from planc.source.templates import ArgumentText, CallText, GraphTemplate, ParameterTemplate
from planc.source.values import A_SCALAR, BoundScalar, BoundView, Quantity, Refused
from planc.source.views import Shapes, ViewText

_GIVEN: Mapping[str, str] = {
    "buffer": "a buffer or a view of one",
    "int": "a whole number known now",
    "float": "a number known now",
    "bool": "`true`, `false` or a comparison",
    "scalar": "a number, or a scalar of the file",
}
_NUMBERS: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "scalar": (int, float, bool),
}


def bind(
    graph: GraphTemplate,
    call: CallText,
    environment: Environment,
    outside: Environment,
    shapes: Shapes,
    report: Report,
) -> dict[str, object]:
    """Return what each parameter of ``graph`` stands for in this instance.

    Arguments are evaluated in ``environment``, defaults in that of the file (``outside``). Raises Refused:
    PLC217 (missing, unknown, twice, too many), PLC218 (of another kind).
    """
    given = _match(graph, call, report)
    bound: dict[str, object] = {}
    failed = False
    for name, parameter in graph.parameters.items():
        try:
            argument = given.get(name)
            if argument is not None:
                bound[name] = _argument(parameter, argument, environment, shapes, report)
            else:
                bound[name] = _default(parameter, call, outside, report)
        except Refused:
            failed = True
    if failed:
        raise Refused
    return bound


def _match(graph: GraphTemplate, call: CallText, report: Report) -> dict[str, ArgumentText]:
    """Return the arguments by parameter."""
    names = list(graph.parameters)
    given: dict[str, ArgumentText] = {}
    failed = False
    for at, argument in enumerate(call.arguments):
        name = argument.name if argument.name is not None else (names[at] if at < len(names) else None)
        problem = cure = ""
        if name is None:
            problem = f"`{graph.name}` takes {len(names)} arguments"
            cure = "take this one out"
        elif name not in graph.parameters:
            problem = f"`{graph.name}` has no parameter `{name}`"
            cure = advice(name, [n for n in names if n not in given], "take this one out")
        elif name in given:
            problem = f"`{name}` is given twice"
            cure = "take one of them out"
        if problem or name is None:
            related = [Related("its parameters stand here", graph.span)]
            report.add("PLC217", problem, argument.span, help=cure, related=related)
            failed = True
        else:
            given[name] = argument
    if failed:
        raise Refused
    return given


def _default(parameter: ParameterTemplate, call: CallText, outside: Environment, report: Report) -> object:
    if parameter.default is None:
        message = f"the argument `{parameter.name}` is missing"
        related = [Related("the parameter stands here", parameter.span)]
        cure = f"write `{parameter.name}=…`, {_a(parameter.kind)}, or give the parameter a default"
        if parameter.kind == "buffer":
            cure = f"write `{parameter.name}=…`, a buffer or a view of one"
        facts: dict[str, Fact] = {"parameter": parameter.name}
        report.add("PLC217", message, call.span, help=cure, related=related, facts=facts)
        raise Refused
    value = parameter.default.evaluate(outside, report)
    return _number(parameter, value, parameter.default.span, report)


def _argument(
    parameter: ParameterTemplate,
    argument: ArgumentText,
    environment: Environment,
    shapes: Shapes,
    report: Report,
) -> object:
    value = argument.value
    if isinstance(value, Quantity):
        return _number(parameter, value.evaluate(environment, report), value.span, report)
    if value.form.indices is not None:
        return _view(parameter, value, environment, shapes, report)
    known = environment.get(value.form.name)
    if known is BROKEN:
        raise Refused
    if isinstance(known, int | float):
        return _number(parameter, known, value.span, report)
    if known is A_SCALAR or isinstance(known, BoundScalar):
        if parameter.kind != "scalar":
            _refuse(parameter, "a scalar", value.span, report)
        return known if isinstance(known, BoundScalar) else BoundScalar(value.form.name)
    if known is None and parameter.kind != "buffer":
        numbers = (name for name, other in environment.items() if isinstance(other, int | float))
        message = f"no symbol or loop variable is named `{value.form.name}`"
        cure = partial(advice, value.form.name, numbers, f"declare `{value.form.name}` under `symbols`")
        report.add("PLC202", message, value.span, help=cure)
        raise Refused
    return _view(parameter, value, environment, shapes, report)


def _view(
    parameter: ParameterTemplate, value: ViewText, environment: Environment, shapes: Shapes, report: Report
) -> BoundView:
    if parameter.kind != "buffer":
        _refuse(parameter, "a buffer", value.span, report)
    return BoundView(value.view(environment, shapes, report))


def _number(parameter: ParameterTemplate, value: Number, span: Span, report: Report) -> Number:
    allowed = _NUMBERS.get(parameter.kind, ())
    if type(value) not in allowed:
        _refuse(parameter, kind_of(value), span, report)
    return float(value) if parameter.kind == "float" else value


def _refuse(parameter: ParameterTemplate, what: str, span: Span, report: Report) -> None:
    message = f"`{parameter.name}` takes {_a(parameter.kind)}, not {what}"
    related = [Related("the parameter stands here", parameter.span)]
    cure = f"give {_GIVEN[parameter.kind]}, or declare the parameter as another kind"
    facts: dict[str, Fact] = {"parameter": parameter.name}
    report.add("PLC218", message, span, help=cure, related=related, facts=facts)
    raise Refused


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
