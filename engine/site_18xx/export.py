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

from engine.core.actions import (
    Accept,
    Action,
    Bid,
    BidNothing,
    BidUpTo,
    BuyPostMergerShares,
    BuyShares,
    BuyTrain,
    CancelStandingProtection,
    ChooseHome,
    ClosePort,
    Decline,
    FloatCompany,
    KeepTokens,
    Merge,
    Pass,
    PlaceClosedPort,
    PlaceOpenPort,
    ProtectPrice,
    RaiseBid,
    RedeemShare,
    RemoveToken,
    RepayLoans,
    SellShares,
    SetStandingProtection,
    StartConnectionRun,
    TakeLoans,
    TakeLoansForCompany,
    TradePrivate,
    WillAct,
)
from engine.core.components import PhaseDefinition
from engine.core.events import (
    AnyEvent,
    BidMade,
    FramePopped,
    FramePushed,
    FrameReplaced,
    OfferEnded,
    OfferMade,
    Passed,
    PriceProtected,
    fold,
)
from engine.core.state import (
    POOL,
    AnyFrame,
    Auction,
    CompanyStart,
    ConnectionRunTurn,
    Discard,
    ExcessTokens,
    HomeToken,
    MergerPoll,
    MergerTurn,
    Offer,
    OperatingRound,
    OperatingTurn,
    ParPriceChoice,
    PriceProtection,
    SeedMoneySale,
    State,
    StockTurn,
    TakeoverLoans,
    copy_state,
    is_seat,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE, GameHistory, HistoryLine
from engine.kernel import (
    RefusedError,
    apply,
    awaited_seats,
    end_by_agreement,
    game_of,
    new_game,
    options,
    refusal,
)
from engine.language.notation import (
    AmbiguousError,
    UnreadableError,
    format_action,
    made_explicit,
    parse,
)
from engine.operating.connection_runs import due_connections
from engine.operating.stations import UNDECIDED_CITY, printed_home
from engine.operating.trains import is_obsolete
from engine.operating.turn import OperatingTurnQuestion
from engine.site_18xx.codec import site_player_id
from engine.site_18xx.codecs import encode_action
from engine.site_18xx.game_file import SiteFileError
from engine.site_18xx.names import site_names_of
from engine.site_18xx.numbering import PieceNumbering
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of

MAX_PASSES = 200
"""How often somebody is declined for before one line; a round of turns is far less."""


class SiteExportError(Exception):
    """The game cannot be one of the site's; `move` (from 1) is the first that is concerned, 0 the set-up."""

    def __init__(self, move: int, line: str, reason: str) -> None:
        where = f"Move {move} ({line})" if move else "The table"
        super().__init__(f"{where} has no counterpart on 18xx.games: {reason}")
        self.move_number = move


def export_game(telling: GameHistory, name: str = "") -> dict[str, Any]:
    """The game as a file of the site, to be written as JSON.

    Raises NoCounterpart with the first move that the site does not know; 0 for a title or a set-up.
    """
    exporter = SiteExporter(telling.start)
    for told in telling.lines:
        exporter.add_line(told)
    return exporter.build_file(name)


class SiteExporter:
    """An export that is under way. `site` is the second game, `actions` what it was told."""

    def __init__(self, start: State) -> None:
        try:
            self.names = site_names_of(start.title)
        except SiteFileError:
            raise SiteExportError(0, "", f"{start.title} is not played there.") from None
        rules = self.names.site_options(start.options)
        if unknown := self.names.unknown_options(start.options):
            raise SiteExportError(0, "", f"the option {unknown[0]} is not known there.")
        fresh = new_game(start.title, start.players, start.options).state
        if difference := _difference(start, fresh):
            raise SiteExportError(0, "", f"it does not begin as a game begins: {difference}")
        self.start = start
        self.our_state = copy_state(start)
        self.site_game: Game = game_of(new_game(start.title, start.players, (SITE_CONVENTIONS, *rules)).state)
        usual = title_of(start.title, (SITE_CONVENTIONS,)).components.tiles
        self.numbering = PieceNumbering(self.names, self.site_game.title, usual)
        self.actions: list[dict[str, Any]] = []
        self._turn_counts = [0, 0]
        self._connection_begun: str | None = None
        self._ended_turn: str | None = None
        self._postponed_connection: str | None = None
        self._current_line = HistoryLine("", "", ())
        self._move_number = 0

    # -- line by line ------------------------------------------------------------------

    def add_line(self, told: HistoryLine) -> None:
        """Take in the next line of the game. Raises NoCounterpart."""
        self._catch_up()
        self._compare_positions()
        self._current_line, self._move_number = told, self._move_number + 1
        before = game_of(copy_state(self.our_state))
        if told.line == ENDED_LINE:
            self._end_game()
        elif told.line == CONNECTION_RUN_LINE:
            self._add_connection(told.events)
        else:
            self._translate(before, told)
        fold(told.events, self.our_state)
        self._turn_counts[0] += _turns_begun(told.events)
        self._protect_prices(told.events)

    def _protect_prices(self, events: Sequence[AnyEvent]) -> None:
        """Say what answers that were left beforehand have settled in the game."""
        left = [event.company for event in events if isinstance(event, PriceProtected)]
        here = self.our_state.top.pending_sales if isinstance(self.our_state.top, PriceProtection) else ()
        while isinstance(top := self.site_game.top, PriceProtection) and len(top.pending_sales) > len(here):
            company = top.pending_sales[0].company
            if company in left:
                left.remove(company)
                self._play(top.pending_sales[0].president, ProtectPrice(company))
            else:
                self._pass_for_next()

    def build_file(self, name: str = "") -> dict[str, Any]:
        """The file, once all lines are said. Raises NoCounterpart where the last led elsewhere."""
        self._catch_up()
        for _ in range(MAX_PASSES):
            if not self.our_state.game_over or self.site_game.state.game_over:
                break
            self._pass_for_next()
        self._compare_positions(whole=True)
        over, state = self.our_state.game_over, self.our_state
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
                "optional_rules": [o for o in self.site_game.state.options if o != SITE_CONVENTIONS],
            },
            "mode": "hotseat",
            "status": "finished" if over else "active",
            "actions": self.actions,
            "loaded": True,
        }
        if over:
            scores = self.site_game.title.scores(self.site_game, over.bankrupt)
            file["result"] = {str(site_player_id(seat)): dollars for seat, dollars in scores.items()}
        return file

    def _error(self, reason: str) -> SiteExportError:
        who = self.our_state.name(self._current_line.seat) if self._current_line.seat else ""
        if SITE_CONVENTIONS not in self.start.options:
            reason += " The table is not played by the site's conventions."
        return SiteExportError(self._move_number, f"{who}: {self._current_line.line}", reason)

    def _translate(self, before: Game, told: HistoryLine) -> None:
        """Say to the second game what a line of the first means there."""
        try:
            action = parse(before, told.seat, told.line)
        except (UnreadableError, AmbiguousError, RefusedError) as wrong:
            raise self._error(str(wrong)) from None
        match action:
            case Bid() | RaiseBid() | BidUpTo() | BidNothing() | Pass() if isinstance(before.top, Auction):
                self._play_bids(told.events)
            case Pass():
                self._play_pass(before, told.seat)
            case Decline() if isinstance(before.top, PriceProtection):
                self._play_pass(before, told.seat)
            case (
                Decline()
                | SetStandingProtection()
                | CancelStandingProtection()
                | StartConnectionRun()
                | WillAct()
            ):
                pass
            case ChooseHome() if not isinstance(self.site_game.top, HomeToken):
                pass
            case Accept():
                self._play_accepted_offer(before, told.events)
            case BuyTrain() | TradePrivate() | Merge() | RedeemShare() if _makes_offer(told.events):
                pass
            case BuyTrain(_, source, price) if source in before.state.companies:
                turn = _operating_turn(before)
                self._play_deal(Offer(0, told.seat, told.seat, action, source, turn.company, price or 0))
            case TradePrivate(private, amount):
                owner = before.state.private_owners[private]
                top = before.top
                target = top.company if isinstance(top, OperatingTurn) else told.seat
                self._play_deal(Offer(0, told.seat, told.seat, action, owner, target, amount))
            case PlaceClosedPort(hex):
                self._play_in_turn(told.seat, PlaceOpenPort(hex))
                self._play_in_turn(told.seat, ClosePort())
            case BuyShares(company, source, count):
                for _ in range(count):
                    self._play_in_turn(told.seat, BuyShares(company, source))
            case SellShares(company, count) if count > 1 and self._sells_half_presidents_certificate(
                told.seat, company, count
            ):
                for _ in range(count):
                    self._play_in_turn(told.seat, SellShares(company, 1))
            case FloatCompany(size, privates):
                self._float_company(told.seat, size, privates)
            case RepayLoans() if isinstance(top := self.site_game.top, TakeoverLoans) and top.stage == "loan":
                self._pass_for_next()
                self._translate(before, told)
            case KeepTokens(hexes):
                self._keep_tokens(told.seat, hexes)
            case (
                TakeLoans(count)
                | TakeLoansForCompany(_, count)
                | RepayLoans(count)
                | BuyPostMergerShares(count)
            ):
                for _ in range(count):
                    self._play_in_turn(told.seat, msgspec.structs.replace(action, count=1))
            case _:
                self._play_in_turn(told.seat, action)

    def _sells_half_presidents_certificate(self, seat: str, company: str, count: int) -> bool:
        """Whether half a president's certificate goes where the bank is short of shares: it is sold by
        itself, once those before it have closed that; or else the site gives back what is sold short."""
        g, co = self.site_game, self.site_game.company(company)
        if co.president != seat or not (g.percent_held(POOL, company) < 0 or co.covered_shorts):
            return False
        return g.percent_held(seat, company) == (count + 1) * share_percent(g, company)

    def _keep_tokens(self, seat: str, hexes: tuple[str, ...]) -> None:
        """The markers in all other hexes leave one by one."""
        while isinstance(top := self.site_game.top, ExcessTokens):
            mine, tokens = (top.company, top.target), self.site_game.state.tokens
            others = [(h, n) for h in tokens if h not in hexes for n, owner in tokens[h] if owner in mine]
            if not others:
                break
            self._play(seat, RemoveToken(*others[0]))

    def _float_company(self, seat: str, size: int, privates: tuple[str, ...]) -> None:
        """Size and privates are said one by one; then there are no more."""
        top = self.site_game.top
        if isinstance(top, CompanyStart) and top.size is None:
            self._play(seat, FloatCompany(size))
        for private in privates:
            self._play(seat, FloatCompany(size, (private,)))
        if isinstance(self.site_game.top, CompanyStart) and SITE_CONVENTIONS not in self.start.options:
            self._play(seat, Pass())

    def _play_bids(self, events: Sequence[AnyEvent]) -> None:
        """Say what was bid and who has left, by himself or by a limit that he had set."""
        lot = isinstance(self.site_game.state.stack[0], SeedMoneySale)
        for event in events:
            match event:
                case BidMade(seat, private, amount):
                    self._pass_until(seat)
                    self._play(seat, Bid(private, amount) if lot else RaiseBid(amount))
                case Passed(seat):
                    self._pass_until(seat)
                    self._play(seat, Pass())
                case FramePopped():
                    return

    def _pass_until(self, seat: str) -> None:
        """Decline for those who are asked there before him, and can do nothing else."""
        while isinstance(self.site_game.top, Auction) and (first := awaited_seats(self.site_game)[0]) != seat:
            if any(not isinstance(option.action, Pass) for option in options(self.site_game, first)):
                return
            self._pass_for_next()

    def _end_game(self) -> None:
        self._write(
            {"type": "end_game", "entity": site_player_id(self._current_line.seat), "entity_type": "player"}
        )
        over = end_by_agreement(self.site_game.state, "It was ended by agreement.")
        self.site_game = game_of(over.state)

    def _add_connection(self, events: Sequence[AnyEvent]) -> None:
        """A connection run that the site has found, and we have not: it is due at the end of the last turn,
        and the next turn begins behind it."""
        frame = next(event.frame for event in events if isinstance(event, FramePushed))
        assert isinstance(frame, ConnectionRunTurn)
        found = self.actions[-1]["auto_actions"]
        self._postponed_connection = found.pop()["entity"]
        found[-1]["corporations"].append(self.names.site_company(frame.company))
        self.site_game.push(frame)
        self._turn_counts[1] += _turns_begun(events)

    # -- who is asked ------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Decline for whoever the site still asks: in an auction that is over in the game, of a merger
        where the game has asked all at once, or while the game is turns, or steps, ahead. A home that
        was chosen before its tile was laid is told once the site asks for it."""
        while isinstance(there := self.site_game.top, HomeToken) and self.our_state.top != there:
            self._choose_home(there)
        while (
            isinstance(there := self.site_game.top, Auction)
            and getattr(self.our_state.top, "item", None) != there.item
        ):
            self._pass_for_next()
        while isinstance(there := self.site_game.top, MergerTurn) and not isinstance(
            self.our_state.top, MergerPoll
        ):
            if self.our_state.top == there:
                break
            self._pass_for_next()
        for _ in range(MAX_PASSES):
            if self._lead() <= 0 or self.site_game.state.game_over:
                return
            self._pass_for_next()
        raise self._error("its turns come in another order there.")

    def _choose_home(self, asking: HomeToken) -> None:
        hex = printed_home(self.site_game, asking.company).hex
        node = next(node for node, owner in self.our_state.tokens[hex] if owner == asking.company)
        self._play(asking.chooser, ChooseHome(asking.company, hex, node))

    def _lead(self) -> int:
        """How many turns the game is ahead of the site, or else steps of a company's turn."""
        turns, top, there = (
            self._turn_counts[0] - self._turn_counts[1],
            self.our_state.top,
            self.site_game.top,
        )
        if turns or not (isinstance(top, OperatingTurn) and isinstance(there, OperatingTurn)):
            return turns
        steps = self._step_names(there)
        return steps.index(top.step) - steps.index(there.step) if top.step in steps else 0

    def _pass_for_next(self) -> None:
        seats = awaited_seats(self.site_game)
        if not seats:
            raise self._error("nobody is asked there.")
        self._play(seats[0], Pass())

    def _play_pass(self, before: Game, seat: str) -> None:
        """Decline where the site asks the same; what it does not ask is not written."""
        same = type(before.top) is type(self.site_game.top) and awaited_seats(self.site_game)[:1] == (seat,)
        if same and self._lead() == 0:
            self._play(seat, Pass())

    def _turn_question(self, turn: OperatingTurn) -> OperatingTurnQuestion:
        question = self.site_game.title.questions[type(turn)]
        assert isinstance(question, OperatingTurnQuestion)
        return question

    def _step_names(self, turn: OperatingTurn) -> list[str]:
        return [step.name for step in self._turn_question(turn).steps]

    def _play_in_turn(self, seat: str, action: Action) -> None:
        """Say something when its step has come; those before it are declined."""
        company = getattr(self.site_game.top, "company", None)
        if self.site_game.title.out_of_turn_for(self.site_game, action) is None:
            while isinstance(turn := self.site_game.top, OperatingTurn) and turn.company == company:
                now = self._step_names(turn).index(turn.step)
                later = [isinstance(action, step.handles) for step in self._turn_question(turn).steps[now:]]
                if later[0] or not any(later):
                    break
                self._pass_for_next()
        self._play(seat, action)

    # -- deals -------------------------------------------------------------------------

    def _play_accepted_offer(self, before: Game, events: Sequence[AnyEvent]) -> None:
        number = next(e.number for e in events if isinstance(e, OfferEnded) and e.outcome == "accepted")
        self._play_deal(next(offer for offer in before.state.offers if offer.number == number))

    def _play_deal(self, offer: Offer) -> None:
        """A purchase to which both sides have agreed, made by the buyer."""
        buyer = self.site_game.controller(offer.target)
        match offer.deal:
            case Merge():
                self._play_in_turn(offer.proposer, offer.deal)
            case BuyTrain():
                self._play_in_turn(buyer, msgspec.structs.replace(offer.deal, price=offer.price))
            case TradePrivate(private):
                source = offer.source if is_seat(offer.target) else None
                self._play_in_turn(buyer, TradePrivate(private, offer.price, source))
            case _:
                self._play_in_turn(buyer, offer.deal)

    # -- saying ------------------------------------------------------------------------

    def _play(self, seat: str, action: Action) -> None:
        """Tell the second game, and write down what it was told. Raises NoCounterpart."""
        if why := refusal(self.site_game, seat, action):
            said = (
                ""
                if format_action(self.site_game, action) == self._current_line.line
                else f"{format_action(self.site_game, action)}: "
            )
            raise self._error(f"{said}{why}")
        try:
            records = encode_action(
                self.site_game, self.names, self.numbering, seat, made_explicit(self.site_game, action)
            )
        except KeyError:
            raise self._error("there is nothing like it.") from None
        stack = list(self.site_game.state.stack)
        self._apply(seat, action)
        if offers := self.site_game.state.offers:
            self._apply(offers[0].recipient, Accept())
        for record in records:
            self._write(record)
        if self.names.records_connections:
            self._write_connections(stack, self.site_game.events)

    def _write_connections(self, stack: list[AnyFrame], events: Sequence[AnyEvent]) -> None:
        """At both ends of a turn: which companies connect. What is left over comes with the first turn.

        A turn ends when it is settled whether prices are protected. The site finds this by itself, so
        it follows the action that has brought it about, in that one's entry of the file.
        """
        span = self.site_game.state.stack[0]
        due: list[str] = []
        if isinstance(span, OperatingRound) and isinstance(self.site_game.top, ConnectionRunTurn):
            due = [
                self.names.site_company(company)
                for company in due_connections(self.site_game, span.last_operated, span.operated)
            ]
        for event in events:
            match event:
                case FramePushed(frame):
                    below = stack[-1]
                    stack.append(frame)
                    if isinstance(frame, OperatingTurn):
                        self._write_turn_end(due)
                        self._write_turn_start(frame, below, due)
                case FrameReplaced(frame):
                    stack[-1] = frame
                case FramePopped():
                    gone = stack.pop()
                    if isinstance(gone, ConnectionRunTurn) and self._postponed_connection:
                        self._write_connection(self.names.our_company(self._postponed_connection), [])
                        self._postponed_connection = None
                    if type(gone) is OperatingTurn:
                        self._ended_turn = gone.company
        if not isinstance(self.site_game.top, PriceProtection):
            self._write_turn_end(due)

    def _write_turn_end(self, due: list[str]) -> None:
        if self._ended_turn and not self.site_game.company(self._ended_turn).closed:
            self._write_connection(self._ended_turn, due)
        self._ended_turn = None

    def _write_turn_start(self, turn: OperatingTurn, below: AnyFrame, due: list[str]) -> None:
        if not isinstance(turn, ConnectionRunTurn):
            if self._connection_begun != turn.company:
                self._write_connection(turn.company, [])
            self._connection_begun = None
        elif isinstance(below, OperatingRound) and below.last_operated is None and not self._connection_begun:
            self._connection_begun = next(
                c for c in self.site_game.operating_order() if c in below.yet_to_operate
            )
            self._write_connection(self._connection_begun, due)

    def _write_connection(self, company: str, due: list[str]) -> None:
        entity = {"entity": self.names.site_company(company), "entity_type": "corporation"}
        found = {"type": "destination_connection", **entity, **self._timestamp(), "corporations": due}
        self.actions[-1].setdefault("auto_actions", []).append(found)

    def _apply(self, seat: str, action: Action) -> None:
        self.site_game.events = []
        apply(self.site_game, seat, action)
        self.numbering.update(self.site_game.events)
        self._turn_counts[1] += _turns_begun(self.site_game.events)

    def _write(self, record: dict[str, Any]) -> None:
        head = {"id": len(self.actions) + 1} | self._timestamp()
        self.actions.append({k: record.pop(k) for k in ("type", "entity", "entity_type")} | head | record)

    def _timestamp(self) -> dict[str, int]:
        """When that was said, where that is known."""
        return {} if self._current_line.timestamp is None else {"created_at": self._current_line.timestamp}

    def _compare_positions(self, *, whole: bool = False) -> None:
        """Hold the two positions against each other where they are at the same point. While a price is asked
        in the opening, the site may have sold the privates that follow."""
        if any(isinstance(self.our_state.top, each) for each in (ExcessTokens, Discard, ParPriceChoice)):
            return
        if (whole or self._lead() == 0) and (difference := _difference(self.our_state, self.site_game.state)):
            raise self._error(f"it leads elsewhere there: {difference}")


