"""The wheel and the sdist are whole: the wheel, in an empty environment elsewhere, plays a game."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCES = ("engine", "renderers", "storage", "mail", "bot", "pyproject.toml", "README.md", "LICENSE")
GAME = "table new 1830 Ann, Bob, Cid\ntable start\nAnn: buy SV\nBob: buy CS\nmarket\nquit\n"
BUILD = (
    "import sys; from setuptools import build_meta as b; target = sys.argv[1];"  # the builds change argv
    "b.build_wheel(target); b.build_sdist(target)"
)


def run(*command: str | Path, cwd: Path, **details: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True,
        timeout=250, check=False, **details,  # type: ignore[call-overload]
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built from a copy of the sources."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(path, source / name)
    run(sys.executable, "-c", BUILD, target, cwd=source)
    return target


def test_14_8_the_wheel_plays_a_game_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    # The packages that it needs come from the environment of the tests; the checkout does not.
    (Path(site) / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
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
