"""docs/plan-format.md says what the code does: every table, field, key and limit."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planc.plan import limits, schema
from planc.plan.dtypes import DTYPES
from planc.plan.layout import (
    DEBUG_SECTIONS,
    FORMAT,
    MAGIC,
    PRELUDE,
    PROGRAM_SECTIONS,
    SCHEDULE_SECTIONS,
    SEALED,
)
from planc.plan.program import EdgeOrigin, EdgeType, EffectKind, NodeKind, Provenance, RelocationKind

PAGE = (Path(__file__).parents[2] / "docs/plan-format.md").read_text(encoding="utf-8")
TABLES: dict[str, np.dtype[Any]] = {
    **PROGRAM_SECTIONS,
    **DEBUG_SECTIONS,
    **{f"schedule.{name}": dtype for name, dtype in SCHEDULE_SECTIONS.items()},
}


def _section(name: str) -> str:
    (text,) = re.findall(rf"^### `{re.escape(name)}`, .*?(?=^##|\Z)", PAGE, re.M | re.S)
    return str(text)


def _rows(text: str) -> list[list[str]]:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    return [row for row in rows if not set(row[0]) <= {"-", " "}][1:]


def _spelled(dtype: np.dtype[Any]) -> str:
    base, shape = dtype.base, dtype.shape
    return f"{base.kind}{base.itemsize}" + (f" x {shape[0]}" if shape else "")


def test_page_has_exactly_the_tables_of_the_code() -> None:
    assert re.findall(r"^### `([a-z_.]+)`", PAGE, re.M) == list(TABLES)


@pytest.mark.parametrize("name", list(TABLES))
def test_rows_have_their_bytes(name: str) -> None:
    (size,) = re.findall(rf"^### `{re.escape(name)}`, (\d+) bytes?$", PAGE, re.M)
    assert int(size) == TABLES[name].itemsize


@pytest.mark.parametrize("name", [name for name, dtype in TABLES.items() if dtype.names])
def test_fields_are_those_of_the_code(name: str) -> None:
    dtype = TABLES[name]
    documented = [(row[2].strip("`"), int(row[0]), row[1]) for row in _rows(_section(name))]
    assert dtype.names is not None and dtype.fields is not None
    wanted = [(n, dtype.fields[n][1], _spelled(dtype.fields[n][0])) for n in dtype.names]
    assert documented == wanted
    assert sum(dtype.fields[n][0].itemsize for n in dtype.names) == dtype.itemsize


def test_prelude() -> None:
    rows = _rows(PAGE[PAGE.index("## Container") : PAGE.index("## Header")])
    assert [row[2] for row in rows] == [
        *("`magic`", "`major`", "`minor`", "`header_length`", "`file_length`", "`zeros`", "`seal`")
    ]
    offset = 0
    sizes = [int(row[1]) for row in rows]
    for row, size in zip(rows, sizes, strict=True):
        assert int(row[0]) == offset
        offset += size
    assert offset == PRELUDE.size and offset - sizes[-1] == SEALED
    assert PRELUDE.format == "<8sHHIQ8s32s" and sizes == [8, 2, 2, 4, 8, 8, 32]
    assert rows[0][3] == f"`{MAGIC.hex(' ')}`"
    assert (int(rows[1][3]), int(rows[2][3])) == FORMAT
    assert f"format {FORMAT[0]}.{FORMAT[1]}" in PAGE


def test_header_keys() -> None:
    rows = _rows(PAGE[PAGE.index("## Header") : PAGE.index("## Tables")])
    documented = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in rows}
    wanted = {
        name: [key for key, _ in record.fields]
        for name, record in vars(schema).items()
        if isinstance(record, schema.Record)
    }
    assert documented == wanted


def test_words() -> None:
    (line,) = re.findall(r"^- dtype: .*$", PAGE, re.M)
    words = [re.findall(r"`(\w+)`", part) for part in line.split(". ")]
    assert words[0] == list(DTYPES)
    assert words[1] == list(schema.ROLE_WORDS)
    assert words[2] == list(schema.FORMS)


@pytest.mark.parametrize(
    ("table", "field", "kinds"),
    [
        ("nodes", "kind", NodeKind),
        ("edges", "origin", EdgeOrigin),
        ("effects", "kind", EffectKind),
        ("effects", "kind_provenance", Provenance),
        ("relocations", "kind", RelocationKind),
        ("schedule.edges", "type", EdgeType),
    ],
)
def test_kinds(table: str, field: str, kinds: type[IntEnum]) -> None:
    (meaning,) = [row[3] for row in _rows(_section(table)) if row[2] == f"`{field}`"]
    documented = {int(number): word for number, word in re.findall(r"\b(\d) ([a-z_]+)", meaning)}
    assert documented == {kind.value: kind.name.lower() for kind in kinds}


def test_limits() -> None:
    rows = _rows(PAGE[PAGE.index("## Limits") : PAGE.index("## Versions")])
    documented = {row[0].strip("`"): int(row[1].replace(",", "")) for row in rows}
    numbers = {name: value for name, value in vars(limits).items() if isinstance(value, int)}
    assert documented == numbers
    for dims in (limits.GRID, limits.BLOCK):
        assert " x ".join(f"{value:,}" for value in dims) in PAGE


def test_every_code_path_named_on_the_page_exists() -> None:
    root = Path(__file__).parents[2]
    for path in re.findall(r"`(planc/[\w/]+\.py)`", PAGE):
        assert (root / path).exists(), path
