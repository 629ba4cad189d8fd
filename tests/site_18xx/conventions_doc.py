"""Writes `docs/conventions.md`: where the conventions of 18xx.games differ from the rulebooks, per title.

The differences are found in the code: each title is composed under both conventions, and all parameters of its
mechanics and all printed components are compared. Only the words for the parameters are written here. To write
the page again: `python -m tests.site_18xx.conventions_doc`.
"""

# ruff: noqa: E501 (one sentence a line)

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from engine.core.components import CompanyDefinition, TrainDefinition
from engine.title import SITE_CONVENTIONS
from engine.titles import title_names, title_of

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"

INTRODUCTION = """\
# The conventions of 18xx.games

A table plays by the rulebook, or with the option `conventions 18xx.games` as that site plays. This page lists every
difference between the two. It is made from the code (`python -m tests.site_18xx.conventions_doc`): each row is a
parameter of a mechanic, or a printed component, that differs between both compositions of a title in
`engine/titles/`. Options of a title can bring back some rules of the book on the site's side.
"""

WORDS = {
    # the opening
    "WaterfallQuestion.any_price": "The cheapest private may be bought at a higher price",
    "WaterfallQuestion.unsold_ends_round": (
        "The round after one in which a private found no buyer is not the first: shares and privates are sold in it"
    ),
    "WaterfallQuestion.defer_par": "The next privates with one bid are sold before a par price is asked for",
    "WaterfallBiddersQuestion.defer_par": "The next privates with one bid are sold before a par price is asked for",
    "WaterfallBiddersQuestion.clockwise": (
        "The next bidder is the one to the left of the highest bidder (otherwise the lowest bidder)"
    ),
    "SeedMoneyQuestion.ask_everyone": "Players are asked even if they cannot put up any private",
    "SeedMoneyAuction.above_face_value": "Bids on a private may exceed its face value",
    "SeedMoneyAuction.multiples_of_five": "Bids on a private have to be multiples of $5",
    # stock rounds
    "StockRoundRules.last_round": "The game ends after this number of stock rounds",
    "StockTurnQuestion.sale_timing": "When shares are sold in a turn, relative to the purchase",
    "StockTurnQuestion.multiple_from_ipo": "Further certificates in the brown zone may come from the initial offering",
    "StockTurnQuestion.multiple_of_one_company": "Further certificates in the brown zone are of one company only",
    "StockTurnQuestion.multiple_after_private": "A purchase in the brown zone may follow that of a private",
    "StockTurnQuestion.sell_any_over_limit": (
        "A player over a limit has to sell first, even if only shares that do not count can be sold"
    ),
    "StockTurnQuestion.extra_actions_block": "A player is asked even if only an extra action is possible",
    "StockTurnQuestion.extra_actions_over_limit": (
        "A president over the certificate limit may redeem or reissue before selling down to it"
    ),
    "StockTurnQuestion.holds_back_reissue_money": "Money for reissued shares cannot be spent before the round is over",
    "PrivateDeals.seller_may_offer": "The owner of a private may propose its sale",
    "PrivateDeals.replaces_share_purchase": "A private bought from a player takes the place of the turn's certificate",
    "PrivateDeals.in_forced_purchase": "A president may sell privates to pay for a forced purchase",
    "PrivateDeals.min_price": "The lowest price of a private between players, in dollars",
    "PrivateDeals.company_ban_applies": "A private that no company may buy is not sold between players either",
    "PrivateDeals.certificate_limit_applies": "A player at the certificate limit buys no private",
    "PrivateDeals.share_follows": (
        "A private is not sold between players while a player holds the share that came with it; a share that no "
        "player holds goes to the buyer"
    ),
    "Title.follows_granted_certificates": "Which of the equal shares came with a private matters",
    "PrivateDeals.from_phase": "The first phase in which players deal in privates with each other",
    "PrivateDeals.required_sales": "What a player has to sell comes before the purchase of a private",
    "ShareExchanges.limit_by_zone": "A holder of 60 % may exchange a private where the price lifts the limit",
    "ShareExchanges.before_par": "A private may be exchanged for a share of a company without a par price",
    "TreasuryShares.reissue_after_trades": "A president may reissue after trading shares of the company",
    "TreasuryShares.one_reissue_per_round": "A company reissues shares once in a stock round",
    "TreasuryShares.ordinary_share_only": (
        "Players give up no share to their company if the president has only the president's certificate"
    ),
    "OpenMarketPurchase": "Privates in the open market may be bought (no private ever comes there on the site)",
    "PriceProtectionQuestion.after_own_sale": "A president who sold shares of the company in this round may protect",
    "PriceProtectionQuestion.seller_after_forced_sale": "After a forced sale the seller may protect too",
    "PriceProtectionQuestion.delays_closing": "A company that leaves the market closes only once the next president is asked",
    "PriceProtectionQuestion.defers_after_closing": (
        "If the operating company closes by a block, the next company's turn starts before all presidents are asked"
    ),
    "Title.after_sale": "What follows a sale: when presidents are asked to protect",
    "AuctionQuestion.bids_in_advance": "Bidders may bid or pass before it is their turn",
    "CertificateAuction.ask_by_worth": (
        "Bidders are asked if cash and privates suffice, even where these do not add up to a bid"
    ),
    "ShortSellingTurnQuestion.sales_first": "Sales come before the short sale",
    "ShortSellingTurnQuestion.max_shorts": "The most short shares of a company (size, number), where not the printed number",
    "ShortSellingTurnQuestion.untradable_may_borrow": "A company in acquisition or liquidation may take loans",
    "ShortSellingTurnQuestion.shorts_stay_open": "A share sold short may be bought before it closes a short share of the bank",
    "CompanyStartQuestion.size_before_privates": "The size of a new company is chosen before its privates",
    "BidderCompanyActions": "The next bidder for a certificate may act for companies (loans, redemptions)",
    # operating rounds
    "OperatingRoundRules.home_chooser": "The player who chooses among several home cities: the president, or the one who lays the tile",
    "OperatingRoundRules.fix_first_company": "The first company of a round is fixed before a connection run",
    "TrackStep.also_blocks": "When a turn waits because a private offers a lay",
    "TrackStep.always_asked": "The president is asked for track even where nothing can be laid",
    "TrackStep.stays_open": "A lay by a private keeps the track step open after the normal lay",
    "TwoTileTrackStep.always_asked": "The president is asked for track even where nothing can be laid",
    "TwoTileTrackStep.requires_most_exits": "Brown cities have as many exits as fit",
    "RunStep.best_only": "A run has to be the best one",
    "RunStep.allows_claims": "A revenue may be claimed that nobody checks",
    "DividendStep.half_price_move": "What a half dividend does to the price where it could rise",
    "TrainStep.also_blocks": "The train step waits while a private could be bought (otherwise a step of its own does)",
    "Capitalization.in_next_operating_round": (
        "The capital of a company that floats comes with the next operating round; the bank may break then"
    ),
    "EmergencyPurchase.bankrupt_sells_all": "All shares of a bankrupt player are sold",
    "EmergencyPurchase.whole_certificates": "What a forced sale may bring is reckoned by whole certificates",
    "EmergencyPurchase.certificate_limit_first": "A player over the certificate limit first sells down to it",
    "EmergencyPurchase.limits_leftover": (
        "All shares sold for a train leave no more money than the cheapest of them brought, if any sales can"
    ),
    "EmergencyPurchase.president_always_helps": "A president may add money in any forced purchase",
    "EmergencyPurchase.last_sale_needed": "After a forced sale the last share sold has to be needed for the train",
    "TrainTradeConventions.only_in_train_step": "An offered train is bought only in the train step",
    "EmergencyPurchase.bank_only_after_sale": "After a forced sale no train of another company is bought",
    "TrainTradeConventions.discards_in_operating_order": "Several companies over the train limit discard in operating order",
    "ShortSellingTurnQuestion.asks_without_home": "A player who can pay a bid is asked even if no city is free for a home token",
    "TrainTradeConventions.trade_in_for_pool": "A train may be traded in for a train of the pool too",
    "TrainTradeConventions.defers_discards": "A turn goes on to its end before anybody discards",
    "PrivatePurchaseStep": "Buying privates is a step of its own after the trains",
    "AutomaticStep": "Obsolete trains are scrapped before the dividend",
    "DoubleJumpDividendStep.after_dividend": "Obsolete trains are scrapped right after the dividend",
    "OperatingTurnQuestion.after_turn": "Discards are asked for at the end of the turn",
    "ConnectionChoiceStep": "A connection run may be left for later",
    "PostponedConnectionRuns": "A connection run that was left may be asked for later",
    "DestinationTokenStep.begins_run": "A connection run starts with the destination token",
    "DestinationTokenStep.allows_swap": "A station token in the destination may become the destination token",
    "ConnectionDividendStep.price_move": "How a connection run moves the price",
    "OperatingRoundRules.interruption.first_step": "The first step of a connection run",
    "OperatingRoundRules.interruption.after_closing": "Connection runs follow even if the operating company closed",
    "OperatingRoundRules.interruption.keeps_list": "Companies found connected together all run, whatever the earlier ones change",
    "OperatingRoundRules.interruption.in_turn_order": "Connection runs come in the order of the round, not of current prices",
    "BridgeDiscounts.beyond_normal_lays": "The bridge discount allows a lay after the normal ones",
    "BridgeTokens.before_interest": "Bridges are placed only before the interest is paid",
    "refuse_upgrade_of_new_home": "A home that the bridge discount has laid takes no upgrade in the same turn",
    "Title.extra_slots": "Destination tokens take no slot of a city",
    "close_in_closing_zone.privates_to_pool": "Privates of a company that closes go to the open market",
    # mergers, crises, the end of the game
    "CompanyAuction.defers_new_liquidations": "A company that comes into liquidation during sales is sold in the next round",
    "CompanyAuction.trains_to": "Where the trains of a liquidated company go",
    "MergerRoundRules.polls": "Presidents are asked all at once whether they will act",
    "MergerRoundRules.one_pass": "All sales are one stage, in the order in which it begins",
    "MergerRoundRules.defers_crises": "A player without money raises it once the next company is up",
    "MergerTurnQuestion.initiator_survives": "Of two merging companies the one whose turn it is remains",
    "MergerTurnQuestion.checks_buyers_once": "Whether anybody could buy a company is checked only as its turn begins",
    "MergerConventions.keeps_stack_position": "A price token that comes to its own space keeps its place in the stack",
    "MergerConventions.nearest_presides": "Of several with the most shares the first to the left of the president presides",
    "MergerConventions.closes_before_excess": "The absorbed company closes before surplus tokens and trains are given up",
    "PostMergerTradeQuestion.new_president_continues": "A new president may buy more shares after a merger",
    "PostMergerTradeQuestion.asks_together": "All players are asked at once for share trades after a merger",
    "BuyerChoiceQuestion.defers_excess": "Surplus tokens and trains are given up with the next question",
    "TakeoverLoansQuestion.loans_first": "New loans are taken before others are repaid",
    "CashCrisisQuestion.one_share_at_a_time": "A player in a cash crisis sells one share at a time",
    "CashCrisisQuestion.cash_to_company": "The cash of a bankrupt player goes to the company that was owed",
    "CashCrisisQuestion.keeps_privates": "A bankrupt player keeps their privates",
    "CashCrisisQuestion.bankrupt_without_sales": "A player who cannot raise enough goes bankrupt without selling",
    "CashCrisisQuestion.next_interruption": "The next crisis or surplus is looked for at once",
    "ExcessTokensQuestion.next_interruption": "The next crisis or surplus is looked for at once",
    "DiscardQuestion.next_interruption": "The next company over the train limit is asked at once",
    "DiscardQuestion.bank_discards": "For a company without a president the bank discards the oldest train",
    "DiscardQuestion.scraps_obsolete": "A discarded obsolete train leaves the game",
    "Title.interrupt": "Surplus tokens and trains are looked for before each question",
    "GameLength.final_merger": "A merger round follows the last operating round",
    "end_by_stalemate": "The game may end by stalemate",
    "OperatingTurnQuestion.end_reason.site": "With `finish_on_400` the game ends as soon as the price is reached",
    "Title.scores.site": "Privates of a bankrupt player count at the end",
    "Title.train_counts": "Trains in the depot, where not the printed number",
    # components
    "Components.players": "Players",
    "Components.starting_cash": "Starting cash in dollars, by players",
    "Components.cert_limit": "Certificate limit, by players",
    "Components.cert_limits": "Certificate limits by companies left, then by players",
    "Components.phases": "Phases",
    "Components.tiles": "Tiles in the supply",
    "Components.upgrades": "Upgrades of tiles",
    "Components.trains": "Trains",
    "Components.companies": "Order in which companies discard",
    "Components.market": "Zones of the market, by row and column",
    "Components.reissue_prices": "Prices at which shares may be reissued",
    "Components.offboard_tokens": "Station tokens may be placed in off-board areas",
    "Components.privates_count_in_net_worth": "Privates count in the net worth at the end",
}
"""What each differing parameter means, as a statement that a yes or a value answers."""


