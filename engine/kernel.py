"""Playing a game: one predicate says what is legal, one loop carries a move through.

The top frame of the stack asks a question of some seats; `Title.out_of_turn` may be done beside it. A move
is refused or applied. Then frames advance until one waits for an answer.

Questions are numbered. The number grows whenever a question was answered or another one comes, and a button
or a letter refers to it. It does not grow when somebody acts out of turn, nor when one of several who were
asked the same answers: so nobody's card becomes stale by that.
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
from engine.core.words import join_words
from engine.finance.offers import lapse_offers
from engine.game import Game, GameTitle
from engine.mechanics import Option
from engine.titles import title_of

MAX_ADVANCES = 10_000


class RefusedError(Exception):
    """The rules do not allow a move. The message says why, as a sentence for the player."""


class Transition(NamedTuple):
    """What a move led to: the new state, and the events that changed it."""

    state: State
    events: list[AnyEvent]


def game_of(state: State | Game) -> Game:
    """The state together with its title; a game as it is."""
    if isinstance(state, Game):
        return state
    return Game(state, title_of(state.title, state.options))


def new_game(title: str, players: Sequence[str], options: Iterable[str] = (), seed: int = 0) -> Transition:
    """A new game at its first question, with the players in seating order.

    `seed`: a random number from 0 for titles that deal something out; 0 deals in the printed order. The
    engine draws no random numbers itself.

    Raises ValueError, with a sentence for the host, for an unknown title or option, a wrong number of
    players, or a name that cannot be used.
    """
    composed = title_of(title, tuple(options))
    components = composed.components
    low, high = components.players["min"], components.players["max"]
    check_names(composed, players)
    if not low <= len(players) <= high:
        raise ValueError(f"{title} is for {low} to {high} players, not {len(players)}.")
    seats = [seat_id(i) for i in range(len(players))]
    cash = components.starting_cash[str(len(players))]
    state = State(
        title=title,
        options=composed.options,
        players=list(players),
        cash={BANK: (components.bank or 0) - cash * len(seats)}
        | dict.fromkeys(seats, cash)
        | {c.sym: 0 for c in components.companies},
        companies={
            c.sym: Company(shares={IPO: sum(c.shares)}, unplaced_tokens=len(c.tokens))
            for c in components.companies
        },
        private_owners={p.sym: BANK if _in_play(p, len(seats)) else CLOSED for p in components.privates},
        depot={t.name: t.count for t in components.trains},
        phase=components.phases[0].name,
        priority=seats[0],
        stack=[],
    )
    state.depot.update(composed.train_counts)
    g = Game(state, composed)
    g.state.stack.append(composed.opening(g, seed))
    advance(g)
    _number_question(g, question_key(g))
    return Transition(g.state, g.events)


def _in_play(private: PrivateDefinition, players: int) -> bool:
    return not private.used_with_players or players in private.used_with_players


def check_names(title: GameTitle, names: Sequence[str]) -> None:
    """Check the names at a table: 1-20 letters, digits and single inner spaces, no symbol of the title.

    Raises ValueError with a sentence for the host.
    """
    reserved = {"pool", "ipo", "bank", "treasury", "closed"}
    reserved |= {s.casefold() for s in (*title.companies, *title.privates)}
    reserved |= {s.casefold().replace("&", "") for s in title.companies}
    seen: set[str] = set()
    for name in names:
        key = name.casefold()
        plain = name.replace(" ", "")
        if not (plain.isalnum() and len(name) <= 20 and " ".join(name.split()) == name):
            raise ValueError(
                f"{name!r} cannot be used: a name has 1 to 20 letters, digits and single spaces."
            )
        if key in reserved:
            raise ValueError(f"{name} is a word of the game. Choose another name.")
        if key in seen:
            raise ValueError(f"Two players are called {name}.")
        seen.add(key)


def awaited_seats(g: Game) -> tuple[str, ...]:
    """The seats that the table waits for, those that the top frame asks first."""
    top = g.top
    seats = g.title.questions[type(top)].asked(g, top)
    for activity in g.title.out_of_turn_awaiting:
        for seat in activity.asked(g):
            if seat not in seats:
                seats = (*seats, seat)
    return seats


def prompt(g: Game) -> str:
    """What the top frame asks, as an imperative phrase: `lay track for the PRR`."""
    return g.title.questions[type(g.top)].prompt(g, g.top)


def options(g: Game, seat: str) -> list[Option]:
    """Everything that the seat may do now, answers to the question first."""
    if g.state.game_over:
        return []
    top = g.top
    question = g.title.questions[type(top)]
    found = list(question.options(g, top, seat)) if seat in question.asked(g, top) else []
    for activity in g.title.out_of_turn:
        found += activity.options(g, seat)
    return found


def refusal(g: Game, seat: str, action: Action) -> str | None:
    """Why the seat may not do that now, as a sentence that cites the rulebook, or None: the one predicate."""
    why = _reason(g, seat, action)
    return g.title.with_citation(why, g.top) if why else None


def _reason(g: Game, seat: str, action: Action) -> str | None:
    if g.state.game_over:
        return "The game is over."
    if activity := g.title.out_of_turn_for(g, action):
        return activity.refusal(g, seat, action)
    top = g.top
    question = g.title.questions[type(top)]
    seats = question.asked(g, top)
    if seat not in seats:
        names = join_words([g.state.name(s) for s in seats], "or")
        return f"{names} to act: {question.prompt(g, top)}."
    return question.refusal(g, top, seat, action)


def play(state: State, seat: str, action: Action) -> Transition:
    """Carry out an action on a copy of the state.

    Raises RefusedError with the reason.
    """
    return play_in_place(game_of(copy_state(state)), seat, action)


def play_in_place(g: Game, seat: str, action: Action) -> Transition:
    """Carry out an action on the game itself; where it is refused, nothing has changed.

    Raises RefusedError with the reason.
    """
    if why := refusal(g, seat, action):
        raise RefusedError(why)
    return apply(g, seat, action)


def apply(g: Game, seat: str, action: Action) -> Transition:
    """Carry out an action that is known not to be refused, on the game itself."""
    before, top = question_key(g), g.top
    activity = g.title.out_of_turn_for(g, action)
    if activity:
        activity.apply(g, seat, action)
    else:
        g.title.questions[type(top)].apply(g, top, seat, action)
    advance(g)
    now = question_key(g)
    if not still_awaits_others(before, now, seat) and not (activity and now == before):
        _number_question(g, now)
    return Transition(g.state, g.events)


def still_awaits_others(before: QuestionKey, now: QuestionKey, seat: str) -> bool:
    """Whether a question that several seats were asked is still open to others than the seat that has just
    answered it.
    """
    same = before.subject is not None and (before.frame, before.subject) == (now.frame, now.subject)
    return same and not set(before.seats).isdisjoint(set(now.seats) - {seat})


AGREED = "It was ended by agreement."


def end_by_agreement(state: State) -> Transition:
    """End the game by agreement of the players, on a copy of the state."""
    g = game_of(copy_state(state))
    lapse_offers(g)
    g.push(GameOver(AGREED))
    _number_question(g, question_key(g))
    return Transition(g.state, g.events)


def advance(g: Game) -> None:
    """Advance frames until one waits for an answer and nothing interrupts it."""
    for _ in range(MAX_ADVANCES):
        top = g.top
        if not g.title.questions[type(top)].advance(g, top) and not g.title.interrupt(g):
            return
    raise RuntimeError("the rules do not come to a question")


class QuestionKey(NamedTuple):
    """What identifies a question.

    `subject`: of a question that several seats are asked at once, what stays the same while they answer.
    """

    seats: tuple[str, ...]
    frame: type[AnyFrame]
    company: str | None
    step: str | None
    subject: object


def question_key(g: Game) -> QuestionKey:
    """The key of the question on top."""
    top = g.top
    kind = type(top)
    seats = g.title.questions[kind].asked(g, top)
    subject = _SUBJECTS[kind](top) if kind in _SUBJECTS else None
    return QuestionKey(seats, kind, getattr(top, "company", None), getattr(top, "step", None), subject)


_SUBJECTS: dict[type[AnyFrame], Callable[[Any], object]] = {
    RevenueClaim: attrgetter("company", "revenue"),
    MergerPoll: attrgetter("stage"),
    Auction: attrgetter("kind", "item"),
    PostMergerTrade: attrgetter("company"),
}


def _number_question(g: Game, now: QuestionKey) -> None:
    """Give the question on top the next number."""
    g.emit(QuestionAsked(g.state.question_number + 1, now.seats))
