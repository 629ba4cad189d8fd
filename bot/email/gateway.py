"""The service behind the mail channel: it implements `mail.port.ServicePort`, by parts.

`Correspondents` knows people and what the tokens of our emails stand for, `stored_mail` keeps what arrives
and what waits for `yes`, `seat_replies` plays and answers, `confirmations` acts on a `yes`, `table_replies`
carries out commands. `mail.port` says what each part promises.
"""

from __future__ import annotations

import logging
from pathlib import Path

from bot.email import reachability
from bot.email.confirmations import Confirmations
from bot.email.reachability import Reachability
from bot.email.replies.seat_replies import SeatReplies
from bot.email.replies.table_commands import TableCommands
from bot.email.replies.table_replies import TableReplies
from bot.email.stored_mail import HeldLineStore, InboundMail
from bot.email.tokens import ServiceToken, live_token, token_owner
from bot.hub.people import load_standing
from bot.pictures.workers import PictureWorkers
from bot.position import text_views
from bot.service import Service
from mail import ReplyToken
from mail.operator_alerts import DAY, OperatorAlerts
from mail.port import Bounce, Correspondent
from mail.reading.bounces import classify


class MailGateway:
    """Connects the mail channel to a service. `folder` has the bytes of emails that are not finished."""

    def __init__(
        self, service: Service, pictures: PictureWorkers, folder: Path, key: bytes, hosts: str = "verified"
    ) -> None:
        """hosts: who may host besides verified addresses, see `admits_host`."""
        commands = TableCommands(service, pictures)
        self.people = Correspondents(service)
        self.arrivals = InboundMail(service, folder)
        self.seats = SeatReplies(service, pictures)
        self.held = HeldLineStore(service.store, key)
        self.confirmations = Confirmations(service)
        self.tables = TableReplies(service, commands, self.held, hosts)

    async def alert_operator(self, text: str) -> None:
        """Say something to the operator."""
        await alert_operator(text)


log = logging.getLogger(__name__)


async def alert_operator(text: str) -> None:
    """Write to the log, which the operator reads."""
    log.error("for the operator: %s", text)


class Correspondents:
    """Finds people by tokens and addresses, and stops, starts and counts their emails."""

    def __init__(self, service: Service) -> None:
        self._store = service.store
        self._reachability = Reachability(service)
        self._alerts = OperatorAlerts(alert_operator, service.store.now)

    async def find_token(self, token_hash: str) -> ServiceToken | None:
        """What the token with this hash may do now; None for one that is not valid."""
        async with self._store.read() as unit:
            token = await unit.mail_tokens.by_hash(token_hash)
            return await live_token(unit, token) if token else None

    async def find_token_by_message(self, message_id: str) -> ServiceToken | None:
        """The same by the Message-ID of the email that carried the token."""
        async with self._store.read() as unit:
            token = await unit.mail_tokens.by_message_id(message_id)
            return await live_token(unit, token) if token else None

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """The person who has verified this address, with their seats in running games."""
        async with self._store.read() as unit:
            person = await unit.people.find_by_identity("email", address)
            if person is None or address.casefold() not in await unit.people.verified_addresses(person.id):
                return None
            rows = await unit.tables.for_person(person.id)
            seats = tuple(
                (f"{table.name} {table.code}", seat.name)
                for table, seat in rows
                if table.status in ("running", "paused") and seat.joined_at
            )
        return Correspondent(address, seats)

    async def stop_mail(self, token: ReplyToken) -> str:
        """Send no more emails to this person; returns the sentence that says so."""
        async with self._store.read() as unit:
            person_id = await token_owner(unit, token)
        addresses = [token.address]
        if person_id is not None:
            addresses = await self._reachability.stop(person_id, token.address) or addresses
        return (
            f"No more emails go to {text_views.join_words(addresses, 'or')}. You keep your seats. "
            "Reply to any email with `start` to get emails again."
        )

    async def start_mail(self, token: ReplyToken) -> str:
        """Send emails to this person again, at once one for each table that waits for them."""
        async with self._store.read() as unit:
            person_id = await token_owner(unit, token)
            if person_id is None or token.address not in await unit.people.verified_addresses(person_id):
                return f"{token.address} is not confirmed. Please link your address again."
        waiting = await self._reachability.restore(person_id)
        async with self._store.read() as unit:
            address = (await load_standing(unit, person_id)).address
        return f"Emails go to {address} again.{reachability.waiting_sentence(waiting)}"

    async def record_bounce(self, bounce: Bounce) -> None:
        """An email was not delivered: count what speaks against its address, and tell who has to know; the
        operator once a day of a mail server that refuses ours."""
        async with self._store.read() as unit:
            person_id = await token_owner(unit, bounce.token)
        if person_id is not None and (text := await self._reachability.record_bounce(person_id, bounce)):
            address = bounce.token.address.casefold()
            about = address.rpartition("@")[2] if bounce.kind == "operator" else address
            await self._alerts.send(f"{bounce.kind} {about}", text, DAY)

    async def heard_from(self, address: str) -> None:
        """The owner of a verified address has written."""
        async with self._store.read() as unit:
            person = await unit.people.find_by_identity("email", address)
            if person is None or address.casefold() not in await unit.people.verified_addresses(person.id):
                return
        await self._reachability.heard_from(person.id, address.casefold())

    async def recipient_refused(self, message_id: str, reason: str) -> None:
        """The mail server has refused an email for good."""
        if (token := await self.find_token_by_message(message_id)) is not None:
            await self.record_bounce(Bounce(token, message_id, "", classify(reason), reason[:200]))
