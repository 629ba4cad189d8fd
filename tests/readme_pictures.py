"""The pictures of the README: what the service sends in the game docs/1830.18xx, as a phone shows it.

    .venv/bin/python -m tests.readme_pictures     draws docs/readme-*.png; it needs Chromium

Each picture carries the words that it shows, so a test without a browser can tell when it is out of date.
"""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email import message_from_bytes, policy
from html import escape, unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image, ImageChops, PngImagePlugin

from bot.email.pages.notice_pages import PageBuilder
from bot.email.tokens import reply_token_for
from bot.hub.notifications.messages import Notification
from bot.hub.request import Completed
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from bot.terminal.console import Console
from mail.composing.compose import compose
from mail.reply_address import ServiceAddress
from renderers.canvas import font
from tests.drawn_here import DrawnHere
from tests.fake_discord.models import Message
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.test_players_guide import service_in, started_table

DOCS = Path(__file__).parent.parent / "docs"
GAME = DOCS / "1830.18xx"
WORDS = "words"
WIDTHS = {"discord": 390, "email": 390, "terminal": 720}  # pixels of the screen
MAX_HEIGHT = 1150  # pixels of the screen; an email goes on below
TERMINAL = ("lay H4", "lay 23 H4 1", "lay 15 H4 3", "token H4", "run best", "pay")


def moves() -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """The players of the game, and each move as its player and its line."""
    head, _, body = GAME.read_text().partition("---\n")
    players = re.search(r"^players (.+)$", head, re.MULTILINE)
    assert players is not None
    lines = [line.split(": ", 1) for line in body.splitlines()]
    return tuple(players[1].split(", ")), [(name, line) for name, line in lines]


async def _play(
    service: Service, table: int, names: Sequence[str], played: Sequence[tuple[str, str]]
) -> None:
    for name, line in played:
        view, seat = await service.queries.view(table), names.index(name)
        result = await service.submit(table, seat, [line], view.decision_id_of(seat), None)
        assert isinstance(result, Completed), (line, result)


# --- Discord ---


async def discord_page(folder: Path, pictures: PictureWorkers) -> str:
    """The card of the player who is to act after the game's last move."""
    names, played = moves()
    async with FakeDiscord(names) as fake:
        running = RunningBot(fake, folder / "railpost.db", pictures=pictures)
        async with running.online() as service:
            await running.start_game(*names)
            table = await service.queries.find_table(running.table_code)
            await _play(service, table.id, names, played)
            view = await service.queries.view(table.id)
            card = await running.wait_for_card(view.pending[0].name)
            mentions = {user.mention: f"@{user.name}" for user in map(fake.find_user, names)}
            body = _message(card)
            for mention, name in mentions.items():
                body = body.replace(escape(mention), f'<span class="mention">{escape(name)}</span>')
            return _phone("discord", f"# {running.table_code} · Friday", body).replace(
                running.table_code, "A7K"
            )


def _message(card: Message) -> str:
    files = {each.filename: each.content for each in card.attachments}
    return (
        f'<div class="author"><i></i><b>Railpost</b> <em>APP</em></div>{_components(card.components, files)}'
    )


def _components(components: list[dict[str, Any]], files: dict[str, bytes]) -> str:
    parts = []
    for each in components:
        match each["type"]:
            case 10:
                parts.append(f'<div class="text">{_markdown(each["content"])}</div>')
            case 1 if each["components"][0]["type"] == 2:
                buttons = (
                    f'<span class="style{b["style"]}">{escape(b["label"])}</span>' for b in each["components"]
                )
                parts.append(f'<div class="row">{"".join(buttons)}</div>')
            case 1:
                parts += [f'<div class="select">{escape(s["placeholder"])}</div>' for s in each["components"]]
            case 12:
                names = [item["media"]["url"].rpartition("/")[2].partition("?")[0] for item in each["items"]]
                images = "".join(f'<img src="{_data(files[name], "image/png")}">' for name in names)
                parts.append(f'<div class="gallery count{len(names)}">{images}</div>')
            case 17:
                parts.append(f'<div class="container">{_components(each["components"], files)}</div>')
    return "".join(parts)


