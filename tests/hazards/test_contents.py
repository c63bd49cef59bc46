"""Reads of bytes that nobody wrote, and outputs, against the byte-marking oracle."""

import random
from collections import Counter

import pytest

from planc.diagnostics import Collector
from planc.hazards import check_graph, infer_order
from tests.graph.flat_builder import Flat
from tests.hazards import oracle
from tests.hazards.random_graphs import random_graph


def check(flat):
    collector = Collector()
    program = check_graph(flat.graph(), flat.artifacts, collector)
    return program, [d for d in collector.diagnostics if d.code not in ("PLC236", "PLC238", "PLC334")]


def codes(flat):
    return [d.code for d in check(flat)[1]]


@pytest.mark.parametrize("seed", range(3))
def test_unwritten_reads_of_ordered_graphs_agree_with_the_oracle(seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(300):
        flat = random_graph(rng, nodes=rng.randint(2, 6), order="inferred")
        graph = flat.graph()
        order = [int(r) for r in range(len(graph.nodes))]
        want, _ = oracle.unwritten_reads(graph, order)
        found = {}
        for d in check(flat)[1]:
            if d.code in ("PLC316", "PLC318"):
                row = next(i for i, n in enumerate(graph.nodes) if n.name == d.facts["node"])
                key = (row, d.facts["buffer"])
                found[key] = found.get(key, False) or d.code == "PLC316"
        assert set(found) == set(want)
        for key, error in found.items():
            exact = hasattr(graph.nodes[key[0]].op, "source")
            assert error is (exact or want[key])
        seen.update(found.values())
    assert min(seen[True], seen[False]) > 15, seen


def test_reading_scratch_is_an_error_and_after_a_write_it_is_not():
    flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").copy("o <- s", id="read")
    ((bad,)) = check(flat)[1]
    assert bad.code == "PLC316" and bad.facts["node"] == "read"
    assert "make it an input or state" in bad.help
    fine = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").fill("s = 0").copy("o <- s", after=[0])
    assert codes(fine) == []


def test_the_one_row_that_is_missing_is_named():
    flat = Flat().buffer("s: f32[4, 2]").buffer("o: f32[4, 2] output")
    flat.fill("s[0:3] = 0").copy("o <- s", after=[0])
    (bad,) = check(flat)[1]
    assert bad.code == "PLC316" and "`s[3, 0]`" in bad.message
    flat = Flat().buffer("s: f32[4, 2]").buffer("o: f32[4, 2] output")
    flat.fill("s[0:3] = 0").fill("s[3] = 0").copy("o <- s", after=[0, 1])
    assert codes(flat) == []


def test_stepped_writes_cover_together():
    flat = Flat().buffer("s: f32[5]").buffer("o: f32[5] output")
    flat.fill("s[::2] = 0").fill("s[1::2] = 1").copy("o <- s", after=[0, 1])
    assert codes(flat) == []
    flat = Flat().buffer("s: f32[5]").buffer("o: f32[5] output")
    flat.fill("s[::2] = 0").fill("s[1:2] = 1").copy("o <- s", after=[0, 1])
    (bad,) = check(flat)[1]
    assert bad.facts["element"] == [3]


def test_a_writer_that_comes_later_is_named():
    flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output")
    flat.copy("o <- s", id="read").fill("s = 0", id="write", after=["read"])
    (bad,) = check(flat)[1]
    assert bad.related[0].message == "`write` writes `s`"
    assert "come after `write`" in bad.help


def test_a_race_is_reported_alone():
    flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").copy("o <- s").fill("s = 0")
    assert codes(flat) == ["PLC502"]


def test_a_kernel_that_may_read_what_is_missing_gets_a_warning():
    def graph(first):
        flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").kernel("k(in f32* x, out f32* y)")
        return flat.fill(f"{first} = 0").run("k(s, o)", after=[0])

    program, found = check(graph("s[1:3]"))
    assert program is not None and [d.code for d in found] == ["PLC318"]
    assert codes(graph("s")) == []
    flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").kernel("k(in f32* x, out f32* y)")
    assert codes(flat.run("k(s, o)")) == ["PLC316"]


def test_a_kernel_cannot_initialise_what_it_updates():
    flat = Flat().buffer("s: f32[4]").kernel("k(inout f32* x)").run("k(s)")
    assert codes(flat) == ["PLC316"]
    flat = Flat().buffer("s: f32[4] state").kernel("k(inout f32* x)").run("k(s)")
    assert codes(flat) == []


def test_outputs_have_no_bytes_before_they_are_written():
    flat = Flat().buffer("o: f32[4] output").buffer("p: f32[4] output")
    assert codes(flat.copy("p <- o").fill("o = 0", after=[0])) == ["PLC317"]
    flat = Flat().buffer("o: f32[4] output").buffer("p: f32[4] output")
    assert codes(flat.fill("o = 0").copy("p <- o", after=[0])) == []


def test_an_output_written_in_part_is_a_warning():
    flat = Flat().buffer("o: f32[4] output").fill("o[0:3] = 0")
    program, (found,) = check(flat)
    assert program is not None and found.code == "PLC320" and found.facts["element"] == [3]
    assert codes(Flat().buffer("o: f32[4] inout").fill("o[0:3] = 0")) == []
    assert codes(Flat().buffer("o: f32[4] output").fill("o = 0")) == []


def test_inferred_order_lets_the_text_initialise():
    flat = Flat(order="inferred").buffer("s: f32[4]").buffer("o: f32[4] output")
    flat.fill("s = 0").copy("o <- s")
    assert codes(flat) == []
    assert len(infer_order(flat.program()).edges) == 1
