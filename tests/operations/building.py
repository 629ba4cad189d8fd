"""The wheel and the sdist, built once for all tests from what the builder of the image gets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCES = ("engine", "renderers", "storage", "mail", "bot", "pyproject.toml", "README.md", "LICENSE")
GAME = "table new 1830 Ann, Bob, Cid\ntable start\nAnn: buy SV\nBob: buy CS\nmarket\nquit\n"
IGNORED = ROOT / "deploy" / "Dockerfile.dockerignore"
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


def sent_to_the_builder(target: Path) -> None:
    """Copy what the list of ignored files leaves."""
    rules = IGNORED.read_text().split()
    assert rules[0] == "*"
    left_out = shutil.ignore_patterns(*(rule[3:] for rule in rules if rule.startswith("**/")))
    for name in (rule[1:] for rule in rules if rule.startswith("!")):
        source, copy = ROOT / name, target / name
        assert source.exists(), name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=left_out)
        else:
            shutil.copyfile(source, copy)


def build(source: Path, target: Path) -> None:
    """Build wheel and sdist into a folder; the sources are copied first."""
    sent_to_the_builder(source)
    run(sys.executable, "-c", BUILD, target, cwd=source)
