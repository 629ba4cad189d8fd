"""Fixtures for tests that start the real program."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.fork_server import ForkServer


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """Starts the real program quickly."""
    with ForkServer() as server:
        yield server
