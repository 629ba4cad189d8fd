"""Who writes, and whether people can be reached by email: what bounces count, who is told, and the way back.

Two refusals of an address itself within 30 days (`mail.reading.bounces`) cut it off: no more email goes
there. If another verified address of the person works, their emails go to that one, and it says so. Else
their tables and the operator are told, and the person on Discord. Everything else only delays; after three
days of it the tables are told too. A person who reports an email as spam gets no more. An email that was
refused for good is not gone: a turn is asked for again later, the later the more such emails have come back,
and any other email is sent again as it was when the address works, or at once to another address of the
person. If an email was accepted and then came back, its words go out again (`bot.email.stored_mail`). If an
invitation came back, the host is told.

Any email from the person brings them back, as do a link on Discord and `player NAME mail on` in the
terminal: `restore` clears what was counted, sends what waited, and asks for every decision that is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.email.stored_mail import gather_lost, lost_lately, send_lost
from bot.email.tokens import table_label, token_of_message
from bot.features.lobby.messages import tell_host
from bot.hub import people
from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient
from bot.hub.notifications import messages
from bot.hub.people import Standing, load_standing, standing_of
from bot.hub.timers import PING_KIND, recall
from bot.service import Service
from engine.core.words import join_words
from mail.inbox import DAY, OperatorAlerts
from mail.reading.bounces import BounceKind, classify
from mail.reply_address import ReplyToken, untagged
from storage import Identity, Person, UnitOfWork

BOUNCE_WINDOW = timedelta(days=30)  # older bounces do not count
BOUNCE_LIMIT = 2  # refusals of the address at which mail to it ends
ASK_AGAIN = timedelta(hours=1)  # after which a refused email is made anew
MOST_HOURS = 12  # between two such emails
KEPT = timedelta(days=30)  # for which refused emails wait
PASSING = "passing"  # beside the bounces that count: since when others come, the last of them, who was told
LASTS = timedelta(days=3)  # after which the tables hear of refusals that may pass
GAP = timedelta(hours=36)  # between two of them, after which they begin anew
REACHED = "Emails reach {} again."


class Correspondent(NamedTuple):
    """A person with a verified address. seats: those in play, such as `Friday A7K, as Ann`."""

    person_id: int
    address: str
    seats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounce:
    """Our email `message_id` did not reach `token.address`. reason: in words, or a status of RFC 3463."""

    token: ReplyToken
    message_id: str
    kind: BounceKind
    reason: str


class Correspondents:
    """Who writes and who can be reached: finds people by their addresses, stops and starts their emails,
    counts bounces, and tells the tables who cannot be reached."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._store = service.store
        self._alerts = OperatorAlerts(service.store.now)

    async def find_correspondent(self, address: str) -> Correspondent | None:
        """The person who has verified this address, or the same without `+tag`, with their seats in running
        games."""
        async with self._store.read() as unit:
            person = await _owner(unit, address) or await _owner(unit, address := untagged(address))
            if person is None:
                return None
            rows = await unit.tables.for_person(person.id)
            seats = tuple(
                f"{table.name} {table.code}, as {seat.name}"
                for table, seat in rows
                if table.status in ("running", "paused") and seat.joined_at
            )
        return Correspondent(person.id, address, seats)

    async def find_writer(self, token: ReplyToken, sender: str | None) -> str | None:
        """The address of the owner of a token who writes from this one; None where it is somebody else's.

        `ann+games@x` is Ann's while nobody else has verified just that address.
        """
        writer = token.own_address(sender)
        if sender and writer not in (None, sender):
            async with self._store.read() as unit:
                owner = await _owner(unit, sender)
            return writer if owner is None or owner.id == token.person_id else None
        return writer

    async def record_bounce(self, bounce: Bounce) -> None:
        """An email was not delivered: count what speaks against its address, and tell who has to know; the
        operator once a day of a mail server that refuses ours."""
        if text := await self._counted(bounce.token.person_id, bounce):
            address = bounce.token.address.casefold()
            about = _domain(address) if bounce.kind == "operator" else address
            self._alerts.send(f"{bounce.kind} {about}", text, DAY)

    async def recipient_refused(self, message_id: str, reason: str) -> None:
        """The mail server has refused an email for good."""
        async with self._store.read() as unit:
            token = await token_of_message(unit, message_id)
        if token is not None:
            await self.record_bounce(Bounce(token, message_id, classify(reason), reason[:200]))

    async def _counted(self, person_id: int, bounce: Bounce) -> str | None:
        """Count a bounce; returns a sentence for the operator where there is something for them to do."""
        if bounce.kind == "delayed":
            return None
        if bounce.kind == "complaint":
            await self.stop(person_id, bounce.token.address)
            return f"An email to {bounce.token.address} was reported as spam; no more are sent there."
        unhosted = await self._say_again(person_id, bounce)
        if bounce.kind == "operator":
            domain, why = _domain(bounce.token.address), bounce.reason
            await self._tell_if_it_lasts(person_id, bounce)
            await self._ask_later(person_id, bounce)
            return (
                f"The mail server of {domain} refuses our emails, so they are held: {why}. "
                "`railpost check-mail` says what may be wrong."
            )
        is_cut_off = bounce.kind == "address" and await self._count(person_id, bounce)
        async with self._store.read() as unit:
            standing = await load_standing(unit, person_id)
        if standing.address not in ("", bounce.token.address.casefold()) and not standing.fault:
            await self._move_to(person_id, standing, bounce, is_new=is_cut_off)
            return None
        if not is_cut_off:
            if bounce.kind == "soft":
                await self._tell_if_it_lasts(person_id, bounce)
            await self._ask_later(person_id, bounce)
            return unhosted
        name = await self._tell(person_id, bounce, "Emails to {} do not arrive.")
        await self._ask_on_discord(person_id)
        return f"Emails to {name} come back ({bounce.reason}); no more are sent."

    async def _say_again(self, person_id: int, bounce: Bounce) -> str | None:
        """Send the words of an email again later, or tell the host of an invitation. Returns a sentence for
        the operator where there is no host."""
        token = bounce.token
        if token.purpose == "invite" and token.table_id is not None:
            return await self._invitation_came_back(token.table_id, person_id, bounce)
        async with self._store.begin() as unit:
            if (await load_standing(unit, person_id)).wants_mail:
                hours = min(await lost_lately(unit, token.address) + 1, MOST_HOURS)
                await gather_lost(unit, token, bounce.message_id, unit.now + ASK_AGAIN * hours)
        return None

    async def _invitation_came_back(self, table_id: int, person_id: int, bounce: Bounce) -> str | None:
        """Tell the host that an invitation was not delivered; a sentence for the operator where none
        hosts."""
        table = await self._service.queries.table_info(table_id)
        player = table.player_of(person_id)
        if player is not None and player.joined:
            return None
        seat = bounce.token.seat_number
        name = player.name if player else bounce.token.address if seat is None else table.names[seat]
        sentence = (
            f"The invitation to {name} ({bounce.token.address}) came back: {bounce.reason}. "
            f"`invite {name} <ADDRESS>` sends another."
        )
        if table.host_id is None:
            return sentence
        async with self._store.begin() as unit:
            await tell_host(unit, table, sentence)
        self._service.wake_subscribers()
        return None

    async def _move_to(self, person_id: int, standing: Standing, bounce: Bounce, is_new: bool) -> None:
        """One address does not work, and another of the person's does: their emails go there."""
        sentence = (
            f"Emails to {bounce.token.address} come back ({bounce.reason}), so yours come "
            f"here. Reply with `unlink {bounce.token.address}` if that address is no longer yours."
        )
        async with self._store.begin() as unit:
            key = f"account.{person_id}.moved.{bounce.message_id}"
            email = people.personal_email(person_id, standing.address, "account", key, sentence)
            if is_new:
                await unit.outbox.enqueue(email)
            since, former = unit.now - KEPT, bounce.token.address
            await unit.outbox.redirect_dead(person_id, former, standing.address, since)
            await unit.outbox.revive_dead("mail", since, to=standing.address)
            await send_lost(unit, person_id)
        await self.ask_again(person_id)

    async def _count(self, person_id: int, bounce: Bounce) -> bool:
        """Count a refusal of an address; returns whether it is cut off by it."""
        async with self._store.begin() as unit:
            refused = await _identity(unit, person_id, bounce.token.address)
            if refused is None:
                return False
            since = (unit.now - BOUNCE_WINDOW).isoformat()
            counted = {id: entry for id, entry in refused.bounces.items() if entry[1] >= since}
            counted.setdefault(bounce.message_id, [1, unit.now.isoformat()])
            is_cut_off = len(counted.keys() - {PASSING}) >= BOUNCE_LIMIT and not refused.fault
            fault = (bounce.reason or "refused") if is_cut_off else refused.fault
            await unit.people.record_bounces(person_id, refused.value, counted, fault)
        return is_cut_off

    async def _tell_if_it_lasts(self, person_id: int, bounce: Bounce) -> None:
        """Note a refusal that may pass; after three days of them the tables are told, once."""
        async with self._store.begin() as unit:
            refused = await _identity(unit, person_id, bounce.token.address)
            if refused is None or refused.fault:
                return
            now = unit.now.isoformat()
            first, last, is_told = refused.bounces.get(PASSING, [now, now, False])
            if unit.now - datetime.fromisoformat(last) > GAP:
                first, is_told = now, False
            lasts = not is_told and unit.now - datetime.fromisoformat(first) >= LASTS
            noted = refused.bounces | {PASSING: [first, now, is_told or lasts]}
            await unit.people.record_bounces(person_id, refused.value, noted, refused.fault)
        if lasts:
            await self._tell(person_id, bounce, "Emails to {} have not arrived for three days.")

    async def _tell(self, person_id: int, bounce: Bounce, said: str) -> str:
        """Tell the tables of a person, and them on Discord, that emails do not arrive; returns their name.
        said: what the tables are told, with `{}` for the name."""
        async with self._store.read() as unit:
            name = (await unit.people.get(person_id)).name
            on_discord = any(each.kind == "discord" for each in await unit.people.identities(person_id))
        where = "Discord still reaches them." if on_discord else "Nothing else reaches them."
        await self._announce(person_id, f"{said} {where}")
        for table in await self._tables(person_id) if on_discord else ():
            sentence = (
                f"Your emails about table {table.code} come back: {bounce.reason}. "
                "`/me email` links an address, or write from yours to start emails again."
            )
            async with self._store.begin() as unit:
                recipient = await load_recipient(unit, person_id, table.seat_of(person_id))
                await unit.outbox.enqueue(*messages.direct_messages(table, recipient, sentence))
        return name

    async def _announce(self, person_id: int, said: str, by: int | None = None) -> None:
        """Tell the tables of a person something about their emails. said: with `{}` for their name there.
        by: who knows it."""
        for table in await self._tables(person_id):
            if player := table.player_of(person_id):
                await self._service.running.announce(table.id, said.format(player.name), "reach", by=by)

    async def _ask_on_discord(self, person_id: int) -> None:
        """Ask a person on Discord for the moves for which they were asked by email alone."""
        tables = await self._tables(person_id)
        async with self._store.begin() as unit:
            recipient = await load_recipient(unit, person_id, None)
            for table in tables if recipient.discord_id else ():
                if recipient.settings.is_told_by_mail_alone(table.code):
                    for seat, clock in (await unit.clocks.seat_clocks(table.id)).items():
                        if table.person_at(seat) == person_id:
                            await recall(unit, PING_KIND, clock, unit.now)

    async def stop_mail(self, token: ReplyToken) -> str:
        """Send no more emails to this person; returns the sentence that says so."""
        addresses = await self.stop(token.person_id, token.address) or [token.address]
        return (
            f"No more emails go to {join_words(addresses, 'or')}. You keep your seats. "
            "Reply to any email with `start` to get emails again."
        )

    async def start_mail(self, token: ReplyToken) -> str:
        """Send emails to this person again, at once one for each table that waits for them."""
        async with self._store.read() as unit:
            if token.address not in await unit.people.verified_addresses(token.person_id):
                return f"{token.address} is not confirmed. Please link your address again."
        waiting = await self.restore(token.person_id)
        async with self._store.read() as unit:
            address = (await load_standing(unit, token.person_id)).address
        return f"Emails go to {address} again.{waiting_sentence(waiting)}"

    async def stop(self, person_id: int, address: str | None = None) -> list[str]:
        """Send no more emails to a person, and none that waits; returns their addresses. For one who only
        claims this address, the claim ends."""
        async with self._store.begin() as unit:
            identities = await unit.people.identities(person_id)
            if address is not None and address not in {each.value for each in identities}:
                await unit.people.delete_claims(person_id)  # the address may be another's
                return []
            person = await unit.people.get(person_id)
            had_mail = person.preferences.get("mail") is not False
            await unit.people.update(person_id, preferences=person.preferences | {"mail": False})
            addresses = await unit.people.verified_addresses(person_id)
            own = [each.value for each in identities]
            withdrawn = [mail for each in own for mail in await unit.outbox.withdraw(person_id, each)]
        if had_mail and all(each.kind == "email" for each in identities):
            await self._announce(person_id, "{} gets no more emails and cannot be reached otherwise.")
        if withdrawn:
            await self._ask_on_discord(person_id)
        return addresses

    async def restore(
        self, person_id: int, address: str | None = None, *, was_cut_off: bool = False
    ) -> list[str]:
        """The address works, or all are to be tried again (None); returns the labels of the tables that wait
        for the person. was_cut_off: until the address was linked."""
        async with self._store.begin() as unit:
            person = await unit.people.get(person_id)
            standing = await load_standing(unit, person_id)
            identities = await unit.people.identities(person_id)
            had_stopped = not standing.wants_mail and all(each.kind == "email" for each in identities)
            was_cut_off = was_cut_off or bool(standing.fault) or had_stopped
            if address is not None:
                for one in identities:
                    if one.fault and one.value != address:
                        await unit.outbox.redirect_dead(person_id, one.value, address, unit.now - KEPT)
            await unit.people.update(person_id, preferences=person.preferences | {"mail": True})
            verified = await unit.people.verified_addresses(person_id)
            for each in verified if address is None else [address]:
                await unit.people.record_bounces(person_id, each, {}, "")
                await unit.outbox.revive_dead("mail", unit.now - KEPT, to=each)
            await send_lost(unit, person_id)
        waiting = await self.ask_again(person_id)
        if was_cut_off:
            await self._announce(person_id, REACHED, by=person_id)
        self._service.wake_subscribers()
        return waiting

    async def heard_from(self, address: str) -> None:
        """An email has come from a verified address: nothing counts against it any more."""
        address = address.casefold()
        async with self._store.read() as unit:
            if (person := await _owner(unit, address)) is None:
                return
            identities = await unit.people.identities(person.id)
            standing = standing_of(person, identities)
            waits = await unit.outbox.has_dead("mail", unit.now - KEPT, to=address)
        writer = next((one for one in identities if one.value == address), None)
        if writer is None or not (writer.fault or writer.bounces or waits):
            return
        if standing.fault and standing.wants_mail:
            await self.restore(person.id, address)
            return
        async with self._store.begin() as unit:
            await unit.people.record_bounces(person.id, address, {}, "")
            await unit.outbox.revive_dead("mail", unit.now - KEPT, to=address)
        if writer.bounces.get(PASSING, [""])[-1]:
            await self._announce(person.id, REACHED, by=person.id)

    async def _ask_later(self, person_id: int, bounce: Bounce) -> None:
        """Ask anew for what is open, the later the more requests have gone to that address in a day."""
        async with self._store.read() as unit:
            asked = await unit.outbox.count(
                "mail", unit.now - timedelta(days=1), to=bounce.token.address, reason="turn"
            )
        await self.ask_again(person_id, after=ASK_AGAIN * min(max(asked, 1), MOST_HOURS))

    async def ask_again(self, person_id: int, after: timedelta = timedelta(0)) -> list[str]:
        """Send an email about every decision that is open for a person; returns the labels of the tables."""
        asked = []
        for info in await self._tables(person_id):
            await self._service.cache.refresh(info.id)
            view = await self._service.queries.view(info.id)
            table = view.table
            pending = next((each for each in view.pending if table.person_at(each.seat) == person_id), None)
            if pending is None or table.status != "running":
                continue
            async with self._store.begin() as unit:
                recipient = await load_recipient(unit, person_id, pending.seat)
                due, suffix = unit.now + after, messages.unique_suffix()
                emails = messages.turn_emails(table, view.seq, pending, recipient, due, suffix)
                await unit.outbox.enqueue(*emails)
            asked.append(table_label(info))
        self._service.wake_subscribers()
        return asked

    async def _tables(self, person_id: int) -> list[TableInfo]:
        tables = await self._service.queries.list_tables(person_id=person_id, statuses=("running", "paused"))
        return [table for table in tables if table.player_of(person_id)]


async def _identity(unit: UnitOfWork, person_id: int, address: str) -> Identity | None:
    """An address of a person; None where it is not theirs."""
    identities = await unit.people.identities(person_id)
    return next((one for one in identities if one.value == address.casefold()), None)


async def _owner(unit: UnitOfWork, address: str) -> Person | None:
    """Who has verified an address."""
    person = await unit.people.find_by_identity("email", address)
    is_verified = person and address.casefold() in await unit.people.verified_addresses(person.id)
    return person if is_verified else None


def waiting_sentence(labels: list[str], who: str = "you") -> str:
    """` Friday A7K waits for you: an email follows.`; empty for none."""
    if not labels:
        return ""
    verb = "waits" if len(labels) == 1 else "wait"
    return f" {join_words(labels)} {verb} for {who}: an email follows."


def _domain(address: str) -> str:
    return address.rpartition("@")[2]
