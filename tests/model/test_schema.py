"""The models and their JSON Schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from planc.model import (
    DTYPE_NAMES,
    OPERATIONS,
    SECTIONS,
    UNITS,
    Fragment,
    GraphFile,
    fragment_schema,
    json_schema,
)
from planc.plan.dtypes import DTYPES
from tests.source.cases import CASES
from tests.source.helpers import marked
from tests.source.test_equal import LONG, YAML, as_json

ROOT = Path(__file__).parent.parent.parent


def test_the_committed_schemas_are_those_of_the_models() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "schemas.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert json.loads((ROOT / "schemas" / "graph.schema.json").read_text()) == json_schema()


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("schema", [json_schema(), fragment_schema()], ids=["graph", "declarations"])
def test_every_field_is_described_and_no_key_is_open(schema: dict[str, Any]) -> None:
    fields = 0
    for item in objects(schema):
        if "properties" in item and isinstance(item["properties"], dict):
            assert item.get("additionalProperties") is False
            for name, field in item["properties"].items():
                assert field.get("description"), name
                fields += 1
        if isinstance(item.get("pattern"), str):
            re.compile(item["pattern"])
    assert fields > 50


def test_element_types_are_those_of_the_plan() -> None:
    assert tuple(DTYPES) == DTYPE_NAMES


class Validator:
    """As much of JSON Schema as the schemas use."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def fits(self, value: Any, schema: dict[str, Any] | None = None) -> bool:
        schema = self.schema if schema is None else schema
        return all(
            getattr(self, "_" + key.strip("$"), self._ignore)(value, schema[key], schema) for key in schema
        )

    def _ignore(self, value: Any, rule: Any, schema: dict[str, Any]) -> bool:
        return True

    def _ref(self, value: Any, rule: str, schema: dict[str, Any]) -> bool:
        return self.fits(value, self.schema["$defs"][rule.rpartition("/")[2]])

    def _type(self, value: Any, rule: str | list[str], schema: dict[str, Any]) -> bool:
        kinds = {
            "string": isinstance(value, str),
            "boolean": isinstance(value, bool),
            "integer": isinstance(value, int) and not isinstance(value, bool),
            "number": isinstance(value, int | float) and not isinstance(value, bool),
            "array": isinstance(value, list),
            "object": isinstance(value, dict),
        }
        return any(kinds[kind] for kind in ([rule] if isinstance(rule, str) else rule))

    def _oneOf(self, value: Any, rule: list[Any], schema: dict[str, Any]) -> bool:
        return sum(self.fits(value, choice) for choice in rule) == 1

    def _anyOf(self, value: Any, rule: list[Any], schema: dict[str, Any]) -> bool:
        return any(self.fits(value, choice) for choice in rule)

    def _enum(self, value: Any, rule: list[Any], schema: dict[str, Any]) -> bool:
        return value in rule

    def _const(self, value: Any, rule: Any, schema: dict[str, Any]) -> bool:
        return bool(value == rule)

    def _pattern(self, value: Any, rule: str, schema: dict[str, Any]) -> bool:
        return not isinstance(value, str) or re.search(rule, value) is not None

    def _properties(self, value: Any, rule: dict[str, Any], schema: dict[str, Any]) -> bool:
        return not isinstance(value, dict) or all(
            self.fits(value[k], s) for k, s in rule.items() if k in value
        )

    def _additionalProperties(self, value: Any, rule: Any, schema: dict[str, Any]) -> bool:
        extra = (
            []
            if not isinstance(value, dict)
            else [v for k, v in value.items() if k not in schema.get("properties", {})]
        )
        return not extra if rule is False else rule is True or all(self.fits(v, rule) for v in extra)

    def _required(self, value: Any, rule: list[str], schema: dict[str, Any]) -> bool:
        return not isinstance(value, dict) or all(key in value for key in rule)

    def _items(self, value: Any, rule: dict[str, Any], schema: dict[str, Any]) -> bool:
        return not isinstance(value, list) or all(self.fits(item, rule) for item in value)

    def _minItems(self, value: Any, rule: int, schema: dict[str, Any]) -> bool:
        return not isinstance(value, list) or len(value) >= rule

    def _maxItems(self, value: Any, rule: int, schema: dict[str, Any]) -> bool:
        return not isinstance(value, list) or len(value) <= rule


GRAPH = Validator(json_schema())


def plain(text: str) -> Any:
    return json.loads(as_json(text))


GOOD = [YAML, *(YAML.replace(short, long) for short, long in LONG.items())]
GOOD += [path.read_text() for path in sorted((ROOT / "plans").glob("*/graph.yaml"))]


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_schema_and_models_take_what_planc_takes(text: str) -> None:
    value = plain(text)
    assert GRAPH.fits(value)
    GraphFile.model_validate(value)


# Mistakes of shape, which the schema shows in an editor already; all others need planc.
OF_SHAPE = {"PLC122", "PLC123", "PLC124", "PLC125", "PLC126", "PLC127", "PLC121", "PLC120"}
SHAPELESS = [c for c in CASES if c.code in OF_SHAPE and c.why not in ("fill", "kernel")]


@pytest.mark.parametrize("case", SHAPELESS, ids=str)
def test_schema_refuses_mistakes_of_shape(case: Any) -> None:
    value = plain(marked(case.text)[0])
    assert not GRAPH.fits(value)
    if case.why not in ("role", "empty"):  # the reader of buffers, and of null, says these
        with pytest.raises(ValidationError):
            GraphFile.model_validate(value)


def test_units_cover_the_file() -> None:
    assert set(UNITS) == {*SECTIONS, "node"}
    names = set(Fragment.model_fields)
    assert names == {"planc", "include", *SECTIONS}
    value = plain(YAML)
    for section in SECTIONS:
        for unit in value.get(section, {}).values():
            UNITS[section].validate_python(unit)


def test_models_are_frozen_and_convert_nothing() -> None:
    file = GraphFile.model_validate({"planc": 1, "nodes": [{"join": True}]})
    with pytest.raises(ValidationError):
        file.name = "other"
    for wrong in ({"planc": "1"}, {"nodes": "[]"}, {"kernels": [1]}, {"nodes": [{"join": "true"}]}):
        with pytest.raises(ValidationError):
            GraphFile.model_validate({"planc": 1, "nodes": [], **wrong})


def test_operations_are_those_of_the_node_forms() -> None:
    for operation in OPERATIONS:
        names = [s for s in json_schema()["$defs"].values() if operation in s.get("required", ())]
        assert len(names) == 1, operation
