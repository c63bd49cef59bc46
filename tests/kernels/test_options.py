"""Compiler options and macros that a kernel may give."""

from __future__ import annotations

import pytest

from planc.kernels.options import compiler_options, refused_defines, refused_options


@pytest.mark.parametrize(
    "option",
    [
        "--use_fast_math",
        "-use_fast_math",
        "-ftz=true",
        "--fmad=false",
        "--prec-div=true",
        "--maxrregcount=64",
        "-maxrregcount=255",
        "-std=c++20",
        "--std=c++17",
        "-lineinfo",
        "-w",
        "-diag-suppress=177,550",
        "-default-device",
        "--restrict",
    ],
)
def test_allowed(option: str) -> None:
    assert refused_options([option]) == []


@pytest.mark.parametrize(
    ("option", "cure"),
    [
        ("-DX=1", "defines"),
        ("-I/usr/include", "include_dirs"),
        ("-arch=sm_90", "targets"),
        ("-G", "line numbers"),
        ("-rdc=true", "linked on its own"),
        ("-ftz=maybe", "-ftz="),
        ("-std=c++98", "-std="),
        ("--maxrregcount=64 -G", ""),
        ("-include=/etc/passwd", ""),
        ("--pch", ""),
        ("", ""),
        ("-w\n-G", ""),
    ],
)
def test_refused_with_what_to_do(option: str, cure: str) -> None:
    ((refused, shown),) = refused_options([option])
    assert refused == option and cure in shown


@pytest.mark.parametrize(
    ("name", "value"), [("N", "32"), ("_x9", ""), ("F(a, b)", "a + b"), ("T", "unsigned long")]
)
def test_defines_allowed(name: str, value: str) -> None:
    assert refused_defines({name: value}) == []


@pytest.mark.parametrize(
    ("name", "value"), [("9x", ""), ("a b", ""), ("", ""), ("é", ""), ("N", "1\n2"), ("N", "\0")]
)
def test_defines_refused(name: str, value: str) -> None:
    assert [n for n, _, _ in refused_defines({name: value})] == [name]


def test_flags() -> None:
    plain = compiler_options(["-lineinfo"], {"B": "2", "A": "1"})
    assert plain.for_target("compute_90") == ("-arch=compute_90", "-lineinfo", "-std=c++17", "-DA=1", "-DB=2")
    assert plain.registers is None
    other = compiler_options(["-std=c++20", "--maxrregcount=40"], {})
    assert "-std=c++17" not in other.flags and other.registers == 40
