"""Actions of the site beside ours: bids, shares, privates and loans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.actions import (
    Bid,
    BuyPostMergerShares,
    BuyPrivate,
    BuyShares,
    ExchangePrivate,
    Par,
    Pass,
    ProtectPrice,
    RaiseBid,
    RedeemShare,
    RedeemSharesForCompany,
    ReissueShares,
    SellPostMergerShares,
    SellShares,
    SellShort,
    StartCompany,
    TradePrivate,
)
from engine.core.components import ShareExchangeAbility
from engine.core.state import (
    IPO,
    POOL,
    TREASURY,
    Auction,
    PostMergerTrade,
    PriceProtection,
    SeedMoneySale,
    StockTurn,
    Waterfall,
    is_seat,
)
from engine.finance.ownership import president_share_percent, share_percent
from engine.kernel import awaited_seats, refusal
from engine.opening.seed_money import BID_STEP
from engine.opening.waterfall import asking_price, offered_private
from engine.site_18xx.codec import ActionCodec, ActionRecord, EncodingContext
from engine.site_18xx.game_file import SiteAction, SiteFileError
from engine.stock.treasury_shares import reissue_par_price

if TYPE_CHECKING:
    from engine.site_18xx.replay import SiteReplay


# -- bid -----------------------------------------------------------------------------------------


def _decode_bid(replay: SiteReplay, action: SiteAction) -> None:
    if action.corporation:
        _play_company_bid(replay, action, replay.company(action.corporation))
        return
    private, price = replay.private(action.company), action.price or 0
    top = replay.game.top
    if isinstance(top, Waterfall) and offered_private(replay.game) == private:
        replay.play_in_turn(action, BuyPrivate(private, price))
    else:
        replay.play_in_turn(action, Bid(private, price))


def _play_company_bid(replay: SiteReplay, action: SiteAction, company: str) -> None:
    """A bid in an auction; where none is open yet, the first one, said once its home is placed."""
    for _ in range(100):
        top = replay.game.top
        if isinstance(top, Auction) and top.item == company:
            break
        if isinstance(top, StockTurn) and replay.seat(action.entity_key) == top.seat:
            hex, node = _upcoming_home(replay, action.corporation or "")
            replay.play_in_turn(action, StartCompany(company, hex, node, action.price or 0))
            replay.starting_company = company
            return
        seat = awaited_seats(replay.game)[0] if awaited_seats(replay.game) else ""
        if not seat or refusal(replay.game, seat, Pass()):
            break
        replay.play(seat, Pass())
    replay.play_in_turn(action, RaiseBid(action.price or 0))


def _upcoming_home(replay: SiteReplay, company: str) -> tuple[str, int]:
    """The city in which the company's home will be placed, an action further on."""
    for later in replay.upcoming:
        if later.type == "place_token" and later.entity_key == company:
            return replay.numbering.find_city(later.city or "")
    raise SiteFileError(f"the {company} is started and its home is not placed")


def _encode_buy_private(desk: EncodingContext, seat: str, action: BuyPrivate) -> ActionRecord:
    top = desk.g.top
    assert isinstance(top, Waterfall)
    price = asking_price(desk.g, top) if action.price is None else action.price
    return {
        "type": "bid",
        **desk.entity(seat),
        "company": desk.names.site_private(action.private),
        "price": price,
    }


def _encode_bid(desk: EncodingContext, seat: str, action: Bid) -> ActionRecord:
    if isinstance(desk.g.state.stack[0], SeedMoneySale) and action.amount % BID_STEP:
        raise KeyError(action.amount)  # the site takes multiples of $5 only
    company = desk.names.site_private(action.private)
    return {"type": "bid", **desk.entity(seat), "company": company, "price": action.amount}


def _encode_raise(desk: EncodingContext, seat: str, action: RaiseBid) -> ActionRecord:
    top = desk.g.top
    assert isinstance(top, Auction)
    lot = desk.names.site_company(top.item)
    return {"type": "bid", **desk.entity(seat), "corporation": lot, "price": action.amount}


def _encode_start(desk: EncodingContext, seat: str, action: StartCompany) -> list[ActionRecord]:
    company = desk.names.site_company(action.company)
    bid = {"type": "bid", **desk.entity(seat), "corporation": company, "price": action.amount}
    return [bid, desk.place_token(desk.entity(action.company), action.hex, action.node)]


# -- par -----------------------------------------------------------------------------------------


