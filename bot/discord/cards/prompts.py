"""What a position asks its players, and which cards of a table ask the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from bot.discord.cards.card_refs import ASKED, CardRef, TableCard, card_slot
from bot.hub.notifications.messages import Notification, turn_collapse_key
from bot.hub.table import TableView
from bot.position.pending import PendingDecision, is_offer
from bot.service import Service
from storage import OutboxMessage, TablePoll, UnitOfWork

SHORT_HOLDOFF = 1.0  # seconds; a notification that is due sooner brings its card with it
PLAYS_LIVE = timedelta(minutes=10)
RECENT_ROWS = 40  # of the log, in which somebody has acted lately

Prompt = list[PendingDecision] | TablePoll
"""What a card asks: the decisions of one or several players, or a poll."""


class QueuedTurn(NamedTuple):
    """A turn whose notification is not sent yet. is_held: whether it waits long enough for its card to be
    shown before."""

    pending: PendingDecision
    message: OutboxMessage
    is_held: bool


async def queued_turn(unit: UnitOfWork, view: TableView) -> QueuedTurn | None:
    """The turn of the one player who has to act, if its notification is not sent yet."""
    acting = [each for each in view.pending if each.is_main and each.acts_now]
    if view.table.status != "running" or len(acting) != 1:
        return None
    key = turn_collapse_key(view.table.id, acting[0].seat, "table")
    message = await unit.outbox.pending_with_collapse_key(key)
    if message is None:
        return None
    is_held = message.attempts == 0 and (message.not_before - unit.now).total_seconds() > SHORT_HOLDOFF
    return QueuedTurn(acting[0], message, is_held)


def open_prompt(view: TableView, card: TableCard) -> Prompt | None:
    """What a card still asks for; None where it is not needed any more."""
    name, ref = card.name, card.ref
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
        shown = bool(card.user) or not pending.is_main or pending.acts_now
        if shown and name == card_slot(pending) and person_id and person_id == ref.person_id:
            return [pending]
    return None


def is_replaced(card: TableCard, asked: TableCard) -> bool:
    """Whether the card of all who are asked has taken the place of the card of one of them."""
    ref = card.ref
    is_of_one = card.slot == f"turn:{ref.seat}" and ref.seat in asked.ref.pinged
    return is_of_one and ref.message_id < asked.ref.message_id


def current_prompt(view: TableView, notification: Notification) -> PendingDecision | None:
    """The decision that a turn notification is about: the same offer, or the seat's current decision."""
    if view.table.status != "running" or notification.decision_id is None:
        return None
    person_id = view.table.person_at(notification.seat if notification.seat is not None else -1)
    if notification.person_id not in (None, person_id):
        return None
    own = [each for each in view.pending if each.seat == notification.seat]
    exact = next((each for each in own if each.decision_id == notification.decision_id), None)
    if exact or is_offer(notification.decision_id):
        return exact
    return next((each for each in own if each.is_main), None)


async def is_pushed_up(
    service: Service, view: TableView, ref: CardRef, pending: PendingDecision, chatted: int
) -> bool:
    """Whether chat has pushed up the card of a player who plays live, so that it has to come down.

    What people write is not read; that they write is enough. chatted: the newest message of people in the
    channel of the card.
    """
    if chatted < ref.message_id or ref.brought_down == pending.decision_id:
        return False
    since = service.store.now() - PLAYS_LIVE
    entries = await service.queries.log(view.table.id, max(view.seq - RECENT_ROWS, 0))
    return any(
        each.kind == "move" and each.seat == pending.seat and each.created_at >= since for each in entries
    )


def card_version(view: TableView) -> tuple[Any, ...]:
    """What the cards of a table depend on; it changes whenever they have to be brought up to date."""
    votes = tuple((poll.poll.id, tuple(sorted(poll.votes.items()))) for poll in view.polls)
    people = tuple(s.person_id for s in view.table.seated_players)
    places = tuple(sorted(view.table.location.items()))
    return view.seq, view.table.status, votes, people, tuple(view.table.deputies.items()), places
