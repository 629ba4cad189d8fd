"""Tables by email: a host opens, fills and starts one, and everybody sees who plays, without anything
but mail.

The commands stand in the first lines of an email to the service's address, or of a reply to an email
about a table:

    new TITLE Bob <bob@example.org>, Cid <cid@example.org> option optional_6_train
    invite Dora <dora@example.org>, uninvite Dora, invite robot, agree, decline
    start, start shuffled, who, list, options TITLE, resign, help
    import Friday                    with a game attached, see `seat_commands`
    snapshot                         with a game attached: what it looks like, without a table
    seat Ann

The operator sets who may host (`RAILPOST_MAIL_HOSTS`); an unverified address has to confirm first. An
address that belongs to nobody yet gets few invitations in all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import engine
from bot.email.pages.pictures import inline_images
from bot.email.reachability import fault_of, load_standing
from bot.email.replies.seat_commands import NO_FILE, import_game, open_seat_named
from bot.email.tokens import table_label
from bot.features.game_files.export import export_prospect
from bot.features.lobby.robot_answers import answer_about_robots, invited_robot_sentence
from bot.hub import people
from bot.hub.changes import check_allowed
from bot.hub.info import SeatedPlayer, TableInfo, status_text
from bot.hub.seating import ROBOT_WORD
from bot.pictures.views import NamedPicture
from bot.pictures.workers import WATCHED, PictureWorkers
from bot.position import text_views
from bot.service import Service
from mail import InlineImage, normalize_address
from mail.reading.line_text import first_word
from mail.reading.parts import MailFile
from storage import NotFound

ROBOT_ANSWERS = ("agree", "decline")
_WORDS = "import snapshot seat new invite uninvite start who list options help resign leave ask admit refuse"
WORDS = frozenset([*_WORDS.split(), *ROBOT_ANSWERS])
INVITATIONS_TO_STRANGER = 3  # that an unverified address gets in `STRANGER_WINDOW`, from all hosts together
STRANGER_WINDOW = timedelta(days=7)

HELP = (
    "new TITLE Bob <bob@example.org>, Cid <cid@example.org>: open a table and invite them; add `option NAME`",
    "invite Dora <dora@example.org>: invite one more player, or Dora again; uninvite Dora: take it back",
    "invite robot: ask the others whether a computer player may play; `agree` or `decline` answers",
    "import NAME, with a game of 18xx.games or a game text attached: play it on here; seat NAME: take a seat",
    "snapshot, with such a game attached: its map, market and sheet, and what is new since the last time",
    "start: start the game; `start shuffled` shuffles the seats",
    "who: the players of the table; list: your tables",
    "options TITLE: what can be agreed for a title",
    "pause, resume: in a reply to a table's email, the game waits or goes on; resign: give up your seat",
    "ask CODE: ask for an open seat at a table; `admit NAME` and `refuse NAME` answer the person",
    "settings, away until DATE, back: how and when you are told; turns: the tables that wait for you",
    "addresses: where your emails go; `link ann@example.org` adds an address, `unlink` gives one up",
    "stop: no more emails; `start` in a reply starts them again",
)

_AUTOLINK = re.compile(r"<mailto:[^<>\s]{1,100}>", re.IGNORECASE)
_PLAYER = re.compile(r"([^<>,;@\n]{0,60}?)\s*<\s*([^<>\s]{3,254}@[^<>\s]{1,254})\s*>|([^<>,;\s]+@[^<>,;\s]+)")
_OPTION = re.compile(r"\boption\s+([\w -]{1,60}?)(?=,|;|\boption\b|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The answer to a command: sentences, the table that it is about, and pictures."""

    sentences: tuple[str, ...]
    table_id: int | None = None
    is_done: bool = True
    images: tuple[InlineImage, ...] = ()


class TableRequest(NamedTuple):
    """The id of a request, and whether it was begun before: then a crash has ended it at any point, and what
    is missing is done now."""

    id: str
    is_repeated: bool = False


