"""Images and constants: each is what its digest says."""

from __future__ import annotations

import re

from planc.plan.digests import sha256
from planc.plan.findings import Findings
from planc.plan.program import Program

_HEX = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Return whether a text is spelled as a SHA-256: 64 lowercase hexadecimal digits."""
    return _HEX.fullmatch(text) is not None


def blobs(program: Program, found: Findings) -> None:
    """PLC641 for an image or a constant with another digest, PLC642 for a constant no buffer names."""
    for module in program.modules:
        for image in module.images:
            if sha256(image.data) != image.digest:
                found.add("PLC641", f"an image of module `{module.name}` does not have its digest")
    used = {buffer.data for buffer in program.buffers if buffer.embedded}
    for digest, data in program.constants.items():
        if digest not in used:
            found.add("PLC642", f"no embedded buffer has the constant {digest[:12]}", digest=digest)
        if sha256(data) != digest:
            found.add("PLC641", f"the constant {digest[:12]} does not have its digest", digest=digest)
