"""Arguments of runs, declarations against source and PTX, argument bytes."""

import struct
from dataclasses import replace

import pytest

from tests.graph.flat_builder import Flat


def base(declaration, **rest):
    flat = Flat().buffer("u: f32[8, 4] inout").buffer("v: f32[8, 4] inout").buffer("n: i32[4] inout")
    return flat.scalar("alpha: f32 slot = 0.5").scalar("count: i32 = 7").kernel(declaration, **rest)


def codes(declaration, call, **rest):
    """All codes but those of unused things."""
    flat = base(declaration, **rest).run(call)
    return [c for c in flat.codes() if not c.startswith("PLC23") or c in ("PLC230", "PLC233")]


@pytest.mark.parametrize(
    ("declaration", "call", "want"),
    [
        ("k(in f32* u)", "k()", []),
        ("k(in f32* u)", "k(v)", []),
        ("k(in f32* u)", "k(u, v)", ["PLC450"]),
        ("k(in f32* x)", "k()", ["PLC451"]),
        ("k(in f32* x)", "k(alpha)", ["PLC452"]),
        ("k(in f32* x)", "k(3)", ["PLC452"]),
        ("k(f32 a)", "k(u)", ["PLC453"]),
        ("k(f32 a)", "k(u[0, 0])", ["PLC453"]),
        ("k(f32 a)", "k(alpha)", []),
        ("k(in f32* x)", "k(n)", ["PLC454"]),
        ("k(in i32* x)", "k(n)", []),
        ("k(in void* x)", "k(n)", []),
        ("k(i32 a)", "k(alpha)", ["PLC455"]),
        ("k(u32 a)", "k(count)", ["PLC455"]),
        ("k(i64 a)", "k(count)", ["PLC455"]),
        ("k(i32 a)", "k(count)", []),
        ("k(u8 a)", "k(256)", ["PLC456"]),
        ("k(u8 a)", "k(255)", []),
        ("k(i8 a)", "k(-129)", ["PLC456"]),
        ("k(i8 a)", "k(-128)", []),
        ("k(u64 a)", "k(0xFFFFFFFFFFFFFFFF)", []),
        ("k(f16 a)", "k(1e6)", ["PLC456"]),
        ("k(f16 a)", "k(inf)", []),
        ("k(i32 a)", "k(1.0)", ["PLC457"]),
        ("k(i32 a)", "k(true)", ["PLC457"]),
        ("k(f32 a)", "k(1)", []),
        ("k(bool a)", "k(true)", []),
        ("k(bool a)", "k(2)", ["PLC457"]),
        ("k(in f32* u, f32 alpha, i32 count)", "k()", []),
    ],
)
def test_binding(declaration, call, want):
    assert codes(declaration, call) == want


def test_all_faults_of_a_run_are_reported_at_once():
    assert codes("k(in f32* x, i32 a, u8 b)", "k(n, 1.5, 256)") == ["PLC454", "PLC457", "PLC456"]


@pytest.mark.parametrize(
    ("declaration", "source", "rest", "want"),
    [
        ("k(in f32* u)", "in f32* u", {}, []),
        ("k(in f32* u)", "in f32* u, i32 n", {}, ["PLC458"]),
        ("k(in f32* u, i32 count)", "in f32* u", {}, ["PLC458"]),
        ("k(in f32* u)", "in f32* src", {}, ["PLC459"]),
        ("k(in f32* u)", "in i32* u", {}, ["PLC460"]),
        ("k(u32 count)", "i32 count", {}, ["PLC460"]),
        ("k(in f32* u)", "i64 u", {}, ["PLC460", "PLC464"]),
        ("k(i32 count)", "i32 count", {"sizes": {"count": 8}}, ["PLC461"]),
        ("k(i64 count)", "i32 count", {"ptx_only": True}, ["PLC461"]),
        ("k(i32 count)", "i32 count", {"ptx_only": True}, []),
        ("k(f32* u)", "f32* u", {}, ["PLC462"]),
        ("k(out f32* u)", "out f32* u", {"const": ("u",)}, ["PLC463"]),
        ("k(in f32* u)", "in f32* u", {"const": ("u",)}, []),
        ("k(in f32 alpha)", "f32 alpha", {}, ["PLC464"]),
        ("k(void count)", "mystruct count", {}, ["PLC465"]),
    ],
)
def test_declarations(declaration, source, rest, want):
    flat = base(declaration, source=source, **rest).run("k()")
    found = [d for d in flat.found() if not d.code.startswith("PLC23")]
    assert [d.code for d in found] == want
    for d in found:
        assert d.span.line == 6


def test_a_kernel_without_declared_parameters_binds_by_the_source():
    flat = base("k(f32 alpha, i32 count)").run("k()")
    flat.kernels[0] = replace(flat.kernels[0], parameters=None)
    assert flat.program() is not None
    flat = base("k(in f32* u)").run("k()")
    flat.kernels[0] = replace(flat.kernels[0], parameters=None)
    (bad,) = [d for d in flat.found() if d.code == "PLC462"]
    assert bad.span == flat.kernels[0].entry_span and "`inout f32* u`" in bad.help


def test_a_fault_of_the_source_shows_its_place():
    flat = base("k(in f32* u)", source="in i32* u").run("k()")
    (bad,) = [d for d in flat.found() if d.code == "PLC460"]
    assert bad.help == "write `i32*`"
    assert (bad.related[0].span.file, bad.related[0].span.line) == ("k.cu", 3)


def vector(view, align=None):
    flat = Flat().buffer("u: f32[8, 4] inout", align=align).buffer("s: f32[9] inout")
    flat.kernel("k(in f32* x)", texts={"x": "const float4*"})
    return [c for c in flat.run(f"k({view})").codes() if c != "PLC236"]


