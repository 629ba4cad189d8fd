"""1851: which mechanics it is made of.

The site 18xx.games does not have it, so its conventions change nothing here.
"""

from __future__ import annotations

import msgspec

from engine.actions import BuyTrain
from engine.board.chains import Terms
from engine.ending import scores
from engine.facts import Facts, facts_of
from engine.holdings import not_operated
from engine.offers import Answers
from engine.opening.allotment import Allotting, allotment
from engine.opening.waterfall import ParChoice
from engine.operating.claims import Claims, open_claim
from engine.operating.dividends import DividendStep
from engine.operating.issue import IssueStep
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, settle_homes
from engine.operating.track import TrackStep, extends_no_route, never
from engine.operating.trains import Trade, TrainStep, train_deal
from engine.operating.turn import OperatingTurns
from engine.rounds import Ended, OperatingRounds, StockRounds, first_stock_round
from engine.state import (
    IPO,
    POOL,
    TREASURY,
    Allotment,
    Claim,
    Discard,
    GameOver,
    OperatingRound,
    OperatingTurn,
    Pricing,
    StockRound,
    StockTurn,
)
from engine.stock.floating import Floating
from engine.stock.turn import Trading
from engine.title import SITE, Title, chosen
from engine.trouble.discard import Discards

CLAIMS, FALLING = "claims", "johnson_city_falling"
OPTIONS = (SITE, CLAIMS, FALLING)

TERMS = Terms(between_reds=10)

SECTIONS = {
    "§4": "Stock Rounds",
    "§7": "Setting Up the Game",
    "§8": "Buying Stock",
    "§8.1": "Buying Stock",
    "§8.2": "Buying Stock",
    "§10": "Buying Stock",
    "Table 3": "Buying Stock",
    "§11": "Buying Stock",
    "§12": "Selling Stock",
    "§12.1": "Selling Stock",
    "§12.2": "Selling Stock",
    "§13": "Selling Stock",
    "§15": "Buying Stock",
    "§16": "Operating Rounds",
    "§17": "Operating Rounds",
    "§18": "Lay or Upgrade Track",
    "§18.1": "Lay or Upgrade Track",
    "Table 6": "Lay or Upgrade Track",
    "Table 7": "Lay or Upgrade Track",
    "§19": "Place Station Marker",
    "§19.1": "Place Station Marker",
    "§20.1": "Routes",
    "§20.2": "Purchase Trains",
    "§20.3": "Run Trains, Pay Dividends",
    "§21": "Purchase Trains",
    "§22": "Phases",
    "§24": "Purchase Trains",
    "§24.2": "Purchase Trains",
    "§24.3": "Purchase Trains",
    "§24.6": "Purchase Trains",
    "§25": "Ending the Game",
}
"""Where the rulebook, whose chapters have no numbers, has the rules that mechanics cite."""


def falling(facts: Facts) -> Facts:
    """The facts with a Johnson City that is worth most at the beginning."""
    hexes = facts.map.hexes
    city = msgspec.structs.replace(hexes["E23"].nodes[0], revenue={"2": 40, "4": 30, "6": 30})
    changed = hexes | {"E23": msgspec.structs.replace(hexes["E23"], nodes=(city,))}
    return msgspec.structs.replace(facts, map=msgspec.structs.replace(facts.map, hexes=changed))


def compose(options: tuple[str, ...]) -> Title:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = chosen(OPTIONS, options)
    claims = CLAIMS in options
    trade = Trade(helped_between=False, face_between=True, by_price=True)
    run = RunStep(best_only=False, after=open_claim) if claims else RunStep()
    return Title(
        facts=falling(facts_of("1851")) if FALLING in options else facts_of("1851"),
        options=options,
        opening=allotment,
        questions={
            Allotment: Allotting(after=first_stock_round),
            Pricing: ParChoice(),
            StockRound: StockRounds(),
            StockTurn: Trading(
                also=lambda g, turn: False,
                sales="before",
                sources=(IPO, POOL, TREASURY),
                first_sale_round=1,
            ),
            OperatingRound: OperatingRounds("track", "president", whole_set=False),
            OperatingTurn: OperatingTurns(
                (
                    TrackStep(also=never, laid=settle_homes),
                    TokenStep(),
                    run,
                    DividendStep(half_to=10, of_pool=False, raised_at_price=True),
                    TrainStep(also=None, trade=trade, at_first_price=True, loses_cash=False),
                    IssueStep(),
                )
            ),
            Claim: Claims(),
            Discard: Discards(),
            GameOver: Ended(),
        },
        asides=(Answers({BuyTrain: train_deal(trade)}),),
        scores=lambda g, bankrupt: scores(g, bankrupt, with_privates=True),
        flotation=Floating(paid=5, fee=100, keeps_rest=True, homes=True, rows_up=1),
        terms=lambda g, company: TERMS,
        sale_objections=(not_operated,),
        lay_objections=(extends_no_route,),
        sections=SECTIONS,
    )
