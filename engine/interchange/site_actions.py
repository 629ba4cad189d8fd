"""Our decisions in the form of the site's actions, one function each.

A title's own decisions are added to `WRITERS`. An action names what it moves by number, so it is
written before it is played, with the ledger as things then lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.actions import (
    Action,
    Bankrupt,
    Bid,
    Buy,
    BuyPrivate,
    BuyTrain,
    ChooseHome,
    ClosePort,
    DealPrivate,
    DiscardTrain,
    Exchange,
    Half,
    KeepDestination,
    Lay,
    OpenPort,
    Par,
    Pass,
    Pay,
    PlaceCattle,
    PlaceDestination,
    Protect,
    Redeem,
    Reissue,
    Run,
    Sell,
    Token,
    Withhold,
)
from engine.board.routes import Route
from engine.board.spelling import hops_of, read_route
from engine.game import Game
from engine.holdings import unit
from engine.interchange.ledger import Ledger
from engine.interchange.site_names import SiteNames
from engine.opening.waterfall import asking
from engine.operating.run import route_value
from engine.operating.trains import face_price
from engine.state import POOL, FreeToken, OperatingTurn, Protection, Waterfall, is_seat
from engine.stock.treasury import reissue_par

Record = dict[str, Any]


class Desk(NamedTuple):
    """What an action is written from: the position before it, the site's names, the numbered things."""

    g: Game
    names: SiteNames
    ledger: Ledger

    def by(self, owner: str) -> Record:
        """The owner as the one who acts."""
        if is_seat(owner):
            return {"entity": player_id(owner), "entity_type": "player"}
        if owner in self.g.state.privates:
            return {"entity": self.names.their_private(owner), "entity_type": "company"}
        return {"entity": self.names.theirs(owner), "entity_type": "corporation"}

    def company(self) -> str | None:
        """The company whose turn it is."""
        turns = (f for f in reversed(self.g.state.stack) if isinstance(f, OperatingTurn))
        return next((turn.company for turn in turns), None)

    def by_turn(self, seat: str) -> Record:
        """The company whose turn it is as the one who acts, or else the player."""
        return self.by(self.company() or seat)


def player_id(seat: str) -> int:
    """The player's number in our files."""
    return int(seat[1:]) + 1


def written(g: Game, names: SiteNames, ledger: Ledger, seat: str, action: Action) -> Record:
    """The action of the site for what that seat does now; without id and time.

    Raises KeyError for what has no counterpart there.
    """
    return WRITERS[type(action)](Desk(g, names, ledger), seat, action)


def _pass(desk: Desk, seat: str, action: Pass) -> Record:
    match desk.g.top:
        case FreeToken(private=private):
            by = desk.by(private)
        case OperatingTurn(company):
            by = desk.by(company)
        case _:
            by = desk.by(seat)
    return {"type": "pass", **by}


def _buy_private(desk: Desk, seat: str, action: BuyPrivate) -> Record:
    top = desk.g.top
    assert isinstance(top, Waterfall)
    price = asking(desk.g, top) if action.price is None else action.price
    return {
        "type": "bid",
        **desk.by(seat),
        "company": desk.names.their_private(action.private),
        "price": price,
    }


def _bid(desk: Desk, seat: str, action: Bid) -> Record:
    company = desk.names.their_private(action.private)
    return {"type": "bid", **desk.by(seat), "company": company, "price": action.amount}


def _par(desk: Desk, seat: str, action: Par) -> Record:
    at = desk.g.title.par_cell(action.price)
    assert at is not None
    return {
        "type": "par",
        **desk.by(seat),
        "corporation": desk.names.theirs(action.company),
        "share_price": f"{action.price},{at[0]},{at[1]}",
    }


def _moved(desk: Desk, kind: str, by: str, company: str, owner: str, percent: int) -> Record:
    """So many percent of a company that leave an owner."""
    shares = desk.ledger.shares(company, owner, percent)
    return {"type": kind, **desk.by(by), "shares": shares, "percent": percent}


def _buy(desk: Desk, seat: str, action: Buy) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "buy_shares", seat, action.company, action.source, percent)


def _sell(desk: Desk, seat: str, action: Sell) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "sell_shares", seat, action.company, seat, percent)


def _protect(desk: Desk, seat: str, action: Protect) -> Record:
    top = desk.g.top
    assert isinstance(top, Protection)
    percent = top.sales[0].count * unit(desk.g, action.company)
    return _moved(desk, "buy_shares", seat, action.company, POOL, percent)


def _redeem(desk: Desk, seat: str, action: Redeem) -> Record:
    percent = unit(desk.g, action.company)
    return _moved(desk, "buy_shares", action.company, action.company, action.source or POOL, percent)


def _reissue(desk: Desk, seat: str, action: Reissue) -> Record:
    company = action.company
    record = _moved(desk, "sell_shares", company, company, company, desk.g.held(company, company))
    return record | {"share_price": reissue_par(desk.g, company)}


def _exchange(desk: Desk, seat: str, action: Exchange) -> Record:
    effect = desk.g.private_facts(action.private).effect
    return _moved(desk, "buy_shares", action.private, effect["company"], action.source, effect["percent"])


def _deal_private(desk: Desk, seat: str, action: DealPrivate) -> Record:
    company = desk.names.their_private(action.private)
    return {"type": "buy_company", **desk.by_turn(seat), "company": company, "price": action.amount}


