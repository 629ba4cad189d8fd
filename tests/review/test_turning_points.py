"""Turning points: what belongs together, how large it is, and how it is told."""

from __future__ import annotations

from pathlib import Path

import engine
from bot.cli.export import history_of_file
from bot.features.review.game import PlayedGame, last_round_start, played_game
from bot.features.review.money import money_entries
from bot.features.review.review import Review
from bot.features.review.runs import best_run_changes
from bot.features.review.turning_points import Moment, turning_points
from bot.features.review.turning_words import told
from engine.core.events import (
    AnyEvent,
    CashMoved,
    ParSet,
    PresidentNamed,
    PriceMoved,
    RoundStarted,
    SharesMoved,
    TrainMoved,
)
from engine.core.reasons import CashReason, PriceReason, TrainReason
from engine.core.state import BANK, IPO, POOL
from engine.game_text.history import GameHistory, HistoryLine

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


def cell(price: int) -> tuple[int, int]:
    """A space of the market of 1830 with that price."""
    rows = engine.game_of(engine.new_game("1830", ["Ann", "Bob"]).state).components.market.rows
    return next((y, x) for y, row in enumerate(rows) for x, at in enumerate(row) if at and at.price == price)


def game_of(*moves: list[AnyEvent]) -> PlayedGame:
    """Moves at the start of a game of 1830."""
    start = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    return played_game(GameHistory(start, tuple(HistoryLine("p0", "", events) for events in moves)))


def points(game: PlayedGame) -> list[Moment]:
    return turning_points(game, money_entries(game), best_run_changes(game))


STARTED: list[AnyEvent] = [
    RoundStarted("stock round 1"),
    ParSet("PRR", 100, cell(100)),
    SharesMoved("PRR", IPO, "p0", 40),
    SharesMoved("PRR", IPO, "p1", 30),
    SharesMoved("PRR", IPO, "p2", 30),
    PresidentNamed("PRR", "p0"),
]
DUMPED: list[AnyEvent] = [
    PresidentNamed("PRR", "p1"),
    SharesMoved("PRR", "p0", POOL, 30),
    CashMoved(BANK, "p0", 300, CashReason.SHARES, "PRR"),
    PriceMoved("PRR", cell(76), PriceReason.SOLD),
]
PAID: list[AnyEvent] = [
    CashMoved("p1", "PRR", 250, CashReason.TRAIN_CONTRIBUTION),
    TrainMoved("2", BANK, "PRR", TrainReason.BOUGHT),
]


def test_a_presidency_that_is_passed_on_costs_what_its_new_president_pays_later() -> None:
    next_round: list[AnyEvent] = [RoundStarted("operating round 1.1 of 1")]
    game = game_of(STARTED, [RoundStarted("stock round 2")], DUMPED, next_round, PAID)
    (moment,) = points(game)
    assert (moment.kind, moment.at, moment.paid) == ("sales", 2, 250)
    assert moment.effects == {"p0": -24, "p1": -72 - 250, "p2": -72}
    assert moment.size == 322
    sentence = told(game, moment, game.start).sentence
    assert "Ann sold 30 % of the PRR, and its price fell from $100 to $76." in sentence
    assert "Bob became president instead of Ann, and later had to pay $250 for the PRR." in sentence
    assert "The fall cost Bob $72 and Cid $72." in sentence


def test_a_president_pays_without_having_been_given_the_company() -> None:
    paid = [CashMoved("p0", "PRR", 250, CashReason.TRAIN_CONTRIBUTION), PAID[1]]
    game = game_of(STARTED, [RoundStarted("operating round 1.1 of 1")], paid)
    (moment,) = points(game)
    assert (moment.kind, moment.effects) == ("forced", {"p0": -250})
    point = told(game, moment, game.start)
    assert point.sentence == "Ann had to pay $250 for a 2-train of the PRR."
    assert (point.number, point.round, point.picture) == (3, "operating round 1.1", "sheet")


def test_the_train_that_rusts_others_is_a_turning_point_with_what_they_could_run() -> None:
    """In a recorded game: sizes agree with the changes of best runs and the shares held."""
    game = played_game(history_of_file(GAME))
    changes = best_run_changes(game)
    moments = turning_points(game, money_entries(game), changes, count=100)
    trains = [moment for moment in moments if moment.kind == "trains" and len(moment.changes) > 1]
    assert trains
    for moment in trains:
        for seat in game.start.seats:
            whole = sum(
                change.dollars * change.holdings.get(seat, 0) * change.turns / 100
                for change in moment.changes
            )
            paid = sum(entry.dollars for entry in moment.entries if entry.seat == seat)
            assert abs(moment.effects[seat] - whole - paid) < len(moment.changes)
        assert "the best run of the" in told(game, moment, game.start).sentence


def test_a_running_game_shows_nothing_of_the_round_that_is_on() -> None:
    game = played_game(history_of_file(GAME))
    cut = game._replace(moves=game.moves[:300])
    review = Review(cut)
    assert not review.may_study
    assert all(point.at < last_round_start(cut) for point in review.turning_points)
    assert last_round_start(cut) < 300
    assert Review(game).may_study
