"""What a reply for a seat does: its lines are read, tried and played, and its queries answered."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.email.pages.answer_pages import PlayResult, QueryResult
from bot.email.pages.turn_pages import mail_file, mail_pictures, position_parts, with_outcomes
from bot.email.replies.reply_reader import ReplyReader, without_show
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
from bot.pictures.workers import PictureWorkers
from bot.position import legal_lines, text_views
from bot.position.pending import pending_decisions
from bot.service import Service
from mail.composing.page import TableRows
from mail.reading.line_text import first_word
from mail.reply_address import ReplyToken

EMAIL_HELP = """By email:
  say TEXT             tell the table something, to the end of the paragraph
  who, list            the players of the table; your tables
  stop, start          stop emails to you; start them again"""


class SeatReplies:
    """Replies for seats of games."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._pictures = service, pictures

    async def reader(self, token: ReplyToken) -> ReplyReader:
        """What reads replies for the seat of a token as its table stands now."""
        commands = self._service.commands
        if token.table_id is None:
            return ReplyReader(commands, None, None, reads=False)
        view = await self._service.queries.view(token.table_id)
        if token.seat is None:
            return ReplyReader(commands, view.state, None)
        choices = await self._service.queries.choices(*token.seat)
        return ReplyReader(commands, view.state, token.seat_number, choices)

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
        lines = [without_show(self._service.commands, line) for line in lines]
        return await self._service.submit(
            *seat, lines, token.decision_id if request_id else None, request_id,
            person_id=token.person_id, transport="mail",
        )  # fmt: skip

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
                palette = await self._service.settings.palette(view.table, token.person_id)
                drawing = self._pictures.for_table(view.table.id, palette, post="answer")
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
