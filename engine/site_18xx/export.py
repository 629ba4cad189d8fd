"""Writes one of our games as a game file of 18xx.games.

Theory of operation. The game is played once more, line by line, as a second game under the site's
conventions. What is played there becomes the actions of the file, so each action is checked as it is
written. The two games differ in when they ask. A purchase that needs consent is played when the other
player accepts, since the site asks nobody. Where our line skips a question silently, the file has an
explicit pass, as the site wants it. A turn or step that only one of the two games has is passed there, or
left out; the turns of both are counted, so it is known which game is ahead.

Where the rules of our game allow what the site's do not, the second game refuses a line or reaches
another position than the first. That line is the first without a counterpart.
"""

from __future__ import annotations

from collections import Counter
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
    DiscardTrain,
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
    PostMergerLoans,
    PostMergerTrade,
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
    made_explicit,
    parse,
)
from engine.operating.connection_runs import due_connections
from engine.operating.stations import printed_home
from engine.operating.turn import OperatingTurnQuestion
from engine.site_18xx.action_codec import site_player_id
from engine.site_18xx.codec_registry import encode_action
from engine.site_18xx.codecs_connections import reorder_connections
from engine.site_18xx.differences import other_turn, refusal_on_site
from engine.site_18xx.game_file import SiteFileError
from engine.site_18xx.names import site_names_of
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.site_18xx.position_difference import position_difference, round_difference, round_key
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of

MAX_PASSES = 200
"""How many passes may be inserted before one line. A whole round needs far fewer."""


class SiteExportError(Exception):
    """The game has no counterpart on the site.

    `move_number`: the first move without one, counted from 1; 0 is the set-up.
    """

    def __init__(self, move_number: int, line: str, reason: str) -> None:
        place = f"Move {move_number} ({line})" if move_number else "The table"
        super().__init__(f"{place} has no counterpart on 18xx.games: {reason}")
        self.move_number = move_number


def export_game(history: GameHistory, name: str = "", *, as_far_as_possible: bool = False) -> dict[str, Any]:
    """The game as a game file of the site, ready to be encoded as JSON.

    Raises SiteExportError with the first move that the site does not have. With `as_far_as_possible` the file
    has the game up to that move, and then the reason and all further lines as chat messages; the error is
    raised only if not even the set-up has a counterpart.
    """
    exporter = SiteExporter(history.start)
    for index, line in enumerate(history.lines):
        done = exporter.mark()
        try:
            exporter.add_line(line)
        except SiteExportError as error:
            if not as_far_as_possible:
                raise
            exporter.drop_after(done)
            exporter.add_remarks(str(error), history.lines[index:])
            return exporter.build_partial_file(name)
    return exporter.build_file(name)


