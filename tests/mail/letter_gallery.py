"""Every kind of email as a reader sees it: `python -m tests.mail.letter_gallery FOLDER`.

It lives through tables of a real service by mail, and writes pages of HTML on which every email stands as on
a phone (380 pixels) and in a window (600 pixels), light and dark. Any browser opens them. A frame that is
wider than its screen has a red border.
"""

from __future__ import annotations

import asyncio
import html
import re
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import engine
from bot.email.reachability import Bounce, Correspondents
from bot.email.replies.reply_limits import ReplyLimits
from bot.pictures.workers import PictureWorkers
from engine.game_text import replay
from mail.reading.bounces import BounceKind
from tests.mail.letter_desk import ADDRESS, UNLIMITED, LetterDesk, SentLetter, letter_desk
from tests.sentences.messages import question_kind

TESTS = Path(__file__).parents[1]
NAMES = ("Ann", "Bob", "Cid", "Dora", "Eve")
GAMES = {
    "1830": "games/1830-3p-9.18xx",
    "1817": "games/1817-3p-5601.18xx",
    "1851": "t1851/games/3p-811-claims.18xx",
    "1870": "games/1870-3p-5004.18xx",
}
WIDTHS = (380, 600)
IN_A_ROW = 4


async def questions(desk: LetterDesk, title: str, moves: int = 10**6) -> None:
    """An email for each kind of question of a title, and the end of its game."""
    history = replay((TESTS / GAMES[title]).read_text(encoding="utf-8")).history
    assert history is not None
    table_id = await desk.table(title, NAMES[: len(history.start.seats)])
    await desk.take(f"{title} start", keep=title == "1830")
    state, seen = engine.copy_state(history.start), dict[str, int]()
    for number, move in enumerate(history.lines[:moves]):
        kind = question_kind(state.top)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] in (1, 40):
            await desk.take("x", keep=False)
            person = await desk.person(NAMES[int(move.seat[1:])])
            await Correspondents(desk.service).ask_again(person)
            await desk.take(f"{title} {kind} {seen[kind]}")
        seat = int(move.seat[1:])
        await desk.service.submit(table_id, seat, (move.line,), None, f"{title}-{number}")
        state = engine.fold(move.events, state)
    await desk.take(f"{title} end", keep=state.game_over is not None)


async def tables_by_mail(desk: LetterDesk) -> None:
    """A table from `new` on: what host, guests and strangers read."""
    new = "new 1830 Bob <bob@player.test>, Cid <cid@player.test>"
    await desk.write("a stranger asks", "Ann", new, to=ADDRESS, subject="hi")
    await desk.write("the table is open", "Ann", "yes")
    await desk.write("joins", "Bob", "maybe")
    await desk.write("joins", "Bob", "yes")
    for words in ("who", "list", "options 1830", "help", "invite Dora <dora@player.test>", "invite robot"):
        await desk.write(words, "Ann", words)
    await desk.write("agree", "Bob", "agree")
    await desk.write("declines", "Cid", "no")
    await desk.write("declines", "Dora", "no")
    await desk.write("not started", "Bob", "start")
    await desk.write("started", "Ann", "start")
    await desk.write("addresses", "Ann", "addresses")
    await desk.write("addresses", "Ann", "link ann@work.test")
    await desk.write("again", "Ann", "new 1830 Gus <gsu@player.test>", to=ADDRESS)
    await _come_back(desk, desk.newest["gsu@player.test"], "address", "550 5.1.1 User unknown")
    await desk.take("the invitation came back")
    await desk.write("uninvited", "Ann", "uninvite Gus")
    await desk.write("no such table", "Ann", "new 1899 Bob", to=ADDRESS)
    await desk.write("nothing found", "Ann", "Hello there!", to=ADDRESS)
    await desk.write("closed", "Ann", "new 1830 Zoe <zoe@player.test>", to=ADDRESS)
    await desk.write("closed", "Ann", "resign")


async def answers(desk: LetterDesk) -> None:
    """What a player reads who writes for a seat."""
    table_id = await desk.table("1830", NAMES[:3], "Sunday")
    await desk.take("start", keep=False)
    for words in ("bid SX 45", "buy VS", "buy", "pass?", "maybe I should pass, what do you think, Bob?"):
        await desk.write(words, "Ann", words)
    await desk.write("unclear", "Ann", "buy SV", "", "no, wait, do not do that yet")
    await desk.write("say", "Ann", "say Good luck to everybody!")
    await desk.write("said", "Bob", "say Thanks!")
    await desk.take("say")
    for words in (
        "help", "settings", "status", "map", "market", "sheet", "log", "bids", "trains", "tiles",
        "privates SV", "player Ann", "export", "at start", "auto", "auto help", "try buy SV; pass", "hint",
        "who", "chart", "records", "routes", "turn", "undo", "company PRR", "tiles 57", "palette dark",
        "pace", "away until 2026-07-01", "back", "extend", "settings quiet 22:00-07:00", "settings nonsense",
    ):  # fmt: skip
        await desk.write(words, "Ann", words)
    await desk.write(
        "other sender", "Mallory", "pass", to=str(desk.newest["ann@player.test"].message["Reply-To"])
    )
    await desk.write("resign", "Ann", "resign")
    await desk.write("done", "Ann", "bid CA 165")
    stale = desk.newest["ann@player.test"]
    await desk.write("done", "Bob", "buy SV")
    await desk.take("next")
    desk.newest["ann@player.test"] = stale
    await desk.write("stale", "Ann", "pass", "buy CS")
    await desk.write("vote", "Ann", "undo")
    await desk.service.running.pause(table_id, by=await desk.person("Ann"))
    await desk.take("paused")
    await desk.write("stop", "Bob", "stop")
    await desk.write("start", "Bob", "start")


