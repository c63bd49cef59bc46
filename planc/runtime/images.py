"""Choosing an image of a module, and a schedule of a program, for an architecture."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.program import Image, Module, Program, Schedule
from planc.runtime.errors import did_you_mean

_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")


@dataclass(frozen=True, slots=True, order=True)
class Architecture:
    """``sm_90a``: major 9, minor 0, suffix ``a`` (that architecture alone) or ``f`` (its family)."""

    major: int
    minor: int
    suffix: str = ""

    @classmethod
    def parse(cls, target: str) -> Architecture | None:
        """Return the architecture that a target names, or None."""
        match = _TARGET.fullmatch(target)
        return cls(int(match[1]), int(match[2]), match[3]) if match else None

    @property
    def number(self) -> tuple[int, int]:
        """Major and minor."""
        return self.major, self.minor


def runs(image: Image, device: Architecture) -> bool:
    """Whether a device can run an image.

    A cubin runs on its own major version from its minor on; PTX compiles for its own version and
    newer; a suffix ties either to its architecture, or to its family of one major version (CUDA
    programming guide, "Binary compatibility", "PTX compatibility", "Architecture-specific features").
    """
    made = Architecture.parse(image.target)
    if made is None:
        return False
    if made.suffix == "a":
        return made.number == device.number
    same_family = made.major == device.major and made.minor <= device.minor
    if image.form == "cubin" or made.suffix == "f":
        return same_family
    return made.number <= device.number


def image_for_gpu(module: Module, architecture: str) -> Image:
    """Return the best image for a GPU: its own cubin, a cubin of its family, the newest PTX.

    Raises :class:`ReplayError` PLC725 where none runs.
    """
    device = Architecture.parse(architecture)
    if device is None:
        raise ValueError(f"not an architecture: {architecture}")

    def rank(image: Image) -> tuple[bool, bool, Architecture]:
        made = Architecture.parse(image.target) or device
        exact = image.form == "cubin" and made.number == device.number
        return exact, image.form == "cubin", made

    fitting = [image for image in module.images if runs(image, device)]
    if fitting:
        return max(fitting, key=rank)
    have = ", ".join(f"{i.form} for {i.target}" for i in module.images) or "none"
    raise ReplayError(
        Diagnostic(
            "PLC725",
            f"no image of module `{module.name}` runs on {architecture}: the plan has {have}",
            help=f"add `{architecture}` to the graph's `targets` and compile again",
            facts={"module": module.name, "architecture": architecture},
        )
    )


def image_for_interpreter(module: Module, target: str | None) -> Image:
    """Return the PTX that the CPU device runs: of ``target``, or of the newest target.

    Raises :class:`ReplayError`: PLC726 where the module has no PTX at all, PLC725 where none for ``target``.
    """
    texts = [image for image in module.images if image.form == "ptx"]
    if not texts:
        raise ReplayError(
            Diagnostic(
                "PLC726",
                f"module `{module.name}` has no PTX, and the CPU device runs nothing else",
                help="replay on a GPU, or give the kernel as `source:` or `ptx:`",
                facts={"module": module.name},
            )
        )
    fitting = [i for i in texts if target is None or i.target == target]
    if fitting:
        return max(fitting, key=lambda i: Architecture.parse(i.target) or Architecture(0, 0))
    raise ReplayError(
        Diagnostic(
            "PLC725",
            f"module `{module.name}` has no PTX for {target}",
            help=did_you_mean(target or "", [i.target for i in texts], "targets"),
            facts={"module": module.name, "architecture": target},
        )
    )


def targets_of(program: Program, images: Sequence[Image]) -> str:
    """Return the target whose code runs; several, joined by a comma, where modules differ."""
    return ", ".join(sorted({i.target for i in images})) or newest(program.targets) or "no kernels"


def newest(targets: Sequence[str]) -> str | None:
    """Return the newest of the targets, or None."""
    known = [t for t in targets if Architecture.parse(t)]
    return max(known, key=lambda t: Architecture.parse(t) or Architecture(0, 0), default=None)


def schedule_for(
    schedules: Sequence[Schedule], name: str | None, fits: Callable[[str], bool], where: str
) -> Schedule:
    """Return the schedule of that name, or the first that fits; the plan's order is the order of preference.

    ``fits`` says of a target whether this device is one. A schedule without targets fits everywhere.
    Raises :class:`ReplayError` PLC718.
    """
    named = [s for s in schedules if name is None or s.name == name]
    fitting = [s for s in named if not s.targets or any(fits(t) for t in s.targets)]
    if fitting:
        return fitting[0]
    raise ReplayError(_no_schedule(schedules, named, name, where))


def _no_schedule(
    schedules: Sequence[Schedule], named: Sequence[Schedule], name: str | None, where: str
) -> Diagnostic:
    facts = {"schedule": name, "device": where}
    if named:
        targets = ", ".join(named[0].targets)
        return Diagnostic(
            "PLC718",
            f"schedule `{named[0].name}` is for {targets}, and the device is {where}",
            help="leave `schedule` out: the plan's first schedule that fits is taken",
            facts=facts,
        )
    cure = did_you_mean(name or "", [s.name for s in schedules], "schedules")
    return Diagnostic("PLC718", f"the plan has no schedule `{name}`", help=cure, facts=facts)
