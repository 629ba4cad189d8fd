"""What has happened, told in sentences that a player would say.

Money is told with what it was for: a payment is held back until the share, train or private that
it bought comes by, and income and dividends are told as one sentence each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.events import (
    AnyEvent,
    BankBroke,
    BidMade,
    CashMoved,
    Changed,
    CompanyClosed,
    CompanyReturned,
    ConnectionBegan,
    ConnectionLeft,
    Declared,
    DestinationPlaced,
    EndInSight,
    Floated,
    Improved,
    ImprovementGone,
    InterestSet,
    LoansChanged,
    MarkerKept,
    OfferEnded,
    OfferMade,
    Opened,
    ParSet,
    Passed,
    PhaseStarted,
    PlayerOut,
    PlayerRenamed,
    PresidentLost,
    PresidentNamed,
    PriceMoved,
    PriorityMoved,
    PrivateMoved,
    Protected,
    Ran,
    Reissued,
    Restructured,
    RoundBegan,
    SharesMoved,
    SiteBuilt,
    TileLaid,
    TokenPlaced,
    TokenShifted,
    TokenTaken,
    TrainMoved,
    TrainsGone,
    Withdrawn,
)
from engine.facts import a_train
from engine.game import Game
from engine.gathered import Borrowed, Cleared, Closed, Gathered, Moved, Taken, hex_words
from engine.offers import offer_words
from engine.rounds import OperatingRounds
from engine.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    Auction,
    Formation,
    GameOver,
    OperatingRound,
    Poll,
    Waterfall,
)

CLOSE_A_MATTER = (
    BankBroke,
    BidMade,
    CompanyClosed,
    ConnectionBegan,
    ConnectionLeft,
    Declared,
    DestinationPlaced,
    Floated,
    Improved,
    ImprovementGone,
    MarkerKept,
    OfferEnded,
    OfferMade,
    ParSet,
    Passed,
    PhaseStarted,
    PriceMoved,
    PriorityMoved,
    Protected,
    Ran,
    Reissued,
    RoundBegan,
)
"""Events before which what was held back is told."""


PLACES = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}


def narrate(g: Game, events: Iterable[AnyEvent]) -> list[str]:
    """The events as sentences; `g` is the game after them."""
    told = list(events)
    teller = _Teller(g, told)
    for event in told:
        teller.hear(event)
    teller.end()
    return teller.told


class _Teller:
    """Turns events into sentences, one after the other.

    `_paid` is a payment whose purpose has not come by yet, `_sold` a sale whose price has not,
    `_shared` income or dividends by owner under their heading, `_revenue` what was last declared as a
    dividend, `_sale` how the sale of the privates last stood. `_gathered` goes on as long as what follows
    belongs to it. `_sizes`: how many shares companies come to have; `_returned`: those that leave play.
    """

    def __init__(self, g: Game, events: Sequence[AnyEvent] = ()) -> None:
        self._g = g
        self._gathered: Gathered | None = None
        gone = {event.company for event in events if isinstance(event, PresidentLost)}
        gone |= {frame.company for frame in g.state.stack if isinstance(frame, Formation)}
        self._sizes = {
            event.company: event.size
            for event in events
            if isinstance(event, Restructured) and event.company not in gone
        }
        self._returned = {event.company for event in events if isinstance(event, CompanyReturned)}
        self.told: list[str] = []
        self._paid: CashMoved | None = None
        self._sold: SharesMoved | None = None
        self._heading: str | None = None
        self._shared: dict[str, int] = {}
        self._revenue = 0
        self._sale: Waterfall | None = None
        self._passed = False

    def who(self, owner: str, of: str | None = None) -> str:
        if owner == of:
            return "its treasury"
        if owner in self._g.state.companies:
            return f"the {owner}"
        return PLACES.get(owner) or self._g.state.name(owner)

    def say(self, sentence: str) -> None:
        self.told.append(sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else "."))

    def pause(self) -> None:
        """Tell what was held back."""
        if self._shared:
            self.say(f"{self._heading}: " + ", ".join(f"{self.who(o)} ${d}" for o, d in self._shared.items()))
        if self._paid:
            self.say(self._payment(self._paid))
        if self._sold:
            sold = self._sold
            if sold.percent < 0:
                short = f"{-sold.percent} % of the {sold.company} sold short"
                self.say(f"{self.who(sold.target)} takes over {short}")
            else:
                self.say(f"{sold.percent} % of the {sold.company} go to {self.who(sold.target)}")
        self._paid, self._sold, self._heading, self._shared = None, None, None, {}

    def _payment(self, paid: CashMoved) -> str:
        """A payment for which nothing has come by."""
        source, target, dollars = self.who(paid.source), self.who(paid.target), f"${paid.amount}"
        if paid.source == BANK:
            if paid.why == "bankruptcy":
                return f"{dollars} that {target} owes are not paid"
            return f"{target} receives {dollars} ({paid.why})"
        told = {
            "bankruptcy": f"{source} loses {dollars} by bankruptcy",
            "set aside for its loans": f"{dollars} of {source} are set aside for its loans",
            "what the company had": f"{target} gets the {dollars} of {source}",
        }
        return told.get(paid.why) or f"{source} pays {dollars} for {paid.why}"

    def hear(self, event: AnyEvent) -> None:
        if self._gathered is not None and self._gathered.takes(event):
            return
        tell: Callable[[Any], None] | None = getattr(self, f"_{type(event).__name__}", None)
        if tell is not None:
            self._tell_gathered()
        if isinstance(event, CLOSE_A_MATTER):
            self.pause()
        if tell is not None:
            tell(event)

    def end(self) -> None:
        """Tell what is left."""
        self._tell_gathered()
        self.pause()

    def _tell_gathered(self) -> None:
        if self._gathered is not None:
            self.say(self._gathered.sentence())
            self._gathered = None

    def _gather(self, gathered: Gathered, event: AnyEvent) -> None:
        """Begin with the first of several."""
        self.pause()
        gathered.takes(event)
        self._gathered = gathered

    def _price(self) -> str:
        """The held payment as the price of what has come by."""
        price = f" for ${self._paid.amount}" if self._paid else ""
        self._paid = None
        return price

    # -- money -------------------------------------------------------------------------

    def _CashMoved(self, event: CashMoved) -> None:
        if event.why.startswith(("income", "dividend")):
            company = event.why.split()[-1]
            paid = f"The {company} pays ${self._revenue}" if self._revenue else f"The {company} pays"
            heading = "Privates pay" if event.why.startswith("income") else paid
            if heading != self._heading:
                self.pause()
            self._heading = heading
            self._shared[event.target] = self._shared.get(event.target, 0) + event.amount
        elif event.why.startswith("what the ") and event.target in self._g.state.companies:
            self._gather(Taken(event.source, event.target), event)
        elif self._sold and event.source == BANK and event.target == self._sold.source:
            sold, self._sold = self._sold, None
            what = f"{sold.percent} % of the {sold.company}"
            how = " short" if event.why.endswith("sold short") else ""
            self.say(f"{self.who(sold.source)} sells {what}{how} for ${event.amount}")
        else:
            self.pause()
            self._paid = event if event.why != "revenue" else None
            if event.source == BANK:
                self.pause()

    def _BankBroke(self, event: BankBroke) -> None:
        rounds = self._g.title.questions[OperatingRound]
        whole = not isinstance(rounds, OperatingRounds) or rounds.whole_set
        last = "a whole set of operating rounds" if whole else "an operating round"
        self.say(f"The bank is broken: the game ends with {last}")

    # -- shares and privates -------------------------------------------------------------

    def _SharesMoved(self, event: SharesMoved) -> None:
        if event.target == POOL:
            self.pause()
            self._sold = event
            return
        if not self._paid:
            self.pause()
        if event.target == event.company and event.source == IPO:
            self.say(f"{event.percent} % of the {event.company} go into its treasury")
            return
        price = self._price()
        verb = "buys" if price else "receives"
        source = self.who(event.source, event.company)
        what = f"{event.percent} % of the {event.company}"
        self.say(f"{self.who(event.target)} {verb} {what} from {source}{price}")

    def _PrivateMoved(self, event: PrivateMoved) -> None:
        if event.owner == CLOSED:
            self._gather(Closed(), event)
        elif event.owner == POOL:
            self.pause()
            self.say(f"the {event.private} is for sale in the open market")
        else:
            seller = self._paid.target if self._paid else BANK
            verb = "buys" if self._paid else "receives"
            source = f" from {self.who(seller)}" if seller != BANK else ""
            self.say(f"{self.who(event.owner)} {verb} the {event.private}{source}{self._price()}")

    def _BidMade(self, event: BidMade) -> None:
        self.say(f"{self.who(event.seat)} bids ${event.amount} for the {event.private}")

    def _ParSet(self, event: ParSet) -> None:
        self.say(f"the {event.company} starts at ${event.par}")

    def _Reissued(self, event: Reissued) -> None:
        self.say(f"the {event.company} reissues its shares at ${event.par}")

    def _Protected(self, event: Protected) -> None:
        self.say(f"{self.who(event.seat)} protects the price of the {event.company}")

    def _CompanyClosed(self, event: CompanyClosed) -> None:
        self.say(f"the {event.company} is closed for good")

    def _PriceMoved(self, event: PriceMoved) -> None:
        self._gather(Moved(self._g, event.company, event.why), event)

    def _PresidentNamed(self, event: PresidentNamed) -> None:
        self.say(f"{self.who(event.seat)} is president of the {event.company}")

    def _Floated(self, event: Floated) -> None:
        self.say(f"the {event.company} floats")

    # -- operations ----------------------------------------------------------------------

    def _hex(self, hex: str) -> str:
        return hex_words(self._g, hex)

    def _TileLaid(self, event: TileLaid) -> None:
        price = self._price()
        where = self._hex(event.hex)
        self.say(f"the {event.company} lays #{event.tile} on {where}, rotation {event.turn}{price}")

    def _TokenPlaced(self, event: TokenPlaced) -> None:
        if not self._paid:
            self.pause()
        self.say(f"the {event.company} places a token in {self._hex(event.hex)}{self._price()}")

    def _ConnectionBegan(self, event: ConnectionBegan) -> None:
        self.say(f"the {event.company} has reached its destination: its connection run follows")

    def _ConnectionLeft(self, event: ConnectionLeft) -> None:
        self.say(f"the {event.company} {'asks for' if event.wanted else 'waits with'} its connection run")

    def _DestinationPlaced(self, event: DestinationPlaced) -> None:
        self.say(f"the destination token of the {event.company} stands in {self._hex(event.hex)}")

    def _MarkerKept(self, event: MarkerKept) -> None:
        cost = self._g.facts.kept_token_cost
        self.say(f"the {event.company} has one more token, for ${cost}")

    def _Improved(self, event: Improved) -> None:
        token = event.improvement
        word = self._g.private_facts(event.private).effect["word"]
        kind = f"{'open' if token.open else 'closed'} port" if word == "port" else f"{word} token"
        self.say(f"the {token.company} has its {kind} in {self._hex(token.hex)}")

    def _ImprovementGone(self, event: ImprovementGone) -> None:
        word = self._g.private_facts(event.private).effect["word"]
        self.say(f"the {word} of the {event.private} is off the map")

    def _TokenShifted(self, event: TokenShifted) -> None:
        self.say(
            f"the token of the {event.company} now stands in city {event.node} of {self._hex(event.hex)}"
        )

    def _Ran(self, event: Ran) -> None:
        ran = ", ".join(f"{train} on {route}" for train, route in event.routes)
        self.say(f"the {event.company} runs {ran}: ${event.revenue}")

    def _Declared(self, event: Declared) -> None:
        self._revenue = event.revenue if event.kind == "pay" else 0
        if event.kind == "withhold":
            self.say(f"the {event.company} withholds ${event.revenue}")
        elif event.kind == "half":
            self.say(f"the {event.company} pays half of its ${event.revenue}")
        elif event.kind == "none":
            self.say(f"the {event.company} earns nothing")

    def _TrainMoved(self, event: TrainMoved) -> None:
        if event.target == POOL:
            self.pause()
            self.say(f"the {event.source} gives up {a_train(event.train)} ({event.why})")
        elif event.target == CLOSED:
            self.pause()
            whose = f" of the {event.source}" if event.source in self._g.state.companies else ""
            self.say(f"{a_train(event.train)}{whose} is {event.why}")
        elif event.why.startswith("of the "):
            self._gather(Taken(event.source, event.target), event)
        else:
            source = self.who(event.source)
            self.say(f"the {event.target} buys {a_train(event.train)} from {source}{self._price()}")

    def _TrainsGone(self, event: TrainsGone) -> None:
        self.say(f"all {event.train}-trains are out of play")

    def _PhaseStarted(self, event: PhaseStarted) -> None:
        self.say(f"phase {event.phase} begins")

    # -- loans, growth and sales -----------------------------------------------------------

    def _LoansChanged(self, event: LoansChanged) -> None:
        if event.why in ("taken", "repaid"):
            self._gather(Borrowed(self._g, event.company, event.why), event)
        elif event.why.startswith("to the "):
            self._gather(Taken(event.company, event.why.removeprefix("to the ")), event)

    def _InterestSet(self, event: InterestSet) -> None:
        self.say(f"a loan costs ${event.dollars} in this round")

    def _Restructured(self, event: Restructured) -> None:
        if self._sizes.get(event.company) == event.size:
            self.say(f"the {event.company} has {event.size} shares")
            del self._sizes[event.company]

    def _PresidentLost(self, event: PresidentLost) -> None:
        if event.company not in self._returned:
            self.say(f"the {event.company} has no president")

    def _CompanyReturned(self, event: CompanyReturned) -> None:
        self.pause()
        self.say(f"the {event.company} is out of play, and may be started again")

    def _TokenTaken(self, event: TokenTaken) -> None:
        self._gather(Cleared(self._g, event.company, event.by), event)

    def _SiteBuilt(self, event: SiteBuilt) -> None:
        what = "a coal mine" if event.kind == "mine" else "a bridge"
        self.say(f"the {event.company} has {what} in {self._hex(event.hex)}")

    def _PlayerOut(self, event: PlayerOut) -> None:
        self.pause()
        self.say(f"{self.who(event.seat)} is bankrupt and out of the game")

    def _EndInSight(self, event: EndInSight) -> None:
        self.say("the end of the game is in sight: one more stock round, and the set after it is the last")

    def _Withdrawn(self, event: Withdrawn) -> None:
        self.say(f"the bank sells no more {event.train}-trains")

    # -- turns and rounds ------------------------------------------------------------------

    def _Passed(self, event: Passed) -> None:
        self._passed = True
        declines = event.who in self._g.state.companies
        what = {"repay": "repayment"}.get(event.what, event.what)
        self.say(f"{self.who(event.who)} {f'declines {what}' if declines else 'passes'}")

    def _PriorityMoved(self, event: PriorityMoved) -> None:
        self.say(f"{self.who(event.seat)} has the priority deal")

    def _OfferMade(self, event: OfferMade) -> None:
        offer = event.offer
        self.say(f"{self.who(offer.asker)} offers {self.who(offer.asked)}: {offer_words(self._g, offer)}")

    def _OfferEnded(self, event: OfferEnded) -> None:
        ended = event.outcome == "lapsed"
        self.say("the offer ends with the turn" if ended else f"the offer is {event.outcome}")

    def _PlayerRenamed(self, event: PlayerRenamed) -> None:
        self.say(f"{event.name} plays on in seat {int(event.seat[1:]) + 1}")

    def _RoundBegan(self, event: RoundBegan) -> None:
        self.say(f"{event.round} begins")

    def _Opened(self, event: Opened) -> None:
        match event.frame:
            case GameOver():
                self._ended(event.frame)
            case Auction(kind="sale"):
                self.pause()
                self.say(f"the {event.frame.lot} is up for sale")

    def _Changed(self, event: Changed) -> None:
        if isinstance(event.frame, GameOver):
            self._ended(event.frame)
        if isinstance(event.frame, Poll) and not self._passed:
            self.say(f"{self.who(event.frame.willing[-1])} will act")
        if isinstance(event.frame, Waterfall):
            if self._sale and event.frame.cut > self._sale.cut:
                self._cut(event.frame.cut)
            self._sale = event.frame

    def _cut(self, dollars: int) -> None:
        private = self._g.facts.privates[0]
        self.say(f"nobody has bought the {private.sym}: it is offered at ${private.price - dollars} now")

    def _ended(self, frame: GameOver) -> None:
        self.pause()
        self.say(f"the game is over. {frame.reason}")
