"""The README is true: its pictures are what its commands make, and what it links to is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from bot.cli.render import RENDERERS, render_files
from bot.config import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    \.venv/bin/railpost render (.*docs/.*)$", README, re.MULTILINE)


def test_every_picture_and_file_that_is_linked_is_there_and_is_made_by_a_command() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    pictures = {link for link in links if link.endswith(".png")}
    assert pictures == {word for said in COMMANDS for word in shlex.split(said) if word.endswith(".png")}


@pytest.mark.parametrize("said", COMMANDS)
def test_the_pictures_are_what_the_command_makes(said: str, tmp_path: Path) -> None:
    source, *options = shlex.split(said)
    given = dict(zip(options[::2], options[1::2], strict=True))
    kept = {what: ROOT / given[f"--{what}"] for what in RENDERERS if f"--{what}" in given}
    at = int(given["--at"]) if "--at" in given else None
    assert set(given) == {*(f"--{what}" for what in kept), *(["--at"] if at is not None else [])}
    made = {what: tmp_path / f"{what}.png" for what in kept}
    list(render_files(Settings(), str(ROOT / source), at, made))
    for what, path in kept.items():
        a, b = (Image.open(p).convert("L") for p in (path, made[what]))
        assert a.size == b.size, f"{path.name} is not what `railpost render {said}` makes; run it."
        differing = ImageChops.difference(a, b).point(lambda v: v > 64 and 255).histogram()[255]
        # Letters may be smoothed otherwise by another version of FreeType.
        assert differing < 0.002 * a.width * a.height, f"{path.name} is not what the README's command makes."
