"""Compare the effect analysis with runs of random kernels, byte by byte.

    python tools/fuzz/effects.py --count 1000 --seed 1 --format json

Exit status 1 where a may box is too narrow or a must box too wide; the kernel's text is printed then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.effects.random_kernels import check_batch

_BATCH = 25


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    faults: list[dict[str, object]] = []
    done = 0
    while done < arguments.count:
        size = min(_BATCH, arguments.count - done)
        for outcome in check_batch(arguments.seed * 1_000_003 + done, size):
            totals.update(outcome.counts)
            if outcome.faults:
                seed = arguments.seed * 1_000_003 + done
                faults.append(
                    {
                        "seed": seed,
                        "kernel": outcome.kernel.name,
                        "faults": outcome.faults,
                        "text": outcome.kernel.text,
                        "launch": [outcome.kernel.grid, outcome.kernel.block],
                        "scalars": [outcome.kernel.n, outcome.kernel.m],
                    }
                )
        done += size
    if arguments.format == "json":
        print(
            json.dumps({"kernels": done, "counts": dict(sorted(totals.items())), "faults": faults}, indent=2)
        )
    else:
        print(f"{done} kernels, {len(faults)} faults")
        print("\n".join(f"{name}: {count}" for name, count in sorted(totals.items())))
        for fault in faults:
            print(fault["seed"], fault["kernel"], fault["faults"], fault["launch"], fault["scalars"])
            print(fault["text"])
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