def test_vector_pointers_need_aligned_views():
    assert vector("u") == [] and vector("u[1]") == [] and vector("s[4:8]") == []
    assert vector("u[0, 1:]") == ["PLC307"] and vector("s[1:5]") == ["PLC307"]
    assert vector("u", align=8) == ["PLC307"] and vector("u", align=16) == []


def overlap(words, call, **rest):
    names = "xyz"
    declared = ", ".join(f"{w} f32* {names[i]}" for i, w in enumerate(words))
    return codes(f"k({declared})", call, **rest)


def test_arguments_that_overlap_what_the_node_writes():
    assert overlap(("in", "out"), "k(u, u)") == ["PLC321"]
    assert overlap(("in", "out"), "k(u[0:4], u[4:8])") == []
    assert overlap(("in", "out"), "k(u[0:5], u[4:8])") == ["PLC321"]
    assert overlap(("in", "out"), "k(u[:, ::2], u[:, 1::2])") == []
    assert overlap(("in", "out"), "k(u, u)", inplace=True) == []
    assert overlap(("in", "in"), "k(u, u)") == []
    assert overlap(("in", "inout"), "k(u, u)") == ["PLC321"]
    assert overlap(("out", "out"), "k(u, u)") == ["PLC322"]
    assert overlap(("out", "inout"), "k(u, u)", inplace=True) == ["PLC322"]
    assert overlap(("reduce", "reduce"), "k(u, u)") == ["PLC322"]
    assert overlap(("out", "out"), "k(u[0], u[1])") == []


def test_an_inplace_buffer_allows_overlap():
    flat = Flat().buffer("u: f32[4] inout", inplace=True).kernel("k(in f32* x, out f32* y)")
    assert flat.run("k(u, u)").codes() == []


def test_slots_that_may_alias_overlap_in_a_node():
    flat = Flat().buffer("a: f32[4] input").buffer("b: f32[4] output").kernel("k(in f32* x, out f32* y)")
    flat.run("k(a, b)").alias("a", "b")
    (bad,) = flat.found()
    assert bad.code == "PLC321" and "may share memory" in bad.message


def test_scalar_declarations():
    def one(text):
        flat = Flat().scalar(text).kernel("k(f32 a)")
        return [c for c in flat.codes() if not c.startswith("PLC23")]

    assert one("a: u8 slot = 256") == ["PLC456"]
    assert one("a: i32 = 1.5") == ["PLC457"]
    assert one("a: f32 slot = 2 in [0, 1]") == ["PLC477"]
    assert one("a: f32 slot = 1 in [0, 1]") == []
    assert one("a: f32 slot = 1 in [2, 0]") == ["PLC477"]


def test_argument_bytes_relocations_and_patches():
    flat = base("k(i32 a, in f32* x, f32 alpha, out f32* y, u8 b)")
    program = (
        flat.run("k(-5, u[1, 2:], alpha, v, 9)").run("k(6, v, y=u, alpha=0.25, b=1)", after=[0]).program()
    )
    first, second = program.kernel_ops
    assert (first["args_offset"], first["args_size"], second["args_offset"]) == (0, 33, 48)
    assert len(program.arguments) == 96
    data = bytes(program.arguments)
    assert struct.unpack_from("<i4xqf4xqB", data, 0) == (-5, 0, 0.5, 0, 9)
    assert struct.unpack_from("<i4xqf4xqB", data, 48) == (6, 0, 0.25, 0, 1)
    rows = [tuple(int(v) for v in row) for row in program.relocations]
    assert rows == [(8, 24, 0, 1, 0, 1), (24, 0, 1, 1, 0, 3), (56, 0, 1, 1, 1, 1), (72, 0, 0, 1, 1, 3)]
    assert [tuple(int(v) for v in row) for row in program.patches] == [(16, 0, 4, 0, 2)]
    assert [(s.name, s.dtype, s.value) for s in program.slots] == [("alpha", "f32", 0.5)]


def test_effects_are_the_declared_words_on_the_views_boxes():
    flat = base("k(in f32* x, out f32* y, inout f32* z, reduce i32* w)")
    flat.buffer("t: f32[2] inout").run("k(u[2], v, t, n)")
    program = flat.program()
    rows = program.effects
    assert rows["kind"].tolist() == [1, 2, 3, 4]
    assert rows["parameter"].tolist() == [0, 1, 2, 3]
    assert set(rows["kind_provenance"].tolist()) == {3} and set(rows["range_provenance"].tolist()) == {4}
    assert rows["must_count"].tolist() == [0, 0, 0, 0]
    box = program.boxes[rows[0]["may"]]
    assert (box["offset"], box["item"], box["axes"]) == (32, 4, 1)


def test_symbols_bind_by_name_and_as_values():
    flat = base("k(in f32* u, i32 nx, f32 h)")
    flat.symbols |= {"nx": 12, "h": 0.5}
    program = flat.run("k()").program()
    assert struct.unpack_from("<qif", bytes(program.arguments)) == (0, 12, 0.5)


def test_equal_runs_are_resolved_alike_and_1_differs_from_1_0():
    flat = base("k(f32 a)").run("k(1)").run("k(1.0)").run("k(true)")
    assert [c for c in flat.codes() if c.startswith("PLC45")] == ["PLC457"]


def test_minus_zero_is_not_zero():
    flat = base("k(f32 a)").run("k(0.0)").run("k(-0.0)").run("k(nan)").run("k(nan)")
    data = bytes(flat.program().arguments)
    assert [data[16 * row : 16 * row + 4].hex() for row in range(4)] == [
        "00000000",
        "00000080",
        "0000c07f",
        "0000c07f",
    ]
