"""A graph that passes the check compiles: the plan's own rules find nothing that the check did not."""

from __future__ import annotations

from pathlib import Path

import pytest

import planc
from planc.diagnostics import GraphError

PATTERN = """\
planc: 1
buffers:
  u: {{dtype: u8, shape: 64, role: output, align: {align}}}
nodes:
  - fill: {{target: u, pattern: 7, item: {item}}}
"""


@pytest.mark.parametrize("align", [1, 2, 4, 8])
@pytest.mark.parametrize("item", [1, 2, 4])
def test_patterns_of_buffers_with_little_alignment(align: int, item: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.yaml"
    path.write_text(PATTERN.format(align=align, item=item))
    report = planc.check(path)
    if align % item == 0:
        assert report.ok
        planc.write(tmp_path / "out.plan", planc.compile(path))
        return
    assert [d.code for d in report.diagnostics] == ["PLC313"]
    with pytest.raises(GraphError):
        planc.compile(path)
