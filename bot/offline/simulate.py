"""Random legal games to the end: `railpost simulate`.

Theory of operation. A player who chooses evenly among all options never gets anywhere: there are a
hundred lays for one train. So options are first put into kinds, by what is done and not by where,
a kind is drawn by its weight, and an option of that kind evenly. Weights make games progress and
yet leave room for what happens seldom; each game has a temper of its own, drawn from its seed, which
leans on some kinds, so that a hundred games visit more corners than one game does a hundred times.
Now and then somebody who is not asked acts, where the rules let him.

Everything follows from the seed: the same one gives the same game on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from math import exp
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot.files import FORMS, TEXT, exported, form_of
from bot.offline.invariants import (
    at_amount,
    is_aside,
    move_faults,
    offer_faults,
    position_faults,
    trespass_faults,
)
from engine import (
    CLOSED,
    POOL,
    TREASURY,
    Action,
    AnyEvent,
    Option,
    State,
    copied,
    decision,
    encoded,
    fold,
    game_of,
    is_seat,
    new_game,
    optional_rules,
    options,
    play,
    round_name,
    spell,
    title_of,
)
from engine.actions import (
    Accept,
    AskAgain,
    Bankrupt,
    Bid,
    BidNothing,
    BidUpTo,
    Bridge,
    Buy,
    Buyer,
    BuyNew,
    BuyOpenPrivate,
    BuyPrivate,
    BuyTrain,
    ChooseHome,
    ClosedPort,
    ClosePort,
    ConnectRun,
    ConnectWait,
    Convert,
    DealPrivate,
    Decline,
    DiscardTrain,
    Exchange,
    FloatCompany,
    Half,
    IssueShares,
    KeepDestination,
    Lay,
    Loan,
    LoanFor,
    Merge,
    Mill,
    Mine,
    OfferSale,
    OpenPort,
    Par,
    Pay,
    PlaceCattle,
    PlaceDestination,
    Protect,
    Raise,
    Redeem,
    RedeemFor,
    RedeemShares,
    Reissue,
    RemoveMarker,
    Repay,
    Run,
    Sell,
    SellNew,
    Short,
    StandBy,
    StartCompany,
    Token,
    WillAct,
    Withhold,
)
from engine.events import (
    BankBroke,
    BidMade,
    CashMoved,
    CompanyClosed,
    CompanyReturned,
    OfferEnded,
    Opened,
    PhaseStarted,
    PlayerOut,
    PresidentNamed,
    PriceMoved,
    PrivateMoved,
    SharesMoved,
    TokenShifted,
    TrainMoved,
    TrainsGone,
)
from engine.holdings import unit
from engine.kernel import refusal
from engine.loans import terms_of
from engine.operating.trains import cheapest
from engine.record import replay
from engine.record.telling import Telling, Told, text
from engine.state import (
    AnyFrame,
    Auction,
    Bidding,
    Borrowing,
    Claim,
    ConnectionTurn,
    Crisis,
    FreeToken,
    MergerTurn,
    OperatingTurn,
    Poll,
    Pricing,
    Protection,
    Purchase,
    ShareTrade,
    StockTurn,
    Subsidy,
    Surplus,
    Takeover,
    Waterfall,
)

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon", "Kay", "Lou")
MOST_MOVES = 8_000
BESIDE = 0.04
"""How often somebody acts beside the question, if he can."""
TEMPER = 0.8
"""How far a temper leans: a weight is multiplied by e to the power of -TEMPER to TEMPER."""
DRAWS = 30
"""How often optional rules are drawn until they are for so many players."""
ALL_IN = 0.02
"""How often a private is bid for beyond what is ample for it."""

WEIGHTS: dict[str, float] = {
    "buy a private that is offered": 8,
    "buy a private after price cuts": 5,
    "bid on a later private": 2.5,
    "raise in an auction": 4,
    "leave an auction": 4,
    "pass in the opening": 5,
    "par, after a private": 5,
    "par": 6,
    "buy from the initial offering": 9,
    "buy from the pool": 4,
    "buy from a treasury": 12,
    "buy several at once": 2,
    "buy again in the same turn": 2,
    "sell": 0.3,
    "sell several": 0.2,
    "sell a presidency": 0.5,
    "done in the stock round": 14,
    "exchange a private": 0.6,
    "buy a private for the company from its president": 2,
    "ask another player for a private for the company": 1,
    "offer a private to a player": 0.12,
    "ask a player for a private": 0.12,
    "accept": 3,
    "decline": 1.5,
    "withdraw an offer": 0.2,
    "lay": 8,
    "upgrade": 10,
    "lay by the power of a private": 3,
    "no track": 0.4,
    "token": 4,
    "token by the power of a private": 3,
    "no token": 3,
    "no free token": 1,
    "choose a home": 1,
    "run best": 12,
    "run worse than best": 0.6,
    "point out a better run": 3,
    "let a run stand": 2,
    "pay": 3,
    "pay half": 3,
    "withhold": 5,
    "buy a train": 6,
    "buy a train from the pool": 4,
    "buy a train with a trade-in": 4,
    "buy a train of an own company": 0.8,
    "ask another president for a train": 0.25,
    "buy a train with the president's money": 8,
    "sell shares for a train": 4,
    "sell a presidency for a train": 2,
    "no train": 2,
    "stay without a train": 0.5,
    "no private": 2,
    "discard": 1,
    "bankrupt": 1,
    "put up a private": 8,
    "bid up to a secret limit": 0.5,
    "bid nothing": 1,
    "start a company": 12,
    "choose a size": 1,
    "sell short": 1.5,
    "loan in the stock round": 1.2,
    "redeem for a company": 1.5,
    "no repay": 3,
    "no growth": 4,
    "no offer for sale": 6,
    "no more of a company": 3,
    "no more loans": 4,
    "loan": 0.2,
    "loan for a train": 4,
    "repay": 9,
    "lay with a mine": 6,
    "lay the tile of a private": 3,
    "bridge": 2,
    "will act": 3,
    "convert": 3,
    "merge": 4,
    "buy after growth": 6,
    "sell after growth": 0.5,
    "offer for sale": 0.5,
    "bid for a company": 4,
    "name the buyer": 1,
    "remove a marker": 1,
    "sell in a cash crisis": 4,
    "protect a price": 3,
    "do not protect": 2,
    "leave an answer": 0.3,
    "take back an answer": 0.3,
    "redeem from the pool": 1.5,
    "redeem from a player": 0.6,
    "reissue": 2,
    "buy a private from the open market": 3,
    "place the token of a private": 3,
    "close a port": 0.3,
    "connect": 4,
    "wait with a connection": 1,
    "ask for a connection": 1,
    "place a destination token": 3,
    "keep a destination token": 1,
    "issue shares": 1,
    "redeem shares": 1,
    "no issue": 3,
}
"""Every kind of decision, and how it is drawn beside the others that are open."""

CONSEQUENCES = (
    "private's price cut",
    "income paid in the opening",
    "presidency changed",
    "sold out, price rose",
    "offer lapsed",
    "tokens moved with an upgrade",
    "phase started",
    "trains rusted",
    "private closed",
    "president's money spent",
    "bank broken",
    "company closed",
    "company in liquidation",
    "company without a president in liquidation",
    "companies merged",
    "company bought by another",
    "company bid for by several",
    "company out of play again",
    "player in a cash crisis",
    "player out of the game",
    "short sellers pay a dividend",
    "short position closed",
    "held by players, price rose",
    "station markers above the limit",
    "loan taken over",
    "train exported",
    "obsolete train gone",
    "act beside the question",
)


# -- kinds -----------------------------------------------------------------------------------


def kind_of(state: State, seat: str, action: Action) -> str:
    """What sort of decision it is for that seat: a key of WEIGHTS."""
    match action:
        case BuyPrivate():
            cut = isinstance(state.top, Waterfall) and state.top.cut
            return "buy a private after price cuts" if cut else "buy a private that is offered"
        case Bid() if isinstance(state.top, Subsidy):
            return "put up a private"
        case Bid() if isinstance(state.top, Auction):
            return "raise in an auction"
        case Bid():
            return "raise in an auction" if isinstance(state.top, Bidding) else "bid on a later private"
        case Protect():
            return "protect a price"
        case StandBy():
            return "leave an answer"
        case AskAgain():
            return "take back an answer"
        case Redeem(_, source):
            return "redeem from a player" if source else "redeem from the pool"
        case Reissue():
            return "reissue"
        case BuyOpenPrivate():
            return "buy a private from the open market"
        case PlaceCattle() | OpenPort() | ClosedPort():
            return "place the token of a private"
        case ClosePort():
            return "close a port"
        case ConnectRun():
            return "connect" if isinstance(state.top, ConnectionTurn) else "ask for a connection"
        case ConnectWait():
            return "wait with a connection"
        case PlaceDestination():
            return "place a destination token"
        case KeepDestination():
            return "keep a destination token"
        case Par():
            return "par, after a private" if isinstance(state.top, Pricing) else "par"
        case Buy(_, source, count):
            if isinstance(state.top, StockTurn) and state.top.bought:
                return "buy again in the same turn"
            if count > 1:
                return "buy several at once"
            return {POOL: "buy from the pool", TREASURY: "buy from a treasury"}.get(
                source, "buy from the initial offering"
            )
        case Sell():
            return _kind_of_sale(state, seat, action)
        case Exchange():
            return "exchange a private"
        case DealPrivate():
            return _kind_of_deal(state, seat, action)
        case Accept():
            return "accept"
        case Decline() if isinstance(state.top, Protection):
            return "do not protect"
        case Decline(offer):
            mine = [o for o in state.offers if seat in (o.asked, o.asker) and offer in (None, o.number)]
            return "withdraw an offer" if mine and mine[0].asker == seat else "decline"
        case Lay(_, hex, _, using):
            if using:
                return "lay by the power of a private"
            return "upgrade" if hex in state.tiles else "lay"
        case Token():
            return (
                "token by the power of a private"
                if action.using or isinstance(state.top, FreeToken)
                else "token"
            )
        case ChooseHome():
            return "choose a home"
        case Run():
            return "point out a better run" if isinstance(state.top, Claim) else "run best"
        case Pay():
            return "pay"
        case Withhold():
            return "withhold"
        case Half():
            return "pay half"
        case IssueShares():
            return "issue shares"
        case RedeemShares():
            return "redeem shares"
        case BuyTrain():
            return _kind_of_train(state, action)
        case Loan(count):
            return "loan for a train" if _brings_train(state, count) else "loan"
        case DiscardTrain():
            return "discard"
        case Bankrupt():
            return "bankrupt"
    return KINDS_OF.get(type(action)) or _kind_of_pass(state)


KINDS_OF: dict[type[Action], str] = {
    Raise: "bid for a company",
    BidUpTo: "bid up to a secret limit",
    BidNothing: "bid nothing",
    StartCompany: "start a company",
    FloatCompany: "choose a size",
    Short: "sell short",
    LoanFor: "loan in the stock round",
    RedeemFor: "redeem for a company",
    Repay: "repay",
    Mine: "lay with a mine",
    Mill: "lay the tile of a private",
    Bridge: "bridge",
    WillAct: "will act",
    Convert: "convert",
    Merge: "merge",
    BuyNew: "buy after growth",
    SellNew: "sell after growth",
    OfferSale: "offer for sale",
    Buyer: "name the buyer",
    RemoveMarker: "remove a marker",
}
"""Kinds of decision that are made by one sort of action only."""


def _kind_of_pass(state: State) -> str:
    match state.top:
        case Waterfall():
            return "pass in the opening"
        case Bidding() | Auction():
            return "leave an auction"
        case Subsidy():
            return "pass in the opening"
        case MergerTurn(_, stage) | Poll(stage):
            return "no offer for sale" if stage == "offer" else "no growth"
        case ShareTrade():
            return "no more of a company"
        case Borrowing() | Takeover():
            return "no more loans"
        case FreeToken():
            return "no free token"
        case OperatingTurn(_, step):
            return "stay without a train" if _lacks_train(state) else f"no {step.removesuffix('s')}"
        case Claim():
            return "let a run stand"
    return "done in the stock round"


def _lacks_train(state: State) -> bool:
    """Whether trains are bought, by a company that has none."""
    top = state.top
    return isinstance(top, OperatingTurn) and top.step == "trains" and not state.companies[top.company].trains


def _brings_train(state: State, loans: int) -> bool:
    """Whether a company that has none could buy a train with so many loans, and not without."""
    if not _lacks_train(state):
        return False
    g, turn = game_of(state), state.top
    assert isinstance(turn, OperatingTurn)
    least, cash = cheapest(g), g.cash(turn.company)
    return least is not None and cash < least <= cash + loans * terms_of(g).value


def _kind_of_sale(state: State, seat: str, sale: Sell) -> str:
    if isinstance(state.top, Crisis):
        return "sell in a cash crisis"
    forced = isinstance(state.top, OperatingTurn)
    company = state.companies[sale.company]
    left = company.shares[seat] - sale.count * unit(game_of(state), sale.company)
    others = (p for holder, p in company.shares.items() if is_seat(holder) and holder != seat)
    if company.president == seat and max(others, default=0) > left:
        return "sell a presidency for a train" if forced else "sell a presidency"
    if forced:
        return "sell shares for a train"
    return "sell several" if sale.count > 1 else "sell"


def _kind_of_deal(state: State, seat: str, deal: DealPrivate) -> str:
    if deal.target is not None:
        return "offer a private to a player"
    owner = state.privates[deal.private]
    if isinstance(state.top, OperatingTurn):
        own = owner == seat
        return (
            "buy a private for the company from its president"
            if own
            else "ask another player for a private for the company"
        )
    return "ask a player for a private"


def _kind_of_train(state: State, buy: BuyTrain) -> str:
    assert isinstance(state.top, OperatingTurn)
    company, g = state.top.company, game_of(state)
    if buy.trading:
        return "buy a train with a trade-in"
    if buy.source in state.companies:
        same = g.president(buy.source) == g.president(company)
        return "buy a train of an own company" if same else "ask another president for a train"
    if g.train_facts(buy.train).price > g.cash(company):
        return "buy a train with the president's money"
    return "buy a train from the pool" if buy.source == POOL else "buy a train"


def consequences(before: State, events: Sequence[AnyEvent]) -> Iterator[str]:
    """What a move led to that happens seldom: members of CONSEQUENCES."""
    opening = isinstance(before.stack[0], Waterfall)
    for event in events:
        match event:
            case CashMoved(why=why) if opening and why.startswith("income"):
                yield "income paid in the opening"
            case CashMoved(source, why=why) if is_seat(source) and why.startswith("dividend"):
                yield "short sellers pay a dividend"
            case CashMoved(why="a forced purchase"):
                yield "president's money spent"
            case PresidentNamed(company):
                if before.companies[company].president is not None:
                    yield "presidency changed"
            case PriceMoved(why=why) if why in PRICES:
                yield from PRICES[why]
            case OfferEnded(_, "lapsed"):
                yield "offer lapsed"
            case PrivateMoved(_, owner) if owner == CLOSED:
                yield "private closed"
            case SharesMoved(company, target=seat) if before.companies[company].shares.get(seat, 0) < 0:
                yield "short position closed"
            case TrainMoved(why="exported"):
                yield "train exported"
            case TrainMoved(why="obsolete"):
                yield "obsolete train gone"
            case BidMade() if isinstance(before.top, Auction) and before.top.kind == "sale":
                if before.top.leader:
                    yield "company bid for by several"
            case Opened(frame) if type(frame) in FRAMES:
                yield FRAMES[type(frame)]
            case _ if type(event) in EVENTS:
                yield EVENTS[type(event)]


PRICES: dict[str, tuple[str, ...]] = {
    "sold out": ("sold out, price rose",),
    "merged": ("companies merged",),
    "all held by players": ("held by players, price rose",),
    "a loan taken over": ("loan taken over",),
    "without a train": ("company in liquidation",),
    "its interest is not paid": ("company in liquidation",),
    "its station markers are not paid": ("company in liquidation",),
    "without a president": ("company in liquidation", "company without a president in liquidation"),
}
FRAMES: dict[type[AnyFrame], str] = {
    Crisis: "player in a cash crisis",
    Purchase: "company bought by another",
    Surplus: "station markers above the limit",
}
EVENTS: dict[type[AnyEvent], str] = {
    TokenShifted: "tokens moved with an upgrade",
    PhaseStarted: "phase started",
    TrainsGone: "trains rusted",
    BankBroke: "bank broken",
    CompanyClosed: "company closed",
    CompanyReturned: "company out of play again",
    PlayerOut: "player out of the game",
}
"""Members of CONSEQUENCES by why a price moved, by the frame that was opened, by the event."""


# -- the player ------------------------------------------------------------------------------


class Chance:
    """A player of every seat who draws what to do."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.temper = {
            kind: weight * exp(Random(f"{seed} {kind}").uniform(-TEMPER, TEMPER))
            for kind, weight in WEIGHTS.items()
        }

    def decide(self, state: State) -> tuple[str, Action, str]:
        """Who does what, and of which kind it is. Raises Stuck where nobody can do anything."""
        if self.random.random() < BESIDE:
            seat = self.random.choice(state.seats)
            g = game_of(state)
            beside = [o for o in options(state, seat) if is_aside(g, o.action)]
            if beside:
                return seat, *self._draw(state, seat, beside)
        waiting = decision(state).all
        if not waiting:
            raise Stuck("nobody is asked")
        seat = self.random.choice(waiting)
        found = options(state, seat)
        if not found:
            raise Stuck(f"{state.name(seat)} is asked {decision(state).needs} and has no option")
        return seat, *self._draw(state, seat, found)

    def _draw(self, state: State, seat: str, found: list[Option]) -> tuple[Action, str]:
        kinds: dict[str, list[Option]] = {}
        for option in found:
            kinds.setdefault(kind_of(state, seat, option.action), []).append(option)
        kind = self.random.choices(list(kinds), [self.temper[k] for k in kinds])[0]
        option = self.random.choice(kinds[kind])
        if isinstance(option.action, Loan | LoanFor):
            option = min(self.random.choices(kinds[kind], k=3), key=_loans)
        if isinstance(option.action, Run) and not isinstance(state.top, Claim):
            return self._run(state, seat, option.action)
        if option.amounts is not None:
            if isinstance(option.action, StartCompany):
                return at_amount(option, self.random.choice(option.amounts)), kind
            return at_amount(option, self._dollars(option.amounts, _ample(state, option))), kind
        return option.action, kind

    def _dollars(self, amounts: range, ample: int) -> int:
        """Mostly little, sometimes anything up to what is ample, and now and then the most."""
        first, last = amounts[0], amounts[-1]
        if last > ample and self.random.random() >= ALL_IN:
            last = max(first, ample)
        match self.random.randrange(10):
            case 0 | 1 | 2 | 3:
                return first
            case 4 | 5 | 6:
                wanted = min(last, first + 5 * self.random.randrange(6))
            case 7 | 8:
                wanted = self.random.randint(first, min(last, 2 * first + 50))
            case _:
                wanted = self.random.choice((last, self.random.randint(first, last)))
        return wanted - (wanted - first) % amounts.step

    def _run(self, state: State, seat: str, best: Run) -> tuple[Action, str]:
        """The best run; where conventions let a president run for less, now and then that."""
        worse = Run(best.routes[1:])
        often = self.temper["run worse than best"] / self.temper["run best"]
        if worse.routes and self.random.random() < often and not refusal(game_of(state), seat, worse):
            return worse, "run worse than best"
        return best, "run best"


