"""Actions of the site beside ours: bids, shares, privates and loans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.actions import (
    Bid,
    Buy,
    BuyNew,
    BuyPrivate,
    DealPrivate,
    Exchange,
    Par,
    Pass,
    Protect,
    Raise,
    Redeem,
    RedeemFor,
    Reissue,
    Sell,
    SellNew,
    Short,
    StartCompany,
)
from engine.holdings import presidents_percent, unit
from engine.interchange.desk import Desk, Form, Record
from engine.interchange.site_file import FileError, SiteAction
from engine.kernel import asked, refusal
from engine.opening.subsidy import STEP
from engine.opening.waterfall import asking, offered
from engine.state import (
    IPO,
    POOL,
    TREASURY,
    Auction,
    Protection,
    ShareTrade,
    StockTurn,
    Subsidy,
    Waterfall,
    is_seat,
)
from engine.stock.treasury import reissue_par

if TYPE_CHECKING:
    from engine.interchange.site import Replay


# -- bid -----------------------------------------------------------------------------------------


def _read_bid(replay: Replay, action: SiteAction) -> None:
    if action.corporation:
        _bid_for_company(replay, action, replay.company(action.corporation))
        return
    private, price = replay.private(action.company), action.price or 0
    top = replay.game.top
    if isinstance(top, Waterfall) and offered(replay.game) == private:
        replay.ordinary(action, BuyPrivate(private, price))
    else:
        replay.ordinary(action, Bid(private, price))


def _bid_for_company(replay: Replay, action: SiteAction, company: str) -> None:
    """A bid in an auction; where none is open yet, the first one, said once its home is placed."""
    for _ in range(100):
        top = replay.game.top
        if isinstance(top, Auction) and top.lot == company:
            break
        if isinstance(top, StockTurn) and replay.seat(action.actor) == top.seat:
            hex, node = _home_ahead(replay, action.corporation or "")
            replay.ordinary(action, StartCompany(company, hex, node, action.price or 0))
            replay.starting = company
            return
        seat = asked(replay.game)[0] if asked(replay.game) else ""
        if not seat or refusal(replay.game, seat, Pass()):
            break
        replay.say(seat, Pass())
    replay.ordinary(action, Raise(action.price or 0))


def _home_ahead(replay: Replay, company: str) -> tuple[str, int]:
    """The city in which the company's home will be placed, an action further on."""
    for later in replay.ahead:
        if later.type == "place_token" and later.actor == company:
            return replay.ledger.city_at(later.city or "")
    raise FileError(f"the {company} is started and its home is not placed")


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


def _raise(desk: Desk, seat: str, action: Raise) -> Record:
    top = desk.g.top
    assert isinstance(top, Auction)
    lot = desk.names.theirs(top.lot)
    return {"type": "bid", **desk.by(seat), "corporation": lot, "price": action.amount}


def _start(desk: Desk, seat: str, action: StartCompany) -> list[Record]:
    company = desk.names.theirs(action.company)
    bid = {"type": "bid", **desk.by(seat), "corporation": company, "price": action.amount}
    return [bid, desk.placed(desk.by(action.company), action.hex, action.node)]


# -- par -----------------------------------------------------------------------------------------


def _read_par(replay: Replay, action: SiteAction) -> None:
    company = replay.company(action.corporation)
    price = str(action.share_price or "").partition(",")[0]
    if not price.isdecimal():
        raise FileError(f"{action.share_price!r} is no par price")
    replay.ordinary(action, Par(company, int(price)))


def _par(desk: Desk, seat: str, action: Par) -> Record:
    at = desk.g.title.par_cell(action.price)
    assert at is not None
    return {
        "type": "par",
        **desk.by(seat),
        "corporation": desk.names.theirs(action.company),
        "share_price": f"{action.price},{at[0]},{at[1]}",
    }


# -- buy_shares ----------------------------------------------------------------------------------


def _read_buy_shares(replay: Replay, action: SiteAction) -> None:
    company, count = _shares(replay, action)
    top = replay.game.top
    if isinstance(top, Protection) and company == top.sales[0].company:
        replay.ordinary(action, Protect(company))
        return
    replay.ledger.certificates.prefer(action.shares)
    if replay.game.title.facts.company_sizes:
        _buy_of_sized(replay, action, company, count)
        return
    owner = replay.ledger.certificates.owner(action.shares[0])
    if action.entity_type == "company":
        replay.say(replay.speaker(action), Exchange(replay.private(action.actor), _source(owner)))
    elif action.entity_type == "corporation":
        replay.ordinary(action, Redeem(company, owner if owner and is_seat(owner) else None))
        replay.consent()
    else:
        replay.ordinary(action, Buy(company, _source(owner), count))


def _buy_of_sized(replay: Replay, action: SiteAction, company: str, count: int) -> None:
    """A purchase of shares whose number of shares was chosen: by the company, or by a player."""
    replay.decline_for_others(action)
    if action.entity_type == "corporation":
        replay.say(replay.speaker(action), RedeemFor(company, count))
    elif isinstance(replay.game.top, ShareTrade):
        replay.say(replay.speaker(action), BuyNew(count))
    else:
        pool = replay.ledger.certificates.owner(action.shares[0]) == POOL
        replay.say(replay.speaker(action), Buy(company, POOL if pool else TREASURY))


