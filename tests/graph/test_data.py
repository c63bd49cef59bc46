"""Constants from files and literals: every format, every mismatch, no pickles."""

import hashlib
import json
import struct
import zipfile

import ml_dtypes
import numpy as np
import pytest

from planc.graph.data import EMBED_LIMIT
from tests.graph.flat_builder import Flat

VALUES = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def constant(text="c: f32[2, 3] constant", **data):
    flat = Flat().buffer(text, **data).buffer("o: f32[2, 3] output")
    dtype = flat.buffers[0].dtype
    if dtype != "f32":
        flat.buffers[1:] = []
        return flat.kernel(f"k(in {dtype}* x)").run("k(c)")
    return flat.copy("o <- c")


def held(flat):
    program = flat.program()
    buffer = program.buffers[0]
    assert buffer.embedded
    data = bytes(program.constants[buffer.data])
    assert hashlib.sha256(data).hexdigest() == buffer.data and len(data) == buffer.nbytes
    return data


def safetensors(path, tensors, *, header=None, tail=b""):
    table, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = array.tobytes()
        table[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = (json.dumps(table) if header is None else header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data + tail)
    return path


def test_npy(tmp_path):
    file = tmp_path / "a.npy"
    np.save(file, VALUES)
    assert held(constant(file=file)) == VALUES.tobytes()
    np.save(file, np.asfortranarray(VALUES))
    assert held(constant(file=file)) == VALUES.tobytes()
    np.save(file, VALUES.astype(">f4"))
    assert held(constant(file=file)) == VALUES.tobytes()


def test_npz_and_members(tmp_path):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, w1=VALUES, w2=VALUES * 2)
    assert held(constant(file=file, member="w2")) == (VALUES * 2).tobytes()
    (bad,) = constant(file=file, member="w3").found()
    assert bad.code == "PLC329" and bad.help == "known are `w1`, `w2`"
    assert constant(file=file).codes() == ["PLC329"]
    np.savez(file, only=VALUES)
    assert held(constant(file=file)) == VALUES.tobytes()
    np.save(tmp_path / "a.npy", VALUES)
    assert constant(file=tmp_path / "a.npy", member="w1").codes() == ["PLC329"]


def test_safetensors(tmp_path):
    file = safetensors(tmp_path / "a.safetensors", {"w": ("F32", VALUES), "b": ("I64", np.arange(3))})
    assert held(constant(file=file, member="w")) == VALUES.tobytes()
    assert held(constant("c: i64[3] constant", file=file, member="b")) == np.arange(3).tobytes()
    assert constant(file=file, member="b").codes() == ["PLC330"]
    assert constant(file=file, member="x").codes() == ["PLC329"]
    assert constant("c: f32[3, 2] constant", file=file, member="w").codes()[0] == "PLC331"


@pytest.mark.parametrize(
    "header",
    [
        "no json",
        "[]",
        '{"w": {"dtype": "F32", "shape": [2, 3]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24], "more": 1}}',
        '{"w": {"dtype": "F32", "shape": [2, -3], "data_offsets": [0, 24]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [4, 24]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [24, 0]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 240]}}',
        '{"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 24]}}',
        '{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, '
        '"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}',
        "[" * 100_000,
    ],
)
def test_malformed_safetensors(tmp_path, header):
    file = safetensors(tmp_path / "a.safetensors", {"w": ("F32", VALUES)}, header=header)
    assert set(constant(file=file, member="w").codes()) <= {"PLC328", "PLC331"}
    assert constant(file=file, member="w").codes()


def test_safetensors_with_a_rest_or_cut_short(tmp_path):
    file = safetensors(tmp_path / "a.safetensors", {"w": ("F32", VALUES)}, tail=b"x")
    assert constant(file=file, member="w").codes() == ["PLC328"]
    for length in (0, 4, 8, 40):
        file.write_bytes(file.read_bytes()[:length])
        assert constant(file=file, member="w").codes() == ["PLC328"]


def test_types_of_two_bytes(tmp_path):
    halves = np.array([1, 2.5], ml_dtypes.bfloat16)
    np.save(tmp_path / "a.npy", halves)
    assert held(constant("c: bf16[2] constant", file=tmp_path / "a.npy")) == halves.tobytes()
    assert constant("c: f16[2] constant", file=tmp_path / "a.npy").codes() == ["PLC330"]
    np.save(tmp_path / "b.npy", np.array([1, 2.5], np.float16))
    assert constant("c: bf16[2] constant", file=tmp_path / "b.npy").codes() == ["PLC330"]


def test_truth_values_become_0_and_1(tmp_path):
    np.save(tmp_path / "a.npy", np.array([0, 7, 255], np.uint8).view(bool))
    assert held(constant("c: bool[3] constant", file=tmp_path / "a.npy")) == b"\0\1\1"


