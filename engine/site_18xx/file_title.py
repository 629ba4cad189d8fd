"""A title as the site's files have it: with the questions that a file leaves open until its next action.

Where a company has left the market, the site still begins the next question: it asks a president who cannot
protect any more, or begins a turn in which nothing can be done. It takes no pass there, and goes on with the
next action of the file. At our tables these questions are answered at once. In the replay of a file they stay
open until the next action, so that each position is the one that the site showed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from engine.core.state import PriceProtection, State, StockTurn
from engine.game import Game, GameTitle
from engine.stock.price_protection import PriceProtectionQuestion
from engine.stock.turn import StockTurnQuestion
from engine.titles import title_of


@cache
def file_title(title: str, options: tuple[str, ...]) -> GameTitle:
    """The title as the site's files have it. Raises ValueError for an unknown title or option."""
    composed = title_of(title, options)
    questions = {
        frame: replace(question, follows_file=True)
        if isinstance(question, PriceProtectionQuestion | StockTurnQuestion)
        else question
        for frame, question in composed.questions.items()
    }
    return replace(composed, questions=questions)


def file_game(state: State) -> Game:
    """A position of a file together with its title."""
    return Game(state, file_title(state.title, state.options))


def has_no_answer(g: Game) -> bool:
    """Whether the question has no answer but to pass."""
    turn, question = g.top, g.title.questions.get(type(g.top))
    if isinstance(turn, PriceProtection) and isinstance(question, PriceProtectionQuestion):
        return question.refuse_protection(g, turn) is not None
    return (
        isinstance(turn, StockTurn)
        and turn.guaranteed
        and isinstance(question, StockTurnQuestion)
        and not (turn.bought or turn.sold)
        and question.is_idle(g, turn)
    )
