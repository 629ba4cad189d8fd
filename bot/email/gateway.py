"""The service behind the mail channel: it implements `mail.port.ServicePort`.

Theory of operation. Every email that we send carries tokens. The store has a row for each, found by the
token's hash: the person, table, seat and decision that it stands for. What a token may do is decided when it
is used. So a token stops working without being revoked when the seat has another player or the address is no
longer the person's.

An incoming email is stored before it is read: its bytes in a file named by their SHA-256, and a row that
counts the attempts. It is finished once: its outcome, our reply and the reply's tokens are stored in one
transaction, with the key by which the same email is recognized when it arrives in another way.
"""

from __future__ import annotations

import base64
import hmac
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from bot.email import address_commands, line_reader, reachability, seat_commands
from bot.email.pictures import mail_file, mail_pictures
from bot.email.reachability import Reachability, table_label
from bot.email.table_commands import (
    ROBOT_ANSWERS,
    CommandAnswer,
    TableCommands,
    TableRequest,
    admits_host,
    is_table_command,
    joined_sentence,
)
from bot.service import legal_lines, notifications, people, results, text_views
from bot.service.answer_pictures import answer_pictures
from bot.service.live_table import TableView
from bot.service.loading import load_recipient, load_table_info
from bot.service.picture_workers import Pictures, PictureWorkers
from bot.service.service import Service
from bot.service.tables import TableInfo, open_seats
from mail import OutgoingMail, ReplyToken
from mail.bounces import classify
from mail.doubts import Vocabulary
from mail.line_text import first_word
from mail.parser import MailFile
from mail.port import (
    AcceptedLine,
    Arrival,
    Bounce,
    Correspondent,
    Folder,
    GatheredAnswer,
    HeldLines,
    LineRejected,
    LinesPlayed,
    MailOutcome,
    PlayResult,
    QueryKind,
    QueryResult,
    StaleReply,
    TableAnswer,
    TokenPurpose,
)
from storage import (
    AddressClaim,
    AlreadyExists,
    MailToken,
    NewMessage,
    UnitOfWork,
)

log = logging.getLogger(__name__)

REPLY_TOKEN_LIFETIME = timedelta(days=180)
INVITATION_TOKEN_LIFETIME = timedelta(days=30)
EMAIL_HELP = """By email:
  say TEXT             tell the table something, to the end of the paragraph
  who, list            the players of the table; your tables
  stop, start          stop emails to you; start them again"""
SAID_IN_LOBBIES = ("help", "resign", "start", "leave", "options", "seat", "ask", *ROBOT_ANSWERS)
"""Words that mean something else in a reply for a seat of a game."""
GATHERED_FOR = timedelta(hours=1)
FIXED_ADDRESS_PURPOSES = ("link", "invite", "host", "bounce", "unsubscribe")
"""Tokens of these purposes belong to the address that the email went to, even if it is not verified."""


@dataclass(frozen=True, slots=True)
class ServiceToken(ReplyToken):
    """A token with the service's ids of its person, table and seat."""

    person_id: int = 0
    table_id: int | None = None
    seat_number: int | None = None


class _SeatRef(NamedTuple):
    """The seat for which a player writes, and the decision that the email replies to."""

    table_id: int
    seat_number: int
    person_id: int
    decision_id: str | None


def _service_token(token: ReplyToken) -> ServiceToken:
    if not isinstance(token, ServiceToken):
        raise TypeError("the token was not issued by this gateway")
    return token


def _seat_ref(token: ReplyToken) -> _SeatRef:
    service_token = _service_token(token)
    if service_token.table_id is None or service_token.seat_number is None:
        raise TypeError("the token has no seat")
    return _SeatRef(
        service_token.table_id, service_token.seat_number, service_token.person_id, service_token.decision_id
    )


def seat_key(table_id: int, seat: int) -> str:
    """A key for a seat that is unique among all tables."""
    return f"{table_id}.{seat}"