def test_mismatches_name_both_sides(tmp_path):
    np.save(tmp_path / "a.npy", VALUES.astype(np.float64))
    (bad,) = constant(file=tmp_path / "a.npy").found()
    assert bad.code == "PLC330" and bad.facts["found"] == "f64" and bad.span.column == 20
    np.save(tmp_path / "a.npy", VALUES.T)
    (bad,) = constant(file=tmp_path / "a.npy").found()
    assert bad.code == "PLC331" and bad.facts["found"] == "[3, 2]"


def test_files_that_cannot_be_read(tmp_path):
    def codes(name, content=None):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        return constant(file=tmp_path / name, member=None).codes()

    assert codes("missing.npy") == ["PLC328"]
    assert codes("a.npy", b"junk") == ["PLC328"]
    assert codes("a.npz", b"junk") == ["PLC328"]
    assert codes("a.bin", b"junk") == ["PLC328"]
    np.save(tmp_path / "b.npy", VALUES)
    good = (tmp_path / "b.npy").read_bytes()
    assert codes("c.npy", good) == []
    assert codes("c.npy", good[:-1]) == ["PLC328"]
    assert codes("c.npy", good + b"x") == ["PLC328"]
    (tmp_path / "folder.npy").mkdir()
    assert codes("folder.npy") == ["PLC328"]


def test_pickles_are_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    array = np.empty((2, 3), object)
    array[...] = Bomb()
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    (bad,) = constant(file=tmp_path / "a.npy").found()
    assert bad.code == "PLC328" and "pickled" in bad.message
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.write(tmp_path / "a.npy", "w.npy")
    assert constant(file=tmp_path / "a.npz").codes() == ["PLC328"]


def test_literals():
    assert held(constant(data=VALUES.tolist())) == VALUES.tobytes()
    assert held(constant(data=2.5)) == np.full((2, 3), 2.5, np.float32).tobytes()
    assert held(constant("c: i8[2] constant", data=[-1, 7])) == b"\xff\x07"
    assert constant("c: u8[2] constant", data=[1, 256]).codes() == ["PLC332"]
    assert constant("c: u8[2] constant", data=[1, 0.5]).codes() == ["PLC332"]
    assert constant("c: u8[2] constant", data=[1, "x"]).codes() == ["PLC332"]
    assert constant("c: u8[2] constant", data=[1]).codes() == ["PLC331"]
    assert constant("c: u8[2, 2] constant", data=[[1, 2], [3]]).codes() == ["PLC331"]
    assert constant("c: u8[2, 2] constant", data=[[1, 2], 3]).codes() == ["PLC331"]
    assert constant("c: u8[4] constant", data=[[1, 2], [3, 4]]).codes() == ["PLC331"]


def test_roles_and_data():
    assert constant().codes() == ["PLC326"]
    flat = Flat().buffer("u: f32[2] input", data=[1, 2]).buffer("v: f32[2] output").copy("v <- u")
    assert flat.codes() == ["PLC327"]
    flat = Flat().buffer("s: f32[2] state", data=[1, 2]).fill("s = 0")
    assert flat.codes() == ["PLC327"]


def large(**rest):
    count = EMBED_LIMIT // 4
    return Flat().buffer(f"c: f32[{count}] constant", data=1.0, **rest).kernel("k(in f32* x)").run("k(c)")


def test_large_data_is_named_by_digest():
    program = large().program()
    assert program.constants == {} and not program.buffers[0].embedded and len(program.buffers[0].data) == 64
    assert len(large(embed=True).program().constants) == 1
    assert held(constant(data=2.5)) and not constant(data=2.5, embed=False).program().constants


def test_equal_data_is_kept_once():
    flat = constant(data=1.0).buffer("d: f32[6] constant", data=1.0).kernel("k(in f32* x)").run("k(d)")
    assert len(flat.program().constants) == 1


@pytest.mark.parametrize(
    ("text", "align", "code"),
    [
        ("u: f32[0] inout", None, "PLC323"),
        ("u: f32[2, 0] inout", None, "PLC323"),
        ("u: f32[-1] inout", None, "PLC323"),
        ("u: f32[1] inout", None, None),
        ("u: u8[70368744177664] inout", None, None),
        ("u: u8[70368744177665] inout", None, "PLC324"),
        ("u: f32[1] inout", 2, "PLC325"),
        ("u: f32[1] inout", 4, None),
        ("u: f32[1] inout", 24, "PLC325"),
        ("u: f32[1] inout", 0, "PLC325"),
        ("u: f32[1] inout", 1 << 21, None),
        ("u: f32[1] inout", 1 << 22, "PLC325"),
    ],
)
def test_extents_and_alignment(text, align, code):
    assert Flat().buffer(text, align=align).fill("u = 0").codes() == ([] if code is None else [code])


def test_state_that_nothing_writes_and_outputs():
    assert Flat().buffer("s: f32[2] state").buffer("o: f32[2] output").copy("o <- s").codes() == ["PLC334"]
    assert Flat().buffer("o: f32[2] output").codes() == ["PLC319"]
    flat = Flat().buffer("o: f32[2] output").buffer("p: f32[2] output").copy("p <- o")
    assert flat.codes() == ["PLC319"]
