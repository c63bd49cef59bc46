"""Codes 4xx: kernels, their arguments and launch limits."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC450", "too many arguments"),
    CodeEntry("PLC451", "missing argument"),
    CodeEntry("PLC452", "scalar given for a pointer"),
    CodeEntry("PLC453", "buffer given for a scalar"),
    CodeEntry("PLC454", "buffer of another element type"),
    CodeEntry("PLC455", "scalar of another type"),
    CodeEntry("PLC456", "value that its type cannot hold"),
    CodeEntry("PLC457", "value of another kind than its type"),
    CodeEntry("PLC458", "declaration with another number of parameters"),
    CodeEntry("PLC459", "declaration with another parameter name"),
    CodeEntry("PLC460", "declaration with another parameter type"),
    CodeEntry("PLC461", "parameter of another width in the PTX"),
    CodeEntry("PLC462", "pointer without a declared effect"),
    CodeEntry("PLC463", "write declared through a pointer to const"),
    CodeEntry("PLC464", "effect declared for a scalar"),
    CodeEntry("PLC465", "parameter that cannot be passed"),
    CodeEntry("PLC466", "no grid"),
    CodeEntry("PLC467", "no block"),
    CodeEntry("PLC468", "launch dimension below one"),
    CodeEntry("PLC469", "too many threads in a block"),
    CodeEntry("PLC470", "block too long in one dimension"),
    CodeEntry("PLC471", "grid too long in one dimension"),
    CodeEntry("PLC472", "too much shared memory"),
    CodeEntry("PLC473", "too many parameter bytes"),
    CodeEntry("PLC474", "block larger than the kernel allows"),
    CodeEntry("PLC475", "block other than the kernel requires"),
    CodeEntry("PLC476", "both grid and cover"),
    CodeEntry("PLC477", "default outside the range of its slot"),
    CodeEntry("PLC478", "too many registers for the block"),
    CodeEntry("PLC490", "PTX that does not parse"),
    CodeEntry("PLC491", "PTX uses a name nobody declares"),
    CodeEntry("PLC492", "PTX declares a name twice"),
    CodeEntry("PLC493", "PTX larger or deeper than planc reads"),
    CodeEntry("PLC494", "PTX number without a meaning"),
    CodeEntry("PLC495", "PTX without a usable header"),
)
