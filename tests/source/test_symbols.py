"""Symbols, settings, and the declarations computed from them."""

from __future__ import annotations

from typing import Any

import pytest

from planc.source.flat import Dims
from tests.source.helpers import good, load, places

HEAD = "planc: 1\nbuffers: {u: 'f32[n] inout'}\nnodes: []\nsymbols:\n"


def shape(text: str, **settings: Any) -> tuple[int, ...]:
    return good(HEAD + text, settings=settings).buffers[0].shape


def test_symbols_in_any_order() -> None:
    assert shape("  n: a * 2\n  a: b + 1\n  b: 3\n") == (8,)


def test_a_long_chain_needs_no_recursion() -> None:
    lines = "".join(f"  s{i}: s{i + 1} + 1\n" for i in range(5000))
    assert shape(f"  n: s0\n{lines}  s5000: 0\n") == (5000,)


def test_settings_replace_values_and_what_follows() -> None:
    assert shape("  n: a * 2\n  a: 3\n", a=5) == (10,)
    assert shape("  n: a * 2\n  a: 3\n", n=7) == (7,)


@pytest.mark.parametrize(
    ("default", "given", "value"), [("1", 2, 2), ("1.0", 2, 2.0), ("1.0", 2.5, 2.5), ("true", False, False)]
)
def test_settings_of_fitting_types(default: str, given: Any, value: Any) -> None:
    graph = good(HEAD + f"  n: 1 if a == a else 2\n  a: {default}\n", settings={"a": given})
    assert graph.symbols["a"] == value and type(graph.symbols["a"]) is type(value)


@pytest.mark.parametrize(("default", "given"), [("1", 2.5), ("1", True), ("true", 1), ("1.5", True)])
def test_settings_of_other_types(default: str, given: Any) -> None:
    _, found = load(HEAD + f"  n: 1 if a == a else 2\n  a: {default}\n", settings={"a": given})
    assert places(found) == [("PLC204", 6, 3)]


def test_unknown_settings() -> None:
    _, found = load(HEAD + "  n: 8\n", settings={"nn": 9})
    assert places(found) == [("PLC203", 1, 1)]
    assert found[0].help == "write `n`"


def test_circles_are_reported_once_and_break_what_depends_on_them() -> None:
    graph, found = load(HEAD + "  n: c\n  a: b\n  b: c\n  c: a\n")
    assert [d.code for d in found] == ["PLC205"]
    assert graph is not None and graph.broken == {"a", "b", "c", "n", "u"}


def test_a_symbol_of_itself() -> None:
    assert places(load(HEAD + "  n: n + 1\n")[1]) == [("PLC205", 5, 6)]


def test_one_mistake_is_told_once() -> None:
    text = HEAD.replace("nodes: []", "nodes: [{fill: 'u[n] = n'}, {fill: 'u[0:n] = 1'}]") + "  n: 1 // 0\n"
    graph, found = load(text)
    assert [d.code for d in found] == ["PLC135"]
    assert graph is not None and {"n", "u", "fill#0", "fill#1"} == graph.broken


def test_unused_symbols_are_warned_of_unless_a_kernel_may_take_them() -> None:
    assert places(load(HEAD + "  n: 8\n  m: 1\n")[1]) == [("PLC220", 6, 3)]
    kernel = "  n: 8\n  m: 1\nkernels:\n  k:\n    source: k.cu\n    entry: "
    good(HEAD + kernel + "k(i32 m)\n")
    good(HEAD + kernel + "k\n")
    assert places(load(HEAD + kernel + "k(i32 q)\n")[1]) == [("PLC220", 6, 3)]


# -- declarations -------------------------------------------------------------------------------

DECLARE = "planc: 1\nsymbols: {n: 4}\nnodes: []\n"


def test_scalars() -> None:
    text = DECLARE + (
        "scalars:\n  a: f32 slot = 0.5 * n in [0, n]\n  b: i32 = n // 2\n  c: bool slot = true\n"
        "  d: {dtype: f64, value: n, slot: true, range: [0, 2 * n]}\n"
    )
    a, b, c, d = good(text).scalars
    assert (a.dtype, a.value, a.slot, a.low, a.high) == ("f32", 2.0, True, 0, 4)
    assert (b.dtype, b.value, b.slot, b.low, b.high) == ("i32", 2, False, None, None)
    assert (c.value, c.slot) == (True, True)
    assert (d.dtype, d.value, d.slot, d.low, d.high) == ("f64", 4, True, 0, 8)
    assert (a.span.line, a.span.column) == (5, 3)


def test_buffers_and_data() -> None:
    text = DECLARE + (
        "buffers:\n  a: f32[n, 2 * n] inout\n  b: u8[]\n  c: f32[2, 2] constant = [[1, n], [2.5, -1]]\n"
        "  d: f32[n] constant = 0\n  e: f32[n] constant = w.npz:layer/1\n  f: f32[n] constant = w.npy\n"
        "  g: {dtype: f32, shape: [2, n], role: constant, data: [[1, n, 0, 0], [0, 0, n + 1, 0]],"
        " embed: true}\n"
        "  h: {dtype: f32, shape: n, role: constant, data: 'n * 2', embed: false, align: 64 * n}\n"
        "  i: {dtype: f32, shape: 'n, 3', role: state, inplace: true}\n"
        "  j: {dtype: f32, shape: [], role: constant, data: {file: w.safetensors, member: x}}\n"
    )
    a, b, c, d, e, f, g, h, i, j = good(text).buffers
    assert (a.dtype, a.shape, a.role, a.data) == ("f32", (4, 8), "inout", None)
    assert (b.shape, b.role) == ((), "scratch")
    assert c.data is not None and c.data.values == ((1, 4), (2.5, -1))
    assert d.data is not None and d.data.values == 0
    assert e.data is not None and (e.data.file and e.data.file.name, e.data.member) == ("w.npz", "layer/1")
    assert f.data is not None and f.data.member is None
    assert g.data is not None and g.data.values == ((1, 4, 0, 0), (0, 0, 5, 0)) and g.data.embed is True
    assert h.data is not None and h.data.values == 8 and h.data.embed is False and h.align == 256
    assert (i.shape, i.role, i.inplace) == ((4, 3), "state", True)
    assert j.data is not None and j.shape == () and j.data.member == "x"


