"""1870: the mechanics that it is made of, by the rulebook and by the conventions of 18xx.games.

Each place where the site differs from the book is a parameter here, or a difference of the printed
components, so this file is the list of the differences (`docs/conventions.md` shows them in words). The
rule is the designer's book. The site follows the publisher's edition and has options that bring back the
designer's rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.board.tile_geometry import Stop
from engine.core.actions import BuyTrain, RedeemShare, TradePrivate
from engine.core.components import Components, components_of
from engine.core.hooks import never, no_reason
from engine.core.state import (
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
from engine.opening.waterfall import (
    ParPriceQuestion,
    WaterfallBiddersQuestion,
    WaterfallQuestion,
)
from engine.operating.connection_runs import (
    ConnectionChoiceStep,
    ConnectionDividendStep,
    DestinationTokenStep,
    PostponedConnectionRuns,
    connection_runs_between_turns,
)
from engine.operating.discard import DiscardQuestion
from engine.operating.dividends import DividendStep
from engine.operating.emergency_purchase import EmergencyPurchase
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, ask_for_home_cities
from engine.operating.track import (
    TrackStep,
    refuse_river_crossing,
    refuse_useless_upgrade,
)
from engine.operating.train_purchase import TrainStep, TrainTradeConventions, train_deal_handler
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
from engine.rounds.game_end import (
    LAST_STOCK_ROUND_ON_SITE,
    end_at_price,
    end_by_stalemate,
    final_scores,
)
from engine.rounds.sequence import (
    GameOverRules,
    OperatingRoundRules,
    StockRoundRules,
    start_first_stock_round,
)
from engine.stock.floating import Capitalization
from engine.stock.historical_order import refuse_purchase_out_of_order
from engine.stock.price_protection import (
    PriceProtectionQuestion,
    StandingProtectionOrders,
    ask_at_once_if_forced,
    defer_price_fall,
)
from engine.stock.treasury_shares import TreasuryShares
from engine.stock.turn import StockTurnQuestion
from engine.title import SITE_CONVENTIONS, validated_options
from engine.titles.t1870.components import site_components, with_diesels, with_historical_order
from engine.titles.t1870.sections import SECTIONS

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


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = validated_options(OPTIONS, options)
    site = SITE_CONVENTIONS in options
    if not site and (extra := [o for o in options if o in ("original_rules", *ORIGINAL_RULES)]):
        raise ValueError(
            f"{extra[0]} is an option of the {SITE_CONVENTIONS}; the rulebook is played so anyway."
        )

    def original(option: str) -> bool:
        return not site or option in options or "original_rules" in options

    components = components_of("1870")
    if site:
        components = site_components(components, original)
    if "historical_order" in options:
        components = with_historical_order(components)
    if "diesels" in options:
        components = with_diesels(components, last="D" if site else "6", unlimited=site)
    extra_slots, tokens_add_city_slots = None, False
    if site and original("station_wars"):
        extra_slots, tokens_add_city_slots = added_slots_and_offboard_destinations, True
    elif site or "non_blocking_tokens" in options:
        extra_slots = destination_token_slots
    train_trade = TrainTradeConventions(
        emergency=EmergencyPurchase(
            president_helps_between_companies=False,
            bank_only_after_sale=site,
            bankrupt_sells_all=site,
            one_block_per_company=True,
            certificate_limit_first=not site,
            whole_certificates=site,
        ),
        only_in_train_step=site,
    )
    bridges = BridgeDiscounts(beyond_normal_lays=site)

    def required_sales(g: Game, turn: StockTurn) -> list[str]:
        return stock_turn.required_sales(g, turn) if site else []

    private_deals = PrivateDeals(
        seller_may_offer=not site,
        replaces_share_purchase=True,
        in_forced_purchase=False,
        min_price=1,
        in_buyers_turn=True,
        from_phase="2" if site else None,
        certificate_limit_applies=not site,
        share_follows=site,
        required_sales=required_sales,
    )
    city_tokens = CityTokens()
    treasury = TreasuryShares(
        reissue_after_trades=site, ordinary_share_only=site, one_reissue_per_round=not site
    )
    end_by_price = end_at_price(FINISH_PRICE) if "finish_on_400" in options else None
    end_reasons = [e for e in (end_by_price, None if site else end_by_stalemate) if e is not None]

    def has_more_to_do(g: Game, turn: OperatingTurn) -> bool:
        return may_buy_in_first_phase(g, turn) or city_tokens.has_unused_token(g, turn)

    def end_reason(g: Game) -> str | None:
        return next((why for end in end_reasons if (why := end(g))), None)

    def end_reason_at_once(g: Game) -> str | None:
        return end_by_price(g) if end_by_price and site else None

    stock_turn = StockTurnQuestion(
        also_blocks=private_deals.justifies_turn,
        multiple_from_ipo=False,
        multiple_of_one_company=True,
        extra_actions=(treasury,) if site else (treasury, OpenMarketPurchase()),
        one_block_per_company=True,
        multiple_after_private=site,
        extra_actions_block=not site,
        extra_actions_over_limit=site,
        sell_any_over_limit=site,
        holds_back_reissue_money=not site,
        purchase_refusal=refuse_purchase_out_of_order if "historical_order" in options else no_reason,
    )
    return GameTitle(
        components=components,
        options=options,
        opening=lambda g, draw: Waterfall(current_seat=g.state.seats[0]),
        questions={
            Waterfall: WaterfallQuestion(next_round=start_first_stock_round, any_price=site, defer_par=site),
            WaterfallBidding: WaterfallBiddersQuestion(clockwise=not site, defer_par=site),
            ParPriceChoice: ParPriceQuestion(),
            StockRound: StockRoundRules(
                end_reason=end_reason,
                count_treasury=True,
                last_round=LAST_STOCK_ROUND_ON_SITE if site else None,
            ),
            StockTurn: stock_turn,
            PriceProtection: PriceProtectionQuestion(
                after_own_sale=original("can_protect_if_sold"),
                seller_after_forced_sale=site and not original("can_protect_if_sold"),
                delays_closing=site,
                defers_after_closing=site,
            ),
            OperatingRound: OperatingRoundRules(
                "track",
                "president",
                interruption=connection_runs_between_turns(
                    "destination" if site else "connect",
                    after_closing=not site,
                    in_turn_order=site,
                    keeps_list=site,
                ),
                fix_first_company=site,
                end_reason=end_reason,
            ),
            OperatingTurn: OperatingTurnQuestion(
                (
                    TrackStep(
                        also_blocks=bridges.has_lay,
                        after_lay=ask_for_home_cities,
                        always_asked=site,
                        stays_open=bridges.is_obtainable if site else never,
                    ),
                    TokenStep(),
                    RunStep(best_only=not site, allows_claims=site),
                    DividendStep(
                        half_rounding=10,
                        pays_pool_shares=False,
                        pays_ipo_shares=True,
                        half_price_move="not" if site else "under",
                    ),
                    TrainStep(also_blocks=None if site else can_buy_private, conventions=train_trade),
                    *([PrivatePurchaseStep(also_blocks=has_more_to_do)] if site else []),
                ),
                end_reason=end_reason_at_once,
            ),
            ConnectionRunTurn: OperatingTurnQuestion(
                (
                    *([] if site else [ConnectionChoiceStep()]),
                    DestinationTokenStep(
                        begins_run=site, allows_swap=not site, takes_city_slot=tokens_add_city_slots
                    ),
                    RunStep(best_only=not site, allows_claims=site),
                    ConnectionDividendStep(market.right if site else market.up),
                ),
                end_reason=end_reason_at_once,
            ),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=(
            OfferResponses(
                {
                    TradePrivate: private_deals.deal_handler(),
                    BuyTrain: train_deal_handler(train_trade),
                    RedeemShare: treasury.deal_handler(),
                },
                except_during=(PriceProtection,),
            ),
            bridges,
            city_tokens,
            private_deals,
            StandingProtectionOrders(),
            *([] if site else [PostponedConnectionRuns()]),
        ),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=True),
        flotation=Capitalization(),
        sections=SECTIONS,
        after_sale=defer_price_fall if site else ask_at_once_if_forced,
        after_price_move=(close_in_closing_zone(privates_to_pool=not site),),
        revenue_rules=revenue_rules,
        lay_objections=(
            refuse_river_crossing,
            refuse_useless_upgrade,
            *([refuse_upgrade_of_new_home] if site else []),
        ),
        extra_slots=extra_slots,
        must_sell_excess=False,
        follows_granted_certificates=site,
        private_treasuries="private_treasuries" in options,
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
