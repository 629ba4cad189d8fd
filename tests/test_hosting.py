"""docs/hosting.md is true: its commands run, its settings are accepted, its files exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from threading import Thread

import pytest

from bot.config import parse_settings
from tests.end_to_end.fork_server import LEASE, ForkServer

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "hosting.md").read_text()
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(language, dedent(body)) for _, language, body in BLOCK.findall(DOCUMENT)]

RAILPOST = """#!/bin/sh
echo $$ > {orders}
exit $(cat {answers})
"""
DOCKER = """#!{python}
# A container whose volume is the folder `data`; what docker itself does is only read.
import subprocess, sys
words = sys.argv[1:]
known = [["compose", "-f", "deploy/compose.yaml"], ["tag", "railpost"]]
assert any(words[:len(begin)] == begin for begin in known) or words[0] == "tag", words
if words[0] == "tag":
    sys.exit(len(words) != 3)
rest = words[3:]
inside = {{"exec": ["exec", "railpost", "railpost"], "run": ["run", "--rm", "railpost"]}}.get(rest[0])
if inside is None:
    sys.exit(rest[0] not in ("up", "down", "build", "cp"))
assert rest[:len(inside)] == inside, rest
command = [word.replace("/data/", "data/") for word in rest[len(inside):]]
sys.exit(subprocess.run([".venv/bin/railpost", *command]).returncode)
"""
SQLITE3 = """#!{python}
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join(map(str, row)))
"""


def blocks(language: str) -> list[str]:
    return [body for name, body in BLOCKS if name == language]


def executable(path: Path, text: str, **fifos: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(python=sys.executable, **fifos))
    path.chmod(0o755)


def be_railpost(forks: ForkServer, orders: Path, answers: Path) -> None:
    """A forked `railpost` for each shell that names itself, with its words, variables and files."""
    while shell := orders.read_text().strip():
        of = Path("/proc") / shell
        words = (of / "cmdline").read_text().split("\0")[2:-1]
        variables = dict(pair.split("=", 1) for pair in (of / "environ").read_text().split("\0") if pair)
        files = [str(of / "fd" / number) for number in "012"]
        process = forks.start((of / "cwd").readlink(), variables, "", LEASE, words, "", *files)
        while process.returncode is None:
            time.sleep(0.005)
        answers.write_text(str(process.returncode))


def test_every_block_is_of_a_known_kind() -> None:
    assert DOCUMENT.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == {"text", "sh", "ini"}


def test_the_commands_run_in_their_order(tmp_path: Path, forks: ForkServer) -> None:
    orders, answers = tmp_path / "orders", tmp_path / "answers"
    os.mkfifo(orders)
    os.mkfifo(answers)
    Thread(target=be_railpost, args=(forks, orders, answers), daemon=True).start()
    executable(tmp_path / ".venv" / "bin" / "railpost", RAILPOST, orders=orders, answers=answers)
    executable(tmp_path / "programs" / "sqlite3", SQLITE3)
    executable(tmp_path / "programs" / "docker", DOCKER)
    environment = {
        "PATH": f"{tmp_path / 'programs'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    output = ""
    for body in blocks("sh"):
        done = subprocess.run(
            ["sh", "-e", "-c", body],
            cwd=tmp_path,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{body}\n{done.stdout}{done.stderr}"
        output += done.stdout
    orders.write_text("")
    for sentence in (
        "The store is up to date.",
        "Backup written to",
        "Restored. The former store is in",
        "SV",
    ):
        assert sentence in output
    assert (tmp_path / "trial" / "railpost.db").exists()
    assert "nothing to do" in output


@pytest.mark.parametrize("number", range(len(blocks("ini"))))
def test_the_settings_are_accepted(number: int) -> None:
    variables = dict(line.split("=", 1) for line in blocks("ini")[number].splitlines())
    if "RAILPOST_DATABASE" in variables:
        pytest.importorskip("psycopg")
    settings = parse_settings(variables)
    assert settings != parse_settings({}) or settings.backup_hours


def test_the_files_that_are_named_exist() -> None:
    named = re.findall(r"\]\(\.\./([^)]+)\)", DOCUMENT) + re.findall(r"\bdeploy/[\w.]+\w", DOCUMENT)
    assert named
    copies = {"deploy/railpost.env"}  # made by a command of the document
    assert [name for name in named if name not in copies and not (ROOT / name).exists()] == []


def test_the_data_folder_is_as_the_table_says() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "bot").rglob("*.py"))
    for name in ("railpost.log", "mail-secret", "inbound_mail"):
        assert f"`{name}" in DOCUMENT and f'"{name}"' in sources


def test_the_tables_of_its_queries_exist() -> None:
    models = (ROOT / "storage" / "models.py").read_text()
    for name in re.findall(r"FROM (\w+)", DOCUMENT):
        assert f'__tablename__ = "{name}"' in models
