"""Tables by email: a host opens, fills and starts one, and everybody sees who plays, without anything
but mail.

The commands stand in the first lines of an email to the service's address, or of a reply to an email
about a table:

    new TITLE Bob <bob@example.org>, Cid <cid@example.org> option optional_6_train
    options TITLE, help
    import Friday                    with a game attached: the table, whose seats are claimed by replies
    snapshot                         with a game attached: what it looks like, without a table
    seat Ann                         for `ask Ann`
    resign                           before the start, for `leave`

All others are commands of the registry (`Commands.from_outside`), such as `invite`, `start`, `who`. Lines
about oneself (`personal_commands`) are answered here too.

The operator sets who may host (`RAILPOST_MAIL_HOSTS`); an unverified address has to confirm first. An
address that belongs to nobody yet gets few invitations in all.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

import engine
from bot.email.pages.turn_pages import inline_images
from bot.email.replies.personal_commands import (
    carry_out_personal,
    is_personal_command,
    is_wish_about_data,
)
from bot.email.replies.results import TableAnswer
from bot.email.replies.seat_replies import game_verbs
from bot.email.stored_mail import HeldLineStore
from bot.email.tokens import table_label, table_token
from bot.features.game_files.feature import export_prospect, imported_sentences
from bot.features.lobby.lines import invitations_sentence
from bot.hub import people
from bot.hub.info import TableInfo, open_seat_named, status_text
from bot.hub.queries import NoSuchTable
from bot.hub.request import UNKNOWN_SEAT, QueryAnswer, Request
from bot.pictures.workers import WATCHED, PictureWorkers
from bot.service import Service
from engine.core.words import join_words
from mail import InlineImage, ReplyToken
from mail.reading.line_text import first_word
from mail.reading.parts import MailFile

log = logging.getLogger(__name__)

OWN_WORDS = ("new", "import", "snapshot", "seat", "options", "help", "resign")
HELP = (
    "new TITLE Bob <bob@example.org>, Cid <cid@example.org>: open a table and invite them; add `option NAME`",
    "import NAME, with a game of 18xx.games or a game text attached: play it on here; seat NAME: take a seat",
    "snapshot, with such a game attached: its map, market and sheet, and what is new since the last time",
    "options TITLE: what can be agreed for a title",
    "ask CODE: ask for an open seat at a table",
    "stop: no more emails; `start` in a reply starts them again",
)
NO_FILE = "Attach the game: the JSON file that 18xx.games exports, or a game text."
HOW_TO_SIT = (
    "Reply with `seat NAME` to play on in a seat, and with `invite Bob <bob@example.org>` to offer the seat "
    "of Bob to its player by email. The game goes on once every seat has its player."
)


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


def admits_host(hosts: str, address: str) -> bool:
    """Whether an address that is not verified may host, by the setting: `verified`, `anyone`, or a list of
    addresses and domains.
    """
    allowed = hosts.casefold().replace(",", " ").split()
    domain = address.casefold().rpartition("@")[2]
    return allowed == ["anyone"] or address.casefold() in allowed or domain in allowed


MAX_STRANGERS = 100  # of whom the operator reads until the next start
PROSE_TO_A_TABLE = ("options", "seat", "join", "leave", "agree")
"""Words with which players begin what they tell the table, in a reply for a seat of a game."""
UNSURE = ("start", "join", "keep", "agree", "decline")
"""Words that mean something else where no table waits for its start."""


def _is_about_oneself(service: Service, token: ReplyToken, lines: Sequence[str]) -> bool:
    """Whether the first line is a command about oneself that no game reads."""
    return bool(lines) and (
        is_wish_about_data(lines[0]) or (token.seat is None and is_personal_command(service, lines[0]))
    )


class TableReplies:
    """Commands by email of a person with a verified address, each carried out once."""

    def __init__(self, service: Service, pictures: PictureWorkers, held: HeldLineStore, hosts: str) -> None:
        """hosts: who may host besides verified addresses, see `admits_host`."""
        self._service, self._pictures = service, pictures
        self._store, self._held, self._hosts = service.store, held, hosts
        self._strangers = set[str]()

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        name: str,
        request_id: str,
        files: Sequence[MailFile] = (),
        *,
        is_reply: bool = True,
    ) -> TableAnswer | None:
        """Carry out a command about tables; None where it is none, or means something else here. is_reply:
        to an email of ours, whose reply address nobody else knows."""
        about_oneself = _is_about_oneself(self._service, token, lines)
        if not (about_oneself or await self._is_table_command(token, lines)):
            return None
        person_id, table_id = token.person_id, token.table_id
        async with self._store.read() as unit:
            known = await unit.move_log.request_result(f"table:{request_id}")
        images: tuple[InlineImage, ...] = ()
        if known is None:
            request = await self._begin_request(request_id)
            try:
                if about_oneself:
                    said = await carry_out_personal(self._service, person_id, lines[0], is_reply)
                    answer = CommandAnswer(said, table_id)
                else:
                    answer = await self._run(person_id, lines, table_id, name, request, files)
            except ValueError as error:
                answer = CommandAnswer(tuple(str(error).splitlines()), table_id, is_done=False)
            images = answer.images  # an answer that is sent again after a crash has its sentences
            async with self._store.begin() as unit:
                known = msgspec.json.encode((answer.sentences, answer.table_id, answer.is_done))
                await unit.move_log.save_request_result(f"table:{request_id}", known)
        sentences, about, is_done = msgspec.json.decode(known, type=tuple[tuple[str, ...], int | None, bool])
        about_token = await table_token(self._service, token, about)
        return TableAnswer(sentences, about_token, is_done, images=images)

    async def _begin_request(self, request_id: str) -> TableRequest:
        """Note that a request is begun, so that the next attempt after a crash knows."""
        async with self._store.begin() as unit:
            key = f"begun:{request_id}"
            is_repeated = await unit.move_log.request_result(key) is not None
            if not is_repeated:
                await unit.move_log.save_request_result(key, b"begun")
        return TableRequest(request_id, is_repeated)

    async def _is_table_command(self, token: ReplyToken, lines: Sequence[str]) -> bool:
        word, commands = first_word(lines[0]) if lines else "", self._service.commands
        if word not in OWN_WORDS and not commands.from_outside(word):
            return False
        if token.seat is not None and (word in PROSE_TO_A_TABLE or self._is_of_the_game(word)):
            return False
        text = " ".join(lines[0].split()[1:])
        may_be_prose = word in ("who", "help", "ask") and " " in text
        if may_be_prose and not await self._names_table(text, token.person_id):
            return False
        if word not in UNSURE:
            return True
        queries = self._service.queries
        if token.table_id is not None:
            return (await queries.table_info(token.table_id)).status == "lobby"
        return bool(await queries.list_tables(person_id=token.person_id, statuses=("lobby",)))

    async def _names_table(self, text: str, person_id: int) -> bool:
        """Whether a text is the name of a table, or begins with its code."""
        try:
            await self._service.queries.find_table(text, person_id=person_id, code_is_enough=True)
        except ValueError as error:
            return not isinstance(error, NoSuchTable)
        return True

    def _is_of_the_game(self, word: str) -> bool:
        """Whether a line that begins so is read with the lines of a game in play."""
        return self._service.commands.get(word) is not None or word in game_verbs()

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request_id: str
    ) -> TableAnswer | None:
        """Hold a command of an address that is not verified, if the operator admits it."""
        if not admits_host(self._hosts, address):
            self._warn_of_stranger(address)
            return None
        async with self._store.begin() as unit:
            person = await people.person_by_address(unit, address, people.player_name(name) if name else "")
        token = ReplyToken("host", address, frozenset({address}), person_id=person.id)
        code = await self._held.hold_lines(token, lines, request_id)
        sentence = "Somebody has asked for a table with this address."
        return TableAnswer((sentence,), token, offered_code=code)

    def _warn_of_stranger(self, address: str) -> None:
        if address not in self._strangers and len(self._strangers) < MAX_STRANGERS:
            self._strangers.add(address)
            log.warning(
                "for the operator: %s has asked for a table and got no answer, because the address is not "
                "verified; `railpost host add %s` lets its owner host",
                address,
                address,
            )

    async def confirm_host(self, token: ReplyToken) -> None:
        """The owner of the address has answered."""
        async with self._store.begin() as unit:
            await unit.people.add_identity(token.person_id, "email", token.address)

    # -- carried out ---------------------------------------------------------------------------

    async def _run(
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
                return await self._import(person_id, rest, files)
            case "snapshot":
                return await self._snapshot(person_id, files)
            case "options":
                return CommandAnswer(_title_options(rest))
            case "help":
                return CommandAnswer((*HELP, *self._registered()), table_id)
            case "ask":
                queries = self._service.queries
                table = await queries.find_table(rest, person_id=person_id, code_is_enough=True)
                rest = _without_table(rest, table)
            case _:
                table = await self._table_of(person_id, table_id, word, rest)
                rest = _without_table(rest, table)
        status = "lobby" if request.is_repeated else table.status
        if word == "seat":
            word, rest = "ask", open_seat_named(table, rest)
        elif word == "invite":
            rest = " ".join([rest, *lines[1:20]])
        elif word == "resign" and status == "lobby":
            word = "leave"
        if not self._service.commands.from_outside(word, status):
            where = f": say `{word}` in a reply to an email about your seat there" * (table_id is None)
            raise ValueError(f"Table {table.code} is {status_text(table.status)}{where}.")
        told = await said_at_table(
            self._service, person_id, table.id, f"{word} {rest}".strip(),
            name=name, is_repeated=request.is_repeated,
        )  # fmt: skip
        return CommandAnswer(
            tuple(told.splitlines()), None if word == "ask" and table_id is None else table.id
        )

    def _registered(self) -> list[str]:
        """The commands of the registry that may be said here, with what they do; those that begin with the
        code of a table are in `HELP`."""
        registry = self._service.commands
        open_forms = [form for each in registry.at_any_table if each.name != "ask" for form in each.forms]
        forms = [*registry.forms_at("lobby"), *open_forms, *registry.personal_forms]
        return [f"{form.help_text or form.text}: {form.meaning}" for form in forms if form.meaning]

    async def _snapshot(self, person_id: int, files: Sequence[MailFile]) -> CommandAnswer:
        """Show the attached game, and what has changed since the same person sent it last."""
        if not files:
            raise ValueError(NO_FILE)
        pictures = self._pictures.for_table(WATCHED, "light", post="answer")
        text, drawn = await self._service.watcher.show(
            files[0].content, f"mail:{person_id}", person_id, pictures
        )
        return CommandAnswer(tuple(text.splitlines()), images=inline_images(drawn))

    # -- opening a table ---------------------------------------------------------------------

    async def _new(self, person_id: int, text: str, name: str, request: TableRequest) -> CommandAnswer:
        opening = Request(
            UNKNOWN_SEAT, (), (), None, request.id, person_id, "mail",
            name=name, is_repeated=request.is_repeated,
        )  # fmt: skip
        info, invited = await self._service.lobby_lines.open_table(text, opening)
        own = info.player_of(person_id)
        assert own is not None
        sentences = (
            f"Table {info.code} of {info.title} is open, and you sit there as {own.name}.",
            *([invitations_sentence(invited)] if invited else []),
            export_prospect(info.title, info.options),
            "You get an email when they have answered. Reply with `start` to start the game.",
        )
        return CommandAnswer(sentences, info.id)

    async def _import(self, person_id: int, name: str, files: Sequence[MailFile]) -> CommandAnswer:
        """A table for the game in the first file."""
        if not files:
            raise ValueError(NO_FILE)
        imports = self._service.imports
        table, warnings = await imports.open_table(files[0].content, by=person_id, name=name[:60])
        return CommandAnswer(tuple(imported_sentences(table, warnings, HOW_TO_SIT)), table.id)

    # -- at a table --------------------------------------------------------------------------

    async def _table_of(self, person_id: int, table_id: int | None, word: str, rest: str) -> TableInfo:
        """The table that a command is about: the one of the email, the one it names, or the only one."""
        queries = self._service.queries
        if table_id is not None:
            return await queries.table_info(table_id)
        own = await queries.list_tables(person_id=person_id, statuses=("lobby", "running", "paused"))
        named = [table for table in own if _without_table(rest, table) != " ".join(rest.split())]
        in_lobby = [table for table in own if table.status == "lobby"]
        for candidates in (named, in_lobby, own):
            if len(candidates) == 1:
                return candidates[0]
        if not own:
            raise ValueError("You have no table. `new TITLE Bob <bob@example.org>` opens one.")
        codes = join_words([table_label(table) for table in own], "or")
        example = " ".join(filter(None, [word, rest, own[0].code]))
        raise ValueError(f"Say which table, such as `{example}`: {codes}.")


async def said_at_table(
    service: Service, person_id: int, table_id: int, line: str, *, name: str = "", is_repeated: bool = False
) -> str:
    """Say a line at a table; the answer. name: of the person, for a seat that they take. Raises ValueError
    with what is wrong."""
    result = await service.submit(
        table_id, None, [line], None, None, person_id=person_id, transport="mail",
        name=name, is_repeated=is_repeated,
    )  # fmt: skip
    if isinstance(result, QueryAnswer):
        return result.text
    raise ValueError(getattr(result, "reason", f"`{line}` is not possible now."))


def _without_table(text: str, table: TableInfo) -> str:
    """The words of a command without the code of its table, or without its name at their end."""
    words = [word for word in text.split() if word.casefold() != table.code.casefold()]
    name = table.name.split()
    has_name = name and [word.casefold() for word in words[-len(name) :]] == table.name.casefold().split()
    return " ".join(words[: -len(name)] if has_name else words)


def _title_options(rest: str) -> tuple[str, ...]:
    """What can be agreed for a title, or for every title."""
    wanted = [title for title in engine.title_names() if title in rest.split()] or engine.title_names()
    rows = []
    for title in wanted:
        names = engine.optional_rules(title)
        rows.append(f"{title}: {', '.join(names) or 'no options'}.")
    return (*rows, "For example: `new TITLE Bob <bob@example.org> option NAME`.")
