"""Every form against the oracle on hard cases and random operands."""

from __future__ import annotations

import pytest

from planc.simt.arith import APPROXIMATE, OPCODES, Form, forms
from tests.simt_arith.running import differences

# The oracle takes some 10 microseconds a row: the many comparisons share their rows.
LIMITS = {"set": 20, "setp": 80, "cvt": 300, "fma": 1500, "mad": 600, "add": 700, "sub": 500, "mul": 700}


def _exact(opcode: str) -> list[Form]:
    return [f for f in forms(opcode) if f.text not in APPROXIMATE]


@pytest.mark.parametrize("opcode", [o for o in OPCODES if o != "lop3" and _exact(o)])
def test_every_form_agrees_with_the_oracle(opcode: str) -> None:
    found = [d for f in _exact(opcode) for d in differences(f, LIMITS.get(opcode, 600))]
    assert not found, "\n".join(found[:20])


def test_a_second_result_is_the_complement_or_the_high_half() -> None:
    pairs = [f for f in forms("setp") if f.pair]
    found = [d for f in pairs for d in differences(f, 60, pair=True, seed=1)]
    assert len(pairs) > 500
    assert not found, "\n".join(found[:20])


def test_lop3_knows_all_256_functions() -> None:
    plain, *tested = forms("lop3")
    found = [d for table in range(256) for d in differences(plain, 40, table=table)]
    for table in (0, 1, 0x96, 255):
        found += [d for f in tested for d in differences(f, 200, pair=True, table=table)]
    assert len(tested) == 2
    assert not found, "\n".join(found[:20])
