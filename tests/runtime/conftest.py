from __future__ import annotations

import pytest

from tests.runtime import hosted


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the driver made of host memory is found."""
    return hosted.build(tmp_path_factory.mktemp("driver"))
