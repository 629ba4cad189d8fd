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

All others are commands of the registry (`Commands.from_outside`), such as `invite`, `start`, `who`.

The operator sets who may host (`RAILPOST_MAIL_HOSTS`); an unverified address has to confirm first. An
address that belongs to nobody yet gets few invitations in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import engine
from bot.email.pages.turn_pages import inline_images
from bot.email.tokens import table_label
from bot.features.game_files.feature import export_prospect, imported_sentences
from bot.features.lobby.lines import invitations_sentence
from bot.hub.info import TableInfo, open_seat_named, status_text
from bot.hub.request import UNKNOWN_SEAT, QueryAnswer, Request
from bot.pictures.workers import WATCHED, PictureWorkers
from bot.position import text_views
from bot.service import Service
from mail import InlineImage
from mail.reading.line_text import first_word
from mail.reading.parts import MailFile

OWN_WORDS = ("new", "import", "snapshot", "seat", "options", "help", "resign")
HELP = (
    "new TITLE Bob <bob@example.org>, Cid <cid@example.org>: open a table and invite them; add `option NAME`",
    "import NAME, with a game of 18xx.games or a game text attached: play it on here; seat NAME: take a seat",
    "snapshot, with such a game attached: its map, market and sheet, and what is new since the last time",
    "options TITLE: what can be agreed for a title",
    "ask CODE: ask for an open seat at a table",
    "addresses: where your emails go; `link ann@example.org` adds an address, `unlink` gives one up",
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
        codes = text_views.join_words([table_label(table) for table in own], "or")
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
