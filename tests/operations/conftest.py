"""A service over a real store, as the tests of the service have it."""

from tests.service.conftest import empty, world
from tests.storage.conftest import clock

__all__ = ["clock", "empty", "world"]
