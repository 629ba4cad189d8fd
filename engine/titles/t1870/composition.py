"""1870: which mechanics it is made of, under the rulebook's conventions and the site's.

Each place where the site 18xx.games plays otherwise than the book is a parameter here, or a difference
of the printed facts, so this file is the list of the differences. The designer's book is the rule; the
site follows the publisher's edition and has options that bring back the designer's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from engine.board.network import Stop
from engine.core.actions import BuyTrain, RedeemShare, TradePrivate
from engine.core.components import Components, Node, components_of
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
from engine.game import Game
from engine.insolvency.closing import close_in_closing_zone
from engine.opening.waterfall import (
    ParPriceQuestion,
    WaterfallBiddersQuestion,
    WaterfallQuestion,
)
from engine.operating.connection_runs import (
    ConnectionChoiceStep,
    ConnectionDividendStep,
    DeferredConnectionRuns,
    DestinationTokenStep,
    connection_runs_between_turns,
)
from engine.operating.discard import DiscardQuestion
from engine.operating.dividends import DividendStep
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep, ask_for_home_cities
from engine.operating.track import (
    TrackStep,
    never,
    refuse_river_crossing,
    refuse_useless_upgrade,
)
from engine.operating.trains import TrainStep, TrainTradeConventions, train_deal
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
from engine.stock.turn import StockTurnQuestion, no_purchase_limit
from engine.title import SITE_CONVENTIONS, Title, validated_options

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
    options = validated_options(OPTIONS, options)
    site = SITE_CONVENTIONS in options
    if not site and (extra := [o for o in options if o in ("original_rules", *ORIGINAL_RULES)]):
        raise ValueError(
            f"{extra[0]} is an option of the {SITE_CONVENTIONS}; the rulebook is played so anyway."
        )

    def original(option: str) -> bool:
        return not site or option in options or "original_rules" in options

    facts = components_of("1870")
    if site:
        facts = _site_components(facts, original)
    if "historical_order" in options:
        facts = _with_historical_order(facts)
    if "diesels" in options:
        facts = with_diesels(facts, last="D" if site else "6", unlimited=site)
    non_blocking = "non_blocking_tokens" in options if not site else not original("station_wars")
    trade = TrainTradeConventions(
        president_helps_between_companies=False, bank_only_after_sale=site, only_in_train_step=site
    )
    bridges = BridgeDiscounts(beyond_normal_lays=site)

    def owing(g: Game, turn: StockTurn) -> list[str]:
        return trading.required_sales(g, turn) if site else []

    deals = PrivateDeals(
        seller_may_offer=not site,
        replaces_share_purchase=True,
        in_forced_purchase=False,
        min_price=1,
        in_buyers_turn=True,
        from_phase="2" if site else None,
        certificate_limit_applies=not site,
        required_sales=owing,
    )
    improvements = CityTokens()
    treasury = TreasuryShares(reissue_after_trades=site, ordinary_share_only=site)
    finish = end_at_price(FINISH_PRICE) if "finish_on_400" in options else None
    ended = [e for e in (finish, None if site else end_by_stalemate) if e is not None]

    def more_to_do(g: Game, turn: OperatingTurn) -> bool:
        return may_buy_in_first_phase(g, turn) or improvements.has_unused_token(g, turn)

    def over(g: Game) -> str | None:
        return next((why for end in ended if (why := end(g))), None)

    def over_at_once(g: Game) -> str | None:
        return finish(g) if finish and site else None

    trading = StockTurnQuestion(
        also_blocks=deals.justifies_turn,
        multiple_from_ipo=False,
        multiple_of_one_company=True,
        extra_actions=(treasury,) if site else (treasury, OpenMarketPurchase()),
        one_block_per_company=True,
        multiple_after_private=site,
        extra_actions_block=not site,
        sell_any_over_limit=site,
        purchase_refusal=refuse_purchase_out_of_order if "historical_order" in options else no_purchase_limit,
    )
    return Title(
        components=facts,
        options=options,
        opening=lambda g, lot: Waterfall(current_seat=g.state.seats[0]),
        questions={
            Waterfall: WaterfallQuestion(next_round=start_first_stock_round, any_price=site, defer_par=site),
            WaterfallBidding: WaterfallBiddersQuestion(clockwise=not site, defer_par=site),
            ParPriceChoice: ParPriceQuestion(),
            StockRound: StockRoundRules(
                end_reason=over, count_treasury=True, last_round=LAST_STOCK_ROUND_ON_SITE if site else None
            ),
            StockTurn: trading,
            PriceProtection: PriceProtectionQuestion(
                after_own_sale=original("can_protect_if_sold"),
                seller_after_forced_sale=site,
                delays_closing=site,
                defers_after_closing=site,
            ),
            OperatingRound: OperatingRoundRules(
                "track",
                "president",
                interruption=connection_runs_between_turns(
                    "destination" if site else "connect", after_closing=not site, in_turns=site
                ),
                fix_first_company=site,
                end_reason=over,
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
                    TrainStep(
                        also_blocks=None if site else can_buy_private,
                        bankrupt_sells_all=site,
                        conventions=trade,
                        one_block_per_company=True,
                        certificate_limit_first=not site,
                        whole_certificates=site,
                    ),
                    *([PrivatePurchaseStep(also_blocks=more_to_do)] if site else []),
                ),
                end_reason=over_at_once,
            ),
            ConnectionRunTurn: OperatingTurnQuestion(
                (
                    *([] if site else [ConnectionChoiceStep()]),
                    DestinationTokenStep(begins_run=site, allows_swap=not site),
                    RunStep(best_only=not site, allows_claims=site),
                    ConnectionDividendStep(market.right if site else market.up),
                ),
                end_reason=over_at_once,
            ),
            Discard: DiscardQuestion(),
            GameOver: GameOverRules(),
        },
        out_of_turn=(
            OfferResponses(
                {
                    TradePrivate: deals.deal_handler(),
                    BuyTrain: train_deal(trade),
                    RedeemShare: treasury.deal_handler(),
                },
                except_during=(PriceProtection,),
            ),
            bridges,
            improvements,
            deals,
            StandingProtectionOrders(),
            *([] if site else [DeferredConnectionRuns()]),
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
        extra_slots=destination_token_slots if non_blocking else None,
        must_sell_excess=False,
        private_treasuries="private_treasuries" in options,
    )


def destination_token_slots(facts: Components, state: State) -> Mapping[Stop, int]:
    """Destination tokens take no place of the city in which they stand (§16.4)."""
    return {
        (hex, 0): sum(there == hex for there in state.destination_tokens.values())
        for hex in state.destination_tokens.values()
    }


PUBLISHERS_TILES = {
    "4": 6, "7": 9, "8": 22, "9": 23, "16": 2, "17": 2, "18": 2, "19": 2, "20": 2, "25": 3, "26": 2,
    "27": 2, "28": 2, "29": 2, "40": 2, "70": 2, "141": 2, "142": 2, "145": 2, "146": 2, "147": 2,
}  # fmt: skip
"""The publisher's larger set."""

