"""1870: the mechanics that it is made of, by the rulebook and by the conventions of 18xx.games.

Each place where the site differs from the book is a parameter here, or a difference of the printed
components, so this file is the list of the differences (`docs/conventions.md` shows them in words). The
rule is the designer's book. The site follows the publisher's edition and has options that bring back the
designer's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from engine.board.tile_geometry import Stop
from engine.core.actions import BuyTrain, RedeemShare, TradePrivate
from engine.core.components import Components, components_of
from engine.core.state import (
    AnyFrame,
    ConnectionRunTurn,
    Discard,
    GameOver,
    OperatingRound,
    OperatingTurn,
    ParPriceChoice,
    PriceProtection,
    State,
    StockRound,
    StockTurn,
    Waterfall,
    WaterfallBidding,
)
from engine.finance import market
from engine.finance.offers import OfferResponses
from engine.game import Game, GameTitle
from engine.insolvency.closing import close_in_closing_zone
from engine.mechanics import OutOfTurn, Question, never, no_items, no_reason
from engine.opening.waterfall import ParPriceQuestion, WaterfallBiddersQuestion, WaterfallQuestion
from engine.operating.connection_runs import (
    ConnectionChoiceStep,
    ConnectionDividendStep,
    DestinationTokenStep,
    PostponedConnectionRuns,
    connection_runs_between_turns,
)
from engine.operating.dividends import DividendStep
from engine.operating.emergency_purchase import EmergencyPurchase
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, ask_for_home_cities
from engine.operating.track import TrackStep, refuse_river_crossing, refuse_useless_upgrade
from engine.operating.train_purchase import TrainStep, TrainTradeConventions, train_deal_handler
from engine.operating.trains import DiscardQuestion
from engine.operating.turn import OperatingTurnQuestion
from engine.private_companies.bridge_discount import BridgeDiscounts, refuse_upgrade_of_new_home
from engine.private_companies.city_tokens import CityTokens, revenue_rules
from engine.private_companies.sales import (
    OpenMarketPurchase,
    PrivateDeals,
    PrivatePurchaseStep,
    can_buy_private,
    may_buy_in_first_phase,
)
from engine.rounds.sequence import (
    LAST_STOCK_ROUND_ON_SITE,
    GameOverRules,
    OperatingRoundRules,
    StockRoundRules,
    end_at_price,
    end_by_stalemate,
    final_scores,
    start_first_stock_round,
)
from engine.stock.company_start import Capitalization, refuse_purchase_out_of_order
from engine.stock.price_protection import (
    PriceProtectionQuestion,
    StandingProtectionOrders,
    ask_at_once_if_forced,
    defer_price_fall,
)
from engine.stock.treasury_shares import TreasuryShares
from engine.stock.turn import StockTurnQuestion, required_sales
from engine.title import SITE_CONVENTIONS, validated_options
from engine.titles.t1870.components import site_components, with_diesels, with_historical_order

ORIGINAL_RULES = (
    "can_protect_if_sold",
    "max_reissue_200",
    "original_market",
    "original_tiles",
    "station_wars",
)
OPTIONS = (
    SITE_CONVENTIONS,
    "finish_on_400",
    "diesels",
    "historical_order",
    "non_blocking_tokens",
    "private_treasuries",
    "original_rules",
    *ORIGINAL_RULES,
)
FINISH_PRICE = 400
"""The price that ends the game (1870 §16.1)."""


SECTIONS = {
    "1830 §4": "1870 §5.3",
    "1830 §7.1": "1870 §5.7",
    "1830 §7.2": "1870 §5.7",
    "1830 §8": "1870 §5.5",
    "1830 §8.1": "1870 §5.5",
    "1830 §10": "1870 §5.4",
    "1830 Table 3": "1870 §5.4.1",
    "1830 §12": "1870 §5.3.3",
    "1830 §12.1": "1870 §5.7",
    "1830 §12.2": "1870 §5.4.2",
    "1830 §13": "1870 §5.6",
    "1830 §15": "1870 §5.3.1",
    "1830 §17": "1870 §4.1",
    "1830 §18": "1870 §6",
    "1830 Table 6": "1870 §6.6",
    "1830 Table 7": "1870 §2.5",
    "1830 §19": "1870 §7.3",
    "1830 §20.1": "1870 §8.1",
    "1830 §20.2": "1870 §10.1",
    "1830 §20.3": "1870 §8.3",
    "1830 §21": "1870 §10",
    "1830 §22": "1870 §4.2",
    "1830 §23.1": "1870 §12.1",
    "1830 §24": "1870 §10.6",
    "1830 §24.2": "1870 §10.6",
    "1830 §24.3": "1870 §10.6.2",
    "1830 §24.6": "1870 §13.1",
}
"""Where the rulebook of 1870 has the rules for which mechanics cite 1830."""

QUESTION_SECTIONS: dict[type[AnyFrame], str] = {
    Waterfall: "1870 §5.7",
    WaterfallBidding: "1870 §5.7",
    ParPriceChoice: "1870 §5.5",
    StockTurn: "1870 §5.3",
    PriceProtection: "1870 §5.9",
    OperatingTurn: "1870 §4.1",
    ConnectionRunTurn: "1870 §11.4",
    Discard: "1870 §10.2.1",
    GameOver: "1870 §13",
}
"""Where the rulebook describes what each kind of frame asks."""

Questions: TypeAlias = dict[type[AnyFrame], Question[Game, Any]]
ExtraSlots: TypeAlias = Callable[[Components, State], Mapping[Stop, int]]


@dataclass(frozen=True)
class _Variant:
    """The options of a table: whether it plays as the site does, and what is as in the designer's rules."""

    options: tuple[str, ...]

    @property
    def site(self) -> bool:
        return SITE_CONVENTIONS in self.options

    def original(self, option: str) -> bool:
        return not self.site or option in self.options or "original_rules" in self.options


