"""Playing: one predicate says what is legal, one loop carries a move through.

The top frame of the stack asks a question of some seats; `asides` may be done beside it. A move
is refused or taken; then frames settle until one waits for an answer. Whenever a question was
answered, or another stands, its number grows: that number is what a button or a letter was an
answer to, so an act out of turn makes nobody's card stale, nor does the answer of one of several who
were asked the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from engine.core.actions import Action
from engine.core.components import PrivateDefinition
from engine.core.events import AnyEvent, QuestionAsked
from engine.core.state import (
    BANK,
    CLOSED,
    IPO,
    AnyFrame,
    Auction,
    Company,
    GameOver,
    MergerPoll,
    PostMergerTrade,
    RevenueClaim,
    State,
    copy_state,
    seat_id,
)
from engine.finance.offers import lapse_offers
from engine.game import Game
from engine.mechanics import Option
from engine.title import Title
from engine.titles import title_of

MAX_ADVANCES = 10_000


class RefusedError(Exception):
    """The rules do not allow it; the message says why, in words for a player."""


class Transition(NamedTuple):
    """What a move led to: the new state, and the events that brought it about."""

    state: State
    events: list[AnyEvent]


def game_of(state: State) -> Game:
    """The state in the hands of its title's rules."""
    return Game(state, title_of(state.title, state.options))


def new_game(title: str, players: Sequence[str], options: Iterable[str] = (), lot: int = 0) -> Transition:
    """A game at its first question, with those players in seating order.

    `lot`: a number drawn by chance, from 0, from which a title that deals something out makes its
    deal; 0 deals in the printed order. Nothing here draws one.

    Raises ValueError, with a sentence for the host, for an unknown title or option, a wrong
    number of players or a name that cannot be used.
    """
    composed = title_of(title, tuple(options))
    facts = composed.components
    low, high = facts.players["min"], facts.players["max"]
    if not low <= len(players) <= high:
        raise ValueError(f"{title} is for {low} to {high} players, not {len(players)}.")
    check_names(composed, players)
    seats = [seat_id(i) for i in range(len(players))]
    cash = facts.starting_cash[str(len(players))]
    state = State(
        title=title,
        options=composed.options,
        players=list(players),
        cash={BANK: (facts.bank or 0) - cash * len(seats)}
        | dict.fromkeys(seats, cash)
        | {c.sym: 0 for c in facts.companies},
        companies={
            c.sym: Company(shares={IPO: sum(c.shares)}, unplaced_tokens=len(c.tokens))
            for c in facts.companies
        },
        private_owners={p.sym: BANK if _in_play(p, len(seats)) else CLOSED for p in facts.privates},
        depot={t.name: t.count for t in facts.trains},
        phase=facts.phases[0].name,
        priority=seats[0],
        stack=[],
    )
    state.depot.update(composed.train_counts)
    g = Game(state, composed)
    g.state.stack.append(composed.opening(g, lot))
    advance(g)
    _number_question(g, question_key(g))
    return Transition(g.state, g.events)


def _in_play(private: PrivateDefinition, players: int) -> bool:
    return not private.used_with_players or players in private.used_with_players


def check_names(title: Title, names: Sequence[str]) -> None:
    """Names at a table: 1-20 letters, digits and single inner spaces, no symbol of the title.

    Raises ValueError with the sentence for the host.
    """
    taken = {"pool", "ipo", "bank", "treasury", "closed"}
    taken |= {s.casefold() for s in (*title.companies, *title.privates)}
    taken |= {s.casefold().replace("&", "") for s in title.companies}
    seen: set[str] = set()
    for name in names:
        key = name.casefold()
        plain = name.replace(" ", "")
        if not (plain.isalnum() and len(name) <= 20 and " ".join(name.split()) == name):
            raise ValueError(f"{name!r} is no name: 1 to 20 letters, digits and single spaces between them.")
        if key in taken:
            raise ValueError(f"{name} is a word of the game; choose another name.")
        if key in seen:
            raise ValueError(f"Two players are called {name}.")
        seen.add(key)


def awaited_seats(g: Game) -> tuple[str, ...]:
    """The seats that the table waits for, those asked by the top frame first."""
    top = g.top
    seats = g.title.questions[type(top)].asked(g, top)
    for aside in g.title.out_of_turn_awaiting:
        for seat in aside.asked(g):
            if seat not in seats:
                seats = (*seats, seat)
    return seats


