"""Pictures in place, where the terminal shows them: kitty by its own protocol, iTerm2 and others by sixel.

A terminal says what it can do only when it is asked, and its answer comes by standard input, between what is
typed. `find_renderable` asks, so it is called once, before a prompt reads there, and returns what was typed.
"""

from __future__ import annotations

import logging
import os
import re
import select
import sys
from collections.abc import Iterable
from io import BytesIO
from typing import Protocol

from rich.console import Console as Screen
from rich.console import RenderableType

log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds without a byte, after which the terminal is taken to say nothing."""
_QUESTIONS = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
"""Kitty's question for its pictures, then for the attributes, which nearly every terminal answers."""
_KITTY = re.compile(rb"\x1b_Gi=31;([^\x1b]*)\x1b\\")
_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]*)c")
_SIXEL = b"4"


class PictureRenderable(Protocol):
    """A class of `textual_image.renderable`: makes a picture printable by rich. `auto`: as large as fits."""

    def __call__(self, image: BytesIO, width: str, height: str) -> RenderableType: ...


def find_renderable() -> tuple[PictureRenderable | None, str]:
    """What prints pictures in this terminal, None where it shows none; and what was typed meanwhile."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        return None, ""
    try:
        answer, typed = _asked()
        return _renderable(answer), typed
    except Exception as error:  # whatever a terminal answers, the prompt begins
        log.info("the terminal cannot be asked for pictures: %s", error)
        return None, ""


def _asked() -> tuple[tuple[bool, bool], str]:
    """Whether the terminal shows pictures of kitty and sixel, and what was typed before and between."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    former = termios.tcgetattr(descriptor)
    heard = b""
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)  # what is typed ahead stays
        os.write(sys.stdout.fileno(), _QUESTIONS)
        while not _ATTRIBUTES.search(heard) and select.select([descriptor], [], [], PATIENCE)[0]:
            heard += os.read(descriptor, 65536)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, former)
    kitty, attributes = _KITTY.search(heard), _ATTRIBUTES.search(heard)
    typed = _ATTRIBUTES.sub(b"", _KITTY.sub(b"", heard))
    is_kitty = kitty is not None and kitty[1] == b"OK"
    has_sixel = attributes is not None and _SIXEL in attributes[1].split(b";")
    return (is_kitty, has_sixel), typed.decode(errors="replace")


def _renderable(answer: tuple[bool, bool]) -> PictureRenderable | None:
    """Sixel is first: other terminals than kitty say yes to its question and show placeholders."""
    is_kitty, has_sixel = answer
    if not (is_kitty or has_sixel):
        return None
    screen = sys.__stdout__
    vars(sys)["__stdout__"] = None
    try:
        from textual_image import renderable
    finally:
        vars(sys)["__stdout__"] = screen
    return renderable.SixelImage if has_sixel else renderable.TGPImage


def print_pictures(screen: Screen, renderable: PictureRenderable, pngs: Iterable[bytes]) -> bool:
    """Print pictures one below the other; False if one could not be printed."""
    try:
        for png in pngs:
            screen.print(renderable(BytesIO(png), "auto", "auto"))
    except Exception:
        log.exception("a picture could not be shown in the terminal")
        return False
    return True
