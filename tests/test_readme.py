"""The pictures of the README and of the guides are what their commands make."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from bot.cli.render import PICTURES, render_files
from tests import readme_pictures
from tests.fake_discord.running_bot import OnePixelPictures

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("docs/commands.md", "docs/players.md")
COMMAND = re.compile(r"^    \.venv/bin/railpost render (.*docs/.*)$", re.MULTILINE)
COMMANDS = [command for name in DOCUMENTS for command in COMMAND.findall((ROOT / name).read_text())]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_linked_files_exist_and_a_command_makes_every_picture(name: str) -> None:
    document = ROOT / name
    linked = [document.parent / link for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text())]
    assert linked
    assert [path for path in linked if not path.exists()] == []
    words = [word for command in COMMAND.findall(document.read_text()) for word in shlex.split(command)]
    assert {path for path in linked if path.suffix in (".png", ".gif")} == {
        ROOT / word for word in words if word.endswith((".png", ".gif"))
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_the_pictures_are_what_the_command_makes(command: str, tmp_path: Path) -> None:
    source, *options = shlex.split(command)
    dark = "--dark" in options
    options = [option for option in options if option != "--dark"]
    given = dict(zip(options[::2], options[1::2], strict=True))
    kept = {what: ROOT / given[f"--{what}"] for what in PICTURES if f"--{what}" in given}
    at = int(given["--at"]) if "--at" in given else None
    assert set(given) == {*(f"--{what}" for what in kept), *(["--at"] if at is not None else [])}
    made = {what: tmp_path / f"{what}.png" for what in kept}
    list(render_files(str(ROOT / source), at, made, "dark" if dark else "light"))
    for what, path in kept.items():
        a, b = (Image.open(p).convert("L") for p in (path, made[what]))
        assert a.size == b.size, f"{path.name} is not what `railpost render {command}` makes; run it."
        differing = ImageChops.difference(a, b).point(lambda v: v > 64 and 255).histogram()[255]
        # Another version of FreeType may smooth letters in another way.
        assert differing < 0.002 * a.width * a.height, (
            f"{path.name} is not what the document's command makes."
        )


def test_the_readme_is_read_in_a_minute() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    linked = re.findall(r"\]\(docs/(readme-\w+\.png)\)", text)
    assert linked == [readme_pictures.picture_path(kind).name for kind in readme_pictures.PAGES]


@pytest.mark.parametrize("kind", readme_pictures.PAGES)
async def test_the_pictures_of_the_readme_show_what_is_sent(kind: str, tmp_path: Path) -> None:
    """What is in pictures of boards does not matter here."""
    page = await readme_pictures.PAGES[kind](tmp_path, OnePixelPictures())
    with Image.open(readme_pictures.picture_path(kind)) as picture:
        shown = picture.info[readme_pictures.WORDS]
    assert shown == readme_pictures.words(page), "draw them: .venv/bin/python -m tests.readme_pictures"
