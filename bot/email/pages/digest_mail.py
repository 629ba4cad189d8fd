"""The daily digest as one email: every table that waits, the most urgent first, each answerable from there.

A reply to the email is for the first table. Every other table has an address of its own in the email.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.email.pages.turn_pages import with_outcomes
from bot.email.tokens import ServiceToken, reply_token_for
from bot.hub.notifications.waiting import WaitingTable
from bot.position import legal_lines
from bot.service import Service
from mail import MailPage, OutgoingMail, ServiceAddress, compose
from mail.composing.page import Block, BulletList, CopyableLines, Paragraph
from mail.port import IssuedToken
from mail.reply_address import hash_token, new_token

MAX_LINES = 6  # to copy, of each table
MAX_TABLES = 20


class DigestComposer:
    """Composes digests from what waits when they are sent."""

    def __init__(self, service: Service, address: ServiceAddress, now: Callable[[], datetime]) -> None:
        self._service, self._address, self._now = service, address, now

    async def compose(self, person_id: int) -> OutgoingMail | None:
        """The digest of a person; None if nothing waits for them any more."""
        waiting = await self._service.waiting.pages(person_id, in_digest=True)
        blocks: list[Block] = []
        first: ServiceToken | None = None
        issued: list[IssuedToken] = []
        for each, page in waiting[:MAX_TABLES]:
            async with self._service.store.read() as unit:
                token = await reply_token_for(unit, person_id, each.table, each.seat, page.decision_id)
            if token is None:
                continue
            address, code = None, ""
            if first is None:
                first = token
            else:
                secret = new_token()
                issued.append(IssuedToken(hash_token(secret), token))
                address = self._address.reply_address(secret)
                code = "" if self._address.has_subaddresses else secret
            blocks += [Paragraph(f"{page.headline}."), *map(Paragraph, page.sentences)]
            for title, items in page.lists:
                blocks.append(BulletList(title, items))
            lines = [control.line for control in page.controls] or await self._offered_lines(each)
            blocks.append(CopyableLines(_how(each.table.code, address, code), lines, address, code))
        if first is None:
            return None
        letter = MailPage(_headline(len(waiting)), tuple(blocks), subject="What waits for you", tone="turn")
        mail = await asyncio.to_thread(compose, self._address, letter, first, self._now(), "digest")
        return replace(mail, issued_tokens=(*mail.issued_tokens, *issued))

    async def _offered_lines(self, waiting: WaitingTable) -> Sequence[str]:
        """Lines of the seat to copy, with `pass` where it is possible."""
        choices = await self._service.queries.choices(waiting.table.id, waiting.seat)
        offered = legal_lines.copyable_lines(choices)
        lines = offered[:MAX_LINES]
        if "pass" in offered[MAX_LINES:]:
            lines = (*lines[:-1], "pass")
        state = (await self._service.queries.view(waiting.table.id)).state
        return with_outcomes(state, waiting.seat, lines) if state else lines


def _how(code: str, address: str | None, token: str) -> str:
    how = f"Reply with one of, for {code}" if address is None else f"For {code}, write to {address}"
    return how + (f" with the line `# code-{token}`" if token else "")


def _headline(count: int) -> str:
    return (
        "One table waits for you." if count == 1 else f"{count} tables wait for you, the most urgent first."
    )
