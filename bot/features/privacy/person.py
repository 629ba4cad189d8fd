"""What is stored about a person: as one file; or deleted, at every table, in every text, then the person."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec

import engine
from bot.features.privacy.files import DataFolder
from bot.features.privacy.replacing import SOMEBODY, Replacing
from bot.hub.cache import TableCache
from bot.hub.changes import again_on_conflict, leave_game, leave_lobby
from bot.hub.commit import CommitDraft
from bot.hub.notifications import messages
from bot.hub.notifications.messages import unique_suffix
from bot.hub.notifications.preferences import with_deputy
from bot.hub.people import Limits, PrivacySettings, personal_email, player_name
from bot.hub.polls import PollHandler
from bot.hub.seating import hand_over
from bot.hub.table import LiveTable
from bot.position.controls import ExportedFile
from bot.position.pending import engine_seat
from engine.core.events import PlayerRenamed
from mail.reply_address import redact
from storage import LogRow, NotFound, UnitOfWork

Wanted = Literal["export", "erase"]
"""What a person may want, and the purpose of the token in the email that asks whether it is them."""
MAILBOX = "erased.mailbox"
"""The setting of the store with the addresses whose mail is still to be deleted from the mailbox."""

Forget = Callable[[UnitOfWork, int, Callable[[str], bool]], Awaitable[None]]
"""A feature deletes what it keeps of a person in a form of its own. It is given their id, and what says
whether a text names them."""
SHORTEST_TEXT = 6
"""Characters from which a text is looked for in results; a shorter one, such as `pass`, is in everybody's."""
NO_TEXTS = frozenset({"feature", "ended_reason"})
"""Fields of facts and orders that the program has written, not the person."""


class Traces(NamedTuple):
    """By what a person is known. discord, addresses: their identities. names: theirs and those of their
    seats."""

    discord: tuple[str, ...]
    addresses: tuple[str, ...]
    names: tuple[str, ...]


