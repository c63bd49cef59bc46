"""The assembler agrees: what planc rewrites or prints still is the same program.

nvJitLink holds ptxas; like NVRTC it needs no GPU.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planc.kernels.elf import read_elf
from planc.ptx import format_module, lowest_version, make_exact, parse, with_version
from tests.ptx.helpers import DATA

pytest.importorskip("cuda.bindings.nvjitlink")

NAMES = ["calls", "group", "half", "inline", "math", "memory", "plain", "switch", "virtual", "numba_reduce_0"]
TRITON = ["triton_vadd_90", "triton_softmax_90", "triton_gemm_90", "triton_gemm_100", "triton_atom_80"]


def machine_code(text: str, target: str = "sm_90") -> dict[str, bytes]:
    """The code and constants of what the assembler makes of a text."""
    from planc.kernels.linker import link_cubin

    linked = link_cubin(text, "k.ptx", target)
    assert linked.cubin is not None, linked.log
    wanted = re.compile(r"\.text\..*|\.nv\.constant\d.*|\.nv\.global\.init")
    return {s.name: bytes(s.data) for s in read_elf(linked.cubin).sections if wanted.fullmatch(s.name)}


@pytest.mark.parametrize("name", NAMES)
def test_the_lowest_version_gives_the_same_machine_code(name: str) -> None:
    text = (DATA / f"{name}.ptx").read_text()
    version = lowest_version(parse(text))
    assert version < (9, 0)
    assert machine_code(with_version(text, version)) == machine_code(text)


@pytest.mark.parametrize("name", TRITON)
def test_ptx_newer_than_the_assembler_becomes_loadable(name: str) -> None:
    text = (DATA / f"{name}.ptx").read_text()
    module = parse(text)
    assert machine_code(with_version(text, lowest_version(module)), module.target[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_printed_module_gives_the_same_machine_code(name: str) -> None:
    text = (DATA / f"{name}.ptx").read_text()
    assert machine_code(format_module(parse(text))) == machine_code(text)


def test_exact_arithmetic_forbids_contraction() -> None:
    text = (DATA / "plain.ptx").read_text()
    exact = make_exact(text)
    assert machine_code(exact) != machine_code(text), "a product and a sum were merged before"
    assert machine_code(make_exact(exact)) == machine_code(exact)


SOURCES = sorted(DATA.glob("*.cu"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_what_nvrtc_writes_today(path: Path) -> None:
    from planc.kernels import find_toolkit

    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    status, program = nvrtc.nvrtcCreateProgram(path.read_bytes(), path.name.encode(), 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    options = [b"-arch=compute_90", b"-lineinfo", *(f"-I{f}".encode() for f in find_toolkit().include)]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    _, size = nvrtc.nvrtcGetPTXSize(program)
    data = bytearray(size)
    nvrtc.nvrtcGetPTX(program, data)
    nvrtc.nvrtcDestroyProgram(program)
    fresh = parse(data.rstrip(b"\0").decode(), path.name)
    stored = parse(path.with_suffix(".ptx").read_text())
    assert [f.name for f in fresh.entries] == [f.name for f in stored.entries]
    assert any(i.source is not None for f in fresh.entries for i in f.body)
