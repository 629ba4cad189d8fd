"""The records of a game: the best run, the dearest share, the largest bankruptcy (pure).

They are found by folding the events of the game; no rule is asked. The size of a bankruptcy is the worth of
the player when the round began in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import engine
from bot.service.amounts import dollars
from engine.core.events import (
    AnyEvent,
    FramePushed,
    FrameReplaced,
    ParSet,
    PlayerBankrupt,
    PriceMoved,
    RoundStarted,
)
from engine.core.state import GameOver
from renderers import short_round


class Record(NamedTuple):
    """A company or a player, dollars, and the round."""

    name: str
    dollars: int
    round: str


class GameRecords(NamedTuple):
    """The records of a game; None for what has not happened in it. Of equals the first holds the record."""

    run: Record | None = None
    share: Record | None = None
    bankruptcy: Record | None = None


def game_records(start: engine.State, events: Sequence[bytes]) -> GameRecords:
    """The records of a game. `start`, `events`: as `TableQueries.stored_game` returns them."""
    state, records, round = engine.copy_state(start), GameRecords(), "opening"
    worth = engine.standings(state)
    for raw in events:
        for event in engine.decode_events(raw):
            event.apply(state)
            if isinstance(event, RoundStarted):
                round, worth = event.round.partition(" of ")[0], engine.standings(state)
            elif isinstance(event, engine.TrainsRan):
                run = _larger(records.run, event.company, event.revenue, round)
                records = records._replace(run=run)
            elif isinstance(event, PriceMoved | ParSet):
                price = engine.game_of(state).price(event.company)
                share = _larger(records.share, event.company, price, round)
                records = records._replace(share=share)
            elif seat := _bankrupt_seat(event):
                bankruptcy = _larger(records.bankruptcy, seat, worth[seat], round)
                records = records._replace(bankruptcy=bankruptcy)
    if records.bankruptcy is not None:
        named = records.bankruptcy._replace(name=state.name(records.bankruptcy.name))
        records = records._replace(bankruptcy=named)
    return records


def _larger(record: Record | None, name: str, amount: int, round: str) -> Record | None:
    return record if record is not None and record.dollars >= amount else Record(name, amount, round)


def _bankrupt_seat(event: AnyEvent) -> str | None:
    """The seat that becomes bankrupt by an event."""
    match event:
        case PlayerBankrupt():
            return event.seat
        case FramePushed(frame=GameOver() as over) | FrameReplaced(frame=GameOver() as over):
            return over.bankrupt
    return None


def records_text(records: GameRecords) -> Iterator[str]:
    """Each record in a sentence."""
    if run := records.run:
        yield f"Best run: {run.name} with {dollars(run.dollars)} in {short_round(run.round)}."
    if share := records.share:
        yield f"Dearest share: {share.name} at {dollars(share.dollars)}, first in {short_round(share.round)}."
    if fall := records.bankruptcy:
        began = f"worth {dollars(fall.dollars)} when {short_round(fall.round)} began"
        yield f"Largest bankruptcy: {fall.name}, {began}."
