"""The wheel and the sdist are whole: the wheel, in an empty environment elsewhere, plays a game."""

from __future__ import annotations

import sysconfig
import tarfile
import venv
from pathlib import Path

from tests.operations.building import GAME, ROOT, SOURCES, run


def test_14_8_the_wheel_plays_a_game_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (wheel,), (found,) = built.glob("*.whl"), (tmp_path / "env" / "lib").glob("python*/site-packages")
    site = str(found)
    # pip and the packages that it needs come from the environment of the tests; the checkout does not.
    (found / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ("--no-deps", "--no-index", "--no-compile", "--ignore-installed")
    run(python, "-m", "pip", "install", "-q", *options, wheel, cwd=tmp_path)
    where = run(python, "-c", "import bot, engine; print(bot.__file__, engine.__file__)", cwd=tmp_path)
    assert str(ROOT) not in where and where.count(site) == 2
    told = run(tmp_path / "env" / "bin" / "railpost", cwd=tmp_path, input=GAME)
    assert "SV" in told and (tmp_path / "data" / "railpost.db").exists()
    run(tmp_path / "env" / "bin" / "railpost", "check", cwd=tmp_path)


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
