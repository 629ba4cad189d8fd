"""Collects the text of every kind of card and email, so that they can be read in a row.

Stored games are played on tables of a real service. The first question of each kind gives a card, and the
outbox the emails; one example of every page that answers a mail follows.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from tempfile import TemporaryDirectory

import discord

import engine
from bot.discord.cards import layouts
from bot.discord.controls.controls import SUBMIT_LINE, CustomId
from bot.discord.controls.page_controls import page_card
from bot.discord.delivery import DiscordDelivery
from bot.discord.interactions import private_answers
from bot.email.pages import answer_pages, refusal_pages
from bot.email.pages.answer_pages import PlayResult
from bot.email.pages.notice_pages import PageBuilder
from bot.hub.notifications.messages import Notification, decode_notification
from bot.hub.request import CommandResult, Completed, LineRefused, PlayedLine, StaleDecision
from bot.service import Service
from engine.core.state import AnyFrame
from mail.composing.compose import compose
from mail.composing.page import MailPage
from mail.reading.parts import MailProblem
from mail.reading.quotes import ReplyLine
from mail.reading.reply_text import ParsedReply, ReplyFault
from mail.reply_address import ReplyToken, ServiceAddress
from storage import OutboxMessage, open_store
from tests.fake_discord.models import Json, walk_components
from tests.fake_discord.running_bot import OnePixelPictures
from tests.fake_discord.user_actions import CONTROL_KINDS, parse_control
from tests.game_text.histories import history_of

TESTS = Path(__file__).parents[1]
GAMES = ("1830-3p-9", "1870-3p-5004", "1817-3p-5601")
"""Games in `tests/games`, of three players each."""
MOVES = 150
"""How many moves of each game are played at most."""
NAMES = ("Ann", "Bob", "Cid")
ANSWERED_LINES = ("status", "help", "buy train 9", "hello", "sell")
TEXT_DISPLAY = 10
QUIET_INTENTS = discord.Intents.none()
ADDRESS = ServiceAddress("play@games.test", b"0123456789abcdef")
REPLY = ParsedReply(
    lines=(ReplyLine(1, "buy SV"), ReplyLine(2, "bid XX 5")),
    ignored=("See you on Sunday.",),
    misplaced=("pass",),
)


def answering_pages() -> dict[str, MailPage]:
    """One page of every kind that answers a mail, by what it answers."""
    moves = (PlayedLine(3, "buy SV", "buy SV", ("Ann buys the SV for $20.",)),)
    changes = ("Ann: cash $600 → $580.",)
    played = PlayResult(Completed(played=moves), "Bob to act.", ("pass",), changes)
    rejected = PlayResult(LineRefused(1, "buy SV", "The SV is sold already.", ("buy CS", "pass")))
    since = ("Bob buys the SV for $20.",)
    stale = PlayResult(StaleDecision("It is too late.", since), "Ann to act: buy the CS.", ("pass",))
    too_long = ReplyFault(ReplyLine(1, "buy" * 9), "This line is longer than 500 characters.")
    return {
        "orders that were played": answer_pages.receipt(played, REPLY),
        "orders that were refused": answer_pages.receipt(rejected, REPLY),
        "orders that came too late": answer_pages.receipt(stale, REPLY),
        "an invalid line": refusal_pages.invalid_line(too_long, REPLY),
        "a command with other lines": refusal_pages.must_be_alone("stop"),
        **{f"a mail that cannot be read ({p.name})": refusal_pages.unreadable_mail(p) for p in MailProblem},
        "a mail with two reply addresses": refusal_pages.AMBIGUOUS_RECIPIENT,
        "a mail from another address": refusal_pages.wrong_sender(["buy SV"], "abcd2345"),
        "a mail from another address, without orders": refusal_pages.wrong_sender([], None),
        "a forged mail": refusal_pages.FAILED_AUTHENTICATION,
        "`resign`": refusal_pages.confirm_lines(["resign"], "You give up your seat.", "abcd2345"),
        "an unknown code": refusal_pages.UNKNOWN_CODE,
        "neither yes nor no": refusal_pages.expects_yes_or_no("answer", "Friday A7K"),
        "many answers at once": answer_pages.gathered_answers(
            ["OK: all lines were carried out.", "Bob to act."]
        ),
    }  # fmt: skip


def email_text(page: MailPage, token: ReplyToken) -> str:
    """The subject and the plain text of the page as an email."""
    raw = compose(ADDRESS, page, token, datetime(2026, 1, 1, tzinfo=UTC), "test").raw
    message = BytesParser(policy=default).parsebytes(raw)
    body = message.get_body(("plain",))
    assert body is not None
    text = str(body.get_content()).replace("\r\n", "\n")
    return f"Subject: {message['Subject']}\n\n" + re.sub(r"\n{3,}", "\n\n", text).strip()


class ScriptedTables:
    """A table of each of the `GAMES`, whose players have email addresses."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.delivery = DiscordDelivery(discord.Client(intents=QUIET_INTENTS), service, OnePixelPictures())
        self.people: dict[str, int] = {}
        self.cards: list[str] = []
        self.emails: list[str] = []
        self._kinds_of_email = Counter[tuple[str, str]]()

    async def play(self) -> None:
        async with self.service.store.begin() as unit:
            for name in NAMES:
                self.people[name] = (await unit.people.add(name)).id
                await unit.people.add_identity(self.people[name], "email", f"{name.casefold()}@player.test")
        for game in GAMES:
            await self._play_game(game)

    async def _play_game(self, game: str) -> None:
        history = history_of(TESTS / "games" / f"{game}.18xx")
        title = history.start.title
        table_id = await self._open(title)
        state, seen = engine.copy_state(history.start), set[str]()
        for number, move in enumerate(history.lines[:MOVES]):
            if (kind := question_kind(state.top)) not in seen:
                seen.add(kind)
                await self._add_turn_card(table_id, f"{title}, {kind}")
                await self._add_emails(title)
            await self._submit(table_id, int(move.seat[1:]), move.line, f"{game}-{number}")
            state = engine.fold(move.events, state)
        if title == GAMES[0][:4]:
            await self._add_answers(table_id)
            await self._add_emails(title)

    async def _submit(self, table_id: int, seat: int, line: str, request: str) -> CommandResult:
        return await self.service.submit(table_id, seat, (line,), None, request)

    async def _open(self, title: str) -> int:
        """Open a table, note its lobby and an invitation to it, and start its game."""
        lobby = self.service.lobby
        table = await lobby.create(title, self.people["Ann"], name="Friday")
        await lobby.join(table.id, self.people["Ann"], "Ann")
        await lobby.invite(table.id, self.people["Bob"], "Bob", by=self.people["Ann"])
        await lobby.join(table.id, self.people["Cid"], "Cid")
        table = await self.service.queries.table_info(table.id)
        for what, kind in (("the lobby", "lobby"), ("an invitation", "invited")):
            notification = Notification(kind, table.id, 0, person_id=self.people["Bob"])
            page = await self.service.pages[kind](table, notification)
            assert page is not None
            above = [f"### {page.headline}"] if kind == "lobby" else []
            self._add_card(f"{title}, {what}", page_card(table.id, page, above))
        await self._add_emails(title)
        await lobby.join(table.id, self.people["Bob"], "Bob")
        await lobby.start(table.id, by=self.people["Ann"], order=NAMES)
        return table.id

    async def _add_answers(self, table_id: int) -> None:
        """What is answered to lines that are played, refused, unreadable and ambiguous, and to commands."""
        view = await self.service.queries.view(table_id)
        seat = view.pending[0].seat
        custom_id = CustomId(table_id, seat, None, SUBMIT_LINE)
        for line in ANSWERED_LINES:
            result = await self._submit(table_id, seat, line, f"answer {line}")
            components = private_answers.result_message(
                result, custom_id, None, (), private_answers.MAX_ANSWER
            )
            self._add_card(f"Answer to `{line}`", components)
        await self._submit(table_id, (seat + 1) % len(NAMES), "undo", "undo")
        view = await self.service.queries.view(table_id)
        [(poll, voter), *_] = view.missing_votes()
        self._add_card("A vote", layouts.poll_card(view, poll, {voter: None}))

    async def _add_turn_card(self, table_id: int, heading: str) -> None:
        view = await self.service.queries.view(table_id)
        acting = [each for each in view.pending if each.acts_now] or list(view.pending)
        built = await self.delivery.builder.turn(view, acting, view.seq)
        self._add_card(heading, built.payload)

    def _add_card(self, heading: str, components: list[Json]) -> None:
        lines = []
        for part in walk_components(components):
            if part["type"] == TEXT_DISPLAY:
                lines.append(part["content"])
            elif part["type"] in CONTROL_KINDS:
                control = parse_control(part)
                lines += [f"  [{control.label}]", *(f"    {option.name}" for option in control.options)]
        self.cards.append("\n".join([f"## {heading}", "", *lines, ""]))

    async def _add_emails(self, title: str) -> None:
        """Note the due notifications by mail of kinds that were not there before."""
        builder = PageBuilder(self.service, OnePixelPictures())
        while rows := await self._lease_due():
            for row in rows:
                kind = decode_notification(row.payload).kind
                built = await builder.build(row)
                async with self.service.store.begin() as unit:
                    await unit.outbox.mark_sent(row.idempotency_key)
                if built and self._kinds_of_email[title, kind] < (2 if kind == "turn" else 1):
                    self._kinds_of_email[title, kind] += 1
                    self.emails.append(f"## {title}, {kind}\n\n{email_text(*built)}\n")

    async def _lease_due(self) -> list[OutboxMessage]:
        """What is due by mail; the next message to the same person is due once this one is sent."""
        async with self.service.store.begin() as unit:
            return await unit.outbox.lease_due("mail", 500, timedelta(minutes=5))


