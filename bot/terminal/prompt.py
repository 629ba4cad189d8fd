"""Where the lines of the terminal come from: a prompt with completion, or standard input.

Both answer every line until the lines end or one of them is `quit`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator

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
    from rich.console import Console as Screen
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
    from rich.console import Console as Screen

    from bot.terminal.inline_pictures import find_renderable, print_pictures

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
