"""The service behind the mail channel: it implements `mail.port.ServicePort`, by parts.

`Correspondents` knows people and what the tokens of our emails stand for, `stored_mail` keeps what arrives
and what waits for `yes`, `seat_replies` plays and answers, `confirmations` acts on a `yes`, `table_replies`
carries out commands. `mail.port` says what each part promises.
"""

from __future__ import annotations

from pathlib import Path

from bot.email.confirmations import Confirmations
from bot.email.correspondents import Correspondents, alert_operator
from bot.email.replies.seat_replies import SeatReplies
from bot.email.replies.table_commands import TableCommands
from bot.email.replies.table_replies import TableReplies
from bot.email.stored_mail import HeldLineStore, InboundMail
from bot.pictures.workers import PictureWorkers
from bot.service import Service


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
        self.confirmations = Confirmations(service, commands)
        self.tables = TableReplies(service, commands, self.held, hosts)

    async def alert_operator(self, text: str) -> None:
        """Say something to the operator."""
        await alert_operator(text)
