"""The container image: built and started where a builder is to be had, else its steps in a plain folder."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from bot.__main__ import NO_RETRY
from tests.operations.building import GAME, ROOT, sent_to_the_builder

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
OURS = "pip install --no-deps --no-build-isolation --no-index . "
"""The step that builds and installs Railpost. What it builds from the context is built once for all tests
(`built`), and here that wheel is installed."""
PACKAGES = "pip install --require-hashes --only-binary :all: -r requirements/postgresql.txt"
"""The step that takes the packages from a registry; here they are those of the tests."""


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile: a word, and the rest in one line."""
    lines = re.sub(r"\\\\\n *", "", DOCKERFILE.read_text()).splitlines()
    steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    return [(word, rest) for word, rest in steps]


def builder() -> str | None:
    """A program that builds images here."""
    for name in ("docker", "podman"):
        if not shutil.which(name):
            continue
        if subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    return None


def test_14_8_the_base_of_the_image_is_named_by_its_digest() -> None:
    bases = [rest for word, rest in instructions() if word == "FROM"]
    assert bases and all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)


@pytest.mark.skipif(builder() is None, reason="neither docker nor podman builds images here")
def test_14_8_the_image_is_built_and_plays_a_game() -> None:
    run, name = str(builder()), f"railpost-test-{secrets.token_hex(4)}"
    built = [run, "build", "-q", "-f", str(DOCKERFILE), "-t", name, str(ROOT)]
    subprocess.run(built, check=True, capture_output=True, timeout=900)
    try:
        play = [run, "run", "--rm", "-i", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", name]
        done = subprocess.run(play, input=GAME, text=True, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0 and "Bob buys the CS" in done.stdout, done.stderr
    finally:
        subprocess.run([run, "rmi", "-f", name], capture_output=True, check=False)


class PlainFolder:
    """The steps of the Dockerfile in a folder, with an environment of Python in place of the system.

    commands: of ENTRYPOINT and HEALTHCHECK. skipped: what is not done here: users, packages of a registry.
    """

    def __init__(self, folder: Path, built: Path) -> None:
        """built: the folder of the wheel that is built from the context."""
        self.context, self.root, self.at = folder / "context", folder / "root", folder / "root"
        sent_to_the_builder(self.context)
        (self.wheel,) = built.glob("*.whl")
        venv.create(folder / "env", symlinks=True)
        (site,) = (folder / "env" / "lib").glob("python*/site-packages")
        (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.bin = folder / "env" / "bin"
        (self.bin / "pip").write_text(f'#!/bin/sh\nexec "{self.bin}/python" -m pip "$@"\n')
        (self.bin / "pip").chmod(0o755)
        self.variables = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PIP_NO_COMPILE": "1",
        }
        self.commands = dict[str, list[str]]()
        self.skipped = list[str]()
        self.built = 0

    def inside(self, text: str) -> str:
        """The text with the folders of the image in ours."""
        return re.sub(r"(?<![\w.])/(src|data)\b", rf"{self.root}/\1", text)

    def step(self, word: str, rest: str) -> None:
        """Do one instruction."""
        match word:
            case "ENV":
                self.variables |= dict(pair.split("=", 1) for pair in self.inside(rest).split())
            case "WORKDIR" | "VOLUME":
                self.at = Path(self.inside(rest))
                self.at.mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = rest.split()
                for source in sources:
                    self._copy(self.context / source, self.at / target)
            case "RUN" if rest == PACKAGES or rest.startswith("useradd "):
                self.skipped.append(rest)
            case "RUN":
                assert not re.search(r"(?<![\w.])/(?!(src|data)\b)\w", rest), rest
                self.built += rest.startswith(OURS)
                rest = self.inside(rest.replace(OURS, f"{OURS[:-2]}{self.wheel} "))
                done = self.run("sh", "-e", "-c", rest)
                assert done.returncode == 0, done.stdout + done.stderr
            case "ENTRYPOINT" | "HEALTHCHECK":
                self.commands[word] = re.findall(r'"([^"]+)"', rest)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / source.name)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command, cwd=self.at, env=self.variables, capture_output=True, text=True, timeout=250, check=False
        )


def test_14_8_the_steps_of_the_image_work_in_a_plain_folder(tmp_path: Path, built: Path) -> None:
    """Without a user of its own and without a registry: it plays a game, and the health check sees it."""
    image = PlainFolder(tmp_path, built)
    for word, rest in instructions():
        image.step(word, rest)
    assert [step.split()[0] for step in image.skipped] == ["useradd", "pip"] and image.built == 1
    assert not list((image.root / "src").iterdir())
    where = image.run(
        str(image.bin / "python"), "-c", "import bot, engine; print(bot.__file__, engine.__file__)"
    )
    assert str(ROOT) not in where.stdout and where.stdout.count(str(image.bin.parent / "lib")) == 2
    health = (str(image.bin / image.commands["HEALTHCHECK"][0]), *image.commands["HEALTHCHECK"][1:])
    with subprocess.Popen(
        [image.bin / image.commands["ENTRYPOINT"][0]], cwd=image.at, env=image.variables, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as service:  # fmt: skip
        assert service.stdin and service.stdout
        service.stdin.write(GAME.removesuffix("quit\n"))
        service.stdin.flush()
        assert any("Bob buys the CS" in line for line in iter(service.stdout.readline, ""))
        healthy = image.run(*health)
        service.communicate("quit\n", timeout=60)
    assert (healthy.returncode, healthy.stdout, service.returncode) == (0, "healthy\n", 0)
    assert (image.root / "data" / "railpost.db").exists()
    assert image.run(str(image.bin / "railpost"), "check").returncode == 0


def test_the_service_of_a_container_does_not_end_where_no_restart_helps(tmp_path: Path) -> None:
    """Its policy restarts it whatever its status is. Told to stop, it ends with the status that says so."""
    compose = (ROOT / "deploy" / "compose.yaml").read_text()
    (words,) = re.findall(r"^ +command: \[(.*)\]$", compose, re.M)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "bot", *words.split(", ")], cwd=tmp_path, env=environment, text=True,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as service:  # fmt: skip
        assert service.stderr
        assert "neither Discord nor mail is configured" in service.stderr.readline()
        assert "waits to be stopped" in service.stderr.readline()
        service.terminate()
    assert service.returncode == NO_RETRY


def test_no_status_that_forbids_a_restart_is_restarted(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "railpost.service").read_text()
    assert f"RestartPreventExitStatus={NO_RETRY}\n" in unit and "Type=notify\n" in unit
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NOTIFY_SOCKET": str(tmp_path / "notify")}
    done = subprocess.run(
        [sys.executable, "-m", "bot"], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == NO_RETRY
    assert done.stderr.startswith("Railpost ends, because neither Discord nor mail is configured.")