class SiteExporter:
    """An export in progress: `our_state` of our game, the second `site_game`, and the `actions` so far.

    What was said in our game before the site asks for it is kept until then: `_held_discards` by company
    (since the turn `_held_since`), `_trade_passes` as (company, seat) of passes in the trade after a merger,
    and `_protections`, by company the number of sales that were answered by a protection.
    """

    def __init__(self, start: State) -> None:
        try:
            self.names = site_names_of(start.title)
        except SiteFileError:
            raise SiteExportError(0, "", f"the site does not have {start.title}.") from None
        rules = self.names.site_options(start.options)
        if unknown := self.names.unknown_options(start.options):
            raise SiteExportError(0, "", f"the site does not have the option {unknown[0]}.")
        fresh = new_game(start.title, start.players, start.options).state
        if difference := position_difference(start, fresh):
            raise SiteExportError(0, "", f"it does not start from the opening position: {difference}")
        self.start = start
        self.our_state = copy_state(start)
        self.site_game: Game = game_of(new_game(start.title, start.players, (SITE_CONVENTIONS, *rules)).state)
        standard_tiles = title_of(start.title, (SITE_CONVENTIONS,)).components.tiles
        self.numbering = PieceNumbering(self.names, self.site_game.title, standard_tiles)
        self.actions: list[dict[str, Any]] = []
        self._turn_counts = [0, 0]
        self._connection_begun: str | None = None
        self._ended_turn: str | None = None
        self._postponed_connection: str | None = None
        self._current_line = HistoryLine("", "", ())
        self._move_number = 0
        self._protections = Counter[str]()
        self._trade_passes: list[tuple[str, str]] = []
        self._held_since = 0
        self._held_discards: dict[str, list[tuple[str, DiscardTrain]]] = {}

    # -- line by line ------------------------------------------------------------------

    def add_line(self, line: HistoryLine) -> None:
        """Export the next line of the game. Raises SiteExportError."""
        self._catch_up()
        self._compare_positions()
        self._current_line, self._move_number = line, self._move_number + 1
        before = game_of(copy_state(self.our_state))
        if line.line == ENDED_LINE:
            self._end_game()
        elif line.line == CONNECTION_RUN_LINE:
            self._add_connection(line.events)
        else:
            self._translate(before, line)
        fold(line.events, self.our_state)
        self._turn_counts[0] += _turns_begun(line.events)
        self._play_trade_passes()
        self._protections.update(e.company for e in line.events if isinstance(e, PriceProtected))
        self._answer_protections()

    def _answer_protections(self) -> None:
        """Answer about price protection what was answered in our game.

        There it was asked earlier, if the sale was a forced one, or answered by a standing order.
        """
        ours = self.our_state.top
        our_sales = ours.pending_sales if isinstance(ours, PriceProtection) else ()
        while isinstance(top := self.site_game.top, PriceProtection):
            if len(top.pending_sales) <= len(our_sales):
                return
            company = top.pending_sales[0].company
            if self._protections[company] > 0:
                self._play(top.pending_sales[0].president, ProtectPrice(company))
            else:
                self._pass_for_next()

    def mark(self) -> int:
        """How many actions there are before the next line."""
        return len(self.actions)

    def drop_after(self, mark: int) -> None:
        """Take back the actions of a line that could not be exported as a whole."""
        del self.actions[mark:]

    def add_remarks(self, reason: str, lines: Sequence[HistoryLine]) -> None:
        """Add a reason and lines that are not exported as chat messages, which the site does not play."""
        texts = [(self.start.seats[0], reason)]
        texts += [(line.seat, f"{self.start.name(line.seat)}: {line.line}") for line in lines]
        for seat, text in texts:
            player = {"entity": site_player_id(seat), "entity_type": "player"}
            self._write({"type": "message", **player, "message": text})

    def build_partial_file(self, name: str = "") -> dict[str, Any]:
        """The file of a game that is exported up to some move only: an active game without a result."""
        return self._file(name, over=False)

    def build_file(self, name: str = "") -> dict[str, Any]:
        """The file, once all lines are added. Raises SiteExportError where the last positions differ."""
        self._catch_up()
        for _ in range(MAX_PASSES):
            if not self.our_state.game_over or self.site_game.state.game_over:
                break
            self._pass_for_next()
        self._compare_positions(whole=True)
        file, over = self._file(name, over=self.our_state.game_over is not None), self.our_state.game_over
        if over:
            scores = self.site_game.title.scores(self.site_game, over.bankrupt)
            file["result"] = {str(site_player_id(seat)): dollars for seat, dollars in scores.items()}
        return file

    def _file(self, name: str, *, over: bool) -> dict[str, Any]:
        state = self.our_state
        return {
            "id": "hs_railpost_1",
            "description": name,
            "user": {"id": 0, "name": "You"},
            "min_players": len(state.players),
            "max_players": len(state.players),
            "title": state.title,
            "players": [{"id": number, "name": player} for number, player in enumerate(state.players, 1)],
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

    def _error(self, reason: str) -> SiteExportError:
        player = self.our_state.name(self._current_line.seat) if self._current_line.seat else ""
        if SITE_CONVENTIONS not in self.start.options:
            reason += " The table does not play by the site's conventions."
        return SiteExportError(self._move_number, f"{player}: {self._current_line.line}", reason)

    def _translate(self, before: Game, line: HistoryLine) -> None:
        """Play in the second game what a line of the first means there."""
        try:
            action = parse(before, line.seat, line.line)
        except (UnreadableError, AmbiguousError, RefusedError) as error:
            raise self._error(str(error)) from None
        match action:
            case Bid() | RaiseBid() | BidUpTo() | BidNothing() | Pass() if isinstance(before.top, Auction):
                self._play_bids(line.events)
            case Pass() if isinstance(before.top, PostMergerTrade):
                self._trade_passes.append((before.top.company, line.seat))
                self._play_trade_passes()
            case Pass():
                self._play_pass(before, line.seat)
            case Decline() if isinstance(before.top, PriceProtection):
                self._play_pass(before, line.seat)
            case (
                Decline()
                | SetStandingProtection()
                | CancelStandingProtection()
                | StartConnectionRun()
                | WillAct()
            ):
                pass
            case ProtectPrice() if not isinstance(self.site_game.top, PriceProtection):
                pass
            case ChooseHome() if not isinstance(self.site_game.top, HomeToken):
                pass
            case DiscardTrain(_, company):
                self._held_discards.setdefault(company, []).append((line.seat, action))
                self._held_since = self._turn_counts[0]
                self._play_held_discards()
            case Accept():
                self._play_accepted_offer(before, line.events)
            case BuyTrain() | TradePrivate() | Merge() | RedeemShare() if _makes_offer(line.events):
                pass
            case BuyTrain(_, source, price) if source in before.state.companies:
                turn = _operating_turn(before)
                self._play_deal(Offer(0, line.seat, line.seat, action, source, turn.company, price or 0))
            case TradePrivate(private, amount):
                owner = before.state.private_owners[private]
                top = before.top
                target = top.company if isinstance(top, OperatingTurn) else line.seat
                self._play_deal(Offer(0, line.seat, line.seat, action, owner, target, amount))
            case PlaceClosedPort(hex):
                self._play_in_turn(line.seat, PlaceOpenPort(hex))
                self._play_in_turn(line.seat, ClosePort())
            case BuyShares(company, source, count):
                for _ in range(count):
                    self._play_in_turn(line.seat, BuyShares(company, source))
            case SellShares(company, count) if count > 1 and self._sells_half_presidents_certificate(
                line.seat, company, count
            ):
                for _ in range(count):
                    self._play_in_turn(line.seat, SellShares(company, 1))
            case FloatCompany(size, privates):
                self._float_company(line.seat, size, privates)
            case RepayLoans() if isinstance(top := self.site_game.top, TakeoverLoans) and top.stage == "loan":
                self._pass_for_next()
                self._translate(before, line)
            case KeepTokens(hexes):
                self._keep_tokens(line.seat, hexes)
            case (
                TakeLoans(count)
                | TakeLoansForCompany(_, count)
                | RepayLoans(count)
                | BuyPostMergerShares(count)
            ):
                for _ in range(count):
                    self._play_in_turn(line.seat, msgspec.structs.replace(action, count=1))
            case _:
                self._play_in_turn(line.seat, action)

    def _play_trade_passes(self) -> None:
        """Pass in the trade after a merger once the site asks for it: in our game all may pass in advance."""
        while isinstance(top := self.site_game.top, PostMergerTrade):
            asked = top.company, awaited_seats(self.site_game)[0]
            if asked not in self._trade_passes:
                return
            self._trade_passes.remove(asked)
            self._pass_for_next()

    def _finish_trade(self) -> None:
        """Pass for whoever is still asked after a merger whose trade and loans are over in our game."""
        while isinstance(top := self.site_game.top, PostMergerTrade | PostMergerLoans):
            ours = {(type(frame), getattr(frame, "company", None)) for frame in self.our_state.stack}
            if (type(top), top.company) in ours:
                return
            self._pass_for_next()

    def _play_held_discards(self) -> None:
        """Play discards in the order in which the site asks for them; the others are held until then."""
        while isinstance(top := self.site_game.top, Discard) and self._held_discards.get(top.company):
            seat, action = self._held_discards[top.company].pop(0)
            self._play(seat, action)

    def _sells_half_presidents_certificate(self, seat: str, company: str, count: int) -> bool:
        """Whether the sale ends with half a president's certificate while the bank is short of shares.

        Then the shares are sold one by one: the first ones close the short shares, and the half is sold by
        itself. In one sale the site would give back what was sold short.
        """
        g, co = self.site_game, self.site_game.company(company)
        if co.president != seat or not (g.percent_held(POOL, company) < 0 or co.covered_shorts):
            return False
        return g.percent_held(seat, company) == (count + 1) * share_percent(g, company)

    def _keep_tokens(self, seat: str, hexes: tuple[str, ...]) -> None:
        """Remove the tokens in all other hexes one by one."""
        while isinstance(top := self.site_game.top, ExcessTokens):
            companies, tokens = (top.company, top.target), self.site_game.state.tokens
            surplus = [
                (h, n) for h in tokens if h not in hexes for n, owner in tokens[h] if owner in companies
            ]
            if not surplus:
                break
            self._play(seat, RemoveToken(*surplus[0]))

    def _float_company(self, seat: str, size: int, privates: tuple[str, ...]) -> None:
        """Play the size and each private by itself; then pass."""
        top = self.site_game.top
        if isinstance(top, CompanyStart) and top.size is None:
            self._play(seat, FloatCompany(size))
        for private in privates:
            self._play(seat, FloatCompany(size, (private,)))
        if isinstance(self.site_game.top, CompanyStart) and SITE_CONVENTIONS not in self.start.options:
            self._play(seat, Pass())

    def _play_bids(self, events: Sequence[AnyEvent]) -> None:
        """Play the bids and passes of an auction, also those that follow from a limit set in advance."""
        for_private = isinstance(self.site_game.state.stack[0], SeedMoneySale)
        for event in events:
            match event:
                case BidMade(seat, private, amount):
                    self._pass_until(seat)
                    self._play(seat, Bid(private, amount) if for_private else RaiseBid(amount))
                case Passed(seat):
                    self._pass_until(seat)
                    self._play(seat, Pass())
                case FramePopped():
                    return

    def _pass_until(self, seat: str) -> None:
        """Pass for those who are asked before that seat and can do nothing else."""
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
        """Add what only the site has found: a connection run, or another order of those that are due.

        A run is due at the end of the last turn; the next turn starts after it.
        """
        frame = next(event.frame for event in events if isinstance(event, FramePushed))
        assert isinstance(frame, ConnectionRunTurn)
        connections = self.actions[-1]["auto_actions"]
        self._turn_counts[1] += _turns_begun(events)
        if isinstance(events[0], FramePopped):
            [round] = [event.frame for event in events if isinstance(event, FrameReplaced)]
            assert isinstance(round, OperatingRound)
            order = (frame.company, *round.due_connections)
            reorder_connections(self.site_game, order)
            connections[-1]["corporations"] = [self.names.site_company(company) for company in order]
            return
        self._postponed_connection = connections.pop()["entity"]
        connections[-1]["corporations"].append(self.names.site_company(frame.company))
        self.site_game.push(frame)

    # -- keeping level -----------------------------------------------------------------

    def _catch_up(self) -> None:
        """Pass for whoever the site still asks.

        That is in an auction that is over in our game, about a merger where our game has asked all at once,
        or while our game is turns or steps ahead. A home that was chosen before its tile was laid is played
        once the site asks for it.
        """
        self._play_held_discards()
        self._finish_trade()
        while isinstance(ours := self.our_state.top, SeedMoneySale):
            site = self.site_game.top
            if not isinstance(site, SeedMoneySale) or site.current_seat == ours.current_seat:
                break
            self._pass_for_next()  # whoever cannot put up any private is asked there too
        while isinstance(frame := self.site_game.top, HomeToken) and self.our_state.top != frame:
            self._choose_home(frame)
        while (
            isinstance(frame := self.site_game.top, Auction)
            and getattr(self.our_state.top, "item", None) != frame.item
        ):
            self._pass_for_next()
        while isinstance(frame := self.site_game.top, MergerTurn) and not isinstance(
            self.our_state.top, MergerPoll
        ):
            if self.our_state.top == frame:
                break
            self._pass_for_next()
        for _ in range(MAX_PASSES):
            self._answer_protections()
            if self._lead() <= 0 or self.site_game.state.game_over:
                return
            self._pass_for_next()
        raise self._error("the site takes the turns in another order.")

    def _choose_home(self, frame: HomeToken) -> None:
        hex = printed_home(self.site_game, frame.company).hex
        node = next(node for node, owner in self.our_state.tokens[hex] if owner == frame.company)
        self._play(frame.chooser, ChooseHome(frame.company, hex, node))

    def _lead(self) -> int:
        """How many turns our game is ahead of the site's; in the same operating turn, how many steps."""
        turns = self._turn_counts[0] - self._turn_counts[1]
        ours, site = self.our_state.top, self.site_game.top
        if turns or not (isinstance(ours, OperatingTurn) and isinstance(site, OperatingTurn)):
            return turns
        steps = self._step_names(site)
        return steps.index(ours.step) - steps.index(site.step) if ours.step in steps else 0

    def _pass_for_next(self) -> None:
        seats = awaited_seats(self.site_game)
        if not seats:
            raise self._error("the site asks nobody now.")
        self._play(seats[0], Pass())

    def _play_pass(self, before: Game, seat: str) -> None:
        """Pass where the site asks the same question; otherwise nothing is written."""
        same_question = type(before.top) is type(self.site_game.top) and awaited_seats(self.site_game)[
            :1
        ] == (seat,)
        if same_question and self._lead() == 0:
            self._play(seat, Pass())

    def _turn_question(self, turn: OperatingTurn) -> OperatingTurnQuestion:
        question = self.site_game.title.questions[type(turn)]
        assert isinstance(question, OperatingTurnQuestion)
        return question

    def _step_names(self, turn: OperatingTurn) -> list[str]:
        return [step.name for step in self._turn_question(turn).steps]

    def _play_in_turn(self, seat: str, action: Action) -> None:
        """Play an action of an operating turn in its step; the steps before it are passed."""
        company = getattr(self.site_game.top, "company", None)
        if self.site_game.title.out_of_turn_for(self.site_game, action) is None:
            while isinstance(turn := self.site_game.top, OperatingTurn) and turn.company == company:
                current = self._step_names(turn).index(turn.step)
                steps = self._turn_question(turn).steps[current:]
                handled = [isinstance(action, step.handles) for step in steps]
                if handled[0] or not any(handled):
                    break
                self._pass_for_next()
        self._play(seat, action)

    # -- deals -------------------------------------------------------------------------

    def _play_accepted_offer(self, before: Game, events: Sequence[AnyEvent]) -> None:
        number = next(e.number for e in events if isinstance(e, OfferEnded) and e.outcome == "accepted")
        self._play_deal(next(offer for offer in before.state.offers if offer.number == number))

    def _play_deal(self, offer: Offer) -> None:
        """Play a purchase that both sides have agreed to, as the buyer's action."""
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

    # -- playing -----------------------------------------------------------------------

    def _play(self, seat: str, action: Action) -> None:
        """Play an action in the second game and write its records. Raises SiteExportError."""
        if why := refusal(self.site_game, seat, action):
            raise self._error(self._refusal_sentence(seat, action, why))
        try:
            records = encode_action(
                self.site_game, self.names, self.numbering, seat, made_explicit(self.site_game, action)
            )
        except KeyError:
            raise self._error("the site has no such action.") from None
        stack = list(self.site_game.state.stack)
        self._apply(seat, action)
        if offers := self.site_game.state.offers:
            self._apply(offers[0].recipient, Accept())
        for record in records:
            self._write(record)
        if self.names.records_connections:
            self._write_connections(stack, self.site_game.events)

    def _refusal_sentence(self, seat: str, action: Action, why: str) -> str:
        """What differs on the site, where its game refuses an action."""
        seats, top = awaited_seats(self.site_game), self.site_game.top
        if seat in seats:
            return refusal_on_site(action, why)
        if round_key(self.our_state) != round_key(self.site_game.state):
            return round_difference(self.our_state, self.site_game.state)
        asked = " and ".join(self.our_state.name(each) for each in seats) or "nobody"
        return other_turn(action, asked, getattr(top, "company", None), len(seats) > 1)

    def _write_connections(self, stack: list[AnyFrame], events: Sequence[AnyEvent]) -> None:
        """Write at the start and the end of each turn which connection runs are due.

        The first turn has those that are left over. A turn ends once all price protection is decided. The
        site finds connections by itself, so the record is an automatic action of the one that caused it.
        """
        round = self.site_game.state.stack[0]
        due: list[str] = []
        if isinstance(round, OperatingRound) and isinstance(self.site_game.top, ConnectionRunTurn):
            due = [
                self.names.site_company(company)
                for company in due_connections(self.site_game, round.last_operated, round.operated)
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
                    popped = stack.pop()
                    if isinstance(popped, ConnectionRunTurn) and self._postponed_connection:
                        self._write_connection(self.names.our_company(self._postponed_connection), [])
                        self._postponed_connection = None
                    if type(popped) is OperatingTurn:
                        self._ended_turn = popped.company
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
        record = {"type": "destination_connection", **entity, **self._timestamp(), "corporations": due}
        self.actions[-1].setdefault("auto_actions", []).append(record)

    def _apply(self, seat: str, action: Action) -> None:
        self.site_game.events = []
        apply(self.site_game, seat, action)
        self.numbering.update(self.site_game.events)
        self._turn_counts[1] += _turns_begun(self.site_game.events)
        protected = (e.company for e in self.site_game.events if isinstance(e, PriceProtected))
        self._protections.subtract(protected)

    def _write(self, record: dict[str, Any]) -> None:
        head = {"id": len(self.actions) + 1} | self._timestamp()
        self.actions.append({k: record.pop(k) for k in ("type", "entity", "entity_type")} | head | record)

    def _timestamp(self) -> dict[str, int]:
        """The time of our line, if it is known."""
        return {} if self._current_line.timestamp is None else {"created_at": self._current_line.timestamp}

    def _compare_positions(self, *, whole: bool = False) -> None:
        """Raise SiteExportError where the two positions are at the same point and differ.

        While a par price is asked in the opening, the site may already have sold the next privates.
        """
        if any(
            isinstance(self.our_state.top, each)
            for each in (ExcessTokens, Discard, ParPriceChoice, CompanyStart)
        ):
            return
        if any(self._held_discards.values()) and self._turn_counts[0] - self._held_since < 2 and not whole:
            return  # it asks for discards at the end of the turn
        if any(getattr(frame, "pending_sales", ()) for frame in self.site_game.state.stack) and not whole:
            return  # the price falls at the end of the turn there
        if (whole or self._lead() == 0) and (
            difference := position_difference(self.our_state, self.site_game.state)
        ):
            raise self._error(f"the moves before it have another result there: {difference}")


def _makes_offer(events: Sequence[AnyEvent]) -> bool:
    """Whether the line was an offer, which another player has to accept."""
    return any(isinstance(event, OfferMade) for event in events)


def _turns_begun(events: Iterable[AnyEvent]) -> int:
    """How many stock and operating turns these events start."""
    return sum(isinstance(e, FramePushed) and isinstance(e.frame, StockTurn | OperatingTurn) for e in events)


def _operating_turn(g: Game) -> OperatingTurn:
    assert isinstance(g.top, OperatingTurn)
    return g.top
