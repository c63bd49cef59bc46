"""What planc says of a kernel, against what the driver says of the same image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planc.kernels import Cache, KernelArtifact, launch_limits, read_cubin
from tests.kernels.helpers import Builder, image, kernel
from tests.kernels.test_cubin import SOURCE

pytestmark = pytest.mark.gpu


def call(outcome: tuple[Any, ...]) -> Any:
    from cuda.bindings import driver

    status, *values = outcome
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(status.name)
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture
def target() -> Iterator[str]:
    from cuda.bindings import driver

    call(driver.cuInit(0))
    device = call(driver.cuDeviceGet(0))
    kind = driver.CUdevice_attribute
    major, minor = (
        call(driver.cuDeviceGetAttribute(number, device))
        for number in (
            kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    context = call(driver.cuDevicePrimaryCtxRetain(device))
    call(driver.cuCtxPushCurrent(context))
    yield f"sm_{major}{minor}"
    call(driver.cuCtxPopCurrent())
    call(driver.cuDevicePrimaryCtxRelease(device))


@pytest.fixture
def built(tmp_path: Path, target: str) -> KernelArtifact:
    builder = Builder(tmp_path, Cache(limit=0))
    builder.write("k.cu", SOURCE)
    return builder.build(kernel(builder.folder, "k.cu", "heavy"), targets=(target,)).only()


@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_the_driver_agrees(built: KernelArtifact, target: str, form: str) -> None:
    from cuda.bindings import driver

    kind = driver.CUfunction_attribute
    module = call(driver.cuModuleLoadData(image(built, form, target) + b"\0"))
    for name, entry in read_cubin(image(built, "cubin", target)).entries.items():
        function = call(driver.cuModuleGetFunction(module, name.encode()))
        shared = call(driver.cuFuncGetAttribute(kind.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function))
        assert shared == entry.static_shared
        for index, parameter in enumerate(entry.parameters):
            assert call(driver.cuFuncGetParamInfo(function, index)) == (parameter.offset, parameter.size)
        if form == "cubin":
            registers = call(driver.cuFuncGetAttribute(kind.CU_FUNC_ATTRIBUTE_NUM_REGS, function))
            local = call(driver.cuFuncGetAttribute(kind.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function))
            assert (registers, local) == (entry.registers, entry.local)
    for symbol in built.module.globals.values():
        _, size = call(driver.cuModuleGetGlobal(module, symbol.name.encode()))
        assert size == symbol.size
    call(driver.cuModuleUnload(module))


def test_limits_are_the_devices(target: str) -> None:
    from cuda.bindings import driver

    limits = launch_limits(target)
    device = call(driver.cuDeviceGet(0))
    kind = driver.CUdevice_attribute
    assert limits is not None
    for attribute, expected in {
        kind.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: limits.threads_block,
        kind.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: limits.block[0],
        kind.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: limits.block[2],
        kind.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: limits.grid[0],
        kind.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: limits.grid[1],
        kind.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: limits.shared_static,
        kind.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: limits.shared_block,
        kind.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: limits.shared_multiprocessor,
        kind.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: limits.registers_block,
        kind.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: limits.threads_multiprocessor,
        kind.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: limits.blocks_multiprocessor,
    }.items():
        assert call(driver.cuDeviceGetAttribute(attribute, device)) == expected, attribute.name
