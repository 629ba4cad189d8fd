"""Pictures in place in a terminal: in one of our own, which answers as kitty, iTerm2 or neither does."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import io
import os
import pty
import re
import select
import struct
import termios
import textwrap
import tty
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console as Screen

from bot.pictures.workers import PictureWorkers
from bot.service import Service
from bot.terminal.console import Console
from bot.terminal.prompt import print_pictures
from storage import open_store
from tests.end_to_end.fork_server import ForkServer, environment
from tests.fake_discord.running_bot import OnePixelPictures
from tests.terminal.conftest import enter
from tests.terminal.test_console import BEGUN

SIXEL_ATTRIBUTES, PLAIN_ATTRIBUTES = b"\x1b[?62;4;22c", b"\x1b[?62;22c"
KITTY_CONSENT = b"\x1b_Gi=31;OK\x1b\\"

PROGRAM = textwrap.dedent(
    """
    from io import BytesIO
    from PIL import Image
    from rich.console import Console
    from bot.terminal.prompt import find_renderable, print_pictures
    renderable, typed = find_renderable()
    file = BytesIO()
    Image.new("RGB", (40, 40), (255, 0, 0)).save(file, "PNG")
    if renderable is None:
        print("no pictures here")
    else:
        print_pictures(Console(), renderable, [file.getvalue()])
    print("typed", repr(typed))
    print("done")
    """
)


Shown = Callable[[bytes], bytes]


@pytest.fixture
def shown_in(tmp_path: Path, forks: ForkServer) -> Shown:
    """What the program writes to a terminal whose answers lie ready, so that no time plays a part."""

    def shown(answers: bytes) -> bytes:
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 800, 480))
        os.write(ours, answers)
        name = os.ttyname(theirs)
        process = forks.start(
            tmp_path, environment(TERM="xterm-256color"), program=PROGRAM,
            standard_input=name, output=name, errors=name,
        )  # fmt: skip
        written = b""
        while b"done" not in written:
            assert select.select([ours], [], [], 120)[0], f"the program is silent after {written!r}"
            written += os.read(ours, 65536)
        assert asyncio.run(process.wait()) == 0
        os.close(theirs)
        os.close(ours)
        return written

    return shown


def test_a_terminal_with_sixel_shows_the_picture(shown_in: Shown) -> None:
    written = shown_in(SIXEL_ATTRIBUTES)
    assert re.search(rb"\x1bP[\d;]*q", written), "the beginning of sixel data"
    assert b"no pictures" not in written


def test_kitty_shows_the_picture(shown_in: Shown) -> None:
    written = shown_in(KITTY_CONSENT + PLAIN_ATTRIBUTES)
    sent = re.findall(rb"\x1b_G[^;]*f=100[^;]*;([^\x1b]+)\x1b", written)
    assert Image.open(io.BytesIO(base64.b64decode(b"".join(sent)))).format == "PNG"


@pytest.mark.parametrize("answer", [PLAIN_ATTRIBUTES, b"\x1b[?1;2c", SIXEL_ATTRIBUTES])
def test_what_is_typed_ahead_is_not_lost(shown_in: Shown, answer: bytes) -> None:
    """The answer of the terminal comes between what is typed, and none of either becomes the other."""
    written = shown_in(b"table list\nta" + answer.replace(b"c", b"cb"))
    assert rb"typed 'table list\ntab'" in written
    assert (b"no pictures here" in written) == (answer != SIXEL_ATTRIBUTES)


def test_a_picture_that_cannot_be_shown_fails_nothing() -> None:
    def broken(image: io.BytesIO, width: str, height: str) -> str:
        raise OSError("no such terminal")

    assert not print_pictures(Screen(file=io.StringIO()), broken, [b""])


@pytest.fixture
def pictures() -> PictureWorkers:
    return OnePixelPictures()


async def test_each_new_question_comes_with_its_pictures(tmp_path: Path, pictures: PictureWorkers) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path, pictures)
        console.shows_pictures = True
        replies = [await console.handle_line(line) for line in (*BEGUN, "buy SV", "show log 3", "show map")]
        assert [len(reply.pictures) for reply in replies[-4:]] == [1, 1, 0, 1]
        shown = replies[-1]
        assert shown.caption is not None and shown.caption.startswith("Picture: ")
        assert shown.text.endswith(shown.caption)


async def test_without_pictures_in_place_there_are_text_and_paths(
    tmp_path: Path, pictures: PictureWorkers
) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path, pictures)
        await enter(console, *BEGUN)
        assert (await console.handle_line("buy SV")).pictures == ()
        text = await enter(console, "show tiles 57")
        paths = re.findall(r"Picture: (.*)", text)
        assert "It may lie on" in text and len(paths) == 2
        assert all(Path(path).read_bytes()[:4] == b"\x89PNG" for path in paths)
        assert "dark" in await enter(console, "table palette dark")
        await enter(console, "show market")
        assert isinstance(pictures, OnePixelPictures) and pictures.drawn[-1] == ("market", "dark")
