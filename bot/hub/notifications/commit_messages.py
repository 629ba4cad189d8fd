"""What a commit tells the players of its table: turns, news, the answer to an offer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

import engine
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.notifications import messages
from bot.hub.notifications.notify import Recipient, is_told_at_once
from bot.hub.request import Completed
from bot.hub.table import TableMetadata
from bot.position.pending import PendingDecision, seat_number
from storage import NewMessage


def commit_messages(draft: CommitDraft, metadata: TableMetadata, ping_holdoff: float) -> list[NewMessage]:
    """What is sent with a draft: announcements, a turn for each newly pending decision, and updates of the
    card for the others.

    metadata: seats and settings after the commit. ping_holdoff: seconds after which a turn pings, if the
    table has no pace of its own.
    """
    _answer_with_own_news(draft)
    table, info, recipients = draft.table, metadata.info, metadata.recipients
    before = table.pending if table.stored_info.status == "running" else ()
    after = draft.next_pending() if info.status == "running" else ()
    answered = _answered_proposers(draft, after)
    asked = [
        pending
        for pending in newly_pending(info, before, after, table.stored_info, answered)
        if pending.acts_now or pending.seat not in draft.answered_in_advance
    ]
    holdoff = ping_holdoff if info.pace.holdoff is None else info.pace.holdoff
    due = draft.timestamp + timedelta(seconds=holdoff)
    acting_seats = {new_row.seat for new_row in draft.new_rows}
    former_ids = {pending.decision_id for pending in before}
    continuing = [p for p in after if p.is_main and p not in asked and p.decision_id not in former_ids]
    updated = [
        message
        for pending in continuing
        if pending.seat not in acting_seats and pending.seat in recipients
        for message in messages.turn_emails(info, draft.seq, pending, recipients[pending.seat], due)
    ]
    mailed = {message.address["person"] for message in updated}
    sent = [*_announcements(draft, metadata, {pending.seat for pending in asked}, mailed)]
    own = {seat for seat, each in recipients.items() if each.person_id == draft.answered_person}
    answered = own if len(own) == 1 else own & acting_seats  # a deputy may play for several
    sent += messages.turn_messages(info, draft.seq, asked, recipients, due, answered)
    sent += updated
    sent += _withdrawn_questions(draft, metadata, after, acting_seats, due)
    for pending in continuing[:1]:
        sent += messages.card_refreshes(info, draft.seq, pending)
    return messages.with_own_news(sent, draft.messages)


def _answer_with_own_news(draft: CommitDraft) -> None:
    """Who writes an email that ends orders of theirs reads it in the receipt, and gets no message beside it.
    A press on Discord is not answered in words."""
    result = draft.result
    if not isinstance(result, Completed) or not draft.new_rows or draft.new_rows[0].transport != "mail":
        return
    told = dict[str, None]()
    for message in [*draft.messages]:
        notification = messages.decode_notification(message.payload)
        if notification.kind == "order" and notification.person_id == draft.answered_person:
            draft.messages.remove(message)
            told |= dict.fromkeys(notification.sentences)
    draft.result = replace(result, sentences=(*result.sentences, *told))


def _withdrawn_questions(
    draft: CommitDraft,
    metadata: TableMetadata,
    after: Sequence[PendingDecision],
    acting_seats: Collection[int | None],
    due: datetime,
) -> Iterator[NewMessage]:
    """An email to each who was asked about an offer that has ended without their answer, or that cannot be
    accepted any more, unless they act next or news tell it. On Discord their card says it."""
    offered = _offers_of(draft.table.pending)
    if not offered or draft.state is None or any(kind == "news" for kind, _ in draft.announcements):
        return
    still_open = _offers_of(after)
    next_seats = {pending.seat for pending in after}
    for offer in draft.table.state.offers:
        seat = seat_number(offer.recipient)
        recipient = metadata.recipients.get(seat)
        has_ended = offer.number in offered - still_open
        if has_ended and recipient and seat not in acting_seats and seat not in next_seats:
            deal = engine.offer_label(engine.game_of(draft.table.state), offer)
            sentences = ("An offer to you has ended.", f"You need not answer it any more: {deal}.")
            yield from messages.withdrawn_question(
                metadata.info, draft.seq, recipient, sentences, str(offer.number), due
            )


def newly_pending(
    table: TableInfo,
    before: Sequence[PendingDecision],
    after: Sequence[PendingDecision],
    former_table: TableInfo,
    answered_seats: Collection[int],
) -> list[PendingDecision]:
    """The decisions of players that the table did not wait for before, whose turn had not come, who have
    been made another offer, or whose own offer was answered: they go on with what they know now.

    former_table: the table before, if its players have changed. answered_seats: whose offers were answered.
    """
    former = {_pending_key(former_table, pending) for pending in before}
    offered = {(pending.seat, number) for pending in before for number in pending.offers}
    return [
        pending
        for pending in after
        if _pending_key(table, pending) not in former
        or not offered.issuperset((pending.seat, number) for number in pending.offers)
        or (pending.seat in answered_seats and pending.is_main)
    ]


def _pending_key(table: TableInfo, pending: PendingDecision) -> tuple[int, int | None, str, bool]:
    player = table.player_at(pending.seat)
    person_id = player.person_id if player else None
    return pending.seat, person_id, "" if pending.is_main else pending.decision_id, pending.acts_now


def _announcements(
    draft: CommitDraft, metadata: TableMetadata, asked_seats: set[int], mailed: set[int]
) -> Iterator[NewMessage]:
    """mailed: the persons who get an email about their turn, which says what has happened."""
    everybody = metadata.recipients.values()
    for number, (kind, sentences) in enumerate(draft.announcements):
        known = {r.person_id for r in everybody if _knows(draft, r, kind, asked_seats)}
        told = {r.person_id: r for r in everybody if r.person_id not in known}.values()
        suffix = str(number or "") if draft.new_rows else messages.unique_suffix()
        for message in messages.announcements(
            metadata.info, kind, draft.seq, sentences, told, suffix, draft.timestamp
        ):
            is_mailed = message.channel == "mail" and message.address["person"] in mailed
            if not (kind == "news" and is_mailed):
                yield message


def _knows(draft: CommitDraft, recipient: Recipient, kind: str, asked_seats: set[int]) -> bool:
    """Whether a person learns of this commit otherwise: news by the answer to their request, in words of
    their own, or because they get a seat by it; news and the start by the notification of their turn, which
    says what has happened."""
    is_new = recipient.seat not in draft.table.stored_info.seats_of(recipient.person_id)
    knows = recipient.person_id in (draft.answered_person, draft.told_otherwise)
    if kind == "news" and (is_new or knows):
        return True
    by_turn = kind in ("news", "started") and recipient.seat in asked_seats
    return by_turn and is_told_at_once(draft.table.stored_info, recipient)


def _answered_proposers(draft: CommitDraft, after: Sequence[PendingDecision]) -> set[int]:
    """The seats whose offers this commit has ended, unless they did so themselves."""
    ended = _offers_of(draft.table.pending) - _offers_of(after)
    if not ended:
        return set()  # the usual case, in which the position before need not be decoded
    acting = {row.seat for row in draft.new_rows}
    offers = (offer for offer in draft.table.state.offers if offer.number in ended)
    return {seat_number(offer.proposer) for offer in offers} - acting


def _offers_of(pending: Sequence[PendingDecision]) -> set[int]:
    return {number for each in pending for number in each.offers}
