"""The service's side of the mail channel: what a letter may do, what it did, what it is answered.

Theory. A letter that goes out carries tokens; each is kept as a row that says whose it is, at which
table and seat, and for which decision, and is looked up by its hash. Nothing else about it is kept, so
what a token stands for is always as things are now: a seat that was handed on, an address that is no
longer somebody's, make its tokens mean nothing without anybody revoking them.

What comes in is kept before it is read (its bytes in a file named by their SHA-256, a row that counts
the attempts), and settled once: outcome, answer and tokens in one transaction, together with the key
by which the same letter is known when it comes by another way.
"""

from __future__ import annotations

import base64
import hmac
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import engine
from bot.service import legal_lines, notifications, text_views
from bot.service import results as replies
from bot.service.images import position_images
from bot.service.live_table import TableView
from bot.service.picture_workers import PictureWorkers
from bot.service.service import Service
from bot.service.table_cache import load_recipient, load_table_info
from bot.service.tables import TableInfo
from mail import OutgoingMail, ReplyToken
from mail.port import (
    AcceptedLine,
    Arrival,
    Attachment,
    Bounce,
    Correspondent,
    Folder,
    HeldLines,
    LineRejected,
    LinesPlayed,
    MailOutcome,
    PlayResult,
    QueryKind,
    QueryResult,
    StaleReply,
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

SERVICE_VERBS = frozenset(
    {
        "undo",
        "redo",
        "resign",
        "accept",
        "decline",
        "company",
        "player",
        "status",
        "turn",
        "sheet",
        "board",
        "plan",
        "try",
    }
)
REPLY_TOKEN_LIFETIME = timedelta(days=180)  # how long a letter can be answered
INVITATION_TOKEN_LIFETIME = timedelta(days=30)
BOUNCE_WINDOW = timedelta(days=30)  # a letter that came back
BOUNCE_LIMIT = 4  # points: 2 for each letter refused for good, 1 for each delayed
EMAIL_HELP = "By mail:\n  stop, start          no more letters; letters again"
FIXED_ADDRESS_PURPOSES = (
    "link",
    "invite",
    "bounce",
    "unsubscribe",
)  # tokens that belong to the address of their letter


@dataclass(frozen=True, slots=True)
class ServiceToken(ReplyToken):
    """What a token stands for, with the numbers by which the service knows it."""

    person_id: int = 0
    table_id: int | None = None
    seat_number: int | None = None


class _SeatRef(NamedTuple):
    """A seat as the service knows it, who sits there, and what the letter answers."""

    table_id: int
    seat_number: int
    person_id: int
    decision_id: str | None


def _service_token(sealed: ReplyToken) -> ServiceToken:
    if not isinstance(sealed, ServiceToken):
        raise TypeError("only what this desk gave out comes back to it")
    return sealed


def _seat_ref(sealed: ReplyToken) -> _SeatRef:
    seal = _service_token(sealed)
    if seal.table_id is None or seal.seat_number is None:
        raise TypeError("this token belongs to no seat")
    return _SeatRef(seal.table_id, seal.seat_number, seal.person_id, seal.decision_id)


def table_label(table: TableInfo) -> str:
    """How letters name a table."""
    return f"{table.name} {table.code}"


def seat_key(table: int, seat: int) -> str:
    """A seat's name among those of all tables."""
    return f"{table}.{seat}"


async def reply_token_for(
    unit: UnitOfWork, person: int, table: TableInfo | None, seat: int | None, decision: str | None
) -> ServiceToken | None:
    """What the answer to a letter of ours to that person may do; None for who has no verified address."""
    verified = await unit.people.verified_addresses(person)
    if not verified:
        return None
    key = seat_key(table.id, seat) if table and seat is not None else None
    return ServiceToken(
        "reply", verified[0], frozenset(verified), table_label(table) if table else "",
        table.code if table else "", key, decision,
        person_id=person, table_id=table.id if table else None, seat_number=seat,
    )  # fmt: skip


async def enqueue_letter(unit: UnitOfWork, letter: OutgoingMail, kind: str, group: str | None = None) -> None:
    """Keep a finished letter: its bytes in the outbox, its tokens by their hashes.

    kind: `answer` (counted where answers are limited) or `notice`. What still waits in the `group` is
    no longer sent.
    """
    for issued in letter.issued_tokens:
        sealed = issued.token
        carries = sealed.purpose not in ("bounce", "unsubscribe")
        lasting = INVITATION_TOKEN_LIFETIME if sealed.purpose in ("link", "invite") else REPLY_TOKEN_LIFETIME
        seal = sealed if isinstance(sealed, ServiceToken) else None
        owner = None if seal else await unit.people.find_by_identity("email", sealed.address)
        await unit.inbound_mail.add_token(
            issued.token_hash,
            sealed.purpose,
            table_id=seal.table_id if seal else None,
            seat=seal.seat_number if seal else None,
            person_id=seal.person_id if seal else owner.id if owner else None,
            decision_id=sealed.decision_id,
            address=letter.recipient,
            message_id=letter.message_id if carries else None,
            expires_at=unit.now + lasting,
        )
    address = {"to": letter.recipient, "sender": letter.envelope_sender, "kind": kind, "who": letter.actor}
    await unit.outbox.enqueue(
        NewMessage(
            idempotency_key=letter.message_id,
            channel="mail",
            address=address | {"reason": letter.reason},
            payload=letter.raw,
            collapse_key=group,
        )
    )


@cache
def game_verbs() -> frozenset[str]:
    """The words with which the lines of a game begin."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


def _held_key(sealed: ReplyToken, code: str) -> str:
    return f"hold:{sealed.actor}:{code}"


def _without_bounces(preferences: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in preferences.items() if key != "bounces"}


class MailGateway:
    """The desk of one service (`mail.Desk`). `folder` is where letters lie until they are settled."""

    def __init__(self, service: Service, pictures: PictureWorkers, folder: Path, key: bytes) -> None:
        self._service = service
        self._store = service.store
        self._pictures = pictures
        self._folder = folder
        self._key = key

    # -- the ledger --------------------------------------------------------------------------

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Keep the bytes and count the attempt, before anything is read."""
        path = self._mail_path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(raw)
            path.with_suffix(".part").replace(path)
        async with self._store.begin() as unit:
            row = await unit.inbound_mail.record_attempt(digest, digest, path.name)
        folder = Folder(row.outcome.partition(":")[0]) if row.outcome else None
        return Arrival(row.attempts, folder)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """The outcome with its letters and their tokens; no letters for a key that was settled before."""
        async with self._store.begin() as unit:
            fresh = await unit.inbound_mail.record_outcome(digest, f"{outcome.folder}: {outcome.reason}")
            if outcome.idempotency_key is not None and fresh:
                request = f"mail:{outcome.idempotency_key}"
                fresh = await unit.move_log.request_result(request) is None
                if fresh:
                    await unit.move_log.save_request_result(request, outcome.reason.encode())
            for letter in outcome.replies if fresh else ():
                await enqueue_letter(unit, letter, "answer")
        if outcome.folder is not Folder.QUARANTINE:
            with suppress(OSError):
                self._mail_path(digest).unlink()
        self._service.wake_subscribers()

    def _mail_path(self, digest: str) -> Path:
        return self._folder / f"{digest}.eml"

    async def count_replies(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        """How many answers there were."""
        asked = {"kind": "answer", "who": who, "reason": reason}
        async with self._store.read() as unit:
            return await unit.outbox.count("mail", since, **{k: v for k, v in asked.items() if v is not None})

    async def alert_operator(self, text: str) -> None:
        """Tell the operator, who reads the log."""
        log.error("for the operator: %s", text)

    # -- tokens and people -------------------------------------------------------------------

    async def find_token(self, sha: str) -> ServiceToken | None:
        """What a token stands for now."""
        async with self._store.read() as unit:
            token = await unit.inbound_mail.token_by_hash(sha)
            return await self._live_token(unit, token) if token else None

    async def find_token_by_message(self, message_id: str) -> ServiceToken | None:
        """The same by the letter that carried it."""
        async with self._store.read() as unit:
            token = await unit.inbound_mail.token_by_message_id(message_id)
            return await self._live_token(unit, token) if token else None

    async def _live_token(self, unit: UnitOfWork, token: MailToken) -> ServiceToken | None:
        if not unit.inbound_mail.is_token_valid(token) or token.person_id is None or token.address is None:
            return None
        verified = frozenset(await unit.people.verified_addresses(token.person_id))
        fixed = token.purpose in FIXED_ADDRESS_PURPOSES
        if not fixed and token.address not in verified:
            return None
        table = await load_table_info(unit, await unit.tables.get(token.table_id)) if token.table_id else None
        key = seat_key(table.id, token.seat) if table and token.seat is not None else None
        if table and key and not fixed:
            sitter = table.player_at(token.seat if token.seat is not None else -1)
            if sitter is None or sitter.person_id != token.person_id:
                return None
        return ServiceToken(
            msgspec.convert(token.purpose, TokenPurpose), token.address,
            verified | {token.address} if fixed else verified,
            table_label(table) if table else "", table.code if table else "", key, token.decision_id,
            person_id=token.person_id, table_id=token.table_id, seat_number=token.seat,
        )  # fmt: skip

    async def _token_owner(self, unit: UnitOfWork, sealed: ReplyToken) -> int | None:
        """Whose a token is."""
        if isinstance(sealed, ServiceToken):
            return sealed.person_id
        found = await unit.people.find_by_identity("email", sealed.address)
        return found.id if found else None

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """Who has verified this address, and his seats in play."""
        async with self._store.read() as unit:
            found = await unit.people.find_by_identity("email", address)
            if found is None or address.casefold() not in await unit.people.verified_addresses(found.id):
                return None
            rows = await unit.tables.for_person(found.id)
            seats = tuple(
                (f"{table.name} {table.code}", seat.name)
                for table, seat in rows
                if table.status in ("running", "paused") and seat.joined_at
            )
        return Correspondent(address, seats)

    # -- saying and showing ------------------------------------------------------------------

    async def verbs(self, sealed: ReplyToken) -> frozenset[str]:
        """The first words of lines."""
        return SERVICE_VERBS | game_verbs()

    async def play(self, sealed: ReplyToken, lines: Sequence[str], request: str) -> PlayResult:
        """Play the lines for the seat. What asks to be said twice has been, where it was held before."""
        seat = _seat_ref(sealed)
        said = await self._submit_lines(seat, lines, request)
        if isinstance(said, replies.ConfirmationRequired) and request.startswith("held:"):
            said = await self._submit_lines(seat, [said.line], f"{request}:sure")
        return await self._mail_result(seat, lines[0], said)

    async def _submit_lines(
        self, seat: _SeatRef, lines: Sequence[str], request: str | None
    ) -> replies.CommandResult:
        return await self._service.submit(
            seat.table_id, seat.seat_number, lines, seat.decision_id if request else None, request,
            person=seat.person_id, transport="mail",
        )  # fmt: skip

    async def _mail_result(self, seat: _SeatRef, first: str, said: replies.CommandResult) -> PlayResult:
        view = await self._service.view(seat.table_id)
        decision = view.decision_id_of(seat.seat_number) or view.current_decision_id
        offered = await self._legal_lines(view, seat.seat_number)
        waits = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
        match said:
            case replies.Completed():
                echoes = [AcceptedLine(m.raw_line, " ".join(m.sentences) or m.line) for m in said.played]
                if not echoes:
                    echoes = [AcceptedLine(first, " ".join(said.sentences))]
                changes = await self._cash_changes(seat.table_id, said.played)
                undo = "Say `undo` to take it back." if said.played and not said.game_over else ""
                return LinesPlayed(tuple(echoes), changes, waits, undo, decision, offered)
            case replies.PollUpdated():
                return LinesPlayed(
                    (AcceptedLine(first, " ".join(said.sentences)),), (), waits, "", decision, offered
                )
            case replies.QueryAnswer():
                rows = tuple(AcceptedLine(first, row) for row in said.text.splitlines() if row.strip())
                return LinesPlayed(rows, (), waits, "", decision, offered)
            case replies.LineUnreadable():
                return LineRejected("unreadable", said.index, said.reason, decision, said.nearest or offered)
            case replies.LineRefused():
                return LineRejected("refused", said.index, said.reason, decision, said.suggestions or offered)
            case replies.LineAmbiguous():
                return LineRejected("ambiguous", said.index, said.reason, decision, said.choices)
            case replies.StaleDecision():
                about = "a question that has been settled meanwhile."
                return StaleReply(about, waits, said.since, decision, offered)
            case replies.ConfirmationRequired():
                return LineRejected("refused", 0, said.reason, decision, (said.line,))
            case replies.NotYourSeat() | replies.TableNotRunning():
                return LineRejected("refused", 0, said.reason, decision)

    async def _legal_lines(self, view: TableView, seat: int) -> tuple[str, ...]:
        """Lines to copy, where something is asked of the seat."""
        if view.decision_id_of(seat) is None:
            return ()
        return legal_lines.copyable_lines(await self._service.choices(view.table.id, seat))

    async def _cash_changes(self, table: int, moves: Sequence[replies.PlayedLine]) -> tuple[str, ...]:
        """What the moves changed of everybody's cash."""
        if not moves:
            return ()
        before = await self._service.state_at(table, moves[0].seq - 1)
        after = await self._service.state_at(table, moves[-1].seq)
        return tuple(text_views.cash_changes(before, after))

    async def query(self, sealed: ReplyToken, what: QueryKind, rest: str) -> QueryResult:
        """Text, and the picture and the files that go with it."""
        seat = _seat_ref(sealed)
        said = await self._submit_lines(seat, [f"{what} {rest}".strip()], None)
        view = await self._service.view(seat.table_id)
        decision = view.decision_id_of(seat.seat_number) or view.current_decision_id
        match said:
            case replies.QueryAnswer():
                named = (said.picture,) if said.picture and view.state else ()
                state = said.shown_state(view.state) if view.state else None
                drawn = await position_images(self._pictures, state, named) if state else ()
                files = tuple(Attachment(file.name, file.media_type, file.content) for file in said.files)
                title = what if what == "try" else f"{what} {rest}".strip()
                text = f"{said.text}\n{EMAIL_HELP}" if what == "help" else said.text
                return QueryResult(title, text, drawn, decision, files)
            case replies.LineUnreadable() | replies.LineRefused() | replies.LineAmbiguous():
                about = f"{said.line}: " if what == "try" else ""
                return QueryResult(what, f"{about}{said.reason}", (), decision)
            case replies.TableNotRunning() | replies.NotYourSeat():
                return QueryResult(what, said.reason, (), decision)
            case _:
                raise AssertionError(f"{what!r} is a question, and was answered by {type(said).__name__}")

    # -- what waits for a word ---------------------------------------------------------------

    async def hold_lines(self, sealed: ReplyToken, lines: Sequence[str], request: str) -> str:
        """Keep lines under a code that only we can make from the request."""
        mac = hmac.digest(self._key, f"hold:{request}".encode(), "sha256")
        code = base64.b32encode(mac).decode().lower()[:12]
        async with self._store.begin() as unit:
            name = _held_key(sealed, code)
            if await unit.move_log.request_result(name) is None:
                await unit.move_log.save_request_result(
                    name, msgspec.json.encode((list(lines), sealed.decision_id))
                )
        return code

    async def find_held_lines(self, sealed: ReplyToken, code: str) -> HeldLines | None:
        """What waits under a code."""
        async with self._store.read() as unit:
            body = await unit.move_log.request_result(_held_key(sealed, code.lower()))
        if body is None:
            return None
        lines, decision = msgspec.json.decode(body, type=tuple[list[str], str | None])
        return HeldLines(tuple(lines), decision)

    async def confirm(self, sealed: ReplyToken, yes: bool) -> str:
        """An address is linked, or an invitation answered."""
        seal = _service_token(sealed)
        if seal.purpose == "invite" and seal.table_id is not None:
            return await self._answer_invitation(seal, seal.table_id, yes)
        async with self._store.begin() as unit:
            claim = await unit.people.claim_of_person(seal.person_id)
            if claim is None or claim.address != seal.address:
                if seal.address in await unit.people.verified_addresses(seal.person_id):
                    return f"{seal.address} is yours: letters go there."
                return f"{seal.address} is not asked about any more; ask again if you want letters there."
            if not yes:
                await unit.people.delete_claims(seal.person_id)
                return f"{seal.address} is not linked."
            sentence = await self._link_address(unit, seal.person_id, claim)
        self._service.wake_subscribers()
        return sentence

    async def _link_address(self, unit: UnitOfWork, person: int, claim: AddressClaim) -> str:
        """The address takes the place of the one before."""
        try:
            await unit.people.accept_claim(claim)
        except AlreadyExists as error:
            return f"{error} Nothing was changed."
        for address in await unit.people.verified_addresses(person):
            if address != claim.address:
                await unit.people.remove_identity(person, "email", address)
        known = await unit.people.get(person)
        await unit.people.update(person, preferences=_without_bounces(known.preferences) | {"mail": True})
        return f"{claim.address} is yours now: letters go there, and you can play by answering them."

    async def _answer_invitation(self, seal: ServiceToken, table_id: int, yes: bool) -> str:
        table = await self._service.table_info(table_id)
        sitter = next((s for s in table.seated_players if s.person_id == seal.person_id), None)
        if sitter is None:
            return f"No seat is kept for you at {table_label(table)} any more."
        if sitter.joined:
            return f"You have your seat at {table_label(table)}, as {sitter.name}."
        try:
            if not yes:
                await self._service.leave(table_id, seal.person_id, by=seal.person_id)
                return f"You have declined the seat at {table_label(table)}."
            async with self._store.begin() as unit:
                await unit.people.add_identity(seal.person_id, "email", seal.address)
            await self._service.join(table_id, seal.person_id, sitter.name)
        except ValueError as error:
            return str(error)
        seat = f"You have your seat at {table_label(table)}, as {sitter.name}."
        return f"{seat} A letter comes when it is your turn."

    # -- no more letters ---------------------------------------------------------------------

    async def stop_mail(self, sealed: ReplyToken) -> str:
        """No more letters to this person."""
        async with self._store.begin() as unit:
            person = await self._token_owner(unit, sealed)
            if person is not None and isinstance(sealed, ServiceToken) and sealed.address not in {
                identity.value for identity in await unit.people.identities(person)
            }:  # fmt: skip
                await unit.people.delete_claims(person)  # an address that somebody else said was his
            elif person is not None:
                await self._stop_letters(unit, person)
        return (
            f"No more letters go to {sealed.address}. Your seats stay yours. "
            "Answer any letter with `start` to have letters again."
        )

    async def start_mail(self, sealed: ReplyToken) -> str:
        """Letters to this person again, and at once one for each question that waits for him."""
        async with self._store.begin() as unit:
            person = await self._token_owner(unit, sealed)
            if person is None or sealed.address not in await unit.people.verified_addresses(person):
                return f"{sealed.address} is nobody's here; ask for letters anew."
            known = await unit.people.get(person)
            wanted = _without_bounces(known.preferences) | {"mail": True}
            await unit.people.update(person, preferences=wanted)
            tables = {
                table.id for table, _ in await unit.tables.for_person(person) if table.status == "running"
            }
        waits = [table_label(t) for table in sorted(tables) if (t := await self._prompt_again(table, person))]
        self._service.wake_subscribers()
        more = f" {text_views.join_words(waits)} waits for you: a letter follows." if waits else ""
        return f"Letters go to {sealed.address} again.{more}"

    async def _prompt_again(self, table: int, person: int) -> TableInfo | None:
        """A letter about what a table asks of somebody now; the table, if it does."""
        view = await self._service.view(table)
        seat = view.table.seat_of(person)
        asked = next((a for a in view.pending if a.seat == seat), None)
        if asked is None or seat is None:
            return None
        async with self._store.begin() as unit:
            for parcel in notifications.turn_reminders(
                view.table, view.seq, asked, await load_recipient(unit, person, seat), unit.now
            ):
                await unit.outbox.enqueue(parcel)
        return view.table

    async def _stop_letters(self, unit: UnitOfWork, person: int) -> None:
        known = await unit.people.get(person)
        await unit.people.update(person, preferences=known.preferences | {"mail": False})
        others = [i for i in await unit.people.identities(person) if i.kind != "email"]
        seats = [s for t, s in await unit.tables.for_person(person) if t.status in ("running", "paused")]
        if seats and not others:
            await self.alert_operator(
                f"{known.name} gets no more letters, and cannot be reached in another way."
            )

    async def record_bounce(self, bounced: Bounce) -> None:
        """Count a letter that came back; after some, no more are sent."""
        points = 2 if bounced.is_permanent else 1
        async with self._store.begin() as unit:
            person = await self._token_owner(unit, bounced.token)
            if person is None:
                return
            known = await unit.people.get(person)
            since = (unit.now - BOUNCE_WINDOW).isoformat()
            former = known.preferences.get("bounces", {})
            counted = {id: entry for id, entry in former.items() if entry[1] >= since}
            counted.setdefault(bounced.message_id, [points, unit.now.isoformat()])
            await unit.people.update(person, preferences=known.preferences | {"bounces": counted})
            if sum(entry[0] for entry in counted.values()) >= BOUNCE_LIMIT and known.preferences.get(
                "mail", True
            ):
                await self._stop_letters(unit, person)
                await self.alert_operator(f"Letters to {known.name} come back; no more are sent there.")

    async def recipient_refused(self, message_id: str) -> None:
        """A letter whose recipient was refused for good while it was handed in."""
        if (sealed := await self.find_token_by_message(message_id)) is not None:
            await self.record_bounce(Bounce(sealed, message_id, "5.1.1"))
