"""The page of each notification, from the position at the time when it is sent; many are made by features.

The daily digest is one email: every table that waits, the most urgent first, each answerable from there. A
reply to the email is for the first table. Every other table has an address of its own in the email.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from bot.email.pages import answer_pages
from bot.email.pages.turn_pages import (
    PICTURES_LATE,
    POSITION,
    TurnPages,
    inline_images,
    position_parts,
    with_outcomes,
    words_of_map,
)
from bot.email.tokens import reply_token_for, seat_token, table_label
from bot.hub.feature import Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification, decode_notification
from bot.hub.notifications.waiting import WaitingTable
from bot.hub.table import TableView
from bot.pictures.views import NamedPicture
from bot.pictures.workers import PictureWorkers
from bot.position import legal_lines
from bot.service import Service
from mail.composing.page import (
    Block,
    BulletList,
    CopyableLines,
    ImageBlock,
    InlineImage,
    MailPage,
    Paragraph,
    PositionBlock,
    Preformatted,
    TableRows,
)
from mail.reply_address import ReplyToken
from storage import OutboxMessage, Store

ASKING = ("turn", "reminder")
"""Kinds that go to the player of a seat, or to the deputy who plays for them now."""
ABOUT_DATA: Sequence[Literal["export", "erase"]] = ("export", "erase")
MAX_HEADLINE = 70  # characters
MAX_LINES = 6  # to copy, of each table of a digest
MAX_TABLES = 20  # in a digest
LAST_REMINDER = timedelta(hours=2)  # before the end of a time, at the latest
REMINDED_AGAIN = timedelta(hours=20)  # by email: daily reminders do not come at the same minute


class PageBuilder:
    """Builds the page of a notification from the position at that time."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service = service
        self._store = service.store
        self._turns = TurnPages(service, pictures)

    async def build(self, row: OutboxMessage) -> tuple[MailPage, ReplyToken] | None:
        """The page of a notification and the token of its replies; None where it is out of date."""
        notification = decode_notification(row.payload)
        if notification.person_id is None:
            return None
        if notification.kind == "claim":
            return await self._claim_page(notification.person_id)
        if notification.kind in (*ABOUT_DATA, "account"):
            return await self._personal_page(notification, notification.person_id, str(row.address["email"]))
        if notification.kind == "digest":
            return await self._digest_page(notification.person_id)
        if notification.kind in ("gathered", "lost"):
            return await self._gathered_page(notification, notification.person_id)
        await self._service.cache.refresh(notification.table_id)
        table = await self._service.queries.table_info(notification.table_id)
        make = self._service.pages.get(notification.kind)
        if make is not None and notification.kind not in ASKING:
            if (page := await make(table, notification)) is None:
                return None
            token = await page_token(self._store, table, notification, page, str(row.address["email"]))
            if token is None:
                return None
            mail = mail_page(page)
            if page.pictures:
                mail = await self._turns.with_pictures(mail, page, table.id, notification.person_id)
            return mail, token
        if notification.once_a_day and await self._is_one_too_many(notification, str(row.address["email"])):
            return None
        seat = notification.seat
        if seat not in table.seats_of(notification.person_id):
            return None
        view = await self._service.queries.view(notification.table_id)
        made = await self._page(view, notification, seat)
        token = await seat_token(self._service, notification.person_id, table, seat, notification.decision_id)
        return (made, token) if made and token else None

    async def _is_one_too_many(self, notification: Notification, address: str) -> bool:
        """Whether a reminder, of whatever table, has gone to an address within a day, or the one before the
        end of the time follows within a day."""
        async with self._store.read() as unit:
            since = unit.now - REMINDED_AGAIN
            clock = (await unit.clocks.seat_clocks(notification.table_id)).get(notification.seat or 0)
            end = clock.allowance_end if clock else None
            if end and unit.now + LAST_REMINDER < end <= unit.now + timedelta(days=1):
                return True
            return await unit.outbox.count("mail", since, to=address, reason="reminder") > 0

    async def _claim_page(self, person_id: int) -> tuple[MailPage, ReplyToken] | None:
        """The page that asks a person to confirm their address."""
        async with self._store.read() as unit:
            claim = await unit.people.claim_of_person(person_id)
            if claim is None:
                return None
            name = (await unit.people.get(person_id)).name
        token = ReplyToken("link", claim.address, frozenset({claim.address}), person_id=person_id)
        return answer_pages.question("link", name), token

    async def _personal_page(
        self, notification: Notification, person_id: int, address: str
    ) -> tuple[MailPage, ReplyToken] | None:
        """The page that asks a person whether they want their data, or to be deleted; or about their
        addresses, to one of them."""
        if (token := await reply_token_for(self._store, person_id)) is None:
            return None
        for purpose in ABOUT_DATA:
            if notification.kind == purpose:
                return answer_pages.question(purpose), replace(token, purpose=purpose)
        if address not in token.verified_addresses:
            return None
        page = announcement("Your email addresses.", notification.sentences)
        return page, replace(token, address=address)

    async def _gathered_page(
        self, notification: Notification, person_id: int
    ) -> tuple[MailPage, ReplyToken] | None:
        """The page of answers that come together, or of emails that came back; they may be about a table, a
        seat, or neither."""
        table = seat = None
        if notification.table_id:
            await self._service.cache.refresh(notification.table_id)
            table = await self._service.queries.table_info(notification.table_id)
            seat = notification.seat if notification.seat in table.seats_of(person_id) else None
        token = await seat_token(self._service, person_id, table, seat)
        page = answer_pages.gathered_answers if notification.kind == "gathered" else answer_pages.bounced_mail
        return (page(notification.sentences), token) if token else None

    async def _digest_page(self, person_id: int) -> tuple[MailPage, ReplyToken] | None:
        """The digest of a person, and the token of its first table; None if nothing waits for them any
        more."""
        waiting = await self._service.waiting.pages(person_id, in_digest=True)
        blocks: list[Block] = []
        first: ReplyToken | None = None
        for each, page in waiting[:MAX_TABLES]:
            token = await reply_token_for(self._store, person_id, each.table, each.seat, page.decision_id)
            if token is None:
                continue
            how, own = (
                (f"For {each.table.code}", token)
                if first
                else (f"Reply with one of, for {each.table.code}", None)
            )
            first = first or token
            lines = [control.line for control in page.controls] or await self._offered_lines(each)
            blocks += [
                *map(Paragraph, (f"{page.headline}.", *page.sentences)),
                *(BulletList(*part) for part in page.lists),
                CopyableLines(how, lines or ["turn"], own),
            ]
        if first is None:
            return None
        count = len({each.table.id for each, _ in waiting})
        headline = (
            f"{count} tables wait for you, the most urgent first."
            if count > 1
            else "One table waits for you."
        )
        return MailPage(headline, blocks, subject="What waits for you", tone="turn"), first

    async def _offered_lines(self, waiting: WaitingTable) -> Sequence[str]:
        """Lines of the seat to copy, with `pass` where it is possible."""
        choices = await self._service.queries.choices(waiting.table.id, waiting.seat)
        offered = legal_lines.copyable_lines(choices)
        lines = offered[:MAX_LINES]
        if "pass" in offered[MAX_LINES:]:
            lines = (*lines[:-1], "pass")
        state = (await self._service.queries.view(waiting.table.id)).state
        return with_outcomes(state, waiting.seat, lines) if state else lines

    async def _page(self, view: TableView, notification: Notification, seat: int) -> MailPage | None:
        """The page of a notification about a seat. A turn that is over is told for its news alone."""
        if notification.kind in ASKING and (page := await self._turn_page(view, notification, seat)):
            return page
        if notification.kind == "reminder" or not notification.sentences:
            return None
        state = view.state
        if notification.kind != "started" or state is None:
            waiting = (view.waiting_sentence,) if view.waiting_sentence else ()
            return announcement(_news(notification.sentences), notification.sentences, waiting)
        drawing = await self._turns.drawing(view, notification.person_id)
        picture = await drawing.map(state)
        position = position_parts(state, view.pending, notification.seat)
        return announcement(
            "The game begins.",
            (*notification.sentences, *([PICTURES_LATE] if drawing.late else [])),
            (*position, *words_of_map(state)) if drawing.late else position,
            inline_images([NamedPicture("map", picture)] if picture else ()),
        )

    async def _turn_page(self, view: TableView, notification: Notification, seat: int) -> MailPage | None:
        """The page of a turn or a reminder, with its news first; None where it is out of date, or somebody
        else plays for the seat now."""
        asked = (seat, notification.decision_id)
        pending = next((each for each in view.pending if (each.seat, each.decision_id) == asked), None)
        plays = view.table.status == "running" and view.table.person_at(seat) == notification.person_id
        if view.state is None or pending is None or not plays:
            return None
        is_reminder = notification.kind == "reminder"
        page = await self._turns.turn(
            view, view.state, pending, notification.person_id, is_reminder=is_reminder
        )
        first, subject = notification.sentences, page.subject
        if is_reminder:
            if (reminder := await self._service.pages["reminder"](view.table, notification)) is None:
                return None
            first, subject = tuple(reminder.sentences), f"A reminder: {subject.lower()[:1]}{subject[1:]}"
        return replace(page, blocks=(*map(Paragraph, first), *page.blocks), subject=subject)


