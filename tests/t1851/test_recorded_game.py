"""A game that three people played, event by event: what it states is what the rules lead to.

The record is beside the checkout and is read in place. Its departures from the rulebook, named in its
header, are made here as positions: the first priority deal, and one run that brought more than its
routes can. Its presidents announced their runs, several of them less than the best, so it is played with
claims; for each revenue some routes are sought that bring just that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from engine import (
    BANK,
    AnyEvent,
    Game,
    State,
    copy_state,
    fold,
    game_of,
    net_worth,
    new_game,
    parse,
    play,
    stop_revenue,
)
from engine.board.route_graph import RouteGraph
from engine.board.route_notation import format_route
from engine.board.route_search import CandidateRoute as Found
from engine.board.route_search import NodeBudget, RouteSearch
from engine.board.routes import _route_from_candidate
from engine.core.events import (
    CashMoved,
    CompanyFloated,
    DividendDeclared,
    Passed,
    PhaseStarted,
    PriceMoved,
    PriorityMoved,
    PrivateMoved,
    RoundStarted,
    SharesMoved,
    TileLaid,
    TokenPlaced,
    TrainMoved,
    TrainsRan,
    TrainsRusted,
)
from engine.core.reasons import CashReason
from engine.core.state import (
    CLOSED,
    POOL,
    OperatingTurn,
    RevenueClaim,
    StockRound,
    StockTurn,
    is_seat,
)
from engine.kernel import advance
from engine.operating.run import best_run

RECORD = Path(__file__).parents[3] / "shared" / "games" / "1851-late.json"
IMPOSSIBLE_RUN = 72

pytestmark = pytest.mark.skipif(not RECORD.exists(), reason="the recorded game is not beside the checkout")

E = TypeVar("E")
Told = dict[str, Any]
KINDS = (
    "buy_share",
    "sell_shares",
    "sold_out",
    "dividend",
    "issue_shares",
)
LINES = {"full": "pay", "half": "half", "withhold": "withhold"}


@cache
def record() -> Told:
    found: Told = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def told(*kinds: str) -> list[Told]:
    """The events of the record of those kinds, once the stock rounds have begun."""
    return [e for e in record()["events"] if e["kind"] in kinds and e["n"] > 6]


def routes_for(game: Game, company: str, revenue: int) -> list[tuple[str, str]]:
    """Some legal routes of the company's trains that together bring just that, each with its train."""
    network, terms = game.network, game.title.revenue_rules(game, company)
    values = {s: stop_revenue(game.components, game.state.phase, network.node(s)) for s in network.stops}
    graph = RouteGraph(network, company, values.__getitem__, terms)
    trains = game.company(company).trains
    lists: list[list[Found]] = []
    for train in trains:
        sink: list[Found] = []
        RouteSearch(graph, terms, NodeBudget(10_000_000)).find_best(
            game.train_definition(train).distance, 0, 0, sink
        )
        lists.append(sink)

    def chosen(i: int, used: int, left: int) -> list[tuple[str, str]] | None:
        if i == len(trains):
            return [] if left == 0 else None
        for path in lists[i]:
            if path.revenue <= left and not path.hexsides & used:
                rest = chosen(i + 1, used | path.hexsides, left - path.revenue)
                if rest is not None:
                    return [
                        (
                            trains[i],
                            format_route(network, _route_from_candidate(network, graph, trains[i], path)),
                        ),
                        *rest,
                    ]
        return chosen(i + 1, used, left)

    found = chosen(0, 0, revenue)
    assert found, f"no routes of the {company} bring ${revenue}"
    return found


