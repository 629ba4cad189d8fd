"""18EX: three companies, thirteen hexes, no private companies."""

from __future__ import annotations

from importlib.resources import files

from engine.board.route_graph import RevenueRules
from engine.core.actions import BuyTrain
from engine.core.components import read_components
from engine.core.state import (
    Discard,
    GameOver,
    HomeToken,
    OperatingRound,
    OperatingTurn,
    StockRound,
    StockTurn,
)
from engine.finance.market import drop_price
from engine.finance.offers import OfferResponses
from engine.game import Game, GameTitle
from engine.mechanics import never
from engine.operating.dividends import DividendStep
from engine.operating.run import RunStep
from engine.operating.stations import HomeTokenQuestion, TokenStep, ask_for_home_cities
from engine.operating.track import TrackStep
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
from engine.stock.turn import StockTurnQuestion
from engine.title import SITE_CONVENTIONS, validated_options

OPTIONS = (SITE_CONVENTIONS, "coast_to_coast")
LAST_STOCK_ROUND = 8
COMPONENTS = read_components(files(__package__) / "components.json")


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = validated_options(OPTIONS, options)
    bonus = RevenueRules(offboard_pair_bonus=20 if "coast_to_coast" in options else 0)
    trade = TrainTradeConventions()
    return GameTitle(
        components=COMPONENTS,
        options=options,
        opening=lambda g, seed: start_first_stock_round(g),
        questions={
            StockRound: StockRoundRules(last_round=LAST_STOCK_ROUND),
            StockTurn: StockTurnQuestion(also_blocks=never),
            OperatingRound: OperatingRoundRules("track", "president"),
            OperatingTurn: OperatingTurnQuestion(
                (
                    TrackStep(also_blocks=never, after_lay=ask_for_home_cities),
                    TokenStep(),
                    RunStep(),
                    DividendStep(),
                    TrainStep(also_blocks=None, conventions=trade),
                )
            ),
            HomeToken: HomeTokenQuestion(),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=(OfferResponses({BuyTrain: train_deal_handler(trade)}),),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=False),
        flotation=Capitalization(),
        after_sale=drop_price,
        revenue_rules=lambda g, company: bonus,
        sale_objections=(refuse_before_first_turn,),
    )


def refuse_before_first_turn(g: Game, company: str) -> str | None:
    """Why shares of a company that has not operated may not be sold, or None."""
    if g.company(company).has_operated:
        return None
    return f"The {company} has not operated yet, so its shares may not be sold{g.cite('18EX §3')}."