async def reply_token_for(
    unit: UnitOfWork, person_id: int, table: TableInfo | None, seat: int | None, decision_id: str | None
) -> ServiceToken | None:
    """The token for an email to a person; None for a person without a verified address."""
    verified = await unit.people.verified_addresses(person_id)
    if not verified:
        return None
    seat_name = seat_key(table.id, seat) if table and seat is not None else None
    return ServiceToken(
        "reply", verified[0], frozenset(verified), table_label(table) if table else "",
        table.code if table else "", seat_name, decision_id,
        person_id=person_id, table_id=table.id if table else None, seat_number=seat,
    )  # fmt: skip


async def enqueue_mail(
    unit: UnitOfWork, mail: OutgoingMail, kind: str, collapse_key: str | None = None
) -> None:
    """Put a finished email into the outbox and store its tokens by their hashes.

    `kind`: `answer` (counted where replies are limited) or `notice`. An unsent message with the same
    `collapse_key` is replaced.
    """
    for issued in mail.issued_tokens:
        token = issued.token
        lifetime = (
            INVITATION_TOKEN_LIFETIME if token.purpose in ("link", "invite", "host") else REPLY_TOKEN_LIFETIME
        )
        service_token = token if isinstance(token, ServiceToken) else None
        owner = None if service_token else await unit.people.find_by_identity("email", token.address)
        await unit.mail_tokens.add(
            issued.token_hash,
            token.purpose,
            table_id=service_token.table_id if service_token else None,
            seat=service_token.seat_number if service_token else None,
            person_id=service_token.person_id if service_token else owner.id if owner else None,
            decision_id=token.decision_id,
            address=mail.recipient,
            message_id=mail.message_id if token is mail.reply_token else None,
            expires_at=unit.now + lifetime,
        )
    address = {"to": mail.recipient, "sender": mail.envelope_sender, "kind": kind, "who": mail.actor}
    if mail.offered_code and mail.reply_token:
        key = _offer_key(mail.reply_token, mail.message_id)
        await unit.move_log.save_request_result(key, mail.offered_code.encode())
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=mail.message_id,
            channel="mail",
            address=address | {"reason": mail.reason},
            payload=mail.raw,
            collapse_key=collapse_key,
        )
    )


async def gather_answer(unit: UnitOfWork, token: ServiceToken, answer: GatheredAnswer, digest: str) -> None:
    """Add an answer to those that go to a seat together, within an hour of the first."""
    if token.table_id is None:
        return
    collapse_key = f"gathered:{token.actor}"
    earlier = await unit.outbox.pending_with_collapse_key(collapse_key)
    former = notifications.decode_notification(earlier.payload).sentences if earlier else ()
    notification = notifications.Notification(
        "gathered", token.table_id, 0, token.seat_number, token.person_id,
        sentences=(*former, *answer.sentences),
    )  # fmt: skip
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=f"gathered.{digest}",
            channel="mail",
            address={"person": token.person_id, "email": token.address},
            payload=msgspec.json.encode(notification),
            collapse_key=collapse_key,
            not_before=earlier.not_before if earlier else unit.now + GATHERED_FOR,
        )
    )


def _held_key(token: ReplyToken, code: str) -> str:
    return f"hold:{token.actor}:{code}"


def _offer_key(token: ReplyToken, message_id: str) -> str:
    return f"offer:{token.actor}:{message_id}"


