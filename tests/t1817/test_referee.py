"""A referee of the events of random games: each event is compared with the rulebook.

The referee knows the position and the next event, and nothing of the rules that caused it. It computes by
itself what the book says. Only games by the book are checked: those of `tests/simulation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest
from msgspec.structs import replace

from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine import AnyEvent, copy_state, fold
from engine.core.components import components_of, tile_faces
from engine.core.events import (
    BidMade,
    CashMoved,
    CompanyReturned,
    DividendDeclared,
    FramePopped,
    FramePushed,
    FrameReplaced,
    InterestSet,
    LoansChanged,
    ParSet,
    PriceMoved,
    RoundStarted,
    SharesMoved,
    TileLaid,
    TokenPlaced,
    TrainMoved,
)
from engine.core.reasons import CashReason, LoanReason, PriceReason, TrainReason
from engine.core.state import (
    BANK,
    POOL,
    Auction,
    Company,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    ShareholderSettlement,
    State,
    StockRound,
    StockTurn,
    is_seat,
)
from engine.game_text.history import HistoryLine

FIRST_GRAY, LAST_GRAY, LAST = 1, 3, 31
"""Columns of the market: 0 is liquidation, up to 3 acquisition, 31 is $600 (1817 §1.2.2)."""
PRICES = [cell.price if cell else 0 for cell in components_of("1817").market.rows[0]]
FACES = {private.sym: private.price for private in components_of("1817").privates}
CLOSURES = {
    PriceReason.INTEREST_UNPAID,
    PriceReason.NO_TRAIN,
    PriceReason.NO_PRESIDENT,
    PriceReason.TOKENS_UNPAID,
}
PAYING = {PriceReason.DIVIDEND, PriceReason.WITHHELD, PriceReason.NO_DIVIDEND}
SETTLEMENTS = {CashReason.SHARE_SETTLEMENT, CashReason.SHORT_SETTLEMENT}


def column(company: Company) -> int:
    assert company.cell is not None
    return company.cell[1]


def in_play(state: State) -> dict[str, Company]:
    return {sym: co for sym, co in state.companies.items() if co.cell is not None}


class Referee:
    """Follows a game and yields a complaint for each event that the book does not allow."""

    def __init__(self, start: State) -> None:
        self.state = copy_state(start)
        self.squeeze = "short_squeeze" in start.options
        self.most_shorts = {5: 5, 10: 10 if "increased_short_sales" in start.options else 5}
        self.operated: list[str] = []
        self.arrived: dict[str, int] = {}
        self.exported = self.loans = self.moves = 0
        self.laid: list[str] = []
        self.tokens = 0
        self.shown: dict[str, tuple[int, int, int]] = {}

    def check_line(self, line: HistoryLine) -> Iterator[str]:
        for at, event in enumerate(line.events):
            yield from self._check_event(event, line.events[at + 1 :], line.events[at - 1 : at])
            if isinstance(event, PriceMoved | ParSet):
                self.moves += 1
                self.arrived[event.company] = self.moves
            self.state = fold([event], self.state)

    def _check_event(
        self, event: AnyEvent, after: Sequence[AnyEvent], before: Sequence[AnyEvent]
    ) -> Iterator[str]:
        match event:
            case RoundStarted(name):
                yield from self._check_round(name)
            case FramePushed(OperatingTurn(company)):
                self.laid, self.tokens = [], 0
                yield from self._check_turn(company)
            case FrameReplaced(MergerRound()) if isinstance(self.state.stack[0], OperatingRound):
                missing = {c for c, co in in_play(self.state).items() if column(co) > 0} - {*self.operated}
                if missing:
                    yield f"1817 §6: {missing} have had no turn"
            case FramePopped() if isinstance(self.state.top, StockTurn):
                self._remember_columns()
            case LoansChanged(company, 1, LoanReason.TAKEN):
                yield from self._check_loan(company, after)
            case LoansChanged(company, -1, LoanReason.REPAID) if isinstance(self.state.top, OperatingTurn):
                column_right = min(column(self._company(company)) + 1, LAST)
                yield from self._check_move(company, after[1:2], column_right, "1817 §6.9")
            case DividendDeclared():
                yield from self._check_dividend(event, after)
            case TileLaid() if isinstance(self.state.top, OperatingTurn):
                yield from self._check_tile(event, before)
            case TokenPlaced() if isinstance(self.state.top, OperatingTurn):
                self.tokens += 1
                if self.tokens > 1:
                    yield "1817 §6.4: a second station token in a turn"
            case TrainMoved(reason=TrainReason.EXPORTED):
                self.exported += 1
            case CashMoved(company, amount=amount, reason=CashReason.INTEREST, subject=""):
                due = self._company(company).loans * self.state.interest_per_loan
                if amount != due:
                    yield f"1817 §6.8: the {company} pays ${amount} of interest, not ${due}"
            case FramePopped() if isinstance(self.state.top, ShareholderSettlement):
                yield from self._check_settlement(self.state.top, after)
            case BidMade():
                yield from self._check_bid(event)
            case SharesMoved() if isinstance(self.state.top, StockTurn):
                yield from self._check_shares(event)
            case PriceMoved(company, (_, to), why):
                if (to == 0) != (why in CLOSURES):
                    yield f"1817 §6.6: the {company} has come to column {to} because {why}"

    def _company(self, company: str) -> Company:
        return self.state.companies[company]

    def _check_move(self, company: str, events: Sequence[AnyEvent], to: int, where: str) -> Iterator[str]:
        """Whether the first event moves the company's token to that column, if it is not there."""
        here = moved = column(self._company(company))
        for event in events[:1]:
            if isinstance(event, PriceMoved) and event.reason in (
                PriceReason.LOAN,
                PriceReason.LOAN_REPAYMENT,
            ):
                moved = event.cell[1]
        if moved != to:
            yield f"{where}: the {company} goes from column {here} to {moved}, not {to}"

    # -- rounds ------------------------------------------------------------------------------

    def _check_round(self, name: str) -> Iterator[str]:
        if name.startswith("operating"):
            self.operated, self.exported = [], 0
            self.loans = sum(co.loans for co in self.state.companies.values())
            if name.split()[2].endswith(".1"):
                yield from self._check_end_of_stock_round()
        elif name.startswith("merger") and self.exported != 1:
            yield f"1817 §6.11: {self.exported} trains exported after an operating round"

    def _remember_columns(self) -> None:
        """Note how the companies stand as a stock turn ends."""
        self.shown = {}
        for sym, co in in_play(self.state).items():
            if co.size and co.size > 2:
                held = sum(p for h, p in co.shares.items() if is_seat(h) and p > 0)
                self.shown[sym] = column(co), held, max(co.shares.get(POOL, 0), 0) * co.size // 100

    def _check_end_of_stock_round(self) -> Iterator[str]:
        for sym, (start, held, pool) in self.shown.items():
            now = column(self._company(sym))
            if start and now:
                risen = min(start + (held >= 100) + (self.squeeze and held > 100), LAST)
                if now != max(risen - pool, FIRST_GRAY):
                    shares = f"{held} % held, {pool} pooled"
                    yield f"1817 §5.7: the {sym} goes from column {start} to {now}: {shares}"

    def _check_turn(self, company: str) -> Iterator[str]:
        rate = 5 * max(-(-self.loans // 5), 1)
        if self.state.interest_per_loan != rate:
            yield f"1817 §1.2.5: the interest is ${self.state.interest_per_loan} with {self.loans} loans"
        mine = column(self._company(company)), -self.arrived[company]
        for other, co in in_play(self.state).items():
            if other not in (company, *self.operated) and (column(co), -self.arrived[other]) > mine:
                yield f"1817 §6.2: the {company} operates before the {other}"
        if company in self.operated or mine[0] == 0:
            yield f"1817 §6: the {company} has a turn"
        self.operated.append(company)

    # -- companies ---------------------------------------------------------------------------

    def _check_loan(self, company: str, after: Sequence[AnyEvent]) -> Iterator[str]:
        co = self._company(company)
        if co.loans >= (co.size or 0) or sum(c.loans for c in self.state.companies.values()) >= 70:
            yield f"1817 §1.2.5: the {company} takes a loan beyond {co.loans}"
        if after[0] != CashMoved(BANK, company, 100, CashReason.LOAN):
            yield f"1817 §1.2.5: the {company} gets {after[0]} for a loan"
        yield from self._check_move(company, after[1:2], max(column(co) - 1, FIRST_GRAY), "1817 §1.2.5")

    def _check_dividend(self, event: DividendDeclared, after: Sequence[AnyEvent]) -> Iterator[str]:
        co, revenue = self._company(event.company), event.revenue
        assert co.size is not None
        half = revenue // 2 // 10 * 10 if co.size == 10 else revenue // 2
        kept = {"pay": 0, "half": half}.get(event.kind, revenue)
        paid, worth = revenue - kept, PRICES[column(co)] if column(co) > LAST_GRAY else 40
        here = [
            e
            for e in after
            if isinstance(e, CashMoved) and (e.reason, e.subject) == (CashReason.DIVIDEND, event.company)
        ]
        due = {
            (BANK, holder) if percent > 0 else (holder, BANK): abs(percent) * paid // 100
            for holder, percent in co.shares.items()
            if is_seat(holder) or (holder == event.company and percent > 0)
        }
        if {(e.source, e.target): e.amount for e in here} != {k: v for k, v in due.items() if v}:
            yield f"1817 §6.6: ${paid} of the {event.company} are paid as {here}"
        steps = -1 if paid == 0 else (paid >= worth) + (paid >= 2 * worth)
        to = min(max(column(co) + steps, FIRST_GRAY), LAST)
        moved = [e.cell[1] for e in after if isinstance(e, PriceMoved) and e.company == event.company]
        whys = [e.reason for e in after if isinstance(e, PriceMoved) and e.company == event.company]
        ends = [cell for cell, why in zip(moved, whys, strict=True) if why in PAYING]
        if (ends[-1] if ends else column(co)) != to:
            yield f"1817 §6.6: the {event.company} pays ${paid} and goes from column {column(co)} to {ends}"

    def _check_settlement(self, frame: ShareholderSettlement, after: Sequence[AnyEvent]) -> Iterator[str]:
        co = self._company(frame.company)
        assert co.size is not None
        each, due = max(frame.amount, 0) // co.size, {}
        for holder, percent in co.shares.items():
            if is_seat(holder):
                parties = (BANK, holder) if percent > 0 else (holder, BANK)
                due[parties] = each * (abs(percent) * co.size // 100)
        here = after[: list(after).index(CompanyReturned(frame.company))]
        paid = [e for e in here if isinstance(e, CashMoved) and e.reason in SETTLEMENTS]
        if {(e.source, e.target): e.amount for e in paid} != {k: v for k, v in due.items() if v}:
            yield f"1817 §7.2.4: ${frame.amount} for the {frame.company} are settled as {paid}"

    def _check_tile(self, event: TileLaid, before: Sequence[AnyEvent]) -> Iterator[str]:
        upgrades = [hex for hex in self.laid if hex.startswith("+")]
        upgrade = tile_faces()[event.tile].color != "yellow"
        if len(self.laid) > 1 or (upgrade and upgrades) or event.hex in (h.lstrip("+") for h in self.laid):
            yield f"1817 §6.3: {event} after {self.laid}"
        paid = sum(e.amount for e in before if isinstance(e, CashMoved) and e.source == event.company)
        if self.laid and paid < 20:
            yield f"1817 §6.3: a second tile for ${paid}"
        if event.hex in self.state.mine_hexes:
            yield f"1817 §6.3.2: a tile with a mine is replaced in {event.hex}"
        self.laid.append(("+" if upgrade else "") + event.hex)

    # -- players -----------------------------------------------------------------------------

    def _check_bid(self, event: BidMade) -> Iterator[str]:
        auction = self.state.top
        high = auction.high_bid if isinstance(auction, Auction) else 0
        opening = "certificate" if isinstance(self.state.stack[0], StockRound) else "private"
        kind = auction.kind if isinstance(auction, Auction) else opening
        step = 10 if kind == "sale" else 5
        most = {"private": FACES.get(event.item, 0), "certificate": 400}.get(kind, 10**6)
        first = isinstance(auction, Auction) and auction.high_bidder is None
        if event.amount % step or event.amount > most or (event.amount <= high and not first and high):
            yield f"1817 §4.2, §5.5, §7.2.4: {event} over ${high}"
        if kind == "sale" and first:
            co = self._company(event.item)
            least = PRICES[column(co)] * (co.size or 0) if column(co) > LAST_GRAY else 10
            if event.amount < least:
                yield f"1817 §7.2.4: {event} of at least ${least}"
        mine = kind == "sale" and self._company(event.item).president == event.seat
        if mine and not first and event.amount > high + 10:
            yield f"1817 §7.2.4: the president bids ${event.amount} over ${high}"

    def _check_shares(self, event: SharesMoved) -> Iterator[str]:
        base, co = self.state.stack[0], self._company(event.company)
        assert isinstance(base, StockRound)
        if column(co) <= LAST_GRAY:
            yield f"1817 §1.2.2: {event} while the {event.company} is in trouble"
        if is_seat(event.source):
            held = co.shares.get(event.source, 0)
            if co.size == 2 or event.company in base.formed:
                yield f"1817 §5.2, §5.3: {event}"
            if held <= 0:
                yield from self._check_short_sale(event, co)
        elif is_seat(event.target) and co.size:
            after = co.shares.get(event.target, 0) + event.percent
            if after > max(60, 200 // co.size) or event.company in base.sold_by_seat.get(event.target, ()):
                yield f"1817 §5.1, §5.4: {event}"

    def _check_short_sale(self, event: SharesMoved, co: Company) -> Iterator[str]:
        assert co.size is not None
        now = sum(-p for p in co.shares.values() if p < 0) * co.size // 100
        if self.state.phase == "8" or now >= self.most_shorts.get(co.size, 0) or event.target != POOL:
            yield f"1817 §5.3: {event} with {now} sold short"


def check_game(game: SimulatedGame) -> None:
    """Each event of the game follows the rulebook."""
    assert game.failure is None
    referee = Referee(game.start)
    for number, line in enumerate(game.history_lines, 1):
        assert list(referee.check_line(line)) == [], (game.seed, number, line.line)
    assert referee.state == game.state


@cache
def _good_game() -> SimulatedGame:
    return simulate_game("1817", 4, 5)


def test_a_correct_game_is_correct() -> None:
    check_game(_good_game())


Change = Callable[[AnyEvent], list[AnyEvent] | None]
"""The events that replace an event, or None to keep it."""


def _too_much(event: AnyEvent) -> list[AnyEvent] | None:
    if isinstance(event, CashMoved) and event.reason == CashReason.INTEREST and not event.subject:
        return [replace(event, amount=event.amount + 5)]
    return None


def _too_rich(event: AnyEvent) -> list[AnyEvent] | None:
    if isinstance(event, CashMoved) and event.reason in SETTLEMENTS:
        return [replace(event, amount=event.amount + 1)]
    return None


def _too_high(event: AnyEvent) -> list[AnyEvent] | None:
    return [replace(event, amount=event.amount + 1)] if isinstance(event, BidMade) else None


def _not_paid(event: AnyEvent) -> list[AnyEvent] | None:
    pays = isinstance(event, DividendDeclared) and event.kind == "pay"
    return [replace(event, kind="withhold")] if pays else None


def _unmoved(event: AnyEvent) -> list[AnyEvent] | None:
    return [] if isinstance(event, PriceMoved) and event.reason == PriceReason.LOAN else None


def _kept(event: AnyEvent) -> list[AnyEvent] | None:
    return [] if isinstance(event, TrainMoved) and event.reason == TrainReason.EXPORTED else None


def _dearer(event: AnyEvent) -> list[AnyEvent] | None:
    return [replace(event, dollars=event.dollars + 5)] if isinstance(event, InterestSet) else None


def _twice(event: AnyEvent) -> list[AnyEvent] | None:
    return [event, event] if isinstance(event, TileLaid) else None


def _again(event: AnyEvent) -> list[AnyEvent] | None:
    turn = isinstance(event, FramePushed) and isinstance(event.frame, OperatingTurn)
    return [event, event] if turn else None


@pytest.mark.parametrize(
    ("change", "section"),
    [
        (_too_high, "1817 §4.2"),
        (_too_much, "1817 §6.8"),
        (_too_rich, "1817 §7.2.4"),
        (_not_paid, "1817 §6.6"),
        (_unmoved, "1817 §1.2.5"),
        (_kept, "1817 §6.11"),
        (_dearer, "1817 §1.2.5"),
        (_twice, "1817 §6.3"),
        (_again, "1817 §6:"),
    ],
)
def test_the_referee_detects_a_changed_event(change: Change, section: str) -> None:
    """The first event of a correct game to which the change applies is changed."""
    game = _good_game()
    referee, changed = Referee(game.start), False
    for line in game.history_lines:
        events = list(line.events)
        for at, event in enumerate(events):
            if not changed and (instead := change(event)) is not None:
                events[at : at + 1], changed = instead, True
        if complaint := next(referee.check_line(HistoryLine(line.seat, line.line, events)), None):
            assert changed and complaint.startswith(section), complaint
            return
    raise AssertionError("the referee has detected nothing")
