"""Our game and the second one side by side, while an export is in progress.

Theory of operation. The two games ask for the same things at different times. Which of them is ahead is known
from the turns that both have begun and, in the same operating turn, from their steps. Where the site still
asks somebody whom our game has passed over, that player passes there. What our game has been told before the
site asks for it, is held until then (`HeldAnswers`). At the same point both positions have to be equal.
"""

from __future__ import annotations

from engine.core.actions import Action, ChooseHome, Pass
from engine.core.state import (
    Auction,
    CashCrisis,
    CompanyStart,
    Discard,
    ExcessTokens,
    HomeToken,
    MergerPoll,
    MergerTurn,
    OperatingTurn,
    ParPriceChoice,
    PostMergerLoans,
    PostMergerTrade,
    SeedMoneySale,
    State,
    copy_state,
)
from engine.kernel import awaited_seats, options, refusal
from engine.operating.stations import printed_home
from engine.operating.turn import OperatingTurnQuestion
from engine.site_18xx.differences import (
    after_other_moves,
    named_difference,
    other_turn,
    refusal_on_site,
)
from engine.site_18xx.game_file import NoCounterpartError
from engine.site_18xx.held_answers import HeldAnswers
from engine.site_18xx.position_difference import position_difference, round_difference, round_key
from engine.site_18xx.site_game import SiteGame

MAX_PASSES = 200
"""How many passes may be inserted before one line. A whole round needs far fewer."""
UNSETTLED = (ExcessTokens, Discard, ParPriceChoice, CompanyStart, CashCrisis)
"""Questions in the middle of what the two games settle in different orders."""


