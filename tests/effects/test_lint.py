"""The analysis for launches that nobody has fixed: kinds as for a launch, ranges as formulas."""

from __future__ import annotations

import functools
import json

import pytest

from planc.effects import KernelLint, lint_as_json, lint_module
from planc.ptx import parse
from tests.effects.table import FOLDER, Case, Pointer, all_cases, pieces
from tests.simt.cuda import compile_cuda

CASES = all_cases()


@functools.cache
def _module(file: str):
    return parse(compile_cuda((FOLDER / file).read_text()), file)


@functools.cache
def _reports(file: str) -> dict[str, KernelLint]:
    return {report.entry: report for report in lint_module(_module(file))}


_LINT_FINDS_MORE = {"no_turns", "never", "struct_array", "ping_pong"}
"""Kernels whose fixed arguments leave out what another launch does, or that need a known count of turns."""
_WIDER = {
    "read": {"read", "read-write"},
    "write": {"write", "read-write"},
    "reduce": {"reduce", "read-write"},
}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_kinds_agree_with_a_launch(case: Case) -> None:
    report = _reports(case.file)[case.name]
    kinds = {p.offset: p.kind for p in report.parameters}
    function = _module(case.file).functions[case.name]
    for offset, argument in pieces(case, function.parameters):
        if not isinstance(argument, Pointer) or case.name in _LINT_FINDS_MORE:
            continue
        found = kinds.get(offset, "none")
        assert found in ({argument.kind, "unknown"} | _WIDER.get(argument.kind, set())), offset


def test_most_kinds_are_exact() -> None:
    total = exact = 0
    for case in CASES:
        kinds = {p.offset: p.kind for p in _reports(case.file)[case.name].parameters}
        function = _module(case.file).functions[case.name]
        for offset, argument in pieces(case, function.parameters):
            if isinstance(argument, Pointer):
                total += 1
                exact += kinds.get(offset, "none") == argument.kind
    print(f"\nkinds without a launch: {exact} of {total} exact")
    assert exact >= 0.95 * total


SOURCE = """
template <typename T> __global__ void add(T* y, const T* x, unsigned long long n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }
template __global__ void add<float>(float*, const float*, unsigned long long);
extern "C" __global__ void row(float* y, int nx) { y[blockIdx.x * nx + threadIdx.x] = 1; }
extern "C" __global__ void offset(char* y, unsigned long long n) { y[n] = 1; }
"""


def test_formulas_names_and_json() -> None:
    reports = lint_module(parse(compile_cuda(SOURCE), "lint.ptx"))
    by_name = {report.name: report for report in reports}
    added = by_name["add"]
    assert added.entry.startswith("_Z3add")
    assert [(p.offset, p.kind) for p in added.parameters] == [(0, "read-write"), (8, "read")]
    (access,) = by_name["row"].parameters[0].accesses
    assert "tid.x" in access.address and "ctaid.x" in access.address and "row_param_1" in access.address
    assert access.source_line == 5
    assert [p.offset for p in by_name["offset"].parameters] == [0] or by_name["offset"].parameters[
        0
    ].kind == "write"
    text = json.loads(json.dumps(lint_as_json(reports)))
    assert {kernel["name"] for kernel in text} == {"add", "row", "offset"}


def test_a_kernel_that_is_not_understood_is_unknown_with_its_reason() -> None:
    report = _reports("calls.cu")["stored_pointer"]
    assert report.parameters[0].kind == "unknown"
    assert "stored to memory at PTX line" in report.parameters[0].reason
    assert any("comes from no argument" in text for text in _reports("calls.cu")["pointer_table"].unknown)
