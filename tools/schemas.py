#!/usr/bin/env python3
"""Write schemas/: the JSON Schemas of graph files, from the models. ``--check`` fails if they differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from planc.model import fragment_schema, json_schema  # noqa: E402

FOLDER = ROOT / "schemas"


def wanted() -> dict[str, str]:
    """Return the text of each file of schemas/, by name."""
    schemas = {"graph.schema.json": json_schema(), "declarations.schema.json": fragment_schema()}
    return {name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas.items()}


def main() -> int:
    """Write or compare."""
    new = wanted()
    old = {p.name: p.read_text(encoding="utf-8") for p in FOLDER.glob("*.json")}
    if "--check" in sys.argv[1:]:
        differing = sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))
        for name in differing:
            print(f"schemas/{name} differs from the models; run tools/schemas.py")
        return 1 if differing else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in new.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote schemas/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