class _Deals(NamedTuple):
    """Mechanics of purchases that serve in turns and out of turn."""

    trains: TrainTradeConventions
    privates: PrivateDeals
    treasury: TreasuryShares
    bridges: BridgeDiscounts
    city_tokens: CityTokens


class _Endings(NamedTuple):
    """Why the game is over between turns and rounds, and in the middle of a turn."""

    reason: Callable[[Game], str | None]
    reason_at_once: Callable[[Game], str | None]


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = validated_options(OPTIONS, options)
    v = _Variant(options)
    if not v.site and (extra := [o for o in options if o in ("original_rules", *ORIGINAL_RULES)]):
        raise ValueError(
            f"{extra[0]} is an option of the {SITE_CONVENTIONS}; the rulebook is played so anyway."
        )
    deals, endings = _deals(v), _endings(v)
    station_wars = v.site and v.original("station_wars")
    if station_wars:
        extra_slots: ExtraSlots | None = added_slots_and_offboard_destinations
    else:
        extra_slots = destination_token_slots if v.site or "non_blocking_tokens" in options else None
    return GameTitle(
        components=_components(v),
        options=options,
        opening=lambda g, draw: Waterfall(current_seat=g.state.seats[0]),
        questions={
            Waterfall: WaterfallQuestion(
                next_round=start_first_stock_round, any_price=v.site, defer_par=v.site
            ),
            WaterfallBidding: WaterfallBiddersQuestion(clockwise=not v.site, defer_par=v.site),
            ParPriceChoice: ParPriceQuestion(),
            **_stock(v, deals, endings),
            **_operating(v, deals, endings),
            ConnectionRunTurn: _connection_runs(v, endings, takes_city_slot=station_wars),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=_out_of_turn(v, deals),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=True),
        flotation=Capitalization(),
        sections=SECTIONS,
        section_of=lambda frame: QUESTION_SECTIONS[type(frame)],
        after_sale=defer_price_fall if v.site else ask_at_once_if_forced,
        after_price_move=(close_in_closing_zone(privates_to_pool=not v.site),),
        revenue_rules=revenue_rules,
        lay_objections=(
            refuse_river_crossing,
            refuse_useless_upgrade,
            *([refuse_upgrade_of_new_home] if v.site else []),
        ),
        extra_slots=extra_slots,
        must_sell_excess=False,
        follows_granted_certificates=v.site,
        private_treasuries="private_treasuries" in options,
    )


def _components(v: _Variant) -> Components:
    components = components_of("1870")
    if v.site:
        components = site_components(components, v.original)
    if "historical_order" in v.options:
        components = with_historical_order(components)
    if "diesels" in v.options:
        components = with_diesels(components, last="D" if v.site else "6", unlimited=v.site)
    return components


def _deals(v: _Variant) -> _Deals:
    return _Deals(
        TrainTradeConventions(
            emergency=EmergencyPurchase(
                president_helps_between_companies=False,
                bank_only_after_sale=v.site,
                bankrupt_sells_all=v.site,
                one_block_per_company=True,
                certificate_limit_first=not v.site,
                limits_leftover=not v.site,
                whole_certificates=v.site,
            ),
            only_in_train_step=v.site,
            trade_in_for_pool=v.site,
        ),
        PrivateDeals(
            seller_may_offer=not v.site,
            replaces_share_purchase=True,
            in_forced_purchase=False,
            min_price=1,
            in_buyers_turn=True,
            from_phase="2" if v.site else None,
            certificate_limit_applies=not v.site,
            share_follows=v.site,
            required_sales=required_sales if v.site else no_items,
        ),
        TreasuryShares(
            reissue_after_trades=v.site, ordinary_share_only=v.site, one_reissue_per_round=not v.site
        ),
        BridgeDiscounts(beyond_normal_lays=v.site),
        CityTokens(),
    )


def _endings(v: _Variant) -> _Endings:
    site = v.site
    end_by_price = end_at_price(FINISH_PRICE) if "finish_on_400" in v.options else None
    end_reasons = [e for e in (end_by_price, None if site else end_by_stalemate) if e is not None]

    def end_reason(g: Game) -> str | None:
        return next((why for end in end_reasons if (why := end(g))), None)

    def end_reason_at_once(g: Game) -> str | None:
        return end_by_price(g) if end_by_price and site else None

    return _Endings(end_reason, end_reason_at_once)


