"""C headers for device code, which NVRTC and its wheels do not have.

NVRTC itself knows ``printf``, ``assert``, ``size_t``, the mathematical functions, ``memcpy`` and
``memset``; these headers add the names and macros that go with them. 64-bit integers are ``long
long``, as in the CUDA C++ core libraries, so that both can be included together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_STDINT = """\
#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef int16_t int_fast16_t;
typedef int32_t int_fast32_t;
typedef int64_t int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef uint16_t uint_fast16_t;
typedef uint32_t uint_fast32_t;
typedef uint64_t uint_fast64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
"""

_STDINT_LIMITS = """\
#ifndef INT8_MAX
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define INT8_MIN (-INT8_MAX - 1)
#define INT16_MIN (-INT16_MAX - 1)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#endif
#ifndef INTPTR_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#endif
#ifndef SIZE_MAX
#define SIZE_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#endif
#ifndef INT64_C
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##LL
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##ULL
#endif
"""

_STDDEF = """\
#pragma once
typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#undef offsetof
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type*)0)->member)))
"""

_MATH = """\
#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF __int_as_float(0x7f800000)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
"""

_LIMITS = """\
#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef INT_MAX
#define SCHAR_MAX 127
#define SCHAR_MIN (-SCHAR_MAX - 1)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-SHRT_MAX - 1)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
#endif
#ifndef LONG_MAX
#define LONG_MAX ((long)(~0UL >> 1))
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX (~0UL)
#endif
"""

_FLOAT = """\
#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_MIN 1.175494350822287507969e-38f
#define FLT_MAX 3.402823466385288598117e+38f
#endif
#ifndef DBL_MAX
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.220446049250313080847e-16
#define DBL_MIN 2.225073858507201383090e-308
#define DBL_MAX 1.797693134862315708145e+308
#endif
"""

_CMATH_NAMES = (
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs "
    "fdim floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma log log10 log1p "
    "log2 logb lrint lround modf nearbyint nextafter pow remainder rint round scalbn signbit sin sinh "
    "sqrt tan tanh tgamma trunc"
)
_CSTDINT_NAMES = tuple(
    line.rstrip(";").split()[-1] for line in _STDINT.splitlines() if line.startswith("typedef")
)


def _std(header: str, names: tuple[str, ...] | list[str]) -> str:
    using = "\n".join(f"using ::{name};" for name in names)
    return f"#pragma once\n#include <{header}>\nnamespace std {{\n{using}\n}}\n"


C_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "assert.h": "#pragma once\n",
        "cassert": "#pragma once\n#include <assert.h>\n",
        "cfloat": "#pragma once\n#include <float.h>\n",
        "climits": "#pragma once\n#include <limits.h>\n",
        "cmath": _std("math.h", _CMATH_NAMES.split()),
        "cstddef": _std("stddef.h", ["size_t", "ptrdiff_t"]),
        "cstdint": _std("stdint.h", _CSTDINT_NAMES),
        "cstdio": _std("stdio.h", ["printf"]),
        "cstring": _std("string.h", ["memcpy", "memset"]),
        "float.h": _FLOAT,
        "limits.h": _LIMITS,
        "math.h": _MATH,
        "stdbool.h": "#pragma once\n",
        "stddef.h": _STDDEF,
        "stdint.h": _STDINT + _STDINT_LIMITS,
        "stdio.h": "#pragma once\n#include <stddef.h>\n",
        "string.h": "#pragma once\n#include <stddef.h>\n",
    }
)
"""Header name to text: what ``#include <stdint.h>`` and the like give in a kernel."""
