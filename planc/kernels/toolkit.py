"""The CUDA compilers and headers that are installed beside planc, and their versions.

All of them come as wheels; none needs a driver. On platforms without such wheels planc still
takes ``ptx:`` kernels, without linking them.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
_HEADER_WHEELS = ("nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl")


@dataclass(frozen=True)
class Toolkit:
    """What there is: ``nvrtc`` and ``nvjitlink`` are (major, minor) or None when not usable.

    ``nvrtc_build`` and ``nvjitlink_build`` are the wheels' full versions (empty when not from a
    wheel). ``include`` are the folders of the CUDA headers, most general first; ``headers`` their
    versions, for the cache.
    """

    nvrtc: tuple[int, int] | None
    nvjitlink: tuple[int, int] | None
    nvrtc_build: str = ""
    nvjitlink_build: str = ""
    include: tuple[Path, ...] = ()
    headers: str = ""
    architectures: tuple[int, ...] = ()

    @cached_property
    def compiler(self) -> str:
        """A name for the compiler with everything that can change its output."""
        # A header included by way of a macro is read from its folder, whose name can reach the code.
        folders = " ".join(map(str, self.include))
        return f"nvrtc {self.nvrtc} {self.nvrtc_build}; headers {self.headers} in {folders}"

    @cached_property
    def linker(self) -> str:
        """A name for the linker with everything that can change its output."""
        return f"nvjitlink {self.nvjitlink} {self.nvjitlink_build}"


def find_toolkit() -> Toolkit:
    """Look for NVRTC, nvJitLink and the CUDA headers; never raises."""
    nvrtc = _attempt(_nvrtc_version)
    return Toolkit(
        nvrtc=nvrtc,
        nvjitlink=_attempt(_nvjitlink_version),
        nvrtc_build=_wheel("nvidia-cuda-nvrtc"),
        nvjitlink_build=_wheel("nvidia-nvjitlink"),
        include=_include_folders(),
        headers=" ".join(_wheel(name) or "none" for name in _HEADER_WHEELS),
        architectures=(_attempt(_architectures) or ()) if nvrtc else (),
    )


def _attempt(probe: Callable[[], _T]) -> _T | None:
    # A library that is missing, too old or for another platform fails in its own way at the
    # first call (ImportError, RuntimeError, a pathfinder error), and all mean "not usable".
    try:
        return probe()
    except Exception:
        return None


def _nvrtc_version() -> tuple[int, int]:
    from cuda.bindings import nvrtc

    status, major, minor = nvrtc.nvrtcVersion()
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(str(status))
    return int(major), int(minor)


def _architectures() -> tuple[int, ...]:
    from cuda.bindings import nvrtc

    status, known = nvrtc.nvrtcGetSupportedArchs()
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(str(status))
    return tuple(int(number) for number in known)


def _nvjitlink_version() -> tuple[int, int]:
    from cuda.bindings import nvjitlink

    major, minor = nvjitlink.version()
    return int(major), int(minor)


def _wheel(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _include_folders() -> tuple[Path, ...]:
    for root in _candidates():
        if (root / "cuda_runtime.h").is_file():
            return tuple(p for p in (root, root / "cccl") if p.is_dir())
    return ()


def _candidates() -> list[Path]:
    found = []
    for package in ("nvidia.cu13", "nvidia.cuda_runtime"):
        spec = _attempt(partial(importlib.util.find_spec, package))
        if spec is not None:
            found += [Path(place) / "include" for place in spec.submodule_search_locations or ()]
    located = _attempt(_pathfinder_headers)
    return [*found, *([located] if located else [])]


def _pathfinder_headers() -> Path | None:
    from cuda import pathfinder

    located = pathfinder.find_nvidia_header_directory("cudart")
    return Path(located) if located else None
