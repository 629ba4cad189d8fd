"""1817: which mechanics it is made of, under the rulebook's conventions and the site's."""

from __future__ import annotations

from functools import partial

import msgspec

from engine.actions import BuyTrain, Merge
from engine.auctions import Auctions
from engine.ending import LAST_OF_SITE, scores
from engine.facts import Facts, PhaseFacts, facts_of
from engine.game import Game
from engine.merging.belongings import Surpluses, ask_for_markers, ask_for_trains
from engine.merging.growth import (
    Borrowings,
    Fusion,
    MergerTurns,
    ShareTrades,
    merger_deal,
)
from engine.merging.rounds import (
    Closing,
    Finish,
    MergerRounds,
    OperatingSets,
    Polls,
    begin_operating,
    begin_stock_round,
)
from engine.merging.sale import Companies, Purchases, Settlements, Takeovers
from engine.offers import Answers
from engine.opening.subsidy import SubsidizedLots, SubsidizedSale
from engine.operating.debts import (
    Automatic,
    LeveredDividends,
    Loans,
    RepayStep,
    could_buy,
    interest_of_turn,
    scrap_obsolete,
    turn_is_over,
    without_train,
)
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep
from engine.operating.trains import Trade, TrainStep, ask_for_discards, train_deal
from engine.operating.turn import OperatingTurns, nothing_after
from engine.operating.works import Bridges, WorksStep, works_terms
from engine.rounds import Ended, StockRounds
from engine.state import (
    ADRIFT,
    CLOSED,
    Auction,
    Borrowing,
    Crisis,
    Discard,
    Formation,
    GameOver,
    MergerRound,
    MergerTurn,
    OperatingRound,
    OperatingTurn,
    Poll,
    Purchase,
    Settlement,
    ShareTrade,
    StockRound,
    StockTurn,
    Subsidy,
    Surplus,
    Takeover,
)
from engine.stock.floating import Floating
from engine.stock.floor import ActsOfBidders, TradingFloor
from engine.stock.launch import Certificates, Formations
from engine.title import Title, chosen, nothing
from engine.trouble.crisis import Crises, interruptions, look_for_crisis
from engine.trouble.discard import Discards

SITE = "conventions 18xx.games"
OPTIONS = (
    SITE,
    "five_shorts",
    "increased_short_sales",
    "modern_trains",
    "more_players",
    "short_squeeze",
)