def _decode_par(replay: SiteReplay, action: SiteAction) -> None:
    company = replay.company(action.corporation)
    price = str(action.share_price or "").partition(",")[0]
    if not price.isdecimal():
        raise SiteFileError(f"{action.share_price!r} is no par price")
    replay.play_in_turn(action, Par(company, int(price)))


def _encode_par(desk: EncodingContext, seat: str, action: Par) -> ActionRecord:
    at = desk.g.title.par_cell(action.price)
    assert at is not None
    return {
        "type": "par",
        **desk.entity(seat),
        "corporation": desk.names.site_company(action.company),
        "share_price": f"{action.price},{at[0]},{at[1]}",
    }


# -- buy_shares ----------------------------------------------------------------------------------


def _decode_buy_shares(replay: SiteReplay, action: SiteAction) -> None:
    company, count = _company_and_count(replay, action)
    top = replay.game.top
    if isinstance(top, PriceProtection) and company == top.pending_sales[0].company:
        replay.play_in_turn(action, ProtectPrice(company))
        return
    replay.numbering.certificates.prefer(action.shares)
    if replay.game.title.components.company_sizes:
        _play_sized_purchase(replay, action, company, count)
        return
    owner = replay.numbering.certificates.owner(action.shares[0])
    if action.entity_type == "company":
        replay.play(
            replay.acting_seat(action),
            ExchangePrivate(replay.private(action.entity_key), _share_source(owner)),
        )
    elif action.entity_type == "corporation":
        replay.play_in_turn(action, RedeemShare(company, owner if owner and is_seat(owner) else None))
        replay.accept_offer()
    else:
        replay.play_in_turn(action, BuyShares(company, _share_source(owner), count))


def _play_sized_purchase(replay: SiteReplay, action: SiteAction, company: str, count: int) -> None:
    """A purchase of shares whose number of shares was chosen: by the company, or by a player."""
    replay.pass_for_others(action)
    if action.entity_type == "corporation":
        replay.play(replay.acting_seat(action), RedeemSharesForCompany(company, count))
    elif isinstance(replay.game.top, PostMergerTrade):
        replay.play(replay.acting_seat(action), BuyPostMergerShares(count))
    else:
        pool = replay.numbering.certificates.owner(action.shares[0]) == POOL
        replay.play(replay.acting_seat(action), BuyShares(company, POOL if pool else TREASURY))


def _company_and_count(replay: SiteReplay, action: SiteAction) -> tuple[str, int]:
    """The company and the count of shares that an action names."""
    if not action.shares:
        raise SiteFileError("no shares are named")
    company = replay.company(action.shares[0].rpartition("_")[0])
    if any(replay.company(s.rpartition("_")[0]) != company for s in action.shares):
        raise SiteFileError("shares of several companies are named in one action")
    percent = action.percent or sum(
        president_share_percent(replay.game, company)
        if s.endswith("_0")
        else share_percent(replay.game, company)
        for s in action.shares
    )
    return company, percent // share_percent(replay.game, company)


def _share_source(owner: str | None) -> str:
    """Where a certificate is bought that lies with that owner."""
    return IPO if owner in (None, IPO) else POOL


def _share_record(
    desk: EncodingContext, kind: str, by: ActionRecord, company: str, owner: str, percent: int
) -> ActionRecord:
    """So many percent of a company that leave an owner."""
    shares = desk.numbering.certificates.next_to_leave(company, owner, percent)
    return {"type": kind, **by, "shares": shares, "percent": percent}


def _encode_buy(desk: EncodingContext, seat: str, action: BuyShares) -> ActionRecord:
    percent = action.count * share_percent(desk.g, action.company)
    source = action.company if action.source == TREASURY else action.source
    return _share_record(desk, "buy_shares", desk.entity(seat), action.company, source, percent)


def _encode_buy_new(desk: EncodingContext, seat: str, action: BuyPostMergerShares) -> ActionRecord:
    company = desk.current_company()
    return _share_record(
        desk, "buy_shares", desk.entity(seat), company, company, action.count * share_percent(desk.g, company)
    )


def _encode_protect(desk: EncodingContext, seat: str, action: ProtectPrice) -> ActionRecord:
    top = desk.g.top
    assert isinstance(top, PriceProtection)
    percent = top.pending_sales[0].count * share_percent(desk.g, action.company)
    shares = desk.numbering.certificates.last_received(action.company, POOL, percent)
    return {"type": "buy_shares", **desk.entity(seat), "shares": shares, "percent": percent}


