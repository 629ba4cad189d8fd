"""The daily digest as one email: every table that waits, the most urgent first, each answerable from there.

A reply to the email is for the first table. Every other table has an address of its own in the email.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.email.pages.turn_bundles import with_outcomes
from bot.email.tokens import ServiceToken, reply_token_for
from bot.hub.notifications.recent_events import digest_events
from bot.hub.notifications.waiting import WaitingTable, waiting_tables
from bot.hub.table import TableView
from bot.position import legal_lines
from bot.service import Service
from mail import MailPage, OutgoingMail, ServiceAddress, compose
from mail.composing.page import Block, BulletList, CopyableLines, Paragraph
from mail.port import IssuedToken
from mail.reply_address import hash_token, new_token
from storage import TablePoll

MAX_LINES = 6  # to copy, of each table
MAX_TABLES = 20


class DigestComposer:
    """Composes digests from what waits when they are sent."""

    def __init__(self, service: Service, address: ServiceAddress, now: Callable[[], datetime]) -> None:
        self._service, self._address, self._now = service, address, now

    async def compose(self, person_id: int) -> OutgoingMail | None:
        """The digest of a person; None if nothing waits for them any more."""
        settings = await self._service.settings.settings(person_id)
        async with self._service.store.read() as unit:
            waiting = [
                each
                for each in await waiting_tables(unit, person_id)
                if settings.for_table(each.table.code).digest
            ]
        blocks: list[Block] = []
        first: ServiceToken | None = None
        issued: list[IssuedToken] = []
        for each in waiting[:MAX_TABLES]:
            view = await self._service.queries.view(each.table.id)
            decision_id = each.poll_id or view.decision_id_of(each.seat)
            async with self._service.store.read() as unit:
                token = await reply_token_for(unit, person_id, each.table, each.seat, decision_id)
            if token is None or decision_id is None:
                continue
            address = None
            if first is None:
                first = token
            else:
                secret = new_token()
                issued.append(IssuedToken(hash_token(secret), token))
                address = self._address.reply_address(secret)
            code = "" if address is None or self._address.has_subaddresses else secret
            blocks += await self._section(each, view, settings.zone, address, code, person_id)
        if first is None:
            return None
        page = MailPage(_headline(len(waiting)), tuple(blocks), subject="What waits for you", tone="turn")
        mail = await asyncio.to_thread(compose, self._address, page, first, self._now(), "digest")
        return replace(mail, issued_tokens=(*mail.issued_tokens, *issued))

    async def _section(
        self,
        waiting: WaitingTable,
        view: TableView,
        zone: str | None,
        address: str | None,
        token: str,
        reader: int,
    ) -> list[Block]:
        """What one table waits for, what has happened there, and how to answer."""
        if waiting.poll is not None:
            return self._vote_section(waiting, waiting.poll, zone, address, token)
        pending = next(p for p in view.pending if p.seat == waiting.seat)
        table_id, code = waiting.table.id, waiting.table.code
        choices = await self._service.queries.choices(table_id, waiting.seat)
        events = await digest_events(self._service.queries, waiting, reader)
        blocks: list[Block] = [
            Paragraph(f"{waiting.line(self._now(), zone)}."),
            Paragraph(f"You to act: {pending.prompt}."),
        ]
        if events:
            blocks.append(BulletList(f"Since your last turn at {code}", events))
        how = _how(code, address, token)
        offered = legal_lines.copyable_lines(choices)
        lines = offered[:MAX_LINES]
        if "pass" in offered[MAX_LINES:]:
            lines = (*lines[:-1], "pass")
        lines = with_outcomes(view.state, waiting.seat, lines) if view.state else lines
        return [*blocks, CopyableLines(how, lines, address, token)]

    def _vote_section(
        self, waiting: WaitingTable, poll: TablePoll, zone: str | None, address: str | None, token: str
    ) -> list[Block]:
        """A vote, and how to answer it."""
        how = _how(waiting.table.code, address, token)
        return [
            Paragraph(f"{waiting.line(self._now(), zone)}."),
            Paragraph(str(poll.poll.details["question"])),
            CopyableLines(how, ["accept vote", "decline vote"], address, token),
        ]


def _how(code: str, address: str | None, token: str) -> str:
    how = f"Reply with one of, for {code}" if address is None else f"For {code}, write to {address}"
    return how + (f" with the line `# code-{token}`" if token else "")


def _headline(count: int) -> str:
    return (
        "One table waits for you." if count == 1 else f"{count} tables wait for you, the most urgent first."
    )