class PersonalData:
    """Hands out and deletes what is stored about a person."""

    def __init__(
        self,
        cache: TableCache,
        polls: PollHandler,
        limits: Limits,
        settings: PrivacySettings,
        forget: Sequence[Forget] = (),
    ) -> None:
        """forget: called in the transaction that deletes the person."""
        self._cache, self._store, self._polls, self._limits = cache, cache.store, polls, limits
        self._folder = DataFolder(settings.data) if settings.data else None
        self.settings, self._forget = settings, forget
        self._erasing = asyncio.Lock()

    # -- the file ----------------------------------------------------------------------------

    async def export(self, person_id: int) -> ExportedFile:
        """All that is stored about a person as one JSON file, without secrets. Raises LimitReached."""
        await self._limits.count_query(self._store, person_id, "exports")
        async with self._store.read() as unit:
            rows = await unit.personal_data.rows_of(person_id)
            traces = await _traces(unit, person_id)
            sent = await unit.personal_data.messages(lambda address: _is_to(address, person_id, traces))
            verified = await unit.people.all_verified_addresses()
        rows["messages"] = msgspec.json.decode(redact(msgspec.json.encode(sent).decode()))
        if self._folder is not None:
            rows["mails"] = [{"text": each} for each in self._folder.mails_from(traces.addresses, verified)]
        text = msgspec.json.format(msgspec.json.encode(rows, enc_hook=_plain), indent=1)
        return ExportedFile("my-data.json", "application/json", text)

    async def ask_by_mail(self, person_id: int, what: Wanted) -> str:
        """Send an email in which a person confirms what they want; what they are told. Raises ValueError."""
        async with self._store.begin() as unit:
            addresses = await unit.people.verified_addresses(person_id)
            if not addresses:
                raise ValueError("No email address of yours is confirmed.")
            await self._limits.count(unit, person_id, "claims")
            key = f"personal.{person_id}.{unique_suffix()}"
            email = personal_email(person_id, addresses[0], what, key, collapse=f"personal:{person_id}")
            await unit.outbox.enqueue(email)
        self._cache.wake_subscribers()
        return f"An email goes to {addresses[0]}. Reply `yes` to it, so that nobody else asks for you."

    async def erased_addresses(self) -> list[str]:
        """The addresses whose mail is still to be deleted from the mailbox."""
        async with self._store.read() as unit:
            return await _waiting_addresses(unit)

    async def addresses_of_others(self) -> frozenset[str]:
        """The addresses of the people who are left."""
        async with self._store.read() as unit:
            return await unit.people.all_verified_addresses()

    async def mailbox_is_erased(self, addresses: Sequence[str]) -> None:
        """The mail of these addresses is deleted from the mailbox, and from the folder of the process that
        reads it, which may be another than the one that was asked to erase."""
        if self._folder is not None:
            replacing, of_others = Replacing(addresses, ()), await self.addresses_of_others()
            await asyncio.to_thread(self._folder.erase_mails, replacing, of_others)
        async with self._store.begin() as unit:
            left = [each for each in await _waiting_addresses(unit) if each not in addresses]
            if left:
                await unit.settings.set(MAILBOX, msgspec.json.encode(left).decode())
            else:
                await unit.settings.delete(MAILBOX)

    # -- the end -----------------------------------------------------------------------------

    async def erase(self, person_id: int) -> None:
        """Delete a person and all texts that name them. The rows of the person go last, so after a failure it
        can be asked for again. A second press waits for the first, and finds nobody."""
        async with self._erasing:
            try:
                async with self._store.read() as unit:
                    traces = await _traces(unit, person_id)
                    table_ids = await unit.personal_data.table_ids(person_id)
            except NotFound:
                return
            await self._erase(person_id, traces, table_ids)
        self._cache.wake_subscribers()

    async def _erase(self, person_id: int, traces: Traces, table_ids: Sequence[int]) -> None:
        rest = Replacing((*traces.discord, *traces.addresses), traces.names)
        if self._folder is not None:
            codes = [(await self._cache.info(table_id)).code for table_id in table_ids]
            await self._folder.erase(rest, codes, await self.addresses_of_others())
        for table_id in table_ids:
            await self._leave(table_id, person_id, traces)
        await self._erase_person(person_id, traces, rest)

    @again_on_conflict
    async def _leave(self, table_id: int, person_id: int, traces: Traces) -> None:
        """Empty the seat of a person at a table, and put its name in place of their own in all texts."""
        async with self._cache.locked(table_id) as table:
            info, seat = table.stored_info, _last_seat(table, person_id)
            async with self._cache.commit(table) as draft:
                unit = await draft.unit()
                own = await unit.personal_data.seats(person_id, table_id)
                numbers = [each.number for each in own if each.number is not None]
                others = {p.name.casefold() for p in info.seated_players if p.person_id != person_id}
                others |= {name.casefold() for number, name in enumerate(info.names) if number != seat}
                word = _seat_name(numbers[-1], others) if numbers else SOMEBODY
                names = [name for name in traces.names if name.casefold() not in others]
                replacing = Replacing((*traces.discord, *traces.addresses), names, word)
                await self._vacate(draft, person_id, seat, word)
                draft.announcements = [
                    (kind, tuple(map(replacing.text, told))) for kind, told in draft.announcements
                ]
                await unit.personal_data.delete_messages(lambda address: _is_to(address, person_id, traces))
                await unit.personal_data.rewrite(partial(_rewritten, replacing), table_id)
                await unit.personal_data.rewrite_log(
                    table_id,
                    replacing.line,
                    lambda line, raw: _events(line, raw, replacing),
                    engine.FORMAT_VERSION,
                )
                if info.location or await unit.outbox.sent_about(table_id, "discord"):
                    draft.messages += messages.renamings(
                        info, word, [*names, *(f"<@{user}>" for user in traces.discord)]
                    )
        self._cache.forget(table_id)

    async def _vacate(self, draft: CommitDraft, person_id: int, seat: int | None, word: str) -> None:
        """Take a person from a table; the others are told that the seat is open."""
        unit, table = await draft.unit(), draft.table
        info = table.stored_info
        player = info.player_of(person_id)
        for open_poll in table.polls:
            if open_poll.poll.details.get("person") == person_id:
                await self._polls.drop(draft, open_poll, f"{word} has left")
        if info.host_id == person_id:
            await unit.tables.update(info.id, host_id=None)
        if info.status == "lobby":
            await leave_lobby(draft, person_id)
            return
        state: engine.State | None = None
        if seat is not None:
            state, events = engine.rename_player(table.state, engine_seat(seat), word)
            row = LogRow(
                kind="replace", transport="service", seat=seat, line="resign",
                raw_line=f"{word} has left Railpost.", events=engine.encode_events(events),
            )  # fmt: skip
        elif info.host_id == person_id:
            row = LogRow(
                kind="note", transport="service", line="host", raw_line="The host has left Railpost."
            )
        else:
            return
        if not info.is_over:
            await leave_game(draft, person_id, row, state)
        else:
            draft.add_row(row, state)
            await hand_over(unit, info, person_id)
            if player is not None:
                await unit.tables.vacate_seat(player.seat_id)

    async def _erase_person(self, person_id: int, traces: Traces, rest: Replacing) -> None:
        """Delete the person, in one transaction with whatever names them and belongs to no table."""
        async with self._store.begin() as unit:
            data = unit.personal_data
            rows = await data.rows_of(person_id)
            own_texts = {
                text for name in ("facts", "orders") for row in rows.get(name, ()) for text in _texts(row)
            }
            for forget in self._forget:
                await forget(unit, person_id, rest.holds)
            await data.delete_messages(lambda address: _is_to(address, person_id, traces))
            await data.delete_results(Replacing(own_texts, ()).mentions)
            await data.rewrite(partial(_rewritten, rest), None)
            for each in await data.rewrite_preferences(lambda wishes: with_deputy(wishes, person_id, None)):
                await unit.clocks.look_again_for(each)
            await data.forget(person_id, traces.discord)
            if traces.addresses and self.settings.has_mailbox:
                waiting = await _waiting_addresses(unit)
                await unit.settings.set(MAILBOX, msgspec.json.encode([*waiting, *traces.addresses]).decode())