class RecordedReplay:
    """The record played through the rules; `events` is all that this led to."""

    def __init__(self) -> None:
        header = record()
        self.state, _ = new_game("1851", header["players"], ["claims"])
        self.start = copy_state(self.state)
        self.events: list[AnyEvent] = []
        assert header["setup"]["privates"] == {
            p: self.state.name(o) for p, o in self.state.private_owners.items() if is_seat(o)
        }
        for company, price in header["setup"]["start_price"].items():
            self.say("Alice", f"par {company} {price}")
        for event in header["events"]:
            if event["n"] > 6:
                self.follow(event)

    def say(self, who: str, line: str) -> None:
        seat = f"p{self.state.players.index(who)}"
        self.state, events = play(self.state, seat, parse(self.state, seat, line))
        self.events += events

    def depart(self, game: Game) -> None:
        """Go on from another position, to which the game's events have led."""
        advance(game)
        self.state, self.events = game.state, self.events + game.events

    def president(self) -> str:
        turn = self.turn()
        return self.state.name(game_of(self.state).president(turn.company))

    def turn(self) -> OperatingTurn:
        top = self.state.top
        assert isinstance(top, OperatingTurn), top
        return top

    def follow(self, event: Told) -> None:
        match event:
            case {"kind": "round_start", "priority": who, "n": 7}:
                game = game_of(copy_state(self.state))
                seat = f"p{self.state.players.index(who)}"
                game.emit(PriorityMoved(seat))
                game.pop()
                game.replace_top(StockRound(1, seat))
                self.depart(game)
            case {"kind": "buy_share", "player": who, "company": company, "source": source}:
                self.say(who, f"buy {company} from {'ipo' if source == 'initial_offering' else source}")
            case {"kind": "start_company", "player": who, "company": company, "start_price": price}:
                self.say(who, f"par {company} {price}")
            case {"kind": "sell_shares", "player": who, "company": company, "percent": percent}:
                self.say(who, f"sell {percent // 10} {company}")
            case {"kind": "pass", "player": who}:
                top = self.state.top  # who can do nothing has been passed over
                if isinstance(top, StockTurn) and self.state.name(top.seat) == who:
                    self.say(who, "pass")
            case {"kind": "operate", "company": company, "president": who}:
                self.pass_until(lambda: self.turn().company == company)
                assert self.president() == who
            case {"kind": "round_end", "n": n}:
                rounds = len([e for e in told("round_end") if e["n"] <= n])
                self.pass_until(lambda: len(self.of(RoundStarted)) > rounds)
            case {"kind": "lay_tile", "tile": tile, "hex": hex, "rotation": turn}:
                self.say(self.president(), f"lay {tile} {hex} {turn}")
            case {"kind": "place_token", "hex": hex}:
                self.say(self.president(), f"token {hex}")
            case {"kind": "run", "n": n, "company": company, "revenue": revenue} if n == IMPOSSIBLE_RUN:
                assert best_run(game_of(self.state), company).revenue == 70
                game = game_of(copy_state(self.state))
                game.emit(TrainsRan(company, (), revenue))
                game.replace_top(
                    msgspec.structs.replace(self.turn(), step="run", acted=True, revenue=revenue)
                )
                self.depart(game)
            case {"kind": "run", "revenue": revenue, "company": company}:
                routes = routes_for(game_of(self.state), company, revenue)
                self.say(self.president(), "run " + ", ".join(f"{t} {r}" for t, r in routes))
                while isinstance(self.state.top, RevenueClaim):
                    self.say(self.state.name(self.state.top.challengers[0]), "pass")
            case {"kind": "dividend", "mode": "none", "company": company}:
                self.pass_until(lambda: self.turn().step in ("trains", "issue"))
            case {"kind": "dividend", "mode": mode}:
                self.say(self.president(), LINES[mode])
            case {"kind": "buy_train", "train": train, "source": "bank" | "pool" as source}:
                self.say(self.president(), f"buy train {train} from {source}")
            case {"kind": "buy_train", "train": train, "source": source, "price": price}:
                self.say(self.president(), f"buy train {train} from {source} for {price}")
            case {"kind": "issue_shares", "percent": percent}:
                self.say(self.president(), f"issue {percent // 10}")
            case {"kind": "discard_train", "company": company, "train": train}:
                self.say(
                    self.state.name(game_of(self.state).president(company)), f"discard {train} of {company}"
                )

    def of(self, kind: type[E]) -> list[E]:
        return [e for e in self.events if isinstance(e, kind)]

    def pass_until(self, comes: Any) -> None:
        while not comes():
            self.say(self.president(), "pass")


@cache
def replayed() -> RecordedReplay:
    return RecordedReplay()


SHARE_REASONS = (CashReason.SHARES, CashReason.PRESIDENT_CERTIFICATE)


def money(*reasons: CashReason) -> list[CashMoved]:
    return [e for e in replayed().of(CashMoved) if e.reason in reasons]


def states_at_rounds() -> Iterator[State]:
    """The position as each round begins, from the first stock round."""
    state = copy_state(replayed().start)
    for event in replayed().events:
        if isinstance(event, RoundStarted):
            yield copy_state(state)
        fold([event], state)


def test_cash_at_the_end_of_every_round() -> None:
    ends = told("round_end")
    states = list(states_at_rounds())[1:]
    assert len(states) == len(ends)
    for end, state in zip(ends, states, strict=True):
        named = {state.name(owner): dollars for owner, dollars in state.cash.items()}
        assert {who: named[who] for who in end["cash"]} == end["cash"], end["n"]
        floated = {c for c, co in state.companies.items() if co.floated}
        assert floated | set(state.players) == set(end["cash"])


def test_worth_gained_in_every_operating_round() -> None:
    states = list(states_at_rounds())
    for i, end in enumerate(told("round_end")):
        if "worth_change" in end:
            before, after = game_of(states[i]), game_of(states[i + 1])
            gained = {
                after.state.name(s): net_worth(after, s) - net_worth(before, s) for s in after.state.seats
            }
            assert gained == end["worth_change"], end["n"]


