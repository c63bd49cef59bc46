"""Launch limits of each target, one literal table.

Source of the numbers: CUDA C++ Programming Guide, "Compute Capabilities", tables of technical
specifications; allocation units and the numbers of 8.8, 10.3, 11.0 and 12.x as NVIDIA's
``cuda_occupancy.h`` of CUDA 13.0 has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planc.kernels.target import parse_target

_KIB = 1024


@dataclass(frozen=True, slots=True)
class LaunchLimits:
    """What a launch may ask for on one compute capability.

    Shared memory and parameters are in bytes. ``shared_static`` bounds the static shared memory
    of a kernel, ``shared_block`` static plus dynamic (above 48 KiB the runtime opts in).
    ``registers_block`` is in 32-bit registers. ``parameters`` is the bound since CUDA 12.1 (PTX ISA
    8.1); a PTX of an older ``.version`` has ``parameters_before`` instead.
    """

    threads_block: int
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    shared_static: int
    shared_block: int
    shared_multiprocessor: int
    registers_thread: int
    registers_block: int
    threads_multiprocessor: int
    blocks_multiprocessor: int
    parameters: int = 32_764
    parameters_before: int = 4_096
    warp: int = 32


def _row(shared: int, threads: int, blocks: int, reserved: int = 1) -> LaunchLimits:
    """Return a row; ``shared`` is KiB per multiprocessor, ``reserved`` KiB of it per block."""
    return LaunchLimits(
        threads_block=1024,
        block=(1024, 1024, 64),
        grid=(2**31 - 1, 65_535, 65_535),
        shared_static=48 * _KIB,
        shared_block=(shared - reserved) * _KIB,
        shared_multiprocessor=shared * _KIB,
        registers_thread=255,
        registers_block=65_536,
        threads_multiprocessor=threads,
        blocks_multiprocessor=blocks,
    )


LIMITS: Mapping[int, LaunchLimits] = MappingProxyType(
    {
        75: _row(64, 1024, 16, reserved=0),
        80: _row(164, 2048, 32),
        86: _row(100, 1536, 16),
        87: _row(164, 1536, 16),
        88: _row(100, 1536, 16),
        89: _row(100, 1536, 24),
        90: _row(228, 2048, 32),
        100: _row(228, 2048, 32),
        103: _row(228, 2048, 32),
        110: _row(228, 1536, 24),
        120: _row(100, 1536, 24),
        121: _row(100, 1536, 24),
    }
)

_REGISTER_UNIT = 256
_PARTITIONS = 4


def launch_limits(target: str) -> LaunchLimits | None:
    """Return the limits of ``sm_90`` and the like; None for a target that the table lacks."""
    parsed = parse_target(target)
    return None if parsed is None else LIMITS.get(parsed.number)


def threads_for_registers(registers: int, limits: LaunchLimits) -> int:
    """Return the most threads a block can have when each takes ``registers`` registers.

    A warp takes whole units of 256 registers of one of four equal parts of the register file
    (``cuda_occupancy.h``), so 96 registers a thread allow 640 threads and not 682.
    """
    if registers <= 0:
        return limits.threads_block
    warp = -(-registers * limits.warp // _REGISTER_UNIT) * _REGISTER_UNIT
    warps = limits.registers_block // _PARTITIONS // warp * _PARTITIONS
    return min(limits.threads_block, warps * limits.warp)