PLAIN = "planc: 1\nnodes: []\n"
KERNEL = DECLARE + "kernels:\n  k:\n    source: k.cu\n    entry: "


def test_kernels() -> None:
    text = KERNEL + (
        "ns::gemm<float, (3 > 2)>(in f32* a, out f32 *b, inout i8* c, reduce f64* d, void* e, i32 n)\n"
        "    block: n * 8, 2\n    grid: [1, n, 2]\n    cover: {x: n, z: 3}\n    shared: 1024 * n\n"
        "    defines: {A: 1, B: true, C: x + 1, D: = 2 * n, E: 0.5, F: {expression: n - 1}}\n"
        "    include_dirs: [inc]\n    options: [--use_fast_math]\n    exact: true\n    inplace: true\n"
    )
    (k,) = good(text).kernels
    assert (k.form, k.entry, k.path_label) == ("source", "ns::gemm<float, (3 > 2)>", "k.cu")
    assert k.parameters is not None
    assert [(p.effect, p.dtype, p.pointer, p.name) for p in k.parameters] == [
        ("in", "f32", True, "a"),
        ("out", "f32", True, "b"),
        ("inout", "i8", True, "c"),
        ("reduce", "f64", True, "d"),
        (None, None, True, "e"),
        (None, "i32", False, "n"),
    ]
    dims = [d.values for d in (k.block, k.grid, k.cover) if isinstance(d, Dims)]
    assert dims == [(32, 2, 1), (1, 4, 2), (4, 1, 3)]
    assert k.defines == {"A": "1", "B": "1", "C": "x + 1", "D": "8", "E": "0.5", "F": "3"}
    assert (k.shared, k.options, k.exact, k.inplace) == (4096, ("--use_fast_math",), True, True)


def test_a_kernel_of_ptx_with_a_bare_name() -> None:
    text = KERNEL.replace("source: k.cu", "ptx: k.ptx") + "k\n"
    (k,) = good(text).kernels
    assert (k.form, k.entry, k.parameters) == ("ptx", "k", None)


@pytest.mark.parametrize(
    ("entry", "code", "column"),
    [
        ("k(in f32 * * a)", "PLC139", 14),
        ("k(f32)", "PLC139", 14),
        ("k(a b c d)", "PLC139", 14),
        ("k(f32 a, f32 a)", "PLC139", 21),
        ("k(out float* a)", "PLC140", 18),
        ("k(void a)", "PLC140", 14),
        ("k(in f32* a", "PLC139", 12),
        ("2k()", "PLC139", 12),
        ("k l()", "PLC139", 12),
        ("k<float", "PLC139", 12),
        ("k(,)", "PLC139", 14),
        ("k()", None, 0),
        ("k<float>", None, 0),
    ],
)
def test_entries(entry: str, code: str | None, column: int) -> None:
    text = KERNEL.replace(DECLARE, PLAIN) + entry + "\n"
    assert places(load(text)[1]) == ([(code, 6, column)] if code else [])


def test_long_entries() -> None:
    long = "{name: k, parameters: [in f32* a, {name: b, type: 'f32 *', effect: out}, {name: n, type: i32}]}\n"
    short = "k(in f32* a, out f32* b, i32 n)\n"
    one, other = (good(KERNEL.replace(DECLARE, PLAIN) + text).kernels[0].parameters for text in (long, short))
    assert one is not None and other is not None
    assert [(p.name, p.dtype, p.pointer, p.effect) for p in one] == [
        (p.name, p.dtype, p.pointer, p.effect) for p in other
    ]
    for bad, code in (("{name: k, type: f32*}", "PLC139"), ("{name: a, type: f31}", "PLC140")):
        text = KERNEL.replace(DECLARE, PLAIN) + "{name: k, parameters: [i32 k, " + bad + "]}\n"
        assert [d.code for d in load(text)[1]] == [code]


def test_globals() -> None:
    text = KERNEL + (
        "k()\nglobals:\n  a: f32[n] of k = 0\n  b: i32[] of k\n"
        "  c: {kernel: k, dtype: u8, shape: [n], data: [1, 2, 3, n], embed: true}\n"
    )
    a, b, c = good(text).globals
    assert (a.kernel, a.dtype, a.shape, a.data and a.data.values) == ("k", "f32", (4,), 0)
    assert (b.kernel, b.shape, b.data) == ("k", (), None)
    assert c.data is not None and c.data.values == (1, 2, 3, 4) and c.data.embed is True


def test_targets_and_aliases() -> None:
    listed = good(PLAIN + "targets: [sm_80, sm_90a]\nmay_alias: [a, b, c]\n")
    text = good(PLAIN + "targets: sm_80, sm_90a\nmay_alias: [[a, b], [c, d]]\n")
    assert [t for t, _ in listed.targets] == [t for t, _ in text.targets] == ["sm_80", "sm_90a"]
    assert [(s.line, s.column) for _, s in text.targets] == [(3, 10), (3, 17)]
    assert [(a, b) for a, b, _ in listed.may_alias] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(a, b) for a, b, _ in text.may_alias] == [("a", "b"), ("c", "d")]
    assert good(PLAIN).targets == ()
