"""Attempts on order, on people who read messages, and on time."""

from __future__ import annotations

import numpy as np

from planc.plan import Parts
from planc.plan.layout import row_type
from tests.plan.attacks.attempt import Attempt, cells, program, resealed


def cycle() -> bytes:
    return resealed(cells("edges", 2, before=2, after=1))


def dropped_edge() -> bytes:
    def change(parts: Parts) -> None:
        name = "program/0/schedule/0/edges"
        rows = np.frombuffer(parts.sections[name], row_type(name))
        parts.sections[name] = rows[[0, 2]].tobytes()

    return resealed(change)


def early_start() -> bytes:
    return resealed(cells("schedule/0/edges", 1, type=1))


def node_left_out() -> bytes:
    def change(parts: Parts) -> None:
        parts.sections["program/0/schedule/0/order"] = np.array([0, 1, 2, 2], "<u4").tobytes()

    return resealed(change)


def no_written_schedule() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["schedules"][0]["name"] = "fast"

    return resealed(change)


def terminal_escape() -> bytes:
    def change(parts: Parts) -> None:
        parts.sections["program/0/name_text"] = b"clear\x1b[2Jrunend"

    return resealed(change)


def right_to_left_name() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["buffers"][0]["name"] = "safe\u202egnp.exe"

    return resealed(change)


def two_nodes_of_one_name() -> bytes:
    def change(parts: Parts) -> None:
        parts.sections["program/0/name_ends"] = np.array([5, 8, 11, 15], "<u4").tobytes()
        parts.sections["program/0/name_text"] = b"clearrunrunlast"

    return resealed(change)


def path_of_the_build_machine() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["files"][0] = "/home/somebody/graph.yaml"

    return resealed(change)


def value_that_is_never_in_range() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["slots"][0]["value"] = float("nan")

    return resealed(change)


def launch_for_years() -> bytes:
    return resealed(cells("kernel_ops", 0, grid=(2**31 - 1, 65_535, 65_535), block=(1024, 1, 1)))


def every_effect_names_every_box() -> bytes:
    def change(parts: Parts) -> None:
        boxes, effects = (
            np.frombuffer(parts.sections[f"program/0/{name}"], row_type(f"program/0/{name}"))
            for name in ("boxes", "effects")
        )
        kernel = np.repeat(effects[3:4], 5_000)
        kernel["may_count"] = 20_000
        rest = np.concatenate([effects[:3], kernel, effects[4:]])
        parts.sections["program/0/boxes"] = np.concatenate([boxes, np.repeat(boxes[:1], 19_998)]).tobytes()
        parts.sections["program/0/effects"] = rest.tobytes()

    return resealed(change)


ATTEMPTS = (
    Attempt(40, "a cycle", cycle, "PLC660", "no order of the nodes exists"),
    Attempt(
        41, "a schedule without an edge", dropped_edge, "PLC663", "every edge is a path of every schedule"
    ),
    Attempt(
        42, "let a consumer start early", early_start, "PLC671", "needs a proof that has no place in 0.1"
    ),
    Attempt(43, "leave a node out", node_left_out, "PLC661", "an order is a permutation"),
    Attempt(44, "no graph as written", no_written_schedule, "PLC667", "the author's order is always there"),
    Attempt(
        45, "rewrite the terminal of a reader", terminal_escape, "PLC630", "names hold no control characters"
    ),
    Attempt(
        46, "a name that reads backwards", right_to_left_name, "PLC630", "nor characters that reorder text"
    ),
    Attempt(47, "two nodes of one name", two_nodes_of_one_name, "PLC631", "a message must name one node"),
    Attempt(48, "a path of the build machine", path_of_the_build_machine, "PLC632", "paths are relative"),
    Attempt(49, "NaN as a slot's value", value_that_is_never_in_range, "PLC643", "NaN is in no range"),
    Attempt(
        50,
        "a launch that takes years",
        launch_for_years,
        "accepted",
        "this is ok for a reader: it is what devices take. The CPU device has a step budget; a service that "
        "runs foreign graphs needs a time limit",
    ),
    Attempt(
        51,
        "every effect names every box",
        every_effect_names_every_box,
        "accepted",
        "this is ok: a hundred million pairs of 3 MB are checked in O(n log n), as the test's clock shows",
    ),
)
