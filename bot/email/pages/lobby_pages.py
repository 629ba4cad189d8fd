"""The pages about seats: invitations, offers, requests, and tables that have not started."""

from __future__ import annotations

from dataclasses import replace

from bot.email.tokens import ServiceToken, reply_token_for, seat_key, table_label
from bot.features.lobby.seats import open_request
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.seating import robots_of
from bot.service import Service
from mail import MailPage
from mail.composing import pages, table_pages


class LobbyPages:
    """Builds the pages about seats of a table."""

    def __init__(self, service: Service) -> None:
        self._service, self._store = service, service.store

    async def invitation(
        self, table: TableInfo, notification: Notification, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that invites a person by email to a table."""
        person_id = notification.person_id or 0
        if table.status != "lobby" or not any(
            each.person_id == person_id and not each.joined for each in table.seated_players
        ):
            return None
        host = await self._host_name(table)
        token = ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            person_id=person_id, table_id=table.id,
        )  # fmt: skip
        # Those who are invited at once have no seat yet when the first email is made.
        players, details = await self._service.queries.invitation_facts(table, notification.sentences)
        return table_pages.invitation(host, table_label(table), table.title, players, details), token

    async def seat_offer(
        self, table: TableInfo, notification: Notification, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that offers a seat of a game that goes on here."""
        person_id, seat = notification.person_id or 0, notification.seat
        if seat is None or table.status not in ("running", "paused") or table.player_of(person_id):
            return None
        token = ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            seat_key(table.id, seat), person_id=person_id, table_id=table.id, seat_number=seat,
        )  # fmt: skip
        host = await self._host_name(table)
        return table_pages.seat_offer(
            host, table_label(table), table.title, table.names[seat], table.names
        ), token

    async def _host_name(self, table: TableInfo) -> str:
        if table.host_id is None:
            return "Somebody"
        if player := table.player_of(table.host_id):
            return player.name
        async with self._store.read() as unit:
            return (await unit.people.get(table.host_id)).name

    async def lobby(
        self, table: TableInfo, notification: Notification, person_id: int
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page about a table that has not started: it is full, it expires, it is closed."""
        async with self._store.read() as unit:
            token = await reply_token_for(unit, person_id, table, None, None)
        if token is None or (table.status != "lobby" and notification.kind != "closed"):
            return None
        sentence = " ".join(notification.sentences)
        match notification.kind:
            case "full":
                page = table_pages.lobby_question("Everybody is there.", sentence, "To start the game")
                return page, replace(token, purpose="start")
            case "expiring":
                page = table_pages.lobby_question("This table expires.", sentence, "To keep it open")
                return page, replace(token, purpose="keep")
            case "robot":
                if not any(not robot.joined for robot in robots_of(table)):
                    return None
                page = table_pages.lobby_question("May a robot play?", sentence, "To agree", "To decline")
                return page, replace(token, purpose="agree")
            case "no robot":
                return pages.announcement("No robot plays.", notification.sentences), token
        return pages.announcement("The table is closed.", notification.sentences), token

    async def seat_request(
        self, table: TableInfo, notification: Notification, person_id: int
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that says who asks for a seat, or what the answer was."""
        async with self._store.read() as unit:
            token = await reply_token_for(unit, person_id, table, None, None)
            request = await open_request(unit, table.id, notification.decision_id)
        if token is None or (request is None and notification.kind == "seat_request"):
            return None
        if request is None:
            return pages.announcement("Your seat.", notification.sentences), token
        lines = [f"admit {request.name}", f"refuse {request.name}"]
        return table_pages.seat_request(" ".join(notification.sentences), lines), token
