"""The service behind the mail channel: it implements `mail.port.ServicePort`, by parts.

`correspondents` knows people and what the tokens of our emails stand for, `inbound_mail` keeps what arrives,
`seat_replies` plays and answers, `held_lines` waits for `yes`, `confirmations` acts on it, `table_replies`
carries out commands. Each method here is that of a part; `mail.port` says what it promises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from bot.email.confirmations import Confirmations
from bot.email.correspondents import Correspondents, alert_operator
from bot.email.inbound_mail import InboundMail
from bot.email.replies.held_lines import HeldLineStore
from bot.email.replies.seat_replies import SeatReplies
from bot.email.replies.table_commands import TableCommands
from bot.email.replies.table_replies import TableReplies
from bot.email.tokens import ServiceToken
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail import ReplyToken
from mail.port import (
    AcceptedLine,
    Arrival,
    Bounce,
    Correspondent,
    HeldLines,
    MailOutcome,
    PlayResult,
    QueryKind,
    QueryResult,
    ServicePort,
    TableAnswer,
)
from mail.reading.parts import MailFile
from mail.reading.unclear_lines import Vocabulary


class MailGateway(ServicePort):
    """Connects the mail channel to a service. `folder` has the bytes of emails that are not finished."""

    def __init__(
        self, service: Service, pictures: PictureWorkers, folder: Path, key: bytes, hosts: str = "verified"
    ) -> None:
        """hosts: who may host besides verified addresses, see `admits_host`."""
        commands = TableCommands(service, pictures)
        self._people = Correspondents(service)
        self._inbound = InboundMail(service, folder)
        self._seats = SeatReplies(service, pictures)
        self._held = HeldLineStore(service.store, key)
        self._confirmations = Confirmations(service, commands)
        self._tables = TableReplies(service, commands, self._held, hosts)

    # -- mail that arrives

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        return await self._inbound.record_arrival(digest, raw, when)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        await self._inbound.record_outcome(digest, outcome)

    async def count_replies(
        self, since: datetime, actor: str | None = None, reason: str | None = None
    ) -> int:
        return await self._inbound.count_replies(since, actor, reason)

    async def delete_before(self, age: timedelta) -> None:
        """Delete what is kept of emails that were finished so long ago, and tokens that ended then."""
        await self._inbound.delete_before(age)

    # -- people

    async def find_token(self, token_hash: str) -> ServiceToken | None:
        return await self._people.find_token(token_hash)

    async def find_token_by_message(self, message_id: str) -> ServiceToken | None:
        return await self._people.find_token_by_message(message_id)

    async def find_correspondent(self, address: str) -> Correspondent | None:
        return await self._people.find_correspondent(address)

    async def stop_mail(self, token: ReplyToken) -> str:
        return await self._people.stop_mail(token)

    async def start_mail(self, token: ReplyToken) -> str:
        return await self._people.start_mail(token)

    async def record_bounce(self, bounce: Bounce) -> None:
        await self._people.record_bounce(bounce)

    async def heard_from(self, address: str) -> None:
        await self._people.heard_from(address)

    async def recipient_refused(self, message_id: str, reason: str) -> None:
        """The mail server has refused an email for good."""
        await self._people.recipient_refused(message_id, reason)

    async def alert_operator(self, text: str) -> None:
        await alert_operator(text)

    # -- seats

    async def vocabulary(self, token: ReplyToken) -> Vocabulary:
        return await self._seats.vocabulary(token)

    async def readable_lines(self, token: ReplyToken, lines: Sequence[str]) -> frozenset[str]:
        return await self._seats.readable_lines(token, lines)

    async def try_lines(self, token: ReplyToken, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
        return await self._seats.try_lines(token, lines)

    async def play(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> PlayResult:
        return await self._seats.play(token, lines, request_id)

    async def query(self, token: ReplyToken, kind: QueryKind, argument: str) -> QueryResult:
        return await self._seats.query(token, kind, argument)

    async def say(self, token: ReplyToken, text: str, request_id: str) -> None:
        await self._seats.say(token, text, request_id)

    # -- what waits for an answer

    async def current_decision(self, token: ReplyToken) -> str | None:
        return await self._seats.current_decision(token)

    async def hold_lines(
        self, token: ReplyToken, lines: Sequence[str], request_id: str, figures: Sequence[str] = ()
    ) -> str:
        if figures:
            token = replace(token, decision_id=await self.current_decision(token))
        return await self._held.hold_lines(token, lines, request_id, figures)

    async def find_held_lines(self, token: ReplyToken, code: str) -> HeldLines | None:
        return await self._held.find_held_lines(token, code)

    async def find_offered_code(self, token: ReplyToken, message_ids: Sequence[str]) -> str | None:
        return await self._held.find_offered_code(token, message_ids)

    async def confirm(self, token: ReplyToken, yes: bool) -> TableAnswer:
        return await self._confirmations.confirm(token, yes)

    # -- tables

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        name: str,
        request_id: str,
        files: Sequence[MailFile] = (),
    ) -> TableAnswer | None:
        return await self._tables.table_command(token, lines, name, request_id, files)

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request_id: str
    ) -> TableAnswer | None:
        return await self._tables.ask_new_host(address, lines, name, request_id)

    async def confirm_host(self, token: ReplyToken) -> None:
        await self._tables.confirm_host(token)
