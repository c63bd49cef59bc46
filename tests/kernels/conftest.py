"""One cache for all tests of kernels, so that no source is compiled twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.kernels import Cache
from tests.kernels.helpers import Builder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def builder(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> Builder:
    monkeypatch.chdir(tmp_path)
    return Builder(tmp_path, cache)
