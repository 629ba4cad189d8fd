"""1817: the mechanics that it is made of, by the rulebook and by the conventions of 18xx.games.

Each place where the site differs from the book is a parameter here, or a difference of the printed
components, so this file is the list of the differences (`docs/conventions.md` shows them in words).
"""

from __future__ import annotations

from functools import partial

import msgspec

from engine.core.actions import BuyTrain, Merge
from engine.core.components import Components, PhaseDefinition, components_of
from engine.core.state import (
    CLOSED,
    ORPHANED,
    AnyFrame,
    Auction,
    BuyerChoice,
    CashCrisis,
    CompanyStart,
    Discard,
    ExcessTokens,
    GameOver,
    MergerPoll,
    MergerRound,
    MergerTurn,
    OperatingRound,
    OperatingTurn,
    PostMergerLoans,
    PostMergerTrade,
    SeedMoneySale,
    ShareholderSettlement,
    StockRound,
    StockTurn,
    TakeoverLoans,
)
from engine.finance.auctions import AuctionQuestion
from engine.finance.offers import OfferResponses
from engine.game import Game, GameTitle
from engine.insolvency.cash_crisis import CashCrisisQuestion, handle_interruptions, open_cash_crisis
from engine.mechanics import do_nothing, never
from engine.mergers.acquisition import (
    BuyerChoiceQuestion,
    CompanyAuction,
    ShareholderSettlementRules,
    TakeoverLoansQuestion,
)
from engine.mergers.after_merger import PostMergerLoansQuestion, PostMergerTradeQuestion
from engine.mergers.assets import ExcessTokensQuestion, ask_for_next_discard, ask_for_token_removal
from engine.mergers.merger import MergerConventions, merger_deal_handler
from engine.mergers.merger_rounds import MergerPollQuestion, MergerRoundRules
from engine.mergers.merger_turn import MergerTurnQuestion
from engine.opening.seed_money import SeedMoneyAuction, SeedMoneyQuestion
from engine.operating.dividends import DoubleJumpDividendStep
from engine.operating.loans_and_interest import (
    LoanRepaymentStep,
    OutOfTurnLoans,
    could_afford_train_with_loans,
    liquidate_without_train,
    pay_turn_interest,
    turn_is_over,
)
from engine.operating.mines_and_bridges import BridgeTokens, TwoTileTrackStep, mine_and_bridge_revenue_rules
from engine.operating.run import RunStep
from engine.operating.stations import TokenStep
from engine.operating.train_purchase import TrainStep, TrainTradeConventions, train_deal_handler
from engine.operating.trains import DiscardQuestion, ask_for_discards, scrap_obsolete_trains
from engine.operating.turn import AutomaticStep, OperatingTurnQuestion
from engine.rounds.merger_sequence import (
    GameLength,
    OperatingWithMergersRules,
    StockRoundEnd,
    begin_operating_round,
    begin_stock_round,
)
from engine.rounds.sequence import LAST_STOCK_ROUND_ON_SITE, GameOverRules, StockRoundRules, final_scores
from engine.stock.company_start import Capitalization, CertificateAuction, CompanyStartQuestion
from engine.stock.short_selling_turn import BidderCompanyActions, ShortSellingTurnQuestion
from engine.title import SITE_CONVENTIONS, validated_options

OPTIONS = (
    SITE_CONVENTIONS,
    "five_shorts",
    "increased_short_sales",
    "modern_trains",
    "more_players",
    "short_squeeze",
)
EXPANSIONS = {"volatility": "rules of its own, which the rulebook does not have"}
"""Options of 18xx.games that are no variants of the rulebook."""

SECTIONS = {
    "1830 §4": "1817 §5",
    "1830 §17": "1817 §6",
    "1830 §18": "1817 §6.3",
    "1830 §19": "1817 §6.4",
    "1830 §20.1": "1817 §6.5",
    "1830 §20.2": "1817 §6.5",
    "1830 §20.3": "1817 §6.5",
    "1830 §21": "1817 §6.7",
    "1830 §22": "1817 §2",
    "1830 Table 6": "1817 §14",
    "1830 Table 7": "1817 §1.2.8",
    "1830 §12": "1817 §5.2",
    "1830 §13": "1817 §5.2",
    "1830 §18.1": "1817 §6.3",
    "1830 §19.1": "1817 §6.4",
}
"""Where the rulebook of 1817 has the rules for which mechanics cite 1830."""

