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
    Bridge,
    Buy,
    Buyer,
    BuyNew,
    BuyPrivate,
    BuyTrain,
    ChooseHome,
    ClosePort,
    Convert,
    DealPrivate,
    DiscardTrain,
    Exchange,
    FloatCompany,
    Half,
    KeepDestination,
    Lay,
    Loan,
    LoanFor,
    Merge,
    Mill,
    Mine,
    OfferSale,
    OpenPort,
    Par,
    Pass,
    Pay,
    PlaceCattle,
    PlaceDestination,
    Protect,
    Raise,
    Redeem,
    RedeemFor,
    Reissue,
    RemoveMarker,
    Repay,
    Run,
    Sell,
    SellNew,
    Short,
    StartCompany,
    Token,
    Withhold,
)
from engine.board.routes import Route
from engine.board.spelling import hops_of, read_route
from engine.game import Game
from engine.holdings import unit
from engine.interchange.ledger import Ledger
from engine.interchange.site_names import SiteNames
from engine.opening.subsidy import STEP
from engine.opening.waterfall import asking
from engine.operating.run import route_value
from engine.operating.trains import face_price
from engine.operating.works import tokens_left
from engine.state import (
    BANK,
    POOL,
    TREASURY,
    Auction,
    Borrowing,
    Crisis,
    FreeToken,
    MergerTurn,
    OperatingTurn,
    Protection,
    Subsidy,
    Surplus,
    Takeover,
    Waterfall,
    is_seat,
)
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
        return {"entity": self.names.theirs(owner), "entity_type": "corporation"}

    def by_private(self, private: str) -> Record:
        """The private as the one who acts; a company may have the same name."""
        return {"entity": self.names.their_private(private), "entity_type": "company"}

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


def written(g: Game, names: SiteNames, ledger: Ledger, seat: str, action: Action) -> list[Record]:
    """The actions of the site for what that seat does now; without ids and times.

    Raises KeyError for what has no counterpart there.
    """
    found = WRITERS[type(action)](Desk(g, names, ledger), seat, action)
    return found if isinstance(found, list) else [found]


def _pass(desk: Desk, seat: str, action: Pass) -> Record:
    match desk.g.top:
        case FreeToken(private=private):
            by = desk.by_private(private)
        case OperatingTurn(company) | Borrowing(company) | Takeover(company):
            by = desk.by(company)
        case MergerTurn(company, "convert"):
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
    if isinstance(desk.g.state.stack[0], Subsidy) and action.amount % STEP:
        raise KeyError(action.amount)  # the site takes multiples of $5 only
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


def _moved(desk: Desk, kind: str, by: Record, company: str, owner: str, percent: int) -> Record:
    """So many percent of a company that leave an owner."""
    shares = desk.ledger.certificates.leaving(company, owner, percent)
    return {"type": kind, **by, "shares": shares, "percent": percent}


def _buy(desk: Desk, seat: str, action: Buy) -> Record:
    percent = action.count * unit(desk.g, action.company)
    source = action.company if action.source == TREASURY else action.source
    return _moved(desk, "buy_shares", desk.by(seat), action.company, source, percent)


def _sell(desk: Desk, seat: str, action: Sell) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "sell_shares", desk.by(seat), action.company, seat, percent)


def _protect(desk: Desk, seat: str, action: Protect) -> Record:
    top = desk.g.top
    assert isinstance(top, Protection)
    percent = top.sales[0].count * unit(desk.g, action.company)
    shares = desk.ledger.certificates.latest(action.company, POOL, percent)
    return {"type": "buy_shares", **desk.by(seat), "shares": shares, "percent": percent}


def _redeem(desk: Desk, seat: str, action: Redeem) -> Record:
    percent = unit(desk.g, action.company)
    return _moved(desk, "buy_shares", desk.by(action.company), action.company, action.source or POOL, percent)


def _reissue(desk: Desk, seat: str, action: Reissue) -> Record:
    company = action.company
    record = _moved(desk, "sell_shares", desk.by(company), company, company, desk.g.held(company, company))
    return record | {"share_price": reissue_par(desk.g, company)}


def _exchange(desk: Desk, seat: str, action: Exchange) -> Record:
    effect = desk.g.private_facts(action.private).effect
    by = desk.by_private(action.private)
    return _moved(desk, "buy_shares", by, effect["company"], action.source, effect["percent"])


def _deal_private(desk: Desk, seat: str, action: DealPrivate) -> Record:
    company = desk.names.their_private(action.private)
    return {"type": "buy_company", **desk.by_turn(seat), "company": company, "price": action.amount}


def _lay(desk: Desk, seat: str, action: Lay) -> Record:
    by = desk.by_private(action.using) if action.using else desk.by_turn(seat)
    tile = desk.ledger.free_tile(action.tile)
    return {"type": "lay_tile", **by, "hex": action.hex, "tile": tile, "rotation": action.turn}


def _placed(desk: Desk, by: Record, hex: str, node: int) -> Record:
    return {
        "type": "place_token",
        **by,
        "city": desk.ledger.city(hex, node),
        "slot": desk.ledger.place(hex, node),
    }


def _token(desk: Desk, seat: str, action: Token) -> Record:
    top, company = desk.g.top, desk.company()
    assert company is not None
    by = desk.by_private(top.private) if isinstance(top, FreeToken) else desk.by(company)
    return _placed(desk, by, action.hex, action.node) | {"tokener": desk.names.theirs(company)}


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
    """Bring the revenue of the routes to what was claimed; the site pays what is written, and nothing
    where there are no routes."""
    if claimed == 0:
        routes.clear()
        return
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
    return {"type": "assign", **desk.by_private(private), "target": hex, "target_type": "hex"}


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
    by = desk.by(seat) if isinstance(desk.g.top, Crisis) else desk.by_turn(seat)
    return {"type": "bankrupt", **by}


