"""What a reply for a seat does: its lines are read, as the game and the service read them, tried and
played, and its queries answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import engine
from bot.email.pages.turn_pages import mail_file, mail_pictures, offered_lines, position_parts, with_outcomes
from bot.email.replies.results import AcceptedLine, PlayResult, QueryResult
from bot.hub.command import Commands
from bot.hub.info import stopped_text
from bot.hub.request import (
    CommandResult,
    Completed,
    LineFailure,
    LineRefused,
    NotYourSeat,
    PlayedLine,
    QueryAnswer,
    TableNotRunning,
)
from bot.hub.table import TableView
from bot.pictures.views import answer_pictures
from bot.pictures.workers import Pictures, PictureWorkers
from bot.position import legal_lines, text_views
from bot.position.pending import engine_seat, pending_decisions
from bot.service import Service
from mail import ReplyToken
from mail.composing.page import TableRows
from mail.reading.line_text import first_word, without_comment, words_of
from mail.reading.unclear_lines import Vocabulary

EMAIL_HELP = """By email:
  say TEXT             tell the table something, to the end of the paragraph
  who, list            the players of the table; your tables
  stop, start          stop emails to you; start them again"""


class SeatReplies:
    """Replies for seats of games."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._store, self._pictures = service, service.store, pictures
        self._reader = LineReader(service.commands)

    async def vocabulary(self, token: ReplyToken) -> Vocabulary:
        """What the seat can say now; for a token without a seat, what the service reads itself."""
        if token.seat is None:
            return Vocabulary(self._reader.verbs)
        table_id, seat = token.seat
        view = await self._service.queries.view(table_id)
        choices = await self._service.queries.choices(table_id, seat)
        return self._reader.vocabulary_of(view.state, seat, choices)

    async def readable_lines(self, token: ReplyToken, lines: Sequence[str]) -> frozenset[str]:
        """Those of the lines that the game or the service can read."""
        if token.table_id is None:
            return frozenset()
        view = await self._service.queries.view(token.table_id)
        if token.seat is None:
            return frozenset(line for line in lines if self._reader.is_service_line(view.state, line))
        return self._reader.readable_lines(view.state, token.seat[1], lines)

    async def try_lines(self, token: ReplyToken, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
        """What the lines would do if they were played now; None if they cannot all be played."""
        if token.seat is None:
            return None
        table_id, seat = token.seat
        view = await self._service.queries.view(table_id)
        return self._reader.try_lines(view.state, seat, lines)

    async def current_decision(self, token: ReplyToken) -> str | None:
        """The decision that the seat of a token faces now, or what an undo refers to; None without a seat."""
        if token.seat is None:
            return None
        table_id, seat = token.seat
        view = await self._service.queries.view(table_id)
        return view.answered_decision_id(seat)

    async def play(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> PlayResult:
        """Play all of the lines for the seat, or none, as the answer to the decision of its token; where it
        has none, lines may still be legal out of turn. A repeated request has no second effect."""
        assert token.seat is not None
        table_id, seat = token.seat
        result = await self._submit_lines(token.seat, token, lines, request_id)
        view = await self._service.queries.view(table_id)
        legal = await self._legal_lines(view, seat)
        if isinstance(result, LineRefused) and not self._service.commands.may_be_move(result.line):
            legal = ()
        changes: tuple[str, ...] = ()
        if isinstance(result, Completed):
            changes = await self._cash_changes(table_id, result.played)
        decision_id = view.answered_decision_id(seat)
        return PlayResult(result, decision_id, view.waiting_sentence, legal, changes)

    async def _submit_lines(
        self, seat: tuple[int, int], token: ReplyToken, lines: Sequence[str], request_id: str | None
    ) -> CommandResult:
        lines = [self._reader.without_show(line) for line in lines]
        return await self._service.submit(
            *seat, lines, token.decision_id if request_id else None, request_id,
            person_id=token.person_id, transport="mail",
        )  # fmt: skip

    async def _drawing(self, view: TableView, reader: int) -> Pictures:
        """Pictures for a table, which takes turns with the others, in the palette of the reader."""
        palette = await self._service.settings.palette(view.table, reader)
        return self._pictures.for_table(view.table.id, palette, post="answer")

    async def _legal_lines(self, view: TableView, seat: int) -> tuple[str, ...]:
        """Legal lines to copy, where the seat has to act."""
        if view.decision_id_of(seat) is None:
            return ()
        lines = legal_lines.copyable_lines(await self._service.queries.choices(view.table.id, seat))
        return with_outcomes(view.state, seat, lines) if view.state else lines

    async def _cash_changes(self, table_id: int, moves: Sequence[PlayedLine]) -> tuple[str, ...]:
        """Sentences about how the moves changed everybody's cash."""
        if not moves:
            return ()
        before = await self._service.queries.state_at(table_id, moves[0].seq - 1)
        after = await self._service.queries.state_at(table_id, moves[-1].seq)
        return tuple(text_views.cash_changes(before, after))

    def query_in(self, line: str) -> str | None:
        """The query in a line, as it is asked."""
        return self._reader.query_in(line)

    async def query(self, token: ReplyToken, query: str) -> QueryResult:
        """Answer a query with text, and with its picture and files; to who has no seat, what all may see."""
        assert token.table_id is not None
        kind, seat = first_word(query), token.seat_number
        if token.seat is None:
            result = await self._service.ask(token.table_id, query, person_id=token.person_id)
        else:
            result = await self._submit_lines(token.seat, token, [query], None)
        view = await self._service.queries.view(token.table_id)
        decision_id = None if seat is None else view.answered_decision_id(seat)
        match result:
            case QueryAnswer():
                drawing = await self._drawing(view, token.person_id)
                named = await answer_pictures(self._service.queries, drawing, view, result)
                images, drawn_files = mail_pictures(named)
                files = (*map(mail_file, result.files), *drawn_files)
                title = kind if kind == "try" else query
                text = f"{result.text}\n{EMAIL_HELP}" if kind == "help" else result.text
                position = shown_position(view, result, seat)
                return QueryResult(title, text, images, decision_id, files, position)
            case LineFailure():
                about = f"{result.line}: " if kind == "try" else ""
                return QueryResult(kind, f"{about}{result.reason}", (), decision_id)
            case TableNotRunning() | NotYourSeat():
                return QueryResult(kind, result.reason, (), decision_id)
            case _:
                raise AssertionError(f"the query {kind!r} had the result {type(result).__name__}")

    async def say(self, token: ReplyToken, text: str, request_id: str) -> str:
        """Tell the table something on every channel, as talk; what it is told."""
        assert token.table_id is not None
        return await self._service.running.talk(token.table_id, token.person_id, text, request_id) or ""


def shown_position(view: TableView, answer: QueryAnswer, seat: int | None) -> tuple[str | TableRows, ...]:
    """The position that answers `status` or `at …`, with its tables; empty for other questions."""
    if answer.query == "at" and answer.encoded_state:
        state = engine.decode_state(answer.encoded_state)
        return (answer.text.splitlines()[0], *position_parts(state, pending_decisions(state, 0)))
    if answer.query in ("status", "sheet") and view.state is not None:
        stopped = stopped_text(view.table.status)
        position = position_parts(view.state, () if stopped else view.pending, seat)
        return (*position, "", stopped) if stopped else position
    return ()


MAX_LEGAL_LINES = 400  # that a reply is compared with

_ALWAYS = frozenset("pass done buy bid par sell lay token run pay withhold".split())


HEADER_WORD = "from"
"""Begins the head of a quoted email, as no line of a reply does; `from E11 east` comes as `show from …`."""


@cache
def game_verbs() -> frozenset[str]:
    """The first words of all lines of notation."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


class LineReader:
    """Reads lines as the game and the commands of the service do."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    @property
    def verbs(self) -> frozenset[str]:
        """The words that begin a line."""
        return (self._commands.words | game_verbs() | {"show"}) - {HEADER_WORD}

    def vocabulary_of(
        self, state: engine.State | None, seat: int, choices: Sequence[engine.Choice]
    ) -> Vocabulary:
        """What a seat can say now. choices: of the seat."""
        lines = tuple(choice.line for choice in choices[:MAX_LEGAL_LINES])
        if state is None:
            return Vocabulary(self.verbs)
        symbols = frozenset([*state.companies, *state.private_owners])
        names = frozenset(words_of(state.players[seat]))
        verbs = _ALWAYS | {first_word(line) for line in lines}
        return Vocabulary(
            self.verbs, verbs, symbols, lines, names, partial(offered_lines, state, seat, choices)
        )

    def readable_lines(self, state: engine.State | None, seat: int, lines: Sequence[str]) -> frozenset[str]:
        """Those of the lines that the game or the service can read, each after those before it."""
        found = {line for line in lines if self.is_service_line(state, line)}
        before = ""  # the last line that was read; it is played only where another has to be read after it
        for line in lines:
            if state is None or line in found or "?" in line:
                continue
            if before and (played := engine.try_line(state, engine_seat(seat), before)):
                state = played.state
            is_readable = engine.is_readable(state, engine_seat(seat), line)
            before = line if is_readable else ""
            if is_readable:
                found.add(line)
        return frozenset(found)

    def is_service_line(self, state: engine.State | None, line: str) -> bool:
        """Whether the service reads a line itself: `undo`, `log 20`, `company PRR`."""
        companies, players = (state.companies, state.players) if state else ((), ())
        return self._commands.read_line(without_comment(line), companies, players)

    def query_in(self, line: str) -> str | None:
        """The question in a line, as the registry knows it: `log 20`; or the lines that it tries: `try LINE`.
        It changes nothing in the game."""
        plain = self.without_show(without_comment(line).rstrip("?!"))
        word, _, argument = plain.partition(" ")
        if word.casefold() in ("try", "plan"):
            return None if argument.casefold() == "play" else f"try {argument}".strip()
        return f"{word.casefold()} {argument.strip()}".strip() if self._commands.is_query(word) else None

    def without_show(self, line: str) -> str:
        """A question without the word `show` before it; any other line as it is."""
        rest = line.partition(" ")[2]
        is_question = first_word(line) == "show" and self._commands.is_query(first_word(rest))
        return rest if is_question else line

    @staticmethod
    def try_lines(
        state: engine.State | None, seat: int, lines: Sequence[str]
    ) -> tuple[AcceptedLine, ...] | None:
        """What lines would do now, as the seat sees it; None if they cannot all be played."""
        if state is None:
            return None
        state = engine.visible_to(state, engine_seat(seat))
        accepted = []
        for line in lines:
            if (played := engine.try_line(state, engine_seat(seat), line)) is None:
                return None
            state = played.state
            accepted.append(AcceptedLine(line, " ".join(engine.narrate(state, played.events)) or played.line))
        return tuple(accepted) or None
