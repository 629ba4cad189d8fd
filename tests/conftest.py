"""Fixtures for all tests: no settings from outside, empty stores, skips for what a machine lacks."""

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import URL, Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from bot.pictures import workers
from storage import database as store_database
from storage import store
from tests.end_to_end.fork_server import ForkServer
from tests.game_text.histories import REPLAYS
from tests.stores import KINDS, StoreFactory

ROOT = Path(__file__).parent.parent

# Recorded games beside the checkout on some machines; never part of it.
SHARED = ROOT.parent / "shared"


IN_MEMORY = Path("/dev/shm")
SOAK_SECONDS = 3600
"""What each test of a soak may take, also on a busy machine, unless it says something else."""
ROOM = 4 << 30
"""Bytes free in memory from which the folders of the tests are there: a commit does not wait for a disk."""


def pytest_configure(config: pytest.Config) -> None:
    if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    if not hasattr(config, "workerinput"):
        replays = TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        os.environ[REPLAYS] = replays.name
        config.add_cleanup(replays.cleanup)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than there are cores: tests with services wait a part of their time."""
    count = yield
    return count if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") else count + 1


def pytest_collection_finish() -> None:
    """What is imported stays, so the collector of garbage need not look at it: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def _statements_are_compiled_once() -> Iterator[None]:
    """The engines of the tests share what is compiled: a test with a service takes two thirds of its time."""
    compiled = LRUCache[Any, Any](2000)
    real = store_database.create_engine

    def create_engine(url: URL, **options: bool) -> Engine:
        return real(url, **options).execution_options(compiled_cache=compiled)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SQLiteDialect_pysqlite, "__hash__", lambda self: hash(type(self)))
        patched.setattr(SQLiteDialect_pysqlite, "__eq__", lambda self, other: type(self) is type(other))
        patched.setattr(store, "create_engine", create_engine)
        yield


@pytest.fixture(autouse=True, scope="session")
def _pictures_are_files_as_drawn() -> Iterator[None]:
    """Half of the time of a picture goes into a smaller file of the same pixels; the worker processes of the
    tests make it so."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "smaller_png", lambda png: png)
        yield


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("RAILPOST_")]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _patience_with_busy_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture comes late only in tests that want it so."""
    monkeypatch.setattr(workers, "PATIENCE", dict.fromkeys(workers.PATIENCE, 600.0))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded games beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("no folder of recorded games (../shared) beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """Starts the real program quickly."""
    with ForkServer() as server:
        yield server


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreFactory]:
    """Makes empty stores."""
    with ExitStack() as end:
        yield StoreFactory(tmp_path_factory.mktemp("places"), end)


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path, places: StoreFactory) -> Iterator[str]:
    """The address of an empty store: `railpost.db` in the folder of the test, or a database."""
    with places.empty_store(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def database(tmp_path: Path, places: StoreFactory) -> Iterator[str]:
    """The address of an empty store in PostgreSQL, for tests that need it."""
    with places.empty_store("postgresql", tmp_path) as url:
        yield url


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("soak") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SOAK_SECONDS))
    if shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        missing = pytest.mark.skip(reason="Dovecot is not installed")
        for item in items:
            if item.get_closest_marker("dovecot"):
                item.add_marker(missing)
