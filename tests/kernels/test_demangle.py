"""Mangled names. The symbols were made by g++ and NVRTC from the declarations beside them."""

from __future__ import annotations

import random

import pytest

from planc.kernels.demangle import demangle

PAIRS = [
    ("_Z1vv", "v()"),
    ("_ZL2stPi", "st(int*)"),
    (
        "_Z2a1PKfPfijxmshacbd",
        "a1(const float*, float*, int, unsigned int, long long, unsigned long, short, unsigned char, "
        "signed char, char, bool, double)",
    ),
    ("_Z2a2PKPKfPViPVKiPPf", "a2(const float* const*, volatile int*, volatile const int*, float**)"),
    (
        "_Z2fpIiEvPFT_S0_EN2ns3VecINS4_IS0_Li2EEELin1EEE",
        "fp<int>(int (*)(int), ns::Vec<ns::Vec<int, 2>, -1>)",
    ),
    ("_Z2pkIJEEviDpT_", "pk<>(int)"),
    ("_Z2pkIJPf1SEEviDpT_", "pk<float*, S>(int, float*, S)"),
    ("_Z2ppIJifEEvDpPT_", "pp<int, float>(int*, float*)"),
    ("_Z2ttIN2ns3VecEiEvPT_IT0_Li4EES3_", "tt<ns::Vec, int>(ns::Vec<int, 4>*, int)"),
    (
        "_Z4gemmIKdLin3ELb0EEvPT_PKS1_j",
        "gemm<const double, -3, false>(const double*, const double*, unsigned int)",
    ),
    ("_Z4gemmIfLi32ELb1EEvPT_PKS0_j", "gemm<float, 32, true>(float*, const float*, unsigned int)"),
    ("_Z4halfP6__halfPKS_mhl", "half(__half*, const __half*, unsigned long, unsigned char, long)"),
    ("_Z4litsILj5ELc97ELln7EEvi", "lits<(unsigned int)5, (char)97, (long)-7>(int)"),
    ("_ZN12_GLOBAL__N_12anEi", "(anonymous namespace)::an(int)"),
    ("_ZN12_GLOBAL__N_13an2EPNS_2ASE", "(anonymous namespace)::an2((anonymous namespace)::AS*)"),
    ("_ZN34_GLOBAL__N__00000000_4_k_cu__Z1uPf4anonEPi", "(anonymous namespace)::anon(int*)"),
    ("_ZN1WIfE1nEPNS0_1IES0_", "W<float>::n(W<float>::I*, W<float>)"),
    ("_ZN1WIiE1mEPiPS0_", "W<int>::m(int*, W<int>*)"),
    (
        "_ZN2ns1fIfEEvT_PNS_3VecIS1_Li3EEERKS3_NS_2in1Q1RE",
        "ns::f<float>(float, ns::Vec<float, 3>*, const ns::Vec<float, 3>&, ns::in::Q::R)",
    ),
    (
        "_ZN2ns1gEPNS_1VEPKS0_S0_NS_2in1EENS4_1QEPS6_",
        "ns::g(ns::V*, const ns::V*, ns::V, ns::in::E, ns::in::Q, ns::in::Q*)",
    ),
    (
        "_Z5denseILb1EEvPKfS1_S1_Pfiii",
        "dense<true>(const float*, const float*, const float*, float*, int, int, int)",
    ),
    ("_Z2hfP6__half.suffix", "hf(__half*)"),
]


@pytest.mark.parametrize(("symbol", "expected"), PAIRS)
def test_demangle(symbol: str, expected: str) -> None:
    found = demangle(symbol)
    assert found is not None
    arguments = "" if found.arguments is None else f"<{', '.join(found.arguments)}>"
    assert f"{found.name}{arguments}({', '.join(p.text for p in found.parameters)})" == expected


@pytest.mark.parametrize(
    ("symbol", "facts"),
    [
        (
            "_Z1fPKfPfih",
            [("f32", True, True), ("f32", True, False), ("i32", False, False), ("u8", False, False)],
        ),
        ("_Z1fPPfPKPKf", [(None, True, False), (None, True, True)]),
        ("_Z1fPvPKv", [(None, True, False), (None, True, True)]),
        ("_Z1fP13__nv_bfloat16x", [("bf16", True, False), ("i64", False, False)]),
        ("_Z1f1SPS_", [(None, False, False), (None, True, False)]),
        ("_Z4gemmIKfEvPT_", [("f32", True, True)]),
    ],
)
def test_types(symbol: str, facts: list[tuple[str | None, bool, bool]]) -> None:
    found = demangle(symbol)
    assert found is not None
    assert [(p.dtype, p.pointer, p.const) for p in found.parameters] == facts


@pytest.mark.parametrize(
    "symbol",
    [
        "step",
        "_Z",
        "_Z4st",
        "_Z2stP",
        "_Z2stS_",
        "_Z2stT_",
        "_ZN2nsE",
        "_ZplRK1SS1_",
        "_Z1fDTcl1gEE",
        "_Z1fIXadL_Z1gvEEEvv",
        "_Z" + "1f" + "P" * 500 + "i",
        "_Z999999999f",
        "_Z1f" + "i" * 10_000,
    ],
)
def test_outside_the_part_read(symbol: str) -> None:
    assert demangle(symbol) is None


def test_growth_by_substitution_is_bounded() -> None:
    steps = "123456789ABCDEFGHIJKLMNOPQRSTUVWXY"
    short = "_Z1f1A1BIS_S_E" + "".join(f"S0_IS{i}_S{i}_E" for i in steps[:3])
    found = demangle(short)
    assert found is not None and found.parameters[-1].text.count("A") == 16
    doubling = "_Z1f1A1BIS_S_E" + "".join(f"S0_IS{i}_S{i}_E" for i in steps)
    assert demangle(doubling) is None


def test_damaged_names_raise_nothing() -> None:
    random_ = random.Random(5)
    symbols = [symbol for symbol, _ in PAIRS]
    alphabet = "".join(set("".join(symbols)))
    for _ in range(5_000):
        text = list(random_.choice(symbols))
        for _ in range(random_.randrange(1, 4)):
            text[random_.randrange(2, len(text))] = random_.choice(alphabet)
        demangle("".join(text))
