"""Codecs: bids, par prices, shares and privates."""

from __future__ import annotations

from itertools import islice

from engine.core.actions import (
    Bid,
    BuyPostMergerShares,
    BuyPrivate,
    BuyShares,
    ExchangePrivate,
    Par,
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
from engine.opening.seed_money import BID_STEP
from engine.opening.waterfall import asking_price, offered_private
from engine.site_18xx.action_codec import CORPORATION, PLAYER, PRIVATE, ActionCodec, EncodingContext, in_turn
from engine.site_18xx.game_file import ActionRecord, NoCounterpartError, SiteAction, SiteFileError
from engine.site_18xx.site_table import SiteTable
from engine.stock.treasury_shares import reissue_par_price

# -- bid -----------------------------------------------------------------------------------------


def _decode_bid(table: SiteTable, action: SiteAction) -> None:
    if action.corporation:
        _play_company_bid(table, action, table.company(action.corporation))
        return
    private, price = table.private(action.company), action.price or 0
    top = table.game.top
    if isinstance(top, Waterfall) and offered_private(table.game) == private:
        table.play_in_turn(action, BuyPrivate(private, price))
    else:
        table.play_in_turn(action, Bid(private, price))


def _play_company_bid(table: SiteTable, action: SiteAction, company: str) -> None:
    """A bid for a company. The first one starts it: its home token is in the action that follows."""

    def is_asked() -> bool:
        top = table.game.top
        if isinstance(top, StockTurn):
            return table.seat(action.entity_key) == top.seat
        return isinstance(top, Auction) and top.item == company

    table.pass_until(is_asked)
    top = table.game.top
    if not isinstance(top, StockTurn) or not is_asked():
        table.play_in_turn(action, RaiseBid(action.price or 0))
    elif not table.upcoming:
        bid = f"the bid of ${action.price:,} for the {company} comes without its home token"
        table.warn(f"{bid}, and is left out: {table.state.name(top.seat)} makes it again with a city")
    else:
        hex, node = _upcoming_home(table, action.corporation or "")
        table.play_in_turn(action, StartCompany(company, hex, node, action.price or 0))
        table.starting_company = company


def _upcoming_home(table: SiteTable, company: str) -> tuple[str, int]:
    """The city in which the company's home token is placed by a later action."""
    for later in islice(table.upcoming, 3):
        if later.type == "place_token" and later.entity_key == company:
            return table.numbering.find_city(later.city or "")
    raise SiteFileError(f"the {company} is started and its home is not placed")


def _encode_buy_private(context: EncodingContext, seat: str, action: BuyPrivate) -> ActionRecord:
    top = context.g.top
    assert isinstance(top, Waterfall)
    price = asking_price(context.g, top) if action.price is None else action.price
    return {**context.entity(seat), "company": context.names.site_private(action.private), "price": price}


def _encode_bid(context: EncodingContext, seat: str, action: Bid) -> ActionRecord:
    if isinstance(context.g.state.stack[0], SeedMoneySale) and action.amount % BID_STEP:
        raise NoCounterpartError(f"the site takes bids in steps of ${BID_STEP:,} only.")
    company = context.names.site_private(action.private)
    return {**context.entity(seat), "company": company, "price": action.amount}


def _encode_raise(context: EncodingContext, seat: str, action: RaiseBid) -> ActionRecord:
    top = context.g.top
    assert isinstance(top, Auction)
    return {**context.entity(seat), **context.corporation(top.item), "price": action.amount}


def _encode_start(context: EncodingContext, seat: str, action: StartCompany) -> list[ActionRecord]:
    bid = {**context.entity(seat), **context.corporation(action.company), "price": action.amount}
    return [bid, context.place_token(context.entity(action.company), action.hex, action.node)]


# -- par -----------------------------------------------------------------------------------------


def _decode_par(table: SiteTable, action: SiteAction) -> None:
    company = table.company(action.corporation)
    price = str(action.share_price or "").partition(",")[0]
    if not price.isdecimal():
        raise SiteFileError(f"{action.share_price!r} is no par price")
    table.play_in_turn(action, Par(company, int(price)))


def _encode_par(context: EncodingContext, seat: str, action: Par) -> ActionRecord:
    at = context.g.title.par_cell(action.price)
    assert at is not None
    share_price = f"{action.price},{at[0]},{at[1]}"
    return {**context.entity(seat), **context.corporation(action.company), "share_price": share_price}


# -- buy_shares ----------------------------------------------------------------------------------


def _decode_buy_shares(table: SiteTable, action: SiteAction) -> None:
    company, count = _company_and_count(table, action)
    top = table.game.top
    if isinstance(top, PriceProtection) and company == top.pending_sales[0].company:
        table.play_in_turn(action, ProtectPrice(company))
        return
    table.numbering.certificates.prefer(action.shares)
    if table.game.title.components.company_sizes:
        _play_sized_purchase(table, action, company, count)
        return
    owner = table.numbering.certificates.owner(action.shares[0])
    if action.entity_type == "company":
        table.play(
            table.acting_seat(action), ExchangePrivate(table.private(action.entity_key), _share_source(owner))
        )
    elif action.entity_type == "corporation":
        table.play_in_turn(action, RedeemShare(company, owner if owner and is_seat(owner) else None))
        table.accept_offer()
    else:
        table.play_in_turn(action, BuyShares(company, _share_source(owner), count))


def _play_sized_purchase(table: SiteTable, action: SiteAction, company: str, count: int) -> None:
    """A purchase, by a player or the company itself, in a title where companies choose their size."""
    table.pass_for_others(action)
    if action.entity_type == "corporation":
        table.play(table.acting_seat(action), RedeemSharesForCompany(company, count))
    elif isinstance(table.game.top, PostMergerTrade):
        table.play(table.acting_seat(action), BuyPostMergerShares(count))
    else:
        pool = table.numbering.certificates.owner(action.shares[0]) == POOL
        table.play(table.acting_seat(action), BuyShares(company, POOL if pool else TREASURY))


def _company_and_count(table: SiteTable, action: SiteAction) -> tuple[str, int]:
    """The company whose shares an action names, and how many."""
    if not action.shares:
        raise SiteFileError("no shares are named")
    company = table.company(action.shares[0].rpartition("_")[0])
    if any(table.company(s.rpartition("_")[0]) != company for s in action.shares):
        raise SiteFileError("shares of several companies are named in one action")
    percent = action.percent or sum(
        president_share_percent(table.game, company)
        if s.endswith("_0")
        else share_percent(table.game, company)
        for s in action.shares
    )
    return company, percent // share_percent(table.game, company)


def _share_source(owner: str | None) -> str:
    """The source to name in a purchase from that owner of a certificate."""
    return IPO if owner in (None, IPO) else POOL


def _share_record(
    context: EncodingContext, by: ActionRecord, company: str, owner: str, percent: int
) -> ActionRecord:
    """A record that moves so many percent of a company away from an owner."""
    shares = context.numbering.certificates.next_to_leave(company, owner, percent)
    return {**by, "shares": shares, "percent": percent}


CountedShares = (
    BuyShares | BuyPostMergerShares | RedeemShare | RedeemSharesForCompany | SellShares | SellPostMergerShares
)


def _encode_shares(context: EncodingContext, seat: str, action: CountedShares) -> ActionRecord:
    """A purchase or a sale of so many shares, from whoever has them."""
    match action:
        case BuyShares(company, source, count):
            by, owner = seat, company if source == TREASURY else source
        case BuyPostMergerShares(count):
            by, company = seat, context.current_company()
            owner = company
        case RedeemShare(company, source):
            by, owner, count = company, source or POOL, 1
        case RedeemSharesForCompany(company, count):
            by, owner = company, POOL
        case SellShares(company, count):
            by = owner = seat
        case SellPostMergerShares(count):
            by, owner, company = seat, seat, context.current_company()
    percent = count * share_percent(context.g, company)
    return _share_record(context, context.entity(by), company, owner, percent)


def _encode_protect(context: EncodingContext, seat: str, action: ProtectPrice) -> ActionRecord:
    top = context.g.top
    assert isinstance(top, PriceProtection)
    percent = top.pending_sales[0].count * share_percent(context.g, action.company)
    shares = context.numbering.certificates.to_protect(action.company, percent)
    return {**context.entity(seat), "shares": shares, "percent": percent}


def _encode_exchange(context: EncodingContext, seat: str, action: ExchangePrivate) -> ActionRecord:
    ability = context.g.private_definition(action.private).ability
    assert isinstance(ability, ShareExchangeAbility)
    by = context.private_entity(action.private)
    return _share_record(context, by, ability.company, action.source, ability.percent)


# -- sell_shares ---------------------------------------------------------------------------------


def _decode_sell_shares(table: SiteTable, action: SiteAction) -> None:
    if action.entity_type == "corporation":
        table.play_in_turn(action, ReissueShares(table.company(action.entity_key)))
        return
    company, count = _company_and_count(table, action)
    table.numbering.certificates.prefer(action.shares)
    table.pass_for_others(action)
    grown = isinstance(table.game.top, PostMergerTrade)
    table.play(
        table.acting_seat(action), SellPostMergerShares(count) if grown else SellShares(company, count)
    )


def _encode_reissue(context: EncodingContext, seat: str, action: ReissueShares) -> ActionRecord:
    company = action.company
    held = context.g.percent_held(company, company)
    record = _share_record(context, context.entity(company), company, company, held)
    return record | {"share_price": reissue_par_price(context.g, company)}


# -- short ---------------------------------------------------------------------------------------


def _encode_short(context: EncodingContext, seat: str, action: SellShort) -> ActionRecord:
    return context.entity(seat) | context.corporation(action.company)


# -- buy_company ---------------------------------------------------------------------------------


def _decode_buy_company(table: SiteTable, action: SiteAction) -> None:
    table.pass_for_others(action)
    private, seat = table.private(action.company), table.acting_seat(action)
    owner = table.state.private_owners[private]
    source = owner if action.entity_type == "player" else None
    table.play(seat, TradePrivate(private, action.price or 0, source))
    table.accept_offer()


def _encode_deal_private(context: EncodingContext, seat: str, action: TradePrivate) -> ActionRecord:
    company = context.names.site_private(action.private)
    return {**context.turn_entity(seat), "company": company, "price": action.amount}


CODECS = (
    ActionCodec(
        "bid",
        (PLAYER,),
        _decode_bid,
        {
            BuyPrivate: _encode_buy_private,
            Bid: _encode_bid,
            RaiseBid: _encode_raise,
            StartCompany: _encode_start,
        },
    ),
    ActionCodec("par", (PLAYER,), _decode_par, {Par: _encode_par}),
    ActionCodec(
        "buy_shares",
        (PLAYER, CORPORATION, PRIVATE),
        _decode_buy_shares,
        {
            BuyShares: _encode_shares,
            BuyPostMergerShares: _encode_shares,
            ProtectPrice: _encode_protect,
            RedeemShare: _encode_shares,
            RedeemSharesForCompany: _encode_shares,
            ExchangePrivate: _encode_exchange,
        },
    ),
    ActionCodec(
        "sell_shares",
        (PLAYER, CORPORATION),
        _decode_sell_shares,
        {SellShares: _encode_shares, SellPostMergerShares: _encode_shares, ReissueShares: _encode_reissue},
    ),
    ActionCodec(
        "short",
        (PLAYER,),
        in_turn(lambda table, action: SellShort(table.company(action.corporation))),
        {SellShort: _encode_short},
    ),
    ActionCodec(
        "buy_company", (PLAYER, CORPORATION), _decode_buy_company, {TradePrivate: _encode_deal_private}
    ),
)
