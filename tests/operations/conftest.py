"""A service over a real store, as the tests of the service have it, and the built wheel."""

from pathlib import Path

import pytest

from tests.operations.building import build
from tests.service.conftest import empty, world
from tests.storage.conftest import clock

__all__ = ["built", "clock", "empty", "world"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    target = tmp_path_factory.mktemp("built")
    build(tmp_path_factory.mktemp("source"), target)
    return target
