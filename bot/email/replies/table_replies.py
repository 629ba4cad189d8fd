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

What a person sets for themselves is answered here too; in a reply for a seat the same lines are read with
those of the game:

    settings                         how and when they are told
    settings quiet 22:00-07:00       changed; each line of the answer to `settings` can be sent back changed
    away until 2026-12-24, back
    turns, list                      the tables that wait for them, and all
    my data, erase me                all that is stored about them, and its end, after `yes` to an email
    addresses                        which addresses are theirs, and where their emails go
    link ann@example.org             another address; an email there asks for confirmation
    link ANN@WORK                    with an address that is theirs already: emails go there from now on
    unlink ann@example.org           it is no longer theirs

The From of an email can be forged, so such changes count only in a reply to an email of ours, whose reply
address nobody else knows.

The operator sets who may host (`RAILPOST_MAIL_HOSTS`); an unverified address has to confirm first
(`NewHosts`). An address that belongs to nobody yet gets few invitations in all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import msgspec

import engine
from bot.email.pages import answer_pages
from bot.email.pages.turn_pages import inline_images
from bot.email.replies.reply_limits import Ruling
from bot.email.stored_mail import command_key
from bot.email.tokens import table_label, table_token
from bot.features.game_files.feature import export_prospect, imported_sentences
from bot.features.lobby.lines import invitations_sentence
from bot.features.privacy.person import Wanted
from bot.hub.command import GAME_WORDS, Lines, PersonCommand
from bot.hub.info import TableInfo, open_seat_named, status_text
from bot.hub.queries import NoSuchTable
from bot.hub.request import UNKNOWN_SEAT, CommandResult, Completed, PollUpdated, QueryAnswer, Request
from bot.pictures.workers import WATCHED, PictureWorkers
from bot.service import Service
from engine.core.words import join_words
from mail.composing.page import InlineImage
from mail.reading.line_text import first_word, words_of
from mail.reading.parser import ParsedMail
from mail.reading.small_talk import opens_signature
from mail.reading.unclear_lines import Vocabulary, is_mail_footer
from mail.reply_address import ReplyToken

OWN_WORDS = ("new", "import", "snapshot", "seat", "options", "help", "resign")
HELP = (
    "new TITLE Bob <bob@example.org>, Cid <cid@example.org>: open a table and invite them; add `option NAME` "
    "or `pace 24h`",
    "import NAME, with a game of 18xx.games or a game text attached: play it on here; seat NAME: take a seat",
    "snapshot, with such a game attached: its map, market and sheet, and what is new since the last time",
    "options TITLE: what can be agreed for a title",
    "ask CODE: ask for an open seat at a table",
    "stop: no more emails; `start` in a reply starts them again",
)
GOING_ON = ("new", "invite")
GOES_ON = re.compile(r"@|^(?:option|pace|robot)\b", re.IGNORECASE)
"""Below one of these words: a line that says more of whom a table is for or what is agreed there."""
HOW_TO_SIT = (
    "Reply with `seat NAME` to play on in a seat, and with `invite Bob <bob@example.org>` to offer the seat "
    "of Bob to its player by email. The game goes on once every seat has its player."
)


class CommandAnswer(NamedTuple):
    """The answer to a command: sentences, the table that it is about, and pictures, which are not stored."""

    sentences: tuple[str, ...]
    table_id: int | None = None
    is_done: bool = True
    images: tuple[InlineImage, ...] = ()


class Command(NamedTuple):
    """A command of the owner of a token, in the first of these lines. mail: it stands there; where that is
    repeated, a crash may have ended the command at any point, and what is missing is done now."""

    token: ReplyToken
    lines: Sequence[str]
    mail: ParsedMail
    request_id: str

    @property
    def file(self) -> bytes:
        """The game that is attached. Raises ValueError."""
        if not self.mail.files:
            raise ValueError("Attach the game: the JSON file that 18xx.games exports, or a game text.")
        return self.mail.files[0].content


WANTED: Mapping[str, Wanted] = {"my data": "export", "erase me": "erase"}
SHOWING = ("settings", "turns", "list", "addresses")
"""Lines about oneself that change nothing, and count in any email."""
PROSE_TO_A_TABLE = ("options", "seat", "join", "leave", "agree")
"""Words with which players begin what they tell the table, in a reply for a seat of a game."""
UNSURE = ("start", "join", "keep", "agree", "decline")
"""Words that mean something else where no table waits for its start."""


