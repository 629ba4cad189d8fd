"""Games that move in by email: a file is attached, and the seats are claimed by replies.

import Friday                    with the game attached: the table
seat Ann                         play on as Ann
invite Bob <bob@example.org>     offer Bob's seat to its player, who takes it with `yes`
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.email.tokens import table_label
from bot.features.game_files.importing import imported_sentences
from bot.hub import notify
from bot.hub.info import TableInfo, open_seats
from bot.hub.loading import load_recipient
from bot.position import text_views
from bot.service import Service
from mail.parts import MailFile

NO_FILE = "Attach the game: the JSON file that 18xx.games exports, or a game text."
HOW_TO_SIT = (
    "Reply with `seat NAME` to play on in a seat, and with `invite Bob <bob@example.org>` to offer the seat "
    "of Bob to its player by email. The game goes on once every seat has its player."
)


async def import_game(
    service: Service, person_id: int, name: str, files: Sequence[MailFile]
) -> tuple[tuple[str, ...], int]:
    """Open a table for the game in the first file: sentences, and its id. Raises ValueError."""
    if not files:
        raise ValueError(NO_FILE)
    table, warnings = await service.imports.open_table(files[0].content, by=person_id, name=name[:60])
    return tuple(imported_sentences(table, warnings, HOW_TO_SIT)), table.id


async def claim_seat(service: Service, table: TableInfo, seat_name: str, person_id: int, name: str) -> str:
    """A person plays on in a seat; what they read. Raises ValueError."""
    seat = seat_of_name(table, seat_name)
    return await sit_down(service, table, seat, person_id, name or table.names[seat])


async def sit_down(
    service: Service, table: TableInfo, seat: int, person_id: int, name: str, *, offered: bool = False
) -> str:
    """A person takes an open seat, under that name; what they read. Raises ValueError."""
    info = await service.imports.claim_seat(table.id, seat, person_id, name, offered=offered)
    left = len(open_seats(info))
    rest = {0: "All seats are taken, and the game goes on.", 1: "One seat is still open."}
    return f"You play on as {info.names[seat]} at {table_label(info)}. " + rest.get(
        left, f"{left} seats are still open."
    )


def seat_of_name(table: TableInfo, name: str) -> int:
    """The open seat of that name. Raises ValueError with those that are open."""
    seats = open_seats(table)
    for seat in seats:
        if table.names[seat].casefold() == name.strip().casefold():
            return seat
    if not seats:
        raise ValueError(f"No seat at table {table.code} waits for a player.")
    named = text_views.join_words([table.names[seat] for seat in seats], "or")
    raise ValueError(f"Name an open seat of table {table.code}: {named}.")


async def offer_seat(service: Service, table: TableInfo, seat: int, person_id: int, by: int) -> None:
    """Offer a seat of a game that has moved in to a person, by email."""
    async with service.store.begin() as unit:
        await service.limits.count(unit, by, "invitations")
        recipient = await load_recipient(unit, person_id, seat, unverified=True)
        await unit.outbox.enqueue(*notify.seat_offers(table, recipient, seat))
    service.wake_subscribers()
