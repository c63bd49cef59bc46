"""``planc explain CODE``: the manual page of a code."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from planc.cli.failures import guarded
from planc.cli.options import Format, ReportFormat
from planc.diagnostics import CATALOGUE
from planc.diagnostics.manual import Example, ManualPage, manual_page


@guarded
def explain(
    code: Annotated[str | None, typer.Argument(help="A code such as PLC301; without one, list all.")] = None,
    format: Format = ReportFormat.TEXT,
) -> None:
    """Say what a code means, with a failing example and a mended one."""
    if code is None:
        typer.echo(_listing(format))
        return
    wanted = code.upper() if code.upper().startswith("PLC") else f"PLC{code}"
    if wanted not in CATALOGUE:
        raise typer.BadParameter(f"{code!r} is no code of planc; `planc explain` lists them")
    page = manual_page(wanted)
    typer.echo(json.dumps(_json(page), indent=2) if format is ReportFormat.JSON else _text(page))


def _listing(format: ReportFormat) -> str:
    rows = [{"code": e.code, "severity": str(e.severity), "title": e.title} for e in CATALOGUE.values()]
    if format is ReportFormat.JSON:
        return json.dumps({"codes": rows}, indent=2)
    return "\n".join(f"{r['code']}  {r['severity']:7}  {r['title']}" for r in rows)


def _text(page: ManualPage) -> str:
    severity = CATALOGUE[page.code].severity
    parts = [f"{page.code} ({severity}): {page.title}", page.text]
    parts += ["Fails:", _files(page.failing), "Mended:", _files(page.mended)]
    return "\n\n".join(parts)


def _files(example: Example) -> str:
    shown = []
    for file in example.files:
        body = "\n".join(f"    {line}".rstrip() for line in file.text.splitlines())
        shown.append(f"  {file.name}\n{body}")
    return "\n\n".join(shown)


def _json(page: ManualPage) -> dict[str, object]:
    def example(of: Example) -> list[dict[str, str]]:
        return [{"name": f.name, "language": f.language, "text": f.text} for f in of.files]

    return {
        "code": page.code,
        "severity": str(CATALOGUE[page.code].severity),
        "title": page.title,
        "text": page.text,
        "failing": example(page.failing),
        "mended": example(page.mended),
    }
