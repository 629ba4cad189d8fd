"""The documents are true: what they name is there, their commands run, and their example of a test passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.config import FIELD_BY_VARIABLE
from tests.t1830 import scenarios

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
RUN = re.compile(r"<!-- run -->\n```sh\n(.*?)```", re.DOTALL)
COMMANDS = [
    (document.name, line)
    for document in DOCUMENTS
    for block in RUN.findall(document.read_text(encoding="utf-8"))
    for line in block.splitlines()
]
PARTS = ("bot", "deploy", "docs", "engine", "mail", "renderers", "storage", "tests")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_is_named_or_linked_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    linked = [document.parent / link for link in re.findall(r"\]\(([^)#:]+)\)", text)]
    named = [ROOT / name for name in re.findall(rf"`((?:{'|'.join(PARTS)})/[\w./-]*)`", text)]
    missing = [path for path in (*linked, *named) if not (path.exists() or path.with_suffix(".py").exists())]
    assert not missing


@pytest.mark.parametrize("document", [*DOCUMENTS, *(ROOT / "deploy").glob("*")], ids=lambda path: path.name)
def test_every_setting_that_is_named_is_one(document: Path) -> None:
    named = re.findall(r"\bRAILPOST_[A-Z_]*[A-Z]\b", document.read_text(encoding="utf-8"))
    assert set(named) <= FIELD_BY_VARIABLE.keys()


@pytest.mark.parametrize(("document", "command"), COMMANDS)
def test_the_commands_run(document: str, command: str) -> None:
    command = command.replace(".venv/bin/", f"{Path(sys.executable).parent}/")
    done = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_of_a_rule_test_passes() -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names: dict[str, Any] = {"run_scenario": scenarios.run_scenario}
    exec(example, names)
    names["test_19_a_second_token_waits_for_the_next_turn"]()


def test_the_guide_to_a_feature_shows_the_feature_that_is_there() -> None:
    guide = (ROOT / "docs/adding-a-feature.md").read_text(encoding="utf-8")
    file, line = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert file == (ROOT / "bot/features/notepad/feature.py").read_text(encoding="utf-8")
    assert line in (ROOT / "bot/service.py").read_text(encoding="utf-8")
