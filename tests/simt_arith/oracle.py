"""What each instruction form must give, for one thread: ``evaluate(text, operands)``.

Scalar, slow, on Python integers and fractions. Operands and results are bit patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tests.simt_arith import oracle_float as flt
from tests.simt_arith import oracle_integer as num

TYPES = {
    *(f"{k}{n}" for k in "bus" for n in (8, 16, 32, 64)),
    *("pred", "f16", "bf16", "f32", "tf32", "f64", "f16x2", "bf16x2", "u16x2", "s16x2", "e4m3x2", "e5m2x2"),
    *("u2", "s2", "u4", "s4"),
}
MODES = ("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")
WIDTH = {"pred": 1, "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "e4m3x2": 16, "e5m2x2": 16}

Result = int | tuple[int, ...]


def split(text: str) -> tuple[str, list[str], list[str]]:
    """Opcode, modifiers and types of a form."""
    opcode, *rest = text.split(".")
    return opcode, [w for w in rest if w not in TYPES], [w for w in rest if w in TYPES]


def _mode(words: list[str]) -> str | None:
    return next((w for w in words if w in MODES), None)


def _lanes(name: str) -> str:
    return name.removesuffix("x2")


def _per_lane(name: str, operation: Callable[..., int], *operands: int) -> int:
    return num.by_halves(operation, *operands) if name.endswith("x2") else operation(*operands)


def _arithmetic(opcode: str, words: list[str], types: list[str], ops: list[int]) -> int:
    name = types[0]
    if _lanes(name) in flt.FMT:
        lane = _lanes(name)
        if opcode in ("min", "max"):
            return _per_lane(name, lambda a, b: flt.limit(opcode, a, b, lane, words), *ops)
        if opcode in ("neg", "abs"):
            return _per_lane(name, lambda a: flt.sign_change(opcode, a, lane, words), *ops)
        mode = _mode(words) or "rn"
        return _per_lane(name, lambda *x: flt.arithmetic(opcode, list(x), lane, mode, words), *ops)
    return _per_lane(name, lambda *x: num.arithmetic(opcode, words, list(x), _lanes(name)), *ops)


def _carried(opcode: str, words: list[str], types: list[str], ops: list[int]) -> Result:
    result, carry = num.carried(opcode, words, ops, types[0])
    return (result, carry) if "cc" in words else result


def _logic(opcode: str, words: list[str], types: list[str], ops: list[int]) -> int:
    if opcode == "not":
        return ~ops[0]
    if opcode == "cnot":
        return int(ops[0] == 0)
    return {"and": ops[0] & ops[1], "or": ops[0] | ops[1], "xor": ops[0] ^ ops[1]}[opcode]


def _integer_test(test: str, a: int, b: int, name: str) -> bool:
    x, y = num.value(a, name), num.value(b, name)
    return {
        "eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y,
        "lo": x < y, "ls": x <= y, "hi": x > y, "hs": x >= y,
    }[test]  # fmt: skip


def _tests(words: list[str], name: str, a: int, b: int) -> list[bool]:
    lane, ftz = _lanes(name), "ftz" in words
    if lane not in flt.FMT:
        return [_integer_test(words[0], a, b, name)]
    pairs = [(a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16)] if name.endswith("x2") else [(a, b)]
    return [flt.compare(words[0], x, y, lane, ftz) for x, y in pairs]


def _combine(words: list[str], result: bool, ops: list[int]) -> bool:
    if len(ops) < 3:
        return result
    other = bool(ops[2])
    return {"and": result and other, "or": result or other, "xor": result != other}[words[1]]


def setp(words: list[str], types: list[str], ops: list[int], pair: bool) -> Result:
    results = _tests(words, types[0], ops[0], ops[1])
    if pair and len(results) == 1:
        results = [results[0], not results[0]]
    combined = tuple(int(_combine(words, r, ops)) for r in results)
    return combined if pair else combined[0]


def _set(words: list[str], types: list[str], ops: list[int]) -> int:
    result, source = types
    flags = [_combine(words, r, ops) for r in _tests(words, source, ops[0], ops[1])]
    name = _lanes(result) if len(flags) == 1 or result == source else "u16"
    one = flt.encode(False, Fraction(1), flt.FMT[name], "rn") if name in flt.FMT else -1
    width = 16 if len(flags) == 2 else 64
    return sum((one * f & ((1 << width) - 1)) << (16 * i) for i, f in enumerate(flags))


def _slct(words: list[str], types: list[str], ops: list[int]) -> int:
    if types[1] == "s32":
        return ops[0] if num.value(ops[2], "s32") >= 0 else ops[1]
    return ops[0] if flt.compare("ge", ops[2], 0, "f32", "ftz" in words) else ops[1]


def _testp(words: list[str], types: list[str], ops: list[int]) -> int:
    fmt = flt.FMT[types[0]]
    value = flt.decode(ops[0], fmt)
    subnormal = value.kind == flt.NUMBER and value.magnitude != 0 and not ops[0] & flt.infinity(fmt)
    return int({
        "finite": value.kind == flt.NUMBER, "infinite": value.kind == flt.INF,
        "number": value.kind != flt.NAN, "notanumber": value.kind == flt.NAN,
        "normal": value.kind == flt.NUMBER and not subnormal, "subnormal": subnormal,
    }[words[0]])  # fmt: skip


def _copysign(types: list[str], ops: list[int]) -> int:
    top = 1 << (flt.FMT[types[0]].bits - 1)
    return (ops[0] & top) | (ops[1] & ~top)


def _counting(opcode: str, types: list[str], ops: list[int]) -> int:
    width = num.bits_of(types[0])
    if opcode == "popc":
        return ops[0].bit_count()
    if opcode == "clz":
        return width - ops[0].bit_length()
    return int(f"{ops[0]:0{width}b}"[::-1], 2)


_FAMILIES: dict[str, Callable[[str, list[str], list[str], list[int]], Result]] = {
    **dict.fromkeys(("and", "or", "xor", "not", "cnot"), _logic),
    **dict.fromkeys(("addc", "subc", "madc"), _carried),
    **dict.fromkeys(("popc", "clz", "brev"), lambda o, w, t, x: _counting(o, t, x)),
    **dict.fromkeys(("dp4a", "dp2a"), lambda o, w, t, x: num.dot(o, w, x, t)),
    "set": lambda o, w, t, x: _set(w, t, x),
    "slct": lambda o, w, t, x: _slct(w, t, x),
    "selp": lambda o, w, t, x: x[0] if x[2] else x[1],
    "testp": lambda o, w, t, x: _testp(w, t, x),
    "copysign": lambda o, w, t, x: _copysign(t, x),
    "mov": lambda o, w, t, x: x[0],
    "shl": lambda o, w, t, x: num.shift(o, x[0], x[1], t[0]),
    "shr": lambda o, w, t, x: num.shift(o, x[0], x[1], t[0]),
    "shf": lambda o, w, t, x: num.funnel(w, *x),
    "prmt": lambda o, w, t, x: num.permute(w, *x),
    "bfe": lambda o, w, t, x: num.extract(*x, t[0]),
    "bfi": lambda o, w, t, x: num.insert(x, t[0]),
    "bfind": lambda o, w, t, x: num.find(w, x[0], t[0]),
    "bmsk": lambda o, w, t, x: num.mask(w, *x),
    "szext": lambda o, w, t, x: num.extend(w, *x, t[0]),
    "fns": lambda o, w, t, x: num.nth_set(*x),
}


def evaluate(text: str, operands: list[int], *, pair: bool = False) -> Result:
    """The result, or results, of a form; integers are not yet cut to the result's width."""
    opcode, words, types = split(text)
    if opcode == "setp":
        return setp(words, types, operands, pair)
    if opcode == "cvt":
        from tests.simt_arith.oracle_convert import convert

        return convert(words, types, operands)
    if opcode[0] == "v":
        return num.video(opcode, words, operands, types)
    if opcode in ("add", "sub", "mad") and "cc" in words:
        return _carried(opcode, words, types, operands)
    return _FAMILIES.get(opcode, _arithmetic)(opcode, words, types, operands)
