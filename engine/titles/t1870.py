"""1870: which mechanics it is made of, under the rulebook's conventions and the site's.

Each place where the site 18xx.games plays otherwise than the book is a parameter here, or a difference
of the printed facts, so this file is the list of the differences. The designer's book is the rule; the
site follows the publisher's edition and has options that bring back the designer's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine import market
from engine.actions import BuyTrain, DealPrivate, Redeem
from engine.board.network import Stop
from engine.bridge import Bridges, not_twice
from engine.ending import LAST_OF_SITE, finish_price, scores, stalemate
from engine.facts import Facts, Node, facts_of
from engine.game import Game
from engine.improvements import Improvements, terms
from engine.offers import Answers
from engine.opening.order import barred_by_history
from engine.opening.waterfall import BiddersAuction, ParChoice, WaterfallSale
from engine.operating.connection import (
    ConnectionDividend,
    ConnectStep,
    DestinationStep,
    LateConnections,
    next_connection,
)
from engine.operating.dividends import DividendStep
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, settle_homes
from engine.operating.track import TrackStep, crosses_closed_river, gains_nothing, never
from engine.operating.trains import Trade, TrainStep, train_deal
from engine.operating.turn import OperatingTurns
from engine.privates import (
    OpenMarket,
    PrivateDeals,
    PrivateStep,
    may_buy_early,
    may_buy_privates,
)
from engine.rounds import Ended, OperatingRounds, StockRounds, first_stock_round
from engine.state import (
    Bidding,
    ConnectionTurn,
    Discard,
    GameOver,
    OperatingRound,
    OperatingTurn,
    Pricing,
    Protection,
    State,
    StockRound,
    StockTurn,
    Waterfall,
)
from engine.stock.floating import Floating
from engine.stock.protection import Protections, StandingAnswers, note_sale, settle_forced_sale_at_once
from engine.stock.treasury import Treasury
from engine.stock.turn import Trading, unbarred
from engine.title import SITE, Title, chosen
from engine.trouble.closing import closing
from engine.trouble.discard import Discards

ORIGINAL = ("can_protect_if_sold", "max_reissue_200", "original_market", "original_tiles", "station_wars")
OPTIONS = (
    SITE,
    "finish_on_400",
    "diesels",
    "historical_order",
    "non_blocking_tokens",
    "private_treasuries",
    "original_rules",
    *ORIGINAL,
)
FINISH = 400
"""The price that ends the game (§16.1)."""

SECTIONS = {
    "§4": "§5.3",
    "§7.1": "§5.7",
    "§7.2": "§5.7",
    "§8": "§5.5",
    "§8.1": "§5.5",
    "§10": "§5.4",
    "Table 3": "§5.4.1",
    "§12": "§5.3.3",
    "§12.1": "§5.7",
    "§12.2": "§5.4.2",
    "§13": "§5.6",
    "§15": "§5.3.1",
    "§17": "§4.1",
    "§18": "§6",
    "Table 6": "§6.6",
    "Table 7": "§2.5",
    "§19": "§7.3",
    "§20.1": "§8.1",
    "§20.2": "§10.1",
    "§20.3": "§8.3",
    "§21": "§10",
    "§22": "§4.2",
    "§23.1": "§12.1",
    "§24": "§10.6",
    "§24.2": "§10.6",
    "§24.3": "§10.6.2",
    "§24.6": "§13.1",
} | {
    own: own
    for own in (
        "§5.1.1",
        "§5.3",
        "§5.3.2",
        "§5.3.3",
        "§5.9",
        "§5.10",
        "§5.11",
        "§6",
        "§6.2",
        "§11.1",
        "§11.2",
        "§11.4",
        "§11.4.1",
        "§11.4.2",
        "§15.2",
        "§16.5",
    )
}


def compose(options: tuple[str, ...]) -> Title:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = chosen(OPTIONS, options)
    site = SITE in options
    if not site and (extra := [o for o in options if o in ("original_rules", *ORIGINAL)]):
        raise ValueError(f"{extra[0]} is an option of the {SITE}; the rulebook is played so anyway.")

    def original(option: str) -> bool:
        return not site or option in options or "original_rules" in options

    facts = facts_of("1870")
    if site:
        facts = _site_facts(facts, original)
    if "historical_order" in options:
        facts = _with_historical_order(facts)
    if "diesels" in options:
        facts = with_diesels(facts, last="D" if site else "6", unlimited=site)
    non_blocking = "non_blocking_tokens" in options if not site else not original("station_wars")
    trade = Trade(helped_between=False, from_bank_after=site, in_step=site)
    bridges = Bridges(beyond=site)

    def owing(g: Game, turn: StockTurn) -> list[str]:
        return trading.must_sell(g, turn) if site else []

    deals = PrivateDeals(
        by_seller=not site,
        instead_of_share=True,
        in_emergency=False,
        least=1,
        in_buyers_turn=True,
        from_phase="2" if site else None,
        within_limit=not site,
        owing=owing,
    )
    improvements = Improvements()
    treasury = Treasury(reissue_after_deals=site, ordinary_share=site)
    finish = finish_price(FINISH) if "finish_on_400" in options else None
    ended = [e for e in (finish, None if site else stalemate) if e is not None]

    def more_to_do(g: Game, turn: OperatingTurn) -> bool:
        return may_buy_early(g, turn) or improvements.unused(g, turn)

    def over(g: Game) -> str | None:
        return next((why for end in ended if (why := end(g))), None)

    def over_at_once(g: Game) -> str | None:
        return finish(g) if finish and site else None

    trading = Trading(
        also=deals.worth_a_turn,
        extra_from_ipo=False,
        extra_of_one=True,
        acts=(treasury,) if site else (treasury, OpenMarket()),
        blocks=True,
        brown_after_private=site,
        acts_wait=not site,
        over_sells_any=site,
        barred=barred_by_history if "historical_order" in options else unbarred,
    )
    return Title(
        facts=facts,
        options=options,
        opening=lambda g, lot: Waterfall(turn=g.state.seats[0]),
        questions={
            Waterfall: WaterfallSale(after=first_stock_round, any_price=site, par_later=site),
            Bidding: BiddersAuction(clockwise=not site, par_later=site),
            Pricing: ParChoice(),
            StockRound: StockRounds(ended=over, own_count=True, last=LAST_OF_SITE if site else None),
            StockTurn: trading,
            Protection: Protections(
                if_sold=original("can_protect_if_sold"),
                own_forced_sales=site,
                closes_late=site,
                left_over=site,
            ),
            OperatingRound: OperatingRounds(
                "track",
                "president",
                between=next_connection(
                    "destination" if site else "connect", after_closing=not site, in_turns=site
                ),
                first_is_settled=site,
                ended=over,
            ),
            OperatingTurn: OperatingTurns(
                (
                    TrackStep(
                        also=bridges.waits,
                        laid=settle_homes,
                        always=site,
                        after=bridges.to_be_had if site else never,
                    ),
                    TokenStep(),
                    RunStep(best_only=not site, claims=site),
                    DividendStep(
                        half_to=10,
                        of_pool=False,
                        of_offering=True,
                        half_moves="not" if site else "under",
                    ),
                    TrainStep(
                        also=None if site else may_buy_privates,
                        sells_all=site,
                        trade=trade,
                        blocks=True,
                        limit_first=not site,
                        whole_certificates=site,
                    ),
                    *([PrivateStep(also=more_to_do)] if site else []),
                ),
                ended=over_at_once,
            ),
            ConnectionTurn: OperatingTurns(
                (
                    *([] if site else [ConnectStep()]),
                    DestinationStep(begins=site, swaps=not site),
                    RunStep(best_only=not site, claims=site),
                    ConnectionDividend(market.right if site else market.up),
                ),
                ended=over_at_once,
            ),
            Discard: Discards(),
            GameOver: Ended(),
        },
        asides=(
            Answers(
                {
                    DealPrivate: deals.deal(),
                    BuyTrain: train_deal(trade),
                    Redeem: treasury.deal(),
                },
                but=(Protection,),
            ),
            bridges,
            improvements,
            deals,
            StandingAnswers(),
            *([] if site else [LateConnections()]),
        ),
        scores=lambda g, bankrupt: scores(g, bankrupt, with_privates=True),
        flotation=Floating(),
        sections=SECTIONS,
        sold=note_sale if site else settle_forced_sale_at_once,
        landed=(closing(privates_to_pool=not site),),
        terms=terms,
        lay_objections=(crosses_closed_river, gains_nothing, *([not_twice] if site else [])),
        places=beside_cities if non_blocking else None,
        excess_sold=False,
        private_treasuries="private_treasuries" in options,
    )


def beside_cities(facts: Facts, state: State) -> Mapping[Stop, int]:
    """Destination tokens take no place of the city in which they stand (§16.4)."""
    return {
        (hex, 0): sum(there == hex for there in state.destinations.values())
        for hex in state.destinations.values()
    }


MORE_TILES = {
    "4": 6, "7": 9, "8": 22, "9": 23, "16": 2, "17": 2, "18": 2, "19": 2, "20": 2, "25": 3, "26": 2,
    "27": 2, "28": 2, "29": 2, "40": 2, "70": 2, "141": 2, "142": 2, "145": 2, "146": 2, "147": 2,
}  # fmt: skip
"""The publisher's larger set."""

