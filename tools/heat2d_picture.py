"""Draw docs/heat2d.png: the field of plans/heat2d before, during and after, replayed on the CPU device.

Needs Pillow (planc[test]).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import planc  # noqa: E402

REPLAYS = (0, 4, 36)
SCALE = 5
GAP = 8
# Black, purple, orange, pale yellow: dark to light in even steps of lightness.
STOPS = np.array([[5, 3, 20], [110, 30, 110], [230, 90, 50], [252, 250, 190]], dtype=np.float64)


def start() -> np.ndarray:
    """Return a cold plate, f32[48, 64], with a hot square, a hot edge and a small spot."""
    u = np.zeros((48, 64), dtype=np.float32)
    u[10:22, 12:30] = 1.0
    u[:, 0] = 0.8
    u[34:38, 46:50] = 1.0
    return u


def coloured(field: np.ndarray) -> np.ndarray:
    """Return the field (0 to 1) as u8[h, w, 3], each cell SCALE pixels wide."""
    at = np.clip(field, 0, 1) * (len(STOPS) - 1)
    channels = [np.interp(at, range(len(STOPS)), STOPS[:, c]) for c in range(3)]
    image = np.stack(channels, axis=-1).round().astype(np.uint8)
    return image.repeat(SCALE, axis=0).repeat(SCALE, axis=1)


def frames() -> list[np.ndarray]:
    """Return the field after each count of REPLAYS."""
    found = []
    with planc.load(ROOT / "plans/heat2d/heat2d.plan").instantiate("cpu") as executable:
        executable.write("u", start())
        for replay in range(max(REPLAYS) + 1):
            if replay in REPLAYS:
                found.append(executable.read("u"))
            executable.replay(alpha=0.25).wait()
    return found


def main() -> None:
    """Draw the frames side by side."""
    images = [coloured(field) for field in frames()]
    gap = np.full((images[0].shape[0], GAP, 3), 255, dtype=np.uint8)
    row = [part for image in images for part in (image, gap)][:-1]
    Image.fromarray(np.concatenate(row, axis=1)).save(ROOT / "docs" / "heat2d.png", optimize=True)


if __name__ == "__main__":
    main()