def prompt(g: Game) -> str:
    """What the top frame asks, as a phrase after a name."""
    return g.title.questions[type(g.top)].prompt(g, g.top)


def options(g: Game, seat: str) -> list[Option]:
    """Everything that seat may say now, the answers to the question first."""
    top = g.top
    question = g.title.questions[type(top)]
    found = list(question.options(g, top, seat)) if seat in question.asked(g, top) else []
    for aside in g.title.out_of_turn:
        found += aside.options(g, seat)
    return found


def refusal(g: Game, seat: str, action: Action) -> str | None:
    """Why that seat may not do that now, or None: the one predicate."""
    why = _refusal(g, seat, action)
    return None if why is None else g.title.cited(why)


def _refusal(g: Game, seat: str, action: Action) -> str | None:
    if g.state.game_over:
        return "The game is over."
    if aside := g.title.out_of_turn_for(g, action):
        return aside.refusal(g, seat, action)
    top = g.top
    question = g.title.questions[type(top)]
    seats = question.asked(g, top)
    if seat not in seats:
        return f"It is for {' or '.join(g.state.name(s) for s in seats)} to act."
    return question.refusal(g, top, seat, action)


def play(state: State, seat: str, action: Action) -> Transition:
    """Carry out an action. The state that is given stays as it is.

    Raises Refused with the reason.
    """
    return play_in_place(game_of(copy_state(state)), seat, action)


def play_in_place(g: Game, seat: str, action: Action) -> Transition:
    """As `play`, on a game whose state may be changed, and is left as it is where refused."""
    if why := refusal(g, seat, action):
        raise RefusedError(why)
    return apply(g, seat, action)


def apply(g: Game, seat: str, action: Action) -> Transition:
    """Carry out what is known not to be refused, on a game whose state may be changed."""
    before, top = question_key(g), g.top
    aside = g.title.out_of_turn_for(g, action)
    if aside:
        aside.apply(g, seat, action)
    else:
        g.title.questions[type(top)].apply(g, top, seat, action)
    advance(g)
    now = question_key(g)
    if not still_awaits_others(before, now, seat) and not (aside and now == before):
        _number_question(g, now)
    return Transition(g.state, g.events)


def still_awaits_others(before: QuestionKey, now: QuestionKey, seat: str) -> bool:
    """Whether a question that several were asked stands as it did for others than that seat, who has
    answered it."""
    same = before.subject is not None and (before.frame, before.subject) == (now.frame, now.subject)
    return same and not set(before.seats).isdisjoint(set(now.seats) - {seat})


def end_by_agreement(state: State, reason: str) -> Transition:
    """End the game as it stands, by agreement. The state that is given stays as it is."""
    g = game_of(copy_state(state))
    lapse_offers(g)
    g.push(GameOver(reason))
    _number_question(g, question_key(g))
    return Transition(g.state, g.events)


def advance(g: Game) -> None:
    """Let frames go on by themselves until one waits for an answer, and nothing comes before that."""
    for _ in range(MAX_ADVANCES):
        top = g.top
        if not g.title.questions[type(top)].advance(g, top) and not g.title.interrupt(g):
            return
    raise RuntimeError("the rules go round in circles")


class QuestionKey(NamedTuple):
    """What tells one question from another. `matter`: of one that several are asked at once, what must
    not change while they answer."""

    seats: tuple[str, ...]
    frame: type[AnyFrame]
    company: str | None
    step: str | None
    subject: object


def question_key(g: Game) -> QuestionKey:
    """The question on top."""
    top = g.top
    kind = type(top)
    seats = g.title.questions[kind].asked(g, top)
    matter = _SUBJECTS[kind](top) if kind in _SUBJECTS else None
    return QuestionKey(seats, kind, getattr(top, "company", None), getattr(top, "step", None), matter)


_SUBJECTS: dict[type[AnyFrame], Callable[[Any], object]] = {
    RevenueClaim: attrgetter("company", "revenue"),
    MergerPoll: attrgetter("stage"),
    Auction: attrgetter("kind", "item"),
    PostMergerTrade: attrgetter("company"),
}


def _number_question(g: Game, now: QuestionKey) -> None:
    """Number the question that stands now."""
    g.emit(QuestionAsked(g.state.question_number + 1, now.seats))
