"""Declarations of kernels as people write them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from planc.kernels.declarations import SourceEntry, instance_types, read_declarations
from planc.kernels.parameters import parse_type, split_arguments

DATA = Path(__file__).parent / "data"


def one(text: str) -> SourceEntry:
    (entry,) = read_declarations(text)
    return entry


def parameter(text: str) -> tuple[str, str | None, bool, bool]:
    (p,) = one(f"__global__ void f({text}) {{}}").parameters
    return p.name, p.dtype(), p.pointer, p.const


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const float* __restrict__ a", ("a", "f32", True, True)),
        ("float const *a", ("a", "f32", True, True)),
        ("float* const a", ("a", "f32", True, False)),
        ("const float* const __restrict a", ("a", "f32", True, True)),
        ("volatile int* a", ("a", "i32", True, False)),
        ("float a[]", ("a", "f32", True, False)),
        ("const double a[3][4]", ("a", "f64", True, True)),
        ("float** a", ("a", None, True, False)),
        ("float* const* a", ("a", None, True, True)),
        ("const float** a", ("a", None, True, False)),
        ("unsigned int n", ("n", "u32", False, False)),
        ("unsigned n", ("n", "u32", False, False)),
        ("int unsigned long n", ("n", "u64", False, False)),
        ("long long n", ("n", "i64", False, False)),
        ("long n", ("n", "i64", False, False)),
        ("unsigned short int n", ("n", "u16", False, False)),
        ("signed char n", ("n", "i8", False, False)),
        ("unsigned char n", ("n", "u8", False, False)),
        ("char n", ("n", "i8", False, False)),
        ("bool n", ("n", "bool", False, False)),
        ("size_t n", ("n", "u64", False, False)),
        ("std::size_t n", ("n", "u64", False, False)),
        ("uint8_t* n", ("n", "u8", True, False)),
        ("const ::cuda::std::int64_t n", ("n", "i64", False, True)),
        ("__half h", ("h", "f16", False, False)),
        ("const __nv_bfloat16* __restrict__ h", ("h", "bf16", True, True)),
        ("void* p", ("p", None, True, False)),
        ("const void* p", ("p", None, True, True)),
        ("real x", ("x", None, False, False)),
        ("struct Params p", ("p", None, False, False)),
        ("const __grid_constant__ Params p", ("p", None, False, True)),
        ("ns::Vec<float, 3> v", ("v", None, False, False)),
        ("Vec<Vec<int, 2>, (3 > 2)>* v", ("v", None, True, False)),
        ("float4* v", ("v", None, True, False)),
        ("void (*callback)(int, float)", ("callback", None, False, False)),
        ("int", ("", "i32", False, False)),
        ("const float*", ("", "f32", True, True)),
        ("ns::Foo", ("", None, False, False)),
        ("Foo", ("", None, False, False)),
        ("int n = 3", ("n", "i32", False, False)),
        ("[[maybe_unused]] int n", ("n", "i32", False, False)),
        ("alignas(16) int n", ("n", "i32", False, False)),
        ("float &r", ("r", "f32", True, False)),
        ("long double n", ("n", None, False, False)),
        ("/* in */ int /* the count */ n", ("n", "i32", False, False)),
    ],
)
def test_parameter(text: str, expected: tuple[str, str | None, bool, bool]) -> None:
    assert parameter(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("__global__ void f(int a) {}", "f", 1),
        ('extern "C" __global__ void f(int a, int b) {}', "f", 2),
        ('extern "C" {\n__global__ void f() {}\n}', "f", 0),
        ("__global__ void __launch_bounds__(256, 2) f(int a) {}", "f", 1),
        ("__launch_bounds__(256) __global__ void f(int a) {}", "f", 1),
        ("__global__ __launch_bounds__(N > 4 ? 128 : 256) void f(int a);", "f", 1),
        ("__global__ void __cluster_dims__(2, 1, 1) f(int a) {}", "f", 1),
        ("static inline __global__ void f(void) {}", "f", 0),
        ("void __global__ f(int a) {}", "f", 1),
        ("__global__ void BOUNDS(256) f(int a) {}", "f", 1),
        ("__global__\nvoid\nf\n(\nint a\n)\n{\n}", "f", 1),
        ("__global__ void f(int a) noexcept {}", "f", 1),
        ("namespace a { namespace b { __global__ void f(int x) {} } }", "a::b::f", 1),
        ("namespace a::b { __global__ void f(int x) {} }", "a::b::f", 1),
        ("namespace { __global__ void f(int x) {} }", "f", 1),
        ("struct S : Base<int> { static __global__ void f(int x); };", "S::f", 1),
        ("__global__ void ns::f(int x) {}", "ns::f", 1),
        ("int g() { if (a < b) { } return s[i[0]]; }\n__global__ void f(int x) {}", "f", 1),
        ("struct S; struct T {}; enum E { a }; __global__ void f(S* s, enum E e) {}", "f", 2),
        ('const char* s = "__global__ void g(int)";\n__global__ void f() {}', "f", 0),
        ("// __global__ void g();\n#define K __global__ void k()\n__global__ void f() {}", "f", 0),
        ("#if 0\n__global__ void g();\n#endif\n__global__ void f() {}", "f", 0),
    ],
)
def test_shape(text: str, name: str, count: int) -> None:
    entry = one(text)
    assert (entry.name, len(entry.parameters)) == (name, count)


@pytest.mark.parametrize(
    "text",
    ["", "__global__", "__global__ void", "__global__ int x;", "#define __global__", "__global__ void f("],
)
def test_nothing_to_read(text: str) -> None:
    assert all(not entry.parameters for entry in read_declarations(text))


def test_places_are_of_the_names() -> None:
    entry = one("__global__ void\n  f(const float* a,\n    int  count) {}")
    assert (entry.line, entry.column) == (2, 3)
    assert [(p.line, p.column) for p in entry.parameters] == [(2, 18), (3, 10)]


def test_definition_and_linkage() -> None:
    first, second = read_declarations('extern "C" __global__ void f(int);\n__global__ void g(int a) {}')
    assert (first.extern_c, first.is_definition) == (True, False)
    assert (second.extern_c, second.is_definition) == (False, True)
    inner, after = read_declarations('extern "C" { __global__ void f(); }\n__global__ void g();')
    assert inner.extern_c and not after.extern_c


@pytest.mark.parametrize(
    ("bounds", "threads"), [("__launch_bounds__(256, 2)", 256), ("__launch_bounds__(N)", None), ("", None)]
)
def test_launch_bounds(bounds: str, threads: int | None) -> None:
    assert one(f"__global__ void {bounds} f() {{}}").threads == threads


def test_template() -> None:
    entry = one("template <class T, int N = 4, typename... A> __global__ void f(T* x, A... rest) {}")
    assert entry.template is not None
    assert [(t.name, t.is_type, t.default, t.pack) for t in entry.template] == [
        ("T", True, None, False),
        ("N", False, "4", False),
        ("A", True, None, True),
    ]
    assert entry.parameters[1].pack and not entry.parameters[0].pack
    assert instance_types(entry, ["float"]) == {"T": "float", "N": "4"}
    assert instance_types(entry, ["double", "8"]) == {"T": "double", "N": "8"}


def test_explicit_specialisation() -> None:
    general, special = read_declarations(
        "template <class T> __global__ void f(T* x) {}\ntemplate <> __global__ void f<double>(double* x) {}"
    )
    assert general.arguments is None and special.arguments == ("double",) and special.template == ()


@pytest.mark.parametrize(
    ("argument", "dtype", "pointer", "const"),
    [
        ("float", "f32", True, False),
        ("const float", "f32", True, True),
        ("unsigned long long", "u64", True, False),
        ("float*", None, True, False),
        ("Foo", None, True, False),
    ],
)
def test_instances_replace_types(argument: str, dtype: str | None, pointer: bool, const: bool) -> None:
    entry = one("template <class T> __global__ void f(T* x) {}")
    resolved = entry.parameters[0].resolved({"T": argument})
    assert (resolved.dtype(), resolved.pointer, resolved.const) == (dtype, pointer, const)


@pytest.mark.parametrize(
    ("entry", "name", "arguments"),
    [
        ("f", "f", None),
        ("::ns::f", "ns::f", None),
        ("gemm<float,32>", "gemm", ("float", "32")),
        ("ns::gemm< Vec<int, 3>, (3>2) >", "ns::gemm", ("Vec<int, 3>", "(3> 2)")),
        ("f<>", "f", ()),
    ],
)
def test_split_arguments(entry: str, name: str, arguments: tuple[str, ...] | None) -> None:
    found, given = split_arguments(entry)
    assert found == name and (given is None) == (arguments is None)
    assert [a.replace(" ", "") for a in given or ()] == [a.replace(" ", "") for a in arguments or ()]


def test_parse_type() -> None:
    found = parse_type("const unsigned char*")
    assert (found.base, found.stars, found.const, found.name) == ("unsigned char", 1, True, "")


def test_damaged_sources_raise_nothing() -> None:
    text = (
        'extern "C" __global__ void __launch_bounds__(256) f(const float* __restrict__ a[3], int n = 2);'
        "namespace a { template <class T, int N> __global__ void g(V<T, N>* v, void (*p)(int), T... t) {} }"
    )
    random_ = random.Random(11)
    parts = re.findall(r"\w+|\s+|.", text)
    for _ in range(1_500):
        mixed = list(parts)
        for _ in range(random_.randrange(1, 8)):
            i, j = random_.randrange(len(mixed)), random_.randrange(len(mixed))
            mixed[i], mixed[j] = mixed[j], random_.choice(["", mixed[i], "<", ")", "{", '"'])
        for entry in read_declarations("".join(mixed)):
            assert entry.line >= 1
    deep = "__global__ void f(" + "Vec<(" * 5_000 + ");"
    assert len(read_declarations(deep)) <= 1
