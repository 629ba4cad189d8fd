"""What has happened, told in sentences that a player would say.

Money is told with what it was for: a payment is held back until the share, train or private that
it bought comes by, and income and dividends are told as one sentence each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.core.components import CityTokenAbility, train_label
from engine.core.events import (
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
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
    EndTriggered,
    FramePushed,
    FrameReplaced,
    InterestSet,
    LoansChanged,
    MineOrBridgeBuilt,
    OfferEnded,
    OfferMade,
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
    RoundStarted,
    SharesMoved,
    SharesReissued,
    SharesRestructured,
    TileLaid,
    TokenMoved,
    TokenPlaced,
    TokenRemoved,
    TrainMoved,
    TrainsRan,
    TrainsRusted,
    TrainsWithdrawn,
)
from engine.core.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
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

FLUSHING_EVENTS = (
    BankBroken,
    BidMade,
    CompanyClosed,
    ConnectionRunStarted,
    ConnectionRunPostponed,
    DividendDeclared,
    DestinationTokenPlaced,
    CompanyFloated,
    CityTokenPlaced,
    CityTokenRemoved,
    DestinationTokenKept,
    OfferEnded,
    OfferMade,
    ParSet,
    Passed,
    PhaseStarted,
    PriceMoved,
    PriorityMoved,
    PriceProtected,
    TrainsRan,
    SharesReissued,
    RoundStarted,
)
"""Events before which what was held back is told."""


OWNER_LABELS = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}


def narrate(g: Game, events: Iterable[AnyEvent]) -> list[str]:
    """The events as sentences; `g` is the game after them."""
    told = list(events)
    teller = _Narrator(g, told)
    for event in told:
        teller.handle(event)
    teller.finish()
    return teller.sentences


class _Narrator:
    """Turns events into sentences, one after the other.

    `_paid` is a payment whose purpose has not come by yet, `_sold` a sale whose price has not,
    `_shared` income or dividends by owner under their heading, `_revenue` what was last declared as a
    dividend, `_sale` how the sale of the privates last stood. `_gathered` goes on as long as what follows
    belongs to it. `_sizes`: how many shares companies come to have; `_returned`: those that leave play.
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
        if owner == of:
            return "its treasury"
        if owner in self._g.state.companies:
            return f"the {owner}"
        return OWNER_LABELS.get(owner) or self._g.state.name(owner)

    def add_sentence(self, sentence: str) -> None:
        self.sentences.append(sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else "."))

    def flush(self) -> None:
        """Tell what was held back."""
        if self._payouts:
            self.add_sentence(
                f"{self._heading}: "
                + ", ".join(f"{self.owner_label(o)} ${d}" for o, d in self._payouts.items())
            )
        if self._pending_payment:
            self.add_sentence(self._payment_sentence(self._pending_payment))
        if self._pending_sale:
            sold = self._pending_sale
            if sold.percent < 0:
                short = f"{-sold.percent} % of the {sold.company} sold short"
                self.add_sentence(f"{self.owner_label(sold.target)} takes over {short}")
            else:
                self.add_sentence(
                    f"{sold.percent} % of the {sold.company} go to {self.owner_label(sold.target)}"
                )
        self._pending_payment, self._pending_sale, self._heading, self._payouts = None, None, None, {}

    def _payment_sentence(self, paid: CashMoved) -> str:
        """A payment for which nothing has come by."""
        source, target, dollars = (
            self.owner_label(paid.source),
            self.owner_label(paid.target),
            f"${paid.amount}",
        )
        if paid.source == BANK:
            if paid.reason == "bankruptcy":
                return f"{dollars} that {target} owes are not paid"
            return f"{target} receives {dollars} ({paid.reason})"
        told = {
            "bankruptcy": f"{source} loses {dollars} by bankruptcy",
            "set aside for its loans": f"{dollars} of {source} are set aside for its loans",
            "what the company had": f"{target} gets the {dollars} of {source}",
        }
        return told.get(paid.reason) or f"{source} pays {dollars} for {paid.reason}"

    def handle(self, event: AnyEvent) -> None:
        if self._group is not None and self._group.try_add(event):
            return
        tell: Callable[[Any], None] | None = getattr(self, f"_{type(event).__name__}", None)
        if tell is not None:
            self._flush_group()
        if isinstance(event, FLUSHING_EVENTS):
            self.flush()
        if tell is not None:
            tell(event)

    def finish(self) -> None:
        """Tell what is left."""
        self._flush_group()
        self.flush()

    def _flush_group(self) -> None:
        if self._group is not None:
            self.add_sentence(self._group.sentence())
            self._group = None

    def _start_group(self, gathered: EventGroup, event: AnyEvent) -> None:
        """Begin with the first of several."""
        self.flush()
        gathered.try_add(event)
        self._group = gathered

    def _take_price(self) -> str:
        """The held payment as the price of what has come by."""
        price = f" for ${self._pending_payment.amount}" if self._pending_payment else ""
        self._pending_payment = None
        return price

    # -- money -------------------------------------------------------------------------

    def _CashMoved(self, event: CashMoved) -> None:
        if event.reason.startswith(("income", "dividend")):
            company = event.reason.split()[-1]
            paid = f"The {company} pays ${self._revenue}" if self._revenue else f"The {company} pays"
            heading = "Privates pay" if event.reason.startswith("income") else paid
            if heading != self._heading:
                self.flush()
            self._heading = heading
            self._payouts[event.target] = self._payouts.get(event.target, 0) + event.amount
        elif event.reason.startswith("what the ") and event.target in self._g.state.companies:
            self._start_group(TakeoverGroup(event.source, event.target), event)
        elif self._pending_sale and event.source == BANK and event.target == self._pending_sale.source:
            sold, self._pending_sale = self._pending_sale, None
            what = f"{sold.percent} % of the {sold.company}"
            how = " short" if event.reason.endswith("sold short") else ""
            self.add_sentence(f"{self.owner_label(sold.source)} sells {what}{how} for ${event.amount}")
        else:
            self.flush()
            self._pending_payment = event if event.reason != "revenue" else None
            if event.source == BANK:
                self.flush()

    def _BankBroken(self, event: BankBroken) -> None:
        rounds = self._g.title.questions[OperatingRound]
        whole = not isinstance(rounds, OperatingRoundRules) or rounds.finish_set
        last = "a whole set of operating rounds" if whole else "an operating round"
        self.add_sentence(f"The bank is broken: the game ends with {last}")

    # -- shares and privates -------------------------------------------------------------

    def _SharesMoved(self, event: SharesMoved) -> None:
        if event.target == POOL:
            self.flush()
            self._pending_sale = event
            return
        if not self._pending_payment:
            self.flush()
        if event.target == event.company and event.source == IPO:
            self.add_sentence(f"{event.percent} % of the {event.company} go into its treasury")
            return
        price = self._take_price()
        verb = "buys" if price else "receives"
        source = self.owner_label(event.source, event.company)
        what = f"{event.percent} % of the {event.company}"
        self.add_sentence(f"{self.owner_label(event.target)} {verb} {what} from {source}{price}")

    def _PrivateMoved(self, event: PrivateMoved) -> None:
        if event.owner == CLOSED:
            self._start_group(PrivateClosingGroup(), event)
        elif event.owner == POOL:
            self.flush()
            self.add_sentence(f"the {event.private} is for sale in the open market")
        else:
            seller = self._pending_payment.target if self._pending_payment else BANK
            verb = "buys" if self._pending_payment else "receives"
            source = f" from {self.owner_label(seller)}" if seller != BANK else ""
            self.add_sentence(
                f"{self.owner_label(event.owner)} {verb} the {event.private}{source}{self._take_price()}"
            )

    def _BidMade(self, event: BidMade) -> None:
        self.add_sentence(f"{self.owner_label(event.seat)} bids ${event.amount} for the {event.item}")

    def _ParSet(self, event: ParSet) -> None:
        self.add_sentence(f"the {event.company} starts at ${event.par}")

    def _SharesReissued(self, event: SharesReissued) -> None:
        self.add_sentence(f"the {event.company} reissues its shares at ${event.par}")

    def _PriceProtected(self, event: PriceProtected) -> None:
        self.add_sentence(f"{self.owner_label(event.seat)} protects the price of the {event.company}")

    def _CompanyClosed(self, event: CompanyClosed) -> None:
        self.add_sentence(f"the {event.company} is closed for good")

    def _PriceMoved(self, event: PriceMoved) -> None:
        self._start_group(PriceMoveGroup(self._g, event.company, event.reason), event)

    def _PresidentNamed(self, event: PresidentNamed) -> None:
        self.add_sentence(f"{self.owner_label(event.seat)} is president of the {event.company}")

    def _CompanyFloated(self, event: CompanyFloated) -> None:
        self.add_sentence(f"the {event.company} floats")

    # -- operations ----------------------------------------------------------------------

    def _hex_label(self, hex: str) -> str:
        return hex_label(self._g, hex)

    def _TileLaid(self, event: TileLaid) -> None:
        price = self._take_price()
        where = self._hex_label(event.hex)
        self.add_sentence(
            f"the {event.company} lays #{event.tile} on {where}, rotation {event.rotation}{price}"
        )

    def _TokenPlaced(self, event: TokenPlaced) -> None:
        if not self._pending_payment:
            self.flush()
        self.add_sentence(
            f"the {event.company} places a token in {self._hex_label(event.hex)}{self._take_price()}"
        )

    def _ConnectionRunStarted(self, event: ConnectionRunStarted) -> None:
        self.add_sentence(f"the {event.company} has reached its destination: its connection run follows")

    def _ConnectionRunPostponed(self, event: ConnectionRunPostponed) -> None:
        self.add_sentence(
            f"the {event.company} {'asks for' if event.resumed else 'waits with'} its connection run"
        )

    def _DestinationTokenPlaced(self, event: DestinationTokenPlaced) -> None:
        self.add_sentence(
            f"the destination token of the {event.company} stands in {self._hex_label(event.hex)}"
        )

    def _DestinationTokenKept(self, event: DestinationTokenKept) -> None:
        cost = self._g.components.kept_token_cost
        self.add_sentence(f"the {event.company} has one more token, for ${cost}")

    def _CityTokenPlaced(self, event: CityTokenPlaced) -> None:
        token = event.token
        kind = "cattle token"
        if self._city_token_kind(event.private) == "port":
            kind = f"{'open' if token.is_open else 'closed'} port"
        self.add_sentence(f"the {token.company} has its {kind} in {self._hex_label(token.hex)}")

    def _city_token_kind(self, private: str) -> str:
        ability = self._g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        return ability.token

    def _CityTokenRemoved(self, event: CityTokenRemoved) -> None:
        self.add_sentence(f"the {self._city_token_kind(event.private)} of the {event.private} is off the map")

    def _TokenMoved(self, event: TokenMoved) -> None:
        self.add_sentence(
            f"the token of the {event.company} now stands in city {event.node} "
            f"of {self._hex_label(event.hex)}"
        )

    def _TrainsRan(self, event: TrainsRan) -> None:
        ran = ", ".join(f"{train} on {route}" for train, route in event.routes)
        self.add_sentence(f"the {event.company} runs {ran}: ${event.revenue}")

    def _DividendDeclared(self, event: DividendDeclared) -> None:
        self._revenue = event.revenue if event.kind == "pay" else 0
        if event.kind == "withhold":
            self.add_sentence(f"the {event.company} withholds ${event.revenue}")
        elif event.kind == "half":
            self.add_sentence(f"the {event.company} pays half of its ${event.revenue}")
        elif event.kind == "none":
            self.add_sentence(f"the {event.company} earns nothing")

    def _TrainMoved(self, event: TrainMoved) -> None:
        if event.target == POOL:
            self.flush()
            self.add_sentence(f"the {event.source} gives up {train_label(event.train)} ({event.reason})")
        elif event.target == CLOSED:
            self.flush()
            whose = f" of the {event.source}" if event.source in self._g.state.companies else ""
            self.add_sentence(f"{train_label(event.train)}{whose} is {event.reason}")
        elif event.reason.startswith("of the "):
            self._start_group(TakeoverGroup(event.source, event.target), event)
        else:
            source = self.owner_label(event.source)
            self.add_sentence(
                f"the {event.target} buys {train_label(event.train)} from {source}{self._take_price()}"
            )

    def _TrainsRusted(self, event: TrainsRusted) -> None:
        self.add_sentence(f"all {event.train}-trains are out of play")

    def _PhaseStarted(self, event: PhaseStarted) -> None:
        self.add_sentence(f"phase {event.phase} begins")

    # -- loans, growth and sales -----------------------------------------------------------

    def _LoansChanged(self, event: LoansChanged) -> None:
        if event.reason in ("taken", "repaid"):
            self._start_group(LoanGroup(self._g, event.company, event.reason), event)
        elif event.reason.startswith("to the "):
            self._start_group(TakeoverGroup(event.company, event.reason.removeprefix("to the ")), event)

    def _InterestSet(self, event: InterestSet) -> None:
        self.add_sentence(f"a loan costs ${event.dollars} in this round")

    def _SharesRestructured(self, event: SharesRestructured) -> None:
        if self._sizes.get(event.company) == event.size:
            self.add_sentence(f"the {event.company} has {event.size} shares")
            del self._sizes[event.company]

    def _PresidencyVacated(self, event: PresidencyVacated) -> None:
        if event.company not in self._returned:
            self.add_sentence(f"the {event.company} has no president")

    def _CompanyReturned(self, event: CompanyReturned) -> None:
        self.flush()
        self.add_sentence(f"the {event.company} is out of play, and may be started again")

    def _TokenRemoved(self, event: TokenRemoved) -> None:
        self._start_group(TokenRemovalGroup(self._g, event.company, event.replaced_by), event)

    def _MineOrBridgeBuilt(self, event: MineOrBridgeBuilt) -> None:
        what = "a coal mine" if event.kind == "mine" else "a bridge"
        self.add_sentence(f"the {event.company} has {what} in {self._hex_label(event.hex)}")

    def _PlayerBankrupt(self, event: PlayerBankrupt) -> None:
        self.flush()
        self.add_sentence(f"{self.owner_label(event.seat)} is bankrupt and out of the game")

    def _EndTriggered(self, event: EndTriggered) -> None:
        self.add_sentence(
            "the end of the game is in sight: one more stock round, and the set after it is the last"
        )

    def _TrainsWithdrawn(self, event: TrainsWithdrawn) -> None:
        self.add_sentence(f"the bank sells no more {event.train}-trains")

    # -- turns and rounds ------------------------------------------------------------------

    def _Passed(self, event: Passed) -> None:
        self._passed = True
        declines = event.actor in self._g.state.companies
        what = {"repay": "repayment"}.get(event.declined, event.declined)
        self.add_sentence(f"{self.owner_label(event.actor)} {f'declines {what}' if declines else 'passes'}")

    def _PriorityMoved(self, event: PriorityMoved) -> None:
        self.add_sentence(f"{self.owner_label(event.seat)} has the priority deal")

    def _OfferMade(self, event: OfferMade) -> None:
        offer = event.offer
        self.add_sentence(
            f"{self.owner_label(offer.proposer)} offers {self.owner_label(offer.recipient)}: "
            f"{offer_label(self._g, offer)}"
        )

    def _OfferEnded(self, event: OfferEnded) -> None:
        ended = event.outcome == "lapsed"
        self.add_sentence("the offer ends with the turn" if ended else f"the offer is {event.outcome}")

    def _PlayerRenamed(self, event: PlayerRenamed) -> None:
        self.add_sentence(f"{event.name} plays on in seat {int(event.seat[1:]) + 1}")

    def _RoundStarted(self, event: RoundStarted) -> None:
        self.add_sentence(f"{event.round} begins")

    def _FramePushed(self, event: FramePushed) -> None:
        match event.frame:
            case GameOver():
                self._add_game_over(event.frame)
            case Auction(kind="sale"):
                self.flush()
                self.add_sentence(f"the {event.frame.item} is up for sale")

    def _FrameReplaced(self, event: FrameReplaced) -> None:
        if isinstance(event.frame, GameOver):
            self._add_game_over(event.frame)
        if isinstance(event.frame, MergerPoll) and not self._passed:
            self.add_sentence(f"{self.owner_label(event.frame.willing_presidents[-1])} will act")
        if isinstance(event.frame, Waterfall):
            if self._waterfall and event.frame.discount > self._waterfall.discount:
                self._add_discount(event.frame.discount)
            self._waterfall = event.frame

    def _add_discount(self, dollars: int) -> None:
        private = self._g.components.privates[0]
        self.add_sentence(
            f"nobody has bought the {private.sym}: it is offered at ${private.price - dollars} now"
        )

    def _add_game_over(self, frame: GameOver) -> None:
        self.flush()
        self.add_sentence(f"the game is over. {frame.reason}")
