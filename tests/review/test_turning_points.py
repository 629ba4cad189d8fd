"""Turning points: what belongs together, how large it is, and how it is told."""

from __future__ import annotations

from pathlib import Path

import engine
from bot.features.review.game import last_round_start, places
from bot.features.review.money import money_entries
from bot.features.review.review import Review
from bot.features.review.runs import BestRunChange, best_run_changes, run_indices
from bot.features.review.turning_points import RUNS_COUNTED, Moment, turning_points
from bot.features.review.turning_words import told
from engine.core.events import (
    AnyEvent,
    CashMoved,
    FramePushed,
    ParSet,
    PlayerBankrupt,
    PresidentNamed,
    PriceMoved,
    RoundStarted,
    SharesMoved,
    TrainMoved,
    TrainsRan,
    TrainsRusted,
)
from engine.core.reasons import CashReason, PriceReason, TrainReason
from engine.core.state import BANK, IPO, POOL, OperatingTurn
from engine.game_text.history import GameHistory, HistoryLine
from tests.game_text.histories import history_of

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


def cell(price: int) -> tuple[int, int]:
    """A space of the market of 1830 with that price."""
    rows = engine.game_of(engine.new_game("1830", ["Ann", "Bob"]).state).components.market.rows
    return next((y, x) for y, row in enumerate(rows) for x, at in enumerate(row) if at and at.price == price)


def game_of(*moves: list[AnyEvent]) -> GameHistory:
    """Moves at the start of a game of 1830."""
    start = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    return GameHistory(start, tuple(HistoryLine("p0", "", events) for events in moves))


def points(game: GameHistory) -> list[Moment]:
    return turning_points(game, places(game), money_entries(game), best_run_changes(game))


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


def test_who_has_sold_short_gains_by_the_fall() -> None:
    short: list[AnyEvent] = [
        SharesMoved("PRR", "p1", "p0", 30),
        SharesMoved("PRR", "p1", POOL, 20),
        CashMoved(BANK, "p1", 200, CashReason.SHORT_SALE, "PRR"),
    ]
    loan: list[AnyEvent] = [PriceMoved("PRR", cell(90), PriceReason.LOAN)]
    fall: list[AnyEvent] = [PriceMoved("PRR", cell(76), PriceReason.SHARES_IN_POOL)]
    game = game_of(STARTED, [RoundStarted("stock round 2")], short, loan, fall)
    (moment,) = points(game)
    assert moment.effects == {"p0": -7 * 14, "p1": 2 * 14, "p2": -3 * 14}
    sentence = told(game, moment, game.start).sentence
    assert "The fall cost Ann $98 and Cid $42. It brought Bob $28 on shares sold short." in sentence


def test_a_bankruptcy_says_what_could_not_be_paid() -> None:
    turn: list[AnyEvent] = [FramePushed(OperatingTurn("PRR", step="trains"))]
    broke: list[AnyEvent] = [
        PlayerBankrupt("p0"),
        CashMoved("p0", BANK, 700, CashReason.BANKRUPTCY),
    ]
    game = game_of(STARTED, [RoundStarted("operating round 1.1 of 1"), *turn], broke)
    point = told(game, points(game)[-1], game.start)
    assert point.sentence.startswith("Ann could not pay for a train of the PRR. Ann went bankrupt and lost $")


def test_a_president_pays_without_having_been_given_the_company() -> None:
    paid = [CashMoved("p0", "PRR", 250, CashReason.TRAIN_CONTRIBUTION), PAID[1]]
    game = game_of(STARTED, [RoundStarted("operating round 1.1 of 1")], paid)
    (moment,) = points(game)
    assert (moment.kind, moment.effects) == ("forced", {"p0": -250})
    point = told(game, moment, game.start)
    assert point.sentence == "Ann had to pay $250 for a 2-train of the PRR."
    assert (point.shown_at, point.round, point.picture) == (2, "operating round 1.1", "sheet")


def test_the_train_that_rusts_others_is_a_turning_point_with_what_they_could_run() -> None:
    """In a recorded game: falls count for the runs that follow, and rises for no more than that."""
    game = history_of(GAME)
    changes, runs = best_run_changes(game), run_indices(game)
    moments = turning_points(game, places(game), money_entries(game), changes, count=100)
    trains = [moment for moment in moments if moment.kind == "trains" and len(moment.changes) > 1]
    assert trains
    for moment in trains:
        for seat in game.start.seats:
            brought = [
                change.dollars
                * change.holdings.get(seat, 0)
                * min(sum(run > change.at for run in runs[change.company]), RUNS_COUNTED)
                / 100
                for change in moment.changes
            ]
            paid = sum(entry.dollars for entry in moment.entries if entry.seat == seat)
            least, most = (sum(pick(each, 0) for each in brought) for pick in (min, max))
            assert least - len(brought) < moment.effects[seat] - paid < most + len(brought)
        assert "the best run of the" in told(game, moment, game.start).sentence


