"""The commands of the terminal that are no lines of a game: `table …`, by which the operator creates and
fills tables and acts for all players, and those that link, stop and start addresses of players.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from bot.email.reachability import Correspondents, waiting_sentence
from bot.email.replies.table_replies import answer_text
from bot.features.game_files.feature import export_prospect, read_game
from bot.hub import people
from bot.hub.info import TableInfo
from bot.hub.people import load_standing
from bot.hub.request import (
    UNKNOWN_SEAT,
    ConfirmationRequired,
    NotYourSeat,
    QueryAnswer,
    Request,
    first_word,
)
from bot.position import text_views
from bot.service import Service
from bot.terminal.replies import Reply, reply_for, table_summary, waiting_text


def named_file(name: str, line: str) -> Path:
    """The file that a line names, also in quotation marks. Raises ValueError."""
    name = name.strip().strip("\"'")
    if not name:
        raise ValueError(f"Name a file of 18xx.games or a game text: `{line} PATH`.")
    path = Path(name).expanduser()
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}. Name a file of 18xx.games or a game text: `{line} PATH`.")
    return path


class TableCommands:
    """Each method answers one command; it raises ValueError with a sentence where it is refused.

    table_id: the table that the terminal has open; None if there is none.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.table_id: int | None = None

    def required(self) -> int:
        """The open table. Raises ValueError if there is none."""
        if self.table_id is None:
            raise ValueError("No table is open: `table new TITLE Ann, Bob, Cid` creates one.")
        return self.table_id

    async def run(self, rest: str) -> Reply:
        """Carry out the rest of a line after `table`."""
        word, _, rest = rest.partition(" ")
        registry = self.service.commands
        lines = [
            *(each.name for each in registry.at_any_table),
            *(form.text.split()[0] for form in registry.forms_at("lobby")),
        ]
        commands: dict[str, Callable[[str], Awaitable[Reply]]] = {
            "": self._table_summary,
            "import": self._import,
            "new": self._new,
            "list": self._list,
            "use": self._use,
            **{each: partial(self._say, each) for each in lines},
            "start": self._start,
        }
        if (command := commands.get(word.casefold())) is None:
            known = ", ".join(sorted(filter(None, commands)))
            raise ValueError(f"`table {word}` is not a command; there is table {known}.")
        return await command(rest.strip())

    async def _table_summary(self, _: str) -> Reply:
        return Reply(table_summary(await self.service.queries.table_info(self.required())))

    async def new_table(self, text: str) -> TableInfo:
        """Create a table, `TITLE Ann, Bob, robot option hints`, and open it. Raises ValueError."""
        opening = Request(UNKNOWN_SEAT, (), (), None, None, None, "terminal")
        info, _ = await self.service.lobby_lines.open_table(text, opening)
        self.table_id = info.id
        return info

    async def _new(self, rest: str) -> Reply:
        info = await self.new_table(rest)
        prospect = export_prospect(info.title, info.options)
        return Reply(
            f"{table_summary(info, 'created')}\n{prospect}\n`table start` starts it.",
            "good",
        )

    async def _import(self, rest: str) -> Reply:
        """Go on with a game from a file; all players play from this terminal, as in `table new`."""
        path = named_file(rest, "table import")
        history, warnings = await asyncio.to_thread(read_game, path.read_bytes())
        info = await self.service.lobby.import_game(history, name=path.stem)
        self.table_id = info.id
        return Reply("\n".join([f"Table {info.code} has the game. {table_summary(info)}", *warnings]), "good")

    async def _start(self, rest: str) -> Reply:
        with suppress(ValueError):
            known = await self.service.queries.find_table(rest)
            is_code = first_word(rest) == known.code.casefold()
            self.table_id, rest = known.id, rest.partition(" ")[2] if is_code else ""
        reply = await self._say("start", rest)
        view = await self.service.queries.view(self.required())
        return replace(reply, text="\n".join(filter(None, [reply.text, waiting_text(view)])))

    async def _list(self, _: str) -> Reply:
        tables = await self.service.queries.list_tables()
        rows = [
            (">" if t.id == self.table_id else "", t.code, t.title, t.status, t.round, _player_list(t))
            for t in tables
            if t.round or t.status != "ended"  # not one that was closed before its game began
        ]
        head = ("", "code", "title", "status", "round", "players")
        return Reply("\n".join(text_views.text_table(head, rows)) if rows else "There is no table yet.")

    async def _use(self, code_or_name: str) -> Reply:
        if not code_or_name:
            raise ValueError("Name the table by its code: `table use ABC`. `table list` lists them.")
        info = await self.service.queries.find_table(code_or_name)
        self.table_id = info.id
        return Reply(table_summary(info), "good")

    async def _say(self, word: str, rest: str) -> Reply:
        """A line about the table, as its players say it, by whoever is at the terminal: the operator."""
        table_id = self.required()
        line = f"{word} {rest}".strip()
        result = await self.service.submit(table_id, None, [line], None, None)
        view = await self.service.queries.view(table_id)
        if isinstance(result, NotYourSeat):
            registry = self.service.commands
            if view.table.is_over or (registry.depends_on_status(word) and registry.get(word) is None):
                raise ValueError(view.table.status_sentence)
            raise ValueError(f"Name the player: `{view.table.names[0]}: {line}`.")
        if isinstance(result, ConfirmationRequired):
            result = msgspec.structs.replace(result, line=f"table {result.line}")
        reply = reply_for(result, view)
        return replace(reply, tone="good") if isinstance(result, QueryAnswer) else reply


