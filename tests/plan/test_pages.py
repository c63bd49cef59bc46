"""Each page of a code of plan files shows that code and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.diagnostics import PlancError, PlanError
from planc.diagnostics.families.plan import CODES
from planc.diagnostics.manual import manual_page


@pytest.mark.parametrize("code", [entry.code for entry in CODES])
def test_page_shows_its_code_alone(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = manual_page(code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlancError) as caught:
        exec(page.failing.files[0].text, {"__name__": "example"})
    assert isinstance(caught.value, PlanError)
    assert {d.code for d in caught.value.diagnostics} == {code}, str(caught.value)
    exec(page.mended.files[0].text, {"__name__": "example"})
