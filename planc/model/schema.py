"""The JSON Schemas of the language, generated from the models."""

from __future__ import annotations

from typing import Any

from planc.model.base import Form
from planc.model.graph import Fragment, GraphFile

DIALECT = "http://json-schema.org/draft-07/schema#"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of graph files (draft 7 keywords, which editors know best)."""
    return _schema(GraphFile, "planc graph")


def fragment_schema() -> dict[str, Any]:
    """Return the JSON Schema of files that ``include:`` names."""
    return _schema(Fragment, "planc declarations")


def _schema(form: type[Form], title: str) -> dict[str, Any]:
    schema = _tidy(form.model_json_schema(by_alias=True))
    schema.pop("title", None)
    return {"$schema": DIALECT, "title": title, **schema}


def _tidy(value: Any) -> Any:
    """Drop the titles that pydantic makes from field names, and defaults that say only "absent"."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, inner in value.items():
        if key == "title" and isinstance(inner, str):
            continue
        if key == "default" and inner in (None, [], {}):
            continue
        kept[key] = _tidy(inner)
    return _flat_null(kept)


def _flat_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Turn "X or null" into X: a file leaves a key out rather than write null."""
    choices = schema.get("anyOf")
    if not isinstance(choices, list):
        return schema
    left = [choice for choice in choices if choice != {"type": "null"}]
    if len(left) == len(choices):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(left) > 1:
        return {**rest, "anyOf": left}
    return {**left[0], **rest}