def brought(*later: BestRunChange, first: tuple[int, int], events: dict[int, AnyEvent]) -> dict[str, int]:
    """What a change of the PRR's best run at 1 brings Ann, who has 60 % of it. It runs at 4 and 6."""
    run: list[AnyEvent] = [TrainsRan("PRR", (), 0)]
    turn: list[AnyEvent] = [FramePushed(OperatingTurn("PRR", step="run"))]
    trains = [sold(BANK, "PRR"), sold(BANK, "NYC")]
    moves: list[list[AnyEvent]] = [[RoundStarted("operating round 1.1 of 2"), *trains], [], [], []]
    moves += [turn + run, [], turn + run]
    for at, event in events.items():
        moves[at] = [event]
    changes = [BestRunChange(1, "PRR", *first, "trains", {"p0": 60}), *later]
    other = BestRunChange(1, "NYC", 10, 0, "trains", {})
    game = game_of(*moves)
    found = turning_points(game, places(game), [], [*changes, other], count=100)
    return next((dict(each.effects) for each in found if each.at == 1), {})


def sold(source: str, target: str) -> AnyEvent:
    return TrainMoved("3", source, target, TrainReason.BOUGHT)


def test_a_train_that_is_sold_before_it_has_run_brings_nothing() -> None:
    bought = {1: sold(BANK, "PRR")}
    gone = BestRunChange(2, "PRR", 300, 100, "trains", {"p0": 60})
    assert brought(first=(100, 300), events=bought) == {"p0": 240}
    assert brought(gone, first=(100, 300), events={**bought, 2: sold("PRR", "NYC")}) == {}
    later = gone._replace(at=5)
    assert brought(later, first=(100, 300), events={**bought, 5: sold("PRR", "NYC")}) == {"p0": 120}


def test_a_fall_is_made_up_for_by_what_was_not_paid_to_the_bank() -> None:
    rise = BestRunChange(2, "PRR", 0, 150, "trains", {"p0": 60})
    rust: dict[int, AnyEvent] = {1: TrainsRusted("2")}
    assert brought(rise, first=(200, 0), events={**rust, 2: sold(BANK, "PRR")}) == {"p0": -240}
    assert brought(rise, first=(200, 0), events={**rust, 2: sold("NYC", "PRR")}) == {"p0": -60}
    sale = {1: sold("PRR", "NYC"), 2: sold(BANK, "PRR")}
    assert brought(rise, first=(200, 0), events=sale) == {"p0": -60}


def test_track_that_a_company_lays_counts_for_the_run_of_the_same_turn() -> None:
    game = history_of(GAME)
    runs = run_indices(game)
    ran = [
        (at, e.company) for at, move in enumerate(game.lines) for e in move.events if isinstance(e, TrainsRan)
    ]
    assert ran and all(at in runs[company] for at, company in ran)


def test_a_presidency_that_was_bought_is_not_passed_on() -> None:
    bought: list[AnyEvent] = [PresidentNamed("PRR", "p1"), SharesMoved("PRR", "p0", "p1", 30)]
    game = game_of(STARTED, bought, [RoundStarted("operating round 1.1 of 1")], PAID)
    (moment,) = points(game)
    assert (moment.kind, moment.passed) == ("forced", None)


def test_a_passed_presidency_links_to_its_move_and_a_forced_sale_says_for_what() -> None:
    first: list[AnyEvent] = [SharesMoved("PRR", "p2", POOL, 10)]
    game = game_of(STARTED, [RoundStarted("stock round 2")], first, DUMPED, PAID)
    (moment,) = points(game)
    assert (moment.at, told(game, moment, game.start).shown_at) == (2, 3)
    turn: list[AnyEvent] = [FramePushed(OperatingTurn("NYC", step="trains"))]
    paid: list[AnyEvent] = [CashMoved("p0", "NYC", 250, CashReason.TRAIN_CONTRIBUTION)]
    game = game_of(STARTED, [RoundStarted("operating round 1.1 of 1"), *turn], DUMPED[1:], paid)
    sale = next(each for each in points(game) if each.kind == "sales")
    sentence = told(game, sale, game.start).sentence
    assert "Ann sold 30 % of the PRR to pay for a train of the NYC, and its price fell" in sentence


def test_a_running_game_shows_nothing_of_the_round_that_is_on() -> None:
    game = history_of(GAME)
    cut = GameHistory(game.start, game.lines[:300])
    review = Review(cut)
    assert not review.may_study
    assert all(point.at < last_round_start(cut) for point in review.turning_points)
    assert last_round_start(cut) < 300
    assert Review(game).may_study