DISCARD_ORDER = ("ATSF", "SSW", "SP", "SLSF", "MP", "MKT", "IC", "GMO", "FW", "TP")
"""The order in which companies are asked to discard."""

PUBLISHERS_ZONES = {(4, 0): ("brown",), (6, 5): ("yellow",), (7, 6): ("yellow",)}
"""Spaces that the publisher's market has in another colour."""


def _site_components(facts: Components, original: Callable[[str], bool]) -> Components:
    """The components as the site has them: the publisher's edition, but for what is brought back."""
    replace = msgspec.structs.replace
    changes: dict[str, Any] = {
        "companies": tuple(sorted(facts.companies, key=lambda company: DISCARD_ORDER.index(company.sym))),
        "players": {"min": 2, "max": 7},
        "trains": tuple(replace(t, count=None) if t.name == "12" else t for t in facts.trains),
        "upgrades": (facts.upgrades or {}) | {"58": ("141", "142", "143", "144")},
        "limits": facts.limits | {"offboard_tokens": 1},
        "cert_limits": {left: limits for left, limits in facts.cert_limits.items() if left > 8},
    }
    if not original("original_tiles"):
        changes["tiles"] = facts.tiles | PUBLISHERS_TILES
    if not original("original_market"):
        rows = [list(row) for row in facts.market.rows]
        for (row, column), zones in PUBLISHERS_ZONES.items():
            cell = rows[row][column]
            assert cell is not None
            rows[row][column] = replace(cell, zones=zones)
        changes["market"] = replace(facts.market, rows=tuple(map(tuple, rows)))
    if not original("max_reissue_200"):
        changes["reissue_prices"] = tuple(cell.price for cell in facts.market.rows[0] if cell)
    return replace(facts, **changes)


def _with_historical_order(facts: Components) -> Components:
    """The Frisco floats as the others do, and pays as a private until then (§16.5)."""
    replace = msgspec.structs.replace
    usual = max(company.float_percent for company in facts.companies)
    companies = tuple(replace(company, float_percent=usual) for company in facts.companies)
    privates = tuple(
        replace(private, revenue=20) if private.effect.get("kind") == "certificate" else private
        for private in facts.privates
    )
    return replace(facts, companies=companies, privates=privates)


def with_diesels(facts: Components, last: str, *, unlimited: bool) -> Components:
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
