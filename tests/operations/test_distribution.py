"""The sdist is whole. The wheel plays a game in `test_image.py`."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.operations.building import ROOT, SOURCES


def test_14_8_the_sdist_has_all_sources(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        str(path.relative_to(ROOT))
        for part in SOURCES[:5]
        for path in (ROOT / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - names == set()
