"""docs/language.md against the language: every key is named, and the caps are those in force."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planc.model import DTYPE_NAMES, OPERATIONS, PARAMETER_KINDS, ROLES, Form, GraphFile
from planc.source import LIMITS
from planc.source.expressions import FUNCTIONS
from planc.source.forms import EFFECTS

TEXT = (Path(__file__).parents[2] / "docs" / "language.md").read_text()

CAPS = {
    "size of a file": (f"{LIMITS.file_bytes // 2**20} MiB", "PLC102"),
    "mappings and lists inside each other": (str(LIMITS.depth), "PLC114"),
    "values in a file": (f"{LIMITS.values:,}", "PLC113"),
    "values that aliases repeat": (f"{LIMITS.aliased:,}", "PLC113"),
    "includes inside each other": (str(LIMITS.include_depth), "PLC161"),
    "loops and sub-graphs inside each other": (str(LIMITS.nesting), "PLC114"),
    "nodes after expansion": (f"{LIMITS.nodes:,}", "PLC164"),
    "edges after expansion": (f"{LIMITS.edges:,}", "PLC164"),
    "iterations and instances": (f"{LIMITS.steps:,}", "PLC164"),
    "characters of a text": (f"{LIMITS.expression_length:,}", "PLC133"),
    "brackets and operators inside each other": (str(LIMITS.expression_depth), "PLC134"),
}


@pytest.mark.parametrize("what", CAPS)
def test_caps(what: str) -> None:
    cap, code = CAPS[what]
    assert f"| {what} | {cap} | {code} |" in TEXT


def forms(form: type[Form] = Form) -> list[type[Form]]:
    return [inner for sub in form.__subclasses__() for inner in (sub, *forms(sub))]


def test_every_key_is_named() -> None:
    keys = {field.alias or name for form in forms() for name, field in form.model_fields.items()}
    assert "parameters" in keys and len(keys) > 40
    words = set(re.findall(r"\w+", TEXT))
    assert keys <= words, keys - words


def test_every_word_is_named() -> None:
    words = set(re.findall(r"\w+", TEXT))
    for group in (ROLES, OPERATIONS, PARAMETER_KINDS, DTYPE_NAMES, FUNCTIONS, EFFECTS):
        assert set(group) <= words
    assert set(GraphFile.model_fields) <= set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M))
