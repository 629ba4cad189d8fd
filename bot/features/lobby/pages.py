"""The pages about seats: a table that has not started, invitations, offers, and requests for seats."""

from __future__ import annotations

from collections.abc import Mapping

import engine
from bot.features.lobby.requests import open_request
from bot.hub.feature import Answer, EndingPart, MakePage, Page
from bot.hub.info import TableInfo, open_seats
from bot.hub.loading import load_recipient
from bot.hub.notifications.messages import Notification
from bot.hub.pace import pace_text
from bot.hub.seating import robots_of
from bot.hub.table import LiveTable
from bot.position.controls import Say
from engine.core.words import join_words
from storage import Store

REMATCH = Say("Rematch", "rematch", purpose="To open a table with the same people")
"""After a game."""


def lobby_page(table: TableInfo) -> Page:
    """A table before its game starts, or an imported one that waits for its players, for everybody."""
    limits = engine.title_of(table.title, table.options).components.players
    seats = [
        f"{number}. {player.name}" + ("" if player.joined else " (invited)")
        for number, player in enumerate(table.seated_players, 1)
    ]
    options = f", {', '.join(table.options)}" if table.options else ""
    lines = [
        f"For {limits['min']} to {limits['max']} players{options}.",
        pace_text(table.pace),
        *(seats or ["Nobody is seated yet."]),
    ]
    controls: list[Say] = []
    if table.status == "lobby":
        controls = [
            Say("Join", "join", "good"),
            Say("Leave", "leave"),
            Say("Start", "start shuffled", "first"),
        ]
    elif table.status == "paused" and (empty := open_seats(table)):
        lines.append("The game goes on once each seat has its player. Whose seat is yours?")
        names = [table.names[seat] for seat in empty]
        controls = [Say(f"The seat of {name}", f"ask {name}", "good") for name in names]
    else:
        lines.append("The table was closed." if table.status == "ended" else "The game has begun.")
    return Page(f"Table {table.code} · {table.title_and_name}", lines, controls=controls)


async def add_to_ending(table: LiveTable) -> EndingPart:
    """The same people once more, where any are left."""
    return EndingPart(controls=[REMATCH] if table.stored_info.seated_players else [])


async def _for_everybody(table: TableInfo, notification: Notification) -> Page:
    return lobby_page(table)


LOBBY_PAGES = {
    "full": Page(
        "Everybody is there.", controls=[Say("Start", "start shuffled", "first")],
        yes=Answer("To start the game", "start"),
    ),
    "expiring": Page(
        "This table expires.", controls=[Say("Keep it open", "keep", "first")],
        yes=Answer("To keep it open", "keep"),
    ),
    "closed": Page("The table is closed."),
    "host": Page("You are the host."),
    "no robot": Page("No robot plays."),
    "robot": Page(
        "May a robot play?", controls=[Say("Agree", "agree", "first"), Say("Decline", "decline")],
        yes=Answer("To agree", "agree"), no=Answer("To decline", "decline"),
    ),
}  # fmt: skip
"""What is told of a table that has not started, by the kind of the notification."""


class LobbyPages:
    """Makes the page of each notification about seats."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pages(self) -> Mapping[str, MakePage]:
        """By the kind of the notification."""
        return {
            **dict.fromkeys(LOBBY_PAGES, self._lobby), "lobby": _for_everybody, "invited": self._invitation,
            "seat": self._offer, "answered": self._answered,
            **dict.fromkeys(("seat_request", "seat_answer"), self._request),
        }  # fmt: skip

    async def _lobby(self, table: TableInfo, notification: Notification) -> Page | None:
        """A table that has not started: it is full, it expires, it is closed, a robot may play or not, it has
        another host."""
        if table.status != "lobby" and notification.kind != "closed":
            return None
        if notification.kind == "robot" and all(robot.joined for robot in robots_of(table)):
            return None
        return LOBBY_PAGES[notification.kind]._replace(sentences=notification.sentences)

    async def _invitation(self, table: TableInfo, notification: Notification) -> Page | None:
        """A seat that is kept for somebody. Those who are invited at once may have no seat yet."""
        player = table.player_of(notification.person_id)
        if table.status != "lobby" or player is None or player.joined:
            return None
        host = await self._host_name(table)
        options = f" with {join_words(table.options)}" if table.options else ""
        agreed = [f"{table.title}{options}.", pace_text(table.pace)]
        return Page(
            f"{host} invites you to a game of {table.title}.",
            [f"{host} keeps a seat for you at table {table.name} {table.code}."],
            [("Players", await self._players(table, notification)), ("What is agreed", agreed)],
            [Say("Join", "join", "good"), Say("Leave", "leave")],
            Answer("To take your seat", "join"),
            Answer("To decline", "leave"),
            invites=True,
        )

    async def _players(self, table: TableInfo, notification: Notification) -> list[str]:
        """The players of a table, each with their time zone."""
        players = []
        async with self._store.read() as unit:
            for player in table.seated_players:
                zone = (await load_recipient(unit, player.person_id, None)).settings.zone
                notes = [*([zone] if zone else []), *([] if player.joined else ["invited"])]
                players.append(player.name + (f" ({', '.join(notes)})" if notes else ""))
        seated = {player.name for player in table.seated_players}
        return [*players, *(f"{name} (invited)" for name in notification.sentences if name not in seated)]

    async def _offer(self, table: TableInfo, notification: Notification) -> Page | None:
        """A seat of a game in play, offered to somebody."""
        seat = notification.seat
        is_seated = table.player_of(notification.person_id) is not None
        if seat is None or is_seated or table.status not in ("running", "paused"):
            return None
        inviter, *_ = notification.sentences or (await self._host_name(table),)
        name = table.names[seat]
        offer = f"{inviter} invites you to play on as {name}"
        also = "" if table.player_at(seat) is None else f" {name} is asked too, once you agree."
        return Page(
            f"{offer}.",
            [f"{offer} at table {table.name} {table.code}, a game of {table.title}.{also}"],
            [("Players", table.names)],
            [Say("Play on", f"ask {name}", "good")],
            Answer("To take your seat", f"ask {name}"),
            Answer("To decline", ""),
            invites=True,
        )

    async def _host_name(self, table: TableInfo) -> str:
        if table.host_id is None:
            return "Somebody"
        if player := table.player_of(table.host_id):
            return player.name
        async with self._store.read() as unit:
            return (await unit.people.get(table.host_id)).name

    async def _answered(self, table: TableInfo, notification: Notification) -> Page | None:
        """How somebody has answered an invitation, for the host; which pace there is, for those who have
        joined."""
        headline = f"{notification.sentences[0].partition('. ')[0].rstrip('.')}."
        return None if table.is_over else Page(headline, notification.sentences)

    async def _request(self, table: TableInfo, notification: Notification) -> Page | None:
        """Somebody asks for a seat, or the answer to that."""
        if notification.kind == "seat_answer":
            return Page("Your seat.", notification.sentences)
        async with self._store.read() as unit:
            request = await open_request(unit, table.id, notification.decision_id)
        if request is None:
            return None
        admit, refuse = (
            Say("Admit", f"admit {request.name}", "good"),
            Say("Refuse", f"refuse {request.name}", "danger"),
        )
        return Page("A seat is asked for.", notification.sentences, controls=[admit, refuse])
