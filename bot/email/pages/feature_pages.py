"""The pages that features make of notifications, as emails."""

from __future__ import annotations

from dataclasses import replace

from bot.email.tokens import ServiceToken, reply_token_for, seat_key, table_label
from bot.hub.feature import Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from mail import MailPage
from mail.composing import pages
from mail.composing.page import Block, CopyableLines, Paragraph, Preformatted, bullets, copyable
from storage import Store

HOW_INVITED = (
    "The game is played over days, by replying to emails: you get one when it is your turn, and answer it "
    "with your move. With `no`, or without an answer, no more emails come. `stop` ends all invitations."
)


def mail_page(page: Page) -> MailPage:
    """A page as an email."""
    answers = [(each.purpose, word) for word, each in (("yes", page.yes), ("no", page.no)) if each]
    if not answers and not page.controls:
        return pages.announcement(page.headline, page.sentences)
    offered = [] if answers else page.controls
    answers += [(each.purpose, each.line) for each in offered if each.purpose]
    blocks: list[Block] = [Paragraph(" ".join(page.sentences))]
    for title, items in page.lists:
        blocks += bullets(title, items) if title else [Preformatted("", "\n".join(items))]
    blocks += [CopyableLines(f"{purpose}, reply with", [word]) for purpose, word in answers]
    blocks += copyable("Reply with one of", [each.line for each in offered if not each.purpose])
    if page.invites:
        blocks.append(Paragraph(HOW_INVITED))
    return MailPage(page.headline, tuple(blocks), subject=page.headline.rstrip(".?"), tone="turn")


async def page_token(
    store: Store, table: TableInfo, notification: Notification, page: Page, address: str
) -> ServiceToken | None:
    """What a reply to a page stands for; None for a person without a verified address, who is not invited."""
    person_id = notification.person_id or 0
    if page.invites:
        seat = notification.seat
        return ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            None if seat is None else seat_key(table.id, seat),
            person_id=person_id, table_id=table.id, seat_number=seat,
        )  # fmt: skip
    seat = notification.seat if page.decision_id else None
    if seat is not None and table.seat_of(person_id) != seat:
        return None
    async with store.read() as unit:
        token = await reply_token_for(unit, person_id, table, seat, page.decision_id)
    if token is None or page.yes is None:
        return token
    return replace(token, purpose="answer", decision_id=f"{page.yes.line}|{page.no.line if page.no else ''}")