SITE_ORDER = ("ATSF", "SSW", "SP", "SLSF", "MP", "MKT", "IC", "GMO", "FW", "TP")
"""The order in which companies are asked to discard."""

OTHER_ZONES = {(4, 0): ("brown",), (6, 5): ("yellow",), (7, 6): ("yellow",)}
"""Spaces that the publisher's market has in another colour."""


def _site_facts(facts: Facts, original: Callable[[str], bool]) -> Facts:
    """The components as the site has them: the publisher's edition, but for what is brought back."""
    replace = msgspec.structs.replace
    changes: dict[str, Any] = {
        "companies": tuple(sorted(facts.companies, key=lambda company: SITE_ORDER.index(company.sym))),
        "players": {"min": 2, "max": 7},
        "trains": tuple(replace(t, count=None) if t.name == "12" else t for t in facts.trains),
        "upgrades": (facts.upgrades or {}) | {"58": ("141", "142", "143", "144")},
        "limits": facts.limits | {"offboard_tokens": 1},
        "cert_limits": {left: limits for left, limits in facts.cert_limits.items() if left > 8},
    }
    if not original("original_tiles"):
        changes["tiles"] = facts.tiles | MORE_TILES
    if not original("original_market"):
        rows = [list(row) for row in facts.market.rows]
        for (row, column), zones in OTHER_ZONES.items():
            cell = rows[row][column]
            assert cell is not None
            rows[row][column] = replace(cell, zones=zones)
        changes["market"] = replace(facts.market, rows=tuple(map(tuple, rows)))
    if not original("max_reissue_200"):
        changes["reissue_prices"] = tuple(cell.price for cell in facts.market.rows[0] if cell)
    return replace(facts, **changes)


