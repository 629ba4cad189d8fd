"""1851: the mechanics that it is made of.

18xx.games does not have this title, so the site's conventions change nothing here.
"""

from __future__ import annotations

import msgspec

from engine.board.route_graph import RevenueRules
from engine.core.actions import BuyTrain
from engine.core.components import Components, components_of
from engine.core.state import (
    IPO,
    POOL,
    TREASURY,
    AnyFrame,
    Discard,
    GameOver,
    OperatingRound,
    OperatingTurn,
    ParPriceChoice,
    PrivateAllotment,
    RevenueClaim,
    StockRound,
    StockTurn,
)
from engine.finance.market import drop_price
from engine.finance.offers import OfferResponses
from engine.finance.share_sales import refuse_sale_before_first_turn
from engine.game import GameTitle
from engine.mechanics import never
from engine.opening.allotment import PrivateAllotmentRules, deal_privates
from engine.opening.waterfall import ParPriceQuestion
from engine.operating.dividends import DividendStep
from engine.operating.emergency_purchase import EmergencyPurchase
from engine.operating.revenue_claims import RevenueClaimQuestion, open_claim
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, ask_for_home_cities
from engine.operating.track import TrackStep, refuse_unused_plain_track
from engine.operating.train_purchase import TrainStep, TrainTradeConventions, train_deal_handler
from engine.operating.trains import DiscardQuestion
from engine.operating.turn import OperatingTurnQuestion
from engine.rounds.sequence import (
    GameOverRules,
    OperatingRoundRules,
    StockRoundRules,
    final_scores,
    start_first_stock_round,
)
from engine.stock.company_start import Capitalization
from engine.stock.treasury_shares import ShareIssueStep
from engine.stock.turn import StockTurnQuestion
from engine.title import SITE_CONVENTIONS, validated_options

CLAIMS, JOHNSON_CITY_FALLING = "claims", "johnson_city_falling"
OPTIONS = (SITE_CONVENTIONS, CLAIMS, JOHNSON_CITY_FALLING)

ROUTE_TERMS = RevenueRules(offboard_pair_bonus=10)

SECTIONS = {
    "1830 §4": "1851 Stock Rounds",
    "1830 §7": "1851 Setting Up the Game",
    "1830 §8": "1851 Buying Stock",
    "1830 §8.1": "1851 Buying Stock",
    "1830 §8.2": "1851 Buying Stock",
    "1830 §10": "1851 Buying Stock",
    "1830 Table 3": "1851 Buying Stock",
    "1830 §11": "1851 Buying Stock",
    "1830 §12": "1851 Selling Stock",
    "1830 §12.1": "1851 Selling Stock",
    "1830 §12.2": "1851 Selling Stock",
    "1830 §13": "1851 Selling Stock",
    "1830 §15": "1851 Buying Stock",
    "1830 §16": "1851 Operating Rounds",
    "1830 §17": "1851 Operating Rounds",
    "1830 §18": "1851 Lay or Upgrade Track",
    "1830 §18.1": "1851 Lay or Upgrade Track",
    "1830 Table 6": "1851 Lay or Upgrade Track",
    "1830 Table 7": "1851 Lay or Upgrade Track",
    "1830 §19": "1851 Place Station Marker",
    "1830 §19.1": "1851 Place Station Marker",
    "1830 §20.1": "1851 Routes",
    "1830 §20.2": "1851 Purchase Trains",
    "1830 §20.3": "1851 Run Trains, Pay Dividends",
    "1830 §21": "1851 Purchase Trains",
    "1830 §22": "1851 Phases",
    "1830 §24": "1851 Purchase Trains",
    "1830 §24.2": "1851 Purchase Trains",
    "1830 §24.3": "1851 Purchase Trains",
    "1830 §24.6": "1851 Purchase Trains",
    "1830 §25": "1851 Ending the Game",
}
"""Where the rulebook, whose chapters have no numbers, has the rules for which mechanics cite 1830."""

QUESTION_SECTIONS: dict[type[AnyFrame], str] = {
    ParPriceChoice: "1851 Buying Stock",
    StockTurn: "1851 Stock Rounds",
    OperatingTurn: "1851 Operating Rounds",
    RevenueClaim: "1851 Run Trains",
    Discard: "1851 Purchase Trains",
    GameOver: "1851 Ending the Game",
}
"""Where the rulebook describes what each kind of frame asks."""


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = validated_options(OPTIONS, options)
    claims = CLAIMS in options
    train_trade = TrainTradeConventions(
        emergency=EmergencyPurchase(
            president_helps_between_companies=False, sells_at_first_price=True, bankrupt_loses_cash=False
        ),
        face_value_between_presidents=True,
        discards_in_operating_order=True,
    )
    run = RunStep(best_only=False, after_run=open_claim) if claims else RunStep()
    return GameTitle(
        components=with_johnson_city_falling(components_of("1851"))
        if JOHNSON_CITY_FALLING in options
        else components_of("1851"),
        options=options,
        opening=deal_privates,
        questions={
            PrivateAllotment: PrivateAllotmentRules(next_round=start_first_stock_round),
            ParPriceChoice: ParPriceQuestion(),
            StockRound: StockRoundRules(),
            StockTurn: StockTurnQuestion(
                also_blocks=never,
                sale_timing="before",
                sources=(IPO, POOL, TREASURY),
                first_sale_round=1,
                sells_at_first_price=True,
            ),
            OperatingRound: OperatingRoundRules("track", "president", finish_set=False),
            OperatingTurn: OperatingTurnQuestion(
                (
                    TrackStep(also_blocks=never, after_lay=ask_for_home_cities),
                    TokenStep(),
                    run,
                    DividendStep(half_rounding=10, pays_pool_shares=False, rise_needs_price=True),
                    TrainStep(also_blocks=None, conventions=train_trade),
                    ShareIssueStep(),
                )
            ),
            RevenueClaim: RevenueClaimQuestion(),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=(OfferResponses({BuyTrain: train_deal_handler(train_trade)}),),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=True),
        flotation=Capitalization(
            paid_shares=5, fee=100, rest_to_treasury=True, places_home=True, price_rows_up=1
        ),
        after_sale=drop_price,
        revenue_rules=lambda g, company: ROUTE_TERMS,
        sale_objections=(refuse_sale_before_first_turn,),
        lay_objections=(refuse_unused_plain_track,),
        sections=SECTIONS,
        section_of=lambda frame: QUESTION_SECTIONS[type(frame)],
    )


def with_johnson_city_falling(components: Components) -> Components:
    """The components with a Johnson City that is worth most at the beginning."""
    hexes = components.map.hexes
    city = msgspec.structs.replace(hexes["E23"].nodes[0], revenue={"2": 40, "4": 30, "6": 30})
    changed = hexes | {"E23": msgspec.structs.replace(hexes["E23"], nodes=(city,))}
    return msgspec.structs.replace(components, map=msgspec.structs.replace(components.map, hexes=changed))