NO_HOOKS = ("never", "do_nothing", "no_reason", "no_items")
"""Functions that stand for no rule at all."""


class Difference(NamedTuple):
    """A parameter (`Mechanic.name`) with its value by the book and on the site."""

    parameter: str
    book: object
    site: object


def differences(title: str) -> list[Difference]:
    """Where the two compositions of a title differ, each parameter once."""
    book, site = title_of(title), title_of(title, (SITE_CONVENTIONS,))
    found = [*_component_differences(book.components, site.components)]
    for field in dataclasses.fields(book):
        if field.name not in ("components", "options"):
            name = f"Title.{field.name}"
            found += _compare(name, getattr(book, field.name), getattr(site, field.name), set())
    return list({(each.parameter, _value(each.book), _value(each.site)): each for each in found}.values())


def _component_differences(book: Any, site: Any) -> Iterator[Difference]:
    for field in book.__struct_fields__:
        ours, theirs = getattr(book, field), getattr(site, field)
        if ours != theirs:
            yield Difference(f"Components.{field}", *_changed_entries(ours, theirs))


def _changed_entries(book: Any, site: Any) -> tuple[object, object]:
    """The parts of two components that differ, as plain values."""
    if isinstance(book, tuple) and any(isinstance(each, CompanyDefinition) for each in book):
        return [each.sym for each in book], [each.sym for each in site]
    if isinstance(book, tuple) and hasattr(book[0], "name"):
        by_name = [{each.name: each for each in side} for side in (book, site)]
        return _changed_entries(*by_name)
    if hasattr(book, "rows"):
        cells = [
            {
                f"row {row + 1}, column {column + 1}": " ".join(str(zone) for zone in cell.zones) or "none"
                for row, line in enumerate(side.rows)
                for column, cell in enumerate(line)
                if cell is not None
            }
            for side in (book, site)
        ]
        return _changed_entries(*cells)
    if isinstance(book, Mapping):
        keys = [key for key in {**book, **site} if book.get(key, ...) != site.get(key, ...)]
        return {k: book[k] for k in keys if k in book}, {k: site[k] for k in keys if k in site}
    return book, site


