"""A service with the base install: what it imports, and that it replays a plan."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AUTHOR = ("pydantic", "networkx", "yaml", "typer", "rich", "click", "pygments")
BASE = {"numpy", "msgpack", "ml_dtypes", "cuda", "planc", "cython_runtime"}

_BLOCK = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(code: str) -> str:
    """Run ``code`` in a process in which no package of the author's extra can be imported."""
    done = subprocess.run(
        [sys.executable, "-c", _BLOCK.format(names=set(AUTHOR)) + code],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_replays_a_plan() -> None:
    code = """
import planc
with planc.load("plans/fill_chain/fill_chain.plan").instantiate("cpu") as executable:
    executable.replay().wait()
    print(executable.read("x")[:, 0].tolist() == list(range(1, 129)))
with planc.load("plans/hello/hello.plan").instantiate("cpu") as executable:
    executable.replay(number=5).wait()
"""
    assert run(code) == "True\nhello, the number is 5\n"


def test_imports_only_the_base_install() -> None:
    code = """
import sys
before = set(sys.modules)
import planc.runtime
with planc.runtime.load("plans/heat2d/heat2d.plan").instantiate("cpu"):
    pass
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names)))
planc_folders = {".".join(n.split(".")[:2]) for n in sys.modules if n.startswith("planc.")}
print(*sorted(planc_folders))
"""
    packages, folders = run(code).splitlines()
    assert {p for p in packages.split() if not p.startswith("_")} <= BASE
    assert set(folders.split()) == {
        "planc.diagnostics", "planc.plan", "planc.ptx", "planc.simt", "planc.runtime"
    }  # fmt: skip


def test_the_command_line_says_what_is_missing() -> None:
    code = """
import planc.cli
try:
    planc.cli.main()
except SystemExit as stop:
    print(stop.code)
"""
    assert run(code) == "2\n"
