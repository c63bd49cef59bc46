"""Operations on values in memory."""

from __future__ import annotations

import numpy as np
import pytest

from planc.simt.arith import UNSIGNED, WIDTHS, UnsupportedForm, binary
from tests.simt_arith.hard_cases import cases
from tests.simt_arith.oracle import evaluate
from tests.simt_arith.oracle_float import FMT, decode

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")


def _against(name: str, type_name: str, form: str, **options: bool) -> None:
    columns = cases((type_name, type_name), 600, seed=5)
    ours = binary(name, type_name, **options)(*columns)
    whole = (1 << WIDTHS[type_name]) - 1
    for a, b, got in zip(*(c.tolist() for c in columns), ours.tolist(), strict=True):
        assert got == evaluate(form, [a, b]) & whole, (name, type_name, hex(a), hex(b))


@pytest.mark.parametrize("type_name", INTEGERS)
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_integer_arithmetic(name: str, type_name: str) -> None:
    _against(name, type_name, f"{name}.{type_name}")


@pytest.mark.parametrize("type_name", FLOATS)
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_floating_arithmetic(name: str, type_name: str) -> None:
    _against(name, type_name, f"{name}.{type_name}")


def test_addition_on_global_memory_flushes_subnormals() -> None:
    _against("add", "f32", "add.rn.ftz.f32", ftz=True)


@pytest.mark.parametrize("type_name", ["b32", "b64", "u32", "s64"])
@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_logic(name: str, type_name: str) -> None:
    _against(name, type_name, f"{name}.b{type_name[1:]}")


def _u32(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def test_increment_wraps_to_zero_at_the_bound() -> None:
    old, bound = _u32(0, 4, 5, 6, 0, 0xFFFFFFFF), _u32(5, 5, 5, 5, 0, 0xFFFFFFFF)
    assert binary("inc", "u32")(old, bound).tolist() == [1, 5, 0, 0, 0, 0]


def test_decrement_wraps_to_the_bound_at_zero() -> None:
    old, bound = _u32(0, 1, 5, 6, 0xFFFFFFFF), _u32(5, 5, 5, 5, 0xFFFFFFFF)
    assert binary("dec", "u32")(old, bound).tolist() == [5, 0, 4, 5, 0xFFFFFFFE]


def test_exchange_and_compare_and_swap() -> None:
    assert binary("exch", "b32")(_u32(1, 2), _u32(7, 8)).tolist() == [7, 8]
    assert binary("cas", "b32")(_u32(1, 2), _u32(1, 1), _u32(7, 8)).tolist() == [7, 2]
    wide = [np.array([x], np.uint64) for x in (1 << 40, 1 << 40, 9)]
    assert binary("cas", "b64")(*wide).tolist() == [9]
    narrow = [np.array([x], np.uint16) for x in (3, 4, 9)]
    assert binary("cas", "b16")(*narrow).tolist() == [3]


def test_results_keep_the_dtype_of_memory() -> None:
    for type_name in (*INTEGERS, *FLOATS):
        columns = cases((type_name, type_name), 50)
        assert binary("add", type_name)(*columns).dtype == UNSIGNED[WIDTHS[type_name]]


def test_sums_of_nan_are_nan() -> None:
    result = binary("add", "f32")(_u32(0x7F800001), _u32(0x3F800000))
    assert decode(int(result[0]), FMT["f32"]).kind == "nan"


REFUSED = [("add", "b32"), ("nand", "b32"), ("and", "f32"), ("inc", "u8")]


@pytest.mark.parametrize(("name", "type_name"), REFUSED)
def test_other_pairs_are_refused(name: str, type_name: str) -> None:
    with pytest.raises(UnsupportedForm, match=f"{name}.{type_name}"):
        binary(name, type_name)