QUESTION_SECTIONS: dict[type[AnyFrame], str] = {
    SeedMoneySale: "1817 §4.2",
    StockTurn: "1817 §5",
    CompanyStart: "1817 §5.5",
    OperatingTurn: "1817 §6",
    CashCrisis: "1817 §7.4",
    MergerPoll: "1817 §7",
    MergerTurn: "1817 §7.1",
    PostMergerTrade: "1817 §7.1.4",
    PostMergerLoans: "1817 §7.1",
    BuyerChoice: "1817 §7.2.4",
    TakeoverLoans: "1817 §7.2.4",
    ExcessTokens: "1817 §7.3",
    Discard: "1817 §6.7",
    GameOver: "1817 §8",
}
"""Where the rulebook describes what each kind of frame asks."""

AUCTION_SECTIONS = {"private": "1817 §4.2", "certificate": "1817 §5.5", "sale": "1817 §7.2.4"}
"""Where it describes each kind of auction."""


def section_of(frame: AnyFrame) -> str:
    """Where the rulebook describes the question of a frame."""
    return AUCTION_SECTIONS[frame.kind] if isinstance(frame, Auction) else QUESTION_SECTIONS[type(frame)]


def compose(options: tuple[str, ...]) -> GameTitle:
    """The title under those options. Raises ValueError for one that it does not have."""
    for option in options:
        if option in EXPANSIONS:
            raise ValueError(
                f"{option} is an expansion of 1817 with {EXPANSIONS[option]}; it is not played here."
            )
    options = validated_options(OPTIONS, options)
    if {"five_shorts", "increased_short_sales"} <= set(options):
        raise ValueError("The options five_shorts and increased_short_sales exclude each other.")
    site = SITE_CONVENTIONS in options
    train_trade = TrainTradeConventions(
        discards_in_operating_order=not site, only_in_train_step=True, defers_discards=site
    )
    components = _components(
        site=site, more_players=site or "more_players" in options, modern_trains="modern_trains" in options
    )
    ten_shorts = "increased_short_sales" in options or (site and "five_shorts" not in options)
    private_auction = SeedMoneyAuction(above_face_value=site, multiples_of_five=not site)
    game_length = GameLength(final_merger=site)
    merger_conventions = MergerConventions(
        keeps_stack_position=site, nearest_presides=site, closes_before_excess=site
    )
    seed_money = components.seed_money
    stock_turn = ShortSellingTurnQuestion(
        sales_first=not site,
        max_shorts=((10, 10),) if ten_shorts else (),
        untradable_may_borrow=site,
        shorts_stay_open=site,
        asks_without_home=site,
    )
    return GameTitle(
        components=components,
        options=options,
        opening=lambda g, draw: SeedMoneySale(current_seat=g.state.seats[0], seed_money=seed_money),
        questions={
            SeedMoneySale: SeedMoneyQuestion(
                private_auction, next_round=lambda g: begin_stock_round(g, 1), ask_everyone=site
            ),
            Auction: AuctionQuestion(
                {
                    "private": private_auction,
                    "certificate": CertificateAuction(ask_by_worth=site),
                    "sale": CompanyAuction(
                        defers_new_liquidations=site, trains_to=ORPHANED if site else CLOSED
                    ),
                },
                bids_in_advance=not site,
            ),
            StockRound: StockRoundRules(
                last_round=LAST_STOCK_ROUND_ON_SITE if site else None,
                at_end=StockRoundEnd(short_squeeze="short_squeeze" in options),
                make_operating_round=lambda g, after: OperatingRound(
                    after, 1, game_length.operating_rounds(g, after)
                ),
                begin_operating_round=begin_operating_round,
            ),
            StockTurn: stock_turn,
            CompanyStart: CompanyStartQuestion(size_before_privates=site),
            OperatingRound: OperatingWithMergersRules("track"),
            OperatingTurn: OperatingTurnQuestion(
                (
                    TwoTileTrackStep(requires_most_exits=not site, always_asked=site),
                    TokenStep(),
                    RunStep(best_only=not site, allows_claims=site),
                    *(() if site else (AutomaticStep("obsolete", scrap_obsolete_trains),)),
                    DoubleJumpDividendStep(after_dividend=scrap_obsolete_trains)
                    if site
                    else DoubleJumpDividendStep(),
                    TrainStep(also_blocks=could_afford_train_with_loans, conventions=train_trade),
                    AutomaticStep("interest", pay_turn_interest),
                    LoanRepaymentStep(),
                    AutomaticStep("liquidation", liquidate_without_train),
                ),
                ends_early=turn_is_over,
                interrupt=open_cash_crisis,
                after_turn=partial(ask_for_discards, by_price=False) if site else do_nothing,
            ),
            CashCrisis: CashCrisisQuestion(
                one_share_at_a_time=not site,
                cash_to_company=not site,
                keeps_privates=site,
                bankrupt_without_sales=site,
                next_interruption=_open_crisis_or_train_limit if site else never,
            ),
            MergerRound: MergerRoundRules(game_length, polls=not site, one_pass=site, defers_crises=site),
            MergerPoll: MergerPollQuestion(),
            MergerTurn: MergerTurnQuestion(
                initiator_survives=site, checks_buyers_once=site, conventions=merger_conventions
            ),
            PostMergerTrade: PostMergerTradeQuestion(new_president_continues=site, asks_together=not site),
            PostMergerLoans: PostMergerLoansQuestion(),
            BuyerChoice: BuyerChoiceQuestion(defers_excess=site),
            TakeoverLoans: TakeoverLoansQuestion(loans_first=site),
            ShareholderSettlement: ShareholderSettlementRules(),
            ExcessTokens: ExcessTokensQuestion(
                next_interruption=_open_crisis_or_train_limit if site else never
            ),
            Discard: DiscardQuestion(
                bank_discards=not site,
                scraps_obsolete=site,
                next_interruption=ask_for_next_discard if site else never,
            ),
            GameOver: GameOverRules(),
        },
        out_of_turn=(
            OfferResponses(
                {BuyTrain: train_deal_handler(train_trade), Merge: merger_deal_handler(merger_conventions)}
            ),
            BridgeTokens(before_interest=site),
            OutOfTurnLoans(),
            *([BidderCompanyActions(stock_turn)] if site else []),
        ),
        scores=lambda g, bankrupt: final_scores(g, bankrupt, with_privates=True),
        flotation=Capitalization(),
        revenue_rules=mine_and_bridge_revenue_rules,
        after_sale=do_nothing,
        interrupt=partial(
            handle_interruptions, excess_tokens=ask_for_token_removal, excess_trains=ask_for_next_discard
        )
        if site
        else handle_interruptions,
        train_counts={"2": 40} if site else {},
        sections=SECTIONS,
        section_of=section_of,
    )


def _open_crisis_or_train_limit(g: Game) -> bool:
    """Ask the next player in a cash crisis, or the next with too many trains. False: there is none."""
    return open_cash_crisis(g) or ask_for_next_discard(g)


def _components(*, site: bool, more_players: bool, modern_trains: bool) -> Components:
    """The components under these options.

    The site has a phase of its own for the 2+ trains and counts privates at the end.
    """
    components = components_of("1817")
    if more_players and components.more_players:
        more = components.more_players
        components = msgspec.structs.replace(
            components,
            players=components.players | {"max": more.max},
            starting_cash=components.starting_cash | more.starting_cash,
            cert_limit=components.cert_limit | more.cert_limit,
        )
    if not modern_trains:
        components = msgspec.structs.replace(components, own_station_bonus={})
    if site:
        first, *others = components.phases
        between: PhaseDefinition = msgspec.structs.replace(first, name="2+", on="2+")
        components = msgspec.structs.replace(
            components, phases=(first, between, *others), privates_count_in_net_worth=True
        )
    return components
