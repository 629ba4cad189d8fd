"""The invariants detect each kind of damage to a good position."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest

from bot.tools.simulation.invariants import (
    move_violations,
    options_violations,
    permission_violations,
    position_violations,
)
from bot.tools.simulation.simulate import simulate_game
from engine import (
    BANK,
    POOL,
    State,
    Transition,
    copy_state,
    decision,
    decode_state,
    encode_state,
    fold,
    options,
    play,
    title_names,
)
from engine.core.actions import ExchangePrivate, Pass, SellShares, TakeLoans
from engine.core.events import CashMoved, Passed
from engine.core.reasons import CashReason
from engine.core.state import Company, GameOver, OperatingTurn, StockTurn
from tests.game_text.histories import history_of


@cache
def _last(game: str, wanted: Callable[[State], bool]) -> bytes:
    """The last position of a stored game that is wanted."""
    history = history_of(Path(__file__).parents[1] / "games" / game)
    state, positions = history.start, []
    for line in history.lines:
        positions.append(encode_state(fold(line.events, state)))
    return next(raw for raw in reversed(positions) if wanted(decode_state(raw)))


def _of_track(state: State) -> bool:
    """Late in a game, in the turn of a company whose president may decline."""
    return isinstance(state.top, OperatingTurn) and state.top.step == "track" and len(state.tiles) > 20


@pytest.fixture
def late() -> State:
    return decode_state(_last("1830-3p-9.18xx", _of_track))


def _running(state: State) -> str:
    return next(c for c, co in state.companies.items() if co.has_operated)


def _more_money(state: State) -> None:
    state.cash["p0"] += 1


def _debt(state: State) -> None:
    state.cash["p1"] += state.cash["p0"] + 5
    state.cash["p0"] = -5


def _lost_share(state: State) -> None:
    shares = state.companies[_running(state)].shares
    holder = next(iter(shares))
    shares[holder] -= 10


def _other_president(state: State) -> None:
    co = state.companies[_running(state)]
    others = [s for s in state.seats if s != co.president]
    co.president = min(others, key=lambda s: co.shares.get(s, 0))


def _full_pool(state: State) -> None:
    co = state.companies[_running(state)]
    co.shares = {POOL: 80, co.president or "p0": 20}


def _unpriced(state: State) -> None:
    state.market_order.remove(_running(state))


def _off_the_market(state: State) -> None:
    state.companies[_running(state)].cell = (0, 99)


def _tiles(state: State) -> None:
    tile = next(iter(state.tiles.values()))
    for hex in list(state.tiles):
        state.tiles[hex] = tile


def _turned(state: State) -> None:
    hex, (tile, _) = next(iter(state.tiles.items()))
    state.tiles[hex] = (tile, 6)


def _crowd(state: State) -> None:
    hex, here = next(iter(state.tokens.items()))
    state.tokens[hex] = [*here, *[(here[0][0], c) for c in state.companies]]


def _lost_marker(state: State) -> None:
    state.companies[_running(state)].unplaced_tokens += 1


def _train_twice(state: State) -> None:
    next(co for co in state.companies.values() if co.trains).trains *= 5


def _train_lost(state: State) -> None:
    next(co for co in state.companies.values() if co.trains).trains.pop()


def _stranger(state: State) -> None:
    state.private_owners[next(iter(state.private_owners))] = "nobody"


DAMAGE: list[tuple[Callable[[State], None], str]] = [
    (_more_money, "are in the game instead of"),
    (_debt, "has $-5"),
    (_lost_share, "there are 90 %"),
    (_other_president, "president"),
    (_full_pool, "the pool holds 80 %"),
    (_unpriced, "tokens on the market"),
    (_off_the_market, "off the market"),
    (_tiles, "lie on the map, and there are"),
    (_turned, "in rotation 6"),
    (_crowd, "tokens are in city"),
    (_lost_marker, "tokens left and"),
    (_train_twice, "trains"),
    (_train_lost, "-trains instead of"),
    (_stranger, "is owned by 'nobody'"),
]


def test_a_good_position_has_no_violation(late: State) -> None:
    assert [*position_violations(late), *options_violations(late)] == []


@pytest.mark.parametrize(("damage", "expected"), DAMAGE, ids=[d.__name__.strip("_") for d, _ in DAMAGE])
def test_damage_is_a_violation(late: State, damage: Callable[[State], None], expected: str) -> None:
    damage(late)
    violations = list(position_violations(late))
    assert any(expected in violation for violation in violations), violations


def _is_sized(co: Company) -> bool:
    """Whether shares of a company of size 5 or 10 are traded."""
    return bool(co.president and co.size and co.size > 2 and co.cell and co.cell > (0, 3))


def _of_loans(state: State) -> bool:
    """Late in a game of a title with loans, in the turn of a company that may take more."""
    if not isinstance(state.top, OperatingTurn) or all(co.cell for co in state.companies.values()):
        return False
    offered = options(state, decision(state).asked[0])
    is_traded = any(map(_is_sized, state.companies.values()))
    return is_traded and sum(isinstance(o.action, TakeLoans) for o in offered) > 1


@pytest.fixture
def lending() -> State:
    return decode_state(_last("1817-5p-5800-increased_short_sales-modern_trains.18xx", _of_loans))


def _sized(state: State) -> Company:
    """A company whose shares are traded."""
    return next(filter(_is_sized, state.companies.values()))


def _out_of_play(state: State) -> str:
    return next(sym for sym, co in state.companies.items() if co.cell is None)


def _loans(state: State) -> None:
    _sized(state).loans = 11


def _interest(state: State) -> None:
    state.interest_per_loan = 3


def _shorts(state: State) -> None:
    co = _sized(state)
    co.shares = {co.president or "p0": 40, POOL: 380, "p1" if co.president != "p1" else "p2": -320}


def _held(state: State) -> None:
    co = _sized(state)
    co.shares = {co.president or "p0": 80, POOL: 20}


def _orphan(state: State) -> None:
    co = _sized(state)
    co.former_president, co.president = co.president, None


def _leftover(state: State) -> None:
    state.companies[_out_of_play(state)].trains = ["2"]


def _partner(state: State) -> None:
    state.companies[_out_of_play(state)].president = "p0"


def _ghost(state: State) -> None:
    state.bankrupt_seats.append(next(s for s in state.active_seats if state.cash[s] > 0))


def _mine(state: State) -> None:
    state.mine_hexes.append("A1")


def _used(state: State) -> None:
    state.used_abilities += ["UBC"] * 3


LENT: list[tuple[Callable[[State], None], str]] = [
    (_more_money, "are in the game instead of"),
    (_debt, "has $-5"),
    (_loans, "has 11 loans, and may have"),
    (_interest, "the interest is $3"),
    (_shorts, "are sold short, and it has"),
    (_held, "80 % of the"),
    (_orphan, "has lost its president and goes on"),
    (_leftover, "is out of play, and something is left of it"),
    (_partner, "is out of play, and somebody has a part in it"),
    (_ghost, "is out of the game, and has something left"),
    (_mine, "a mine cannot be in A1"),
    (_used, "the UBC has been used"),
]


@pytest.mark.parametrize(("damage", "expected"), LENT, ids=[d.__name__.strip("_") for d, _ in LENT])
def test_damage_with_loans_is_a_violation(
    lending: State, damage: Callable[[State], None], expected: str
) -> None:
    assert [*position_violations(lending), *options_violations(lending)] == []
    damage(lending)
    violations = list(position_violations(lending))
    assert any(expected in violation for violation in violations), violations


def test_a_count_beyond_the_options_is_a_violation(lending: State, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = decision(lending).asked[0]
    found = options(lending, seat)
    last = [o for o in found if isinstance(o.action, TakeLoans)][-1]
    monkeypatch.setattr(
        "bot.tools.simulation.invariants.options",
        lambda state, who: [o for o in found if o != last] if who == seat else [],
    )
    assert any("at most and may have" in violation for violation in options_violations(lending))


def test_done_above_the_certificate_limit_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[State] = []

    def watch(game: object) -> None:
        state: State = game.state  # type: ignore[attr-defined]
        if isinstance(state.top, StockTurn):
            offered = [o.action for o in options(state, state.top.seat)]
            if any(isinstance(a, SellShares) for a in offered) and Pass() in offered:
                found.append(state)

    simulate_game(title_names()[0], 3, 3, max_moves=150, watch=watch)
    assert list(options_violations(found[0])) == []
    monkeypatch.setattr("bot.tools.simulation.invariants.certificate_limit", lambda g: 0)
    assert any("above the certificate limit" in violation for violation in options_violations(found[0]))


def _move(state: State) -> tuple[str, Transition]:
    turn = state.top
    assert isinstance(turn, OperatingTurn)
    seat = state.companies[turn.company].president
    assert seat is not None
    return seat, play(state, seat, Pass())


def test_a_good_move_has_no_violation(late: State) -> None:
    raw = encode_state(late)
    seat, played = _move(late)
    assert list(permission_violations(late, seat, Pass())) == []
    assert list(move_violations(late, seat, Pass(), raw, played)) == []


def test_a_changed_input_is_a_violation(late: State) -> None:
    raw = encode_state(late)
    seat, played = _move(late)
    late.cash[BANK] += 1
    assert "asking or playing has changed the state that it was given" in move_violations(
        late, seat, Pass(), raw, played
    )


def _forgotten_event(played: Transition) -> Transition:
    return Transition(played.state, played.events[:-1])


def _money_from_nowhere(played: Transition) -> Transition:
    return Transition(played.state, [*played.events, CashMoved(BANK, "p0", 10, CashReason.CAPITAL)])


def _question_counted_twice(played: Transition) -> Transition:
    after = copy_state(played.state)
    after.question_number += 1
    return Transition(after, played.events)


def _another_outcome(played: Transition) -> Transition:
    return Transition(played.state, [*played.events, Passed("p0", "nothing")])


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (_forgotten_event, "folding the events does not lead to the state that was played"),
        (_money_from_nowhere, "folding the events does not lead to the state that was played"),
        (_question_counted_twice, "the question's number grew by 2, and should have grown by 1"),
        (_another_outcome, "the same move led somewhere else the second time"),
    ],
)
def test_damage_to_what_was_played_is_a_violation(
    late: State, damage: Callable[[Transition], Transition], expected: str
) -> None:
    raw = encode_state(late)
    seat, played = _move(late)
    assert expected in list(move_violations(late, seat, Pass(), raw, damage(played)))


def test_options_after_the_end_are_a_violation(late: State, monkeypatch: pytest.MonkeyPatch) -> None:
    before = copy_state(late)
    seat, _ = _move(before)
    offered = options(before, seat)
    late.stack.append(GameOver("An end."))
    late.offers = []
    assert list(options_violations(late)) == []
    monkeypatch.setattr("bot.tools.simulation.invariants.options", lambda state, seat: offered)
    assert list(options_violations(late)) == ["something is offered after the end"]


def test_a_dead_end_is_a_violation(late: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.tools.simulation.invariants.options", lambda state, seat: [])
    monkeypatch.setattr("bot.tools.simulation.invariants.choices", lambda state, seat: [])
    assert any("has no option: a dead end" in violation for violation in options_violations(late))


def test_a_refused_or_repeated_option_is_a_violation(late: State, monkeypatch: pytest.MonkeyPatch) -> None:
    seat, _ = _move(late)
    good = options(late, seat)
    bad = msgspec.structs.replace(good[0].action, rotation=(good[0].action.rotation + 17))  # type: ignore[attr-defined]
    shown = [good[0], good[0], type(good[0])(bad, "A lay")]
    from engine import Choice, format_action

    menu = [Choice(format_action(late, o.action), o.label, ("lay", str(i))) for i, o in enumerate(shown)]
    monkeypatch.setattr(
        "bot.tools.simulation.invariants.options", lambda state, who: shown if who == seat else []
    )
    monkeypatch.setattr(
        "bot.tools.simulation.invariants.choices", lambda state, who: menu if who == seat else []
    )
    violations = list(options_violations(late))
    assert any("2 times" in violation for violation in violations)
    assert any("which is refused" in violation for violation in violations)


def test_an_action_of_another_player_is_a_violation(late: State, monkeypatch: pytest.MonkeyPatch) -> None:
    private = next(iter(late.private_owners))
    thief = decision(late).asked[0]
    late.private_owners[private] = late.left_of(thief)
    stolen = type(options(late, _move(late)[0])[0])(ExchangePrivate(private, POOL), "An exchange")
    monkeypatch.setattr(
        "bot.tools.simulation.invariants.options",
        lambda state, who: [stolen] if who == thief else options(state, who),
    )
    assert any(f"{late.name(thief)} has no right to" in violation for violation in options_violations(late))