def _news(sentences: Sequence[str]) -> str:
    """The headline of news: what happened, if that is short."""
    first, end, _ = " ".join(sentences).partition(". ")
    headline = first + "." * bool(end)
    return headline if len(headline) <= MAX_HEADLINE else "What happened at the table."


def announcement(
    headline: str,
    sentences: Sequence[str],
    position: tuple[str | TableRows, ...] = (),
    images: Sequence[InlineImage] = (),
) -> MailPage:
    """What somebody is told: the game starts, is paused, they are next. What the headline says is not said
    again."""
    more = [sentence.removeprefix(headline).strip() for sentence in sentences]
    blocks = (*map(Paragraph, more), *map(ImageBlock, images), *_sentences_or_position(position))
    return MailPage(headline, blocks, subject=f"News: {headline.rstrip('.')}")


def _sentences_or_position(parts: tuple[str | TableRows, ...]) -> list[Block]:
    """A position; what is only sentences needs no heading."""
    sentences = [part for part in parts if isinstance(part, str)]
    if len(sentences) < len(parts):
        return [PositionBlock(POSITION, parts)]
    return [*map(Paragraph, sentences)]


HOW_INVITED = (
    "The game is played over days, by replying to emails: you get one when it is your turn, and answer it "
    "with your move. With `no`, or without an answer, no more emails come. `stop` ends all invitations."
)