def _markdown(text: str) -> str:
    """The Markdown of our cards as HTML."""
    shown = escape(re.sub(r"\\([^\w\s])", r"\1", text), quote=False)
    shown = re.sub(r"```\w*\n?(.*?)```", r"<pre>\1</pre>", shown, flags=re.DOTALL)
    shown = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", shown)
    shown = re.sub(r"^### (.+)$", r"<h3>\1</h3>", shown, flags=re.MULTILINE)
    return re.sub(r"^-# (.+)$", r"<small>\1</small>", shown, flags=re.MULTILINE)


# --- email ---


async def email_page(folder: Path, pictures: PictureWorkers) -> str:
    """The email of the player who is to act after the game's last move."""
    async with service_in(folder) as (service, store):
        names, played = moves()
        table = await started_table(service, store, names)
        await _play(service, table.id, names, played)
        view = await service.queries.view(table.id)
        seat = view.pending[0].seat
        player = view.table.player_at(seat)
        assert player is not None
        builder = PageBuilder(service, pictures)
        asked = Notification("turn", table.id, view.seq, seat, player.person_id, view.decision_id_of(seat))
        page = await builder._page(view, asked, seat)
        token = await reply_token_for(store, player.person_id, view.table, seat, view.decision_id_of(seat))
        assert page is not None and token is not None
        address = ServiceAddress("play@games.example", b"k" * 32)
        raw = compose(address, page, token, datetime.now(UTC), "turn").raw
    message: Any = message_from_bytes(raw, policy=policy.default)
    html = message.get_body(("html",)).get_content()
    for part in message.walk():
        if cid := part.get("Content-ID"):
            data = _data(part.get_content(), part.get_content_type())
            html = html.replace(f"cid:{cid.strip('<>')}", data)
    style = "".join(re.findall(r"<style.*?</style>", html, re.DOTALL))
    body = re.sub(r".*<body[^>]*>|</body>.*", "", html, flags=re.DOTALL)
    subject = escape(str(message["Subject"]))
    head = f'<div class="subject">{subject}</div><div class="from"><i></i><b>Railpost</b> to me</div>'
    return _phone("email", "Inbox", f'{style}{head}<div class="letter">{body}</div>').replace(
        table.code, "A7K"
    )


# --- the terminal ---


async def terminal_page(folder: Path, pictures: PictureWorkers) -> str:
    """Some lines of the terminal at the same position."""
    async with service_in(folder) as (service, store):
        names, played = moves()
        table = await started_table(service, store, names)
        await _play(service, table.id, names, played)
        console = Console(service, folder)
        shown = ""
        await console.handle_line(f"table use {table.code}")
        for line in TERMINAL:
            answer = (await console.handle_line(line)).text
            shown += f"<b>{escape(console.prompt())}{escape(line)}</b>\n{escape(answer)}\n"
    return _page("terminal", f"<pre>{shown}</pre>").replace(table.code, "A7K")


# --- pages and pictures ---