def question_kind(frame: AnyFrame) -> str:
    """What a position asks, by the frame and its step."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(frame).__name__).lower()
    step = getattr(frame, "step", None) or getattr(frame, "stage", None)
    return f"{words}, {step}" if isinstance(step, str) else words


async def collect() -> dict[str, str]:
    """The texts of the files `cards` and `emails`."""
    with TemporaryDirectory() as folder:
        async with await open_store(Path(folder) / "railpost.db") as store:
            tables = ScriptedTables(Service(store, ping_holdoff=0.0))
            await tables.play()
            codes = {table.code for table in await tables.service.queries.list_tables()}
    token = ReplyToken(
        "reply", "ann@player.test", frozenset(), "Friday", "XYZ", "d1", table_id=1, seat_number=0
    )
    for answered, page in answering_pages().items():
        tables.emails.append(f"## Answer to {answered}\n\n{email_text(page, token)}\n")
    files = {"cards": "\n".join(tables.cards), "emails": "\n".join(tables.emails)}
    return {name: _without_codes(text, codes) for name, text in files.items()}


def _without_codes(text: str, codes: set[str]) -> str:
    """The text with the same code for all tables: they are drawn by lot."""
    for code in codes:
        text = re.sub(
            rf"(?<=\*\*){code}(?=\*\*)|(?<=[Tt]able ){code}|(?<=Friday ){code}|{code}(?= 1830 · Friday)",
            "XYZ",
            text,
        )
    return text
