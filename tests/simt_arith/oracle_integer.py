"""Slow integer instructions on Python integers, from the pseudo-code of the manual."""

from __future__ import annotations

from collections.abc import Callable


def bits_of(name: str) -> int:
    return int(name.lstrip("bus").removesuffix("x2"))


def value(bits: int, name: str) -> int:
    """The integer that a pattern is in type ``name``."""
    width = bits_of(name)
    bits %= 1 << width
    return bits - (1 << width) if name[0] == "s" and bits >> (width - 1) else bits


def clamp(number: int, low: int, high: int) -> int:
    return max(low, min(high, number))


def bounds(name: str) -> tuple[int, int]:
    width = bits_of(name)
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if name[0] == "s" else (0, (1 << width) - 1)


def _halves(a: int) -> tuple[int, int]:
    return a & 0xFFFF, a >> 16


def by_halves(operation: Callable[..., int], *operands: int) -> int:
    low, high = zip(*(_halves(x) for x in operands), strict=True)
    return (operation(*low) & 0xFFFF) | (operation(*high) & 0xFFFF) << 16


def _quotient(a: int, b: int, name: str) -> tuple[int, int]:
    x, y = value(a, name), value(b, name)
    if y == 0:
        return -1, -1
    whole = abs(x) // abs(y)
    quotient = -whole if (x < 0) != (y < 0) else whole
    return quotient, x - quotient * y


def _product(mode: str, a: int, b: int, name: str) -> int:
    product = value(a, name) * value(b, name)
    return product >> bits_of(name) if mode == "hi" else product


def _product24(mode: str, a: int, b: int, name: str) -> int:
    def low24(x: int) -> int:
        x &= 0xFFFFFF
        return x - (1 << 24) if name[0] == "s" and x >> 23 else x

    product = low24(a) * low24(b)
    return product >> 16 if mode == "hi" else product


def _limit(opcode: str, words: list[str], a: int, b: int, name: str) -> int:
    picked = (min if opcode == "min" else max)(value(a, name), value(b, name))
    return max(picked, 0) if "relu" in words else picked


def _sum(opcode: str, words: list[str], a: int, b: int, name: str) -> int:
    x, y = value(a, name), value(b, name)
    total = x + y if opcode == "add" else x - y
    return clamp(total, *bounds(name)) if "sat" in words else total


def _mad(opcode: str, words: list[str], ops: list[int], name: str) -> int:
    product = (_product24 if opcode == "mad24" else _product)(words[0], ops[0], ops[1], name)
    if "sat" in words:
        product = value(product, "s32")
        return clamp(product + value(ops[2], name), *bounds(name))
    return product + ops[2]


def arithmetic(opcode: str, words: list[str], ops: list[int], name: str) -> int:
    """Integer arithmetic on one lane; the result may exceed the width."""
    if opcode in ("add", "sub"):
        return _sum(opcode, words, ops[0], ops[1], name)
    if opcode in ("min", "max"):
        return _limit(opcode, words, ops[0], ops[1], name)
    if opcode in ("div", "rem"):
        return _quotient(ops[0], ops[1], name)[opcode == "rem"]
    if opcode in ("mul", "mul24"):
        return (_product24 if opcode == "mul24" else _product)(words[0], ops[0], ops[1], name)
    if opcode in ("mad", "mad24"):
        return _mad(opcode, words, ops, name)
    if opcode == "sad":
        return ops[2] + abs(value(ops[0], name) - value(ops[1], name))
    return {"neg": -value(ops[0], name), "abs": abs(value(ops[0], name))}[opcode]


def carried(opcode: str, words: list[str], ops: list[int], name: str) -> tuple[int, int]:
    """Extended precision: the result and CC.CF; ``ops`` ends in the carry where one comes in."""
    width = bits_of(name)
    carry = ops[-1] if opcode.endswith("c") else 0
    a, b = ops[0], ops[1]
    if opcode.startswith("mad"):
        a, b = _product(words[0], ops[0], ops[1], name) % (1 << width), ops[2]
    total = a - (b + carry) if opcode.startswith("sub") else a + b + carry
    return total % (1 << width), int(total < 0 or total >> width > 0)


def shift(opcode: str, a: int, count: int, name: str) -> int:
    width = bits_of(name)
    if opcode == "shl":
        return a << min(count, width)
    return value(a, name) >> min(count, width)


def funnel(words: list[str], a: int, b: int, c: int) -> int:
    count = min(c, 32) if "clamp" in words else c & 31
    if "l" in words:
        return (b << count) | (a >> (32 - count))
    return (b << (32 - count)) | (a >> count)


