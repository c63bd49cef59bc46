"""How tests ask which codes a refusal has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planc.diagnostics import PlanError


def codes(action: Callable[[], object]) -> set[str]:
    """Return the codes with which ``action`` is refused; it must be refused."""
    with pytest.raises(PlanError) as caught:
        action()
    return {d.code for d in caught.value.diagnostics}
