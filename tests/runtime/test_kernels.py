"""The tests' own PTX is good for the hardware too: nvJitLink assembles it, without a GPU."""

from __future__ import annotations

import pytest

from tests.runtime import kernels
from tests.runtime.programs import AXPY

TEXTS = {"AXPY": AXPY, **{n: t for n, t in vars(kernels).items() if n.isupper() and not n.startswith("_")}}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_assembles_for_sm_90(name: str) -> None:
    linker = pytest.importorskip("cuda.bindings.nvjitlink")
    text = TEXTS[name].encode()
    handle = linker.create(1, ["-arch=sm_90"])
    try:
        linker.add_data(handle, linker.InputType.PTX, text, len(text), name)
        linker.complete(handle)
        assert linker.get_linked_cubin_size(handle) > 1000
    finally:
        linker.destroy(handle)
