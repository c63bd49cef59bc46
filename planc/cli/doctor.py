"""``planc doctor``: what this machine has, and what planc can do with it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Callable
from typing import Annotated, Any

import typer

import planc
from planc.cli.failures import guarded
from planc.cli.options import Format, ReportFormat

_PACKAGES = (
    "numpy",
    "ml_dtypes",
    "msgpack",
    "cuda-bindings",
    "pydantic",
    "networkx",
    "PyYAML",
    "nvidia-cuda-nvrtc",
    "nvidia-nvjitlink",
    "nvidia-cuda-runtime",
)


@guarded
def doctor(
    format: Format = ReportFormat.TEXT,
    packages: Annotated[bool, typer.Option(help="List the versions of packages too.")] = True,
) -> None:
    """Say what is installed, whether kernels can be compiled, and which devices can replay."""
    rows: dict[str, Any] = {
        "planc": planc.__version__,
        "python": f"{platform.python_version()} on {platform.platform()}",
    }
    if packages:
        rows["packages"] = {name: _version(name) for name in _PACKAGES}
    rows |= {name: _attempt(probe) for name, probe in _PROBES}
    typer.echo(json.dumps(rows, indent=2) if format is ReportFormat.JSON else _text(rows))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _attempt(probe: Callable[[], str]) -> str:
    try:
        return probe()
    except Exception as error:
        return f"no: {type(error).__name__}: {error}"


def _yaml() -> str:
    import yaml

    return "yes, libyaml" if yaml.__with_libyaml__ else "yes, in pure Python (slow)"


def _nvrtc() -> str:
    from cuda.bindings import nvrtc

    major, minor = nvrtc.nvrtcVersion()[1:]
    return f"yes, NVRTC {major}.{minor}"


def _nvjitlink() -> str:
    from cuda.bindings import nvjitlink

    major, minor = nvjitlink.version()
    return f"yes, nvJitLink {major}.{minor}"


def _cuda() -> str:
    from cuda.bindings import driver

    status, *_ = driver.cuInit(0)
    if status != driver.CUresult.CUDA_SUCCESS:
        return f"no: {status.name}; graphs replay on the cpu device"
    count = driver.cuDeviceGetCount()[1]
    version = driver.cuDriverGetVersion()[1]
    names = [driver.cuDeviceGetName(128, i)[1].split(b"\0")[0].decode() for i in range(count)]
    return f"yes, driver {version // 1000}.{version % 1000 // 10}: {', '.join(names)}"


def _loop() -> str:
    from planc.runtime.native import native

    return str(native())


_PROBES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("yaml", _yaml),
    ("compiles CUDA C++", _nvrtc),
    ("links cubins", _nvjitlink),
    ("cpu device", lambda: "yes"),
    ("cuda device", _cuda),
    ("graphs are built", _loop),
)


def _text(rows: dict[str, Any]) -> str:
    lines = []
    for name, value in rows.items():
        if isinstance(value, dict):
            lines += [f"{name}:", *(f"  {k:24} {v}" for k, v in value.items())]
        else:
            lines.append(f"{name:26} {value}")
    return "\n".join(lines)