def _with_historical_order(facts: Facts) -> Facts:
    """The Frisco floats as the others do, and pays as a private until then (§16.5)."""
    replace = msgspec.structs.replace
    usual = max(company.float_percent for company in facts.companies)
    companies = tuple(replace(company, float_percent=usual) for company in facts.companies)
    privates = tuple(
        replace(private, revenue=20) if private.effect.get("kind") == "certificate" else private
        for private in facts.privates
    )
    return replace(facts, companies=companies, privates=privates)


def with_diesels(facts: Facts, last: str, *, unlimited: bool) -> Facts:
    """The 8, 10 and 12 replaced by diesels of any reach, which begin the phase `last` (§16.2)."""
    replace = msgspec.structs.replace
    kept = facts.trains[: [t.name for t in facts.trains].index("8")]
    dearest = facts.trains[-1]
    diesel = replace(
        dearest,
        name="D",
        distance=None,
        count=None if unlimited else dearest.count,
        discounts={"4": 300, "5": 300, "6": 300},
        available_on="6",
    )
    gone = {"8": "D", "12": None}
    trains = (*(replace(t, rusts_on=gone.get(t.rusts_on or "", t.rusts_on)) for t in kept), diesel)
    final = next(p for p in facts.phases if p.on == "8")
    phases = (*facts.phases[: facts.phases.index(final)], replace(final, name=last, on="D"))

    def renamed(node: Node) -> Node:
        if isinstance(node.revenue, int):
            return node
        figures = {last if phase == final.name else phase: value for phase, value in node.revenue.items()}
        return replace(node, revenue=figures)

    hexes = {
        hex: replace(here, nodes=tuple(map(renamed, here.nodes))) for hex, here in facts.map.hexes.items()
    }
    return replace(facts, trains=trains, phases=phases, map=replace(facts.map, hexes=hexes))