async def reminders(desk: LetterDesk) -> None:
    """Reminders, the digest, answers that come together, and addresses that are cut off."""
    ann = await desk.person("Ann")
    for name in ("Monday", "Tuesday"):
        ids = [await desk.person(each) for each in NAMES[:3]]
        info = await desk.service.lobby.create("1830", ids[0], name=name)
        for each, id in zip(NAMES, ids, strict=False):
            await desk.service.lobby.join(info.id, id, each)
        await desk.service.submit(info.id, None, ["pace 24h"], None, None, person_id=ids[0])
        await desk.service.lobby.start(info.id, by=ids[0], order=NAMES[:3])
    await desk.service.clock.tick()
    await desk.take("start", keep=False)
    for hours in (12, 11, 2, 24):
        desk.clock[0] += timedelta(hours=hours)
        await desk.service.clock.tick()
        await desk.take(f"reminder after {hours}")
    await desk.service.settings.apply(ann, ["settings digest 08:00"])
    desk.clock[0] += timedelta(hours=30)
    await desk.service.clock.tick()
    await desk.take("digest")
    desk.policy._replies.limits = ReplyLimits(0)
    await desk.write("gathered", "Bob", "status")
    await desk.write("gathered", "Bob", "pass")
    desk.clock[0] += timedelta(hours=2)
    await desk.take("gathered")
    desk.policy._replies.limits = UNLIMITED
    await _cut_off(desk)


async def _come_back(desk: LetterDesk, letter: SentLetter, kind: BounceKind, reason: str) -> None:
    """A letter that was accepted comes back."""
    message_id = letter.message["Message-ID"]
    token = await desk.gateway.people.find_token_by_message(message_id)
    assert token is not None
    await desk.gateway.people.record_bounce(Bounce(token, message_id, "", kind, reason))


async def _cut_off(desk: LetterDesk) -> None:
    await desk.write("will come back", "Cid", "status")
    await _come_back(desk, desk.newest["cid@player.test"], "soft", "552 5.2.2 Mailbox full")
    desk.clock[0] += timedelta(hours=2)
    await desk.take("what came back")
    bob = await desk.person("Bob")
    for number in range(2):
        token = await desk.gateway.people.find_token_by_message(
            desk.newest["bob@player.test"].message["Message-ID"]
        )
        assert token is not None
        await desk.gateway.people.record_bounce(
            Bounce(token, f"<{number}@x>", "5.1.1", "address", "550 5.1.1 User unknown")
        )
    await desk.take("cut off")
    await Correspondents(desk.service).restore(bob)
    await desk.take("reachable again")


MARK_WIDE = """
for (const each of document.querySelectorAll("div.screen"))
  if (each.scrollWidth > each.clientWidth) each.style.borderColor = "red", each.title = "too wide";
"""


def sheets(letters: Sequence[SentLetter], folder: Path) -> None:
    """The pages: a few emails in a row, for each width, light and dark, and their text."""
    for width in WIDTHS:
        for dark in (False, True):
            for number, start in enumerate(range(0, len(letters), IN_A_ROW)):
                row = "".join(_screen(each, width, dark) for each in letters[start : start + IN_A_ROW])
                name = f"{width}-{'dark' if dark else 'light'}-{number:03}.html"
                head = '<!doctype html><meta charset="utf-8"><body style="margin:0;display:flex">'
                page = f"{head}{row}<script>{MARK_WIDE}</script>"
                (folder / name).write_text(page, encoding="utf-8")
    text = "\n\n".join(f"#### {each.kind}\n\n{each.part('plain')}" for each in letters)
    (folder / "text.txt").write_text(text, encoding="utf-8")


def _screen(letter: SentLetter, width: int, dark: bool) -> str:
    """An email in a shadow tree of its own, with the media queries as they come out on this screen."""
    page = letter.page.replace("(prefers-color-scheme: dark)", "all" if dark else "print")
    page = page.replace("(max-width: 480px)", "all" if width <= 480 else "print")
    style = page.partition("<style>")[2].partition("</style>")[0].replace("  body, .page", "  .body, .page")
    body = page.partition("<body")[2].partition("</body>")[0]
    return (
        f'<div style="width:{width + 4}px"><div style="height:20px;overflow:hidden;font-weight:bold">'
        f'{html.escape(letter.kind)}</div><div class="screen" style="width:{width}px;border:2px solid #ccc">'
        f'<template shadowrootmode="open"><style>{style}</style><div class="body"{body}</div></template>'
        "</div></div>"
    )


def links(letters: Sequence[SentLetter]) -> list[str]:
    return [link for each in letters for link in re.findall(r'href="(mailto:[^"]*)"', each.part("html"))]


async def collect(folder: Path, pictures: PictureWorkers) -> list[SentLetter]:
    """All emails, of a service for each of the stories."""
    letters: list[SentLetter] = []
    for story in (tables_by_mail, answers, reminders):
        with TemporaryDirectory() as data:
            async with letter_desk(Path(data), pictures) as one:
                await story(one)
            letters += one.letters
    for title in GAMES:
        with TemporaryDirectory() as data:
            async with letter_desk(Path(data), pictures) as one:
                await questions(one, title)
            letters += one.letters
    return letters


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with PictureWorkers(1) as pictures:
        sheets(asyncio.run(collect(folder, pictures)), folder)


if __name__ == "__main__":
    main()
