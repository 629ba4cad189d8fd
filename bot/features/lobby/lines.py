"""The lines of a table that has not started: who joins, leaves, is invited, and that the game begins.

`invite` also offers a seat of a game in play. The operator may do everything, and names the player for whom
they speak: `agree Ann`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import engine
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import HINTS, Lobby
from bot.hub.cache import TableCache
from bot.hub.changes import RunningTables, check_allowed
from bot.hub.command import Command, Form, OpenCommand
from bot.hub.info import SeatedPlayer, TableInfo, open_seat_named
from bot.hub.people import (
    check_invitable,
    new_person,
    person_by_address,
    person_by_discord,
    player_name,
)
from bot.hub.request import Request
from bot.hub.seating import ROBOT_WORD, check_new_names, people_of, robots_of, unanswered
from engine.core.words import join_words
from engine.game import GameTitle
from storage import Person, TableStatus, UnitOfWork

SHUFFLED = "shuffled"
_OPTION = re.compile(r"\boption\s+([\w .-]{1,60}?)\s*(?=,|;|\boption\b|$)", re.IGNORECASE)
_ROBOT = re.compile(rf"(?:^|,)\s*{ROBOT_WORD}\s*(?=,|$)", re.IGNORECASE)
_AUTOLINK = re.compile(r"<mailto:[^<>\s]{1,320}>", re.IGNORECASE)
_PACE = re.compile(
    r"[\s,;.]+pace\s+((?:\d|daily|none).*?)(?=$|[,;\s]+option\b|[,;]\s*robot\s*(?:[,;]|$)|[,;][^,;]*@)",
    re.IGNORECASE,
)
"""Up to what follows it: its own parts, `pace 24h, bank 72h`, have commas too."""
_PLAYER = re.compile(
    r"(?:\s*\band\s+)?([^<>,;@\n]{0,60}?)\s*(?:<\s*([^<>\s]{3,254})\s*>|([^<>,;\s]+@[^<>,;\s]+))"
)


class Invited(NamedTuple):
    """A player to invite. address: an email address, or `@` and the id of a Discord user; empty for a robot,
    and for a new person of the operator. is_named: whether somebody has chosen the name."""

    name: str
    address: str
    is_named: bool = True

    @property
    def label(self) -> str:
        """The name, and where an email goes."""
        return self.name if self.address.startswith("@") else f"{self.name} ({self.address})"


ROBOT = Invited(ROBOT_WORD, "")


def parse_players(text: str) -> list[Invited]:
    """The players in `Bob <bob@example.org>, cid@example.org, Dora <@123>`.

    Raises ValueError for what stands beside them and is none.
    """
    found, text = list[Invited](), _AUTOLINK.sub("", text)
    if unread := list(filter(None, (part.strip(" .") for part in re.split("[,;]", _PLAYER.sub(",", text))))):
        raise ValueError(f"`{unread[0]}` is no player with an address, as in `Bob <bob@example.org>`.")
    for name, marked, bare in _PLAYER.findall(text):
        address = (marked or bare).casefold()
        found.append(Invited(player_name(name.strip() or address), address, bool(name.strip())))
    return found


def invitations_sentence(players: list[Invited]) -> str:
    """Where the invitations to players go."""
    return f"Invitations go to {join_words([each.label for each in players])}."


def _command(
    statuses: tuple[TableStatus, ...], act: Callable[[TableInfo, Request], Awaitable[str]], *forms: Form
) -> OpenCommand:
    return OpenCommand(forms[0].text.split()[0], forms, act, needs_seat=False, statuses=statuses)


class LobbyLines:
    """Carries out the lines of tables that have not started. Every method raises ValueError."""

    def __init__(self, cache: TableCache, lobby: Lobby, seats: SeatRequests, running: RunningTables) -> None:
        self._cache, self._lobby, self._seats, self._running = cache, lobby, seats, running

    def commands(self) -> list[Command]:
        """`join`, `leave`, `invite`, `uninvite`, `agree`, `decline`, `start`, `keep`."""
        before: tuple[TableStatus, ...] = ("lobby",)
        until_it_goes_on: tuple[TableStatus, ...] = ("lobby", "paused")
        until_the_end: tuple[TableStatus, ...] = ("lobby", "paused", "running")
        start = Form("start [shuffled|NAMES]", "start the game, seated in this order")
        invite = Form("invite NAME <ADDRESS>", "keep a seat for a player, or for several, with commas")
        robot = Form("invite robot", "ask the others whether a computer player may play")
        decline = Form("decline", "no computer player shall play")
        return [
            _command(before, self._join, Form("join [NAME]", "take a seat")),
            _command(until_the_end, self._leave, Form("leave", "give up your seat")),
            _command(until_it_goes_on, self._invite, invite, robot),
            _command(before, self._uninvite, Form("uninvite NAME", "take an invitation back")),
            _command(before, self._agree, Form("agree", "a computer player may play")),
            _command(before, self._decline, decline),
            _command(before, self._start, start),
            _command(before, self._keep, Form("keep", "keep a table open that would be closed")),
        ]

    async def open_table(
        self, text: str, request: Request, options: Sequence[str] | None = None, **details: Any
    ) -> tuple[TableInfo, list[Invited]]:
        """Open a table: `TITLE Bob <bob@example.org>, robot option optional_6_train, pace 24h`; the table,
        and who is invited.

        Who opens it is its host, and sits there. The players of the operator are new persons, who sit in this
        order: a name does not say who somebody is, and those who link one address at two tables are one
        person. details: see `Lobby.create`. Raises ValueError; then there is no table.
        """
        if pace := _PACE.search(text):
            text, details = text[: pace.start()] + text[pace.end() :], {**details, "pace": pace[1]}
        options = [option.strip(" .") for option in _OPTION.findall(text)] or options
        title, _, rest = _OPTION.sub("", text).strip(" ,").partition(" ")
        if title not in engine.title_names():
            known = join_words(list(engine.title_names()), "or")
            unknown = f"There is no title {title}. " if title[:1].isdigit() else ""
            is_operator = request.person_id is None
            example = "table new TITLE Ann, Bob, Cid" if is_operator else "new TITLE Bob <bob@example.org>"
            raise ValueError(f"{unknown}Name a title first: {known}. For example: `{example}`.")
        rules = tuple(option for option in options or () if option != HINTS)
        by, game_title = request.person_id, engine.title_of(title, rules)
        players = _invited_by_host(rest) if by is not None else _named_by_operator(game_title, rest)
        most, yourself = game_title.components.players["max"], " and yourself" if by is not None else ""
        if len(players) + bool(yourself) > most:
            raise ValueError(f"{title} has at most {most} seats; you have named {len(players)}{yourself}.")
        info = await self._lobby.create(title, by, options=options, request_id=request.request_id, **details)
        try:
            await self._seat(info, request, players)
        except ValueError:
            await self._running.end_now(info.id, by=by)
            raise
        return await self._cache.info(info.id), [each for each in players if each.address]

    async def _seat(self, info: TableInfo, request: Request, players: Sequence[Invited]) -> None:
        """Seat who opens a table and whom they name; what was done before a crash is left."""
        if request.person_id is not None and info.player_of(request.person_id) is None:
            await self._join(info, request._replace(lines=("join",)))
        host = [p.name for p in (await self._cache.info(info.id)).seated_players][:1]
        names = [*host, *(each.name for each in players if each.address)]
        robots = iter(robots_of(info))
        for each in players:
            if each.address:
                await self.invite(info.id, each, request, names)
            elif each != ROBOT:
                await self._join_by_operator(info, each.name)
            elif next(robots, None) is None:
                await self._invite_robot(info, request)

    async def _join(self, info: TableInfo, request: Request) -> str:
        """A person takes a seat: under the name they give, that of the invitation, or their own."""
        if request.person_id is None:
            return await self._join_by_operator(info, request.rest)
        async with self._cache.store.read() as unit:
            person = await unit.people.get(request.person_id)
        name = request.rest or player_name(request.name or person.name)
        info = await self._lobby.join(info.id, person.id, name, is_chosen=bool(request.rest))
        joined = info.player_of(person.id)
        assert joined is not None
        return f"You have joined table {info.code} as {joined.name}."

    async def _join_by_operator(self, info: TableInfo, name: str) -> str:
        if not name:
            raise ValueError("Name who joins: `join Dora`.")
        async with new_person(self._cache.store, name) as person_id:
            await self._lobby.join(info.id, person_id, name)
        return f"{name} has joined table {info.code}."

    async def _leave(self, info: TableInfo, request: Request) -> str:
        before, by = info, request.person_id
        if not request.is_repeated or info.player_of(by) or (info.host_id == by and not info.is_over):
            info = await self._lobby.leave(info.id, _speaker(info, request), by=by)
        who = "You have" if by is not None else f"{_named(before, request).name} has"
        told = f"{who} left table {info.code}."
        if info.is_over:
            return f"{told} It is closed, because nobody is left there."
        host = info.player_of(info.host_id) if info.host_id != before.host_id else None
        return f"{told} {host.name} is the host now." if host else told

    async def _invite(self, info: TableInfo, request: Request) -> str:
        """Keep seats for players, or offer a seat of a game in play. The players before one who cannot be
        invited are."""
        if request.rest.casefold() == ROBOT_WORD:
            return await self._invite_robot(info, request)
        players = parse_players(request.rest)
        if not players:
            raise ValueError("Name the player and the address: `invite Dora <dora@example.org>`.")
        for number, each in enumerate(players):
            try:
                players[number] = await self.invite(info.id, each, request)
            except ValueError as error:
                done = [invitations_sentence(players[:number])] if number else []
                raise ValueError("\n".join([*done, str(error)])) from None
        return invitations_sentence(players)

    async def invite(
        self, table_id: int, player: Invited, request: Request, players: Sequence[str] = ()
    ) -> Invited:
        """Invite one player, and return them as they are called at the table. players: the names of all who
        are invited at once."""
        info, by = await self._cache.info(table_id), request.person_id
        check_allowed(info, by, seated_players=info.status == "lobby" or info.host_id is None)
        async with self._cache.store.begin() as unit:
            person = await self._person(unit, info, player, request)
        person_id = person.id
        if player.address.startswith("@") and not player.is_named:
            player = player._replace(name=player_name(person.name))
        if not request.is_repeated or info.player_of(person_id) is None:  # not invited before a crash
            if info.status == "paused":
                await self._seats.offer(info.id, open_seat_named(info, player.name), person_id, by=by)
            else:
                info = await self._lobby.invite(
                    info.id, person_id, player.name, by=by, players=players, is_chosen=player.is_named
                )
        seated = info.player_of(person_id)
        return player._replace(name=seated.name) if seated else player

    async def replace(self, info: TableInfo, seat: int, new: str, request: Request) -> str:
        """Ask a person, `Dora <dora@example.org>`, to play on in a seat of a game; who names themselves asks
        for it. The operator names a new person, who has the seat at once."""
        by, players = request.person_id, parse_players(new) if "@" in new else []
        if players:
            async with self._cache.store.begin() as unit:
                person_id = (await self._person(unit, info, players[0], request)).id
            if person_id == by:
                return await self._seats.ask(info.id, by, players[0].name, seat_name=info.names[seat])
            return await self._seats.offer(info.id, info.names[seat], person_id, by=by)
        if by is not None:
            raise ValueError(f"Name the address of {new} too: `replace Bob by Dora <dora@example.org>`.")
        async with new_person(self._cache.store, new) as person_id:
            await self._running.replace_player(info.id, seat, person_id, new, by=None)
        return f"{new} plays on for {info.names[seat]}."

    async def _person(self, unit: UnitOfWork, info: TableInfo, player: Invited, request: Request) -> Person:
        """The person who is invited, by the account or by an address to which an invitation may go."""
        if player.address.startswith("@"):
            return await person_by_discord(unit, int(player.address[1:]), player.name)
        person = await person_by_address(unit, player.address, player.name)
        if request.person_id is not None and not (request.is_repeated and info.player_of(person.id)):
            await check_invitable(unit, person, player.address, player.name)
        return person

    async def _invite_robot(self, info: TableInfo, request: Request) -> str:
        robot = robots_of(await self._lobby.invite_robot(info.id, by=request.person_id))[-1]
        if robot.joined:
            return f"{robot.name} takes a seat at table {info.code}. Who joins later agrees to it by joining."
        return f"{robot.name} joins table {info.code} once everybody there agrees; they are asked."

    async def _uninvite(self, info: TableInfo, request: Request) -> str:
        if not request.is_repeated or unanswered(info, request.rest):
            info = await self._lobby.uninvite(info.id, request.rest, by=request.person_id)
        names = join_words([player.name for player in info.seated_players]) or "nobody"
        return f"{request.rest} is no longer invited to table {info.code}. Players now: {names}."

    async def _agree(self, info: TableInfo, request: Request) -> str:
        info = await self._lobby.agree_to_robots(info.id, _speaker(info, request))
        agrees = "You agree." if request.person_id is not None else f"{_named(info, request).name} agrees."
        if any(not robot.joined for robot in robots_of(info)):
            return f"{agrees} Others have not answered yet."
        return f"{agrees} The robot takes its seat."

    async def _decline(self, info: TableInfo, request: Request) -> str:
        await self._lobby.refuse_robots(info.id, by=_speaker(info, request))
        return f"No robot plays at table {info.code}."

    async def _start(self, info: TableInfo, request: Request) -> str:
        """The order is that of joining, random, or that of the names."""
        if not (request.is_repeated and info.status == "running" and info.host_id == request.person_id):
            seated = sorted(info.seated_players, key=lambda player: player.seat_id)
            named = [name.strip() for name in request.rest.split(",") if name.strip()]
            order = None if request.rest.casefold() == SHUFFLED else named or [each.name for each in seated]
            info = await self._lobby.start(info.id, by=request.person_id, order=order)
        return f"The game at table {info.code} begins. Seating: {join_words(info.names)}."

    async def _keep(self, info: TableInfo, request: Request) -> str:
        await self._lobby.keep_open(info.id, by=request.person_id)
        return f"Table {info.code} stays open."


def _named_by_operator(title: GameTitle, text: str) -> list[Invited]:
    """The players and robots in `Ann, robot, Bob`: new persons, without addresses. Raises ValueError."""
    names = list(filter(None, (" ".join(part.split()) for part in text.split(","))))
    check_new_names(title, [name for name in names if name.casefold() != ROBOT_WORD])
    return [ROBOT if name.casefold() == ROBOT_WORD else Invited(name, "") for name in names]


def _invited_by_host(text: str) -> list[Invited]:
    """The players in a text, each once, and behind them its robots. Raises ValueError."""
    players = parse_players(_ROBOT.sub(",", text))
    addresses = [each.address for each in players]
    if twice := [each for each in addresses if addresses.count(each) > 1]:
        raise ValueError(f"{twice[0]} is named twice.")
    return players + [ROBOT] * len(_ROBOT.findall(text))


def _speaker(info: TableInfo, request: Request) -> int:
    """Who speaks; for the operator, the player whom they name. Raises ValueError."""
    return request.person_id if request.person_id is not None else _named(info, request).person_id


def _named(info: TableInfo, request: Request) -> SeatedPlayer:
    """The player whom the operator names. Raises ValueError."""
    player = next((p for p in people_of(info) if p.name.casefold() == request.rest.casefold()), None)
    if player is None:
        names = join_words([p.name for p in people_of(info)]) or "nobody yet"
        raise ValueError(f"Name who answers: `{request.word} NAME`. At table {info.code}: {names}.")
    return player
