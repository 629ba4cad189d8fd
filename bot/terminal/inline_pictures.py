"""Pictures in place, where the terminal shows them: kitty by its own protocol, iTerm2 and others by sixel.

A terminal says what it can do only when it is asked, and its answer comes by standard input.
`find_renderable` asks, so it is called once, before a prompt reads there.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from io import BytesIO
from typing import Protocol

from rich.console import Console as Screen
from rich.console import RenderableType

log = logging.getLogger(__name__)


class PictureRenderable(Protocol):
    """A class of `textual_image.renderable`: makes a picture printable by rich. `auto`: as large as fits."""

    def __call__(self, image: BytesIO, width: str, height: str) -> RenderableType: ...


def find_renderable() -> PictureRenderable | None:
    """What prints pictures in this terminal; None where it shows none, or says nothing about it."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        return None
    try:
        from textual_image import renderable
    except Exception as error:  # whatever a terminal answers, the prompt begins
        log.info("the terminal cannot be asked for pictures: %s", error)
        return None
    return renderable.Image if renderable.Image in (renderable.SixelImage, renderable.TGPImage) else None


def print_pictures(screen: Screen, renderable: PictureRenderable, pngs: Iterable[bytes]) -> bool:
    """Print pictures one below the other; False if one could not be printed."""
    try:
        for png in pngs:
            screen.print(renderable(BytesIO(png), "auto", "auto"))
    except Exception:
        log.exception("a picture could not be shown in the terminal")
        return False
    return True
