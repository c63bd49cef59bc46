"""Writing the files of an example to a folder."""

from __future__ import annotations

from pathlib import Path

from planc.diagnostics.manual import Example


def unpack(example: Example, folder: Path) -> None:
    """Write each file of ``example`` below ``folder``."""
    for file in example.files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.text.encode())
