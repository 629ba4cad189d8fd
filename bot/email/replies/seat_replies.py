"""Replies for seats of games. `SeatReplies` plays their lines, answers their questions and tells the table
what they say; `SeatRulings` decides which of this a reply gets, and what it is answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.email.confirmations import vote_in
from bot.email.pages import answer_pages, refusal_pages
from bot.email.pages.answer_pages import AcceptedLine, PlayResult, QueryResult
from bot.email.pages.turn_pages import mail_file, mail_pictures, position_parts, with_outcomes
from bot.email.reachability import Correspondents
from bot.email.replies.reply_limits import PLAYED, Ruling, idempotency_key
from bot.email.replies.reply_reader import (
    YES_CODE,
    ReadReply,
    ReplyReader,
    is_about_vote,
    line_verbs,
    merge_queries,
    query_in,
    suggested_lines,
    without_show,
)
from bot.email.stored_mail import HeldLineStore, Offer, played_key
from bot.hub.command import Commands
from bot.hub.info import stopped_text
from bot.hub.request import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineFailure,
    LineRefused,
    NotYourSeat,
    PlayedLine,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.hub.table import TableView
from bot.pictures.views import answer_pictures
from bot.pictures.workers import PictureWorkers
from bot.position import legal_lines, text_views
from bot.position.pending import pending_decisions
from bot.service import Service
from mail.composing.page import MailPage, TableRows
from mail.reading.line_text import first_word
from mail.reading.parser import ParsedMail
from mail.reading.parts import MailProblem
from mail.reading.quotes import ReplyLine
from mail.reading.reply_text import ParsedReply
from mail.reply_address import ReplyToken

STALE = "stale"
"""The reason of a reply to lines for a question that is no longer asked."""
MAX_QUERIES = 5
"""That are answered to one mail: each may have pictures."""

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
        return (await self._service.queries.view(table_id)).answered_decision_id(seat)

    async def play(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> PlayResult:
        """Play all of the lines for the seat, or none, as the answer to the decision of its token; where it
        has none, lines may still be legal out of turn. A repeated request has no second effect."""
        assert token.seat is not None
        table_id, seat = token.seat
        result = await self._submit_lines(token.seat, token, lines, request_id)
        view = await self._service.queries.view(table_id)
        is_move = not isinstance(result, LineRefused) or self._service.commands.may_be_move(result.line)
        is_about_moves = is_move and not isinstance(result, QueryAnswer)
        legal = await self._legal_lines(view, seat) if is_about_moves else ()
        changes: tuple[str, ...] = ()
        if isinstance(result, Completed):
            changes = await self._cash_changes(table_id, result.played)
        return PlayResult(result, view.waiting_sentence, legal, changes)

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
        match result:
            case QueryAnswer():
                palette = await self._service.settings.palette(view.table, token.person_id)
                drawing = self._pictures.for_table(view.table.id, palette, post="answer")
                named = await answer_pictures(self._service.queries, drawing, view, result)
                images, drawn_files = mail_pictures(named)
                files = (*map(mail_file, result.files), *drawn_files)
                title = kind if kind == "try" else query
                is_whole_help = kind == "help" and not result.argument
                text = f"{result.text}\n{EMAIL_HELP}" if is_whole_help else result.text
                position = shown_position(view, result, seat)
                return QueryResult(title, text, images, files, position)
            case LineFailure():
                about = f"{result.line}: " if kind == "try" else ""
                return QueryResult(kind, f"{about}{result.reason}", is_refused=True)
            case TableNotRunning() | NotYourSeat():
                return QueryResult(kind, result.reason, is_refused=True)
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


# -- what a reply is answered ----------------------------------------------------------------


class SeatRulings:
    """Decides what a reply for a seat does; to who has no seat at a table it answers questions only."""

    def __init__(
        self, commands: Commands, seats: SeatReplies, people: Correspondents, held: HeldLineStore
    ) -> None:
        self._commands, self._seats, self._people, self._held = commands, seats, people, held

    async def rule(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        """Carry out what a reply of the owner of a token says."""
        if reply.parsed.fault:
            page = refusal_pages.invalid_line(reply.parsed.fault, reply.parsed)
            return Ruling("not done", page, token, lines=reply.lines)
        if token.seat is None:
            return await self._without_seat(mail, token, reply)
        agreed = reply.agreed or reply.repeated
        is_answer = not reply.lines and (reply.says_yes or reply.says_no or agreed)
        offer = await self._held.find_offered(token) if is_answer else None
        if offer and reply.says_no:
            return Ruling("declined", answer_pages.not_played(offer.held.lines), token, lines=("no",))
        if offer and agreed in ((), offer.held.lines):
            return await self._confirm_held(mail, token, offer, ("yes",))
        if is_about_vote(token):
            if vote := vote_in(token, reply):
                return await self._carry_out(mail, token, ParsedReply((ReplyLine(1, vote),)))
        elif reply.agreed and not offer:
            reply = replace(reply, parsed=reply.parsed._replace(lines=reply.parsed.meant, unclear=()))
        said = "" if reply.parsed.unclear else await self._say(mail, token, reply.text.talk)
        if said and not reply.lines:
            return Ruling("said", answer_pages.confirmation(said), token, lines=reply.text.talk)
        if reply.lines:
            ruling = await self._carry_out(mail, token, reply.parsed)
        else:
            ruling = await self._nothing_to_play(mail, token, reply)
        return ruling._replace(page=answer_pages.with_done(ruling.page, said)) if said else ruling

    async def _without_seat(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        """Answer the questions of who has no seat at the table of an email."""
        if token.table_label and reply.lines and all(query_in(self._commands, line) for line in reply.lines):
            return await self._carry_out(mail, token, reply.parsed)
        person = await self._people.find_correspondent(token.address)
        page = refusal_pages.help_without_table(person.seats if person else (), token.table_label)
        return Ruling("no moves", page, token, lines=reply.lines)

    async def stopped(self, token: ReplyToken, lines: tuple[str, ...] = ("stop",)) -> Ruling:
        """End the emails to a person."""
        page = answer_pages.confirmation(await self._people.stop_mail(token))
        return Ruling("stopped", page, token, lines=lines)

    async def _say(self, mail: ParsedMail, token: ReplyToken, talk: Sequence[str]) -> str:
        """Tell the table what the reply says to it; returns a sentence about that, empty for no talk."""
        say, told = self._seats.say, []
        for text in talk:
            told.append(await say(token, text, idempotency_key(mail, token, ["say", text])))
        return f"The table is told: {' '.join(told)}" if told else ""

    async def _nothing_to_play(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        """Nothing is played: the reply is not clear, or has no line of the game."""
        parsed = reply.parsed
        if accepted := reply.to_confirm:
            page = refusal_pages.did_you_mean(parsed, accepted)
            return await self._offered(mail, token, accepted, page, "unclear")
        if parsed.unclear:
            return Ruling("unclear", refusal_pages.unclear_reply(parsed, reply.suggestions), token)
        if reply.says_yes:
            return Ruling("no moves", refusal_pages.NOTHING_TO_CONFIRM, token)
        if parsed.ignored:
            return Ruling("no moves", refusal_pages.no_lines(parsed, suggested_lines(token, reply)), token)
        page = refusal_pages.unreadable_mail(named_problem(mail, self._commands), parsed)
        return Ruling("unreadable", page, token)

    async def _offered(
        self,
        mail: ParsedMail,
        token: ReplyToken,
        accepted: Sequence[AcceptedLine],
        page: MailPage,
        reason: str,
    ) -> Ruling:
        """Hold lines, which a plain `yes` in reply to this page will play. accepted: what they do now."""
        lines, figures = tuple(each.line for each in accepted), tuple(each.sentence for each in accepted)
        now = replace(token, decision_id=await self._seats.current_decision(token))
        code = await self._held.hold_lines(now, lines, idempotency_key(mail, token, lines), figures)
        return Ruling(reason, page, token, lines=lines, offered_code=code)

    async def _carry_out(self, mail: ParsedMail, token: ReplyToken, reply: ParsedReply) -> Ruling:
        """Play the lines of a reply; a code that confirms others, or the end of emails, must stand alone."""
        lines = tuple(line.text for line in reply.lines)
        code = YES_CODE.fullmatch(lines[0].casefold())
        ends_emails = [word for word in map(first_word, lines) if word in ("stop", "unsubscribe")]
        if len(lines) > 1 and (code or ends_emails):
            alone = "yes CODE" if code else ends_emails[0]
            return Ruling("not done", refusal_pages.must_be_alone(alone), token, lines=lines)
        if code and (offer := await self._held.find(token, code[1])):
            return await self._confirm_held(mail, token, offer, lines)
        if code:
            return Ruling("not done", refusal_pages.UNKNOWN_CODE, token, lines=lines)
        key = idempotency_key(mail, token, lines)
        return await self._play(token, reply, key, lines, mail)

    async def _confirm_held(
        self, mail: ParsedMail, token: ReplyToken, offer: Offer, lines: tuple[str, ...]
    ) -> Ruling:
        """Play what is held, if the seat faces the same question and it does the same as when it was offered;
        else show what it does now, and ask once more."""
        held = offer.held
        reply = ParsedReply(tuple(ReplyLine(number, text) for number, text in enumerate(held.lines, 1)))
        if [line.casefold() for line in held.lines] in (["stop"], ["unsubscribe"]):
            return await self.stopped(token, lines)
        accepted = (await self._seats.reader(token)).try_lines(held.lines)
        bound = replace(token, decision_id=held.decision_id)
        is_asked = await self._seats.current_decision(token) == held.decision_id
        figures = tuple(line.sentence for line in accepted)
        has_changed = figures and held.figures and figures != held.figures
        if not (is_asked and has_changed):
            ruling = await self._play(bound, reply, played_key(token, offer.code), lines)
            if ruling.reason != STALE or not accepted:
                return ruling
        page = refusal_pages.changed_since(accepted)
        return await self._offered(mail, token, accepted, page, "unclear")

    async def _play(
        self,
        token: ReplyToken,
        reply: ParsedReply,
        request_id: str,
        lines: tuple[str, ...],
        mail: ParsedMail | None = None,
    ) -> Ruling:
        """Play the lines, then answer the queries: one receipt for both."""
        seats = self._seats
        queries = [query for line in reply.lines if (query := query_in(self._commands, line.text))]
        moves = tuple(line for line in reply.lines if not query_in(self._commands, line.text))
        reply = reply._replace(lines=moves)
        texts = [line.text for line in reply.lines]
        played = await seats.play(token, texts, request_id) if texts else None
        if played and isinstance(played.result, ConfirmationRequired):
            confirmed = played.result.line.split("; ")
            code = await self._held.hold_lines(token, confirmed, request_id)
            page = refusal_pages.confirm_lines(lines, played.result.reason, code)
            return Ruling("held", page, token, lines=lines, offered_code=code)
        asked = merge_queries(queries)
        shown: list[QueryResult] = [await seats.query(token, query) for query in asked[:MAX_QUERIES]]
        left = asked[MAX_QUERIES:]
        reason = _reason(played)
        next_token = replace(token, decision_id=await seats.current_decision(token))
        meant = played.corrected(texts) if mail and played else ()
        if mail and (accepted := (await seats.reader(next_token)).try_lines(meant)):
            page = answer_pages.receipt(played, reply, shown, accepted, left=left)
            return await self._offered(mail, next_token, accepted, page, reason)
        can_wait = played is None or (played.is_done and not played.legal_lines)
        page = answer_pages.receipt(played, reply, shown, left=left)
        return Ruling(reason, page, next_token, lines=lines, can_wait=can_wait)


def named_problem(mail: ParsedMail, commands: Commands) -> MailProblem:
    """What is wrong with a mail without text that can be read."""
    if mail.problem not in (None, MailProblem.EMPTY):
        return mail.problem
    is_in_subject = first_word(plain_subject(mail)) in line_verbs(commands)
    return MailProblem.IN_SUBJECT if is_in_subject else MailProblem.EMPTY


def plain_subject(mail: ParsedMail) -> str:
    """The subject, without what mail programs put before that of a reply."""
    return re.sub(r"^(?:(?:re|aw|antw|sv|vs|odp|rv) ?: ?)*", "", mail.subject.strip().casefold())


def _reason(played: PlayResult | None) -> str:
    """By what a reply is counted."""
    if played is None or isinstance(played.result, QueryAnswer):
        return "shown"
    if played.is_done:
        return PLAYED
    return STALE if isinstance(played.result, StaleDecision) else "rejected"
