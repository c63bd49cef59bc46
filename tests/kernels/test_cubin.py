"""The reader of cubins: against the linker's own report, and against damage."""

from __future__ import annotations

import random
import re

import pytest

from planc.kernels import Cache, Cubin, CubinError, read_cubin
from planc.kernels.elf import read_elf
from planc.ptx import parse
from tests.kernels.helpers import Builder, image, kernel

SOURCE = """\
struct Big { int a[1500]; };
struct Pair { double x; char c; };
struct alignas(16) Quad { float f[4]; };
__device__ float zeros[7];
__device__ int five = 5;
__constant__ float table[9];
static __device__ int own;
extern "C" __global__ void __launch_bounds__(256, 2) heavy(float* x, int n) {
  extern __shared__ float dynamic[];
  __shared__ float tile[200];
  float local[100];
  for (int i = 0; i < 100; i++) local[i] = x[i * n];
  for (int i = 0; i < 100; i++) dynamic[i] = local[(i * n) % 100];
  tile[n] = x[0];
  __syncthreads();
  x[n] = tile[n - 1] + dynamic[2] + zeros[n] + five + table[n] + own;
  zeros[2] = 3;
  own = 3;
  printf("%d", n);
}
extern "C" __global__ void dynamic_only(float* x, int n) {
  extern __shared__ float dynamic[];
  dynamic[n] = x[0];
  __syncthreads();
  x[n] = dynamic[n - 1];
}
extern "C" __global__ void many(char a, short b, Pair v, float* q, Quad al, bool f, double d) {
  *q = a + b + v.x + v.c + al.f[2] + f + d;
}
extern "C" __global__ void big(Big b, float* q) { *q = b.a[threadIdx.x]; }
extern "C" __global__ void none() {}
__device__ __noinline__ int rec(int n) { return n < 2 ? 1 : rec(n - 1) + rec(n - 2); }
extern "C" __global__ void recursive(int* x, int n) { x[0] = rec(n); }
"""
TARGETS = ("sm_80", "sm_90", "sm_120")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory, cache: Cache) -> dict[str, tuple[bytes, str]]:
    builder = Builder(tmp_path_factory.mktemp("cubin"), cache)
    builder.write("k.cu", SOURCE)
    artifact = builder.build(kernel(builder.folder, "k.cu", "heavy"), targets=TARGETS).only()
    return {t: (image(artifact, "cubin", t), image(artifact, "ptx", t).decode()) for t in TARGETS}


def linker_report(ptx: str, target: str) -> dict[str, dict[str, int]]:
    """Link again, verbosely: (registers, stack, smem) of each kernel by name."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(2, [f"-arch={target}", "-verbose"])
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx.encode(), len(ptx), "k")
    nvjitlink.complete(handle)
    log = bytearray(nvjitlink.get_info_log_size(handle))
    nvjitlink.get_info_log(handle, log)
    nvjitlink.destroy(handle)
    found: dict[str, dict[str, int]] = {}
    final = log.decode().split("\ninfo ", 1)[1]
    for name, registers, stack in re.findall(
        r"properties for '(\w+)':\s*info\s*: used (\d+) registers, used \d+ barriers, (\d+) stack", final
    ):
        found[name] = {"registers": int(registers), "stack": int(stack)}
    for name, line in re.findall(
        r"Compiling entry function '(\w+)'.*?(Used \d+ registers[^\n]*)", log.decode(), re.S
    ):
        shared = re.search(r"(\d+) bytes smem", line)
        found[name]["shared"] = int(shared[1]) if shared else 0
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_resources_are_the_linkers(images: dict[str, tuple[bytes, str]], target: str) -> None:
    data, ptx = images[target]
    cubin = read_cubin(data)
    report = linker_report(ptx, target)
    assert set(cubin.entries) == set(report) and len(report) == 6
    for name, entry in cubin.entries.items():
        assert entry.registers == report[name]["registers"]
        assert entry.static_shared == report[name]["shared"]
        assert entry.local == report[name]["stack"]
    assert cubin.number == int(target[3:])
    assert cubin.undefined == ("vprintf",)


@pytest.mark.parametrize("target", TARGETS)
def test_parameters_are_the_ptxs(images: dict[str, tuple[bytes, str]], target: str) -> None:
    data, ptx = images[target]
    entries = {e.name: e for e in parse(ptx).entries}
    for name, entry in read_cubin(data).entries.items():
        expected = [(p.offset, p.size) for p in entries[name].parameters]
        assert [(p.offset, p.size) for p in entry.parameters] == expected
        assert entry.parameter_bytes == max((o + s for o, s in expected), default=0)
        assert all(p.offset % p.align == 0 and p.size % p.align == 0 for p in entry.parameters)


def test_other_facts(images: dict[str, tuple[bytes, str]]) -> None:
    cubin = read_cubin(images["sm_90"][0])
    assert cubin.entries["heavy"].max_threads == (256, 1, 1)
    assert cubin.entries["many"].max_threads is None
    found = {name: (g.space, g.size, g.initialised) for name, g in cubin.globals.items()}
    assert found == {
        "zeros": ("global", 28, False),
        "five": ("global", 4, True),
        "table": ("const", 36, True),
        "own": ("global", 4, False),
    }


def test_truncation(images: dict[str, tuple[bytes, str]]) -> None:
    data = images["sm_90"][0]
    for length in [*range(0, 80), *range(80, len(data), 997), len(data) - 1]:
        with pytest.raises(CubinError):
            read_cubin(data[:length])


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"MZ" + bytes(100), b"\x50\xed\x55\xba" + bytes(100), b"\x7fELF" + bytes(200)]
)
def test_no_cubin(data: bytes) -> None:
    with pytest.raises(CubinError):
        read_cubin(data)


def test_a_host_program_is_no_cubin() -> None:
    header = bytearray(64)
    header[:7] = b"\x7fELF\x02\x01\x01"
    header[18] = 62  # x86-64
    with pytest.raises(CubinError, match="not of GPU code"):
        read_elf(bytes(header))


def test_mutations_give_only_coded_errors(images: dict[str, tuple[bytes, str]]) -> None:
    random_ = random.Random(3)
    data = images["sm_90"][0]
    table = int.from_bytes(data[40:48], "little")
    places = [range(64), range(table, len(data)), range(64, table)]
    refused = 0
    for _ in range(1_500):
        changed = bytearray(data)
        for _ in range(random_.randrange(1, 5)):
            index = random_.choice(random_.choice(places))
            changed[index] = random_.choice((0, 1, 0x7F, 0x80, 0xFF, random_.randrange(256)))
        try:
            assert isinstance(read_cubin(bytes(changed)), Cubin)
        except CubinError as error:
            assert str(error)
            refused += 1
    assert refused > 50
