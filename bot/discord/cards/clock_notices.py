"""Reminders, digests and what else the clock says, on Discord."""

from __future__ import annotations

from bot.discord.cards import card_texts, layouts, parts
from bot.discord.cards.card_keeper import current_prompt
from bot.discord.cards.notices import Notices
from bot.discord.cards.turns_card import WaitingEntry, turns_card
from bot.discord.controls.controls import AGREE, DECLINE, KEEP, LOBBY, OFFERED, START, SUBMIT_LINE, CustomId
from bot.discord.posting import Draft
from bot.discord.threads import card_link
from bot.features.lobby.pages import seat_offer_sentence
from bot.features.lobby.seats import open_request
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.recent_events import digest_events
from bot.hub.notifications.waiting import waiting_tables
from bot.hub.polls import poll_id
from bot.hub.table import TableView
from bot.service import Service
from storage import OutboxMessage

LOBBY_KINDS = ("full", "expiring", "closed", "robot", "no robot")
SEAT_KINDS = ("seat", "seat_request", "seat_answer")
CLOCK_KINDS = (
    "reminder", "next", "deputy", "dismissed", "time_up", "digest", "vote_reminder", *LOBBY_KINDS, *SEAT_KINDS
)  # fmt: skip


async def send_clock_notice(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """Send what the clock has to say; nothing if it is out of date."""
    service = notices.service
    if notification.kind == "digest":
        entries = await waiting_entries(service, notification.person_id or 0, digest_only=True)
        draft = Draft(turns_card(entries))
        return await notices.send_text_once(queued, table, draft, dm_user) if entries else None
    if notification.kind in LOBBY_KINDS:
        return await _send_lobby_notice(notices, queued, table, notification, dm_user)
    if notification.kind in SEAT_KINDS:
        return await _send_seat_notice(notices, queued, table, notification, dm_user)
    view = await service.queries.view(table.id)
    if notification.kind == "vote_reminder":
        return await _send_vote_reminder(notices, queued, view, notification, dm_user)
    if notification.kind == "reminder" and current_prompt(view, notification) is None:
        return None
    if notification.kind == "next" and view.current_decision_id != notification.decision_id:
        return None
    user = dm_user or await notices.threads.discord_id(notification.person_id)
    ping = [f"<@{user}>"] if user and not dm_user else []
    text = " ".join([*ping, *notification.sentences])
    if notification.kind == "reminder" and (pending := current_prompt(view, notification)):
        link = await card_link(service, table, pending.seat)
        text = f"{text}\n{pending.name} to act: {pending.prompt}." + (f" [The card]({link})" if link else "")
    payload = layouts.notification([card_texts.table_heading(table, view.seq), text])
    if notification.kind == "reminder":
        draft = Draft(payload, users=[user] if ping and user else [])
        return await notices.send_reminder(queued, table, notification, draft, dm_user)
    return await notices.send_text_once(
        queued, table, Draft(payload, users=[user] if ping and user else []), dm_user
    )


async def _send_lobby_notice(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """A table is full, expires or is closed: with the button that answers."""
    if table.status != "lobby" and notification.kind != "closed":
        return None
    custom_id = CustomId(table.id, None, None, LOBBY, START)
    buttons = {
        "full": [parts.button("Start", str(custom_id), parts.PRIMARY)],
        "expiring": [parts.button("Keep it open", str(custom_id._replace(argument=KEEP)), parts.PRIMARY)],
        "robot": [
            parts.button("Agree", str(custom_id._replace(argument=AGREE)), parts.PRIMARY),
            parts.button("Decline", str(custom_id._replace(argument=DECLINE))),
        ],
    }.get(notification.kind, [])
    text = parts.text_display(" ".join(notification.sentences))
    draft = Draft([parts.container([text, *parts.action_rows(buttons)])])
    return await notices.send_text_once(queued, table, draft, dm_user)


async def _send_vote_reminder(
    notices: Notices, queued: OutboxMessage, view: TableView, notification: Notification, dm_user: str | None
) -> str | None:
    """A vote still waits for a player: with the buttons that answer it."""
    open_votes = {(poll_id(poll), seat) for poll, seat in view.missing_votes()}
    key = notification.decision_id or ""
    if (key, notification.seat) not in open_votes:
        return None
    user = dm_user or await notices.threads.discord_id(notification.person_id)
    ping = [f"<@{user}>"] if user and not dm_user else []
    lines = [card_texts.table_heading(view.table, view.seq), " ".join([*ping, *notification.sentences])]
    payload = [*layouts.notification(lines), *parts.action_rows(layouts.vote_buttons(view.table.id, key))]
    draft = Draft(payload, users=[user] if ping and user else [])
    return await notices.send_text_once(queued, view.table, draft, dm_user)


async def _send_seat_notice(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """A seat is offered, or asked for, with the buttons that answer; or what the answer was."""
    buttons: list[parts.Json] = []
    sentences = notification.sentences
    if notification.kind == "seat":
        seat = notification.seat
        is_seated = table.player_of(notification.person_id) is not None
        if seat is None or is_seated or table.status not in ("running", "paused"):
            return None
        sentences = (seat_offer_sentence(table, seat),)
        custom_id = CustomId(table.id, seat, None, LOBBY, OFFERED)
        buttons = [parts.button("Play on", str(custom_id), parts.SUCCESS)]
    if notification.kind == "seat_request":
        async with notices.service.store.read() as unit:
            request = await open_request(unit, table.id, notification.decision_id)
        if request is None:
            return None
        custom_id = CustomId(table.id, None, None, SUBMIT_LINE, f"admit {request.name}")
        refuse = custom_id._replace(argument=f"refuse {request.name}")
        buttons = [
            parts.button("Admit", str(custom_id), parts.SUCCESS),
            parts.button("Refuse", str(refuse), parts.DANGER),
        ]
    text = parts.text_display(" ".join(sentences))
    draft = Draft([parts.container([text, *parts.action_rows(buttons)])])
    return await notices.send_text_once(queued, table, draft, dm_user)


async def waiting_entries(
    service: Service, person_id: int, *, digest_only: bool = False
) -> list[WaitingEntry]:
    """The tables that wait for a person, the most urgent first."""
    settings = await service.settings.settings(person_id)
    async with service.store.read() as unit:
        waiting = await waiting_tables(unit, person_id)
        now = unit.now
    entries = []
    for each in waiting:
        if digest_only and not settings.for_table(each.table.code).digest:
            continue
        view = await service.queries.view(each.table.id)
        link = await card_link(service, each.table, each.seat)
        if each.poll is not None:
            text = f"**{each.line(now, settings.zone)}**\n{each.poll.poll.details['question']}"
            entries.append(WaitingEntry(each, text, each.poll_id, None))
            continue
        pending = next((p for p in view.pending if p.seat == each.seat), None)
        if pending is None:
            continue
        text = f"**{each.line(now, settings.zone)}**\nYou to act: {pending.prompt}."
        if digest_only:
            events = await digest_events(service.queries, each, person_id)
            text += "".join(f"\n- {event}" for event in events)
        entries.append(WaitingEntry(each, text, pending.decision_id, link))
    return entries