def _loans(option: Option) -> int:
    return option.action.count if isinstance(option.action, Loan | LoanFor) else 0


def _ample(state: State, option: Option) -> int:
    """Dollars beyond which nobody goes who wants to have money left for something else."""
    assert option.amounts is not None
    top = state.top
    private = top.lot if isinstance(top, Auction) else getattr(option.action, "private", None)
    if private in state.privates:
        return 3 * game_of(state).private_facts(private).price // 2
    return option.amounts[-1]


class Stuck(Exception):
    """A game that cannot go on; the message says why."""


# -- a game ----------------------------------------------------------------------------------


@dataclass
class Simulated:
    """A random game, as far as it went: its first state and its last.

    `told`: what was said and what it brought about. `failure`: what went wrong, and at which move;
    None where the game ended as games end.
    """

    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: int
    start: State
    state: State
    told: list[Told] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    failure: str | None = None

    @property
    def moves(self) -> int:
        return len(self.told)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Seats with what they said."""
        return [(told.seat, told.line) for told in self.told]

    @property
    def telling(self) -> Telling:
        """The game as it was told."""
        return Telling(self.start, tuple(self.told))

    @property
    def text(self) -> str:
        """The game as a `.18xx` file."""
        return text(self.telling, f"random play, seed {self.seed}")

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.failure:
            return self.failure
        return self.state.over.reason if self.state.over else "unfinished"


def simulated(
    title: str,
    players: int,
    seed: int,
    chosen: Sequence[str] = (),
    *,
    check_every: int = 0,
    most_moves: int = MOST_MOVES,
    watch: Callable[[Simulated], None] = lambda game: None,
) -> Simulated:
    """Play a random game of that many players to its end.

    `check_every`: every so many moves all that must hold is checked, 0 for never; `watch` is called
    after every move. A game that breaks off says so in `failure`. Raises ValueError for a title,
    option or number of players that there is not.
    """
    names = NAMES[:players]
    state, _ = new_game(title, names, chosen, seed)
    game = Simulated(title, names, state.options, seed, state, state)
    chance = Chance(seed)
    try:
        while game.state.over is None:
            if game.moves >= most_moves:
                raise Stuck(f"the game has not ended after {most_moves} moves")
            _step(game, chance, bool(check_every) and game.moves % check_every == 0)
            watch(game)
        if check_every:
            _complain(position_faults(game.state))
            _complain(offer_faults(game.state))
            _complain(_record_faults(game))
    except Exception as wrong:  # whatever a rule raises is a finding, to be told with its seed and move
        what = str(wrong) if isinstance(wrong, Stuck) else f"{type(wrong).__name__}: {wrong}"
        game.failure = f"seed {seed}, move {game.moves + 1}: {what}"
    return game


def _step(game: Simulated, chance: Chance, check: bool) -> None:
    before = game.state
    raw = encoded(before) if check else b""
    if check:
        _complain(position_faults(before))
        _complain(offer_faults(before))
    seat, action, kind = chance.decide(before)
    line = spell(before, action)
    played = play(before, seat, action)
    if check:
        said = f"{before.name(seat)}: {line}"
        _complain(trespass_faults(before, seat, action), said)
        _complain(move_faults(before, seat, action, raw, played), said)
    game.state = played.state
    game.told.append(Told(seat, line, played.events))
    game.kinds[kind] += 1
    game.seen.update(consequences(before, played.events))
    if _cut(played.state) > _cut(before):
        game.seen["private's price cut"] += 1
    if seat not in decision(before).all:
        game.seen["act beside the question"] += 1


def _record_faults(game: Simulated) -> Iterator[str]:
    """Whether the game can be loaded: from its events, and from its text with all checkpoints."""
    loaded = copied(game.start)
    for told in game.told:
        loaded = fold(told.events, loaded)
    if loaded != game.state:
        yield "folding all events does not lead to the last position"
    report = replay(game.text)
    if not report.ok:
        yield f"its text does not replay: {report.failure}"
    elif report.state != game.state:
        yield "its text leads to another position"


def _cut(state: State) -> int:
    return state.top.cut if isinstance(state.top, Waterfall) else 0


def _complain(faults: Iterator[str], line: str = "") -> None:
    """Raise Stuck with the first fault."""
    fault = next(faults, None)
    if fault is not None:
        raise Stuck(f"{line}: {fault}" if line else fault)


# -- the command -----------------------------------------------------------------------------


def options_of(conventions: str, option: Sequence[str]) -> tuple[str, ...]:
    """The options of a table: the set of conventions, unless it is the rulebook's, and the rest."""
    return (*(() if conventions == "rulebook" else (f"conventions {conventions}",)), *option)