_MODES = {
    "f4e": lambda c, i: (c + i) % 8,
    "b4e": lambda c, i: (c - i) % 8,
    "rc8": lambda c, i: c,
    "ecl": lambda c, i: max(c, i),
    "ecr": lambda c, i: min(c, i),
    "rc16": lambda c, i: 2 * (c & 1) + (i & 1),
}
"""Which of the eight bytes goes to place ``i``: the regularities behind the manual's tables."""


def permute(words: list[str], a: int, b: int, c: int) -> int:
    source = [(a | b << 32) >> (8 * i) & 0xFF for i in range(8)]
    mode = next((w for w in words if w in _MODES), None)
    result = 0
    for i in range(4):
        if mode:
            byte = source[_MODES[mode](c & 3, i)]
        else:
            nibble = c >> (4 * i) & 15
            byte = source[nibble & 7]
            byte = (0xFF if byte >> 7 else 0) if nibble & 8 else byte
        result |= byte << (8 * i)
    return result


def lop3(table: int, a: int, b: int, c: int) -> int:
    rows = (((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) for i in range(32))
    return sum((table >> row & 1) << i for i, row in enumerate(rows))


def place(operand: int, name: str) -> int:
    """A position or length: the low 8 bits for 32-bit fields, all 32 for 64-bit ones (seen on an H200)."""
    return operand & 0xFF if bits_of(name) == 32 else operand


def extract(a: int, b: int, c: int, name: str) -> int:
    msb, start, length = bits_of(name) - 1, place(b, name), place(c, name)
    sign = 0 if name[0] == "u" or length == 0 else a >> min(start + length - 1, msb) & 1
    result = 0
    for i in range(msb + 1):
        bit = a >> (start + i) & 1 if i < length and start + i <= msb else sign
        result |= bit << i
    return result


def insert(ops: list[int], name: str) -> int:
    a, result, start, length = ops[0], ops[1], place(ops[2], name), place(ops[3], name)
    i = 0
    while i < length and start + i < bits_of(name):
        result = (result & ~(1 << (start + i))) | (a >> i & 1) << (start + i)
        i += 1
    return result


def find(words: list[str], a: int, name: str) -> int:
    msb, number = bits_of(name) - 1, value(a, name)
    pattern = ~number if number < 0 else number
    if pattern == 0:
        return 0xFFFFFFFF
    place = pattern.bit_length() - 1
    return msb - place if "shiftamt" in words else place


def mask(words: list[str], a: int, b: int) -> int:
    full = 0xFFFFFFFF
    start, length = a & 31, b & 31
    total = start + length
    first, second = full << start & full, (full << total & full) if total < 32 else 0
    if "clamp" in words:
        first = 0 if a >= 32 else first
        second = 0 if b >= 32 else second
    return first & ~second


def extend(words: list[str], a: int, b: int, name: str) -> int:
    length = b if "clamp" in words else b & 31
    if length == 0:
        return 0
    if length >= 32:
        return a
    low = a & ((1 << length) - 1)
    return low - (1 << length) if name == "s32" and low >> (length - 1) else low


def nth_set(word: int, base: int, offset: int) -> int:
    if offset == 1 << 31:
        return 0  # seen on an H200
    offset = value(offset, "s32")
    if base > 31:
        return 0xFFFFFFFF
    if offset == 0:
        return base if word >> base & 1 else 0xFFFFFFFF
    step, places = (1, range(base, 32)) if offset > 0 else (-1, range(base, -1, -1))
    hits = [place for place in places if word >> place & 1]
    return hits[step * offset - 1] if step * offset <= len(hits) else 0xFFFFFFFF


def lane(word: int, i: int, size: int, signed: bool) -> int:
    return value(word >> (size * i), f"{'s' if signed else 'u'}{size}")


def dot(opcode: str, words: list[str], ops: list[int], types: list[str]) -> int:
    size, first = (8, 0) if opcode == "dp4a" else (16, 2 if "hi" in words else 0)
    signs = [t[0] == "s" for t in types]
    terms = range(32 // size)
    return ops[2] + sum(lane(ops[0], i, size, signs[0]) * lane(ops[1], first + i, 8, signs[1]) for i in terms)


def video(opcode: str, words: list[str], ops: list[int], types: list[str]) -> int:
    size = 32 // int(opcode[-1])
    operation = {
        "vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y, "vabsdiff": lambda x, y: abs(x - y),
        "vmin": min, "vmax": max,
    }[opcode[:-1]]  # fmt: skip
    signs = [t[0] == "s" for t in types]
    total, merged, name = ops[2], 0, f"{types[0][0]}{size}"
    for i in range(32 // size):
        result = operation(lane(ops[0], i, size, signs[1]), lane(ops[1], i, size, signs[2]))
        result = clamp(result, *bounds(name)) if "sat" in words else result
        total += result
        merged |= (result & ((1 << size) - 1)) << (size * i)
    return total if "add" in words else merged
