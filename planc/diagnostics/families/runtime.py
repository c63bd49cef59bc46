"""Codes 7xx: binding, devices and replay."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC701", "unknown buffer"),
    CodeEntry("PLC702", "array of another element type"),
    CodeEntry("PLC703", "array of another shape"),
    CodeEntry("PLC704", "tensor that is not contiguous"),
    CodeEntry("PLC705", "misaligned tensor"),
    CodeEntry("PLC706", "role that does not allow it"),
    CodeEntry("PLC707", "not an array"),
    CodeEntry("PLC708", "tensor on another device"),
    CodeEntry("PLC709", "overlapping tensors"),
    CodeEntry("PLC710", "input without a value"),
    CodeEntry("PLC711", "unknown scalar slot"),
    CodeEntry("PLC712", "scalar of the wrong type"),
    CodeEntry("PLC713", "scalar out of range"),
    CodeEntry("PLC714", "use after close"),
    CodeEntry("PLC715", "missing constant"),
    CodeEntry("PLC716", "another constant than the plan's"),
    CodeEntry("PLC717", "unknown device"),
    CodeEntry("PLC718", "no such schedule for the device"),
    CodeEntry("PLC719", "read-only tensor that the plan writes"),
    CodeEntry("PLC720", "option that the device does not have"),
    CodeEntry("PLC725", "no image for the architecture"),
    CodeEntry("PLC726", "kernel without PTX on the CPU device"),
    CodeEntry("PLC727", "fill or copy that the driver cannot do"),
    CodeEntry("PLC728", "image unlike its plan"),
    CodeEntry("PLC730", "no GPU"),
    CodeEntry("PLC731", "driver call failed"),
    CodeEntry("PLC732", "device lost"),
    CodeEntry("PLC733", "replay not complete in time"),
    CodeEntry("PLC734", "replay failed on the device"),
    CodeEntry("PLC735", "executable lost in a failed patch"),
    CodeEntry("PLC736", "not enough host memory"),
)
