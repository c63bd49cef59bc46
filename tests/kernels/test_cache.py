"""The cache: what the key holds, damaged entries, races between processes, its size."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from planc.kernels import Cache, default_cache_folder, find_toolkit
from planc.kernels import cache as cache_module
from planc.kernels import instances as instances_module
from tests.kernels.helpers import Builder, Outcome, kernel

KEY = "ab" + "0" * 62
OTHER = "ab" + "1" * 62


@pytest.fixture
def own(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def entries(cache: Cache) -> list[Path]:
    return sorted(p for p in cache.folder.rglob("*") if p.is_file())


def test_round_trip(own: Cache) -> None:
    assert own.load(KEY) is None
    assert own.store(KEY, b"body") and own.load(KEY) == b"body"
    assert own.store(KEY, b"") and own.load(KEY) == b""
    assert [p.suffix for p in entries(own)] == [".kernel"]


def test_every_changed_or_missing_byte_is_found(own: Cache) -> None:
    own.store(KEY, b"some bytes")
    path = own.path(KEY)
    whole = path.read_bytes()
    for index in range(len(whole)):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        assert own.load(KEY) is None and not path.exists()
        path.write_bytes(whole[:index])
        assert own.load(KEY) is None
    path.write_bytes(whole + b"x")
    assert own.load(KEY) is None
    path.write_bytes(whole)
    assert own.load(KEY) == b"some bytes"


def test_an_entry_under_another_name_is_refused(own: Cache) -> None:
    own.store(KEY, b"body")
    own.path(KEY).rename(own.path(OTHER))
    assert own.load(OTHER) is None


def test_oldest_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1_300)
    keys = [f"{i:02x}" + "0" * 62 for i in range(6)]
    for age, key in enumerate(keys):
        cache.store(key, bytes(150))
        os.utime(cache.path(key), (age, age))
    assert cache.load(keys[0]) is not None  # used again, so no longer the oldest
    cache.store("ff" + "0" * 62, bytes(150))
    left = [key for key in keys if cache.path(key).exists()]
    assert keys[0] in left and keys[1] not in left and keys[5] in left
    assert sum(p.stat().st_size for p in entries(cache)) <= 1_300


def test_limit_zero_keeps_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=0)
    assert cache.store(KEY, b"x") and cache.load(KEY) is None and not entries(cache)


def test_files_of_writers_that_died_are_cleared(own: Cache) -> None:
    own.store(KEY, b"x")
    fresh, dead = own.path(KEY).parent / ".new-fresh", own.path(KEY).parent / ".new-dead"
    fresh.write_bytes(b"y")
    dead.write_bytes(b"z")
    os.utime(dead, (time.time() - 7_200,) * 2)
    own.store(OTHER, b"x")
    assert fresh.exists() and not dead.exists()


def test_a_folder_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    assert cache.load(KEY) is None and not cache.store(KEY, b"x") and cache.problem


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"PLANC_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/x/planc"),
        ({"PLANC_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "linux", "/h/.cache/planc"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/planc"),
        ({"LOCALAPPDATA": "/l", "HOME": "/h"}, "win32", "/l/planc/cache"),
    ],
)
def test_default_folder(environment: dict[str, str], platform: str, expected: str) -> None:
    assert default_cache_folder(environment, platform) == Path(expected)


RACE = """
import importlib.util, pathlib, random, sys
spec = importlib.util.spec_from_file_location("cache", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
cache = module.Cache(pathlib.Path(sys.argv[2]), limit=200_000)
chance = random.Random(int(sys.argv[3]))
hits = wrong = 0
for _ in range(200):
    number = chance.randrange(30)
    key = f"{number:02x}" + "0" * 62
    body = bytes([number]) * (10_000 + number)
    if chance.random() < 0.5:
        cache.store(key, body)
        continue
    found = cache.load(key)
    hits += found is not None
    wrong += found not in (None, body)
print(hits, wrong, cache.problem)
"""


def test_eight_processes(tmp_path: Path) -> None:
    """Writers, readers and pruners of one folder: no read gives wrong bytes, no write fails."""
    command = [sys.executable, "-c", RACE, str(cache_module.__file__), str(tmp_path)]
    running = [
        subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in range(8)
    ]
    found = [process.communicate(timeout=120)[0].split() for process in running]
    assert all(len(item) == 2 and item[1] == "0" for item in found), found
    assert sum(int(item[0]) for item in found) > 50
    assert not list(tmp_path.rglob(".new-*"))


# Builds through the cache

SOURCE = (
    '#include "n.h"\n#include <cuda_fp16.h>\n__global__ void f(int* x, __half* h) { *x = N; *h = h[1]; }\n'
)


@pytest.fixture
def project(tmp_path: Path, own: Cache, monkeypatch: pytest.MonkeyPatch) -> Builder:
    monkeypatch.chdir(tmp_path)
    builder = Builder(tmp_path / "project", own)
    builder.write("k.cu", SOURCE)
    builder.write("n.h", "#define N 3\n")
    return builder


class Counted:
    """Counts compilations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        original = instances_module.compile_ptx

        def counting(*arguments: object) -> object:
            self.count += 1
            return original(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(instances_module, "compile_ptx", counting)

    def of(self, outcome: Outcome) -> int:
        assert not outcome.errors
        count, self.count = self.count, 0
        return count


def test_what_is_compiled_again(project: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)

    def build(**more: object) -> int:
        targets = more.pop("targets", ("sm_80",))
        entry = str(more.pop("entry", "f"))
        return counted.of(project.build(kernel(project.folder, "k.cu", entry, **more), targets=targets))  # type: ignore[arg-type]

    assert build() == 1
    assert build() == 0
    assert build(targets=("sm_80", "sm_90")) == 1
    assert build(options=("-lineinfo",)) == 0
    assert build(options=("-fmad=false",)) == 1
    assert build(defines={"A": "1"}) == 1
    assert build(exact=True) == 1
    project.write("n.h", "#define N 4\n")
    assert build() == 1
    project.write("n.h", "#define N 3\n")
    assert build() == 0
    project.write("unrelated.h", "")
    assert build() == 0
    project.write("k.cu", SOURCE + "// end\n")
    assert build() == 1


def test_a_header_that_comes_to_stand_before_another(
    project: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    (project.folder / "n.h").unlink()
    project.write("late/n.h", "#define N 3\n")
    (project.folder / "early").mkdir()
    include = tuple((name, project.folder / name) for name in ("early", "late"))
    work = kernel(project.folder, "k.cu", "f", include_dirs=include)
    assert counted.of(project.build(work)) == 1
    project.write("early/n.h", "#define N 3\n")
    assert counted.of(project.build(work)) == 1


def test_names_count_as_well_as_bytes(project: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    assert counted.of(project.build(kernel(project.folder, "k.cu", "f"))) == 1
    project.write("copy.cu", SOURCE)
    assert counted.of(project.build(kernel(project.folder, "copy.cu", "f"))) == 1


def test_damaged_entries_are_made_again(project: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    work = kernel(project.folder, "k.cu", "f")
    first = project.build(work)
    assert counted.of(first) == 1
    (path,) = entries(project.cache)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:100], b"", whole[:-1] + bytes([whole[-1] ^ 0x80])):
        path.write_bytes(damaged)
        again = project.build(work)
        assert counted.of(again) == 1 and again.artifacts == first.artifacts
    assert path.read_bytes() == whole


def test_an_entry_of_another_shape_is_made_again(project: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch)
    work = kernel(project.folder, "k.cu", "f")
    first = project.build(work)
    assert counted.of(first) == 1
    (path,) = entries(project.cache)
    key = path.parent.name + path.stem
    for body in (b"", b"\x80", b"\xc1", b"\x81\xa3ptx\xc0", b"\x01"):
        project.cache.store(key, body)
        assert counted.of(project.build(work)) == 1
    assert project.build(work).artifacts == first.artifacts


def test_failures_are_not_kept(project: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("n.h", "#define N nothing\n")
    assert project.build(kernel(project.folder, "k.cu", "f")).errors
    assert not entries(project.cache)


def _build(folder: str) -> tuple[str, list[str]]:
    path = Path(folder)
    builder = Builder(path / "project", Cache(path / "cache"))
    artifact = builder.build(kernel(builder.folder, "k.cu", "f"), targets=("sm_80", "sm_90")).only()
    return artifact.module.key, [i.digest for i in artifact.module.images]


def test_processes_that_build_at_once(project: Builder, tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(_build, [str(tmp_path)] * 2, chunksize=1)
    assert all(item == found[0] for item in found)
    assert len(entries(project.cache)) == 2


def test_another_installation_compiles_again() -> None:
    """Code that names the folder of the headers must not be taken over from another installation."""
    here = find_toolkit()
    there = replace(here, include=tuple(Path("/elsewhere") / p.name for p in here.include))
    assert here.compiler != there.compiler