class TableReplies:
    """Commands by email of a person with a verified address, each carried out once."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._pictures = service, pictures
        self._store = service.store

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        mail: ParsedMail,
        request_id: str,
        *,
        is_reply: bool = True,
    ) -> Ruling | None:
        """Carry out a command about tables or oneself; None where it is none, or means something else here.
        is_reply: to an email of ours, whose reply address nobody else knows."""
        if not lines:
            return None
        is_about_oneself = self._is_about_oneself(token, lines[0])
        if not (is_about_oneself or await self._is_table_command(token, lines)):
            return None
        key = command_key(request_id)
        async with self._store.read() as unit:
            known = await unit.move_log.request_result(key)
        if known is not None:
            answer = msgspec.json.decode(known, type=CommandAnswer)
        else:
            try:
                if is_about_oneself:
                    answer = await self._set_for_oneself(token, self._read_with_first(lines), is_reply)
                else:
                    answer = await self._run(Command(token, lines, mail, request_id))
            except ValueError as error:
                answer = CommandAnswer(tuple(str(error).splitlines()), token.table_id, is_done=False)
            async with self._store.begin() as unit:
                body = msgspec.json.encode(answer._replace(images=()))
                await unit.move_log.save_request_result(key, body)
        page = answer_pages.table_answer(
            answer.sentences, answer.is_done, first_word(lines[0]), answer.images, self._unread(lines, mail)
        )
        about = await table_token(self._service, token, answer.table_id)
        return Ruling("table" if answer.is_done else "not done", page, about, lines=tuple(lines))

    def _is_about_oneself(self, token: ReplyToken, line: str) -> bool:
        """Whether a line is a command about oneself: no prose that begins like one, and none that a game
        reads in a reply for a seat."""
        is_personal = token.seat is None and self._service.commands.is_personal(line)
        return is_personal or line.strip().casefold() in WANTED

    def _read_with_first(self, lines: Sequence[str]) -> list[str]:
        """The lines that are one command with the first: more settings, more of whom a table is for."""
        word, get = first_word(lines[0]), self._service.commands.get
        if word in GOING_ON:
            return [lines[0], *filter(GOES_ON.search, lines[1:20])]
        command = get(word)
        if not isinstance(command, PersonCommand) or command.others is not Lines.SAME_HANDLER:
            return [lines[0].strip()]
        more = [line for line in lines[1:] if self._service.commands.is_personal(line)]
        same = [line for line in more if getattr(get(first_word(line)), "handler", None) == command.handler]
        return [line.strip() for line in (lines[0], *same)]

    def _unread(self, lines: Sequence[str], mail: ParsedMail) -> list[str]:
        """The lines below a command that say nothing more of it, up to a closing or the writer's name."""
        own = (mail.sender_name, (mail.sender or "").partition("@")[0])
        writer = Vocabulary(frozenset(), names=frozenset(word for text in own for word in words_of(text)))
        read = self._read_with_first(lines)
        found = takewhile(lambda line: not opens_signature(line, writer), lines[1:])
        return [line for line in found if line.strip() not in read and not is_mail_footer(line)]

    async def _set_for_oneself(
        self, token: ReplyToken, lines: Sequence[str], is_reply: bool
    ) -> CommandAnswer:
        """Carry out lines of a command about oneself. Raises ValueError with a sentence."""
        word = lines[0].casefold()
        changing = [line for line in lines if line.casefold() not in SHOWING]
        if word in WANTED:
            text = await self._service.personal_data.ask_by_mail(token.person_id, WANTED[word])
        elif changing and not is_reply:
            raise ValueError(f"To protect your settings, reply to this email with `{changing[0]}`.")
        else:
            text = answer_text(await self._service.submit_personal(token.person_id, lines), lines[0])
        sentences = tuple(filter(None, (each.strip() for each in text.splitlines())))
        return CommandAnswer(sentences, token.table_id)

    async def _is_table_command(self, token: ReplyToken, lines: Sequence[str]) -> bool:
        word, commands = first_word(lines[0]), self._service.commands
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
        return self._service.commands.get(word) is not None or word in GAME_WORDS

    # -- carried out ---------------------------------------------------------------------------

    async def _run(self, command: Command) -> CommandAnswer:
        """Carry out the command in the first lines. Raises ValueError with a sentence."""
        (token, lines, mail, _) = command
        person_id, table_id, word = token.person_id, token.table_id, first_word(lines[0])
        rest = lines[0][len(word) :].strip()
        match word:
            case "new":
                return await self._new(command, " ".join([rest, *self._read_with_first(lines)[1:]]))
            case "import":
                return await self._import(command, rest)
            case "snapshot":
                return await self._snapshot(command)
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
        status = "lobby" if mail.is_repeated else table.status
        if word == "seat":
            word, rest = "ask", open_seat_named(table, rest)
        elif word == "invite":
            rest = " ".join([rest, *self._read_with_first(lines)[1:]])
        elif word == "resign" and status == "lobby":
            word = "leave"
        if not self._service.commands.from_outside(word, status):
            where = f": say `{word}` in a reply to an email about your seat there" * (table_id is None)
            raise ValueError(f"Table {table.code} is {status_text(table.status)}{where}.")
        told = await said_at_table(self._service, person_id, table.id, f"{word} {rest}".strip(), mail)
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

    async def _snapshot(self, command: Command) -> CommandAnswer:
        """Show the attached game, and what has changed since the same person sent it last."""
        pictures = self._pictures.for_table(WATCHED, "light", post="answer")
        game, person_id = command.file, command.token.person_id
        text, drawn = await self._service.watcher.show(game, f"mail:{person_id}", person_id, pictures)
        return CommandAnswer(tuple(text.splitlines()), images=inline_images(drawn))

    # -- opening a table ---------------------------------------------------------------------

    async def _new(self, command: Command, text: str) -> CommandAnswer:
        person_id, mail = command.token.person_id, command.mail
        opening = Request(
            UNKNOWN_SEAT, (), (), None, command.request_id, person_id, "mail",
            name=mail.sender_name, is_repeated=mail.is_repeated,
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

    async def _import(self, command: Command, name: str) -> CommandAnswer:
        """A table for the game in the first file."""
        by = command.token.person_id
        table, warnings = await self._service.imports.open_table(command.file, by=by, name=name[:60])
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
    service: Service, person_id: int, table_id: int, line: str, mail: ParsedMail | None = None
) -> str:
    """Say a line at a table; the answer. mail: the line stands there, which names the person for a seat that
    they take. Raises ValueError with what is wrong."""
    name, is_repeated = (mail.sender_name, mail.is_repeated) if mail else ("", False)
    result = await service.submit(
        table_id, None, [line], None, None, person_id=person_id, transport="mail",
        name=name, is_repeated=is_repeated,
    )  # fmt: skip
    return answer_text(result, line)


def answer_text(result: CommandResult, line: str) -> str:
    """The answer to a line. Raises ValueError with what is wrong."""
    match result:
        case QueryAnswer():
            return result.text
        case Completed() | PollUpdated():
            return "\n".join(result.sentences)
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
