"""Events as sentences that a player would say.

Money is named with what it was for: a payment is held back until the share, train or private that it
bought follows, and income and dividends become one sentence each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.core.components import CityTokenAbility, train_label
from engine.core.events import (
    AbilityUsed,
    AnyEvent,
    BankBroken,
    BidMade,
    CashMoved,
    CityTokenPlaced,
    CityTokenRemoved,
    CompanyClosed,
    CompanyFloated,
    CompanyReturned,
    ConnectionRunPostponed,
    ConnectionRunStarted,
    CoveredShortsChanged,
    CoveredShortsClosed,
    CrisisStartSeatChanged,
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
    EndTriggered,
    FramePopped,
    FramePushed,
    FrameReplaced,
    InterestSet,
    LoansChanged,
    MineOrBridgeBuilt,
    OfferEnded,
    OfferMade,
    OperatingTurnStarted,
    ParSet,
    Passed,
    PhaseStarted,
    PlayerBankrupt,
    PlayerRenamed,
    PresidencyVacated,
    PresidentNamed,
    PriceMoved,
    PriceProtected,
    PriorityMoved,
    PrivateMoved,
    QuestionAsked,
    RoundStarted,
    SharesMoved,
    SharesReissued,
    SharesRestructured,
    StandingProtectionChanged,
    TileLaid,
    TokenMoved,
    TokenPlaced,
    TokenRemoved,
    TrainMoved,
    TrainsRan,
    TrainsRusted,
    TrainsWithdrawn,
    UnpaidInterestChanged,
    UnplacedTokensChanged,
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
    OperatingRound,
    Waterfall,
)
from engine.finance.offers import offer_label
from engine.game import Game
from engine.language.event_groups import (
    EventGroup,
    LoanGroup,
    PriceMoveGroup,
    PrivateClosingGroup,
    TakeoverGroup,
    TokenRemovalGroup,
    hex_label,
)
from engine.rounds.sequence import OperatingRoundRules

SILENT_EVENTS = (
    AbilityUsed,
    CoveredShortsChanged,
    CoveredShortsClosed,
    CrisisStartSeatChanged,
    FramePopped,
    OperatingTurnStarted,
    QuestionAsked,
    StandingProtectionChanged,
    UnpaidInterestChanged,
    UnplacedTokensChanged,
)
"""Events that no sentence mentions."""

FLUSHING_EVENTS = (
    BankBroken,
    BidMade,
    CityTokenPlaced,
    CityTokenRemoved,
    CompanyClosed,
    CompanyFloated,
    ConnectionRunPostponed,
    ConnectionRunStarted,
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
    OfferEnded,
    OfferMade,
    ParSet,
    Passed,
    PhaseStarted,
    PriceMoved,
    PriceProtected,
    PriorityMoved,
    RoundStarted,
    SharesReissued,
    TrainsRan,
)
"""Events before which whatever was held back is said: it does not belong to them."""

OWNER_LABELS = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}

_PURPOSES = {
    CashReason.CAPITAL: "capital",
    CashReason.COMPANY: "the {}",
    CashReason.FORFEIT: "the train of a closed company",
    CashReason.LOAN: "a loan",
    CashReason.LOAN_REPAYMENT: "a loan repaid",
    CashReason.LOAN_SHORTFALL: "loans of the {}",
    CashReason.PRESIDENT_CASH: "what its president had",
    CashReason.PRESIDENT_CERTIFICATE: "the president's certificate of the {}",
    CashReason.PRIVATE: "the {}",
    CashReason.SHARES: "shares of the {}",
    CashReason.SHARE_SETTLEMENT: "shares of the {}",
    CashReason.SHORT_SALE: "a share of the {} sold short",
    CashReason.SHORT_SETTLEMENT: "shares of the {} sold short",
    CashReason.TERRAIN: "the terrain of {}",
    CashReason.TOKEN: "a token",
    CashReason.TOKENS: "station tokens",
    CashReason.TRACK: "track on {}",
    CashReason.TRAIN_CONTRIBUTION: "a forced purchase",
    CashReason.TREASURY_SHARES: "its treasury shares",
}
"""What a payment was for, as the object of `pays $100 for`; `{}` is the subject of the event."""


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
    happened = list(events)
    narrator = _Narrator(g, happened)
    for event in happened:
        narrator.handle(event)
    narrator.finish()
    return narrator.sentences


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

    def owner_label(self, owner: str, of: str | None = None) -> str:
        """An owner in words; the treasury, where a company owns shares `of` itself."""
        if owner == of:
            return "its treasury"
        if owner in self._g.state.companies:
            return f"the {owner}"
        return OWNER_LABELS.get(owner) or self._g.state.name(owner)

    def add(self, sentence: str) -> None:
        self.sentences.append(sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else "."))

    # -- what is held back -------------------------------------------------------------------

    def flush(self) -> None:
        """Say what was held back."""
        if self._payouts:
            amounts = ", ".join(f"{self.owner_label(o)} ${dollars}" for o, dollars in self._payouts.items())
            self.add(f"{self._heading}: {amounts}")
        if self._pending_payment:
            self.add(self._payment_sentence(self._pending_payment))
        if self._pending_sale:
            sale, holder = self._pending_sale, self.owner_label(self._pending_sale.target)
            if sale.percent < 0:
                self.add(f"{holder} takes over {-sale.percent} % of the {sale.company} sold short")
            else:
                self.add(f"{sale.percent} % of the {sale.company} goes to {holder}")
        self._pending_payment, self._pending_sale, self._heading, self._payouts = None, None, None, {}

    def _payment_sentence(self, paid: CashMoved) -> str:
        """A payment whose purpose no event has shown."""
        source, target, dollars = (
            self.owner_label(paid.source),
            self.owner_label(paid.target),
            f"${paid.amount}",
        )
        match paid.reason:
            case CashReason.BANKRUPTCY if paid.source == BANK:
                return f"{target} cannot pay {dollars} more"
            case CashReason.BANKRUPTCY:
                return f"{source} loses {dollars} by bankruptcy"
            case CashReason.SET_ASIDE:
                return f"{dollars} of {source} is set aside for its loans"
            case CashReason.COMPANY_CASH:
                return f"{target} receives the {dollars} of {source}"
            case CashReason.CLOSING | CashReason.REMAINDER:
                return f"the {dollars} of {source} goes to the bank"
            case CashReason.TRAIN:
                purpose = train_label(paid.subject)
            case CashReason.INTEREST:
                purpose = f"interest of the {paid.subject}" if paid.subject else "interest"
            case reason:
                purpose = _PURPOSES.get(reason, reason).format(paid.subject)
        if paid.source == BANK:
            return f"{target} receives {dollars} ({purpose})"
        return f"{source} pays {dollars} for {purpose}"

    def _take_price(self) -> str:
        """The held payment as the price of what follows it: ` for $100`."""
        price = f" for ${self._pending_payment.amount}" if self._pending_payment else ""
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
        if isinstance(event, SILENT_EVENTS):
            return
        self._flush_group()
        if isinstance(event, FLUSHING_EVENTS):
            self.flush()
        if sentence := self._sentence(event):
            self.add(sentence)
        else:
            self._combine(event)

    def finish(self) -> None:
        """Say what is left."""
        self._flush_group()
        self.flush()

    def _sentence(self, event: AnyEvent) -> str | None:
        """The sentence of an event that has one of its own."""
        label = self.owner_label
        match event:
            case BankBroken():
                return f"the bank is broken: the game ends with {self._last_rounds()}"
            case BidMade(seat, item, amount):
                return f"{label(seat)} bids ${amount} for the {item}"
            case ParSet(company, par):
                return f"the {company} starts at ${par}"
            case SharesReissued(company, par):
                return f"the {company} reissues its shares at ${par}"
            case PriceProtected(seat, company):
                return f"{label(seat)} protects the price of the {company}"
            case CompanyClosed(company):
                return f"the {company} is closed for good"
            case PresidentNamed(company, seat):
                return f"{label(seat)} is president of the {company}"
            case PresidencyVacated(company) if company not in self._returned:
                return f"the {company} has no president"
            case CompanyFloated(company):
                return f"the {company} floats"
            case TileLaid(company, hex, tile, rotation):
                where = hex_label(self._g, hex)
                return f"the {company} lays #{tile} on {where}, rotation {rotation}{self._take_price()}"
            case TokenMoved(company, hex, node):
                return f"the token of the {company} is now in city {node} of {hex_label(self._g, hex)}"
            case ConnectionRunStarted(company):
                return f"the {company} has reached its destination and makes its connection run"
            case ConnectionRunPostponed(company, resumed):
                return f"the {company} {'asks for' if resumed else 'postpones'} its connection run"
            case DestinationTokenPlaced(company, hex):
                return f"the {company} places its destination token in {hex_label(self._g, hex)}"
            case DestinationTokenKept(company):
                return f"the {company} has one more token, for ${self._g.components.kept_token_cost}"
            case CityTokenPlaced(private, token):
                kind = self._token_word(private)
                if kind == "port":
                    kind = "open port" if token.is_open else "closed port"
                return f"the {token.company} places its {kind} token in {hex_label(self._g, token.hex)}"
            case CityTokenRemoved(private):
                return f"the {self._token_word(private)} token of the {private} leaves the map"
            case MineOrBridgeBuilt(company, _, hex, kind):
                what = "a coal mine" if kind == "mine" else "a bridge"
                return f"the {company} has {what} in {hex_label(self._g, hex)}"
            case TrainsRan(company, routes, revenue):
                ran = ", ".join(f"{train} on {route}" for train, route in routes)
                return f"the {company} runs {ran}: ${revenue}"
            case TrainsRusted(train):
                return f"all {train}-trains rust"
            case TrainsWithdrawn(train):
                return f"the bank sells no more {train}-trains"
            case PhaseStarted(phase):
                return f"phase {phase} begins"
            case InterestSet(dollars):
                return f"interest is ${dollars} a loan in this round"
            case EndTriggered():
                return "the end of the game is near: after one more stock round comes the last set of rounds"
            case PriorityMoved(seat):
                return f"{label(seat)} has the priority deal"
            case OfferMade(offer):
                deal = offer_label(self._g, offer)
                return f"{label(offer.proposer)} makes {label(offer.recipient)} an offer: {deal}"
            case OfferEnded(_, outcome):
                return "the offer ends with the turn" if outcome == "lapsed" else f"the offer is {outcome}"
            case PlayerRenamed(seat, name):
                return f"{name} takes over seat {int(seat[1:]) + 1}"
            case RoundStarted(name):
                return f"{name} begins"
        return None

    def _token_word(self, private: str) -> str:
        """What the token of a private is called: `port`, `cattle`."""
        ability = self._g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        return ability.token

    def _last_rounds(self) -> str:
        rounds = self._g.title.questions[OperatingRound]
        whole = not isinstance(rounds, OperatingRoundRules) or rounds.finish_set
        return "this set of operating rounds" if whole else "this operating round"

    def _combine(self, event: AnyEvent) -> None:
        """Events that are said together with others, or only sometimes."""
        match event:
            case CashMoved():
                self._cash_moved(event)
            case SharesMoved():
                self._shares_moved(event)
            case PrivateMoved():
                self._private_moved(event)
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
                self.add(f"{self.owner_label(seat)} is bankrupt and out of the game")
            case Passed(actor, declined):
                self._passed = True
                step = _DECLINED.get(declined, declined)
                declines = f"declines {step}" if actor in self._g.state.companies else "passes"
                self.add(f"{self.owner_label(actor)} {declines}")
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
                paid = f"The {company} pays ${self._revenue}" if self._revenue else f"The {company} pays"
                self._add_payout(paid, event)
            case CashReason.TAKEOVER:
                self._start_group(TakeoverGroup(event.source, event.target), event)
            case _ if (
                self._pending_sale and event.source == BANK and event.target == self._pending_sale.source
            ):
                sale, self._pending_sale = self._pending_sale, None
                short = " short" if event.reason is CashReason.SHORT_SALE else ""
                seller, what = self.owner_label(sale.source), f"{sale.percent} % of the {sale.company}"
                if sale.source == sale.company:
                    self.add(f"{seller} issues {sale.percent} % of its shares for ${event.amount}")
                else:
                    self.add(f"{seller} sells {what}{short} for ${event.amount}")
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
        source = self.owner_label(event.source, event.company)
        if price and event.target == event.company:
            verb, what = "redeems", f"{event.percent} % of its shares"
        self.add(f"{self.owner_label(event.target)} {verb} {what} from {source}{price}")

    def _private_moved(self, event: PrivateMoved) -> None:
        if event.owner == CLOSED:
            self._start_group(PrivateClosingGroup(), event)
        elif event.owner == POOL:
            self.flush()
            self.add(f"the {event.private} is for sale in the open market")
        else:
            seller = self._pending_payment.target if self._pending_payment else BANK
            verb = "buys" if self._pending_payment else "receives"
            source = f" from {self.owner_label(seller)}" if seller != BANK else ""
            self.add(
                f"{self.owner_label(event.owner)} {verb} the {event.private}{source}{self._take_price()}"
            )

    def _dividend_declared(self, event: DividendDeclared) -> None:
        self._revenue = event.revenue if event.kind == "pay" else 0
        if event.kind == "withhold":
            self.add(f"the {event.company} withholds ${event.revenue}")
        elif event.kind == "half":
            self.add(f"the {event.company} pays half of its ${event.revenue}")
        elif event.kind == "none":
            self.add(f"the {event.company} earns nothing")

    def _train_moved(self, event: TrainMoved) -> None:
        train = train_label(event.train)
        if event.reason is TrainReason.TAKEOVER:
            self._start_group(TakeoverGroup(event.source, event.target), event)
        elif event.reason is TrainReason.BOUGHT:
            source = self.owner_label(event.source)
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
                self.add(f"{self.owner_label(willing[-1])} will act")
            case Waterfall(discount=discount):
                if self._waterfall and discount > self._waterfall.discount:
                    first = self._g.components.privates[0]
                    price = f"${first.price - discount}"
                    self.add(f"nobody has bought the {first.sym}: it is offered at {price} now")
                self._waterfall = frame

    def _add_game_over(self, frame: GameOver) -> None:
        self.flush()
        self.add(f"the game is over. {frame.reason}")
