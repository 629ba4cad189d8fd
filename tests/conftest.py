"""What every test stands on: no setting leaks in; what a machine lacks is skipped with the reason."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Recorded games and facts that lie beside the checkout on some machines and are never part of it.
SHARED = ROOT.parent / "shared"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("RAILPOST_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded games beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("no folder of recorded games (../shared) beside the checkout")
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        missing = pytest.mark.skip(reason="Dovecot is not installed")
        for item in items:
            if item.get_closest_marker("dovecot"):
                item.add_marker(missing)
