"""The examples in docs/players.md are what the service shows to players.

.venv/bin/python -m tests.test_players_guide     rewrites the examples in the document
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email import message_from_bytes, policy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import engine
from bot.discord.cards import card_texts, layouts, parts
from bot.discord.cards.parts import Json
from bot.email.pages import answer_pages
from bot.email.pages.notice_pages import PageBuilder
from bot.email.replies.seat_replies import SeatReplies
from bot.email.tokens import reply_token_for
from bot.hub.feature import TurnPage
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.people import person_by_address
from bot.service import Service
from bot.terminal.console import Console
from mail.composing.compose import compose
from mail.reading.parser import ParsedMail
from mail.reply_address import ServiceAddress
from renderers import Picture
from storage import Store, open_store
from tests.drawn_here import DrawnHere
from tests.tables import started

GUIDE = Path(__file__).parent.parent / "docs" / "players.md"
EXAMPLE = re.compile(r"(<!-- example: (\w+) -->\n```text\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
NAMES = ("Ann", "Bob", "Cid")
TERMINAL = ("table new 1830 Ann, Bob, Cid", "table start", "buy SV", "bid CA 165", "Cid: buy MH", "Cid: pass")


@asynccontextmanager
async def service_in(folder: Path) -> AsyncIterator[tuple[Service, Store]]:
    async with await open_store(folder / "railpost.db") as store:
        yield Service(store), store


async def started_table(service: Service, store: Store, names: Sequence[str] = NAMES) -> TableInfo:
    """A game of 1830 of people who all have email addresses."""
    people = {}
    for name in names:
        async with store.begin() as unit:
            person = await person_by_address(unit, f"{name.lower()}@player.example", name)
            await unit.people.add_identity(person.id, "email", f"{name.lower()}@player.example")
        people[name] = person.id
    return await started(service, people, name="Friday")


def shown(components: list[Json]) -> list[str]:
    """A card as text: its texts, its buttons and its selects."""
    lines: list[str] = []
    for part in components:
        match part["type"]:
            case 10:
                lines += [part["content"].replace("**", "").removeprefix("### "), ""]
            case 1 if part["components"][0]["type"] == 2:
                lines += [" ".join(f"[ {each['label']} ]" for each in part["components"]), ""]
            case 1:
                lines += [f"[ {each['placeholder']} v ]" for each in part["components"]] + [""]
            case 12:
                lines += [f"(picture: {item['media']['url'].rpartition('/')[2]})" for item in part["items"]]
            case 17:
                lines += shown(part["components"])
    return lines


async def discord_example(folder: Path) -> str:
    """Bob's card after Ann's first move."""
    async with service_in(folder) as (service, store):
        table = await started_table(service, store)
        await service.submit(table.id, 0, ["buy SV"], None, None)
        view = await service.queries.view(table.id)
        (pending,) = view.pending
        history = card_texts.history_lines(await service.queries.log(table.id, 1), view.table.names)
        choices = await service.queries.choices(table.id, pending.seat)
        images = [parts.ImageAttachment("auction-1.png", Picture(b"", "", 1, 1))]
        added = await service.additions(TurnPage(view, pending, choices, None))
        components = layouts.turn_card(
            view, [pending], {pending.seat: choices}, history, {}, images, added=added
        )
        return "\n".join(shown(components)).replace(view.table.code, "A7K").strip()


async def email_examples(folder: Path) -> tuple[str, str]:
    """Cid's email after Ann's and Bob's first moves, and the receipt for Cid's reply."""
    async with service_in(folder) as (service, store):
        table = await started_table(service, store)
        await service.submit(table.id, 0, ["buy SV"], None, None)
        await service.submit(table.id, 1, ["bid CA 165"], None, None)
        view = await service.queries.view(table.id)
        player = view.table.player_at(2)
        assert player is not None
        address = ServiceAddress("play@games.example", b"k" * 32)
        with DrawnHere() as pictures:
            seats = SeatReplies(service, pictures)
            builder = PageBuilder(service, pictures)
            notification = Notification(
                "turn", table.id, view.seq, 2, player.person_id, view.decision_id_of(2)
            )
            page = await builder._page(view, notification, 2)
            token = await reply_token_for(store, player.person_id, view.table, 2, view.decision_id_of(2))
            assert page is not None and token is not None
            turn = compose(address, page, token, datetime.now(UTC), "turn")
            reading = (await seats.reader(token)).read(ParsedMail("<example>", text="buy CS"))
            result = await seats.play(token, reading.lines, "example")
            assert result.is_done
            page = answer_pages.receipt(result, reading.parsed)
            receipt = compose(address, page, token, datetime.now(UTC), "answer", turn.message_id)
        code = view.table.code
        return readable(turn.raw, code), readable(receipt.raw, code)


def readable(raw: bytes, code: str) -> str:
    """The subject and the text of an email, without the line that marks the end of a reply."""
    message: Any = message_from_bytes(raw, policy=policy.default)
    body = message.get_body(("plain",)).get_content().split("\n", 1)[1]
    body = "\n".join(line.rstrip() for line in body.strip().splitlines())
    return f"Subject: {message['Subject']}\n\n{body}".replace(code, "A7K")


async def terminal_example(folder: Path) -> str:
    async with service_in(folder) as (service, _):
        console = Console(service, folder)
        lines = []
        for line in TERMINAL:
            lines += [f"> {line}", (await console.handle_line(line)).text]
        (table,) = await service.queries.list_tables()
        return "\n".join(lines).replace(table.code, "A7K")


async def examples() -> dict[str, str]:
    found: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        for name in ("discord", "email", "terminal"):
            (Path(folder) / name).mkdir()
        found["discord"] = await discord_example(Path(folder) / "discord")
        found["email"], found["receipt"] = await email_examples(Path(folder) / "email")
        found["terminal"] = await terminal_example(Path(folder) / "terminal")
    return found


async def test_the_examples_are_current() -> None:
    written = {match[2]: match[3].rstrip("\n") for match in EXAMPLE.finditer(GUIDE.read_text())}
    assert written == await examples(), "rewrite the examples: .venv/bin/python -m tests.test_players_guide"


def test_the_table_of_lines_uses_the_verbs_of_the_notation() -> None:
    verbs = {form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms}
    rows = re.findall(r"^\| `([a-z]+)[^`]*` \|", GUIDE.read_text(), re.MULTILINE)
    assert rows and set(rows) <= verbs | {"auto", "pace", "settings"}


if __name__ == "__main__":
    current = asyncio.run(examples())
    text = GUIDE.read_text()
    GUIDE.write_text(EXAMPLE.sub(lambda match: match[1] + current[match[2]] + "\n" + match[4], text))
