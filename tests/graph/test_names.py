"""Names: unknown, double, unused, aliases."""

from tests.graph.flat_builder import Flat, symbol


def base():
    return Flat().buffer("u: f32[4] input").buffer("v: f32[4] output")


def test_an_unknown_buffer_names_the_closest():
    (bad,) = base().copy("v <- uu").found()
    assert bad.code == "PLC230" and bad.help == "the closest buffer is `u`"
    assert bad.span.column == 20
    assert base().copy("v <- u").codes() == []


def test_each_unknown_name_is_reported():
    assert base().copy("w <- x").codes() == ["PLC230", "PLC230"]


def test_an_unknown_kernel_names_the_closest():
    flat = base().kernel("step(in f32* x, out f32* y)")
    (bad,) = flat.run("stp(u, v)").found()
    assert bad.code == "PLC231" and "`step`" in bad.help


def test_an_argument_that_names_nothing():
    flat = base().kernel("step(in f32* x, out f32* y, f32 a)").scalar("alpha: f32 = 1")
    flat.run("step(u, v, alpa)")
    (bad,) = flat.found()
    assert bad.code == "PLC232" and "`alpha`" in bad.help


def test_a_scalar_where_a_buffer_is_needed():
    (bad,) = base().scalar("a: f32 = 1").copy("v <- a").found()
    assert bad.code == "PLC243"
    flat = base().kernel("step(in f32* x, out f32* y, f32 a)").scalar("s: f32 = 1")
    assert flat.run("step(u, v, s[0])").codes() == ["PLC243"]


def test_unknown_and_double_parameters():
    flat = base().kernel("step(in f32* x, out f32* y)")
    (bad,) = flat.run("step(x=u, z=v, y=v)").found()
    assert bad.code == "PLC233" and bad.facts["parameter"] == "z"
    flat = base().kernel("step(in f32* x, out f32* y)")
    assert flat.run("step(u, y=v, x=u)").codes() == ["PLC242"]
    flat = base().kernel("step(in f32* x, out f32* y)")
    assert flat.run("step(y=v, x=u)").codes() == []


def test_one_name_for_two_things():
    flat = base().scalar("u: f32 = 1").copy("v <- u")
    (bad, *_) = [d for d in flat.found() if d.code == "PLC234"]
    assert bad.message == "`u` names a buffer and a scalar" and bad.related[0].span.line == 1
    flat = base().copy("v <- u")
    flat.symbols["v"] = 3
    assert flat.codes() == ["PLC234"]


def test_a_kernel_may_have_the_name_of_a_buffer():
    flat = base().kernel("u(in f32* x, out f32* y)").run("u(u, v)")
    assert flat.codes() == []


def test_unused_declarations_are_warnings():
    flat = base().copy("v <- u")
    flat.buffer("w: f32[4]").scalar("a: f32 = 1").scalar("b: f32 slot = 1").kernel("k(f32 a)")
    assert flat.codes() == ["PLC236", "PLC237", "PLC237", "PLC238"]
    assert flat.program() is not None


def test_a_scalar_bound_by_its_own_name_is_used():
    flat = base().scalar("a: f32 = 1").kernel("k(in f32* u, out f32* v, f32 a)").run("k()")
    assert flat.codes() == []


def test_nothing_is_unused_in_a_file_with_errors():
    assert base().buffer("w: f32[4]").copy("v <- x").codes() == ["PLC230"]


def test_aliases_are_pairs_of_slots():
    flat = base().copy("v <- u").alias("u", "v")
    assert flat.codes() == ["PLC310"]  # the copy may then overlap itself
    flat = base().fill("v = 0").kernel("k(in f32* x)").run("k(u)", after=[0]).alias("v", "u")
    assert flat.program().may_alias == ((0, 1),)
    for pair in (("u", "u"), ("u", "nobody"), ("u", "s")):
        flat = base().buffer("s: f32[4]").copy("v <- u").fill("s = 0").alias(*pair)
        assert flat.codes() == ["PLC239"], pair


LUT = (symbol("lut", 16),)


def lut(text="lut: f32[4]", held=LUT, kernel="k"):
    flat = base().kernel("k(in f32* u, out f32* v)", globals=held)
    return flat.glob(text, kernel, values=[1.0, 2.0, 3.0, 4.0]).run("k()")


def test_globals_find_their_symbol():
    program = lut().program()
    buffer = program.buffers[2]
    assert (buffer.name, buffer.symbol, buffer.role.name) == ("lut", (0, "lut"), "GLOBAL")
    (effect,) = program.effects[program.effects["buffer"] == 2]
    assert (effect["kind"], effect["kind_provenance"]) == (1, 4)
    assert lut(held=(symbol("other", 16),)).codes() == ["PLC240"]
    assert lut(kernel="kk").codes() == ["PLC231"]
    assert lut(held=(symbol("lut", 12),)).codes() == ["PLC333"]
    assert lut().glob("lut: f32[4]", "k").codes() == ["PLC234"]


def test_a_global_in_global_memory_may_be_written_by_its_kernels():
    program = lut(held=(symbol("lut", 16, space="global"),)).program()
    (effect,) = program.effects[program.effects["buffer"] == 2]
    assert effect["kind"] == 3


def test_broken_declarations_are_not_unknown():
    from dataclasses import replace

    from planc.diagnostics import Collector
    from planc.graph import build

    graph = replace(base().copy("v <- w").graph(), broken=frozenset({"w"}))
    collector = Collector()
    built = build(graph, {}, collector)
    assert collector.diagnostics == () and not built.complete and built.failed == {0}
