"""1830: which mechanics it is made of, under the rulebook's conventions and the site's.

Each place where the site 18xx.games plays otherwise than the book is a parameter here, so this
file is the list of the differences.
"""

from __future__ import annotations

from engine.actions import BuyTrain, DealPrivate
from engine.ending import LAST_OF_SITE, scores
from engine.facts import facts_of
from engine.game import Game
from engine.offers import Answers
from engine.opening.waterfall import BiddersAuction, ParChoice, WaterfallSale
from engine.operating.dividends import DividendStep
from engine.operating.run import RunStep
from engine.operating.stations import HomeChoice, TokenStep, settle_homes
from engine.operating.track import TrackStep, never
from engine.operating.trains import Trade, TrainStep, train_deal
from engine.operating.turn import OperatingTurns
from engine.powers import Exchanges, FreeTokens, TilePowers
from engine.privates import PrivateDeals, PrivateStep, may_buy_privates
from engine.rounds import (
    Ended,
    OperatingRounds,
    StockRounds,
    first_stock_round,
)
from engine.state import (
    Bidding,
    Discard,
    FreeToken,
    GameOver,
    HomeToken,
    OperatingRound,
    OperatingTurn,
    Pricing,
    StockRound,
    StockTurn,
    Waterfall,
)
from engine.stock.floating import Floating
from engine.stock.turn import Trading
from engine.title import SITE, Title, chosen
from engine.trouble.discard import Discards

OPTIONS = (SITE, "multiple_brown_from_ipo", "optional_6_train")


def compose(options: tuple[str, ...]) -> Title:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = chosen(OPTIONS, options)
    site = SITE in options
    facts = facts_of("1830")
    powers, trade = TilePowers(), Trade(always_helped=site, uses_sales=site, in_step=site)

    def owing(g: Game, turn: StockTurn) -> list[str]:
        return trading.must_sell(g, turn) if site else []

    deals = PrivateDeals(
        by_seller=not site,
        instead_of_share=site,
        in_emergency=not site,
        least=1 if site else 0,
        bound=site,
        within_limit=not site,
        owing=owing,
    )
    trading = Trading(
        also=deals.worth_a_turn,
        sales="around" if site else "before or after",
        extra_from_ipo=not site or "multiple_brown_from_ipo" in options,
        extra_of_one=site,
        brown_after_private=site,
        over_sells_any=site,
    )
    depot: dict[str, int | None] = {}
    if site:
        depot["D"] = None
    if "optional_6_train" in options:
        depot["6"] = 3
    return Title(
        facts=facts,
        options=options,
        opening=lambda g, lot: Waterfall(turn=g.state.seats[0]),
        questions={
            Waterfall: WaterfallSale(after=first_stock_round, any_price=site),
            Bidding: BiddersAuction(),
            Pricing: ParChoice(),
            StockRound: StockRounds(last=LAST_OF_SITE if site else None),
            StockTurn: trading,
            OperatingRound: OperatingRounds("track", "layer" if site else "president"),
            OperatingTurn: OperatingTurns(
                (
                    TrackStep(
                        also=powers.instead if site else powers.possible,
                        laid=settle_homes,
                        always=site,
                        after=never if site else powers.possible,
                    ),
                    TokenStep(),
                    RunStep(best_only=not site, claims=site),
                    DividendStep(),
                    TrainStep(
                        also=None if site else may_buy_privates,
                        trade=trade,
                        sells_all=site,
                        whole_certificates=site,
                    ),
                    *([PrivateStep(also=powers.extra)] if site else []),
                )
            ),
            FreeToken: FreeTokens(),
            HomeToken: HomeChoice(),
            Discard: Discards(),
            GameOver: Ended(),
        },
        asides=(
            Answers({DealPrivate: deals.deal(), BuyTrain: train_deal(trade)}),
            powers,
            deals,
            Exchanges(before_par=site),
        ),
        scores=lambda g, bankrupt: scores(g, bankrupt, with_privates=site),
        flotation=Floating(),
        depot=depot,
    )
