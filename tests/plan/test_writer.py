"""Writing: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planc.plan import encode, file_digest, read, read_header, write
from planc.plan.example import example_plan, with_row
from tests.plan.refusals import codes

OTHER = replace(example_plan(), verdict="another")


def _only(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_write_then_read(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    assert path.read_bytes() == encode(example_plan())
    assert encode(read(str(path))) == path.read_bytes()
    assert read_header(path).file_digest == file_digest(path.read_bytes())
    assert _only(tmp_path) == {"a.plan"}


def test_two_folders_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two/deeper"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        write(folder / "a.plan", example_plan())
    assert (tmp_path / "one/a.plan").read_bytes() == (tmp_path / "two/deeper/a.plan").read_bytes()


def test_an_invalid_plan_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    before = path.read_bytes()
    bad = with_row(example_plan(), "kernel_ops", 0, block=(0, 1, 1))
    assert codes(lambda: write(path, bad)) == {"PLC650"}
    assert path.read_bytes() == before
    assert _only(tmp_path) == {"a.plan"}


@pytest.mark.parametrize("step", ["fsync", "replace", "write"])
def test_a_failing_disk_leaves_what_was_there(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    before = path.read_bytes()

    def fail(*arguments: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, "no space left on device")

    if step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    elif step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(os, "open", fail)
    assert codes(lambda: write(path, OTHER)) == {"PLC626"}
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert _only(tmp_path) == {"a.plan"}


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.plan", example_plan())
    assert _only(tmp_path) == set()


def test_modes(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o600)
    write(path, OTHER)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    assert codes(lambda: write(tmp_path / "none/a.plan", example_plan())) == {"PLC626"}
    assert codes(lambda: write(tmp_path / "folder", example_plan())) == {"PLC626"}
    assert codes(lambda: read(tmp_path / "none.plan")) == {"PLC625"}
    assert codes(lambda: read(tmp_path / "folder")) == {"PLC625"}
    assert codes(lambda: read_header(tmp_path / "none.plan")) == {"PLC625"}
    assert codes(lambda: read(tmp_path / "empty")) == {"PLC601"}
    assert codes(lambda: read_header(tmp_path / "empty")) == {"PLC601"}
    assert _only(tmp_path) == {"folder", "empty"}


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    path.write_bytes(b"not a plan at all" * 10)
    for mapped in (True, False):
        with pytest.raises(Exception, match=r"`.*a\.plan`: this is not a plan file") as caught:
            read(path, mapped=mapped)
        assert caught.value.diagnostics[0].facts["file"] == str(path)
