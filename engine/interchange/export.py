"""A game of ours as a file of the site 18xx.games.

Theory of operation. The game is said once more, line by line, to a second game under the site's
conventions, and what that one is told becomes the actions of the file; so each action is checked
when it is written. The two differ in when somebody is asked. A purchase that another has to agree
to is said when he agrees, the site asking nobody. What a line skips in silence is declined there in
so many words, as the site wants it. And a turn or step that only one of the two asks for is declined
for the other, or left out; turns are counted in both to know which of them is ahead.

Where house rules have led somewhere the site's cannot, the second game refuses a line, or stands
elsewhere than the first: that line is the first that has no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from engine.actions import (
    Accept,
    Action,
    AskAgain,
    Bid,
    BidNothing,
    BidUpTo,
    Buy,
    BuyNew,
    BuyTrain,
    ChooseHome,
    ClosedPort,
    ClosePort,
    ConnectRun,
    DealPrivate,
    Decline,
    FloatCompany,
    Keep,
    Loan,
    LoanFor,
    Merge,
    OpenPort,
    Pass,
    Protect,
    Raise,
    Redeem,
    RemoveMarker,
    Repay,
    Sell,
    StandBy,
    WillAct,
)
from engine.events import (
    AnyEvent,
    BidMade,
    Changed,
    Closed,
    OfferEnded,
    OfferMade,
    Opened,
    Passed,
    Protected,
    fold,
)
from engine.facts import PhaseFacts
from engine.game import Game
from engine.holdings import unit
from engine.interchange.desk import player_id
from engine.interchange.ledger import Ledger
from engine.interchange.site_actions import written
from engine.interchange.site_file import FileError
from engine.interchange.site_names import names_of
from engine.kernel import Refused, asked, game_of, new_game, options, refusal, stop, take
from engine.notation import Ambiguous, Unreadable, explicit, parse, spell
from engine.operating.connection import connecting
from engine.operating.stations import UNDECIDED, printed_home
from engine.operating.trains import obsolete
from engine.operating.turn import OperatingTurns
from engine.record.telling import ENDED, RECORDED, Telling, Told
from engine.state import (
    POOL,
    AnyFrame,
    Auction,
    ConnectionTurn,
    Discard,
    Formation,
    HomeToken,
    MergerTurn,
    Offer,
    OperatingRound,
    OperatingTurn,
    Poll,
    Pricing,
    Protection,
    State,
    StockTurn,
    Subsidy,
    Surplus,
    Takeover,
    copied,
    is_seat,
)
from engine.title import SITE
from engine.titles import title_of

MOST_DECLINED = 200
"""How often somebody is declined for before one line; a round of turns is far less."""


class NoCounterpart(Exception):
    """The game cannot be one of the site's; `move` (from 1) is the first that is concerned, 0 the set-up."""

    def __init__(self, move: int, line: str, reason: str) -> None:
        where = f"Move {move} ({line})" if move else "The table"
        super().__init__(f"{where} has no counterpart on 18xx.games: {reason}")
        self.move = move


def export(telling: Telling, name: str = "") -> dict[str, Any]:
    """The game as a file of the site, to be written as JSON.

    Raises NoCounterpart with the first move that the site does not know; 0 for a title or a set-up.
    """
    exporter = Exporter(telling.start)
    for told in telling.moves:
        exporter.say(told)
    return exporter.file(name)


