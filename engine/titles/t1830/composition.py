"""1830: the mechanics that it is made of, by the rulebook and by the conventions of 18xx.games.

Each place where the site differs from the book is a parameter here, so this file is the list of the
differences (`docs/conventions.md` shows them in words).
"""

from __future__ import annotations

from engine.core.actions import BuyTrain, TradePrivate
from engine.core.components import components_of
from engine.core.state import (
    AnyFrame,
    Discard,
    FreeToken,
    GameOver,
    HomeToken,
    OperatingRound,
    OperatingTurn,
    ParPriceChoice,
    StockRound,
    StockTurn,
    Waterfall,
    WaterfallBidding,
)
from engine.finance.market import drop_price
from engine.finance.offers import OfferResponses
from engine.game import GameTitle
from engine.mechanics import never, no_items
from engine.opening.waterfall import ParPriceQuestion, WaterfallBiddersQuestion, WaterfallQuestion
from engine.operating.dividends import DividendStep
from engine.operating.emergency_purchase import EmergencyPurchase
from engine.operating.run import RunStep
from engine.operating.stations import HomeTokenQuestion, TokenStep, ask_for_home_cities
from engine.operating.track import TrackStep
from engine.operating.train_purchase import TrainStep, TrainTradeConventions, train_deal_handler
from engine.operating.trains import DiscardQuestion
from engine.operating.turn import OperatingTurnQuestion
from engine.private_companies.abilities import FreeTokenQuestion, ShareExchanges, TileAbilities
from engine.private_companies.sales import PrivateDeals, PrivatePurchaseStep, can_buy_private
from engine.rounds.sequence import (
    LAST_STOCK_ROUND_ON_SITE,
    GameOverRules,
    OperatingRoundRules,
    StockRoundRules,
    final_scores,
    start_first_stock_round,
)
from engine.stock.company_start import Capitalization
from engine.stock.turn import StockTurnQuestion, required_sales
from engine.title import SITE_CONVENTIONS, validated_options

OPTIONS = (SITE_CONVENTIONS, "multiple_brown_from_ipo", "optional_6_train")

QUESTION_SECTIONS: dict[type[AnyFrame], str] = {
    Waterfall: "1830 §7.1",
    WaterfallBidding: "1830 §7.2",
    ParPriceChoice: "1830 §8.1",
    StockTurn: "1830 §4",
    OperatingTurn: "1830 §17",
    FreeToken: "1830 Table 1.2",
    HomeToken: "1830 §19.1",
    Discard: "1830 §21",
    GameOver: "1830 §25",
}
"""Where the rulebook describes what each kind of frame asks."""


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = validated_options(OPTIONS, options)
    site = SITE_CONVENTIONS in options
    components = components_of("1830")
    tile_abilities = TileAbilities()
    train_trade = TrainTradeConventions(
        emergency=EmergencyPurchase(
            president_always_helps=site,
            last_sale_needed=site,
            bankrupt_sells_all=site,
            whole_certificates=site,
        ),
        only_in_train_step=site,
        trade_in_for_pool=site,
    )

    private_deals = PrivateDeals(
        seller_may_offer=not site,
        replaces_share_purchase=site,
        in_forced_purchase=not site,
        min_price=1 if site else 0,
        company_ban_applies=site,
        certificate_limit_applies=not site,
        share_follows=site,
        required_sales=required_sales if site else no_items,
    )
    stock_turn = StockTurnQuestion(
        also_blocks=private_deals.justifies_turn,
        sale_timing="around" if site else "before or after",
        multiple_from_ipo=not site or "multiple_brown_from_ipo" in options,
        multiple_of_one_company=site,
        multiple_after_private=site,
        sell_any_over_limit=site,
    )
    train_counts: dict[str, int | None] = {}
    if site:
        train_counts["D"] = None
    if "optional_6_train" in options:
        train_counts["6"] = 3
    return GameTitle(
        components=components,
        options=options,
        opening=lambda g, draw: Waterfall(current_seat=g.state.seats[0]),
        questions={
            Waterfall: WaterfallQuestion(
                next_round=start_first_stock_round, any_price=site, unsold_ends_round=not site
            ),
            WaterfallBidding: WaterfallBiddersQuestion(),
            ParPriceChoice: ParPriceQuestion(),
            StockRound: StockRoundRules(last_round=LAST_STOCK_ROUND_ON_SITE if site else None),
            StockTurn: stock_turn,
            OperatingRound: OperatingRoundRules("track", "layer" if site else "president"),
            OperatingTurn: OperatingTurnQuestion(
                (
                    TrackStep(
                        also_blocks=tile_abilities.has_replacing_lay if site else tile_abilities.has_lay,
                        after_lay=ask_for_home_cities,
                        always_asked=site,
                        stays_open=never if site else tile_abilities.has_lay,
                    ),
                    TokenStep(),
                    RunStep(best_only=not site, allows_claims=site),
                    DividendStep(),
                    TrainStep(also_blocks=None if site else can_buy_private, conventions=train_trade),
                    *([PrivatePurchaseStep(also_blocks=tile_abilities.has_extra_lay)] if site else []),
                )
            ),
            FreeToken: FreeTokenQuestion(),
            HomeToken: HomeTokenQuestion(),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=(
            OfferResponses(
                {TradePrivate: private_deals.deal_handler(), BuyTrain: train_deal_handler(train_trade)}
            ),
            tile_abilities,
            private_deals,
            ShareExchanges(before_par=site, limit_by_zone=site),
        ),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=site),
        section_of=lambda frame: QUESTION_SECTIONS[type(frame)],
        flotation=Capitalization(in_next_operating_round=not site),
        follows_granted_certificates=site,
        train_counts=train_counts,
        after_sale=drop_price,
    )