def varied(title: str, players: int, seed: int, conventions: str = "rulebook") -> tuple[str, ...]:
    """The options of a table with optional rules that the seed draws, such that so many can play.

    Raises ValueError where none let so many play.
    """
    chance = Random(f"options {seed}")
    for _ in range(DRAWS):
        chosen = options_of(conventions, ())
        for rule in optional_rules(title):
            if chance.random() < 0.5 and _go_together(title, (*chosen, rule)):
                chosen = (*chosen, rule)
        seats = title_of(title, chosen).facts.players
        if seats["min"] <= players <= seats["max"]:
            return chosen
    raise ValueError(f"No optional rules of {title} are for {players} players.")


def _go_together(title: str, chosen: tuple[str, ...]) -> bool:
    try:
        title_of(title, chosen)
    except ValueError:
        return False
    return True


def spread(players: str) -> range:
    """`4` or `3-12` as numbers of players. Raises ValueError for anything else."""
    low, dash, high = players.partition("-")
    high = high if dash else low
    if not (low.isdecimal() and high.isdecimal()) or int(low) > int(high):
        raise ValueError(f"Say a number of players, like 4 or 3-6, not {players!r}.")
    return range(int(low), int(high) + 1)


def command(
    title: Annotated[str, typer.Option(help="The title to play.")],
    players: Annotated[str, typer.Option(help="How many seats: 4, or 3-6 in turn.")] = "4",
    seed: Annotated[int, typer.Option(help="The seed of the first game; each next has the next.")] = 1,
    games: Annotated[int, typer.Option(min=1, help="How many games.")] = 1,
    conventions: Annotated[
        str, typer.Option(help="rulebook, or another set that the title has.")
    ] = "rulebook",
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    vary: Annotated[
        bool, typer.Option("--vary", help="Optional rules as each game's seed draws them.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the games, a file each.")] = None,
    to: Annotated[str, typer.Option(help=f"The form of these files: {', '.join(FORMS)}.")] = TEXT,
    check: Annotated[bool, typer.Option("--check", help="Check at every step all that must hold.")] = False,
) -> None:
    """Play random legal games to the end."""
    console = Console()
    chosen = options_of(conventions, option or ())
    try:
        form = form_of(to)
        title_of(title, chosen)
        seats = spread(players)
        tables = [
            (at, n, varied(title, n, at, conventions) if vary else chosen)
            for at, n in zip(range(seed, seed + games), cycle(seats), strict=False)
        ]
        for _, n, rules in tables:
            new_game(title, NAMES[:n], rules)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from None
    played = []
    with Progress(
        TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as bar:
        task = bar.add_task("", total=games)
        for at, n, rules in tables:

            def watch(game: Simulated) -> None:
                if game.moves % 25 == 0:
                    where = round_name(game.state)
                    bar.update(task, description=f"seed {game.seed}, move {game.moves}, {where}")

            game = simulated(title, n, at, rules, check_every=int(check), watch=watch)
            played.append(game)
            if out is not None:
                _write(game, form, out)
            bar.advance(task)
    console.print(report(played))
    failed = [game for game in played if game.failure]
    for game in failed:
        typer.echo(game.failure, err=True)
    if failed:
        raise typer.Exit(1)


def _write(game: Simulated, form: str, out: Path) -> None:
    """Write a game into a folder; one that cannot be written in that form is a failure."""
    try:
        file = exported(game.telling, form, f"random play, seed {game.seed}", file_stem(game))
        (out / file.name).write_bytes(file.content)
    except (ValueError, OSError) as wrong:
        game.failure = game.failure or f"seed {game.seed}: {wrong}"


def file_stem(game: Simulated) -> str:
    """A file name that says what the game is: `4p-17`, `3p-5-18xx.games-optional_6_train`."""
    said = [option.rpartition(" ")[2] for option in game.options]
    return "-".join([f"{len(game.players)}p", str(game.seed), *said])


def report(played: Sequence[Simulated]) -> Table:
    """How often each kind of decision was made and each rare thing happened, how far games went, and how
    they ended."""
    table = Table(
        "what", "times", "in games", title=f"{len(played)} games, {sum(g.moves for g in played)} moves"
    )
    table.columns[1].justify = table.columns[2].justify = "right"
    for names, counted in (
        (WEIGHTS, [g.kinds for g in played]),
        (CONSEQUENCES, [g.seen for g in played]),
        (_phases(played), [_reached(g) for g in played]),
        (sorted({_short(g) for g in played}), [Counter([_short(g)]) for g in played]),
    ):
        for name in names:
            times = sum(c[name] for c in counted)
            table.add_row(name, str(times), str(sum(name in c for c in counted)))
        table.add_section()
    return table


def _phases(played: Sequence[Simulated]) -> list[str]:
    """The phases after the first that there are at these tables, in their order."""
    facts = (title_of(g.title, g.options).facts for g in played)
    return list(dict.fromkeys(f"phase {phase.name}" for each in facts for phase in each.phases[1:]))


def _reached(game: Simulated) -> Counter[str]:
    events = (event for told in game.told for event in told.events)
    return Counter(f"phase {event.phase}" for event in events if isinstance(event, PhaseStarted))


def _short(game: Simulated) -> str:
    if game.failure:
        return "ended as a failure"
    over = game.state.over
    alone = len(game.state.active) < 2
    return "ended by a bankruptcy" if alone or (over and over.bankrupt) else "ended in its last round"
