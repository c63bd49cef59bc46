"""Each page of a code of the runtime shows that code alone, and its mended example runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.diagnostics import PlancError
from planc.diagnostics.families.runtime import CODES
from planc.diagnostics.manual import manual_page

OURS = [entry.code for entry in CODES if entry.code < "PLC750"]


@pytest.mark.parametrize("code", OURS)
def test_page(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = manual_page(code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlancError) as caught:
        exec(page.failing.files[0].text, {"__name__": "example"})
    assert {d.code for d in caught.value.diagnostics} == {code}, str(caught.value)
    exec(page.mended.files[0].text, {"__name__": "example"})
