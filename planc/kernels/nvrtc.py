"""CUDA C++ to PTX by NVRTC, which needs no driver and no GPU."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planc.kernels.escapes import escaped, unescaped
from planc.kernels.sources import SourceSet

# NVRTC looks beside the main file for what is not in memory; nothing lies beside this name.
_NOWHERE = "/planc"
_FILE = re.compile(r'^([ \t]*\.file[ \t]+\d+[ \t]+)"((?:\\.|[^"\\\n])*)"[^\n]*$', re.M)
_PINNED = ", 1, 1"


@dataclass(frozen=True, slots=True)
class Compiled:
    """What NVRTC said. ``ptx`` is None where it failed; ``names`` map an expression to its symbol."""

    ptx: str | None
    log: str
    names: Mapping[str, str]


def compile_ptx(
    sources: SourceSet, flags: Sequence[str], expressions: Sequence[str], include: Sequence[Path]
) -> Compiled:
    """Compile one source for one target.

    ``expressions`` are instances to make (``gemm<float, 32>``). ``include`` serves only an
    ``#include`` of a macro inside CUDA's headers. Raises RuntimeError where NVRTC fails for another
    reason than the source.
    """
    from cuda.bindings import nvrtc

    headers = list(sources.headers.items())
    status, program = nvrtc.nvrtcCreateProgram(
        _bytes(sources.text),
        _bytes(f"{_NOWHERE}/{sources.main.name.rsplit('/', 1)[-1]}"),
        len(headers),
        [_bytes(text) for _, text in headers],
        [_bytes(name) for name, _ in headers],
    )
    _demand(nvrtc, status)
    try:
        for expression in expressions:
            _demand(nvrtc, nvrtc.nvrtcAddNameExpression(program, _bytes(expression))[0])
        options = [_bytes(flag) for flag in (*flags, *(f"-I{folder}" for folder in include))]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        log = _text(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
            return Compiled(None, log, {})
        _demand(nvrtc, status, log)
        ptx = _text(nvrtc, program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        return Compiled(relative_files(ptx, include), log, _lowered(nvrtc, program, expressions))
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _demand(nvrtc: Any, status: Any, log: str = "") -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"{status.name}: {log}".rstrip(": \n"))


def _text(nvrtc: Any, program: Any, size_of: Any, get: Any) -> str:
    status, size = size_of(program)
    _demand(nvrtc, status)
    data = bytearray(size)
    buffer = bytes(data)
    _demand(nvrtc, get(program, buffer)[0])
    return buffer.rstrip(b"\0").decode("utf-8", "surrogateescape")


def _lowered(nvrtc: Any, program: Any, expressions: Sequence[str]) -> dict[str, str]:
    found = {}
    for expression in expressions:
        status, name = nvrtc.nvrtcGetLoweredName(program, _bytes(expression))
        _demand(nvrtc, status)
        found[expression] = name.decode("utf-8")
    return found


def relative_files(ptx: str, include: Sequence[Path]) -> str:
    """Return ``ptx`` with ``.file`` paths that name nothing of this machine.

    What NVRTC made absolute is relative again, CUDA's headers lie in ``cuda/``, and of any other
    absolute path the last part stays. Each gets a time and a size (PTX ISA, ``.file``): without
    them the linker looks for the file in the working folder and stores its own.
    """
    here = _working_folder()
    folders = sorted((f"{folder.as_posix()}/" for folder in include), key=len, reverse=True)

    def relative(match: re.Match[str]) -> str:
        path = unescaped(match[2]).replace(os.sep, "/")
        return f'{match[1]}"{escaped(_relative(path, here, folders))}"{_PINNED}'

    return _FILE.sub(relative, ptx)


def _relative(path: str, here: str, folders: Sequence[str]) -> str:
    for folder in folders:
        if path.startswith(folder):
            return f"cuda/{path[len(folder) :]}"
    if path.startswith(here):
        return path[len(here) :]
    # An absolute path can come only from a #line of the author's.
    return re.split(r"[/\\]", path)[-1] if re.match(r"/|[A-Za-z]:", path) else path


def _working_folder() -> str:
    try:
        return Path.cwd().as_posix().rstrip("/") + "/"
    except OSError:
        return "/"
