"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer


class ReportFormat(StrEnum):
    """Forms of a report."""

    TEXT = "text"
    JSON = "json"


class CheckFormat(StrEnum):
    """Forms of the diagnostics of ``planc check``."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Give a symbol another value.")
]
AllowOutside = Annotated[
    bool, typer.Option("--allow-outside", help="Let the file name files outside the project's folder.")
]
Format = Annotated[ReportFormat, typer.Option("--format", help="How to report.")]


def pairs(items: Iterable[str] | None, option: str) -> dict[str, str]:
    """Split ``NAME=VALUE`` items. Raises typer.BadParameter for one without ``=`` or given twice."""
    found: dict[str, str] = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{item!r} is not NAME=VALUE", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint=option)
        found[name] = value
    return found


def number(text: str, option: str) -> int | float | bool:
    """Read an integer (any base prefix), a float, ``true`` or ``false``."""
    words = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number", param_hint=option) from None


def settings(items: list[str] | None) -> dict[str, int | float]:
    """Read ``--set`` items."""
    return {name: number(value, "--set") for name, value in pairs(items, "--set").items()}
