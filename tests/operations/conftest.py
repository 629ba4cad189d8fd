"""A service over a real store, as the tests of the service have it."""

from tests.service.conftest import empty, world

__all__ = ["empty", "world"]