def _compare(name: str, book: Any, site: Any, seen: set[int]) -> Iterator[Difference]:
    """Differences of two values of a parameter, and of whatever mechanics they consist of."""
    if id(book) in seen:
        return
    seen = {*seen, id(book)}
    if isinstance(book, tuple | list) and any(map(_is_mechanic, (*book, *site))):
        yield from _compare_lists(book, site, seen)
    elif isinstance(book, dict) and any(map(_is_mechanic, book.values())):
        for key in book:
            yield from _compare(name, book[key], site[key], seen)
    elif _is_mechanic(book) and type(book) is type(site) and not _is_function(book):
        for field, value in _fields(book).items():
            yield from _compare(f"{type(book).__name__}.{field}", value, _fields(site)[field], seen)
    elif _is_function(book) and _is_function(site) and _label(book) == _label(site):
        yield from _compare_closures(name, book, site, seen)
    elif book != site:
        hooks = [None if each is None or _label(each) in NO_HOOKS else each for each in (book, site)]
        if None in hooks and any(map(_is_function, hooks)):
            book, site = (hook is not None for hook in hooks)
        yield Difference(name, book, site)


def _compare_lists(book: Any, site: Any, seen: set[int]) -> Iterator[Difference]:
    """Steps or other mechanics: those of one side only, and differences of those of both."""
    labels = [[_label(each) for each in side] for side in (book, site)]
    for label in dict.fromkeys((*labels[0], *labels[1])):
        counts = [side.count(label) for side in labels]
        if counts[0] != counts[1]:
            yield Difference(label, counts[0] > counts[1], counts[1] > counts[0])
        else:
            pairs = zip(
                [each for each in book if _label(each) == label],
                [each for each in site if _label(each) == label],
                strict=True,
            )
            for one, other in pairs:
                yield from _compare(label, one, other, seen)