def _makes_offer(events: Sequence[AnyEvent]) -> bool:
    """Whether another has to agree."""
    return any(isinstance(event, OfferMade) for event in events)


def _turns_begun(events: Iterable[AnyEvent]) -> int:
    """How many turns have begun."""
    return sum(isinstance(e, FramePushed) and isinstance(e.frame, StockTurn | OperatingTurn) for e in events)


def _operating_turn(g: Game) -> OperatingTurn:
    assert isinstance(g.top, OperatingTurn)
    return g.top


def _difference(ours: State, theirs: State) -> str | None:
    """Where two positions show something else, in words; None where they show the same."""
    if _round_key(ours) != _round_key(theirs):
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
    for private, owner in ours.private_owners.items():
        if owner != theirs.private_owners[private]:
            other = theirs.name(theirs.private_owners[private])
            return f"the {private} is {other}'s, and {ours.name(owner)}'s here."
    if ours.tiles != theirs.tiles:
        return "other tiles lie on the board."
    if hex := next(
        (h for h, here in ours.tokens.items() if not _same_tokens(here, theirs.tokens.get(h))), None
    ):
        return f"the tokens in {hex} stand otherwise."
    if (_phase_rules(ours), _pool_trains(ours)) != (_phase_rules(theirs), _pool_trains(theirs)):
        return "other trains are in play."
    return None


def _same_tokens(here: list[tuple[int, str]], there: list[tuple[int, str]] | None) -> bool:
    """Whether the same tokens stand in the same cities, or in one that is still to be chosen."""
    theirs = {owner: node for node, owner in there or ()}
    ours = {owner: node for node, owner in here}
    return ours.keys() == theirs.keys() and all(theirs[c] in (ours[c], UNDECIDED_CITY) for c in ours)


def _phase_rules(state: State) -> PhaseDefinition:
    """What the phase allows, whatever it is called."""
    return msgspec.structs.replace(game_of(state).phase, name="", on=None)


def _pool_trains(state: State) -> list[str]:
    """The trains in the pool that can be bought."""
    g = game_of(state)
    return sorted(train for train in state.pool_trains if not is_obsolete(g, train))


def _round_key(state: State) -> tuple[object, ...]:
    """What tells a round from every other."""
    frame = state.stack[0]
    return type(frame), *(getattr(frame, name, None) for name in ("stock_round", "number"))