class TwoGames:
    """The position of our game, `our_state`, and the site's game; `turn_count`: turns begun in ours."""

    def __init__(self, start: State, site: SiteGame) -> None:
        self.our_state = copy_state(start)
        self.site = site
        self.turn_count = 0
        self.held = HeldAnswers(self)

    # -- playing on the site -----------------------------------------------------------

    def play(self, seat: str, action: Action) -> None:
        """Play an action in the site's game. Raises NoCounterpartError."""
        if why := refusal(self.site.game, seat, action):
            raise NoCounterpartError(self._refusal_sentence(seat, action, why))
        self.site.play(seat, action)
        self.held.note_site_events(self.site.game.events)

    def play_in_turn(self, seat: str, action: Action) -> None:
        """Play an action of an operating turn in its step; the steps before it are passed."""
        company = getattr(self.site.top, "company", None)
        if self.site.game.title.out_of_turn_for(self.site.game, action) is None:
            while isinstance(turn := self.site.top, OperatingTurn) and turn.company == company:
                current = self._step_names(turn).index(turn.step)
                steps = self._turn_question(turn).steps[current:]
                handled = [isinstance(action, step.handles) for step in steps]
                if handled[0] or not any(handled):
                    break
                self.pass_for_next()
        self.play(seat, action)

    def pass_for_next(self) -> None:
        """Pass for whoever the site asks. Raises NoCounterpartError if it asks nobody."""
        seats = awaited_seats(self.site.game)
        if not seats:
            raise NoCounterpartError("the site asks nobody now.")
        self.play(seats[0], Pass())

    def pass_until(self, seat: str) -> None:
        """In an auction, pass for those who are asked before that seat and can do nothing else."""
        while isinstance(self.site.top, Auction) and (first := awaited_seats(self.site.game)[0]) != seat:
            if any(not isinstance(option.action, Pass) for option in options(self.site.game, first)):
                return
            self.pass_for_next()

    def play_pass(self, seat: str) -> None:
        """Pass where the site asks the same question; otherwise nothing is written."""
        same_kind = type(self.our_state.top) is type(self.site.top)
        if same_kind and awaited_seats(self.site.game)[:1] == (seat,) and self.lead() == 0:
            self.play(seat, Pass())

    def _refusal_sentence(self, seat: str, action: Action, why: str) -> str:
        """What differs on the site, where its game refuses an action."""
        site = self.site.game
        if sentence := named_difference(self.our_state, site.state, self.held.last_events):
            return sentence
        seats = awaited_seats(site)
        if seat in seats:
            return refusal_on_site(action, why, position_difference(self.our_state, site.state))
        if round_key(self.our_state) != round_key(site.state):
            return round_difference(self.our_state, site.state)
        asked = " and ".join(self.our_state.name(each) for each in seats) or "nobody"
        return other_turn(action, asked, getattr(site.top, "company", None), len(seats) > 1)

    # -- keeping level -----------------------------------------------------------------

    def catch_up(self) -> None:
        """Answer whatever the site still asks and our game does not ask any more. Raises NoCounterpartError.

        That is in an auction that is over in our game, about a merger where our game has asked all at once,
        or while our game is turns or steps ahead. A home that was chosen before its tile was laid is played
        once the site asks for it.
        """
        self.held.play_discards()
        self._finish_trade()
        while isinstance(frame := self.site.top, HomeToken) and self.our_state.top != frame:
            self._choose_home(frame)
        while isinstance(frame := self.site.top, Auction):
            if getattr(self.our_state.top, "item", None) == frame.item:
                break
            self.pass_for_next()
        while isinstance(ours := self.our_state.top, SeedMoneySale):
            site = self.site.top
            if not isinstance(site, SeedMoneySale) or site.current_seat == ours.current_seat:
                break
            self.pass_for_next()  # whoever cannot put up any private is asked there too
        while isinstance(frame := self.site.top, MergerTurn) and self.our_state.top != frame:
            if isinstance(self.our_state.top, MergerPoll):
                break
            self.pass_for_next()
        for _ in range(MAX_PASSES):
            self.held.answer_protections()
            if self.lead() <= 0 or self.site.game.state.game_over:
                return
            self.pass_for_next()
        raise NoCounterpartError("the site takes the turns in another order.")

    def end(self) -> None:
        """Bring the site's game to its end, if ours is over. Raises NoCounterpartError."""
        self.catch_up()
        for _ in range(MAX_PASSES):
            if not self.our_state.game_over or self.site.game.state.game_over:
                break
            self.pass_for_next()
        self.compare(whole=True)

    def lead(self) -> int:
        """How many turns our game is ahead of the site's; in the same operating turn, how many steps."""
        turns = self.turn_count - self.site.turn_count
        ours, site = self.our_state.top, self.site.top
        if turns or not isinstance(site, OperatingTurn):
            return turns
        if not isinstance(ours, OperatingTurn):
            return int(not any(isinstance(frame, OperatingTurn) for frame in self.our_state.stack))
        steps = self._step_names(site)
        return steps.index(ours.step) - steps.index(site.step) if ours.step in steps else 0

    def compare(self, *, whole: bool = False) -> None:
        """Raise NoCounterpartError where the two positions are at the same point and differ.

        While a par price is asked in the opening, the site may already have sold the next privates. `whole`:
        at the end of an export, when nothing is open any more.
        """
        ours, site = self.our_state, self.site.game.state
        if isinstance(ours.top, UNSETTLED) or isinstance(site.top, CashCrisis):
            return
        if not whole and self.held.waits_for_discards():
            return
        if any(getattr(frame, "pending_sales", ()) for frame in site.stack) and not whole:
            return  # the price falls at the end of the turn there
        if (whole or self.lead() == 0) and (difference := position_difference(ours, site)):
            raise NoCounterpartError(
                named_difference(ours, site, self.held.last_events) or after_other_moves(difference)
            )

    def _finish_trade(self) -> None:
        """Pass for whoever is still asked after a merger whose trade and loans are over in our game."""
        while isinstance(top := self.site.top, PostMergerTrade | PostMergerLoans):
            ours = {(type(frame), getattr(frame, "company", None)) for frame in self.our_state.stack}
            if (type(top), top.company) in ours:
                return
            self.pass_for_next()

    def _choose_home(self, frame: HomeToken) -> None:
        hex = printed_home(self.site.game, frame.company).hex
        node = next(node for node, owner in self.our_state.tokens[hex] if owner == frame.company)
        self.play(frame.chooser, ChooseHome(frame.company, hex, node))

    def _turn_question(self, turn: OperatingTurn) -> OperatingTurnQuestion:
        question = self.site.game.title.questions[type(turn)]
        assert isinstance(question, OperatingTurnQuestion)
        return question

    def _step_names(self, turn: OperatingTurn) -> list[str]:
        return [step.name for step in self._turn_question(turn).steps]
