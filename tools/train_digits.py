"""Train the small network of plans/digits on the first 1,257 images, with NumPy alone.

Writes plans/digits/weights.npz (w1 [64, 32], b1 [32], w2 [32, 10], b2 [10], all f32) and prints the
accuracy on the 540 images that training never saw. The same seed gives the same file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "plans" / "digits"
SEEN = 1257
HIDDEN = 32
EPOCHS = 120
RATE = 0.05
DECAY = 1e-4
BATCH = 32


def forward(x: np.ndarray, p: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden layer [n, 32] and the logits [n, 10]."""
    hidden = np.maximum(x @ p["w1"] + p["b1"], 0)
    return hidden, hidden @ p["w2"] + p["b2"]


def gradients(x: np.ndarray, y: np.ndarray, p: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the gradients of the mean cross-entropy."""
    hidden, logits = forward(x, p)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    odds[np.arange(len(y)), y] -= 1
    odds /= len(y)
    back = (odds @ p["w2"].T) * (hidden > 0)
    return {"w1": x.T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ odds, "b2": odds.sum(axis=0)}


def train(x: np.ndarray, y: np.ndarray, seed: int = 1) -> dict[str, np.ndarray]:
    """Return the weights after plain stochastic gradient descent with momentum."""
    rng = np.random.default_rng(seed)
    p = {
        "w1": rng.normal(0, (2 / 64) ** 0.5, (64, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(0, (2 / HIDDEN) ** 0.5, (HIDDEN, 10)),
        "b2": np.zeros(10),
    }
    speed = {name: np.zeros_like(value) for name, value in p.items()}
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(y))
        for start in range(0, len(y), BATCH):
            rows = order[start : start + BATCH]
            for name, slope in gradients(x[rows], y[rows], p).items():
                speed[name] = 0.9 * speed[name] - rate * (slope + DECAY * p[name])
                p[name] = p[name] + speed[name]
    return p


def main() -> None:
    """Train, save, report."""
    data = np.load(FOLDER / "digits.npz")
    x, y = data["images"] / 16.0, data["labels"].astype(np.int64)
    weights = train(x[:SEEN], y[:SEEN])
    np.savez(FOLDER / "weights.npz", **{k: v.astype(np.float32) for k, v in weights.items()})
    right = (forward(x[SEEN:], weights)[1].argmax(axis=1) == y[SEEN:]).sum()
    print(f"accuracy on {len(y) - SEEN} unseen images: {right / (len(y) - SEEN):.4f} ({right} right)")


if __name__ == "__main__":
    main()