async def _waiting_addresses(unit: UnitOfWork) -> list[str]:
    """The addresses whose mail is still to be deleted from the mailbox."""
    return msgspec.json.decode(await unit.settings.get(MAILBOX) or "[]", type=list[str])


async def _traces(unit: UnitOfWork, person_id: int) -> Traces:
    """An address that they claim and have not confirmed may be somebody else's. Raises NotFound."""
    person = await unit.people.get(person_id)
    identities = await unit.people.identities(person_id)
    rows = await unit.personal_data.rows_of(person_id)
    names = {person.name, player_name(person.name)}
    names |= {str(row["name"]) for kind in ("seats", "seat_requests") for row in rows.get(kind, ())}
    return Traces(
        tuple(each.value for each in identities if each.kind == "discord"),
        tuple(each.value for each in identities if each.kind == "email"),
        tuple(sorted(names)),
    )


def _last_seat(table: LiveTable, person_id: int) -> int | None:
    """The seat whose name is still theirs: they sit there, or nobody has taken it since."""
    if not table.begun:
        return None
    info = table.stored_info
    if (player := info.player_of(person_id)) is not None:
        return player.seat
    own = [row.seat for row in table.log.rows if row.person_id == person_id and row.seat is not None]
    return own[-1] if own and info.player_at(own[-1]) is None else None


def _seat_name(number: int, taken: Iterable[str]) -> str:
    """The name of a seat without a player: `Player 2`, and another number where somebody is called that."""
    taken = set(taken)
    while (name := f"Player {number + 1}").casefold() in taken:
        number += 12
    return name


def _rewritten(replacing: Replacing, table: str, column: str, value: Any) -> Any:
    """A stored value without the names. The words of an order are not names in other letters."""
    is_line = (table, column) == ("orders", "line")
    return replacing.line(value) if is_line else replacing.value(value)


def _events(line: str, raw: bytes, replacing: Replacing) -> bytes:
    """The events of a row, or the position of the row with which a game starts, without the names."""
    names = {name.casefold() for name in replacing.names}
    if line == "start":
        state = engine.decode_state(raw)
        if not any(name.casefold() in names for name in state.players):
            return raw
        state.players = [replacing.word if each.casefold() in names else each for each in state.players]
        return engine.encode_state(state)
    if not raw or not replacing.mentions(raw):
        return raw
    events = [
        PlayerRenamed(event.seat, replacing.word)
        if isinstance(event, PlayerRenamed) and event.name.casefold() in names
        else event
        for event in engine.decode_events(raw)
    ]
    return engine.encode_events(events)


def _texts(value: Any) -> Iterator[str]:
    """The texts of what a person has written for themselves: notes, plans, orders."""
    if isinstance(value, str) and len(value) >= SHORTEST_TEXT:
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each) if key not in NO_TEXTS else ()
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_to(address: Any, person_id: int, traces: Traces) -> bool:
    """Whether a message goes to a person."""
    own = {*traces.discord, *traces.addresses}
    return address.get("person") == person_id or any(
        str(address.get(key)) in own for key in ("user", "email", "to")
    )


def _plain(value: object) -> object:
    """What JSON does not have: bytes of the store."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not stored")