def _encode_redeem(desk: EncodingContext, seat: str, action: RedeemShare) -> ActionRecord:
    percent = share_percent(desk.g, action.company)
    return _share_record(
        desk, "buy_shares", desk.entity(action.company), action.company, action.source or POOL, percent
    )


def _encode_redeem_for(desk: EncodingContext, seat: str, action: RedeemSharesForCompany) -> ActionRecord:
    percent = action.count * share_percent(desk.g, action.company)
    return _share_record(desk, "buy_shares", desk.entity(action.company), action.company, POOL, percent)


def _encode_exchange(desk: EncodingContext, seat: str, action: ExchangePrivate) -> ActionRecord:
    ability = desk.g.private_definition(action.private).ability
    assert isinstance(ability, ShareExchangeAbility)
    by = desk.private_entity(action.private)
    return _share_record(desk, "buy_shares", by, ability.company, action.source, ability.percent)


# -- sell_shares ---------------------------------------------------------------------------------


def _decode_sell_shares(replay: SiteReplay, action: SiteAction) -> None:
    if action.entity_type == "corporation":
        replay.play_in_turn(action, ReissueShares(replay.company(action.entity_key)))
        return
    company, count = _company_and_count(replay, action)
    replay.numbering.certificates.prefer(action.shares)
    replay.pass_for_others(action)
    grown = isinstance(replay.game.top, PostMergerTrade)
    replay.play(
        replay.acting_seat(action), SellPostMergerShares(count) if grown else SellShares(company, count)
    )


def _encode_sell(desk: EncodingContext, seat: str, action: SellShares) -> ActionRecord:
    percent = action.count * share_percent(desk.g, action.company)
    return _share_record(desk, "sell_shares", desk.entity(seat), action.company, seat, percent)


def _encode_sell_new(desk: EncodingContext, seat: str, action: SellPostMergerShares) -> ActionRecord:
    company = desk.current_company()
    return _share_record(
        desk, "sell_shares", desk.entity(seat), company, seat, action.count * share_percent(desk.g, company)
    )


def _encode_reissue(desk: EncodingContext, seat: str, action: ReissueShares) -> ActionRecord:
    company = action.company
    record = _share_record(
        desk, "sell_shares", desk.entity(company), company, company, desk.g.percent_held(company, company)
    )
    return record | {"share_price": reissue_par_price(desk.g, company)}


# -- short ---------------------------------------------------------------------------------------


def _decode_short(replay: SiteReplay, action: SiteAction) -> None:
    replay.play_in_turn(action, SellShort(replay.company(action.corporation)))


def _encode_short(desk: EncodingContext, seat: str, action: SellShort) -> ActionRecord:
    return {"type": "short", **desk.entity(seat), "corporation": desk.names.site_company(action.company)}


# -- buy_company ---------------------------------------------------------------------------------


def _decode_buy_company(replay: SiteReplay, action: SiteAction) -> None:
    replay.pass_for_others(action)
    private, seat = replay.private(action.company), replay.acting_seat(action)
    owner = replay.state.private_owners[private]
    source = owner if action.entity_type == "player" else None
    replay.play(seat, TradePrivate(private, action.price or 0, source))
    replay.accept_offer()


def _encode_deal_private(desk: EncodingContext, seat: str, action: TradePrivate) -> ActionRecord:
    company = desk.names.site_private(action.private)
    return {"type": "buy_company", **desk.turn_entity(seat), "company": company, "price": action.amount}


CODECS = (
    ActionCodec(
        "bid",
        _decode_bid,
        {
            BuyPrivate: _encode_buy_private,
            Bid: _encode_bid,
            RaiseBid: _encode_raise,
            StartCompany: _encode_start,
        },
    ),
    ActionCodec("par", _decode_par, {Par: _encode_par}),
    ActionCodec(
        "buy_shares",
        _decode_buy_shares,
        {
            BuyShares: _encode_buy,
            BuyPostMergerShares: _encode_buy_new,
            ProtectPrice: _encode_protect,
            RedeemShare: _encode_redeem,
            RedeemSharesForCompany: _encode_redeem_for,
            ExchangePrivate: _encode_exchange,
        },
    ),
    ActionCodec(
        "sell_shares",
        _decode_sell_shares,
        {SellShares: _encode_sell, SellPostMergerShares: _encode_sell_new, ReissueShares: _encode_reissue},
    ),
    ActionCodec("short", _decode_short, {SellShort: _encode_short}),
    ActionCodec("buy_company", _decode_buy_company, {TradePrivate: _encode_deal_private}),
)
