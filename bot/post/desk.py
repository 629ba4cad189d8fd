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
from bot import answers as replies
from bot import legal, notices, words
from bot.figures import figures
from bot.memory import info_of, reach
from bot.pictures import Pictures
from bot.play import View
from bot.service import Service
from bot.tables import TableInfo
from mail import Outgoing, Sealed
from mail.desk import (
    Answer,
    Arrival,
    Bounced,
    Done,
    Echo,
    Enclosure,
    Folder,
    Held,
    NotDone,
    Outcome,
    Person,
    Purpose,
    Show,
    Shown,
    Stale,
)
from storage import Claim, Parcel, Taken, Token, Unit

log = logging.getLogger(__name__)

WORDS = frozenset(
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
HOLDS = timedelta(days=180)  # how long a letter can be answered
INVITES = timedelta(days=30)
FORGETS = timedelta(days=30)  # a letter that came back
ENOUGH = 4  # points: 2 for each letter refused for good, 1 for each delayed
BY_MAIL = "By mail:\n  stop, start          no more letters; letters again"
FIXED = ("link", "invite", "bounce", "unsubscribe")  # tokens that belong to the address of their letter


@dataclass(frozen=True, slots=True)
class Seal(Sealed):
    """What a token stands for, with the numbers by which the service knows it."""

    person: int = 0
    table_id: int | None = None
    number: int | None = None


class _Seated(NamedTuple):
    """A seat as the service knows it, who sits there, and what the letter answers."""

    table: int
    number: int
    person: int
    decision: str | None


def _own(sealed: Sealed) -> Seal:
    if not isinstance(sealed, Seal):
        raise TypeError("only what this desk gave out comes back to it")
    return sealed


def _seated(sealed: Sealed) -> _Seated:
    seal = _own(sealed)
    if seal.table_id is None or seal.number is None:
        raise TypeError("this token belongs to no seat")
    return _Seated(seal.table_id, seal.number, seal.person, seal.decision)


def label(table: TableInfo) -> str:
    """How letters name a table."""
    return f"{table.name} {table.code}"


def seat_key(table: int, seat: int) -> str:
    """A seat's name among those of all tables."""
    return f"{table}.{seat}"


async def seal_for(
    unit: Unit, person: int, table: TableInfo | None, seat: int | None, decision: str | None
) -> Seal | None:
    """What the answer to a letter of ours to that person may do; None for who has no verified address."""
    verified = await unit.people.addresses(person)
    if not verified:
        return None
    key = seat_key(table.id, seat) if table and seat is not None else None
    return Seal(
        "reply", verified[0], frozenset(verified), label(table) if table else "",
        table.code if table else "", key, decision,
        person=person, table_id=table.id if table else None, number=seat,
    )  # fmt: skip


async def post(unit: Unit, letter: Outgoing, kind: str, group: str | None = None) -> None:
    """Keep a finished letter: its bytes in the outbox, its tokens by their hashes.

    kind: `answer` (counted where answers are limited) or `notice`. What still waits in the `group` is
    no longer sent.
    """
    for issued in letter.issued:
        sealed = issued.sealed
        carries = sealed.purpose not in ("bounce", "unsubscribe")
        lasting = INVITES if sealed.purpose in ("link", "invite") else HOLDS
        seal = sealed if isinstance(sealed, Seal) else None
        owner = None if seal else await unit.people.find("email", sealed.address)
        await unit.letters.enter(
            issued.sha,
            sealed.purpose,
            table_id=seal.table_id if seal else None,
            seat=seal.number if seal else None,
            person_id=seal.person if seal else owner.id if owner else None,
            decision=sealed.decision,
            address=letter.to,
            carrier=letter.message_id if carries else None,
            expires=unit.now + lasting,
        )
    address = {"to": letter.to, "sender": letter.sender, "kind": kind, "who": letter.who}
    await unit.outbox.enqueue(
        Parcel(
            key=letter.message_id,
            channel="mail",
            address=address | {"reason": letter.reason},
            payload=letter.raw,
            supersedes=group,
        )
    )


@cache
def game_words() -> frozenset[str]:
    """The words with which the lines of a game begin."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


def _held_name(sealed: Sealed, code: str) -> str:
    return f"hold:{sealed.who}:{code}"


def _without_bounces(preferences: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in preferences.items() if key != "bounces"}


class ServiceDesk:
    """The desk of one service (`mail.Desk`). `folder` is where letters lie until they are settled."""

    def __init__(self, service: Service, pictures: Pictures, folder: Path, key: bytes) -> None:
        self._service = service
        self._store = service.store
        self._pictures = pictures
        self._folder = folder
        self._key = key

    # -- the ledger --------------------------------------------------------------------------

    async def received(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Keep the bytes and count the attempt, before anything is read."""
        path = self._path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(raw)
            path.with_suffix(".part").replace(path)
        async with self._store.begin() as unit:
            row = await unit.letters.receive(digest, digest, path.name)
        folder = Folder(row.outcome.partition(":")[0]) if row.outcome else None
        return Arrival(row.attempts, folder)

    async def settle(self, digest: str, outcome: Outcome) -> None:
        """The outcome with its letters and their tokens; no letters for a key that was settled before."""
        async with self._store.begin() as unit:
            fresh = await unit.letters.settle(digest, f"{outcome.folder}: {outcome.verdict}")
            if outcome.key is not None and fresh:
                request = f"mail:{outcome.key}"
                fresh = await unit.moves.answered(request) is None
                if fresh:
                    await unit.moves.remember(request, outcome.verdict.encode())
            for letter in outcome.letters if fresh else ():
                await post(unit, letter, "answer")
        if outcome.folder is not Folder.QUARANTINE:
            with suppress(OSError):
                self._path(digest).unlink()
        self._service.changed()

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}.eml"

    async def answers(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        """How many answers there were."""
        asked = {"kind": "answer", "who": who, "reason": reason}
        async with self._store.read() as unit:
            return await unit.outbox.count("mail", since, **{k: v for k, v in asked.items() if v is not None})

    async def alert(self, text: str) -> None:
        """Tell the operator, who reads the log."""
        log.error("for the operator: %s", text)

    # -- tokens and people -------------------------------------------------------------------

    async def sealed(self, sha: str) -> Seal | None:
        """What a token stands for now."""
        async with self._store.read() as unit:
            token = await unit.letters.entered(sha)
            return await self._seal(unit, token) if token else None

    async def sealed_by_message(self, message_id: str) -> Seal | None:
        """The same by the letter that carried it."""
        async with self._store.read() as unit:
            token = await unit.letters.carried(message_id)
            return await self._seal(unit, token) if token else None

    async def _seal(self, unit: Unit, token: Token) -> Seal | None:
        if not unit.letters.holds(token) or token.person_id is None or token.address is None:
            return None
        verified = frozenset(await unit.people.addresses(token.person_id))
        fixed = token.purpose in FIXED
        if not fixed and token.address not in verified:
            return None
        table = await info_of(unit, await unit.games.get(token.table_id)) if token.table_id else None
        key = seat_key(table.id, token.seat) if table and token.seat is not None else None
        if table and key and not fixed:
            sitter = table.at(token.seat if token.seat is not None else -1)
            if sitter is None or sitter.person != token.person_id:
                return None
        return Seal(
            msgspec.convert(token.purpose, Purpose), token.address,
            verified | {token.address} if fixed else verified,
            label(table) if table else "", table.code if table else "", key, token.decision,
            person=token.person_id, table_id=token.table_id, number=token.seat,
        )  # fmt: skip

    async def _owner(self, unit: Unit, sealed: Sealed) -> int | None:
        """Whose a token is."""
        if isinstance(sealed, Seal):
            return sealed.person
        found = await unit.people.find("email", sealed.address)
        return found.id if found else None

    async def person(self, address: str) -> Person | None:
        """Who has verified this address, and his seats in play."""
        async with self._store.read() as unit:
            found = await unit.people.find("email", address)
            if found is None or address.casefold() not in await unit.people.addresses(found.id):
                return None
            rows = await unit.games.of_person(found.id)
            seats = tuple(
                (f"{table.name} {table.code}", seat.name)
                for table, seat in rows
                if table.status in ("running", "paused") and seat.joined
            )
        return Person(address, seats)

    # -- saying and showing ------------------------------------------------------------------

    async def verbs(self, sealed: Sealed) -> frozenset[str]:
        """The first words of lines."""
        return WORDS | game_words()

    async def say(self, sealed: Sealed, lines: Sequence[str], request: str) -> Answer:
        """Play the lines for the seat. What asks to be said twice has been, where it was held before."""
        seat = _seated(sealed)
        said = await self._say(seat, lines, request)
        if isinstance(said, replies.Confirm) and request.startswith("held:"):
            said = await self._say(seat, [said.line], f"{request}:sure")
        return await self._told(seat, lines[0], said)

    async def _say(self, seat: _Seated, lines: Sequence[str], request: str | None) -> replies.Answer:
        return await self._service.say(
            seat.table, seat.number, lines, seat.decision if request else None, request,
            person=seat.person, transport="mail",
        )  # fmt: skip

    async def _told(self, seat: _Seated, first: str, said: replies.Answer) -> Answer:
        view = await self._service.view(seat.table)
        decision = view.decision(seat.number) or view.now
        offered = await self._legal(view, seat.number)
        waits = words.waiting(view.state, view.asked) if view.state else ""
        match said:
            case replies.Done():
                echoes = [Echo(m.said, " ".join(m.sentences) or m.line) for m in said.moves]
                if not echoes:
                    echoes = [Echo(first, " ".join(said.sentences))]
                changes = await self._changes(seat.table, said.moves)
                undo = "Say `undo` to take it back." if said.moves and not said.over else ""
                return Done(tuple(echoes), changes, waits, undo, decision, offered)
            case replies.Voted():
                return Done((Echo(first, " ".join(said.sentences)),), (), waits, "", decision, offered)
            case replies.Shown():
                rows = tuple(Echo(first, row) for row in said.text.splitlines() if row.strip())
                return Done(rows, (), waits, "", decision, offered)
            case replies.Unreadable():
                return NotDone("unreadable", said.index, said.reason, decision, said.nearest or offered)
            case replies.Refused():
                return NotDone("refused", said.index, said.reason, decision, said.suggestions or offered)
            case replies.Ambiguous():
                return NotDone("ambiguous", said.index, said.reason, decision, said.choices)
            case replies.Stale():
                about = "a question that has been settled meanwhile."
                return Stale(about, waits, said.since, decision, offered)
            case replies.Confirm():
                return NotDone("refused", 0, said.reason, decision, (said.line,))
            case replies.NotYours() | replies.Closed():
                return NotDone("refused", 0, said.reason, decision)

    async def _legal(self, view: View, seat: int) -> tuple[str, ...]:
        """Lines to copy, where something is asked of the seat."""
        if view.decision(seat) is None:
            return ()
        return legal.lines(await self._service.choices(view.table.id, seat))

    async def _changes(self, table: int, moves: Sequence[replies.Moved]) -> tuple[str, ...]:
        """What the moves changed of everybody's cash."""
        if not moves:
            return ()
        before = await self._service.state_at(table, moves[0].seq - 1)
        after = await self._service.state_at(table, moves[-1].seq)
        return tuple(words.cash_changes(before, after))

    async def show(self, sealed: Sealed, what: Show, rest: str) -> Shown:
        """Text, and the picture and the files that go with it."""
        seat = _seated(sealed)
        said = await self._say(seat, [f"{what} {rest}".strip()], None)
        view = await self._service.view(seat.table)
        decision = view.decision(seat.number) or view.now
        match said:
            case replies.Shown():
                named = (said.picture,) if said.picture and view.state else ()
                state = said.state(view.state) if view.state else None
                drawn = await figures(self._pictures, state, named) if state else ()
                files = tuple(Enclosure(file.name, file.media, file.content) for file in said.files)
                title = what if what == "try" else f"{what} {rest}".strip()
                text = f"{said.text}\n{BY_MAIL}" if what == "help" else said.text
                return Shown(title, text, drawn, decision, files)
            case replies.Unreadable() | replies.Refused() | replies.Ambiguous():
                about = f"{said.line}: " if what == "try" else ""
                return Shown(what, f"{about}{said.reason}", (), decision)
            case replies.Closed() | replies.NotYours():
                return Shown(what, said.reason, (), decision)
            case _:
                raise AssertionError(f"{what!r} is a question, and was answered by {type(said).__name__}")

    # -- what waits for a word ---------------------------------------------------------------

    async def hold(self, sealed: Sealed, lines: Sequence[str], request: str) -> str:
        """Keep lines under a code that only we can make from the request."""
        mac = hmac.digest(self._key, f"hold:{request}".encode(), "sha256")
        code = base64.b32encode(mac).decode().lower()[:12]
        async with self._store.begin() as unit:
            name = _held_name(sealed, code)
            if await unit.moves.answered(name) is None:
                await unit.moves.remember(name, msgspec.json.encode((list(lines), sealed.decision)))
        return code

    async def held(self, sealed: Sealed, code: str) -> Held | None:
        """What waits under a code."""
        async with self._store.read() as unit:
            body = await unit.moves.answered(_held_name(sealed, code.lower()))
        if body is None:
            return None
        lines, decision = msgspec.json.decode(body, type=tuple[list[str], str | None])
        return Held(tuple(lines), decision)

    async def confirm(self, sealed: Sealed, yes: bool) -> str:
        """An address is linked, or an invitation answered."""
        seal = _own(sealed)
        if seal.purpose == "invite" and seal.table_id is not None:
            return await self._invited(seal, seal.table_id, yes)
        async with self._store.begin() as unit:
            claim = await unit.people.claim_of(seal.person)
            if claim is None or claim.value != seal.address:
                if seal.address in await unit.people.addresses(seal.person):
                    return f"{seal.address} is yours: letters go there."
                return f"{seal.address} is not asked about any more; ask again if you want letters there."
            if not yes:
                await unit.people.disclaim(seal.person)
                return f"{seal.address} is not linked."
            sentence = await self._link(unit, seal.person, claim)
        self._service.changed()
        return sentence

    async def _link(self, unit: Unit, person: int, claim: Claim) -> str:
        """The address takes the place of the one before."""
        try:
            await unit.people.verify(claim)
        except Taken as error:
            return f"{error} Nothing was changed."
        for address in await unit.people.addresses(person):
            if address != claim.value:
                await unit.people.forget(person, "email", address)
        known = await unit.people.get(person)
        await unit.people.change(person, preferences=_without_bounces(known.preferences) | {"mail": True})
        return f"{claim.value} is yours now: letters go there, and you can play by answering them."

    async def _invited(self, seal: Seal, table_id: int, yes: bool) -> str:
        table = await self._service.table(table_id)
        sitter = next((s for s in table.sitters if s.person == seal.person), None)
        if sitter is None:
            return f"No seat is kept for you at {label(table)} any more."
        if sitter.joined:
            return f"You have your seat at {label(table)}, as {sitter.name}."
        try:
            if not yes:
                await self._service.leave(table_id, seal.person, by=seal.person)
                return f"You have declined the seat at {label(table)}."
            async with self._store.begin() as unit:
                await unit.people.identify(seal.person, "email", seal.address)
            await self._service.join(table_id, seal.person, sitter.name)
        except ValueError as error:
            return str(error)
        return f"You have your seat at {label(table)}, as {sitter.name}. A letter comes when it is your turn."

    # -- no more letters ---------------------------------------------------------------------

    async def stop(self, sealed: Sealed) -> str:
        """No more letters to this person."""
        async with self._store.begin() as unit:
            person = await self._owner(unit, sealed)
            if person is not None and isinstance(sealed, Seal) and sealed.address not in {
                identity.value for identity in await unit.people.identities(person)
            }:  # fmt: skip
                await unit.people.disclaim(person)  # an address that somebody else said was his
            elif person is not None:
                await self._silence(unit, person)
        return (
            f"No more letters go to {sealed.address}. Your seats stay yours. "
            "Answer any letter with `start` to have letters again."
        )

    async def start(self, sealed: Sealed) -> str:
        """Letters to this person again, and at once one for each question that waits for him."""
        async with self._store.begin() as unit:
            person = await self._owner(unit, sealed)
            if person is None or sealed.address not in await unit.people.addresses(person):
                return f"{sealed.address} is nobody's here; ask for letters anew."
            known = await unit.people.get(person)
            wanted = _without_bounces(known.preferences) | {"mail": True}
            await unit.people.change(person, preferences=wanted)
            tables = {
                table.id for table, _ in await unit.games.of_person(person) if table.status == "running"
            }
        waits = [label(t) for table in sorted(tables) if (t := await self._asked_again(table, person))]
        self._service.changed()
        more = f" {words.listed(waits)} waits for you: a letter follows." if waits else ""
        return f"Letters go to {sealed.address} again.{more}"

    async def _asked_again(self, table: int, person: int) -> TableInfo | None:
        """A letter about what a table asks of somebody now; the table, if it does."""
        view = await self._service.view(table)
        seat = view.table.seat_of(person)
        asked = next((a for a in view.asked if a.seat == seat), None)
        if asked is None or seat is None:
            return None
        async with self._store.begin() as unit:
            for parcel in notices.again(
                view.table, view.seq, asked, await reach(unit, person, seat), unit.now
            ):
                await unit.outbox.enqueue(parcel)
        return view.table

    async def _silence(self, unit: Unit, person: int) -> None:
        known = await unit.people.get(person)
        await unit.people.change(person, preferences=known.preferences | {"mail": False})
        others = [i for i in await unit.people.identities(person) if i.kind != "email"]
        seats = [s for t, s in await unit.games.of_person(person) if t.status in ("running", "paused")]
        if seats and not others:
            await self.alert(f"{known.name} gets no more letters, and cannot be reached in another way.")

    async def bounced(self, bounced: Bounced) -> None:
        """Count a letter that came back; after some, no more are sent."""
        points = 2 if bounced.permanent else 1
        async with self._store.begin() as unit:
            person = await self._owner(unit, bounced.sealed)
            if person is None:
                return
            known = await unit.people.get(person)
            since = (unit.now - FORGETS).isoformat()
            former = known.preferences.get("bounces", {})
            counted = {id: entry for id, entry in former.items() if entry[1] >= since}
            counted.setdefault(bounced.message_id, [points, unit.now.isoformat()])
            await unit.people.change(person, preferences=known.preferences | {"bounces": counted})
            if sum(entry[0] for entry in counted.values()) >= ENOUGH and known.preferences.get("mail", True):
                await self._silence(unit, person)
                await self.alert(f"Letters to {known.name} come back; no more are sent there.")

    async def refused(self, message_id: str) -> None:
        """A letter whose recipient was refused for good while it was handed in."""
        if (sealed := await self.sealed_by_message(message_id)) is not None:
            await self.bounced(Bounced(sealed, message_id, "5.1.1"))