def _player_list(info: TableInfo) -> str:
    names = info.names or [s.name for s in info.seated_players]
    acting = info.acting_seats if info.status == "running" else ()
    return ", ".join(f"{name}{'*' if seat in acting else ''}" for seat, name in enumerate(names))


_PLAYER_MAIL = re.compile(r"(.{1,40}?) mail(?: (\S+(?: off)?))?", re.IGNORECASE)


def player_mail(rest: str) -> tuple[str, str] | None:
    """The name and the argument of `player NAME mail ADDRESS [off]|on|off`; None for another line."""
    match = _PLAYER_MAIL.fullmatch(rest.strip())
    return (match[1].strip(), match[2] or "") if match else None


async def set_mail(service: Service, table: TableInfo, name: str, argument: str) -> str:
    """Link an address of a player, or stop or start their emails. Raises ValueError with a sentence."""
    names = [each.casefold() for each in (name, f"player {name}")]
    player = next((p for each in names for p in table.seated_players if p.name.casefold() == each), None)
    if player is None:
        raise ValueError(f"There is no player {name} at table {table.code}.")
    async with service.store.read() as unit:
        has_address = bool(await unit.people.verified_addresses(player.person_id))
    match argument.casefold():
        case "on" | "off" if not has_address:
            return await _mail_text(service, player.person_id, player.name)
        case "":
            return await _mail_text(service, player.person_id, player.name)
        case "on":
            waiting = await Correspondents(service).restore(player.person_id)
            return f"Emails go to {player.name} again.{waiting_sentence(waiting, player.name)}"
        case "off":
            await Correspondents(service).stop(player.person_id)
            return f"{player.name} gets no more emails."
    if argument.casefold().endswith(" off"):
        line = f"unlink {argument[: -len(' off')]}"
        return answer_text(await service.submit_personal(player.person_id, [line]), line)
    async with service.store.begin() as unit:
        address = await people.claim_address(unit, player.person_id, argument)
    service.wake_subscribers()
    return f"An email goes to {address}. {player.name} confirms the address by replying `yes`."


async def _mail_text(service: Service, person_id: int, name: str) -> str:
    async with service.store.read() as unit:
        standing = await load_standing(unit, person_id)
        addresses = await unit.people.verified_addresses(person_id)
    if not addresses:
        return f"{name} has no email address. `player {name} mail ADDRESS` links one."
    if standing.fault:
        why = f"Emails to {name} ({standing.address}) do not arrive: {standing.fault}."
        return f"{why} `player {name} mail on` tries again."
    return f"{name}: {', '.join(addresses)}{'' if standing.wants_mail else ', emails are off'}."
