"""Fills and copies: what is refused, its legal neighbour, and the rows that come out."""

import random

import numpy as np
import pytest

from planc.plan.dtypes import DTYPES
from tests.graph.flat_builder import Flat


def boxes(program, row):
    box = program.boxes[row]
    axes = program.axes[box["axis"] : box["axis"] + box["axes"]]
    return int(box["offset"]), [(int(a["count"]), int(a["stride"])) for a in axes], int(box["item"])


def places(box):
    offset, axes, _ = box
    found = np.array([offset])
    for count, stride in axes:
        found = (found[:, None] + np.arange(count) * stride).reshape(-1)
    return found


def fill(dtype, text, **rest):
    return Flat().buffer(f"u: {dtype}[4, 6] inout").fill(text, **rest)


@pytest.mark.parametrize(
    ("dtype", "value", "pattern", "item"),
    [
        ("f32", "1.5", 0x3FC00000, 4),
        ("f32", "1", 0x3F800000, 4),
        ("f16", "1", 0x3C00, 2),
        ("bf16", "1", 0x3F80, 2),
        ("i8", "-1", 0xFF, 1),
        ("u16", "65535", 0xFFFF, 2),
        ("bool", "true", 1, 1),
        ("f64", "0", 0, 4),
        ("i64", "-1", 0xFFFFFFFF, 4),
        ("i64", "0x100000001", 1, 4),
        ("f32", "nan", 0x7FC00000, 4),
        ("f32", "inf", 0x7F800000, 4),
    ],
)
def test_patterns(dtype, value, pattern, item):
    program = fill(dtype, f"u = {value}").program()
    (op,) = program.fill_ops
    assert (op["pattern"], op["item"]) == (pattern, item)
    assert boxes(program, op["box"])[2] == item


@pytest.mark.parametrize(
    ("dtype", "value", "code"),
    [
        ("u8", "256", "PLC311"),
        ("u8", "-1", "PLC311"),
        ("i32", "1.5", "PLC311"),
        ("i32", "true", "PLC311"),
        ("f16", "65520", "PLC311"),
        ("bool", "2", "PLC311"),
        ("f64", "1", "PLC312"),
        ("i64", "1", "PLC312"),
        ("u8", "255", None),
        ("u8", "0", None),
        ("i32", "1", None),
        ("f16", "65519", None),
        ("bool", "1", None),
    ],
)
def test_values_that_fit_and_that_do_not(dtype, value, code):
    assert fill(dtype, f"u = {value}").codes() == ([] if code is None else [code])


def test_raw_patterns():
    def codes(dtype, text, item):
        return fill(dtype, text, item=item).codes()

    assert codes("f32", "u = 0xFF", 1) == []
    assert codes("f32", "u = 0x1FF", 1) == ["PLC311"]
    assert codes("f32", "u = 1", 3) == ["PLC311"]
    assert codes("u8", "u = 0x01020304", 4) == []
    assert codes("u8", "u[:, 0:4] = 1", 4) == ["PLC313"]  # rows are 6 bytes apart
    assert codes("u8", "u[:, 0:4] = 1", 2) == []
    assert codes("u8", "u[0, 1:5] = 1", 4) == ["PLC313"]
    assert codes("u8", "u[:, ::2] = 1", 2) == ["PLC313"]


def test_the_bytes_of_a_fill_are_those_of_its_view():
    rng = random.Random(5)
    from tests.hazards.random_graphs import random_view

    for _ in range(300):
        flat = Flat().buffer(f"u: {rng.choice(['u8', 'f16', 'f32', 'f64'])}[4, 6, 2] inout")
        text, _ = random_view(rng, flat.buffers[0])
        program = flat.fill(f"{text} = 0").program()
        item = DTYPES[flat.buffers[0].dtype].itemsize
        marks = np.zeros((4, 6, 2, item), bool)
        view = eval(f"u{text[1:]}", {"u": marks})
        view[...] = True
        op = program.fill_ops[0]
        box = boxes(program, op["box"])
        found = (places(box)[:, None] + np.arange(box[2])).reshape(-1)
        assert sorted(found) == np.flatnonzero(marks).tolist()
        effect = program.effects[0]
        assert (effect["may_count"], effect["must_count"], effect["may"]) == (1, 1, effect["must"])


def copy(text, first="f32[4, 6]", second="f32[4, 6]", roles=("inout", "inout")):
    return Flat().buffer(f"u: {first} {roles[0]}").buffer(f"v: {second} {roles[1]}").copy(text)


@pytest.mark.parametrize(
    ("text", "second", "codes"),
    [
        ("v <- u", "f32[4, 6]", []),
        ("v <- u", "f32[24]", []),
        ("v <- u", "f32[6, 4]", []),
        ("v <- u", "f32[4, 5]", ["PLC308"]),
        ("v <- u[:, 0:5]", "f32[4, 5]", []),
        ("v <- u[:, 0:5]", "f32[20]", ["PLC308"]),
        ("v <- u", "f32[1, 4, 1, 6]", []),
        ("v <- u", "i32[4, 6]", ["PLC309"]),
        ("v[0] <- u[:, 0]", "f32[2, 4]", []),
        ("v <- u[0, 0]", "f32[1]", []),
    ],
)
def test_shapes_and_types_of_copies(text, second, codes):
    assert copy(text, second=second).codes() == codes


def test_a_copy_onto_itself():
    assert copy("u[0:3] <- u[1:4]").codes()[0] == "PLC310"
    assert "PLC310" not in copy("u[0:2] <- u[2:4]").codes()
    assert "PLC310" not in copy("u[:, ::2] <- u[:, 1::2]").codes()
    (bad,) = [d for d in copy("u[0:3] <- u[1:4]").found() if d.code == "PLC310"]
    assert "`u[1:3, :]`" in bad.message


def test_writes_to_what_is_read_only():
    assert copy("u <- v", roles=("input", "inout")).codes() == ["PLC314"]
    assert copy("v <- u", roles=("input", "inout")).codes() == []
    flat = Flat().buffer("c: f32[2] constant", data=[1.0, 2.0]).fill("c = 0")
    assert flat.codes() == ["PLC315"]
    flat = Flat().buffer("c: f32[2] input").kernel("k(inout f32* x)").run("k(c)")
    assert flat.codes() == ["PLC314"]


def test_copies_pair_the_elements_that_numpy_pairs():
    rng = random.Random(8)
    from tests.hazards.random_graphs import random_view

    tried = 0
    while tried < 400:
        flat = Flat().buffer("u: f32[4, 6, 3] inout").buffer("v: f32[4, 6, 3] inout")
        to, shape = random_view(rng, flat.buffers[1])
        fro, other = random_view(rng, flat.buffers[0])
        if shape != other:
            continue
        tried += 1
        program = flat.copy(f"{to} <- {fro}").program()
        op = program.copy_ops[0]
        numbers = np.arange(72).reshape(4, 6, 3)
        targets = np.asarray(eval(f"v{to[1:]}", {"v": numbers})).reshape(-1)
        sources = np.asarray(eval(f"u{fro[1:]}", {"u": numbers})).reshape(-1)
        want = set(zip(targets.tolist(), sources.tolist(), strict=True))
        found = [places(boxes(program, op[f"{side}_box"])) // 4 for side in ("target", "source")]
        assert set(zip(*(f.tolist() for f in found), strict=True)) == want
        assert (op["target"], op["source"]) == (1, 0)
