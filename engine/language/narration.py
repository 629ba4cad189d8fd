"""Events as sentences that a player would say.

Money is named with what it was for: a payment is held back until the share, train or private that it
bought follows, and income and dividends become one sentence each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.core.components import train_label
from engine.core.events import (
    AnyEvent,
    CashMoved,
    CompanyReturned,
    DividendDeclared,
    FramePushed,
    FrameReplaced,
    LoansChanged,
    OfferEnded,
    Passed,
    PlayerBankrupt,
    PresidencyVacated,
    PriceMoved,
    PriorityMoved,
    PrivateMoved,
    RoundStarted,
    SharesMoved,
    SharesRestructured,
    TileLaid,
    TokenPlaced,
    TokenRemoved,
    TrainMoved,
)
from engine.core.reasons import CashReason, LoanReason, TrainReason
from engine.core.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    AnyFrame,
    Auction,
    CompanyStart,
    GameOver,
    MergerPoll,
    Waterfall,
)
from engine.game import Game
from engine.language.event_groups import (
    EventGroup,
    LapsedOffersGroup,
    LoanGroup,
    PriceMoveGroup,
    PrivateClosingGroup,
    TakeoverGroup,
    TokenRemovalGroup,
    hex_label,
)
from engine.language.event_sentences import (
    FLUSHING_EVENTS,
    SILENT_EVENTS,
    event_sentence,
    owner_label,
    payment_sentence,
)
from engine.mergers.merger_rounds import poll_subject

_DECLINED = {
    "growth": "to convert or merge",
    "issue": "to issue or redeem shares",
    "loans": "to take loans",
    "privates": "to buy a private",
    "repay": "to repay loans",
    "token": "to place a token",
    "track": "to lay track",
    "trains": "to buy a train",
}
"""What a company declines, by the name of its step, where the name itself does not read well."""


def narrate(g: Game, events: Iterable[AnyEvent]) -> list[str]:
    """The events as sentences; `g` is the game after them."""
    happened = _in_order_of_telling(list(events))
    narrator = _Narrator(g, happened)
    for event in happened:
        narrator.handle(event)
    narrator.finish()
    return narrator.sentences


def _in_order_of_telling(events: list[AnyEvent]) -> list[AnyEvent]:
    """The events in the order in which they are told: a move of the priority deal comes after what caused it,
    and before the next round."""
    at = next((n for n, event in enumerate(events) if isinstance(event, PriorityMoved)), len(events))
    rounds = (n for n, event in enumerate(events) if n > at and isinstance(event, RoundStarted))
    end = next(rounds, len(events))
    return [*events[:at], *events[at + 1 : end], *events[at : at + 1], *events[end:]]


class _Narrator:
    """Turns events into sentences, one after the other.

    Held back are `_pending_payment`, whose purpose has not followed yet, `_pending_sale`, whose price has
    not, and `_payouts`: income or dividends by owner under one heading. `_revenue` is the last dividend
    declared, `_waterfall` the last frame of the opening auction. `_group` goes on as long as the next event
    belongs to it. `_sizes`: the numbers of shares that companies come to have; `_returned`: companies that
    leave play.
    """

    def __init__(self, g: Game, events: Sequence[AnyEvent] = ()) -> None:
        self._g = g
        self._group: EventGroup | None = None
        gone = {event.company for event in events if isinstance(event, PresidencyVacated)}
        gone |= {frame.company for frame in g.state.stack if isinstance(frame, CompanyStart)}
        self._sizes = {
            event.company: event.size
            for event in events
            if isinstance(event, SharesRestructured) and event.company not in gone
        }
        self._returned = {event.company for event in events if isinstance(event, CompanyReturned)}
        self.sentences: list[str] = []
        self._pending_payment: CashMoved | None = None
        self._pending_sale: SharesMoved | None = None
        self._heading: str | None = None
        self._payouts: dict[str, int] = {}
        self._revenue = 0
        self._waterfall: Waterfall | None = None
        self._passed = False

    def _label(self, owner: str, of: str | None = None) -> str:
        return owner_label(self._g, owner, of)

    def add(self, sentence: str) -> None:
        self.sentences.append(sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else "."))

    # -- what is held back -------------------------------------------------------------------

    def flush(self) -> None:
        """Say what was held back."""
        if self._payouts:
            amounts = ", ".join(f"{self._label(o)} ${dollars:,}" for o, dollars in self._payouts.items())
            self.add(f"{self._heading}: {amounts}")
        if self._pending_payment:
            self.add(payment_sentence(self._g, self._pending_payment))
        if self._pending_sale:
            sale, holder = self._pending_sale, self._label(self._pending_sale.target)
            if sale.percent < 0:
                self.add(f"{holder} takes over {-sale.percent} % of the {sale.company} sold short")
            else:
                self.add(f"{sale.percent} % of the {sale.company} goes to {holder}")
        self._pending_payment, self._pending_sale, self._heading, self._payouts = None, None, None, {}

    def _take_price(self) -> str:
        """The held payment as the price of what follows it: ` for $100`."""
        price = f" for ${self._pending_payment.amount:,}" if self._pending_payment else ""
        self._pending_payment = None
        return price

    def _flush_group(self) -> None:
        if self._group is not None:
            self.add(self._group.sentence())
            self._group = None

    def _start_group(self, group: EventGroup, event: AnyEvent) -> None:
        """Begin a group with its first event."""
        self.flush()
        group.try_add(event)
        self._group = group

    # -- events ------------------------------------------------------------------------------

    def handle(self, event: AnyEvent) -> None:
        if self._group is not None and self._group.try_add(event):
            return
        if type(event) in SILENT_EVENTS:
            return
        self._flush_group()
        if type(event) in FLUSHING_EVENTS:
            self.flush()
        if sentence := event_sentence(self._g, event):
            self.add(sentence)
        else:
            self._combine(event)

    def finish(self) -> None:
        """Say what is left."""
        self._flush_group()
        self.flush()

    def _combine(self, event: AnyEvent) -> None:
        """Events that are said together with others, or only sometimes."""
        match event:
            case CashMoved():
                self._cash_moved(event)
            case TileLaid(company, hex, tile, rotation):
                where = hex_label(self._g, hex)
                self.add(f"the {company} lays #{tile} on {where}, rotation {rotation}{self._take_price()}")
            case PresidencyVacated(company) if company not in self._returned:
                self.add(f"the {company} has no president")
            case SharesMoved():
                self._shares_moved(event)
            case PrivateMoved():
                self._private_moved(event)
            case OfferEnded():
                self._start_group(LapsedOffersGroup(), event)
            case PriceMoved(company, _, reason):
                self._start_group(PriceMoveGroup(self._g, company, reason), event)
            case TokenPlaced(company, hex):
                if not self._pending_payment:
                    self.flush()
                self.add(f"the {company} places a token in {hex_label(self._g, hex)}{self._take_price()}")
            case TokenRemoved(company, _, replaced_by):
                self._start_group(TokenRemovalGroup(self._g, company, replaced_by), event)
            case DividendDeclared():
                self._dividend_declared(event)
            case TrainMoved():
                self._train_moved(event)
            case LoansChanged(company, _, LoanReason.TAKEN | LoanReason.REPAID as reason):
                self._start_group(LoanGroup(self._g, company, reason), event)
            case LoansChanged(company, _, LoanReason.PASSED_ON, other):
                self._start_group(TakeoverGroup(company, other), event)
            case SharesRestructured(company, size) if self._sizes.get(company) == size:
                self.add(f"the {company} has {size} shares")
                del self._sizes[company]
            case CompanyReturned(company):
                self.flush()
                self.add(f"the {company} is out of play and may be started again")
            case PlayerBankrupt(seat):
                self.flush()
                self.add(f"{self._label(seat)} is bankrupt and out of the game")
            case Passed(actor, declined):
                self._passed = True
                step = _DECLINED.get(declined, declined)
                declines = f"declines {step}" if actor in self._g.state.companies else "passes"
                self.add(f"{self._label(actor)} {declines}")
            case FramePushed(frame):
                self._frame_pushed(frame)
            case FrameReplaced(frame):
                self._frame_replaced(frame)

    def _cash_moved(self, event: CashMoved) -> None:
        match event.reason:
            case CashReason.PRIVATE_INCOME:
                self._add_payout("Privates pay", event)
            case CashReason.DIVIDEND:
                company = event.subject
                paid = f"The {company} pays ${self._revenue:,}" if self._revenue else f"The {company} pays"
                self._add_payout(paid, event)
            case CashReason.TAKEOVER:
                self._start_group(TakeoverGroup(event.source, event.target), event)
            case _ if (
                self._pending_sale and event.source == BANK and event.target == self._pending_sale.source
            ):
                sale, self._pending_sale = self._pending_sale, None
                short = " short" if event.reason is CashReason.SHORT_SALE else ""
                seller, what = self._label(sale.source), f"{sale.percent} % of the {sale.company}"
                if sale.source == sale.company:
                    self.add(f"{seller} issues {sale.percent} % of its shares for ${event.amount:,}")
                else:
                    self.add(f"{seller} sells {what}{short} for ${event.amount:,}")
            case _:
                self.flush()
                self._pending_payment = event if event.reason is not CashReason.REVENUE else None
                if event.source == BANK:
                    self.flush()

    def _add_payout(self, heading: str, event: CashMoved) -> None:
        if heading != self._heading:
            self.flush()
        self._heading = heading
        self._payouts[event.target] = self._payouts.get(event.target, 0) + event.amount

    def _shares_moved(self, event: SharesMoved) -> None:
        if event.target == POOL:
            self.flush()
            self._pending_sale = event
            return
        if not self._pending_payment:
            self.flush()
        what = f"{event.percent} % of the {event.company}"
        if event.target == event.company and event.source == IPO:
            self.add(f"{what} goes into its treasury")
            return
        price = self._take_price()
        verb = "buys" if price else "receives"
        source = self._label(event.source, event.company)
        if price and event.target == event.company:
            verb, what = "redeems", f"{event.percent} % of its shares"
        self.add(f"{self._label(event.target)} {verb} {what} from {source}{price}")

    def _private_moved(self, event: PrivateMoved) -> None:
        if event.owner == CLOSED:
            self._start_group(PrivateClosingGroup(), event)
        elif event.owner == POOL:
            self.flush()
            self.add(f"the {event.private} is for sale in the open market")
        else:
            seller = self._pending_payment.target if self._pending_payment else BANK
            verb = "buys" if self._pending_payment else "receives"
            source = f" from {self._label(seller)}" if seller != BANK else ""
            self.add(f"{self._label(event.owner)} {verb} the {event.private}{source}{self._take_price()}")

    def _dividend_declared(self, event: DividendDeclared) -> None:
        self._revenue = event.revenue if event.kind == "pay" else 0
        if event.kind == "withhold":
            self.add(f"the {event.company} withholds ${event.revenue:,}")
        elif event.kind == "half":
            self.add(f"the {event.company} pays half of its ${event.revenue:,}")
        elif event.kind == "none":
            self.add(f"the {event.company} earns nothing")

    def _train_moved(self, event: TrainMoved) -> None:
        train = train_label(event.train)
        if event.reason is TrainReason.TAKEOVER:
            self._start_group(TakeoverGroup(event.source, event.target), event)
        elif event.reason is TrainReason.BOUGHT:
            source = self._label(event.source)
            self.add(f"the {event.target} buys {train} from {source}{self._take_price()}")
        elif event.target == POOL:
            self.flush()
            verb = "trades in" if event.reason is TrainReason.TRADED_IN else "discards"
            self.add(f"the {event.source} {verb} {train}")
        else:
            self.flush()
            of = f" of the {event.source}" if event.source in self._g.state.companies else ""
            how = {TrainReason.SCRAPPED: "out of the game"}.get(event.reason, event.reason.value)
            self.add(f"{train}{of} is {how}")

    def _frame_pushed(self, frame: AnyFrame) -> None:
        match frame:
            case GameOver():
                self._add_game_over(frame)
            case Auction(kind="sale", item=company):
                self.flush()
                self.add(f"the {company} is up for sale")

    def _frame_replaced(self, frame: AnyFrame) -> None:
        match frame:
            case GameOver():
                self._add_game_over(frame)
            case MergerPoll(willing_presidents=willing) if not self._passed:
                self.add(f"{self._label(willing[-1])} will {poll_subject(frame)}")
            case Waterfall(discount=discount):
                if self._waterfall and discount > self._waterfall.discount:
                    first = self._g.components.privates[0]
                    price = f"${first.price - discount:,}"
                    self.add(f"nobody has bought the {first.sym}: it is offered at {price} now")
                self._waterfall = frame

    def _add_game_over(self, frame: GameOver) -> None:
        self.flush()
        self.add(f"the game is over. {frame.reason}")
