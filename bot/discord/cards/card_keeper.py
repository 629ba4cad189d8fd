"""The cards of all tables: posted when a turn begins, kept up to date, finished when the turn is over.

Theory of operation. The store knows which Discord message is the card of which slot. `sync` compares the
cards with the position: the card of a player who still has to act is edited in place, a card that is not
needed any more is finished (`finished_turns`). Only a turn or a poll posts a new card, and only that
notifies. The notification is one line of text, because phones show nothing of a message of components; the
message is edited into the card at once. While a notification is held back, the card of the former turn is
edited into the next one, so that those who are there play on at once; where there is no such card, as at the
start of a game, the next one is posted without a notification. The new card is shown before old ones are
finished, because somebody waits for it.

What a message has attached is recorded as Discord reports it. An edit names files by those ids or uploads
them, so it never refers to a file that is not there. A card that cannot be edited is replaced by a new
message, and a card that can be posted nowhere at the table goes to its player's direct messages.

The store knows of a message before it is posted (`CardRef.posting`). Where the answer is lost, the message is
looked for among ours in the channel. One transaction gives it the slot and queues the message that had it
before, which is finished then. So none is left over, and none is posted twice, whatever happens.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from bot.discord.api import CannotEdit, message_age
from bot.discord.cards import card_texts
from bot.discord.cards.card_builder import CardBuilder, user_of
from bot.discord.cards.card_refs import (
    ASKED,
    NO_MESSAGE,
    OVER,
    REMIND,
    AttachedFile,
    CardRef,
    TableCard,
    attached_files,
    card_slot,
    cards_of,
    files_to_send,
    moved,
    slot_for,
)
from bot.discord.cards.finished_turns import OLD_MESSAGE_AGE, FinishedTurns, begins_after, queued_card
from bot.discord.cards.prompts import (
    Prompt,
    QueuedTurn,
    card_version,
    current_prompt,
    is_pushed_up,
    is_replaced,
    open_prompt,
    queued_turn,
)
from bot.discord.posting import Draft, Outgoing, Poster, Unreachable
from bot.hub.notifications.messages import decode_notification, turn_collapse_key
from bot.hub.notifications.notify import is_pinged
from bot.hub.table import TableView
from bot.position.pending import PendingDecision
from storage import TablePoll

log = logging.getLogger(__name__)


class Place(NamedTuple):
    """The name of a card's slot, and what it asks there."""

    name: str
    prompt: Prompt