def _lay(desk: Desk, seat: str, action: Lay) -> Record:
    by = desk.by(action.using) if action.using else desk.by_turn(seat)
    tile = desk.ledger.free_tile(action.tile)
    return {"type": "lay_tile", **by, "hex": action.hex, "tile": tile, "rotation": action.turn}


def _placed(desk: Desk, by: Record, hex: str, node: int) -> Record:
    taken = sum(at == node for at, _ in desk.g.state.tokens.get(hex, ()))
    return {
        "type": "place_token",
        **by,
        "city": desk.ledger.city(hex, node),
        "slot": taken,
    }


def _token(desk: Desk, seat: str, action: Token) -> Record:
    top, company = desk.g.top, desk.company()
    assert company is not None
    by = desk.by(top.private if isinstance(top, FreeToken) else company)
    return _placed(desk, by, action.hex, action.node)


def _choose_home(desk: Desk, seat: str, action: ChooseHome) -> Record:
    return _placed(desk, desk.by_turn(seat), action.hex, action.node)


def _run(desk: Desk, seat: str, action: Run) -> Record:
    company = desk.company()
    assert company is not None
    left: dict[str, list[str]] = {}
    routes = []
    for train, text in action.routes:
        if train not in left:
            left[train] = desk.ledger.trains(train, company)
        route = read_route(desk.g.network, company, text, train)
        routes.append(_route(desk, company, left[train].pop(0), route))
    if action.claimed is not None:
        _claim(desk, company, routes, action.claimed)
    return {"type": "run_routes", **desk.by(company), "routes": routes, "extra_revenue": 0, "subsidy": 0}


def _route(desk: Desk, company: str, train: str, route: Route) -> Record:
    hexes = [hex for hex, _ in route.stops]
    return {
        "train": train,
        "connections": hops_of(route),
        "hexes": hexes,
        "revenue": route_value(desk.g, company, route),
        "revenue_str": "-".join(hexes),
        "nodes": [f"{hex}-{node}" for hex, node in route.stops],
    }


def _claim(desk: Desk, company: str, routes: list[Record], claimed: int) -> None:
    """Bring the revenue of the routes to what was claimed; the site pays what is written."""
    if not routes:
        train = desk.g.company(company).trains[0]
        first = desk.ledger.trains(train, company)[0]
        routes.append({"train": first, "connections": [], "hexes": [], "revenue": 0, "revenue_str": ""})
    routes[-1]["revenue"] += claimed - sum(route["revenue"] for route in routes)


def _pay(desk: Desk, seat: str, action: Pay) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "payout"}


def _withhold(desk: Desk, seat: str, action: Withhold) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "withhold"}


def _half(desk: Desk, seat: str, action: Half) -> Record:
    return {"type": "dividend", **desk.by_turn(seat), "kind": "half"}


def _destination(desk: Desk, seat: str, action: PlaceDestination | KeepDestination) -> Record:
    choice = "Map" if isinstance(action, PlaceDestination) else "Charter"
    return {"type": "choose", **desk.by_turn(seat), "choice": choice}


def _improve(desk: Desk, seat: str, action: PlaceCattle | OpenPort | ClosePort) -> Record:
    word = "cattle" if isinstance(action, PlaceCattle) else "port"
    privates = desk.g.facts.privates
    private = next(p.sym for p in privates if p.effect.get("word") == word)
    placed = desk.g.state.improvements
    hex = placed[private].hex if isinstance(action, ClosePort) else action.hex
    return {"type": "assign", **desk.by(private), "target": hex, "target_type": "hex"}


def _buy_train(desk: Desk, seat: str, action: BuyTrain) -> Record:
    company = desk.company()
    assert company is not None
    price = face_price(desk.g, action) if action.price is None else action.price
    record = {
        "type": "buy_train",
        **desk.by(company),
        "train": desk.ledger.train(action.train, action.source),
        "price": price,
        "variant": action.train,
    }
    if action.trading:
        record["exchange"] = desk.ledger.train(action.trading, company)
    return record


def _discard_train(desk: Desk, seat: str, action: DiscardTrain) -> Record:
    train = desk.ledger.train(action.train, action.company)
    return {"type": "discard_train", **desk.by(action.company), "train": train}


def _bankrupt(desk: Desk, seat: str, action: Bankrupt) -> Record:
    return {"type": "bankrupt", **desk.by_turn(seat)}


WRITERS: dict[type[Action], Callable[[Desk, str, Any], Record]] = {
    Pass: _pass,
    BuyPrivate: _buy_private,
    Bid: _bid,
    Par: _par,
    Buy: _buy,
    Sell: _sell,
    Exchange: _exchange,
    DealPrivate: _deal_private,
    Lay: _lay,
    Token: _token,
    ChooseHome: _choose_home,
    Run: _run,
    Pay: _pay,
    Withhold: _withhold,
    BuyTrain: _buy_train,
    DiscardTrain: _discard_train,
    Bankrupt: _bankrupt,
    Protect: _protect,
    Redeem: _redeem,
    Reissue: _reissue,
    Half: _half,
    PlaceDestination: _destination,
    KeepDestination: _destination,
    PlaceCattle: _improve,
    OpenPort: _improve,
    ClosePort: _improve,
}
"""How each decision is written; a decision that is not here has no counterpart there."""
