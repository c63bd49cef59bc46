"""What is stored names nothing of the machine that made it, and is the same wherever it is made."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

from planc.kernels import Cache, KernelArtifact, find_toolkit
from planc.kernels.nvrtc import relative_files
from planc.kernels.paths import Namer, display_path, graph_folder
from tests.kernels.helpers import Builder, image, kernel

MAIN = """\
#include "util/a.h"
#include <shared.h>
#include <assert.h>
#include <stdio.h>
#include <cuda_fp16.h>
namespace { __device__ int hidden; }
static __device__ int local_static;
extern "C" __global__ void f(float* x, __half* h) {
  assert(x);
  printf("%s %s\\n", __FILE__, a_file());
  x[0] = helper(x[1]) + shared_helper(x[2]) + hidden++ + local_static++;
  h[0] = __hadd(h[1], h[2]);
}
"""
FILES = {
    "kernels/k.cu": MAIN,
    "kernels/util/a.h": '#pragma once\n#include "b.h"\n#include "../../include/shared.h"\n'
    "__device__ inline const char* a_file() { return __FILE__; }\n",
    "kernels/util/b.h": "#pragma once\n__device__ inline float helper(float x) { return x * 3; }\n",
    "include/shared.h": '#pragma once\n#include "b.h"\n'
    "__device__ inline float shared_helper(float x) { return x + SHARED_B; }\n",
    "include/b.h": "#define SHARED_B 5\n",
}


def build_in(folder: Path, age: int = 0) -> KernelArtifact:
    builder = Builder(folder, Cache(limit=0))
    for name, text in FILES.items():
        path = builder.write(name, text)
        os.utime(path, (1e9 + age, 1e9 + age))
    include = (("include", folder / "include"),)
    return builder.build(
        kernel(folder, "kernels/k.cu", "f", include_dirs=include), targets=("sm_80", "sm_90")
    ).only()


def test_two_folders_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "one", tmp_path / 'a much longer name, é "quoted" \\'
    built = []
    for age, folder in enumerate((first, second)):
        folder.mkdir()
        monkeypatch.chdir(folder)
        built.append(build_in(folder, age))  # the linker must not store the files' times
    one, two = built
    assert one.module == two.module
    needles = [str(tmp_path), str(first), str(Path.cwd()), "/work", "/root", "/tmp", "site-packages"]
    needles += [str(Path.home()), sysconfig.get_paths()["purelib"], *map(str, find_toolkit().include)]
    for held in one.module.images:
        data = bytes(held.data)
        for needle in needles:
            encoded = needle.encode()
            assert encoded not in data, needle
            assert ", ".join(map(str, encoded)).encode() not in data, needle


def test_names_are_relative_to_the_graph(tmp_path: Path) -> None:
    ptx = image(build_in(tmp_path), "ptx").decode()
    named = {line.split('"')[1] for line in ptx.splitlines() if line.lstrip().startswith(".file")}
    assert {"kernels/k.cu", "include/shared.h"} <= named
    assert all(not name.startswith("/") for name in named)
    assert any(name.startswith("cuda/") for name in named) or "cuda_fp16" not in ptx
    for name in ("kernels/k.cu", "kernels/util/a.h"):
        assert ", ".join(map(str, name.encode())) in ptx  # __FILE__


@pytest.mark.parametrize(
    ("label", "folder"),
    [
        ("k.cu", "/p/g"),
        ("a/k.cu", "/p"),
        ("./k.cu", "/p/g"),
        ("../k.cu", None),
        ("/x/k.cu", None),
        ("", None),
    ],
)
def test_graph_folder(label: str, folder: str | None) -> None:
    found = graph_folder(Path("/p/g") / "k.cu" if label != "a/k.cu" else Path("/p/a/k.cu"), label)
    assert found == (None if folder is None else Path(folder))


@pytest.mark.parametrize(
    ("label", "path", "name"),
    [
        ("k/a.cu", "/p/g/k/a.cu", "k/a.cu"),
        ("k/a.cu", "/p/g/inc/h.h", "inc/h.h"),
        ("k/a.cu", "/p/h.h", "../h.h"),
        ("k/a.cu", "/usr/include/h.h", "outside/h.h"),
    ],
)
def test_namer(label: str, path: str, name: str) -> None:
    assert Namer(Path("/p/g/k/a.cu"), label, Path("/p"), None).name(Path(path)) == name


def test_namer_of_a_label_that_climbs() -> None:
    climbing = Namer(Path("/p/k/a.cu"), "../k/a.cu", Path("/p"), None)
    assert climbing.name(Path("/p/k/a.cu")) == "../k/a.cu"
    assert climbing.name(Path("/p/inc/h.h")) == "../inc/h.h"
    based = Namer(Path("/p/k/a.cu"), "../k/a.cu", Path("/p"), Path("/p/g"))
    assert based.name(Path("/p/g/h.h")) == "h.h"


def test_display_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_path(tmp_path / "a" / "k.cu") == "a/k.cu"
    assert display_path(Path("a/../k.cu")) == "k.cu"
    assert display_path(tmp_path.parent / "k.cu") == (tmp_path.parent / "k.cu").as_posix()


def test_file_directives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    wheel = Path("/opt/cuda/include")
    text = (
        f'\t.file\t1 "{here}/k.cu"\n\t.file\t2 "/opt/cuda/include/cccl/x.h"\n\t.file 3 "{here}/../a/b.h"\n'
        '.file 4 "/home/me/generated.y"\n.file 5 "C:\\\\me\\\\z.y"\n.file 6 "plain.cu", 1, 2\n// .file no\n'
    )
    changed = relative_files(text, [wheel])
    assert relative_files(changed, [wheel]) == changed
    names = [line.split('"')[1] for line in changed.splitlines() if '"' in line]
    assert changed.count('", 1, 1\n') == 6
    assert names == ["k.cu", "cuda/cccl/x.h", "../a/b.h", "generated.y", "z.y", "plain.cu"]