def _stock(v: _Variant, deals: _Deals, endings: _Endings) -> Questions:
    """Stock rounds and turns, and price protection."""
    in_order = "historical_order" in v.options
    return {
        StockRound: StockRoundRules(
            end_reason=endings.reason,
            count_treasury=True,
            last_round=LAST_STOCK_ROUND_ON_SITE if v.site else None,
        ),
        StockTurn: StockTurnQuestion(
            also_blocks=deals.privates.justifies_turn,
            multiple_from_ipo=False,
            multiple_of_one_company=True,
            extra_actions=(deals.treasury,) if v.site else (deals.treasury, OpenMarketPurchase()),
            one_block_per_company=True,
            multiple_after_private=v.site,
            extra_actions_block=not v.site,
            extra_actions_over_limit=v.site,
            sell_any_over_limit=v.site,
            holds_back_reissue_money=not v.site,
            purchase_refusal=refuse_purchase_out_of_order if in_order else no_reason,
        ),
        PriceProtection: PriceProtectionQuestion(
            after_own_sale=v.original("can_protect_if_sold"),
            seller_after_forced_sale=v.site and not v.original("can_protect_if_sold"),
            delays_closing=v.site,
            defers_after_closing=v.site,
        ),
    }


def _operating(v: _Variant, deals: _Deals, endings: _Endings) -> Questions:
    """Operating rounds, and the steps of an operating turn."""
    interruption = connection_runs_between_turns(
        "destination" if v.site else "connect",
        after_closing=not v.site,
        in_turn_order=v.site,
        keeps_list=v.site,
    )
    track = TrackStep(
        also_blocks=deals.bridges.has_lay,
        after_lay=ask_for_home_cities,
        always_asked=v.site,
        stays_open=deals.bridges.is_obtainable if v.site else never,
    )
    dividend = DividendStep(
        half_rounding=10,
        pays_pool_shares=False,
        pays_ipo_shares=True,
        half_price_move="not" if v.site else "under",
    )
    trains = TrainStep(also_blocks=None if v.site else can_buy_private, conventions=deals.trains)
    return {
        OperatingRound: OperatingRoundRules(
            "track",
            "president",
            interruption=interruption,
            fix_first_company=v.site,
            end_reason=endings.reason,
        ),
        OperatingTurn: OperatingTurnQuestion(
            (
                track,
                TokenStep(),
                RunStep(best_only=not v.site, allows_claims=v.site),
                dividend,
                trains,
                *_private_step(v, deals),
            ),
            end_reason=endings.reason_at_once,
        ),
    }


def _private_step(v: _Variant, deals: _Deals) -> tuple[PrivatePurchaseStep, ...]:
    """The step in which companies buy privates on the site; by the book they do so beside the trains."""
    if not v.site:
        return ()

    def has_more_to_do(g: Game, turn: OperatingTurn) -> bool:
        return may_buy_in_first_phase(g, turn) or deals.city_tokens.has_unused_token(g, turn)

    return (PrivatePurchaseStep(also_blocks=has_more_to_do),)


def _connection_runs(v: _Variant, endings: _Endings, *, takes_city_slot: bool) -> OperatingTurnQuestion:
    """The steps of a connection run."""
    return OperatingTurnQuestion(
        (
            *([] if v.site else [ConnectionChoiceStep()]),
            DestinationTokenStep(begins_run=v.site, allows_swap=not v.site, takes_city_slot=takes_city_slot),
            RunStep(best_only=not v.site, allows_claims=v.site),
            ConnectionDividendStep(market.right if v.site else market.up),
        ),
        end_reason=endings.reason_at_once,
    )


def _out_of_turn(v: _Variant, deals: _Deals) -> tuple[OutOfTurn[Game, Any], ...]:
    responses = OfferResponses(
        {
            TradePrivate: deals.privates.deal_handler(),
            BuyTrain: train_deal_handler(deals.trains),
            RedeemShare: deals.treasury.deal_handler(),
        },
        except_during=(PriceProtection,),
    )
    return (
        responses,
        deals.bridges,
        deals.city_tokens,
        deals.privates,
        StandingProtectionOrders(),
        *([] if v.site else [PostponedConnectionRuns()]),
    )


def added_slots_and_offboard_destinations(components: Components, state: State) -> Mapping[Stop, int]:
    """Slots added to cities, and one for each destination token in an off-board area."""
    slots = {(hex, 0): count for hex, count in state.added_slots.items()}
    for hex in state.destination_tokens.values():
        if components.map.hexes[hex].nodes[0].kind != "city":
            slots[hex, 0] = slots.get((hex, 0), 0) + 1
    return slots


def destination_token_slots(components: Components, state: State) -> Mapping[Stop, int]:
    """Destination tokens take no place of the city in which they stand (1870 §16.4)."""
    return {
        (hex, 0): sum(there == hex for there in state.destination_tokens.values())
        for hex in state.destination_tokens.values()
    }