def mail_page(page: Page) -> MailPage:
    """A page as an email."""
    answers = [(each.purpose, word) for word, each in (("yes", page.yes), ("no", page.no)) if each]
    if not answers and not page.controls:
        return announcement(page.headline, page.sentences)
    offered = [] if answers else page.controls
    answers += [(each.purpose, each.line) for each in offered if each.purpose]
    blocks: list[Block] = [Paragraph(" ".join(page.sentences))]
    for title, items in page.lists:
        blocks.append(BulletList(title, items) if title else Preformatted("", "\n".join(items)))
    blocks += [CopyableLines(f"{purpose}, reply with", [word]) for purpose, word in answers]
    blocks.append(CopyableLines("Reply with one of", [each.line for each in offered if not each.purpose]))
    if page.invites:
        blocks.append(Paragraph(HOW_INVITED))
    return MailPage(page.headline, blocks, subject=page.headline.rstrip(".?"), tone="turn")


async def page_token(
    store: Store, table: TableInfo, notification: Notification, page: Page, address: str
) -> ReplyToken | None:
    """What a reply to a page stands for; None for a person without a verified address, who is not invited."""
    person_id = notification.person_id or 0
    if page.invites:
        return ReplyToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            person_id=person_id, table_id=table.id, seat_number=notification.seat,
        )  # fmt: skip
    seat = notification.seat if page.decision_id else None
    if seat is not None and seat not in table.seats_of(person_id):
        return None
    token = await reply_token_for(store, person_id, table, seat, page.decision_id)
    if token is None or page.yes is None:
        return token
    return replace(token, purpose="answer", decision_id=f"{page.yes.line}|{page.no.line if page.no else ''}")