# -- companies that choose their number of shares, borrow, grow and are sold --------------


def _raise(desk: Desk, seat: str, action: Raise) -> Record:
    top = desk.g.top
    assert isinstance(top, Auction)
    lot = desk.names.theirs(top.lot)
    return {"type": "bid", **desk.by(seat), "corporation": lot, "price": action.amount}


def _start(desk: Desk, seat: str, action: StartCompany) -> list[Record]:
    company = desk.names.theirs(action.company)
    bid = {"type": "bid", **desk.by(seat), "corporation": company, "price": action.amount}
    return [bid, _placed(desk, desk.by(action.company), action.hex, action.node)]


def _float(desk: Desk, seat: str, action: FloatCompany) -> Record:
    """The size of a new company, or a private that is put into it."""
    if not action.privates:
        return {"type": "choose", **desk.by(seat), "choice": action.size}
    target = desk.names.their_private(action.privates[0])
    return {"type": "assign", **desk.by(seat), "target": target, "target_type": "company"}


def _short(desk: Desk, seat: str, action: Short) -> Record:
    return {"type": "short", **desk.by(seat), "corporation": desk.names.theirs(action.company)}


def _loan_for(desk: Desk, seat: str, action: LoanFor) -> Record:
    return {"type": "take_loan", **desk.by(action.company), "loan": desk.ledger.loan(BANK)}


def _acting(desk: Desk) -> str:
    """The company that the question is about."""
    company = getattr(desk.g.top, "company", None)
    assert isinstance(company, str)
    return company


def _loan(desk: Desk, seat: str, action: Loan) -> Record:
    return {"type": "take_loan", **desk.by(_acting(desk)), "loan": desk.ledger.loan(BANK)}


def _repay(desk: Desk, seat: str, action: Repay) -> Record:
    company = _acting(desk)
    return {"type": "payoff_loan", **desk.by(company), "loan": desk.ledger.loan(company)}


def _redeem_for(desk: Desk, seat: str, action: RedeemFor) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "buy_shares", desk.by(action.company), action.company, POOL, percent)


def _buy_new(desk: Desk, seat: str, action: BuyNew) -> Record:
    company = _acting(desk)
    return _moved(desk, "buy_shares", desk.by(seat), company, company, action.count * unit(desk.g, company))


def _sell_new(desk: Desk, seat: str, action: SellNew) -> Record:
    company = _acting(desk)
    return _moved(desk, "sell_shares", desk.by(seat), company, seat, action.count * unit(desk.g, company))


def _bridge(desk: Desk, seat: str, action: Bridge) -> Record:
    private = action.using or next(p for p, _ in tokens_left(desk.g, _acting(desk), "bridge"))
    return {"type": "assign", **desk.by_private(private), "target": action.hex, "target_type": "hex"}


def _mine(desk: Desk, seat: str, action: Mine) -> Record:
    private = action.using or next(p for p, _ in tokens_left(desk.g, _acting(desk), "coal_mine"))
    return _lay(desk, seat, Lay(action.tile, action.hex, action.turn, private))


def _mill(desk: Desk, seat: str, action: Mill) -> Record:
    private, effect = next(tokens_left(desk.g, _acting(desk), "tile_lay"))
    return _lay(desk, seat, Lay(effect["tiles"][0], effect["hexes"][0], action.turn, private))


def _convert(desk: Desk, seat: str, action: Convert) -> Record:
    return {"type": "convert", **desk.by(_acting(desk))}


def _merge(desk: Desk, seat: str, action: Merge) -> Record:
    return {"type": "merge", **desk.by(_acting(desk)), "corporation": desk.names.theirs(action.company)}


def _offer_sale(desk: Desk, seat: str, action: OfferSale) -> Record:
    target = desk.names.theirs(action.company)
    return {"type": "assign", **desk.by(seat), "target": target, "target_type": "corporation"}


def _buyer(desk: Desk, seat: str, action: Buyer) -> Record:
    return {"type": "merge", **desk.by(seat), "corporation": desk.names.theirs(action.company)}


def _remove_marker(desk: Desk, seat: str, action: RemoveMarker) -> Record:
    top = desk.g.top
    assert isinstance(top, Surplus)
    here = (owner for node, owner in desk.g.state.tokens[action.hex] if node == action.node)
    owner = next(owner for owner in here if owner in (top.company, top.target))
    return {
        "type": "remove_token",
        **desk.by(top.company),
        "city": desk.ledger.city(action.hex, action.node),
        "slot": desk.ledger.place(action.hex, action.node, owner),
    }


WRITERS: dict[type[Action], Callable[[Desk, str, Any], Record | list[Record]]] = {
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
    Raise: _raise,
    StartCompany: _start,
    FloatCompany: _float,
    Short: _short,
    LoanFor: _loan_for,
    Loan: _loan,
    Repay: _repay,
    RedeemFor: _redeem_for,
    BuyNew: _buy_new,
    SellNew: _sell_new,
    Bridge: _bridge,
    Mine: _mine,
    Mill: _mill,
    Convert: _convert,
    Merge: _merge,
    OfferSale: _offer_sale,
    Buyer: _buyer,
    RemoveMarker: _remove_marker,
}
"""How each decision is written; a decision that is not here has no counterpart there."""