def _compare_closures(name: str, book: Any, site: Any, seen: set[int]) -> Iterator[Difference]:
    variables = [_closure(each) for each in (book, site)]
    for variable in variables[0]:
        values = [side.get(variable) for side in variables]
        if _is_function(values[0]) or isinstance(values[0], str | int | bool | list | None):
            for each in _compare(name, values[0], values[1], seen):
                yield each if each.parameter != name else each._replace(parameter=f"{name}.{variable}")
    if isinstance(book, partial) != isinstance(site, partial):
        yield Difference(name, isinstance(book, partial), isinstance(site, partial))


def _closure(function: Any) -> dict[str, Any]:
    """The variables of the enclosing function that a function uses."""
    cells = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if cells else ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _is_function(value: Any) -> bool:
    """Whether a value is a function and not a mechanic with parameters."""
    return (callable(value) and hasattr(value, "__qualname__")) or isinstance(value, partial)


def _is_mechanic(value: Any) -> bool:
    return type(value).__module__.startswith("engine.") or _is_function(value)


def _fields(mechanic: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(mechanic):
        return {f.name: getattr(mechanic, f.name) for f in dataclasses.fields(mechanic)}
    if isinstance(mechanic, msgspec.Struct):
        return {f: getattr(mechanic, f) for f in mechanic.__struct_fields__}
    return dict(getattr(mechanic, "__dict__", {}))


def _label(value: Any) -> str:
    if isinstance(value, partial):
        return _label(value.func)
    return value.__qualname__.partition(".<locals>")[0] if _is_function(value) else type(value).__name__


def _value(value: object) -> str:
    """A value of a parameter in words."""
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "–"
        case Enum():
            return str(value.value)
        case msgspec.Struct():
            return _limit(value.count) if isinstance(value, TrainDefinition) else "yes"
        case Mapping():
            return ", ".join(f"{_value(k)}: {_limit(v)}" for k, v in value.items()) or "–"
        case tuple() | list():
            return ", ".join(map(_value, value)) or "–"
        case _ if _is_function(value):
            return f"`{_label(value).rpartition('.')[2]}`"
    return str(value)


def _limit(value: object) -> str:
    return "unlimited" if value is None else _value(value)


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title in title_names():
        parts.append(f"## {title}\n")
        rows = [
            f"| {WORDS[each.parameter]} | {_value(each.book)} | {_value(each.site)} | `{each.parameter}` |"
            for each in differences(title)
        ]
        if rows:
            parts.append(
                "\n".join(["| | rulebook | 18xx.games | parameter |", "|---|---|---|---|", *rows, ""])
            )
        else:
            parts.append("18xx.games does not have this title. The option changes nothing.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
