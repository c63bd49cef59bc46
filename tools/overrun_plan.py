"""Make the plan of tests/gpu/data/overrun with its fault left in, for a memory checker to find.

    python tools/overrun_plan.py OUTPUT.plan

``planc check`` refuses that graph: it sees in the kernel's PTX that a thread writes past the buffer, and
this script fails unless it does. A cubin has no PTX and its effects are only declared, so the same
kernel as a cubin compiles.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import planc  # noqa: E402
from planc.diagnostics import Collector  # noqa: E402
from planc.kernels import build_kernels  # noqa: E402
from planc.source import load_graph  # noqa: E402

GRAPH = ROOT / "tests/gpu/data/overrun/graph.yaml"


def cubin() -> bytes:
    """Return the faulty kernel as machine code for sm_90."""
    collector = Collector()
    flat = load_graph(GRAPH, collector=collector)
    collector.raise_errors()
    assert flat is not None
    artifacts = build_kernels(flat.kernels, flat.targets, root=flat.root, collector=collector)
    collector.raise_errors()
    (image,) = [i for i in artifacts["overrun"].module.images if i.form == "cubin"]
    return bytes(image.data)


def main() -> int:
    """Check, build, write."""
    found = [d for d in planc.check(GRAPH).diagnostics if d.code == "PLC483"]
    if not found:
        print("planc check did not find the planted overrun", file=sys.stderr)
        return 1
    print(f"planc check: {found[0].span}: {found[0].code}: {found[0].message}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "overrun.cubin").write_bytes(cubin())
        text = GRAPH.read_text().replace("source: overrun.cu", "cubin: overrun.cubin")
        (Path(folder) / "graph.yaml").write_text(text)
        planc.write(Path(sys.argv[1]), planc.compile(Path(folder) / "graph.yaml"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
