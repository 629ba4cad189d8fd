"""The cards of all tables: posted when a turn begins, kept up to date, finished when the turn is over.

Theory of operation. The store knows which Discord message is the card of which slot. `sync` compares the
cards with the position: the card of a player who still has to act is edited in place, a card that is not
needed any more is finished (`finished_turns`). Only a turn or a poll posts a new card, and only that
notifies. The notification is one line of text, because phones show nothing of a message of components; the
message is edited into the card at once. While a notification is held back, the card of the former turn is
edited into the next one, so that those who are there play on at once; where there is no such card, as at the
start of a game, the next one is posted without a notification.

What a message has attached is recorded as Discord reports it. An edit names files by those ids or uploads
them, so it never refers to a file that is not there. A card that cannot be edited is replaced by a new
message, and a card that can be posted nowhere at the table goes to its player's direct messages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from bot.discord.api import CannotEdit, DiscordApi, EditProblem, ImageAttachment, message_age
from bot.discord.cards import card_texts
from bot.discord.cards.card_builder import BuiltCard, CardBuilder, user_of
from bot.discord.cards.card_refs import (
    ASKED,
    PICTURES,
    REMIND,
    RUN,
    CardRef,
    attached_files,
    card_ref,
    card_slot,
    files_to_send,
    is_old_slot,
    is_prompt_slot,
    kept_ids,
    slot_prefix,
)
from bot.discord.cards.finished_turns import OLD_MESSAGE_AGE, FinishedTurns, no_list
from bot.discord.cards.fresh_cards import FreshCards, without_pictures
from bot.discord.posting import Posted, Poster, Unreachable, forget_files, ref_to_store
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification, decode_notification, turn_collapse_key
from bot.hub.table import TableView
from bot.position.pending import PendingDecision
from bot.service import Service
from storage import Card, OutboxMessage, TablePoll, UnitOfWork

log = logging.getLogger(__name__)

SHORT_HOLDOFF = 1.0  # seconds; a notification that is due sooner brings its card with it


class QueuedTurn(NamedTuple):
    """A turn whose notification is not sent yet. is_held: whether it waits long enough for its card to be
    shown before."""

    pending: PendingDecision
    message: OutboxMessage
    is_held: bool


Prompt = list[PendingDecision] | TablePoll
"""What a card asks: the decisions of one or several players, or a poll."""


class CardKeeper:
    """Keeps the cards. Call it under the lock of the table."""

    def __init__(
        self,
        service: Service,
        api: DiscordApi,
        poster: Poster,
        builder: CardBuilder,
        finished: FinishedTurns,
    ) -> None:
        self.service, self.api, self.poster = service, api, poster
        self.builder, self.finished = builder, finished
        self.fresh = FreshCards(service, api, poster)
        self.tables_at: dict[int, int] = {}  # by channel, the table that has cards there
        self.seen_versions: dict[int, tuple[Any, ...]] = {}  # by table: at the start of the last sync
        self.shown_versions: dict[int, tuple[Any, ...]] = {}  # by table: what its cards show
        self.rewinds: dict[int, str] = {}  # by table: how many, when the list of turns was marked last
        self.gone = set[int]()  # messages of which Discord has said that they are deleted

    # -- sync --------------------------------------------------------------------------------

    async def sync(self, table_id: int, *, finishes: bool = True) -> None:
        """Bring the cards of a table up to date with its position. Raises Unreachable if one cannot be.

        finishes: False leaves the cards that are not needed any more to the next sync.
        """
        view = await self.service.queries.view(table_id)
        if self.shown_versions.get(table_id) == card_version(view):
            return
        self.seen_versions[table_id] = card_version(view)
        cards, turn = await self._stored(view)
        over: list[Card] = []
        failure: Unreachable | None = None
        for card in list(cards.values()):
            if is_old_slot(card.slot):
                self.finished.queue(card)
            elif is_prompt_slot(card.slot):
                self.tables_at[card_ref(card).channel_id] = table_id
                try:
                    if not await self._sync_card(view, card, cards, turn):
                        over.append(card)
                except Unreachable as error:
                    failure = error
            elif card.slot.startswith(PICTURES):
                await self.fresh.remove_pictures(view, card)
            elif card.slot.removeprefix(slot_prefix(card.slot)).startswith(REMIND):
                await self._end_reminder(view, card)
        for card in over if finishes else ():
            await self.finished.finish(view, card)
            del cards[card.slot]
        if failure:
            raise failure
        if not finishes:
            return
        rewinds = view.current_decision_id.partition(".")[0]
        if self.rewinds.get(table_id, "0") != rewinds:
            await self.finished.mark_undone(view)
            self.rewinds[table_id] = rewinds
        await self._post_held(view, cards, turn)
        self.shown_versions[table_id] = card_version(view)

    async def _stored(self, view: TableView) -> tuple[dict[str, Card], QueuedTurn | None]:
        """The cards of a table by slot, and the notification of its one turn if that is not sent yet."""
        pending = only_actor(view)
        async with self.service.store.read() as unit:
            cards = {card.slot: card for card in await unit.tables.cards(view.table.id)}
            queued = await queued_turn(unit, view, pending) if pending else None
            turn = QueuedTurn(pending, queued, is_held(queued, unit.now)) if pending and queued else None
        return cards, turn

    async def _sync_card(
        self, view: TableView, card: Card, cards: dict[str, Card], turn: QueuedTurn | None
    ) -> bool:
        """Bring a card up to date; False if it is not needed any more."""
        prompt = open_prompt(view, card)
        if prompt is None and turn and self._may_pass_on(view, card, cards, turn):
            card = await self._pass_on(view, card, turn.pending, has_list=RUN in cards)
            cards[card.slot], prompt = card, open_prompt(view, card)
        if prompt is None:
            return False
        try:
            ref = await self._update(view, card, prompt)
            await self._bring_down(view, card, ref, prompt)
        except Unreachable:
            if slot_prefix(card.slot) or not await self._move_to_direct_messages(view, card, prompt):
                raise
        return True

    async def _bring_down(self, view: TableView, card: Card, ref: CardRef, prompt: Prompt) -> None:
        """Post the card of a player who plays live at the bottom of the thread, if chat has pushed it up."""
        if isinstance(prompt, TablePoll) or len(prompt) > 1:
            return
        if await self.fresh.is_wanted(view, card.slot, ref, prompt[0]):
            built = await self._build(view, prompt, ref.seq, card.slot)
            ref = await self.fresh.bring_down(view, ref, prompt[0], built)
            await self._save(view, card.slot, ref, prompt[0].decision_id)

    async def _end_reminder(self, view: TableView, card: Card) -> None:
        """Delete the reminder of a decision that is made."""
        ref = card_ref(card)
        moved = await self.service.queries.log(view.table.id, ref.seq)
        is_asked = any(each.seat == ref.seat for each in view.pending) and view.table.status == "running"
        if is_asked and not any(each.kind == "move" and each.seat == ref.seat for each in moved):
            return
        if await self.api.delete(self.api.message(ref.channel_id, ref.message_id)):
            async with self.service.store.begin(table=view.table.id) as unit:
                await unit.tables.remove_card(view.table.id, card.slot)

    def _may_pass_on(self, view: TableView, card: Card, cards: dict[str, Card], turn: QueuedTurn) -> bool:
        """Whether the card of a finished turn goes to the player whose turn is next: nobody is to be notified
        of it now, and they have no card yet."""
        ref = card_ref(card)
        if view.table.person_at(turn.pending.seat) is None:
            return False
        is_turn = not slot_prefix(card.slot) and card.slot.startswith("turn:")
        is_silent = turn.is_held or not decode_notification(turn.message.payload).ping
        if not is_turn or not is_silent or card_slot(turn.pending, "") in cards:
            return False
        is_old = message_age(ref.message_id) > OLD_MESSAGE_AGE
        return not is_old and not self.poster.threads.is_locked(ref.channel_id)

    async def _pass_on(self, view: TableView, card: Card, pending: PendingDecision, has_list: bool) -> Card:
        """Give the card of a finished turn to the player whose turn is next."""
        ref, slot = card_ref(card), card_slot(pending, "")
        passed_on = CardRef(
            ref.channel_id, ref.message_id, view.table.person_at(pending.seat), pending.seat, view.seq,
            files=ref.files, is_plain=ref.is_plain,
        )  # fmt: skip
        async with self.service.store.begin(table=view.table.id) as unit:
            if not has_list:
                await unit.tables.set_card(view.table.id, RUN, ref_to_store(no_list(ref.channel_id, ref.seq)))
            await unit.tables.remove_card(view.table.id, card.slot)
            return await unit.tables.set_card(
                view.table.id, slot, ref_to_store(passed_on), pending.decision_id
            )

    async def _post_held(self, view: TableView, cards: dict[str, Card], turn: QueuedTurn | None) -> None:
        """Post the card of a player who has none yet, while their notification is held back."""
        if turn is None or not turn.is_held:
            return
        pending, slot = turn.pending, card_slot(turn.pending, "")
        if slot in cards or ASKED in cards:
            return
        built = await self._build(view, [pending], view.seq, slot)
        posted = await self.poster.post(view.table, f"{turn.message.idempotency_key}.held", built.draft())
        ref = CardRef(
            posted.channel_id, posted.message_id, view.table.person_at(pending.seat), pending.seat, view.seq,
            payload_digest=built.digest, texts=built.texts, files=posted.files, is_plain=posted.is_plain,
        )  # fmt: skip
        await self._save(view, slot, ref, pending.decision_id)

    async def _build(
        self, view: TableView, prompt: Prompt, since: int, slot: str, *, pings_first: bool = False
    ) -> BuiltCard:
        if isinstance(prompt, TablePoll):
            return await self.builder.poll(view, prompt)
        reader = view.table.person_at(prompt[0].seat) if slot_prefix(slot) else None
        return await self.builder.turn(view, prompt, since, reader, pings_first=pings_first)

    async def _update(self, view: TableView, card: Card, prompt: Prompt) -> CardRef:
        """Edit a card in place; one that cannot be edited is replaced by a new one without a ping."""
        ref = card_ref(card)
        built = await self._build(view, prompt, ref.seq, card.slot)
        is_gone = ref.message_id in self.gone
        if isinstance(prompt, list) and ref.brought_down == prompt[0].decision_id and not is_gone:
            built = without_pictures(built, ref.pictures_link)
        if built.digest == ref.payload_digest and not is_gone:
            return ref
        try:
            if is_gone:
                raise CannotEdit(EditProblem.GONE)
            if message_age(ref.message_id) > OLD_MESSAGE_AGE:
                raise CannotEdit(EditProblem.OLD)
            if self.poster.threads.is_locked(ref.channel_id):
                raise CannotEdit(EditProblem.FORBIDDEN)
            updated = await self._edit(view, card, built)
        except CannotEdit as failure:
            updated = await self._replace(view, card, built, failure)
        updated = msgspec.structs.replace(updated, payload_digest=built.digest, texts=built.texts)
        await self._save(view, card.slot, updated, card.decision_id)
        self.gone.discard(ref.message_id)
        return updated

    async def _edit(self, view: TableView, card: Card, built: BuiltCard) -> CardRef:
        """Edit a card; without pictures where files may not be attached. Raises CannotEdit."""
        ref = card_ref(card)
        message = self.api.message(ref.channel_id, ref.message_id)
        files = [] if ref.is_plain else files_to_send(ref, built.images)
        if kept_ids(files) != {each.id for each in ref.files}:
            await forget_files(self.service.store, card)
        if not ref.is_plain:
            try:
                attached = await self.api.edit(message, built.payload, built.users, files)
                if any(isinstance(each, ImageAttachment) for each in files):
                    await self.poster.note_files_are_allowed(view.table)
                return msgspec.structs.replace(ref, files=attached_files(built.images, attached))
            except CannotEdit as failure:
                if failure.problem is not EditProblem.FORBIDDEN or not files:
                    raise
        await forget_files(self.service.store, card)
        await self.api.edit(message, built.plain, built.users)
        if not ref.is_plain:
            await self.poster.say_files_are_refused(view.table, self.api.channel(ref.channel_id))
        return msgspec.structs.replace(ref, files=[], is_plain=True)

    async def _replace(self, view: TableView, card: Card, built: BuiltCard, failure: CannotEdit) -> CardRef:
        """Post a card anew, and take the controls from the one that cannot be edited. Raises Unreachable."""
        ref, prefix = card_ref(card), slot_prefix(card.slot)
        key = f"{ref.key}.{view.seq}.{ref.message_id}"
        posted = await self.poster.post(view.table, key, built.draft(), prefix[1:-1] or None)
        if not failure.is_gone:
            await self.finished.put_off(view.table.id, card)
        return msgspec.structs.replace(
            ref, channel_id=posted.channel_id, message_id=posted.message_id, files=posted.files,
            is_plain=posted.is_plain,
        )  # fmt: skip

    async def _save(self, view: TableView, slot: str, ref: CardRef, decision: str | None) -> None:
        self.tables_at[ref.channel_id] = view.table.id
        async with self.service.store.begin(table=view.table.id) as unit:
            await unit.tables.set_card(view.table.id, slot, ref_to_store(ref), decision)

    async def _move_to_direct_messages(self, view: TableView, card: Card, prompt: Prompt) -> bool:
        """Show a card that can be posted nowhere at the table to its player; False where that fails too."""
        if isinstance(prompt, TablePoll) or len(prompt) > 1:
            return False
        pending, ref = prompt[0], card_ref(card)
        user = user_of(view, pending.seat)
        if user is None:
            return False
        built = await self._build(view, prompt, ref.seq, card.slot)
        posted = await self.poster.post(view.table, f"{ref.key}.{view.seq}.dm", built.draft(), user)
        await self.finished.put_off(view.table.id, card)
        async with self.service.store.begin(table=view.table.id) as unit:
            await unit.tables.remove_card(view.table.id, card.slot)
        moved = msgspec.structs.replace(
            ref, channel_id=posted.channel_id, message_id=posted.message_id, files=posted.files,
            is_plain=posted.is_plain, payload_digest=built.digest, texts=built.texts,
        )  # fmt: skip
        await self._save(view, card_slot(pending, dm_prefix(user)), moved, card.decision_id)
        return True

    # -- new cards ---------------------------------------------------------------------------

    async def send_turn(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Post the card of a player who has to act, and notify them unless they have acted since.

        Only a sync after it finishes the cards that are not needed any more: nobody waits for that.
        """
        view = await self._synced_view(table)
        pending = current_prompt(view, notification)
        if pending is None or (pending.is_main and not pending.acts_now and not dm_user):
            return None
        cards, _ = await self._stored(view)
        is_shown_to_all = pending.is_main and not dm_user
        asked = cards.get(ASKED) if is_shown_to_all else None
        if asked and pending.seat in card_ref(asked).pinged and notification.seq <= card_ref(asked).seq:
            return str(card_ref(asked).message_id)  # the card of all who are asked has pinged them
        acting = [each for each in view.pending if each.is_main and each.acts_now]
        together = is_shown_to_all and len(acting) > 1
        acted = any(
            entry.seat == pending.seat and entry.kind == "move" and entry.is_live
            for entry in await self.service.queries.log(table.id, notification.seq)
        )
        notify = notification.ping and not acted
        card = cards.get(card_slot(pending, "")) if is_shown_to_all else None
        if card and not notify and card_ref(card).key != queued.idempotency_key and open_prompt(view, card):
            return str(card_ref(card).message_id)
        prompt, slot = (acting, ASKED) if together else ([pending], card_slot(pending, dm_prefix(dm_user)))
        try:
            sent = await self._send(queued, view, cards.get(slot), slot, prompt, dm_user, notify=notify)
            if asked and not together:
                await self.finished.finish(view, asked)
            return sent
        except Unreachable:
            user = None if dm_user else user_of(view, pending.seat)
            if user is None:
                raise
        slot = card_slot(pending, dm_prefix(user))
        return await self._send(queued, view, cards.get(slot), slot, [pending], user, notify=notify)

    async def send_vote(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Post the one message of a poll, or the card of a voter in their direct messages."""
        view = await self._synced_view(table)
        seat, decision_id = notification.seat, notification.decision_id
        polls = {f"v{poll.poll.id}": poll for poll, voter in view.missing_votes() if voter == seat}
        poll = polls.get(decision_id or "")
        if poll is None or seat is None:
            return None
        slot = f"{dm_prefix(dm_user)}{decision_id}:{seat}" if dm_user else str(decision_id)
        cards, _ = await self._stored(view)
        if not dm_user and (card := cards.get(slot)):
            return str(card_ref(card).message_id)
        try:
            return await self._send(queued, view, cards.get(slot), slot, poll, dm_user, notify=True)
        except Unreachable:
            user = None if dm_user else user_of(view, seat)
            if user is None:
                raise
        slot = f"{dm_prefix(user)}{decision_id}:{seat}"
        return await self._send(queued, view, cards.get(slot), slot, poll, user, notify=True)

    async def _synced_view(self, table: TableInfo) -> TableView:
        try:
            await self.sync(table.id, finishes=False)
        except Unreachable as failure:
            log.info("Discord: a card of table %s could not be brought up to date: %s", table.code, failure)
        return await self.service.queries.view(table.id)

    async def _send(
        self,
        queued: OutboxMessage,
        view: TableView,
        previous: Card | None,
        slot: str,
        prompt: Prompt,
        dm_user: str | None,
        *,
        notify: bool,
    ) -> str | None:
        """Post a card in a slot; the next sync completes it, or one that an earlier attempt has posted.

        previous: the card that is in the slot.
        """
        if previous is not None and card_ref(previous).key == queued.idempotency_key:
            self.shown_versions.pop(view.table.id, None)
            return str(card_ref(previous).message_id)
        built = await self._build(view, prompt, view.seq, slot, pings_first=notify)
        draft = built.draft(line=notify and bool(built.users))
        posted = None
        if queued.attempts > 1:
            found = await self.poster.find(
                view.table, wanted_message(slot, view, built), queued.created_at, dm_user
            )
            posted = Posted(found.channel.id, found.id, [], is_line=True) if found else None
        posted = posted or await self.poster.post(view.table, queued.idempotency_key, draft, dm_user)
        if previous is not None:
            await self.finished.finish(view, previous)
        seats = list(prompt.votes) if isinstance(prompt, TablePoll) else [each.seat for each in prompt]
        person_id = view.table.person_at(seats[0]) if len(seats) == 1 else None
        ref = CardRef(
            posted.channel_id, posted.message_id, person_id,
            seats[0] if len(seats) == 1 else None, view.seq, queued.idempotency_key,
            "" if posted.is_line else built.digest, texts=built.texts, files=posted.files,
            is_plain=posted.is_plain, pinged=seats,
        )  # fmt: skip
        decision = None if isinstance(prompt, TablePoll) else prompt[0].decision_id
        await self._save(view, slot, ref, decision)
        if posted.is_line:
            self.shown_versions.pop(view.table.id, None)
        return str(posted.message_id)


def only_actor(view: TableView) -> PendingDecision | None:
    """The decision of the one player who has to act now; None where there are several or none."""
    acting = [each for each in view.pending if each.is_main and each.acts_now]
    return acting[0] if view.table.status == "running" and len(acting) == 1 else None


async def queued_turn(unit: UnitOfWork, view: TableView, pending: PendingDecision) -> OutboxMessage | None:
    """The notification of a turn at the table that is not sent yet."""
    key = turn_collapse_key(view.table.id, pending.seat, "table")
    return await unit.outbox.pending_with_collapse_key(key)


def is_held(queued: OutboxMessage, now: datetime) -> bool:
    """See `QueuedTurn`."""
    return queued.attempts == 0 and (queued.not_before - now).total_seconds() > SHORT_HOLDOFF


def dm_prefix(user: str | None) -> str:
    """The prefix of a slot in a user's direct messages; "" for the table's own channel or thread."""
    return f"u{user}/" if user else ""


def open_prompt(view: TableView, card: Card) -> Prompt | None:
    """What a card still asks for; None where it is not needed any more."""
    prefix, ref = slot_prefix(card.slot), card_ref(card)
    name = card.slot.removeprefix(prefix)
    if name.startswith("v"):
        number, _, seat = name[1:].partition(":")
        return next(
            (
                poll
                for poll, voter in view.missing_votes()
                if str(poll.poll.id) == number and (not seat or int(seat) == voter)
            ),
            None,
        )
    if view.table.status != "running":
        return None
    if name == ASKED:
        asked = [p for p in view.pending if p.is_main and p.acts_now and p.seat in ref.pinged]
        return asked or None
    for pending in view.pending:
        person_id = view.table.person_at(pending.seat)
        shown = bool(prefix) or not pending.is_main or pending.acts_now
        if shown and card.slot == card_slot(pending, prefix) and person_id and person_id == ref.person_id:
            return [pending]
    return None


def current_prompt(view: TableView, notification: Notification) -> PendingDecision | None:
    """The decision that a turn notification is about: the same offer, or the seat's current decision."""
    if view.table.status != "running" or notification.decision_id is None:
        return None
    person_id = view.table.person_at(notification.seat if notification.seat is not None else -1)
    if notification.person_id not in (None, person_id):
        return None
    own = [each for each in view.pending if each.seat == notification.seat]
    exact = next((each for each in own if each.decision_id == notification.decision_id), None)
    offer = ".o" in notification.decision_id
    return exact or next((each for each in own if each.is_main and not offer), None)


def wanted_message(slot: str, view: TableView, built: BuiltCard) -> Callable[[str, str], bool]:
    """Recognizes the message of a slot by its custom ids, or by its line before it has become a card."""
    name = slot.removeprefix(slot_prefix(slot))

    def is_wanted(components: str, text: str) -> bool:
        return card_texts.is_card_of(components, view.table.id, name) or card_texts.is_same_line(
            text, built.line
        )

    return is_wanted


def card_version(view: TableView) -> tuple[Any, ...]:
    """What the cards of a table depend on; it changes whenever they have to be brought up to date."""
    votes = tuple((poll.poll.id, tuple(sorted(poll.votes.items()))) for poll in view.polls)
    people = tuple(s.person_id for s in view.table.seated_players)
    return view.seq, view.table.status, votes, people, tuple(view.table.deputies.items())
