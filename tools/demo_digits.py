"""Compile plans/digits, replay it on the CPU reference device, and compare it with NumPy.

``--no-compile`` replays the committed plan; ``--device cuda:0`` replays on a GPU.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "plans" / "digits"
SEEN = 1257
SHADES = " .:-=+*#%@"

sys.path.insert(0, str(ROOT))


def plan_path(compile_it: bool, folder: Path) -> Path:
    """Return the plan to replay: freshly compiled into ``folder``, or the committed one."""
    if not compile_it:
        return FOLDER / "digits.plan"
    import planc

    start = time.perf_counter()
    plan = planc.compile(FOLDER / "graph.yaml")
    path = folder / "digits.plan"
    planc.write(path, plan)
    seconds = time.perf_counter() - start
    print(f"checked and compiled plans/digits/graph.yaml in {seconds:.1f} s: {path.stat().st_size:,} bytes")
    print(f"  {plan.verdict}")
    return path


def predict(path: Path, images: np.ndarray, device: str) -> np.ndarray:
    """Return the label of each of ``images`` (u8[n, 64]), replaying once per batch."""
    import planc

    labels = []
    start = time.perf_counter()
    with planc.load(path).instantiate(device) as executable:
        batch = executable.inputs["images"].shape[0]
        for first in range(0, len(images), batch):
            executable.write("images", images[first : first + batch])
            executable.replay().wait()
            labels.append(executable.read("labels"))
    seconds = time.perf_counter() - start
    print(f"replayed {len(labels)} batches of {batch} images on {device} in {seconds:.1f} s")
    return np.concatenate(labels)


def reference(images: np.ndarray) -> np.ndarray:
    """Return NumPy's labels for ``images`` with the same weights."""
    w = np.load(FOLDER / "weights.npz")
    hidden = np.maximum((images / np.float32(16)) @ w["w1"] + w["b1"], 0)
    return (hidden @ w["w2"] + w["b2"]).argmax(axis=1)


def picture(image: np.ndarray) -> str:
    """Return an 8 x 8 image as text."""
    return "\n".join(
        "    " + "".join(SHADES[int(v) * 9 // 16] * 2 for v in row) for row in image.reshape(8, 8)
    )


def main() -> int:
    """Run and report; fail unless every prediction equals NumPy's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-compile", action="store_true", help="replay the committed plan")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    data = np.load(FOLDER / "digits.npz")
    images, labels = data["images"], data["labels"]
    with tempfile.TemporaryDirectory() as folder:
        predicted = predict(plan_path(not options.no_compile, Path(folder)), images, options.device)
    right = int((predicted[SEEN:] == labels[SEEN:]).sum())
    equal = int((predicted == reference(images)).sum())
    print(f"\n{picture(images[SEEN])}\n  read as {predicted[SEEN]} (it is {labels[SEEN]})\n")
    print(
        f"accuracy on {len(labels) - SEEN} unseen digits: {right / (len(labels) - SEEN):.1%} ({right} right)"
    )
    print(f"predictions equal to NumPy's: {equal} of {len(labels)}")
    return 0 if equal == len(labels) else 1


if __name__ == "__main__":
    sys.exit(main())