class CardKeeper:
    """Keeps the cards. Call it under the lock of the table."""

    def __init__(self, poster: Poster, builder: CardBuilder, finished: FinishedTurns) -> None:
        self.service, self.api, self.cards = poster.service, poster.api, poster.cards
        self.poster, self.builder, self.finished = poster, builder, finished
        self.chatted: dict[int, int] = {}  # by channel, the newest message of people
        self.tables_at = defaultdict[int, set[int]](set)  # by channel, the tables that have cards there
        self.shown: dict[int, tuple[Any, ...] | None] = {}  # by table: what its cards show; None: out of date
        self.rewinds: dict[int, str] = {}  # by table: how many, when the list of turns was marked last

    # -- sync --------------------------------------------------------------------------------

    async def sync(self, table_id: int, *, finishes: bool = True) -> None:
        """Bring the cards of a table up to date with its position; where Discord does not allow it, later.

        finishes: False leaves the cards that are not needed any more to the next sync.
        """
        try:
            await self._sync(table_id, finishes)
        except Unreachable as failure:
            name = self.service.cache.table_name(table_id)
            log.info("Discord: a card of %s could not be brought up to date: %s", name, failure)

    async def _sync(self, table_id: int, finishes: bool) -> None:
        view = await self.service.queries.view(table_id)
        if self.shown.get(table_id) == card_version(view):
            return
        self.shown[table_id] = None
        cards, turn = await self._stored(view)
        over: list[TableCard] = []
        is_left = False
        failure: Unreachable | None = None
        for card in list(cards.values()):
            if card.is_queued:
                self.finished.queue(card)
            elif card.asks:
                self.tables_at[card.ref.channel_id].add(table_id)
                try:
                    if card.ref.posting is not None and not await self._take_posted(view, card, cards):
                        continue
                    card = cards[card.slot]
                    if not await self._sync_card(view, card, cards, turn):
                        over.append(card)
                except Unreachable as error:
                    failure = error
            elif await self._is_past(view, card):
                is_left |= not await self._delete(card)
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
        self.shown[table_id] = None if is_left else card_version(view)

    async def _stored(self, view: TableView) -> tuple[dict[str, TableCard], QueuedTurn | None]:
        """The cards of a table by slot, and its one turn if the notification of that is not sent yet."""
        async with self.service.store.read() as unit:
            cards = {card.slot: card for card in await cards_of(unit, view.table.id)}
            return cards, await queued_turn(unit, view)

    async def _sync_card(
        self, view: TableView, card: TableCard, cards: dict[str, TableCard], turn: QueuedTurn | None
    ) -> bool:
        """Bring a card up to date; False if it is not needed any more."""
        if (asked := cards.get(ASKED)) and is_replaced(card, asked) and open_prompt(view, asked):
            return False
        prompt = open_prompt(view, card)
        if prompt is None and turn and self._may_pass_on(view, card, cards, turn):
            card = await self._pass_on(view, card, turn.pending)
            cards[card.slot], prompt = card, open_prompt(view, card)
        if prompt is None:
            return False
        try:
            ref = await self._update(view, card, prompt)
            await self._bring_down(view, card._replace(ref=ref), prompt)
        except Unreachable:
            if card.user or not await self._move_to_direct_messages(view, card, cards, prompt):
                raise
            return False
        return True

    async def _bring_down(self, view: TableView, card: TableCard, prompt: Prompt) -> None:
        """Post the card of a player who plays live at the bottom of the thread, if chat has pushed it up."""
        if card.user or isinstance(prompt, TablePoll) or len(prompt) > 1:
            return
        chatted = self.chatted.get(card.ref.channel_id, 0)
        if await is_pushed_up(self.service, view, card.ref, prompt[0], chatted):
            ref = msgspec.structs.replace(card.ref, brought_down=prompt[0].decision_id)
            card = card._replace(ref=ref)
            await self._replace(view, card, await self._build(view, card, prompt))

    async def _is_past(self, view: TableView, card: TableCard) -> bool:
        """Whether a message is the reminder of a decision that is made, or the ending of a game that goes
        on."""
        ref, table = card.ref, view.table
        if card.name == OVER:
            return not table.is_over
        if not card.name.startswith(REMIND):
            return False
        is_asked = any(each.seat == ref.seat for each in view.pending) and table.status == "running"
        since = await self.service.queries.log(table.id, ref.seq) if is_asked else []
        return not is_asked or any(each.kind == "move" and each.seat == ref.seat for each in since)

    async def _delete(self, card: TableCard) -> bool:
        """Delete a message, if Discord allows it; whether it is gone."""
        is_gone = await self.api.delete(self.api.message(card.ref.channel_id, card.ref.message_id))
        if is_gone:
            await self.cards.change(card.table_id, remove=[card.slot])
        return is_gone

    def _may_pass_on(
        self, view: TableView, card: TableCard, cards: dict[str, TableCard], turn: QueuedTurn
    ) -> bool:
        """Whether the card of a finished turn goes to the player whose turn is next: nobody is to be notified
        of it now, and they have no card yet."""
        ref, is_turn = card.ref, not card.user and card.slot.startswith("turn:")
        is_silent = turn.is_held or not decode_notification(turn.message.payload).ping
        if not is_turn or not is_silent or card_slot(turn.pending) in cards:
            return False
        if view.table.person_at(turn.pending.seat) is None or self.poster.threads.is_locked(ref.channel_id):
            return False
        return message_age(ref.message_id) <= OLD_MESSAGE_AGE

    async def _pass_on(self, view: TableView, card: TableCard, pending: PendingDecision) -> TableCard:
        """Give the card of a finished turn to the player whose turn is next."""
        person_id = view.table.person_at(pending.seat)
        ref = moved(CardRef(0, 0, person_id, pending.seat, view.seq, begins_after(card)), card.ref)
        passed_on = TableCard(view.table.id, card_slot(pending), ref)
        await self.cards.change(view.table.id, passed_on, remove=[card.slot])
        return passed_on

    async def _post_held(self, view: TableView, cards: dict[str, TableCard], turn: QueuedTurn | None) -> None:
        """Post the card of a player who has none yet, while their notification is held back."""
        if turn is None or not turn.is_held:
            return
        pending, slot = turn.pending, card_slot(turn.pending)
        if slot in cards or ASKED in cards:
            return
        ref = CardRef(
            0, NO_MESSAGE, view.table.person_at(pending.seat), pending.seat, view.seq,
            key=f"{turn.message.idempotency_key}.held",
        )  # fmt: skip
        await self._update(view, TableCard(view.table.id, slot, ref), [pending])

    async def _take_posted(self, view: TableView, card: TableCard, cards: dict[str, TableCard]) -> bool:
        """Find the message that was to be posted for a card; whether the card has one now."""
        ref, posted = msgspec.structs.replace(card.ref, posting=None), await self._find_posted(view, card)
        if posted is None and ref.message_id == NO_MESSAGE:
            await self.cards.change(view.table.id, remove=[card.slot])
            del cards[card.slot]
            return False
        if posted is not None:
            ref = moved(msgspec.structs.replace(ref, key=card.ref.posting), posted)
        await self._save(view, card.slot, ref, queued_card(card) if posted else None)
        cards[card.slot] = card._replace(ref=ref)
        return True

    async def _find_posted(self, view: TableView, card: TableCard) -> CardRef | None:
        """The message that was posted for a card, and that the store does not know: a card, or its line."""
        table = view.table
        seats = [*card.ref.pinged, *([] if card.ref.seat is None else [card.ref.seat])]
        names = [card_texts.mention(user_of(view, seat), table.names[seat]) for seat in seats]

        def is_wanted(components: str, text: str) -> bool:
            is_line = card_texts.is_line_for(text, names, table.code)
            return is_line or card_texts.is_card_of(components, table.id, card.name)

        found = await self.poster.find(table, is_wanted, None, card.user)
        return CardRef(found.channel.id, found.id) if found else None

    async def _build(
        self, view: TableView, card: TableCard, prompt: Prompt, *, pings_first: bool = False
    ) -> Draft:
        if isinstance(prompt, TablePoll):
            return await self.builder.poll(view, prompt)
        reader, ref = view.table.person_at(prompt[0].seat) if card.user else None, card.ref
        return await self.builder.turn(view, prompt, ref.seq, reader, ref.news, pings_first=pings_first)

    async def _update(self, view: TableView, card: TableCard, prompt: Prompt) -> CardRef:
        """Edit a card in place; one that cannot be edited is replaced by a new one without a ping."""
        ref = card.ref
        built = await self._build(view, card, prompt)
        if built.digest == ref.payload_digest:
            return ref
        is_old = message_age(ref.message_id) > OLD_MESSAGE_AGE  # also where there is none yet
        if is_old or self.poster.threads.is_locked(ref.channel_id):
            return await self._replace(view, card, built)
        try:
            updated = await self._edit(view, card, built)
        except CannotEdit:
            return await self._replace(view, card, built)
        await self._save(view, card.slot, updated)
        return updated

    async def _edit(self, view: TableView, card: TableCard, built: Draft) -> CardRef:
        """Edit a card; without pictures where files may not be attached. Raises CannotEdit."""
        ref = card.ref
        files = [] if ref.is_plain else files_to_send(ref, built.images)
        if [each.id for each in files if isinstance(each, AttachedFile)] != [each.id for each in ref.files]:
            await self.cards.forget_files(card)
        attached = await self.poster.edit(view.table, ref, built, files)
        kept = attached_files(built.images, attached or ())
        is_plain = attached is None
        return msgspec.structs.replace(ref, files=kept, is_plain=is_plain, payload_digest=built.digest)

    async def _replace(self, view: TableView, card: TableCard, built: Draft) -> CardRef:
        """Post a card anew, and have the former message deleted. Raises Unreachable."""
        ref = await self._put(view, card, built.notifying(()), f"{card.ref.key}.{card.ref.message_id}", card)
        if not ref.payload_digest:
            ref = await self._edit(view, card._replace(ref=ref), built)
            await self._save(view, card.slot, ref)
        return ref

    async def _put(
        self,
        view: TableView,
        card: TableCard,
        draft: Draft,
        key: str,
        former: TableCard | None,
        until: int | None = None,
    ) -> CardRef:
        """Post a message for a card. former: the card in whose place it is; the message of that is queued.
        until: see `queued_card`. Raises Unreachable."""
        held = former or card
        begun = msgspec.structs.replace(held.ref, posting=card.ref.key, payload_digest="")
        await self._save(view, held.slot, begun)
        try:
            posted = await self.poster.post(view.table, key, draft, card.user)
        except Unreachable:  # nothing is posted
            unchanged = None if held.ref.message_id == NO_MESSAGE else held
            await self.cards.change(view.table.id, unchanged, remove=[held.slot])
            raise
        ref = moved(card.ref, posted)
        await self._save(view, card.slot, ref, queued_card(held, until))
        return ref

    async def _save(
        self,
        view: TableView,
        slot: str,
        ref: CardRef,
        queued: TableCard | None = None,
    ) -> None:
        """Store the message of a slot. queued: the former one, which is to be finished."""
        if queued and queued.ref.message_id == NO_MESSAGE:
            queued = None
        await self.cards.change(view.table.id, TableCard(view.table.id, slot, ref), queued)
        self.tables_at[ref.channel_id].add(view.table.id)
        if queued:
            self.finished.queue(queued)

    async def _move_to_direct_messages(
        self, view: TableView, card: TableCard, cards: dict[str, TableCard], prompt: Prompt
    ) -> bool:
        """Show a card that can be posted nowhere at the table to its player; False where that fails too."""
        if isinstance(prompt, TablePoll) or len(prompt) > 1:
            return False
        if (user := user_of(view, prompt[0].seat)) is None:
            return False
        if (slot := card_slot(prompt[0], user)) not in cards:
            own = TableCard(view.table.id, slot, moved(card.ref, CardRef(0, NO_MESSAGE)))
            await self._update(view, own, prompt)
        return True

    # -- new cards ---------------------------------------------------------------------------

    async def send_turn(self, sent: Outgoing) -> CardRef | None:
        """Post the card of a player who has to act, and notify them unless they have acted since.

        Only a sync after it finishes the cards that are not needed any more: nobody waits for that.
        """
        notification = sent.notification
        view = await self._synced_view(notification.table_id)
        pending = current_prompt(view, notification)
        if pending is None or (pending.is_main and not pending.acts_now and not sent.user):
            return None
        cards, _ = await self._stored(view)
        is_shown_to_all = pending.is_main and not sent.user
        slot = card_slot(pending, sent.user)
        asked = cards.get(ASKED) if is_shown_to_all else None
        known = asked or (cards.get(slot) if sent.user else None)
        if known and pending.seat in known.ref.pinged and notification.seq <= known.ref.seq:
            is_told = notification.person_id in known.ref.told
            if is_told or not notification.ping:
                return await self._add_news(view, known, sent)
        acting = [each for each in view.pending if each.is_main and each.acts_now]
        together = is_shown_to_all and len(acting) > 1
        log_since = await self.service.queries.log(view.table.id, notification.seq)
        acted = {each.seat for each in log_since if each.kind == "move" and each.is_live}
        pinged = await self._pinged(view, acting) if together else [pending.seat] * notification.ping
        notify = [seat for seat in pinged if seat not in acted]
        card = cards.get(slot) if is_shown_to_all else None
        if card and not notify and card.ref.key != sent.key and open_prompt(view, card):
            return card.ref
        own = Place(card_slot(pending), [pending])
        shared = Place(ASKED, acting) if together else own
        shown = await self._send(sent, view, cards, shared, own, notify=notify)
        if asked and not together:
            await self.finished.finish(view, asked)
        return shown

    async def _add_news(self, view: TableView, card: TableCard, sent: Outgoing) -> CardRef:
        """Let the next sync add to a card what another notification tells its reader beside their turn."""
        news = sent.notification.sentences
        if not news or card.ref.key == sent.key:
            return card.ref
        ref = msgspec.structs.replace(card.ref, key=sent.key, news=[*card.ref.news, *news])
        await self._save(view, card.slot, ref)
        self.shown[view.table.id] = None
        return ref

    async def send_vote(self, sent: Outgoing) -> CardRef | None:
        """Post the one message of a poll, or the card of a voter in their direct messages."""
        view = await self._synced_view(sent.notification.table_id)
        seat, decision_id = sent.notification.seat, str(sent.notification.decision_id)
        polls = {f"v{poll.poll.id}": poll for poll, voter in view.missing_votes() if voter == seat}
        poll = polls.get(decision_id)
        if poll is None or seat is None:
            return None
        cards, _ = await self._stored(view)
        if not sent.user and (card := cards.get(decision_id)):
            return card.ref
        shared, own = Place(decision_id, poll), Place(f"{decision_id}:{seat}", poll)
        now, voters = self.service.store.now(), [seat for seat, vote in poll.votes.items() if vote is None]
        notify = [each for each in voters if is_pinged("vote", view.table, view.recipients.get(each), now)]
        return await self._send(sent, view, cards, shared, own, notify=notify)

    async def _pinged(self, view: TableView, acting: Sequence[PendingDecision]) -> list[int]:
        """Of those who act together, whom their own notifications ping, in whose place there is one card."""
        pinged = []
        async with self.service.store.read() as unit:
            for each in acting:
                key = turn_collapse_key(view.table.id, each.seat, "table")
                message = await unit.outbox.pending_with_collapse_key(key)
                if message is not None and decode_notification(message.payload).ping:
                    pinged.append(each.seat)
        return pinged

    async def _synced_view(self, table_id: int) -> TableView:
        await self.sync(table_id, finishes=False)
        return await self.service.queries.view(table_id)

    async def _send(
        self,
        sent: Outgoing,
        view: TableView,
        cards: dict[str, TableCard],
        shared: Place,
        own: Place,
        *,
        notify: Sequence[int],
    ) -> CardRef:
        """Post a card where the table is shown, or in the direct messages of the player whom it is about: if
        the notification goes there, or nothing can be posted at the table. notify: the seats that it pings.
        Raises Unreachable."""
        seat = sent.notification.seat
        assert seat is not None
        if sent.user is None:
            try:
                return await self._post(sent, view, cards, shared, notify=notify)
            except Unreachable:
                sent = sent._replace(user=user_of(view, seat))
                if sent.user is None:
                    raise
        return await self._post(sent, view, cards, own, notify=[seat] * sent.notification.ping)

    async def _post(
        self,
        sent: Outgoing,
        view: TableView,
        cards: dict[str, TableCard],
        place: Place,
        *,
        notify: Sequence[int],
    ) -> CardRef:
        """Post a card; the next sync completes it, or one that an earlier attempt has posted."""
        slot, prompt = slot_for(sent.user, place.name), place.prompt
        previous, self.shown[view.table.id] = cards.get(slot), None
        if previous is not None and previous.ref.key == sent.key:
            return previous.ref
        found = [each for seat in notify if (each := view.recipients.get(seat))]
        users = {each.person_id: each.discord_id for each in found if each.discord_id}
        is_same_question = previous is not None and sent.notification.seq <= previous.ref.seq
        told = {*(previous.ref.told if previous and is_same_question else ()), *users}
        seats = list(prompt.votes) if isinstance(prompt, TablePoll) else [each.seat for each in prompt]
        seat = seats[0] if len(seats) == 1 else None
        person_id = None if seat is None else view.table.person_at(seat)
        news = [*sent.notification.sentences] if sent.user and not isinstance(prompt, TablePoll) else []
        ref = CardRef(
            0, NO_MESSAGE, person_id, seat, view.seq, key=sent.key, pinged=seats, news=news, told=sorted(told)
        )
        card = TableCard(view.table.id, slot, ref)
        built = await self._build(view, card, prompt, pings_first=bool(users))
        return await self._put(view, card, built.notifying([*users.values()]), sent.key, previous, view.seq)
