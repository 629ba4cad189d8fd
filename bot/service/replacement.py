"""Another player in a seat of a game in play: the row of the log that says so."""

from __future__ import annotations

import engine
from bot.service.commit_draft import CommitDraft
from bot.service.seat_numbers import engine_seat
from storage import NewLogRow


async def record_replacement(
    draft: CommitDraft, seat: int, person_id: int, name: str, *, by: int | None, why: str = ""
) -> str:
    """Put into a draft that a person plays on in a seat under a name; what happened, in a sentence.

    why: what the sentence says at its end.
    """
    unit, table = await draft.unit(), draft.table
    info, former = table.stored_info, table.state.players[seat]
    if player := info.player_at(seat):
        await unit.tables.vacate_seat(player.seat_id)
    await unit.tables.add_seat(info.id, person_id, name, seat)
    state, events = engine.rename_player(table.state, engine_seat(seat), name)
    sentence = (f"{name} plays on for {former}" if name != former else f"{name} plays on") + f"{why}."
    row = NewLogRow(
        kind="replace", transport="service", seat=seat, person_id=by, line="replace",
        raw_line=sentence, events=engine.encode_events(events),
    )  # fmt: skip
    draft.add_row(row, state)
    return sentence
