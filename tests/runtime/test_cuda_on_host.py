"""The CUDA device through cuda-python's bindings, over a driver made of host memory (host_driver.c)."""

from __future__ import annotations

import shutil
import subprocess
import sys

from tests.runtime.hosted import ROOT, run


def test_the_gpu_tests_of_the_driver_pass(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gpu/test_driver.py"]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout


COUNT = """
    import ctypes, numpy as np
    from planc.runtime import load
    from planc.diagnostics import PlancError
    from tests.gpu.test_driver import bound_plan, fed
    from tests.gpu.tensors import GpuTensor
    from tests.runtime.programs import axpy_maker

    driver = ctypes.CDLL("libcuda.so.1")
    live, depth, retained = driver.host_driver_live, driver.host_driver_depth, driver.host_driver_retained
    for _ in range(3):
        with load(bound_plan().plan()).instantiate("cuda:0") as exe:
            fed(exe).replay(a=3.0, n=4).wait()
            tensor = GpuTensor([6, 8], "f32")
            exe.bind(strided=tensor)
            exe.replay().wait()
            assert live() > 5
        del tensor
        assert (live(), depth(), retained()) == (0, 0, 1)
    plan = load(axpy_maker().plan())
    with plan.instantiate("cuda:0") as exe:
        first = live()
        with plan.instantiate("cuda:0"):
            assert live() == 2 * first
        assert live() == first
    print(live(), retained())
"""


def test_everything_is_freed_and_the_context_retained_once(environment: dict[str, str]) -> None:
    assert run(COUNT, environment) == "0 1\n"


REFUSED = """
    import ctypes
    from planc.runtime import load
    from planc.diagnostics import DeviceError
    from tests.runtime.programs import Maker, View

    maker = Maker("unlucky")
    maker.buffer("u", "f32", [13, 2])
    for n in range(13):
        maker.fill(f"f{n}", View("u", (slice(n, n + 1),)), 0, 4)
    try:
        load(maker.plan()).instantiate("cuda:0")
    except DeviceError as error:
        print(error.code, error.diagnostics[0].facts["node"], error.diagnostics[0].span)
    print(ctypes.CDLL("libcuda.so.1").host_driver_live())
"""


def test_a_node_that_cannot_be_instantiated_is_named(environment: dict[str, str]) -> None:
    refusing = {**environment, "HOST_DRIVER_REFUSES": "12"}
    assert run(REFUSED, refusing) == "PLC731 f12 graph.yaml:22:5\n0\n"


def test_no_driver_is_a_sentence(environment: dict[str, str]) -> None:
    code = """
        from planc.runtime import load
        from planc.diagnostics import DeviceError
        from tests.runtime.programs import axpy_maker
        try:
            load(axpy_maker().plan()).instantiate("cuda")
        except DeviceError as error:
            print(error.code, 'device="cpu"' in str(error), len(str(error)) < 600)
    """
    if shutil.which("nvidia-smi") is None:
        plain = {k: v for k, v in environment.items() if k != "LD_LIBRARY_PATH"}
        assert run(code, plain) == "PLC730 True True\n"
