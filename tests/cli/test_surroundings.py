"""Whatever surrounds a command: no traceback, the right exit code, nothing harmed or left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from planc.cli.app import app

GRAPH = """\
planc: 1
name: g
symbols: {k: 3}
buffers: {x: "i32[8] output", y: "i32[8] inout"}
nodes:
  - {id: a, fill: "x = k"}
  - {id: b, fill: "y[0:4] = 1"}
"""
FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.yaml").write_text(GRAPH)
    Path("folder").mkdir()
    os.mkfifo("pipe")


def planc(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("planc ", f"{sys.executable} -m planc ")
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def is_clean(code: int, text: str) -> bool:
    return code in (0, 1, 2, 4) and "Traceback" not in text and "PLC900" not in text


TARGETS = ("", ".", "folder", "g.yaml", "pipe", "missing/x", "g.yaml/x", "/dev/null")


@pytest.mark.parametrize("target", TARGETS)
def test_outputs_go_only_where_they_may(target: str) -> None:
    before = names()
    planc("compile", "g.yaml", "-o", "p.plan")
    for arguments in (
        ("compile", "g.yaml", "-o", target),
        ("run", "p.plan", "--save", f"x={target}"),
        ("run", "g.yaml", "--save", f"x={target}"),
    ):
        result = planc(*arguments)
        assert (result.exit_code, "Invalid value" in result.output) == (2, True), result.output
    assert Path("g.yaml").read_text() == GRAPH
    assert names() == sorted([*before, "p.plan"])
    assert Path("/dev/null").is_char_device()


def test_a_plan_and_an_array_are_replaced() -> None:
    for _ in range(2):
        assert planc("compile", "g.yaml", "-o", "p.plan").exit_code == 0
        assert planc("run", "p.plan", "--save", "x=x.npy").exit_code == 0
    assert np.load("x.npy").tolist() == [3] * 8


def arrays() -> dict[str, bytes]:
    np.save("good.npy", np.arange(8, dtype=np.int32))
    np.savez("z.npz", a=np.zeros(8, np.int32))
    np.save("object.npy", np.array([{}], dtype=object), allow_pickle=True)
    good = Path("good.npy").read_bytes()
    return {
        "empty": b"",
        "text": b"hello",
        "cut": good[:140],
        "cut header": good[:40],
        "vast": good[:128].replace(b"(8,)", b"(99999999999999,)")[:117] + good[117:],
        "brackets": b"\x93NUMPY\x01\x00\x76\x00" + b"(" * 118 + good[128:],
        "archive": Path("z.npz").read_bytes(),
        "cut archive": Path("z.npz").read_bytes()[:60],
        "object": Path("object.npy").read_bytes(),
    }


def test_input_that_is_no_array() -> None:
    for name, data in arrays().items():
        Path("bad.npy").write_bytes(data)
        result = planc("run", "g.yaml", "--input", "y=bad.npy")
        assert result.exit_code == 2 and "bad.npy" in result.output, (name, result.output)
    for place in ("folder", "pipe", "missing.npy", "/dev/zero", ""):
        assert planc("run", "g.yaml", "--input", f"y={place}").exit_code == 2
    assert planc("run", "g.yaml", "--input", "y=good.npy").exit_code == 0


def test_input_of_another_kind_is_coded() -> None:
    good = np.zeros((8,), np.int32)
    for array in (good.astype(np.float64), good[:7], good.reshape(2, 4, order="F"), good.astype(">i4")):
        np.save("a.npy", array)
        result = planc("run", "g.yaml", "--input", "y=a.npy")
        assert result.exit_code == 1 and "error[PLC70" in result.output


def test_run_takes_a_graph_with_settings() -> None:
    assert planc("run", "g.yaml", "--set", "k=5", "--save", "x=x.npy").exit_code == 0
    assert np.load("x.npy").tolist() == [5] * 8
    assert names() == ["folder", "g.yaml", "pipe", "x.npy"]
    Path("g.py").write_text(
        "import planc\ngraph = planc.Graph('g')\nx = graph.buffer('x', 'i32', 4, 'output')\n"
        "graph.fill(x, graph.symbol('k', 1))\n"
    )
    assert planc("run", "g.py", "--set", "k=6", "--save", "x=x.npy").exit_code == 0
    assert np.load("x.npy").tolist() == [6] * 4


def test_run_of_a_broken_graph_replays_nothing() -> None:
    Path("g.yaml").write_text(GRAPH.replace("x = k", "x = q"))
    result = planc("run", "g.yaml", "--save", "x=x.npy")
    assert result.exit_code == 1 and "PLC202" in result.output
    assert not Path("x.npy").exists()


def test_a_plan_takes_no_settings() -> None:
    planc("compile", "g.yaml", "-o", "p.plan")
    for arguments in (("--set", "k=5"), ("--allow-outside",)):
        result = planc("run", "p.plan", *arguments)
        assert result.exit_code == 2 and "give the graph file" in result.output


@pytest.mark.parametrize("line", ["check pipe", "inspect pipe", "run /dev/zero"])
def test_what_is_no_file_is_not_waited_for(line: str) -> None:
    done = shell(f"planc {line}")
    assert is_clean(done.returncode, done.stdout + done.stderr), done.stderr
    assert done.returncode != 0


def test_a_kernel_in_a_pipe_is_not_waited_for() -> None:
    forms = ("source", "ptx", "cubin")
    kernels = "".join(f"  {key}: {{{key}: pipe, entry: f(), block: 1, grid: 1}}\n" for key in forms)
    nodes = "".join(f"  - {{id: {key}, run: {key}()}}\n" for key in forms)
    Path("g.yaml").write_text(f"planc: 1\nkernels:\n{kernels}nodes:\n{nodes}")
    done = shell("planc check g.yaml --format concise")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("`pipe` cannot be read: not a file") == len(forms), done.stdout


COMMANDS = ("check g.yaml", "schema")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_or_closed_output(command: str) -> None:
    done = shell(f"planc {command} > /dev/full")
    assert done.returncode == 2 and "standard output cannot be used" in done.stderr, done.stderr
    for end in (">&-", "| head -0"):
        done = shell(f"planc {command} {end}")
        assert is_clean(done.returncode, done.stderr), done.stderr


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_working_folder_that_is_gone(command: str) -> None:
    graph = Path("g.yaml").absolute()
    done = shell(f"mkdir gone && cd gone && rmdir ../gone && planc {command} {graph}", PYTHONSAFEPATH="1")
    assert is_clean(done.returncode, done.stderr), done.stderr
    assert done.returncode == 2 and "the working folder cannot be used" in done.stderr


def test_new_into_a_folder_that_is_gone_or_a_file() -> None:
    for folder in ("g.yaml/x", "/proc/x"):
        result = planc("new", folder)
        assert result.exit_code == 2 and "cannot make" in result.output


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "COLUMNS": "1", "HOME": ""},
        {"HOME": "/nonexistent", "PLANC_CACHE": "g.yaml"},
    ],
)
def test_locale_terminal_and_home(environment: dict[str, str]) -> None:
    Path("größe.yaml").write_text("planc: 1\ninclude: größe.yaml\nnodes: []\n", encoding="utf-8")
    done = shell("planc check größe.yaml g.yaml", **environment)
    assert is_clean(done.returncode, done.stderr), done.stderr
    ascii_names = environment.get("LC_ALL") == "C"  # then no path can hold the name, which is said
    assert done.returncode == 1 and ("PLC101" if ascii_names else "PLC160") in done.stdout


@pytest.mark.parametrize("target", ["graph.yaml", "folder/graph.yaml"])
@pytest.mark.parametrize("name", ["k.cu", "a: b #c.cu", "größe 'x'.cu"])
def test_new_names_its_source_from_where_it_lies(name: str, target: str) -> None:
    Path(name).write_text("__global__ void f(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }")
    Path("planc.toml").touch()
    assert planc("new", "--from", name, "-o", target).exit_code == 0
    result = planc("check", target)
    assert result.exit_code == 0, result.output


def test_an_interrupt_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    import planc.cli.app as module
    from planc.cli import main

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "app", interrupted)
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 130
