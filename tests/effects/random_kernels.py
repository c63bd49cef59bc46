"""Random kernels with affine and not so affine addresses, checked byte by byte against runs."""

from __future__ import annotations

import random
import struct
from collections import Counter
from dataclasses import dataclass

import numpy as np

from planc.effects import Analyser, IntegerFact, KernelEffects, LaunchFacts, PointerFact
from planc.plan.boxes import Box
from planc.ptx import parse
from planc.simt import Memory, prepare
from tests.simt.cuda import compile_cuda

HALF = 1 << 19
"""Bytes before and after each pointer."""
_HEAD = "__device__ __noinline__ void put(float* p, int i) { if (i != 3) p[i] = 4; }\n"
_SHAPES = (((4, 1, 1), (32, 1, 1)), ((3, 2, 1), (8, 4, 1)), ((5, 1, 1), (17, 1, 1)), ((2, 2, 1), (4, 4, 2)))


@dataclass
class Kernel:
    """One kernel: its text, launch and scalars."""

    name: str
    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    n: int
    m: int


class Writer:
    """Writes the text of one kernel."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = 0

    def kernel(self, name: str) -> Kernel:
        grid, block = self.rng.choice(_SHAPES)
        n, m = self.rng.choice((16, 40, 64, 100, 128, 200)), self.rng.choice((3, 4, 7, 8, 16))
        scope = ["x", "y", "t", "n", "m"]
        lines = [
            "int x = blockIdx.x * blockDim.x + threadIdx.x;",
            "int y = blockIdx.y * blockDim.y + threadIdx.y;",
            "int t = threadIdx.x;",
        ]
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement(scope, 3)
        body = "\n  ".join(lines)
        head = f'extern "C" __global__ void {name}(float* a, float* b, const int* d, int n, int m)'
        return Kernel(name, f"{head} {{\n  {body}\n}}\n", grid, block, n, m)

    def fresh(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def atom(self, scope: list[str]) -> str:
        return self.rng.choice(scope) if self.rng.random() < 0.75 else str(self.rng.randint(-3, 40))

    def expression(self, scope: list[str], depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.15:
            return self.atom(scope)
        one = self.expression(scope, depth - 1)
        other = self.expression(scope, depth - 1)
        constant = self.rng.choice((2, 3, 4, 5, 8, 16, 32))
        forms = (
            f"({one} + {other})",
            f"({one} + {other})",
            f"({one} - {other})",
            f"({one} * {constant})",
            f"({one} + {constant})",
            f"({one} / {constant})",
            f"({one} % {constant})",
            f"({one} & {constant - 1})",
            f"({one} >> {self.rng.randint(1, 4)})",
            f"(({one} & 255) << {self.rng.randint(1, 3)})",
            f"min((int){one}, (int){other})",
            f"max((int){one}, (int){other})",
            f"({self.condition(scope, 0)} ? {one} : {other})",
            f"(({one} & 63) * m)",
            f"(int)((unsigned){one} % {constant}u)",
            f"(int)((unsigned){one} / {constant}u)",
        )
        return self.rng.choice(forms)

    def condition(self, scope: list[str], depth: int) -> str:
        if depth and self.rng.random() < 0.4:
            joint = self.rng.choice(("&&", "||"))
            return f"({self.condition(scope, depth - 1)} {joint} {self.condition(scope, depth - 1)})"
        if self.rng.random() < 0.12:
            return f"(d[({self.atom(scope)}) & 255] > {self.rng.randint(0, 255)})"
        left = self.expression(scope, 1) if self.rng.random() < 0.5 else self.rng.choice(scope[:3])
        right = self.rng.choice(("n", "m", "n - 1", str(self.rng.randint(0, 60))))
        return f"({left} {self.rng.choice(('<', '<=', '>', '>=', '==', '!=', '<'))} {right})"

    def index(self, scope: list[str]) -> str:
        if self.rng.random() < 0.35:
            variable = self.rng.choice([s for s in scope if s not in ("n", "m")])
            return f"{variable} * {self.rng.choice((1, 1, 1, 2, 3, 4))} + {self.rng.randint(-2, 8)}"
        if self.rng.random() < 0.1:
            return f"d[({self.expression(scope, 1)}) & 255]"
        return self.expression(scope, 2)

    def statement(self, scope: list[str], depth: int) -> list[str]:
        kinds = [self.access, self.access, self.let]
        if depth:
            kinds += [self.branch, self.branch, self.loop, self.loop, self.early]
        return self.rng.choice(kinds)(scope, depth)

    def block(self, scope: list[str], depth: int) -> list[str]:
        inner = list(scope)
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 2)):
            lines += self.statement(inner, depth)
        if not any("[" in line or "put" in line for line in lines):
            lines += self.access(inner, 0)
        return lines

    def access(self, scope: list[str], depth: int) -> list[str]:
        target = self.rng.choice("ab")
        at = f"(({self.index(scope)}) % 100000)" if self.rng.random() < 0.1 else self.index(scope)
        forms = (
            f"{target}[{at}] = 1;",
            f"{target}[{at}] = 2;",
            f"{target}[{at}] = a[{self.index(scope)}];",
            f"{target}[{at}] += 1;",
            f"atomicAdd(&{target}[{at}], 1.f);",
            f"((float2*){target})[{at}] = make_float2(1, 2);",
            f"((char*){target})[{at}] = 1;",
            f"put({target}, {at});",
            f"*({self.condition(scope, 0)} ? a + {self.atom(scope)} : b + {self.atom(scope)}) = 3;",
        )
        return [self.rng.choice(forms)]

    def let(self, scope: list[str], depth: int) -> list[str]:
        text = self.expression(scope, 2)
        name = self.fresh()
        scope.append(name)
        kind = self.rng.choice(("int", "int", "int", "unsigned", "long long", "short", "unsigned char"))
        return [f"{kind} {name} = {text};"]

    def early(self, scope: list[str], depth: int) -> list[str]:
        return [f"if ({self.condition(scope, 1)}) return;"]

    def branch(self, scope: list[str], depth: int) -> list[str]:
        lines = [f"if ({self.condition(scope, 1)}) {{", *self.block(scope, depth - 1), "}"]
        if self.rng.random() < 0.3:
            lines[-1:] = ["} else {", *self.block(scope, depth - 1), "}"]
        return lines

    def loop(self, scope: list[str], depth: int) -> list[str]:
        name = self.fresh()
        start = self.rng.choice(("0", "1", "x", "t", "y"))
        step = self.rng.choice(("1", "1", "2", "3", "m", "blockDim.x", "(int)(blockDim.x * gridDim.x)"))
        end = self.rng.choice(("n", "m", "n - 1", str(self.rng.randint(1, 24)), "t"))
        compare = self.rng.choice(("<", "<", "<="))
        head = f"for (int {name} = {start}; {name} {compare} {end}; {name} += {step}) {{"
        if self.rng.random() < 0.15:
            head = head.replace("for (int", f"for ({self.rng.choice(('unsigned', 'long long'))}")
        elif self.rng.random() < 0.2:
            head = f"for (int {name} = {end} - 1; {name} >= 0; {name} -= {self.rng.choice((1, 2, 3))}) {{"
        elif self.rng.random() < 0.1:
            head = f"for (int {name} = 64; {name} > 0; {name} >>= 1) {{"
        lines = self.block([*scope, name], depth - 1)
        if self.rng.random() < 0.25:
            swap = "{ float* r = a; a = b; b = r; }"
            lines.append(f"if ({self.condition([*scope, name], 0)}) {swap}")
        if self.rng.random() < 0.1:
            lines.append(f"if ({self.condition([*scope, name], 0)}) break;")
        return [head, *lines, "}"]


def random_kernels(seed: int, count: int) -> list[Kernel]:
    rng = random.Random(seed)
    return [Writer(rng).kernel(f"k{number}") for number in range(count)]


class Marks:
    """Which bytes around a pointer are covered; the rest of the address space is not asked for."""

    def __init__(self) -> None:
        self.bytes = np.zeros(2 * HALF, bool)

    def cover(self, boxes: tuple[Box | None, ...]) -> None:
        for box in boxes:
            if box is None or box.items > 1 << 21:
                low, high = (-HALF, HALF) if box is None else box.interval
                self.bytes[max(low + HALF, 0) : max(high + HALF, 0)] = True
                continue
            places = np.array([box.offset + HALF], np.int64)
            for count, stride in box.axes:
                places = (places[:, None] + np.arange(count) * stride).ravel()
            places = (places[:, None] + np.arange(box.item)).ravel()
            self.bytes[places[(places >= 0) & (places < 2 * HALF)]] = True


@dataclass
class Outcome:
    """How one kernel compares; ``faults`` are unsound answers."""

    kernel: Kernel
    faults: list[str]
    counts: Counter[str]


def _run(module, kernel: Kernel, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    memory = Memory()
    rng = np.random.default_rng(seed)
    addresses = {name: memory.map(name, np.zeros(2 * HALF, np.uint8)) + HALF for name in "ab"}
    data = np.zeros(2 * HALF, np.uint8)
    data[HALF : HALF + 1024] = rng.integers(0, 256, 256, np.int32).view(np.uint8)
    addresses["d"] = memory.map("d", data) + HALF
    seen = {name: (np.zeros(2 * HALF, bool), np.zeros(2 * HALF, bool)) for name in "abd"}

    def trace(kind: str, places: np.ndarray, size: int, region, threads: np.ndarray) -> None:
        first = np.asarray(places).astype(np.int64) - region.start
        for byte in range(size):
            if kind != "write":
                seen[region.name][0][first + byte] = True
            if kind != "read":
                seen[region.name][1][first + byte] = True

    block = struct.pack("<QQQii", addresses["a"], addresses["b"], addresses["d"], kernel.n, kernel.m)
    prepare(module, kernel.name).run(
        kernel.grid, kernel.block, 0, block, memory, budget=20_000_000, trace=trace
    )
    return seen


def compare(effects: KernelEffects, seen: dict, kernel: Kernel) -> Outcome:
    faults: list[str] = []
    counts: Counter[str] = Counter()
    for place, name in enumerate("abd"):
        effect = effects.parameters[8 * place]
        read, written = seen[name]
        counts[f"kind {effect.kind}"] += 1
        if effect.kind == "unknown" or effects.unknown:
            continue
        may_read, may_write, must = Marks(), Marks(), Marks()
        may_read.cover(tuple(a.may for a in effect.reads))
        may_write.cover(tuple(a.may for a in effect.writes))
        must.cover(effect.must)
        checks = (
            ("may of reads too narrow", read & ~may_read.bytes),
            ("may of writes too narrow", written & ~may_write.bytes),
            ("must too wide", must.bytes & ~written),
        )
        for text, bad in checks:
            if bad.any():
                faults.append(f"{name}: {text}, first byte {int(np.argmax(bad)) - HALF}")
        if written.any():
            counts["written"] += 1
            counts["may of writes exact"] += bool((may_write.bytes == written).all())
            counts["must exact"] += bool((must.bytes == written).all())
        if read.any():
            counts["read"] += 1
            counts["may of reads exact"] += bool((may_read.bytes == read).all())
    return Outcome(kernel, faults, counts)


def launch_of(kernel: Kernel, slack: int = 0) -> LaunchFacts:
    """Return the launch; ``slack`` makes the scalars slots with so much room on both sides."""
    facts = {place: PointerFact(None) for place in (0, 8, 16)}
    scalars = {
        place: IntegerFact(4, value - min(slack, value - 1), value + slack)
        for place, value in ((24, kernel.n), (28, kernel.m))
    }
    return LaunchFacts(kernel.grid, kernel.block, 0, {**facts, **scalars})


def check_batch(seed: int, count: int) -> list[Outcome]:
    """Compile, analyse, run and compare ``count`` kernels; those that a run refuses are left out."""
    from planc.diagnostics import ReplayError

    kernels = random_kernels(seed, count)
    module = parse(compile_cuda(_HEAD + "\n".join(k.text for k in kernels)), "random.ptx")
    analyser = Analyser(module)
    outcomes: list[Outcome] = []
    for kernel in kernels:
        try:
            seen = _run(module, kernel, seed)
        except ReplayError:
            outcomes.append(Outcome(kernel, [], Counter({"not run": 1})))
            continue
        outcome = compare(analyser.analyse(kernel.name, launch_of(kernel)), seen, kernel)
        slots = compare(analyser.analyse(kernel.name, launch_of(kernel, 5)), seen, kernel)
        outcome.faults.extend(f"as slots: {fault}" for fault in slots.faults)
        outcomes.append(outcome)
    return outcomes
