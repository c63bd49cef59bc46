"""The native loops: compiled once, of this source, by whoever comes first; else the reason is told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from planc.runtime import native as natives
from tests.runtime.hosted import ROOT, run

CC = shutil.which(os.environ.get("CC", "cc"))
needs_compiler = pytest.mark.skipif(CC is None, reason="needs a C compiler")
SAY = "from planc.runtime.native import native; print(native())"


def say(**environment: str) -> str:
    """What `native` says in this environment, as on its first call."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return str(natives.native.__wrapped__())


@needs_compiler
def test_it_is_compiled_once_into_a_private_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)  # of no account: the folder within is its owner's alone
    cache = tmp_path / "planc" / "native"
    first = say(PLANC_CACHE=str(cache.parent))
    (made,) = cache.iterdir()
    assert first == f"native ({made})" and cache.stat().st_mode & 0o777 == 0o700
    before = made.stat().st_mtime_ns
    assert say(PLANC_CACHE=str(cache.parent), CC="/nowhere/cc") == first  # what is there needs no compiler
    assert made.stat().st_mtime_ns == before


@needs_compiler
def test_the_cache_follows_xdg(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PLANC_CACHE"}
    said = run(SAY, {**environment, "XDG_CACHE_HOME": str(tmp_path)}).strip()
    assert said.startswith(f"native ({tmp_path}/planc/native/_native-")


@needs_compiler
@pytest.mark.parametrize("damage", ["garbage", "another source", "empty"])
def test_a_file_that_is_not_what_its_name_says_is_compiled_again(tmp_path: Path, damage: str) -> None:
    good = say(PLANC_CACHE=str(tmp_path))
    (made,) = (tmp_path / "native").iterdir()
    made.unlink()
    if damage == "another source":
        natives.compile_native(made, "0" * 64)
    else:
        made.write_bytes(b"no library at all" if damage == "garbage" else b"")
    assert say(PLANC_CACHE=str(tmp_path)) == good
    assert list(made.parent.iterdir()) == [made]


@needs_compiler
def test_processes_that_come_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PLANC_CACHE": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", SAY]
    running = [
        subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = {process.communicate(timeout=120)[0].strip() for process in running}
    (made,) = (tmp_path / "native").iterdir()
    assert said == {f"native ({made})"}


@needs_compiler
@pytest.mark.parametrize("options", [(), ("-DPLANC_NO_HEADER",)], ids=["Python.h", "no Python.h"])
def test_it_compiles_with_and_without_pythons_headers(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Strictly, and it works: an unknown kind of node is refused, an argument that is no address raises."""
    digest = natives.source_digest()
    path = tmp_path / "native" / f"_native-{digest[:24]}.abi3.so"
    path.parent.mkdir(mode=0o700)
    natives.compile_native(path, digest, *options, "-Wall", "-Wextra", "-Werror", "-std=c11")
    code = """
        import numpy as np
        from planc.runtime.loops import NativeLoop
        from planc.runtime.native import native
        from tests.runtime.test_loops import random_tables

        module = native().module
        tables = random_tables(0)
        tables.kinds[:] = 9
        handles = np.zeros(len(tables.kinds), np.uint64)
        for name in ("add", "set"):
            try:
                getattr(module, name)("no address")
            except TypeError:
                print("TypeError")
        loop = NativeLoop(module, [0] * 8)
        print(loop.add(1, 1, tables, handles), loop.set(1, 1, tables, handles, np.array([3, 4])))
        print(module.digest() == "%s", native().path)
    """
    said = run(code % digest, {**os.environ, "PLANC_CACHE": str(tmp_path)})
    assert said == f"TypeError\nTypeError\n(1, 0) (1, 0)\nTrue {path}\n"


def test_there_is_none_where_it_is_switched_off() -> None:
    assert say(PLANC_NATIVE="0") == "in Python (PLANC_NATIVE is 0)"


@pytest.mark.parametrize(
    ("compiler", "said"),
    [
        ("/nowhere/cc", "no C compiler `/nowhere/cc`"),
        ("false", "`false` failed: exit code 1"),
        ("", "no C compiler ``"),
    ],
)
def test_without_a_compiler_the_reason_is_told(tmp_path: Path, compiler: str, said: str) -> None:
    assert say(PLANC_CACHE=str(tmp_path), CC=compiler) == f"in Python ({said})"
    assert list((tmp_path / "native").iterdir()) == []


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "native"
    folder.mkdir()
    folder.chmod(0o777)
    assert say(PLANC_CACHE=str(tmp_path)) == f"in Python ({folder} can be written to by others)"


def test_a_cache_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = say(PLANC_CACHE=str(tmp_path / "file" / "planc"))
    assert said.startswith("in Python (") and "NotADirectoryError" in said


def test_the_same_graph_without_a_compiler(environment: dict[str, str], tmp_path: Path) -> None:
    """A machine without `cc`: the loop in Python is taken, and the plan runs."""
    code = """
        from planc.runtime import load
        from planc.runtime.cuda import primary_context
        from tests.gpu.test_driver import fed
        from tests.runtime.programs import axpy_maker

        with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
            fed(exe).replay().wait()
            print(primary_context(0).loop.name, exe.read("y").tobytes().hex())
    """
    cached = {**environment, "PLANC_CACHE": str(tmp_path)}
    without = run(code, {**cached, "CC": "/nowhere/cc"}).split()
    with_ = run(code, cached).split()
    assert (without[0], with_[0]) == ("python", "native") and without[1] == with_[1]


def test_doctor_says_which_loop_is_in_use() -> None:
    command = [sys.executable, "-m", "planc", "doctor", "--no-packages"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PLANC_NATIVE": "0"}, capture_output=True, text=True, check=True
    )
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("graphs are built")]
    assert textwrap.dedent(row).split(maxsplit=3)[3] == "in Python (PLANC_NATIVE is 0)"
