"""Every byte of a plan counts: no single change of any byte is taken."""

from __future__ import annotations

from collections import Counter

import pytest

from planc.diagnostics import PlanError
from planc.plan import decode, encode
from planc.plan.example import example_plan

DATA = encode(example_plan())


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_single_byte_flip_is_refused(flip: int) -> None:
    refused: Counter[str] = Counter()
    data = bytearray(DATA)
    for at in range(len(data)):
        data[at] ^= flip
        with pytest.raises(PlanError) as caught:
            decode(data)
        refused[caught.value.code] += 1
        data[at] ^= flip
    assert bytes(data) == DATA
    assert sum(refused.values()) == len(DATA)
    assert set(refused) <= {"PLC601", "PLC602", "PLC603", "PLC604", "PLC605", "PLC606", "PLC607", "PLC621"}


def test_every_truncation_is_refused() -> None:
    for length in range(len(DATA)):
        with pytest.raises(PlanError) as caught:
            decode(DATA[:length])
        assert caught.value.code in ("PLC601", "PLC604")


def test_every_extension_is_refused() -> None:
    for tail in (b"\0", b"\n", bytes(64), DATA):
        with pytest.raises(PlanError) as caught:
            decode(DATA + tail)
        assert caught.value.code == "PLC605"