def _shares(replay: Replay, action: SiteAction) -> tuple[str, int]:
    """The company and the count of shares that an action names."""
    if not action.shares:
        raise FileError("no shares are named")
    company = replay.company(action.shares[0].rpartition("_")[0])
    if any(replay.company(s.rpartition("_")[0]) != company for s in action.shares):
        raise FileError("shares of several companies are named in one action")
    percent = action.percent or sum(
        presidents_percent(replay.game, company) if s.endswith("_0") else unit(replay.game, company)
        for s in action.shares
    )
    return company, percent // unit(replay.game, company)


def _source(owner: str | None) -> str:
    """Where a certificate is bought that lies with that owner."""
    return IPO if owner in (None, IPO) else POOL


def _moved(desk: Desk, kind: str, by: Record, company: str, owner: str, percent: int) -> Record:
    """So many percent of a company that leave an owner."""
    shares = desk.ledger.certificates.leaving(company, owner, percent)
    return {"type": kind, **by, "shares": shares, "percent": percent}


def _buy(desk: Desk, seat: str, action: Buy) -> Record:
    percent = action.count * unit(desk.g, action.company)
    source = action.company if action.source == TREASURY else action.source
    return _moved(desk, "buy_shares", desk.by(seat), action.company, source, percent)


def _buy_new(desk: Desk, seat: str, action: BuyNew) -> Record:
    company = desk.acting()
    return _moved(desk, "buy_shares", desk.by(seat), company, company, action.count * unit(desk.g, company))


def _protect(desk: Desk, seat: str, action: Protect) -> Record:
    top = desk.g.top
    assert isinstance(top, Protection)
    percent = top.sales[0].count * unit(desk.g, action.company)
    shares = desk.ledger.certificates.latest(action.company, POOL, percent)
    return {"type": "buy_shares", **desk.by(seat), "shares": shares, "percent": percent}


def _redeem(desk: Desk, seat: str, action: Redeem) -> Record:
    percent = unit(desk.g, action.company)
    return _moved(desk, "buy_shares", desk.by(action.company), action.company, action.source or POOL, percent)


def _redeem_for(desk: Desk, seat: str, action: RedeemFor) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "buy_shares", desk.by(action.company), action.company, POOL, percent)


def _exchange(desk: Desk, seat: str, action: Exchange) -> Record:
    effect = desk.g.private_facts(action.private).effect
    by = desk.by_private(action.private)
    return _moved(desk, "buy_shares", by, effect["company"], action.source, effect["percent"])


# -- sell_shares ---------------------------------------------------------------------------------


def _read_sell_shares(replay: Replay, action: SiteAction) -> None:
    if action.entity_type == "corporation":
        replay.ordinary(action, Reissue(replay.company(action.actor)))
        return
    company, count = _shares(replay, action)
    replay.ledger.certificates.prefer(action.shares)
    replay.decline_for_others(action)
    grown = isinstance(replay.game.top, ShareTrade)
    replay.say(replay.speaker(action), SellNew(count) if grown else Sell(company, count))


def _sell(desk: Desk, seat: str, action: Sell) -> Record:
    percent = action.count * unit(desk.g, action.company)
    return _moved(desk, "sell_shares", desk.by(seat), action.company, seat, percent)


def _sell_new(desk: Desk, seat: str, action: SellNew) -> Record:
    company = desk.acting()
    return _moved(desk, "sell_shares", desk.by(seat), company, seat, action.count * unit(desk.g, company))


def _reissue(desk: Desk, seat: str, action: Reissue) -> Record:
    company = action.company
    record = _moved(desk, "sell_shares", desk.by(company), company, company, desk.g.held(company, company))
    return record | {"share_price": reissue_par(desk.g, company)}


# -- short ---------------------------------------------------------------------------------------


def _read_short(replay: Replay, action: SiteAction) -> None:
    replay.ordinary(action, Short(replay.company(action.corporation)))


def _short(desk: Desk, seat: str, action: Short) -> Record:
    return {"type": "short", **desk.by(seat), "corporation": desk.names.theirs(action.company)}


# -- buy_company ---------------------------------------------------------------------------------


def _read_buy_company(replay: Replay, action: SiteAction) -> None:
    replay.decline_for_others(action)
    private, seat = replay.private(action.company), replay.speaker(action)
    owner = replay.state.privates[private]
    source = owner if action.entity_type == "player" else None
    replay.say(seat, DealPrivate(private, action.price or 0, source))
    replay.consent()


def _deal_private(desk: Desk, seat: str, action: DealPrivate) -> Record:
    company = desk.names.their_private(action.private)
    return {"type": "buy_company", **desk.by_turn(seat), "company": company, "price": action.amount}


FORMS = (
    Form("bid", _read_bid, {BuyPrivate: _buy_private, Bid: _bid, Raise: _raise, StartCompany: _start}),
    Form("par", _read_par, {Par: _par}),
    Form(
        "buy_shares",
        _read_buy_shares,
        {
            Buy: _buy,
            BuyNew: _buy_new,
            Protect: _protect,
            Redeem: _redeem,
            RedeemFor: _redeem_for,
            Exchange: _exchange,
        },
    ),
    Form("sell_shares", _read_sell_shares, {Sell: _sell, SellNew: _sell_new, Reissue: _reissue}),
    Form("short", _read_short, {Short: _short}),
    Form("buy_company", _read_buy_company, {DealPrivate: _deal_private}),
)
