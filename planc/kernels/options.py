"""Compiler options that a kernel may give, and those planc gives itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_BOOL = r"=(?:true|false)"
_NUMBERS = r"[= ]?\d+(?:,\d+)*"
_ALLOWED: tuple[tuple[str, str], ...] = (
    ("--?use_fast_math", ""),
    ("--?ftz", _BOOL),
    ("--?prec-sqrt", _BOOL),
    ("--?prec-div", _BOOL),
    ("--?fmad", _BOOL),
    ("--?maxrregcount", r"=\d{1,3}"),
    ("--?std", r"=c\+\+(?:11|14|17|20)"),
    ("--?extra-device-vectorization", ""),
    ("--?restrict", ""),
    ("--?default-device", ""),
    ("--?device-int128", ""),
    ("--?builtin-move-forward", _BOOL),
    ("--?builtin-initializer-list", _BOOL),
    ("-w|--?disable-warnings", ""),
    ("--?diag-suppress", _NUMBERS),
    ("--?diag-warn", _NUMBERS),
    ("--?diag-error", _NUMBERS),
    ("--?generate-line-info|--?lineinfo", ""),
)
_PATTERN = re.compile("|".join(f"(?:(?:{name}){value})" for name, value in _ALLOWED))
_IMPLIED = re.compile("(?:--?generate-line-info|--?lineinfo)")
_STANDARD = re.compile("--?std=")
_REGISTERS = re.compile(r"--?maxrregcount=(\d+)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\([\w, .]*\))?\Z", re.A)

ALLOWED_OPTIONS = (
    "`--use_fast_math`, `-ftz=`, `-prec-sqrt=`, `-prec-div=`, `-fmad=`, `--maxrregcount=`, `-std=`, "
    "`--extra-device-vectorization`, `-restrict`, `-default-device`, `-device-int128`, `-w`, "
    "`-diag-suppress=`, `-diag-warn=`, `-diag-error=`"
)
_INSTEAD: tuple[tuple[str, str], ...] = (
    ("-D|--define-macro", "give macros under `defines:`"),
    ("-U|--undefine-macro", "write `#undef` in the source"),
    ("-I|--include-path", "give folders under `include_dirs:`"),
    ("--?(?:gpu-arch|arch|gpu-architecture|code|gencode)\\b", "name targets under `targets:`"),
    (
        "-G$|--device-debug|-dopt",
        "leave it out: planc always keeps line numbers; debug sections would name the build machine",
    ),
    ("--?(?:rdc|dlto|dc|relocatable-device-code)", "leave it out: each source is linked on its own"),
)


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Checked options. ``registers`` is the bound per thread, for the linker too."""

    flags: tuple[str, ...]
    registers: int | None

    def for_target(self, virtual: str) -> tuple[str, ...]:
        """Return NVRTC's options for ``compute_90`` and the like."""
        return (f"-arch={virtual}", "-lineinfo", *self.flags)


def refused_options(options: Iterable[str]) -> list[tuple[str, str]]:
    """Return each option that is not on the list, with what to do instead."""
    return [(option, _instead(option)) for option in options if not _PATTERN.fullmatch(option)]


def _instead(option: str) -> str:
    for pattern, cure in _INSTEAD:
        if re.match(pattern, option):
            return cure
    return f"use one of {ALLOWED_OPTIONS}, or leave it out"


def refused_defines(defines: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return each macro that cannot be defined, with the reason and the cure."""
    found = []
    for name, value in defines.items():
        if not _IDENTIFIER.match(name):
            found.append((name, "is not a name of C++", "use letters, digits and `_`, not a digit first"))
        elif any(ord(character) < 32 and character != "\t" for character in value):
            found.append((name, "has a value of more than one line", "write its value on one line"))
    return found


def compiler_options(options: Sequence[str], defines: Mapping[str, str]) -> CompilerOptions:
    """Return the flags for options and macros that were found good; C++17 unless one says otherwise."""
    flags = [option for option in options if not _IMPLIED.fullmatch(option)]
    if not any(_STANDARD.match(option) for option in flags):
        flags.insert(0, "-std=c++17")
    bounds = [int(match[1]) for match in map(_REGISTERS.match, flags) if match]
    flags += [f"-D{name}={value}" for name, value in sorted(defines.items())]
    return CompilerOptions(tuple(flags), bounds[-1] if bounds else None)