STYLE = """
@font-face { font-family: Railpost; src: url(data:font/ttf;base64,REGULAR); }
@font-face { font-family: Railpost; font-weight: 600 900; src: url(data:font/ttf;base64,BOLD); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.35 Railpost, sans-serif; }
.bar { padding: 14px 16px; font-weight: 600; }
.author, .from { display: flex; gap: 8px; align-items: center; padding: 0 12px 6px; }
i { width: 32px; height: 32px; border-radius: 16px; background: #b5492f; }
.discord { background: #313338; color: #dbdee1; }
.discord .bar { background: #2b2d31; }
.discord em { background: #5865f2; color: #fff; font: 600 11px Railpost; padding: 1px 4px; }
.discord .author { padding-top: 12px; }
.discord .screen > :not(.bar):not(.author) { margin: 0 12px; }
.discord .text { white-space: pre-line; overflow-wrap: anywhere; padding: 4px 0; }
.discord .text h3 { margin: 0; font-size: 17px; }
.discord .mention { color: #c9cdfb; background: #3c4270; border-radius: 3px; padding: 0 2px; }
.discord .container { background: #2b2d31; border: 1px solid #3f4147; border-radius: 8px; padding: 8px 12px; }
.discord .gallery { display: grid; gap: 4px; padding: 4px 0; }
.discord .gallery.count2, .discord .gallery.count4 { grid-template-columns: 1fr 1fr; }
.discord img { width: 100%; border-radius: 6px; background: #fff; }
.discord .row { display: flex; flex-wrap: wrap; gap: 8px; padding: 5px 0; }
.discord .row span { background: #4e5058; color: #fff; padding: 8px 14px; border-radius: 8px; }
.discord .row .style1 { background: #5865f2; }
.discord .row .style3 { background: #248046; }
.discord .row .style4 { background: #da373c; }
.discord .select { background: #1e1f22; border-radius: 8px; padding: 9px 12px; margin: 5px 0; }
.discord .select::after { content: "⌄"; float: right; }
.email { background: #fff; color: #1f1f1f; }
.email .bar { color: #444; border-bottom: 1px solid #ddd; }
.email .subject { font-size: 20px; padding: 14px 16px; }
.email .letter { padding: 4px 16px; overflow: hidden; }
.email img { max-width: 100%; height: auto; }
.terminal { background: #16181d; color: #d5d8dd; padding: 12px 16px; }
.terminal pre { margin: 0; font: 13px/1.4 "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
.terminal b { color: #8fc7ff; }
"""


def _phone(kind: str, title: str, body: str) -> str:
    return _page(kind, f'<div class="screen"><div class="bar">‹ &nbsp;{escape(title)}</div>{body}</div>')


def _page(kind: str, body: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><body class="{kind}">{body}</body>'


def _data(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def words(page: str) -> str:
    """The words of a page, for its picture to carry."""
    text = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text))).strip()


PAGES: dict[str, Callable[[Path, PictureWorkers], Any]] = {
    "discord": discord_page,
    "email": email_page,
    "terminal": terminal_page,
}


async def pages() -> dict[str, str]:
    """Each page as HTML."""
    found = {}
    for kind, page in PAGES.items():
        with TemporaryDirectory() as folder, DrawnHere() as pictures:
            found[kind] = await page(Path(folder), pictures)
    return found


def picture_path(kind: str) -> Path:
    return DOCS / f"readme-{kind}.png"


def draw(kind: str, page: str, browser: str) -> None:
    """Draw a page as a browser shows it, cut below its last line, with its words inside."""
    style = STYLE.replace("REGULAR", _font("Regular")).replace("BOLD", _font("Semibold"))
    with TemporaryDirectory() as folder:
        source, shot = Path(folder) / "page.html", Path(folder) / "page.png"
        page_now = page.replace("<img ", '<img decoding="sync" ')  # else a busy browser draws half a picture
        source.write_text(page_now.replace("<body", f"<style>{style}</style><body", 1))
        command = [
            browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=2",
            f"--window-size={WIDTHS[kind]},3000", f"--screenshot={shot}", source.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        image = Image.open(shot).convert("RGB")
    blank = Image.new("RGB", image.size, image.getpixel((image.width - 1, image.height - 1)))
    box = ImageChops.difference(image, blank).getbbox()
    assert box is not None
    image = image.crop((0, 0, image.width, min(2 * MAX_HEIGHT, box[3] + 24))).quantize(256)
    info = PngImagePlugin.PngInfo()
    info.add_itxt(WORDS, words(page))
    image.save(picture_path(kind), pnginfo=info, optimize=True)


def _font(weight: str) -> str:
    return base64.b64encode(Path(str(font(20, weight).path)).read_bytes()).decode()


def main() -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("There is no Chromium here; install one to draw the pictures of the README.")
    for kind, page in asyncio.run(pages()).items():
        draw(kind, page, browser)
        print(picture_path(kind).relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