def compose(options: tuple[str, ...]) -> Title:
    """The title under those options. Raises ValueError for one that it does not have."""
    options = chosen(OPTIONS, options)
    if {"five_shorts", "increased_short_sales"} <= set(options):
        raise ValueError("Of five_shorts and increased_short_sales there is one or the other.")
    site = SITE in options
    trade = Trade(by_price=not site, in_step=True, discards_wait=site)
    facts = _facts(site, more_players=site or "more_players" in options)
    if "modern_trains" not in options:
        facts = msgspec.structs.replace(facts, own_station_bonus={})
    ten = "increased_short_sales" in options or (site and "five_shorts" not in options)
    lots = SubsidizedLots(above_face=site, by_fives=not site)
    finish = Finish(final_merger=site)
    fusion = Fusion(stays=site, nearest=site, closes_first=site)
    seed = facts.seed_money
    floor = TradingFloor(
        in_order=not site, most_shorts=((10, 10),) if ten else (), fallen_borrow=site, shorts_stay=site
    )
    return Title(
        facts=facts,
        options=options,
        opening=lambda g, lot: Subsidy(turn=g.state.seats[0], money=seed),
        questions={
            Subsidy: SubsidizedSale(lots, after=lambda g: begin_stock_round(g, 1), asks_all=site),
            Auction: Auctions(
                {
                    "private": lots,
                    "certificate": Certificates(by_worth=site),
                    "sale": Companies(fresh_waits=site, trains_to=ADRIFT if site else CLOSED),
                },
                together=not site,
            ),
            StockRound: StockRounds(
                last=LAST_OF_SITE if site else None,
                closing=Closing(squeeze="short_squeeze" in options),
                following=lambda g, after: OperatingRound(after, 1, finish.of(g, after)),
                begin=begin_operating,
            ),
            StockTurn: floor,
            Formation: Formations(piecemeal=site),
            OperatingRound: OperatingSets("track"),
            OperatingTurn: OperatingTurns(
                (
                    WorksStep(all_exits=not site, always=site),
                    TokenStep(),
                    RunStep(best_only=not site, claims=site),
                    *(() if site else (Automatic("obsolete", scrap_obsolete),)),
                    LeveredDividends(then=scrap_obsolete) if site else LeveredDividends(),
                    TrainStep(also=could_buy, trade=trade),
                    Automatic("interest", interest_of_turn),
                    RepayStep(),
                    Automatic("liquidation", without_train),
                ),
                ends=turn_is_over,
                before=look_for_crisis,
                after=partial(ask_for_discards, by_price=False) if site else nothing_after,
            ),
            Crisis: Crises(
                one_by_one=not site,
                to_charter=not site,
                keeps_privates=site,
                sells_all=site,
                then=_needs if site else nothing,
            ),
            MergerRound: MergerRounds(finish, polls=not site, one_pass=site, crises_wait=site),
            Poll: Polls(),
            MergerTurn: MergerTurns(initiator_survives=site, looks_once=site, fusion=fusion),
            ShareTrade: ShareTrades(new_president_goes_on=site, together=not site),
            Borrowing: Borrowings(),
            Purchase: Purchases(excess_waits=site),
            Takeover: Takeovers(loans_first=site),
            Settlement: Settlements(),
            Surplus: Surpluses(then=_needs if site else nothing),
            Discard: Discards(by_bank=not site, scraps=site, then=ask_for_trains if site else nothing),
            GameOver: Ended(),
        },
        asides=(
            Answers({BuyTrain: train_deal(trade), Merge: merger_deal(fusion)}),
            Bridges(before_interest=site),
            Loans(),
            *([ActsOfBidders(floor)] if site else []),
        ),
        scores=lambda g, bankrupt: scores(g, bankrupt, with_privates=True),
        flotation=Floating(),
        terms=works_terms,
        interrupt=partial(interruptions, markers=ask_for_markers, trains=ask_for_trains)
        if site
        else interruptions,
        depot={"2": 40} if site else {},
        sections=SECTIONS,
    )


SECTIONS = {
    "§4": "§5",
    "§17": "§6",
    "§18": "§6.3",
    "§19": "§6.4",
    "§20.1": "§6.5",
    "§20.2": "§6.5",
    "§20.3": "§6.5",
    "§21": "§6.7",
    "§22": "§2",
    "Table 6": "§14",
    "Table 7": "§1.2.8",
    "§12": "§5.2",
    "§13": "§5.2",
    "§18.1": "§6.3",
    "§19.1": "§6.4",
} | {
    own: own
    for own in (
        *("§1.2.5", "§1.2.6", "§2", "§4.2", "§5", "§5.1", "§5.2", "§5.3", "§5.4", "§5.5", "§5.6"),
        *("§6", "§6.1", "§6.3", "§6.3.2", "§6.5", "§6.6", "§6.8", "§6.9", "§6.10"),
        *("§7", "§7.1", "§7.1.1", "§7.1.2", "§7.1.3", "§7.1.4", "§7.2.3", "§7.2.4", "§7.3", "§7.4"),
    )
}


def _needs(g: Game) -> bool:
    """Whoever else is in need, or has too many trains."""
    return look_for_crisis(g) or ask_for_trains(g)


def _facts(site: bool, *, more_players: bool) -> Facts:
    """The printed facts; the site has a phase more, its own most players, and counts privates at the end."""
    facts = facts_of("1817")
    if more_players and facts.more_players:
        more = facts.more_players
        facts = msgspec.structs.replace(
            facts,
            players=facts.players | {"max": more.max},
            starting_cash=facts.starting_cash | more.starting_cash,
            cert_limit=facts.cert_limit | more.cert_limit,
        )
    if site:
        first, *others = facts.phases
        between: PhaseFacts = msgspec.structs.replace(first, name="2+", on="2+")
        limits = facts.limits | {"private_worth": 1}
        facts = msgspec.structs.replace(facts, phases=(first, between, *others), limits=limits)
    return facts
