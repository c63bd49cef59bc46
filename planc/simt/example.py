"""A few lines of PTX run at once: for the manual, for tests, for trying things out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from planc.ptx import parse
from planc.simt.kernel import prepare
from planc.simt.memory import Memory
from planc.simt.variables import load_variables

_KERNEL = """\
.version 8.0
.target sm_90
.address_size 64
{functions}
.visible .entry k(.param .u64 out) {{
.reg .b64 %base, %p, %d<9>; .reg .b32 %t, %v<9>; .reg .pred %q<9>;
ld.param.u64 %base, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %base;
{body}
ret;
}}
"""


def _discard(text: str) -> None:
    """Throw printed text away."""


def run_body(
    body: str,
    *,
    threads: int = 32,
    blocks: int = 1,
    words: int | None = None,
    functions: str = "",
    writable: bool = True,
    budget: int | None = 10_000_000,
    stdout: Callable[[str], None] = _discard,
) -> NDArray[np.uint32]:
    """Run ``body`` in every thread and return the buffer ``out``: ``words`` 32-bit words, zero at first.

    ``%t`` holds the index of the thread in its block, ``%base`` the address of ``out`` and ``%p`` that of its
    word ``%t``; ``%v0`` to ``%v8`` are 32-bit registers, ``%d0`` to ``%d8`` 64-bit ones, ``%q0`` to ``%q8``
    predicates. ``functions`` goes before the kernel. There is one word per thread of a block where ``words``
    is None.
    """
    module = parse(_KERNEL.format(body=body, functions=functions), "example.ptx")
    memory = Memory()
    variables = load_variables(module, memory)
    out = np.zeros(threads if words is None else words, np.uint32)
    if not writable:
        out.flags.writeable = False
    address = memory.map("out", out.view(np.uint8), writable=writable)
    kernel = prepare(module, "k")
    kernel.run(
        (blocks, 1, 1),
        (threads, 1, 1),
        0,
        address.to_bytes(8, "little"),
        memory,
        variables=variables,
        stdout=stdout,
        budget=budget,
    )
    return out