def is_table_command(lines: Sequence[str]) -> bool:
    """Whether the first line of an email is a command about tables."""
    return bool(lines) and first_word(lines[0]) in WORDS


def parse_players(text: str) -> list[tuple[str, str]]:
    """The names and addresses in `Bob <bob@example.org>, cid@example.org`. Raises ValueError for a bad
    address.
    """
    found = []
    for name, address, bare in _PLAYER.findall(_AUTOLINK.sub("", text)):
        plain = normalize_address(address or bare)
        found.append((people.player_name(name.strip()) if name.strip() else people.player_name(plain), plain))
    return found


def admits_host(hosts: str, address: str) -> bool:
    """Whether an address that is not verified may host, by the setting: `verified`, `anyone`, or a list of
    addresses and domains.
    """
    allowed = hosts.casefold().replace(",", " ").split()
    domain = address.casefold().rpartition("@")[2]
    return allowed == ["anyone"] or address.casefold() in allowed or domain in allowed


class TableCommands:
    """Carries out commands about tables for a person with a verified address."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._pictures = service, pictures
        self._store = service.store

    async def run(
        self,
        person_id: int,
        lines: Sequence[str],
        table_id: int | None,
        name: str,
        request: TableRequest,
        files: Sequence[MailFile] = (),
    ) -> CommandAnswer:
        """Carry out the command in the first lines. name: of the person, from their email. files: attached.

        Raises ValueError with a sentence.
        """
        word = first_word(lines[0])
        rest = lines[0][len(word) :].strip()
        match word:
            case "new":
                return await self._new(person_id, " ".join([rest, *lines[1:20]]), name, request)
            case "import":
                return CommandAnswer(*await import_game(self._service, person_id, rest, files))
            case "snapshot":
                return await self._snapshot(person_id, files)
            case "options":
                return CommandAnswer(_title_options(rest))
            case "list":
                return CommandAnswer(await self._list(person_id))
            case "help":
                return CommandAnswer(HELP, table_id)
            case "invite":
                return await self._invite(
                    person_id, " ".join([rest, *lines[1:20]]), table_id, request.is_repeated
                )
            case "ask":
                return await self._ask(person_id, rest, name)
        table = await self._table_of(person_id, table_id, rest)
        if request.is_repeated and (answer := _done_before(word, person_id, table)):
            return answer
        match word:
            case "seat":
                words = [word for word in rest.split() if word.casefold() != table.code.casefold()]
                own = people.player_name(name) if name else await self._name(person_id)
                wanted = open_seat_named(table, " ".join(words))
                told = await self._service.seats.ask(table.id, person_id, own, seat_name=wanted)
                return CommandAnswer((told,), table.id)
            case "start":
                return await self.start(person_id, table, shuffled="shuffled" in rest.casefold())
            case "uninvite":
                return await self._uninvite(person_id, table, rest, request.is_repeated)
            case "who":
                return CommandAnswer(await self._who(table), table.id)
            case "agree" | "decline":
                return CommandAnswer((await self.about_robots(person_id, table, word),), table.id)
            case "admit" | "refuse":
                told = await self._answer_request(person_id, table, word, rest, request.is_repeated)
                return CommandAnswer((told,), table.id)
            case _:
                return await self._leave(person_id, table)

    async def _snapshot(self, person_id: int, files: Sequence[MailFile]) -> CommandAnswer:
        """Show the attached game, and what has changed since the same person sent it last."""
        if not files:
            raise ValueError(NO_FILE)
        place = f"mail:{person_id}"
        game = await self._service.watcher.look(files[0].content, place, person_id)
        drawn = await self._service.watcher.draw(
            game, self._pictures.for_table(WATCHED, "light", post="answer")
        )
        await self._service.watcher.keep(game, place, "")
        images = inline_images(NamedPicture(kind, picture) for kind, picture in drawn)
        return CommandAnswer(tuple(game.text.splitlines()), images=images)

    # -- opening a table ---------------------------------------------------------------------

    async def _new(self, person_id: int, text: str, name: str, request: TableRequest) -> CommandAnswer:
        options = [option.strip() for option in _OPTION.findall(text)]
        text = _OPTION.sub("", text)
        title, _, rest = text.strip().partition(" ")
        if title not in engine.title_names():
            known = text_views.join_words(list(engine.title_names()), "or")
            raise ValueError(f"Name a title first: {known}. For example: `new TITLE Bob <bob@example.org>`.")
        players = parse_players(rest)
        most = engine.title_of(title, tuple(options)).components.players["max"]
        if len(players) + 1 > most:
            raise ValueError(f"{title} has at most {most} seats; you have named {len(players)} and yourself.")
        info = await self._service.lobby.create(
            title, person_id, options=options or None, request_id=request.id
        )
        seat_name = people.player_name(name) if name else await self._name(person_id)
        try:
            if info.player_of(person_id) is None:
                await self._service.lobby.join(info.id, person_id, seat_name)
            names = [seat_name, *(name for name, _ in players)]
            for each in players:
                await self._invite_one(info.id, person_id, *each, names, request.is_repeated)
        except ValueError:
            await self._service.running.end_now(info.id, by=person_id)
            raise
        info = await self._service.queries.table_info(info.id)
        sentences = (
            f"Table {info.code} of {title} is open, and you sit there as {seat_name}.",
            *_invited(players),
            export_prospect(info.title, info.options),
            "You get an email when they have answered. Reply with `start` to start the game.",
        )
        return CommandAnswer(sentences, info.id)

    async def _ask(self, person_id: int, rest: str, name: str) -> CommandAnswer:
        code, _, seat_name = rest.partition(" ")
        try:
            table = await self._service.queries.find_table(code)
        except NotFound:
            raise ValueError("Name the table by its code: `ask A7K`.") from None
        return CommandAnswer(
            (await self._service.seats.ask(table.id, person_id, name, seat_name=seat_name.strip()),)
        )

    async def _answer_request(
        self, person_id: int, table: TableInfo, word: str, name: str, is_repeated: bool
    ) -> str:
        """Admit or refuse who asks for a seat; a crash may have ended this when they had it."""
        try:
            return await self._service.seats.answer(table.id, name, admitted=word == "admit", by=person_id)
        except ValueError:
            seated = next((p for p in table.seated_players if p.name.casefold() == name.casefold()), None)
            if not is_repeated or word != "admit" or seated is None:
                raise
            return f"{seated.name} has a seat at table {table.code}."

    async def _name(self, person_id: int) -> str:
        async with self._store.read() as unit:
            return people.player_name((await unit.people.get(person_id)).name)

    async def _invite(
        self, person_id: int, text: str, table_id: int | None, is_repeated: bool
    ) -> CommandAnswer:
        players = parse_players(text)
        if not players and text.split()[:1] == [ROBOT_WORD]:
            return await self._invite_robot(person_id, await self._table_of(person_id, table_id, text))
        if not players:
            raise ValueError("Name the player and the address: `invite Dora <dora@example.org>`.")
        table = await self._table_of(person_id, table_id, "")
        for number, each in enumerate(players):
            try:
                await self._invite_to(table, person_id, *each, is_repeated=is_repeated)
            except ValueError as error:
                if not number:
                    raise
                return CommandAnswer((*_invited(players[:number]), str(error)), table.id, is_done=False)
        return CommandAnswer(_invited(players), table.id)

    async def _invite_to(
        self, table: TableInfo, host_id: int, name: str, address: str, *, is_repeated: bool
    ) -> None:
        if table.status != "paused":
            await self._invite_one(table.id, host_id, name, address, is_repeated=is_repeated)
            return
        check_allowed(table, host_id, seated_players=table.host_id is None)
        invited = await self._invitable_person(name, address)
        await self._service.seats.offer(table.id, open_seat_named(table, name), invited, by=host_id)

    async def _invite_robot(self, person_id: int, table: TableInfo) -> CommandAnswer:
        info = await self._service.lobby.invite_robot(table.id, by=person_id)
        return CommandAnswer((invited_robot_sentence(info),), info.id)

    async def about_robots(self, person_id: int, table: TableInfo, word: str) -> str:
        """A person agrees to the robots that wait in a lobby, or declines; what follows, in a sentence."""
        return await answer_about_robots(self._service.lobby, table, person_id, agrees=word == "agree")

    async def _invite_one(
        self,
        table_id: int,
        host_id: int,
        name: str,
        address: str,
        players: Sequence[str] = (),
        is_repeated: bool = False,
    ) -> None:
        table = await self._service.queries.table_info(table_id)
        invited = await self._invitable_person(name, address, table if is_repeated else None)
        if is_repeated and table.player_of(invited):
            return  # invited before the crash
        await self._service.lobby.invite(table_id, invited, name, by=host_id, players=players)

    async def _uninvite(
        self, person_id: int, table: TableInfo, rest: str, is_repeated: bool
    ) -> CommandAnswer:
        words = [word for word in rest.split() if word.casefold() != table.code.casefold()]
        name = " ".join(words)
        try:
            table = await self._service.lobby.uninvite(table.id, name, by=person_id)
        except ValueError:
            if not is_repeated or any(p.name.casefold() == name.casefold() for p in table.seated_players):
                raise
        return CommandAnswer((uninvited_sentence(table, name), *(await self._who(table))), table.id)

    async def _invitable_person(self, name: str, address: str, invited_to: TableInfo | None = None) -> int:
        """The person of an address that may be invited, or was to this table. Raises ValueError."""
        async with self._store.begin() as unit:
            person = await people.person_by_address(unit, address, name)
            is_stranger = address not in await unit.people.verified_addresses(person.id)
            asked = await unit.outbox.count("mail", unit.now - STRANGER_WINDOW, email=address)
            if person.preferences.get("mail") is False:
                raise ValueError(f"{address} wants no emails, so {name} cannot be invited by email.")
            if fault := await fault_of(unit, address):
                if not is_stranger:
                    raise ValueError(f"Emails to {address} do not arrive: {fault}.")
                await unit.people.record_bounces(person.id, address, {}, "")  # tried once more
        if invited_to and invited_to.player_of(person.id):
            return person.id
        if is_stranger and asked >= INVITATIONS_TO_STRANGER:
            raise ValueError(f"{address} has had enough invitations this week, and has not answered.")
        return person.id

    # -- at a table --------------------------------------------------------------------------

    async def _table_of(self, person_id: int, table_id: int | None, rest: str) -> TableInfo:
        """The table that a command is about: the one of the email, the one it names, or the only one."""
        queries = self._service.queries
        if table_id is not None:
            return await queries.table_info(table_id)
        own = await queries.list_tables(person_id=person_id, statuses=("lobby", "running", "paused"))
        named = [table for table in own if table.code.casefold() in rest.casefold().split()]
        in_lobby = [table for table in own if table.status == "lobby"]
        for candidates in (named, in_lobby, own):
            if len(candidates) == 1:
                return candidates[0]
        if not own:
            raise ValueError("You have no table. `new TITLE Bob <bob@example.org>` opens one.")
        codes = text_views.join_words([table_label(table) for table in own], "or")
        raise ValueError(f"Say which table, such as `start {own[0].code}`: {codes}.")

    async def start(self, person_id: int, table: TableInfo, *, shuffled: bool = False) -> CommandAnswer:
        """Start a game, seated in the order of joining. Raises ValueError with a sentence for the host."""
        seated = sorted(table.seated_players, key=lambda player: player.seat_id)
        order = None if shuffled else [player.name for player in seated]
        info = await self._service.lobby.start(table.id, by=person_id, order=order)
        return _begun(info)

    async def _leave(self, person_id: int, table: TableInfo) -> CommandAnswer:
        if table.status == "running":
            raise ValueError(
                f"Table {table.code} has started: reply `resign` to one of its emails to give up your seat."
            )
        if table.host_id == person_id and table.status == "lobby":
            await self._service.running.end_now(table.id, by=person_id)
            return CommandAnswer((f"Table {table.code} is closed.",), table.id)
        await self._service.lobby.leave(table.id, person_id, by=person_id)
        return CommandAnswer((f"You have left table {table.code}.",), table.id)

    async def _who(self, table: TableInfo) -> tuple[str, ...]:
        rows = [await self._player_row(table, player) for player in table.seated_players]
        return (f"Table {table.code} of {table.title} is {status_text(table.status)}.", *rows)

    async def _player_row(self, table: TableInfo, player: SeatedPlayer) -> str:
        async with self._store.read() as unit:
            standing = await load_standing(unit, player.person_id)
        notes = ["host"] if player.person_id == table.host_id else []
        if not player.joined:
            notes.append("has not answered yet")
        elif standing.fault:
            notes.append("emails do not arrive")
        elif standing.address and not standing.wants_mail:
            notes.append("gets no emails")
        return f"{player.name}{f' ({text_views.join_words(notes)})' if notes else ''}"

    async def _list(self, person_id: int) -> tuple[str, ...]:
        tables = await self._service.queries.list_tables(
            person_id=person_id, statuses=("lobby", "running", "paused")
        )
        return tuple([await self._list_row(table) for table in tables]) or ("You have no table.",)

    async def _list_row(self, table: TableInfo) -> str:
        names = text_views.join_words([player.name for player in table.seated_players])
        text = f"{table_label(table)}, {table.title}, {status_text(table.status)}: {names}."
        view = await self._service.queries.view(table.id)
        if view.state is not None and view.pending:
            text += f" {text_views.waiting_sentence(view.state, view.pending)}"
        return text


def _begun(table: TableInfo) -> CommandAnswer:
    names = text_views.join_words(table.names)
    return CommandAnswer((f"The game at {table_label(table)} begins. Seating: {names}.",), table.id)


def _done_before(word: str, person_id: int, table: TableInfo) -> CommandAnswer | None:
    """The answer to a request that a crash has ended after it had its effect; None if it had none."""
    if word == "start" and table.status == "running" and table.host_id == person_id:
        return _begun(table)
    if word in ("leave", "resign") and table.status == "ended" and table.host_id == person_id:
        return CommandAnswer((f"Table {table.code} is closed.",), table.id)
    if word in ("leave", "resign") and table.status == "lobby" and table.player_of(person_id) is None:
        return CommandAnswer((f"You have left table {table.code}.",), table.id)
    return None


def _invited(players: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    if not players:
        return ()
    return (
        f"Invitations go to {text_views.join_words([f'{name} ({address})' for name, address in players])}.",
    )


def uninvited_sentence(table: TableInfo, name: str) -> str:
    """An invitation was taken back."""
    return f"{name} is no longer invited to table {table.code}."


def joined_sentence(table: TableInfo, name: str) -> str | None:
    """To the host: somebody has joined, and who is missing; None when all have, since that is asked apart."""
    missing = [player.name for player in table.seated_players if not player.joined]
    if not missing:
        return None
    return f"{name} has joined table {table.code}. No answer yet from {text_views.join_words(missing)}."


def _title_options(rest: str) -> tuple[str, ...]:
    """What can be agreed for a title, or for every title."""
    wanted = [title for title in engine.title_names() if title in rest.split()] or engine.title_names()
    rows = []
    for title in wanted:
        names = engine.optional_rules(title)
        rows.append(f"{title}: {', '.join(names) or 'no options'}.")
    return (*rows, "For example: `new TITLE Bob <bob@example.org> option NAME`.")
