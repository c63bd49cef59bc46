"""The table of checks names codes that exist, and gives each item one."""

import re
from pathlib import Path

from planc.diagnostics import CATALOGUE

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"
ITEMS = (
    "syntax",
    "unknown keys",
    "duplicate keys",
    "types",
    "unresolved names",
    "cycles",
    "bad expressions",
    "out-of-bounds",
    "misaligned views",
    "overlapping copies",
    "number of kernel arguments",
    "width and alignment",
    "names, types and signedness",
    "threads",
    "grid",
    "shared memory",
    "parameter bytes",
    "compile errors",
    "overlap of an `in` and an `out`",
    "writes to inputs and constants",
    "reads of scratch that nobody wrote",
    "outputs never written",
    "unused things",
    "races",
)


def rows():
    return [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in PAGE.read_text().splitlines()
        if line.startswith("| ") and not line.startswith(("| item", "| ---"))
    ]


def test_every_code_of_the_table_exists():
    named = set(re.findall(r"PLC\d{3}", PAGE.read_text()))
    assert len(named) > 100
    assert named <= set(CATALOGUE)


def test_every_item_has_a_code():
    assert all(re.fullmatch(r"(PLC\d{3} ?)+", codes) for _, codes in rows())
    for item in ITEMS:
        assert any(item in name for name, _ in rows()), item


def test_every_error_about_memory_names_arguments_and_order_is_in_the_table():
    named = {code for _, codes in rows() for code in codes.split()}
    families = [c for c in CATALOGUE if re.match(r"PLC(23\d|24\d|3\d\d|45\d|46\d|47\d|50\d)", c)]
    left = set(families) - named
    assert left == {"PLC239", "PLC323", "PLC324", "PLC477"}  # declarations, not in the list of items
