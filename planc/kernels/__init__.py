"""CUDA C++, PTX and cubin files to one kind of artifact."""

from planc.kernels.artifact import (
    EntryParameter,
    GlobalSymbol,
    KernelArtifact,
    ModuleArtifact,
    Resources,
    SourceParameter,
)
from planc.kernels.build import Progress, build_kernels
from planc.kernels.cache import Cache, default_cache_folder
from planc.kernels.cubin import Cubin, CubinEntry, read_cubin
from planc.kernels.declarations import SourceEntry, read_declarations
from planc.kernels.elf import CubinError
from planc.kernels.limits import LaunchLimits, launch_limits, threads_for_registers
from planc.kernels.newgraph import describe_source, new_graph_text
from planc.kernels.target import DEFAULT_TARGETS, Target, parse_target
from planc.kernels.toolkit import Toolkit, find_toolkit

__all__ = [
    "DEFAULT_TARGETS",
    "Cache",
    "Cubin",
    "CubinEntry",
    "CubinError",
    "EntryParameter",
    "GlobalSymbol",
    "KernelArtifact",
    "LaunchLimits",
    "ModuleArtifact",
    "Progress",
    "Resources",
    "SourceEntry",
    "SourceParameter",
    "Target",
    "Toolkit",
    "build_kernels",
    "default_cache_folder",
    "describe_source",
    "find_toolkit",
    "launch_limits",
    "new_graph_text",
    "parse_target",
    "read_cubin",
    "read_declarations",
    "threads_for_registers",
]