class Exporter:
    """An export that is under way. `site` is the second game, `actions` what it was told."""

    def __init__(self, start: State) -> None:
        try:
            self.names = names_of(start.title)
        except FileError:
            raise NoCounterpart(0, "", f"{start.title} is not played there.") from None
        rules = self.names.their_options(start.options)
        if unknown := self.names.unknown(start.options):
            raise NoCounterpart(0, "", f"the option {unknown[0]} is not known there.")
        fresh = new_game(start.title, start.players, start.options).state
        if difference := _difference(start, fresh):
            raise NoCounterpart(0, "", f"it does not begin as a game begins: {difference}")
        self.start = start
        self.own = copied(start)
        self.site: Game = game_of(new_game(start.title, start.players, (SITE, *rules)).state)
        usual = title_of(start.title, (SITE,)).facts.tiles
        self.ledger = Ledger(self.names, self.site.title, usual)
        self.actions: list[dict[str, Any]] = []
        self._turns = [0, 0]
        self._begun: str | None = None
        self._ended: str | None = None
        self._postponed: str | None = None
        self._told = Told("", "", ())
        self._number = 0

    # -- line by line ------------------------------------------------------------------

    def say(self, told: Told) -> None:
        """Take in the next line of the game. Raises NoCounterpart."""
        self._follow()
        self._compare()
        self._told, self._number = told, self._number + 1
        before = game_of(copied(self.own))
        if told.line == ENDED:
            self._end()
        elif told.line == RECORDED:
            self._connect(told.events)
        else:
            self._translate(before, told)
        fold(told.events, self.own)
        self._turns[0] += _turns(told.events)
        self._protect(told.events)

    def _protect(self, events: Sequence[AnyEvent]) -> None:
        """Say what answers that were left beforehand have settled in the game."""
        left = [event.company for event in events if isinstance(event, Protected)]
        here = self.own.top.sales if isinstance(self.own.top, Protection) else ()
        while isinstance(top := self.site.top, Protection) and len(top.sales) > len(here):
            company = top.sales[0].company
            if company in left:
                left.remove(company)
                self._say(top.sales[0].president, Protect(company))
            else:
                self._decline()

    def file(self, name: str = "") -> dict[str, Any]:
        """The file, once all lines are said. Raises NoCounterpart where the last led elsewhere."""
        self._follow()
        for _ in range(MOST_DECLINED):
            if not self.own.over or self.site.state.over:
                break
            self._decline()
        self._compare(whole=True)
        over, state = self.own.over, self.own
        file: dict[str, Any] = {
            "id": "hs_railpost_1",
            "description": name,
            "user": {"id": 0, "name": "You"},
            "min_players": len(state.players),
            "max_players": len(state.players),
            "title": state.title,
            "players": [{"id": number, "name": who} for number, who in enumerate(state.players, 1)],
            "settings": {
                "seed": 1,
                "is_async": True,
                "unlisted": True,
                "optional_rules": [o for o in self.site.state.options if o != SITE],
            },
            "mode": "hotseat",
            "status": "finished" if over else "active",
            "actions": self.actions,
            "loaded": True,
        }
        if over:
            scores = self.site.title.scores(self.site, over.bankrupt)
            file["result"] = {str(player_id(seat)): dollars for seat, dollars in scores.items()}
        return file

    def _no(self, reason: str) -> NoCounterpart:
        who = self.own.name(self._told.seat) if self._told.seat else ""
        if SITE not in self.start.options:
            reason += " The table is not played by the site's conventions."
        return NoCounterpart(self._number, f"{who}: {self._told.line}", reason)

    def _translate(self, before: Game, told: Told) -> None:
        """Say to the second game what a line of the first means there."""
        try:
            action = parse(before, told.seat, told.line)
        except (Unreadable, Ambiguous, Refused) as wrong:
            raise self._no(str(wrong)) from None
        match action:
            case Bid() | Raise() | BidUpTo() | BidNothing() | Pass() if isinstance(before.top, Auction):
                self._bids(told.events)
            case Pass():
                self._pass(before, told.seat)
            case Decline() if isinstance(before.top, Protection):
                self._pass(before, told.seat)
            case Decline() | StandBy() | AskAgain() | ConnectRun() | WillAct():
                pass
            case ChooseHome() if not isinstance(self.site.top, HomeToken):
                pass
            case Accept():
                self._agreed(before, told.events)
            case BuyTrain() | DealPrivate() | Merge() | Redeem() if _asks(told.events):
                pass
            case BuyTrain(_, source, price) if source in before.state.companies:
                turn = _operating(before)
                self._deal(Offer(0, told.seat, told.seat, action, source, turn.company, price or 0))
            case DealPrivate(private, amount):
                owner = before.state.privates[private]
                top = before.top
                target = top.company if isinstance(top, OperatingTurn) else told.seat
                self._deal(Offer(0, told.seat, told.seat, action, owner, target, amount))
            case ClosedPort(hex):
                self._ordinary(told.seat, OpenPort(hex))
                self._ordinary(told.seat, ClosePort())
            case Buy(company, source, count):
                for _ in range(count):
                    self._ordinary(told.seat, Buy(company, source))
            case Sell(company, count) if count > 1 and self._halves(told.seat, company, count):
                for _ in range(count):
                    self._ordinary(told.seat, Sell(company, 1))
            case FloatCompany(size, privates):
                self._float(told.seat, size, privates)
            case Repay() if isinstance(top := self.site.top, Takeover) and top.stage == "loan":
                self._decline()
                self._translate(before, told)
            case Keep(hexes):
                self._keep(told.seat, hexes)
            case Loan(count) | LoanFor(_, count) | Repay(count) | BuyNew(count):
                for _ in range(count):
                    self._ordinary(told.seat, msgspec.structs.replace(action, count=1))
            case _:
                self._ordinary(told.seat, action)

    def _halves(self, seat: str, company: str, count: int) -> bool:
        """Whether half a president's certificate goes where the bank is short of shares: it is sold by
        itself, once those before it have closed that; or else the site gives back what is sold short."""
        g, co = self.site, self.site.company(company)
        if co.president != seat or not (g.held(POOL, company) < 0 or co.loose):
            return False
        return g.held(seat, company) == (count + 1) * unit(g, company)

    def _keep(self, seat: str, hexes: tuple[str, ...]) -> None:
        """The markers in all other hexes leave one by one."""
        while isinstance(top := self.site.top, Surplus):
            mine, tokens = (top.company, top.target), self.site.state.tokens
            others = [(h, n) for h in tokens if h not in hexes for n, owner in tokens[h] if owner in mine]
            if not others:
                break
            self._say(seat, RemoveMarker(*others[0]))

    def _float(self, seat: str, size: int, privates: tuple[str, ...]) -> None:
        """Size and privates are said one by one; then there are no more."""
        top = self.site.top
        if isinstance(top, Formation) and top.size is None:
            self._say(seat, FloatCompany(size))
        for private in privates:
            self._say(seat, FloatCompany(size, (private,)))
        if isinstance(self.site.top, Formation) and SITE not in self.start.options:
            self._say(seat, Pass())

    def _bids(self, events: Sequence[AnyEvent]) -> None:
        """Say what was bid and who has left, by himself or by a limit that he had set."""
        lot = isinstance(self.site.state.stack[0], Subsidy)
        for event in events:
            match event:
                case BidMade(seat, private, amount):
                    self._come_to(seat)
                    self._say(seat, Bid(private, amount) if lot else Raise(amount))
                case Passed(seat):
                    self._come_to(seat)
                    self._say(seat, Pass())
                case Closed():
                    return

    def _come_to(self, seat: str) -> None:
        """Decline for those who are asked there before him, and can do nothing else."""
        while isinstance(self.site.top, Auction) and (first := asked(self.site)[0]) != seat:
            if any(not isinstance(option.action, Pass) for option in options(self.site, first)):
                return
            self._decline()

    def _end(self) -> None:
        self._write({"type": "end_game", "entity": player_id(self._told.seat), "entity_type": "player"})
        over = stop(self.site.state, "It was ended by agreement.")
        self.site = game_of(over.state)

    def _connect(self, events: Sequence[AnyEvent]) -> None:
        """A connection run that the site has found, and we have not: it is due at the end of the last turn,
        and the next turn begins behind it."""
        frame = next(event.frame for event in events if isinstance(event, Opened))
        assert isinstance(frame, ConnectionTurn)
        found = self.actions[-1]["auto_actions"]
        self._postponed = found.pop()["entity"]
        found[-1]["corporations"].append(self.names.theirs(frame.company))
        self.site.open(frame)
        self._turns[1] += _turns(events)

    # -- who is asked ------------------------------------------------------------------

    def _follow(self) -> None:
        """Decline for whoever the site still asks: in an auction that is over in the game, of a merger
        where the game has asked all at once, or while the game is turns, or steps, ahead. A home that
        was chosen before its tile was laid is told once the site asks for it."""
        while isinstance(there := self.site.top, HomeToken) and self.own.top != there:
            self._tell_home(there)
        while isinstance(there := self.site.top, Auction) and getattr(self.own.top, "lot", None) != there.lot:
            self._decline()
        while isinstance(there := self.site.top, MergerTurn) and not isinstance(self.own.top, Poll):
            if self.own.top == there:
                break
            self._decline()
        for _ in range(MOST_DECLINED):
            if self._ahead() <= 0 or self.site.state.over:
                return
            self._decline()
        raise self._no("its turns come in another order there.")

    def _tell_home(self, asking: HomeToken) -> None:
        hex = printed_home(self.site, asking.company).hex
        node = next(node for node, owner in self.own.tokens[hex] if owner == asking.company)
        self._say(asking.chooser, ChooseHome(asking.company, hex, node))

    def _ahead(self) -> int:
        """How many turns the game is ahead of the site, or else steps of a company's turn."""
        turns, top, there = self._turns[0] - self._turns[1], self.own.top, self.site.top
        if turns or not (isinstance(top, OperatingTurn) and isinstance(there, OperatingTurn)):
            return turns
        steps = self._steps(there)
        return steps.index(top.step) - steps.index(there.step) if top.step in steps else 0

    def _decline(self) -> None:
        seats = asked(self.site)
        if not seats:
            raise self._no("nobody is asked there.")
        self._say(seats[0], Pass())

    def _pass(self, before: Game, seat: str) -> None:
        """Decline where the site asks the same; what it does not ask is not written."""
        same = type(before.top) is type(self.site.top) and asked(self.site)[:1] == (seat,)
        if same and self._ahead() == 0:
            self._say(seat, Pass())

    def _asking(self, turn: OperatingTurn) -> OperatingTurns:
        question = self.site.title.questions[type(turn)]
        assert isinstance(question, OperatingTurns)
        return question

    def _steps(self, turn: OperatingTurn) -> list[str]:
        return [step.name for step in self._asking(turn).steps]

    def _ordinary(self, seat: str, action: Action) -> None:
        """Say something when its step has come; those before it are declined."""
        company = getattr(self.site.top, "company", None)
        if self.site.title.aside(self.site, action) is None:
            while isinstance(turn := self.site.top, OperatingTurn) and turn.company == company:
                now = self._steps(turn).index(turn.step)
                later = [isinstance(action, step.hears) for step in self._asking(turn).steps[now:]]
                if later[0] or not any(later):
                    break
                self._decline()
        self._say(seat, action)

    # -- deals -------------------------------------------------------------------------

    def _agreed(self, before: Game, events: Sequence[AnyEvent]) -> None:
        number = next(e.number for e in events if isinstance(e, OfferEnded) and e.outcome == "accepted")
        self._deal(next(offer for offer in before.state.offers if offer.number == number))

    def _deal(self, offer: Offer) -> None:
        """A purchase to which both sides have agreed, made by the buyer."""
        buyer = self.site.voice(offer.target)
        match offer.deal:
            case Merge():
                self._ordinary(offer.asker, offer.deal)
            case BuyTrain():
                self._ordinary(buyer, msgspec.structs.replace(offer.deal, price=offer.price))
            case DealPrivate(private):
                source = offer.source if is_seat(offer.target) else None
                self._ordinary(buyer, DealPrivate(private, offer.price, source))
            case _:
                self._ordinary(buyer, offer.deal)

    # -- saying ------------------------------------------------------------------------

    def _say(self, seat: str, action: Action) -> None:
        """Tell the second game, and write down what it was told. Raises NoCounterpart."""
        if why := refusal(self.site, seat, action):
            said = "" if spell(self.site, action) == self._told.line else f"{spell(self.site, action)}: "
            raise self._no(f"{said}{why}")
        try:
            records = written(self.site, self.names, self.ledger, seat, explicit(self.site, action))
        except KeyError:
            raise self._no("there is nothing like it.") from None
        stack = list(self.site.state.stack)
        self._carry_out(seat, action)
        if offers := self.site.state.offers:
            self._carry_out(offers[0].asked, Accept())
        for record in records:
            self._write(record)
        if self.names.connections:
            self._write_connections(stack, self.site.events)

    def _write_connections(self, stack: list[AnyFrame], events: Sequence[AnyEvent]) -> None:
        """At both ends of a turn: which companies connect. What is left over comes with the first turn.

        A turn ends when it is settled whether prices are protected. The site finds this by itself, so
        it follows the action that has brought it about, in that one's entry of the file.
        """
        span = self.site.state.stack[0]
        due: list[str] = []
        if isinstance(span, OperatingRound) and isinstance(self.site.top, ConnectionTurn):
            due = [self.names.theirs(company) for company in connecting(self.site, span.ran, span.turned)]
        for event in events:
            match event:
                case Opened(frame):
                    below = stack[-1]
                    stack.append(frame)
                    if isinstance(frame, OperatingTurn):
                        self._write_end(due)
                        self._write_beginning(frame, below, due)
                case Changed(frame):
                    stack[-1] = frame
                case Closed():
                    gone = stack.pop()
                    if isinstance(gone, ConnectionTurn) and self._postponed:
                        self._write_connection(self.names.ours(self._postponed), [])
                        self._postponed = None
                    if type(gone) is OperatingTurn:
                        self._ended = gone.company
        if not isinstance(self.site.top, Protection):
            self._write_end(due)

    def _write_end(self, due: list[str]) -> None:
        if self._ended and not self.site.company(self._ended).closed:
            self._write_connection(self._ended, due)
        self._ended = None

    def _write_beginning(self, turn: OperatingTurn, below: AnyFrame, due: list[str]) -> None:
        if not isinstance(turn, ConnectionTurn):
            if self._begun != turn.company:
                self._write_connection(turn.company, [])
            self._begun = None
        elif isinstance(below, OperatingRound) and below.ran is None and not self._begun:
            self._begun = next(c for c in self.site.operating_order() if c in below.waiting)
            self._write_connection(self._begun, due)

    def _write_connection(self, company: str, due: list[str]) -> None:
        entity = {"entity": self.names.theirs(company), "entity_type": "corporation"}
        found = {"type": "destination_connection", **entity, **self._when(), "corporations": due}
        self.actions[-1].setdefault("auto_actions", []).append(found)

    def _carry_out(self, seat: str, action: Action) -> None:
        self.site.events = []
        take(self.site, seat, action)
        self.ledger.follow(self.site.events)
        self._turns[1] += _turns(self.site.events)

    def _write(self, record: dict[str, Any]) -> None:
        head = {"id": len(self.actions) + 1} | self._when()
        self.actions.append({k: record.pop(k) for k in ("type", "entity", "entity_type")} | head | record)

    def _when(self) -> dict[str, int]:
        """When that was said, where that is known."""
        return {} if self._told.at is None else {"created_at": self._told.at}

    def _compare(self, *, whole: bool = False) -> None:
        """Hold the two positions against each other where they are at the same point. While a price is asked
        in the opening, the site may have sold the privates that follow."""
        if any(isinstance(self.own.top, each) for each in (Surplus, Discard, Pricing)):
            return
        if (whole or self._ahead() == 0) and (difference := _difference(self.own, self.site.state)):
            raise self._no(f"it leads elsewhere there: {difference}")