class MailGateway:
    """Connects the mail channel to a service. `folder` has the bytes of emails that are not finished."""

    def __init__(
        self, service: Service, pictures: PictureWorkers, folder: Path, key: bytes, hosts: str = "verified"
    ) -> None:
        """hosts: who may host besides verified addresses, see `admits_host`."""
        self._service = service
        self._store = service.store
        self._pictures = pictures
        self._folder = folder
        self._key = key
        self._hosts = hosts
        self._reachability = Reachability(service)
        self._table_commands = TableCommands(service)

    # -- incoming mail -----------------------------------------------------------------------

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Store the bytes and count the attempt, before anything is read."""
        path = self._mail_path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(raw)
            path.with_suffix(".part").replace(path)
        async with self._store.begin(excludes_others=False) as unit:
            row = await unit.inbound_mail.record_attempt(digest, digest, path.name)
        folder = Folder(row.outcome.partition(":")[0]) if row.outcome else None
        return Arrival(row.attempts, folder)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Store the outcome with our replies and their tokens; no replies for a key stored already."""
        async with self._store.begin(excludes_others=False) as unit:
            is_new = await unit.inbound_mail.record_outcome(digest, f"{outcome.folder}: {outcome.reason}")
            if outcome.idempotency_key is not None and is_new:
                request_id = f"mail:{outcome.idempotency_key}"
                is_new = await unit.move_log.request_result(request_id) is None
                if is_new:
                    await unit.move_log.save_request_result(request_id, outcome.reason.encode())
            for reply in outcome.replies if is_new else ():
                await enqueue_mail(unit, reply, "answer")
            if outcome.gathered and is_new:
                await gather_answer(unit, _service_token(outcome.gathered.token), outcome.gathered, digest)
        if outcome.folder is not Folder.QUARANTINE:
            with suppress(OSError):
                self._mail_path(digest).unlink()
        self._service.wake_subscribers()

    async def delete_before(self, age: timedelta) -> None:
        """Delete what is kept of emails that were finished so long ago, and tokens that ended then."""
        async with self._store.begin() as unit:
            before = unit.now - age
            digests = await unit.inbound_mail.delete_finished(before)
            await unit.mail_tokens.delete_expired(before)
        for digest in digests:
            self._mail_path(digest).unlink(missing_ok=True)

    def _mail_path(self, digest: str) -> Path:
        return self._folder / f"{digest}.eml"

    async def count_replies(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        """The number of our replies since then, to that seat or address, for that reason."""
        fields = {"kind": "answer", "who": who, "reason": reason}
        async with self._store.read() as unit:
            return await unit.outbox.count(
                "mail", since, **{k: v for k, v in fields.items() if v is not None}
            )

    async def alert_operator(self, text: str) -> None:
        """Write to the log, which the operator reads."""
        log.error("for the operator: %s", text)

    # -- tokens and people -------------------------------------------------------------------

    async def find_token(self, token_hash: str) -> ServiceToken | None:
        """What the token with this hash may do now; None for one that is not valid."""
        async with self._store.read() as unit:
            token = await unit.mail_tokens.by_hash(token_hash)
            return await self._live_token(unit, token) if token else None

    async def find_token_by_message(self, message_id: str) -> ServiceToken | None:
        """The same by the Message-ID of the email that carried the token."""
        async with self._store.read() as unit:
            token = await unit.mail_tokens.by_message_id(message_id)
            return await self._live_token(unit, token) if token else None

    async def _live_token(self, unit: UnitOfWork, token: MailToken) -> ServiceToken | None:
        if not unit.mail_tokens.is_valid(token) or token.person_id is None or token.address is None:
            return None
        verified = frozenset(await unit.people.verified_addresses(token.person_id))
        has_fixed_address = token.purpose in FIXED_ADDRESS_PURPOSES
        if not has_fixed_address and token.address not in verified:
            return None
        table = await load_table_info(unit, await unit.tables.get(token.table_id)) if token.table_id else None
        seat_name = seat_key(table.id, token.seat) if table and token.seat is not None else None
        if table and seat_name and not has_fixed_address:
            player = table.player_at(token.seat if token.seat is not None else -1)
            if player is None or table.seat_of(token.person_id) != token.seat:
                return None
        return ServiceToken(
            msgspec.convert(token.purpose, TokenPurpose), token.address,
            verified | {token.address} if has_fixed_address else verified,
            table_label(table) if table else "", table.code if table else "", seat_name, token.decision_id,
            token.message_id,
            person_id=token.person_id, table_id=token.table_id, seat_number=token.seat,
        )  # fmt: skip

    async def _token_owner(self, unit: UnitOfWork, token: ReplyToken) -> int | None:
        """The id of the person to whom a token belongs."""
        if isinstance(token, ServiceToken):
            return token.person_id
        person = await unit.people.find_by_identity("email", token.address)
        return person.id if person else None

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """The person who has verified this address, with their seats in running games."""
        async with self._store.read() as unit:
            person = await unit.people.find_by_identity("email", address)
            if person is None or address.casefold() not in await unit.people.verified_addresses(person.id):
                return None
            rows = await unit.tables.for_person(person.id)
            seats = tuple(
                (f"{table.name} {table.code}", seat.name)
                for table, seat in rows
                if table.status in ("running", "paused") and seat.joined_at
            )
        return Correspondent(address, seats)

    # -- lines and queries -------------------------------------------------------------------

    async def vocabulary(self, token: ReplyToken) -> Vocabulary:
        """What the seat can say now; for a token without a seat, what the service reads itself."""
        service_token = _service_token(token)
        if service_token.table_id is None or service_token.seat_number is None:
            return Vocabulary(line_reader.SERVICE_VERBS)
        view = await self._service.queries.view(service_token.table_id)
        choices = await self._service.queries.choices(service_token.table_id, service_token.seat_number)
        return line_reader.vocabulary_of(
            view.state, service_token.seat_number, [choice.line for choice in choices]
        )

    async def readable_lines(self, token: ReplyToken, lines: Sequence[str]) -> frozenset[str]:
        """Those of the lines that the game or the service can read."""
        service_token = _service_token(token)
        if service_token.table_id is None or service_token.seat_number is None:
            return frozenset()
        view = await self._service.queries.view(service_token.table_id)
        return line_reader.readable_lines(view.state, service_token.seat_number, lines)

    async def try_lines(self, token: ReplyToken, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
        """What the lines would do if they were played now; None if they cannot all be played."""
        service_token = _service_token(token)
        if service_token.table_id is None or service_token.seat_number is None:
            return None
        view = await self._service.queries.view(service_token.table_id)
        return line_reader.try_lines(view.state, service_token.seat_number, lines)

    async def play(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> PlayResult:
        """Play the lines for the seat. Held lines that the player has released need no other confirmation."""
        seat = _seat_ref(token)
        result = await self._submit_lines(seat, lines, request_id)
        if isinstance(result, results.ConfirmationRequired) and request_id.startswith("held:"):
            result = await self._submit_lines(seat, [result.line], f"{request_id}:sure")
        return await self._mail_result(seat, lines[0], result)

    async def _submit_lines(
        self, seat: _SeatRef, lines: Sequence[str], request_id: str | None
    ) -> results.CommandResult:
        return await self._service.submit(
            seat.table_id, seat.seat_number, lines, seat.decision_id if request_id else None, request_id,
            person_id=seat.person_id, transport="mail",
        )  # fmt: skip

    async def _mail_result(
        self, seat: _SeatRef, first_line: str, result: results.CommandResult
    ) -> PlayResult:
        """The result of a command in the mail channel's own types."""
        view = await self._service.queries.view(seat.table_id)
        decision_id = view.decision_id_of(seat.seat_number) or view.current_decision_id
        legal = await self._legal_lines(view, seat.seat_number)
        waiting = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
        match result:
            case results.Completed():
                accepted = [
                    AcceptedLine(move.raw_line, " ".join(move.sentences) or move.line)
                    for move in result.played
                ]
                if not accepted:
                    accepted = [AcceptedLine(first_line, " ".join(result.sentences))]
                changes = await self._cash_changes(seat.table_id, result.played)
                undo = "Send `undo` to take it back." if result.played and not result.game_over else ""
                return LinesPlayed(tuple(accepted), changes, waiting, undo, decision_id, legal)
            case results.PollUpdated():
                return LinesPlayed(
                    (AcceptedLine(first_line, " ".join(result.sentences)),),
                    (),
                    waiting,
                    "",
                    decision_id,
                    legal,
                )
            case results.QueryAnswer():
                rows = tuple(
                    AcceptedLine(first_line, text) for text in result.text.splitlines() if text.strip()
                )
                return LinesPlayed(rows, (), waiting, "", decision_id, legal)
            case results.LineUnreadable():
                return LineRejected(
                    "unreadable", result.index, result.reason, decision_id, result.nearest or legal
                )
            case results.LineRefused():
                return LineRejected(
                    "refused", result.index, result.reason, decision_id, result.suggestions or legal
                )
            case results.LineAmbiguous():
                return LineRejected("ambiguous", result.index, result.reason, decision_id, result.choices)
            case results.StaleDecision():
                old = "a decision that is no longer open."
                return StaleReply(old, waiting, result.since, decision_id, legal)
            case results.ConfirmationRequired():
                return LineRejected("refused", 0, result.reason, decision_id, (result.line,))
            case results.NotYourSeat() | results.TableNotRunning():
                return LineRejected("refused", 0, result.reason, decision_id)

    async def _drawing(self, view: TableView, reader: int) -> Pictures:
        """Pictures for a table, which takes turns with the others, in the palette of the reader."""
        palette = await self._service.settings.palette(view.table, reader)
        return self._pictures.for_table(view.table.id, palette)

    async def _legal_lines(self, view: TableView, seat: int) -> tuple[str, ...]:
        """Legal lines to copy, where the seat has to act."""
        if view.decision_id_of(seat) is None:
            return ()
        return legal_lines.copyable_lines(await self._service.queries.choices(view.table.id, seat))

    async def _cash_changes(self, table_id: int, moves: Sequence[results.PlayedLine]) -> tuple[str, ...]:
        """Sentences about how the moves changed everybody's cash."""
        if not moves:
            return ()
        before = await self._service.queries.state_at(table_id, moves[0].seq - 1)
        after = await self._service.queries.state_at(table_id, moves[-1].seq)
        return tuple(text_views.cash_changes(before, after))

    async def query(self, token: ReplyToken, kind: QueryKind, argument: str) -> QueryResult:
        """Answer a query with text, and with its picture and files."""
        seat = _seat_ref(token)
        result = await self._submit_lines(seat, [f"{kind} {argument}".strip()], None)
        view = await self._service.queries.view(seat.table_id)
        decision_id = view.decision_id_of(seat.seat_number) or view.current_decision_id
        match result:
            case results.QueryAnswer():
                drawing = await self._drawing(view, seat.person_id)
                named = await answer_pictures(self._service.queries, drawing, view, result)
                images, drawn_files = mail_pictures(named)
                files = (*map(mail_file, result.files), *drawn_files)
                title = kind if kind == "try" else f"{kind} {argument}".strip()
                text = f"{result.text}\n{EMAIL_HELP}" if kind == "help" else result.text
                return QueryResult(title, text, images, decision_id, files)
            case results.LineUnreadable() | results.LineRefused() | results.LineAmbiguous():
                line = f"{result.line}: " if kind == "try" else ""
                return QueryResult(kind, f"{line}{result.reason}", (), decision_id)
            case results.TableNotRunning() | results.NotYourSeat():
                return QueryResult(kind, result.reason, (), decision_id)
            case _:
                raise AssertionError(f"the query {kind!r} had the result {type(result).__name__}")

    # -- confirmations -----------------------------------------------------------------------

    async def hold_lines(self, token: ReplyToken, lines: Sequence[str], request_id: str) -> str:
        """Store lines until the player confirms them; returns the code, which only we can compute."""
        mac = hmac.digest(self._key, f"hold:{request_id}".encode(), "sha256")
        code = base64.b32encode(mac).decode().lower()[:12]
        async with self._store.begin() as unit:
            key = _held_key(token, code)
            if await unit.move_log.request_result(key) is None:
                await unit.move_log.save_request_result(
                    key, msgspec.json.encode((list(lines), token.decision_id))
                )
        return code

    async def find_held_lines(self, token: ReplyToken, code: str) -> HeldLines | None:
        """The lines that are held under a code."""
        async with self._store.read() as unit:
            body = await unit.move_log.request_result(_held_key(token, code.lower()))
        if body is None:
            return None
        lines, decision_id = msgspec.json.decode(body, type=tuple[list[str], str | None])
        return HeldLines(tuple(lines), decision_id)

    async def find_offered_code(self, token: ReplyToken, message_ids: Sequence[str]) -> str | None:
        """The code that the email with this token offered, or the first of these emails that offered one."""
        async with self._store.read() as unit:
            for message_id in filter(None, (token.message_id, *message_ids[:5])):
                body = await unit.move_log.request_result(_offer_key(token, message_id))
                if body is not None:
                    return body.decode()
        return None

    async def confirm(self, token: ReplyToken, yes: bool) -> str:
        """Link an address, or answer an invitation; returns the sentence for the player."""
        service_token = _service_token(token)
        if service_token.purpose == "invite" and service_token.table_id is not None:
            return await self._answer_invitation(service_token, service_token.table_id, yes)
        if service_token.purpose in ("start", "keep", "agree") and service_token.table_id is not None:
            return await self._answer_lobby(service_token, service_token.table_id, yes)
        async with self._store.begin() as unit:
            claim = await unit.people.claim_of_person(service_token.person_id)
            if claim is None or claim.address != service_token.address:
                if service_token.address in await unit.people.verified_addresses(service_token.person_id):
                    return f"{service_token.address} is confirmed: your emails go there."
                return f"The request for {service_token.address} has expired. Please make it again."
            if not yes:
                await unit.people.delete_claims(service_token.person_id)
                return f"{service_token.address} is not linked."
            sentence = await self._link_address(unit, service_token.person_id, claim)
        self._service.wake_subscribers()
        return sentence

    async def _link_address(self, unit: UnitOfWork, person_id: int, claim: AddressClaim) -> str:
        """Link the address of a claim beside the person's others; their emails go there from now on."""
        try:
            await unit.people.accept_claim(claim)
        except AlreadyExists as error:
            return f"{error} Nothing was changed."
        person = await unit.people.get(person_id)
        await unit.people.update(person_id, preferences=person.preferences | {"mail": True})
        where = await address_commands.prefer(unit, person_id, claim.address)
        return f"{claim.address} is confirmed, and you can play by replying to your emails. {where}"

    async def _answer_invitation(self, token: ServiceToken, table_id: int, yes: bool) -> str:
        table = await self._service.queries.table_info(table_id)
        if token.seat_number is not None:
            return await self._answer_seat_offer(token, table, token.seat_number, yes)
        player = next((each for each in table.seated_players if each.person_id == token.person_id), None)
        if player is None:
            return f"The seat at {table_label(table)} is no longer kept for you."
        if player.joined:
            return f"You have a seat at {table_label(table)}, as {player.name}."
        try:
            if not yes:
                await self._service.lobby.leave(table_id, token.person_id, by=token.person_id)
                await self._tell_host(table_id, token.person_id, f"{player.name} has declined.")
                return f"You have declined the seat at {table_label(table)}."
            async with self._store.begin() as unit:
                await unit.people.add_identity(token.person_id, "email", token.address)
            info = await self._service.lobby.join(table_id, token.person_id, player.name)
            await self._tell_host(table_id, token.person_id, joined_sentence(info, player.name))
        except ValueError as error:
            return str(error)
        seat = f"You have a seat at {table_label(table)}, as {player.name}."
        return f"{seat} You get an email when it is your turn."

    async def _answer_seat_offer(self, token: ServiceToken, table: TableInfo, seat: int, yes: bool) -> str:
        """Take the seat of a game that has moved in, or decline it."""
        name = table.names[seat]
        if not yes:
            await self._tell_host(table.id, token.person_id, f"{name}'s player has declined the seat.")
            return f"You have declined the seat at {table_label(table)}."
        try:
            async with self._store.begin() as unit:
                await unit.people.add_identity(token.person_id, "email", token.address)
            told = await seat_commands.sit_down(
                self._service, table, seat, token.person_id, name, offered=True
            )
        except ValueError as error:
            return str(error)
        if len(open_seats(table)) > 1:  # with the last seat everybody is told that the game goes on
            await self._tell_host(table.id, token.person_id, f"{name} has taken their seat at {table.code}.")
        return told

    async def say(self, token: ReplyToken, text: str, request_id: str) -> None:
        """Tell the table something on every channel, as talk."""
        seat = _seat_ref(token)
        table = await self._service.queries.table_info(seat.table_id)
        player = table.player_at(seat.seat_number)
        name = player.name if player else "Somebody"
        await self._service.lobby.announce(seat.table_id, f"{name} says: {text}", "say", f"say:{request_id}")

    async def _tell_host(self, table_id: int, person_id: int, sentence: str | None) -> None:
        """Tell the host by mail how an invited person has answered, where there is a sentence for it."""
        table = await self._service.queries.table_info(table_id)
        if sentence is None or table.host_id is None or table.host_id == person_id:
            return
        async with self._store.begin() as unit:
            host = await load_recipient(unit, table.host_id, None)
            await unit.outbox.enqueue(*notifications.lobby_answers(table, host, sentence, unit.now))
        self._service.wake_subscribers()

    # -- tables by mail ----------------------------------------------------------------------

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        name: str,
        request_id: str,
        files: Sequence[MailFile] = (),
    ) -> TableAnswer | None:
        """Carry out a command about tables; None where it is none, or means something else here."""
        async with self._store.read() as unit:
            person_id = await self._token_owner(unit, token)
            known = await unit.move_log.request_result(f"table:{request_id}")
        table_id = token.table_id if isinstance(token, ServiceToken) else None
        is_about_address = bool(lines) and address_commands.is_address_command(lines[0])
        if person_id is None or not (
            is_about_address or await self._is_table_command(token, person_id, lines, table_id)
        ):
            return None
        if known is None:
            request = await self._begin_request(request_id)
            try:
                if is_about_address:
                    is_reply = isinstance(token, ServiceToken)
                    said = await address_commands.run(self._service, person_id, lines[0], is_reply)
                    answer = CommandAnswer(said, table_id)
                else:
                    answer = await self._table_commands.run(person_id, lines, table_id, name, request, files)
            except ValueError as error:
                answer = CommandAnswer((str(error),), table_id, is_done=False)
            async with self._store.begin() as unit:
                known = msgspec.json.encode((answer.sentences, answer.table_id, answer.is_done))
                await unit.move_log.save_request_result(f"table:{request_id}", known)
        sentences, about, is_done = msgspec.json.decode(known, type=tuple[tuple[str, ...], int | None, bool])
        return TableAnswer(sentences, await self._table_token(token, person_id, about), is_done)

    async def _begin_request(self, request_id: str) -> TableRequest:
        """Note that a request is begun, so that the next attempt after a crash knows."""
        async with self._store.begin() as unit:
            key = f"begun:{request_id}"
            is_repeated = await unit.move_log.request_result(key) is not None
            if not is_repeated:
                await unit.move_log.save_request_result(key, b"begun")
        return TableRequest(request_id, is_repeated)

    async def _is_table_command(
        self, token: ReplyToken, person_id: int, lines: Sequence[str], table_id: int | None
    ) -> bool:
        if not is_table_command(lines):
            return False
        word = first_word(lines[0])
        if token.seat is not None and word in SAID_IN_LOBBIES:
            return False
        if word in ("who", "list", "help", "ask") and len(lines[0].split()) > 2:
            return False  # prose
        if word not in ("start", *ROBOT_ANSWERS):
            return True
        if table_id is not None:
            return (await self._service.queries.table_info(table_id)).status == "lobby"
        return bool(await self._service.queries.list_tables(person_id=person_id, statuses=("lobby",)))

    async def _table_token(self, token: ReplyToken, person_id: int, table_id: int | None) -> ReplyToken:
        """What a reply to the answer stands for: the seat or the table that it is about."""
        if table_id is None:
            return token
        table = await self._service.queries.table_info(table_id)
        seat = table.seat_of(person_id)
        view = await self._service.queries.view(table_id)
        decision_id = None
        if view.state is not None and seat is not None:
            decision_id = view.decision_id_of(seat) or view.current_decision_id
        async with self._store.read() as unit:
            made = await reply_token_for(
                unit, person_id, table, seat if view.state is not None else None, decision_id
            )
        return replace(made, address=token.address) if made else token

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request_id: str
    ) -> TableAnswer | None:
        """Hold a command of an address that is not verified, if the operator admits it."""
        if not admits_host(self._hosts, address):
            return None
        async with self._store.begin() as unit:
            person = await people.person_by_address(unit, address, people.player_name(name) if name else "")
        token = ServiceToken("host", address, frozenset({address}), "", person_id=person.id)
        code = await self.hold_lines(token, lines, request_id)
        sentence = "Somebody has asked for a table with this address."
        return TableAnswer((sentence,), token, offered_code=code)

    async def confirm_host(self, token: ReplyToken) -> None:
        """The owner of the address has answered."""
        async with self._store.begin() as unit:
            await unit.people.add_identity(_service_token(token).person_id, "email", token.address)

    async def _answer_lobby(self, token: ServiceToken, table_id: int, yes: bool) -> str:
        """Start a game, keep a lobby open, or agree to a robot; returns the sentence for the player."""
        table = await self._service.queries.table_info(table_id)
        if token.purpose == "agree":
            word = "agree" if yes else "decline"
            return await self._table_commands.about_robots(token.person_id, table, word)
        if not yes:
            return f"Nothing is changed at {table_label(table)}."
        try:
            if token.purpose == "start":
                return " ".join((await self._table_commands.start(token.person_id, table)).sentences)
            await self._service.lobby.keep_open(table_id, by=token.person_id)
            return f"{table_label(table)} stays open."
        except ValueError as error:
            return str(error)

    # -- stopping and starting mail ----------------------------------------------------------

    async def stop_mail(self, token: ReplyToken) -> str:
        """Send no more emails to this person; returns the sentence that says so."""
        async with self._store.read() as unit:
            person_id = await self._token_owner(unit, token)
        addresses = [token.address]
        if person_id is not None:
            addresses = await self._reachability.stop(person_id, token.address) or addresses
        return (
            f"No more emails go to {text_views.join_words(addresses, 'or')}. You keep your seats. "
            "Reply to any email with `start` to get emails again."
        )

    async def start_mail(self, token: ReplyToken) -> str:
        """Send emails to this person again, at once one for each table that waits for them."""
        async with self._store.read() as unit:
            person_id = await self._token_owner(unit, token)
            if person_id is None or token.address not in await unit.people.verified_addresses(person_id):
                return f"{token.address} is not confirmed. Please link your address again."
        waiting = await self._reachability.restore(person_id)
        async with self._store.read() as unit:
            address = (await reachability.load_standing(unit, person_id)).address
        return f"Emails go to {address} again.{reachability.waiting_sentence(waiting)}"

    async def record_bounce(self, bounce: Bounce) -> None:
        """An email was not delivered: count what speaks against its address, and tell who has to know."""
        async with self._store.read() as unit:
            person_id = await self._token_owner(unit, bounce.token)
        if person_id is not None and (text := await self._reachability.record_bounce(person_id, bounce)):
            await self.alert_operator(text)

    async def heard_from(self, address: str) -> None:
        """The owner of a verified address has written."""
        async with self._store.read() as unit:
            person = await unit.people.find_by_identity("email", address)
            if person is None or address.casefold() not in await unit.people.verified_addresses(person.id):
                return
        await self._reachability.heard_from(person.id, address.casefold())

    async def recipient_refused(self, message_id: str, reason: str) -> None:
        """The mail server has refused an email for good."""
        if (token := await self.find_token_by_message(message_id)) is not None:
            await self.record_bounce(Bounce(token, message_id, "", classify(reason), reason[:200]))
