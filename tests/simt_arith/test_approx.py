"""Approximate forms: correctly rounded here, special values of the ISA, and the judge of bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planc.simt.arith import APPROXIMATE, OPCODES, Form, decode, forms, violations
from tests.simt_arith.hard_cases import cases
from tests.simt_arith.running import instruction

FORMS = {f.text: f for o in OPCODES for f in forms(o) if f.text in APPROXIMATE}


def _run(text: str, *operands: np.ndarray) -> np.ndarray:
    return decode(instruction(FORMS[text])).function(*operands)


def _f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32).view(np.uint32)


def test_every_bound_has_a_form_and_the_reverse() -> None:
    assert set(FORMS) == set(APPROXIMATE)
    words = {"approx", "full"}
    assert all(words & set(text.split(".")) for text in APPROXIMATE)
    others = [
        f.text for o in OPCODES for f in forms(o) if words & set(f.text.split(".")) and f.text not in FORMS
    ]
    assert others == []


@pytest.mark.parametrize("text", sorted(FORMS))
def test_our_own_results_are_within_the_bounds(text: str) -> None:
    form: Form = FORMS[text]
    columns = cases(form.operands, 4000, seed=2)
    assert not violations(text, columns, _run(text, *columns)).any()


REFERENCE = {
    "sin.approx.f32": math.sin, "cos.approx.f32": math.cos, "ex2.approx.f32": lambda x: 2.0**x,
    "lg2.approx.f32": lambda x: math.log2(abs(x)), "tanh.approx.f32": math.tanh,
    "rcp.approx.f32": lambda x: 1 / x, "sqrt.approx.f32": lambda x: math.sqrt(abs(x)),
    "rsqrt.approx.f32": lambda x: 1 / math.sqrt(abs(x)),
}  # fmt: skip


@pytest.mark.parametrize("text", sorted(REFERENCE))
def test_results_are_the_nearest_f32(text: str) -> None:
    operands = np.random.default_rng(1).uniform(0.01, 20.0, 500).astype(np.float32)
    results = _run(text, operands.view(np.uint32)).view(np.float32)
    for x, got in zip(operands.tolist(), results.tolist(), strict=True):
        assert got == float(np.float32(REFERENCE[text](x))), x


INF, NAN = math.inf, math.nan
SPECIAL: dict[str, list[tuple[float, str]]] = {
    "rcp.approx.f32": [(-INF, "-0.0"), (-0.0, "-inf"), (0.0, "inf"), (INF, "0.0"), (NAN, "nan")],
    "sqrt.approx.f32": [
        (-INF, "nan"),
        (-1.0, "nan"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (INF, "inf"),
        (NAN, "nan"),
    ],
    "rsqrt.approx.f32": [
        (-INF, "nan"),
        (-1.0, "nan"),
        (-0.0, "-inf"),
        (0.0, "inf"),
        (INF, "0.0"),
        (NAN, "nan"),
    ],
    "sin.approx.f32": [(-INF, "nan"), (-0.0, "-0.0"), (0.0, "0.0"), (INF, "nan"), (NAN, "nan")],
    "cos.approx.f32": [(-INF, "nan"), (-0.0, "1.0"), (0.0, "1.0"), (INF, "nan"), (NAN, "nan")],
    "lg2.approx.f32": [
        (-INF, "nan"),
        (-1.0, "nan"),
        (-0.0, "-inf"),
        (0.0, "-inf"),
        (INF, "inf"),
        (NAN, "nan"),
    ],
    "ex2.approx.f32": [(-INF, "0.0"), (-0.0, "1.0"), (0.0, "1.0"), (INF, "inf"), (NAN, "nan")],
    "tanh.approx.f32": [
        (-INF, "-1.0"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (INF, "1.0"),
        (NAN, "nan"),
        (1e-40, "1e-40"),
    ],
    "sqrt.approx.ftz.f32": [(1e-40, "0.0"), (-1e-40, "-0.0")],
    "rcp.approx.ftz.f32": [(1e-40, "inf"), (-1e-40, "-inf"), (2.0**127, "0.0")],
    "lg2.approx.ftz.f32": [(1e-40, "-inf")],
    "ex2.approx.ftz.f32": [(-1e-40, "1.0"), (-140.0, "0.0")],
}


@pytest.mark.parametrize("text", sorted(SPECIAL))
def test_special_values_of_the_manual(text: str) -> None:
    for operand, wanted in SPECIAL[text]:
        result = _run(text, _f32(operand))
        assert str(result.view(np.float32)[0]) == str(np.float32(wanted)), operand
        assert not violations(text, (_f32(operand),), result).any()


def test_a_quotient_by_a_huge_divisor_is_zero_or_nan() -> None:
    a, b = _f32(1.0, -1.0, 2.0**127, INF, 1.0), _f32(2.0**127, 2.0**127, 2.0**127, 2.0**127, 2.0**126)
    results = _run("div.approx.f32", a, b).view(np.float32)
    assert [str(x) for x in results.tolist()] == ["0.0", "-0.0", "0.0", "nan", str(2.0**-126)]
    assert _run("div.full.f32", a, b).view(np.float32)[2] == 1.0


def test_f64_reciprocals_read_and_write_the_upper_word() -> None:
    values = np.array(
        [0x4008000012345678, 0x7FF8000000000001, 0x0000000100000000, 0x7FF0000000000001], np.uint64
    )
    # 3 with a tail, a NaN, a subnormal, and a NaN whose upper word is that of infinity.
    third, nan, subnormal, infinite = _run("rcp.approx.ftz.f64", values).tolist()
    assert third == 0x3FD5555500000000
    assert nan == 0x7FFFFFFF00000000
    assert (subnormal, infinite) == (0x7FF0000000000000, 0)
    root = _run("rsqrt.approx.ftz.f64", np.array([0x4010000000000000, 0xBFF0000000000000], np.uint64))
    assert root.tolist() == [0x3FE0000000000000, 0x7FFFFFFF00000000]


@pytest.mark.parametrize(
    ("text", "steps"), [("rcp.approx.f32", 1), ("ex2.approx.f32", 2), ("div.full.f32", 2)]
)
def test_the_judge_counts_units_in_the_last_place(text: str, steps: int) -> None:
    operands = (_f32(3.0), _f32(7.0))[: len(FORMS[text].operands)]
    exact = _run(text, *operands)
    assert not violations(text, operands, exact + np.uint32(steps - 1)).any()
    assert violations(text, operands, exact + np.uint32(steps + 1)).all()


def test_the_judge_knows_where_lg2_is_absolute_and_sin_is_free() -> None:
    near_one = _f32(1.0 + 2.0**-20)
    assert not violations("lg2.approx.f32", (near_one,), _f32(2.0**-19.5 - 2.0**-22.5)).any()
    assert violations("lg2.approx.f32", (_f32(1e10),), _f32(33.3)).all()
    assert violations("sin.approx.f32", (_f32(1.0),), _f32(math.sin(1.0) + 2.0**-16)).all()
    assert not violations("sin.approx.f32", (_f32(100.0),), _f32(math.sin(100.0) + 2.0**-16)).any()
    assert not violations("sin.approx.f32", (_f32(1e6),), _f32(0.9)).any()


def test_the_judge_wants_special_values_exactly() -> None:
    assert violations("cos.approx.f32", (_f32(0.0),), _f32(1.0 - 2.0**-24)).all()
    assert violations("sin.approx.f32", (_f32(-0.0),), _f32(0.0)).all()
    assert violations("rcp.approx.f32", (_f32(NAN),), _f32(1.0)).all()
    assert violations("lg2.approx.f32", (_f32(-1.0),), _f32(0.0)).all()
    other_nan = np.array([0x7FC00000], np.uint32)
    assert not violations("lg2.approx.f32", (_f32(-1.0),), other_nan).any()


def test_the_judge_lets_flush_and_overflow_fall_either_way_at_the_edge() -> None:
    assert not violations("ex2.approx.ftz.f32", (_f32(-126.0),), _f32(0.0)).any()
    assert violations("ex2.approx.ftz.f32", (_f32(-125.0),), _f32(0.0)).all()
    assert not violations("ex2.approx.ftz.f32", (_f32(-126.5),), _f32(0.0)).any()
    assert violations("ex2.approx.f32", (_f32(-126.5),), _f32(0.0)).all()
    assert not violations("ex2.approx.f32", (_f32(128.0),), _f32(INF)).any()
    assert violations("ex2.approx.f32", (_f32(127.0),), _f32(INF)).all()


def test_packed_halves_are_judged_one_by_one() -> None:
    operand = np.array([0x3C000000], np.uint32)
    result = _run("ex2.approx.f16x2", operand)
    assert result.tolist() == [0x40003C00]
    assert violations("ex2.approx.f16x2", (operand,), np.array([0x41003C00], np.uint32)).tolist() == [
        False,
        True,
    ]
