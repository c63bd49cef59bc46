"""``planc check --fix``: apply the fixes of diagnostics to the files they name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from planc.cli.writing import write_new
from planc.diagnostics import Diagnostic, Edit
from planc.hazards import apply_fixes


def fix_files(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Apply every fix; return the files that changed. Each is written beside and renamed."""
    edits: defaultdict[str, list[Edit]] = defaultdict(list)
    for found in diagnostics:
        for edit in found.fix.edits if found.fix else ():
            edits[edit.span.file].append(edit)
    changed = []
    for name, wanted in edits.items():
        path = Path(name)
        old = path.read_bytes().decode("utf-8")
        new = apply_fixes(old, wanted)
        if new != old:
            write_new(path, new, replace=True)
            changed.append(name)
    return changed