def test_every_move_of_a_price() -> None:
    moved = [(m["company"], tuple(m["to_cell"])) for e in told(*KINDS) for m in e.get("price_moves", ())]
    assert [(e.company, e.cell) for e in replayed().of(PriceMoved)] == moved
    assert len(moved) > 40


def test_every_payout() -> None:
    paid: list[dict[str, int]] = []
    for event in replayed().events:
        if isinstance(event, DividendDeclared):
            paid.append({})
        elif isinstance(event, CashMoved) and event.reason is CashReason.DIVIDEND:
            who = replayed().state.name(event.target)
            paid[-1][who] = paid[-1].get(who, 0) + event.amount
    said = told("dividend")
    assert paid == [{p["to"]: p["amount"] for p in e.get("payouts", ())} for e in said]
    assert [e.kind for e in replayed().of(DividendDeclared)] == [
        {"full": "pay"}.get(e["mode"], e["mode"]) for e in said
    ]
    assert [e.amount for e in money(CashReason.REVENUE)] == [e["retained"] for e in said if e["retained"]]


def test_every_run() -> None:
    assert [(e.company, e.revenue) for e in replayed().of(TrainsRan)] == [
        (e["company"], e["revenue"]) for e in told("run")
    ]


def test_private_income_and_its_end() -> None:
    said = [(e["player"], e["amount"]) for e in told("private_income")]
    assert [(replayed().state.name(e.target), e.amount) for e in money(CashReason.PRIVATE_INCOME)] == said
    closed = [e.private for e in replayed().of(PrivateMoved) if e.owner == CLOSED]
    in_play = list(record()["setup"]["privates"])
    assert closed == [p for e in told("close_privates") for p in e["privates"] if p in in_play] == in_play


def test_floating() -> None:
    said = [e["floats"] for e in told("buy_share") if "floats" in e]
    assert [e.company for e in replayed().of(CompanyFloated)] == [f["company"] for f in said]
    assert [e.amount for e in money(CashReason.CAPITAL)] == [f["treasury"] for f in said]


def test_track_tokens_and_terrain() -> None:
    lays = told("lay_tile")
    laid = [(e.company, e.hex, e.tile) for e in replayed().of(TileLaid)]
    assert laid == [(e["company"], e["hex"], e["tile"]) for e in lays]
    assert [e.amount for e in money(CashReason.TERRAIN)] == [e["cost"] for e in lays if e["cost"]]
    homes = {c.sym: c.home.hex for c in game_of(replayed().start).components.companies if c.home}
    placed = [(e.company, e.hex) for e in replayed().of(TokenPlaced) if e.hex != homes[e.company]]
    assert placed == [(e["company"], e["hex"]) for e in told("place_token")]


def test_trains_and_phases() -> None:
    bought = [(e.target, e.train, e.source) for e in replayed().of(TrainMoved) if e.target != POOL]
    assert bought == [(e["company"], e["train"], e["source"]) for e in told("buy_train")]
    assert [(e.target, e.amount) for e in money(CashReason.TRAIN)] == [
        (e["source"] if e["source"] not in ("bank", "pool") else BANK, e["price"]) for e in told("buy_train")
    ]
    given_up = [(e.source, e.train) for e in replayed().of(TrainMoved) if e.target == POOL]
    assert given_up == [(e["company"], e["train"]) for e in told("discard_train")]
    assert [e.phase for e in replayed().of(PhaseStarted)] == [e["phase"] for e in told("phase")]
    assert [e.train for e in replayed().of(TrainsRusted)] == [e["train"] for e in told("rust")]


def test_shares_bought_sold_and_issued() -> None:
    said = []
    for e in told("buy_share", "start_company", "sell_shares", "issue_shares"):
        dollars = e["amount"] if e["kind"] in ("sell_shares", "issue_shares") else e["price"]
        said.append((e.get("player", e["company"]), e["company"], e["percent"], dollars))
    name = replayed().state.name
    found: list[tuple[str, str, int, int]] = []
    paid: CashMoved | None = None
    for event in replayed().events:
        if isinstance(event, CashMoved) and event.reason in SHARE_REASONS:
            if event.source == BANK:
                found[-1] = (*found[-1][:3], event.amount)
            paid = event
        elif isinstance(event, SharesMoved):
            if event.target == POOL:
                found.append((name(event.source), event.company, event.percent, 0))
            elif is_seat(event.target) and paid:  # what came with a private costs nothing
                found.append((name(event.target), event.company, event.percent, paid.amount))
    assert found == said


def test_who_passes() -> None:
    passes = [replayed().state.name(e.actor) for e in replayed().of(Passed) if e.declined == "the stock turn"]
    assert passes == [e["player"] for e in told("pass")]


def test_where_it_stops() -> None:
    state = replayed().state
    last = record()["events"][-1]
    assert state.name(state.priority) == last["priority"]
    assert isinstance(state.stack[0], StockRound) and state.stack[0].number == 6