def _asks(events: Sequence[AnyEvent]) -> bool:
    """Whether another has to agree."""
    return any(isinstance(event, OfferMade) for event in events)


def _turns(events: Iterable[AnyEvent]) -> int:
    """How many turns have begun."""
    return sum(isinstance(e, Opened) and isinstance(e.frame, StockTurn | OperatingTurn) for e in events)


def _operating(g: Game) -> OperatingTurn:
    assert isinstance(g.top, OperatingTurn)
    return g.top


def _difference(ours: State, theirs: State) -> str | None:
    """Where two positions show something else, in words; None where they show the same."""
    if _round(ours) != _round(theirs):
        return "it is another round."
    for owner, dollars in ours.cash.items():
        if dollars != theirs.cash[owner]:
            return f"{ours.name(owner)} has ${theirs.cash[owner]}, and ${dollars} here."
    for company, here in ours.companies.items():
        there = theirs.companies[company]
        for what in ("shares", "par", "cell", "president", "floated"):
            if getattr(here, what) != getattr(there, what):
                return f"the {what} of the {company} differ."
        if sorted(here.trains) != sorted(there.trains):
            return f"the trains of the {company} differ."
    for private, owner in ours.privates.items():
        if owner != theirs.privates[private]:
            other = theirs.name(theirs.privates[private])
            return f"the {private} is {other}'s, and {ours.name(owner)}'s here."
    if ours.tiles != theirs.tiles:
        return "other tiles lie on the board."
    if hex := next((h for h, here in ours.tokens.items() if not _alike(here, theirs.tokens.get(h))), None):
        return f"the tokens in {hex} stand otherwise."
    if (_stage(ours), _shop(ours)) != (_stage(theirs), _shop(theirs)):
        return "other trains are in play."
    return None


def _alike(here: list[tuple[int, str]], there: list[tuple[int, str]] | None) -> bool:
    """Whether the same tokens stand in the same cities, or in one that is still to be chosen."""
    theirs = {owner: node for node, owner in there or ()}
    ours = {owner: node for node, owner in here}
    return ours.keys() == theirs.keys() and all(theirs[c] in (ours[c], UNDECIDED) for c in ours)


def _stage(state: State) -> PhaseFacts:
    """What the phase allows, whatever it is called."""
    return msgspec.structs.replace(game_of(state).phase, name="", on=None)


def _shop(state: State) -> list[str]:
    """The trains in the pool that can be bought."""
    g = game_of(state)
    return sorted(train for train in state.pool if not obsolete(g, train))


def _round(state: State) -> tuple[object, ...]:
    """What tells a round from every other."""
    frame = state.stack[0]
    return type(frame), *(getattr(frame, name, None) for name in ("after", "number"))
