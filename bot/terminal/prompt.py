"""Where the lines of the terminal come from, a prompt with completion or standard input, and pictures in
place, where the terminal shows them.

Both answer every line until the lines end or one of them is `quit`. Pictures come to kitty by its own
protocol, to iTerm2 and others by sixel. A terminal says what it can do only when it is asked, and its
answer comes by standard input, between what is typed. `find_renderable` asks, so it is called once, before
a prompt reads there, and returns what was typed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import select
import sys
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from io import BytesIO
from typing import Protocol

from rich.console import Console as Screen
from rich.console import RenderableType

from bot.terminal.console import Console
from bot.terminal.replies import Tone


async def stdin_lines() -> AsyncIterator[str]:
    """The lines of standard input (pipe, file or terminal), read by a daemon thread."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes] = asyncio.Queue()

    def put(chunk: bytes) -> None:
        queue.put_nowait(chunk)

    def read() -> None:
        descriptor = sys.stdin.fileno()
        while True:
            try:
                chunk = os.read(descriptor, 65536)
            except OSError:
                chunk = b""
            try:
                loop.call_soon_threadsafe(put, chunk)
            except RuntimeError:
                return
            if not chunk:
                return

    threading.Thread(target=read, daemon=True, name="standard input").start()
    rest = b""
    while chunk := await queue.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace").rstrip("\r")
    if rest:
        yield rest.decode(errors="replace")


async def run_stdin(console: Console) -> bool:
    """Answer the lines of standard input on standard output; True if one was `quit`."""
    async for line in stdin_lines():
        reply = await console.handle_line(line)
        if reply.text:
            print(reply.text, flush=True)
        if reply.quit:
            return True
    return False


async def run_prompt(console: Console) -> bool:
    """Run a prompt with completion and colors, and print what other players do; True if `quit` was
    entered."""
    async with asyncio.TaskGroup() as tasks:
        news = tasks.create_task(_print_news(console))
        try:
            return await _prompt_loop(console)
        finally:
            news.cancel()


async def _print_news(console: Console) -> None:
    """Print what other players do at the table, above the prompt."""
    with console.service.subscribe() as wake_event:
        while True:
            await wake_event.wait()
            wake_event.clear()
            if text := await console.news():
                print_wrapped(text)


def print_wrapped(text: str, first_style: str = "") -> None:
    """Print lines that are broken between words only; a path or a long word stays whole, to be copied."""
    from rich.text import Text

    first, _, rest = text.partition("\n")
    for part, style in ((first, first_style), (rest, "")):
        if part:
            Screen().print(Text(part, style, overflow="ignore"), crop=False)


async def _prompt_loop(console: Console) -> bool:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.input.typeahead import store_typeahead
    from prompt_toolkit.input.vt100_parser import Vt100Parser
    from prompt_toolkit.key_binding import KeyPress
    from prompt_toolkit.patch_stdout import patch_stdout

    class Lines(Completer):
        def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
            text = document.text_before_cursor
            for line in console.completions(text):
                yield Completion(line, start_position=-len(text.lstrip()))

    renderable, typed = find_renderable()
    console.shows_pictures = renderable is not None
    session: PromptSession[str] = PromptSession(
        completer=Lines(), history=InMemoryHistory(), complete_while_typing=True
    )
    keys: list[KeyPress] = []
    parser = Vt100Parser(keys.append)
    parser.feed_and_flush(typed)
    store_typeahead(session.app.input, keys)
    screen = Screen()
    styles: dict[Tone, str] = {"plain": "", "good": "green", "bad": "red"}
    while True:
        try:
            with patch_stdout():
                line = await session.prompt_async(console.prompt, refresh_interval=1.0)
        except EOFError:
            return False
        except KeyboardInterrupt:
            return True
        reply = await console.handle_line(line)
        text = reply.text
        if renderable and reply.pictures and print_pictures(screen, renderable, reply.pictures):
            text = text if reply.caption is None else reply.caption
        if text:
            print_wrapped(text, styles[reply.tone])
        if reply.quit:
            return True


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
