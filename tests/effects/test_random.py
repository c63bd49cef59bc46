"""Random kernels: no may box too narrow, no must box too wide."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.effects.random_kernels import check_batch


@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(seed: int) -> None:
    outcomes = check_batch(seed, 25)
    faults = [(o.kernel.text, o.kernel.grid, o.kernel.block, o.faults) for o in outcomes if o.faults]
    assert not faults
    counts = sum((o.counts for o in outcomes), Counter())
    assert counts["may of writes exact"] >= 0.3 * counts["written"]
    assert counts["must exact"] >= 0.15 * counts["written"]
