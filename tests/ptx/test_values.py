"""Constants, initial values and the layout of parameters."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from planc.ptx import parse
from planc.ptx.syntax import Immediate, Parameter, Variable
from tests.ptx.helpers import kernel

HEAD = ".version 9.0\n.target sm_90\n"


def constant(text: str) -> Immediate:
    (instruction,) = kernel(f"mov.b64 %rd1, {text};").body
    operand = instruction.operands[1]
    assert isinstance(operand, Immediate)
    return operand


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("- 7", -7),
        ("--7", 7),
        ("010", 8),
        ("0x1F", 31),
        ("0X1f", 31),
        ("0b101", 5),
        ("0B11", 3),
        ("7U", 7),
        ("0x7U", 7),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1),
        ("WARP_SZ", 32),
        ("-WARP_SZ", -32),
        ("WARP_SZ * 2 + 1", 65),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("2 << 3 >> 1", 8),
        ("1 << 64", 0),
        ("-1 >> 70", -1),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("~0", -1),
        ("!0", 1),
        ("!5", 0),
        ("6 & 3 | 8 ^ 1", 11),
        ("1 < 2", 1),
        ("2 <= 1", 0),
        ("1 == 1 && 2 != 2", 0),
        ("0 || 3", 1),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4),
        ("(.u64) -1", 2**64 - 1),
        ("(.s64) 0xFFFFFFFFFFFFFFFF", -1),
        ("0x8000000000000000 + 0x8000000000000000", 0),
    ],
)
def test_integers(text: str, value: int) -> None:
    assert constant(text) == Immediate("int", value)


@pytest.mark.parametrize(
    ("text", "kind", "bits"),
    [
        ("0f3F800000", "f32", 0x3F800000),
        ("0Fffc00000", "f32", 0xFFC00000),
        ("0d3FF0000000000000", "f64", 0x3FF0000000000000),
        ("1.0", "f64", 0x3FF0000000000000),
        ("1.", "f64", 0x3FF0000000000000),
        (".5", "f64", 0x3FE0000000000000),
        ("1e3", "f64", 0x408F400000000000),
        ("1.5E-3", "f64", struct.unpack("<Q", struct.pack("<d", 1.5e-3))[0]),
        ("-1.0", "f64", 0xBFF0000000000000),
        ("-0f00000000", "f32", 0x80000000),
        ("1e999", "f64", 0x7FF0000000000000),
    ],
)
def test_floats(text: str, kind: str, bits: int) -> None:
    assert constant(text) == Immediate(kind, bits)


def test_random_expressions_against_python() -> None:
    chance = random.Random(3)

    def build(depth: int) -> str:
        if depth == 0 or chance.random() < 0.2:
            return str(chance.randrange(100))
        sign = chance.choice(["+", "-", "*", "&", "|", "^", "<<", ">>"])
        right = str(chance.randrange(4)) if sign in ("<<", ">>") else build(depth - 1)
        return f"({build(depth - 1)} {sign} {right})"

    for _ in range(200):
        text = build(4)
        expected = eval(text)
        if -(2**63) <= expected < 2**63:
            assert constant(text).bits == expected


def variable(text: str) -> Variable:
    return parse(HEAD + text).variables["x"]


def initial(text: str) -> bytes:
    found = variable(text).initial
    assert found is not None
    return found


def test_initial_bytes() -> None:
    assert initial(".global .b8 x[4] = {1, 2, 255};") == b"\x01\x02\xff\x00"
    assert initial(".global .s8 x[2] = {-1, 300};") == b"\xff\x2c"
    assert initial(".global .u16 x = 0x1234;") == b"\x34\x12"
    assert initial(".global .f32 x[3] = {1.5, 0f40000000, 3};") == np.array([1.5, 2, 3], "<f4").tobytes()
    assert initial(".global .f64 x[2] = {0f3FC00000, 2.5};") == np.array([1.5, 2.5], "<f8").tobytes()
    assert initial(".global .f32 x[2] = {1e39, -1e39};") == np.array([np.inf, -np.inf], "<f4").tobytes()
    assert initial(".global .b64 x = 0d3FF0000000000000;") == np.array([1.0], "<f8").tobytes()
    assert initial(".global .u64 x = 0xFFFFFFFFFFFFFFFF;") == b"\xff" * 8


def test_nested_and_open_arrays() -> None:
    grid = np.zeros((2, 3), "<i4")
    grid[0, :2] = 1, 2
    grid[1, 0] = 3
    found = variable(".const .s32 x[2][3] = {{1, 2}, {3}};")
    assert (found.initial, found.count, found.size) == (grid.tobytes(), 6, 24)
    assert initial(".const .s32 x[2][3] = {1, 2, 0, 3};") == grid.tobytes()
    open_array = variable(".global .align 16 .b16 x[] = {1, 2, 3};")
    assert (open_array.count, open_array.size, open_array.align) == (3, 6, 16)
    rows = variable(".global .b8 x[][2] = {{1}, {2}, {3}};")
    assert (rows.count, rows.initial) == (6, b"\x01\x00\x02\x00\x03\x00")
    vectors = variable(".global .v2 .f32 x[2] = {{1.0, 2.0}, {3.0, 4.0}};")
    assert (vectors.initial, vectors.align) == (np.array([1, 2, 3, 4], "<f4").tobytes(), 8)
    deep = variable(".global .b8 x[2][2][2] = {{{1}, {2}}, {{3}}};")
    assert deep.initial == b"\x01\x00\x02\x00\x03\x00\x00\x00"


def test_addresses_as_initial_values() -> None:
    before = ".global .b8 y[8]; .func f; "
    found = variable(before + ".global .u64 x[4] = {y, generic(y)+4, f, y-2};")
    assert found.symbols == ((0, "y", 0, False), (8, "y", 4, True), (16, "f", 0, False), (24, "y", -2, False))
    assert found.initial == bytes(32)
    masks = ", ".join(f"0x{0xFF << 8 * k:X}(generic(y)+4)" for k in range(8))
    packed = variable(before + f".global .b8 x[10] = {{7, {masks}, 9}};")
    assert packed.symbols == ((1, "y", 4, True),)
    assert packed.initial == b"\x07" + bytes(8) + b"\x09"


def test_sizes_and_alignments_of_variables() -> None:
    def shape(text: str) -> tuple[int, int, int]:
        found = variable(text)
        return found.size, found.count, found.align

    assert shape(".shared .b32 x;") == (4, 1, 4)
    assert shape(".shared .v4 .f32 x[3];") == (48, 12, 16)
    assert shape(".shared .align 64 .b8 x[3][5];") == (15, 15, 64)
    assert shape(".extern .shared .align 16 .b8 x[];") == (0, 0, 16)
    assert shape(".global .texref x;") == (8, 1, 8)


def layout(text: str) -> list[tuple[int, int, int]]:
    module = parse(HEAD + f".entry k({text});")
    return [(p.offset, p.size, p.align) for p in module.functions["k"].parameters]


def test_offsets_of_parameters() -> None:
    assert layout("") == []
    assert layout(".param .u8 a, .param .u8 b") == [(0, 1, 1), (1, 1, 1)]
    assert layout(".param .u8 a, .param .u64 b, .param .u16 c, .param .u32 d") == [
        (0, 1, 1),
        (8, 8, 8),
        (16, 2, 2),
        (20, 4, 4),
    ]
    assert layout(".param .u32 a, .param .align 8 .b8 b[24], .param .u32 c") == [
        (0, 4, 4),
        (8, 24, 8),
        (32, 4, 4),
    ]
    assert layout(".param .u32 a, .param .align 1 .b8 b[3], .param .align 16 .b8 c[16]") == [
        (0, 4, 4),
        (4, 3, 1),
        (16, 16, 16),
    ]
    assert layout(".param .f32 a[3], .param .v4 .f32 b") == [(0, 12, 4), (16, 16, 16)]
    assert layout(".param .u8 a, .param .u64 .ptr .global .align 16 b") == [(0, 1, 1), (8, 8, 8)]


def test_what_pointers_and_registers_say() -> None:
    module = parse(HEAD + ".entry k(.param .u64 .ptr .shared a, .param .u64 .ptr b, .param .u64 c);")
    assert [p.pointer for p in module.functions["k"].parameters] == ["shared", "generic", None]
    function = parse(HEAD + ".func (.reg .b32 r) f (.reg .b64 a, .param .b32 b) { ret; }").functions["f"]
    assert function.parameters == (
        Parameter("a", "b64", 0, 8, 8, None, True),
        Parameter("b", "b32", 0, 4, 4),
    )
    assert function.results == (Parameter("r", "b32", 0, 4, 4, None, True),)
    assert function.registers == {"r": "b32", "a": "b64"}


def test_random_layouts_against_a_structure() -> None:
    """The rule of the ISA is that of a C structure; numpy knows it too."""
    chance = random.Random(5)
    types = {"u8": "u1", "s16": "i2", "f32": "f4", "u64": "u8", "f64": "f8"}
    for _ in range(100):
        chosen = [chance.choice(list(types)) for _ in range(chance.randint(1, 9))]
        names = [f"p{k}" for k in range(len(chosen))]
        structure = np.dtype({"names": names, "formats": [types[t] for t in chosen]}, align=True)
        written = ", ".join(f".param .{t} {n}" for t, n in zip(chosen, names, strict=True))
        assert structure.fields is not None
        assert [o for o, _, _ in layout(written)] == [structure.fields[n][1] for n in names]
