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

from engine.actions import Action
from engine.events import AnyEvent, Asked
from engine.facts import PrivateFacts
from engine.game import Game
from engine.offers import lapse_offers
from engine.state import (
    BANK,
    CLOSED,
    IPO,
    AnyFrame,
    Auction,
    Claim,
    Company,
    GameOver,
    Poll,
    ShareTrade,
    State,
    copied,
    seat_name,
)
from engine.title import Option, Title
from engine.titles import title_of

MAX_SETTLING = 10_000


class Refused(Exception):
    """The rules do not allow it; the message says why, in words for a player."""


class Played(NamedTuple):
    """What a move led to: the new state, and the events that brought it about."""

    state: State
    events: list[AnyEvent]


def game_of(state: State) -> Game:
    """The state in the hands of its title's rules."""
    return Game(state, title_of(state.title, state.options))


def new_game(title: str, players: Sequence[str], options: Iterable[str] = (), lot: int = 0) -> Played:
    """A game at its first question, with those players in seating order.

    `lot`: a number drawn by chance, from 0, from which a title that deals something out makes its
    deal; 0 deals in the printed order. Nothing here draws one.

    Raises ValueError, with a sentence for the host, for an unknown title or option, a wrong
    number of players or a name that cannot be used.
    """
    composed = title_of(title, tuple(options))
    facts = composed.facts
    low, high = facts.players["min"], facts.players["max"]
    if not low <= len(players) <= high:
        raise ValueError(f"{title} is for {low} to {high} players, not {len(players)}.")
    check_names(composed, players)
    seats = [seat_name(i) for i in range(len(players))]
    cash = facts.starting_cash[str(len(players))]
    state = State(
        title=title,
        options=composed.options,
        players=list(players),
        cash={BANK: (facts.bank or 0) - cash * len(seats)}
        | dict.fromkeys(seats, cash)
        | {c.sym: 0 for c in facts.companies},
        companies={
            c.sym: Company(shares={IPO: sum(c.shares)}, markers=len(c.tokens)) for c in facts.companies
        },
        privates={p.sym: BANK if _in_play(p, len(seats)) else CLOSED for p in facts.privates},
        depot={t.name: t.count for t in facts.trains},
        phase=facts.phases[0].name,
        priority=seats[0],
        stack=[],
    )
    state.depot.update(composed.depot)
    g = Game(state, composed)
    g.state.stack.append(composed.opening(g, lot))
    settle(g)
    _ask(g, standing(g))
    return Played(g.state, g.events)


def _in_play(private: PrivateFacts, players: int) -> bool:
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


def asked(g: Game) -> tuple[str, ...]:
    """The seats that the table waits for, those asked by the top frame first."""
    top = g.top
    seats = g.title.questions[type(top)].asked(g, top)
    for aside in g.title.asking:
        for seat in aside.asked(g):
            if seat not in seats:
                seats = (*seats, seat)
    return seats


def needs(g: Game) -> str:
    """What the top frame asks, as a phrase after a name."""
    return g.title.questions[type(g.top)].needs(g, g.top)


def options(g: Game, seat: str) -> list[Option]:
    """Everything that seat may say now, the answers to the question first."""
    top = g.top
    question = g.title.questions[type(top)]
    found = list(question.options(g, top, seat)) if seat in question.asked(g, top) else []
    for aside in g.title.asides:
        found += aside.options(g, seat)
    return found


def refusal(g: Game, seat: str, action: Action) -> str | None:
    """Why that seat may not do that now, or None: the one predicate."""
    why = _refusal(g, seat, action)
    return None if why is None else g.title.cited(why)


def _refusal(g: Game, seat: str, action: Action) -> str | None:
    if g.state.over:
        return "The game is over."
    if aside := g.title.aside(g, action):
        return aside.refuse(g, seat, action)
    top = g.top
    question = g.title.questions[type(top)]
    seats = question.asked(g, top)
    if seat not in seats:
        return f"It is for {' or '.join(g.state.name(s) for s in seats)} to act."
    return question.refuse(g, top, seat, action)


def play(state: State, seat: str, action: Action) -> Played:
    """Carry out an action. The state that is given stays as it is.

    Raises Refused with the reason.
    """
    return carry_out(game_of(copied(state)), seat, action)


def carry_out(g: Game, seat: str, action: Action) -> Played:
    """As `play`, on a game whose state may be changed, and is left as it is where refused."""
    if why := refusal(g, seat, action):
        raise Refused(why)
    return take(g, seat, action)


def take(g: Game, seat: str, action: Action) -> Played:
    """Carry out what is known not to be refused, on a game whose state may be changed."""
    before, top = standing(g), g.top
    aside = g.title.aside(g, action)
    if aside:
        aside.take(g, seat, action)
    else:
        g.title.questions[type(top)].take(g, top, seat, action)
    settle(g)
    now = standing(g)
    if not awaits_the_rest(before, now, seat) and not (aside and now == before):
        _ask(g, now)
    return Played(g.state, g.events)


def awaits_the_rest(before: Standing, now: Standing, seat: str) -> bool:
    """Whether a question that several were asked stands as it did for others than that seat, who has
    answered it."""
    same = before.matter is not None and (before.frame, before.matter) == (now.frame, now.matter)
    return same and not set(before.seats).isdisjoint(set(now.seats) - {seat})


def stop(state: State, reason: str) -> Played:
    """End the game as it stands, by agreement. The state that is given stays as it is."""
    g = game_of(copied(state))
    lapse_offers(g)
    g.open(GameOver(reason))
    _ask(g, standing(g))
    return Played(g.state, g.events)


def settle(g: Game) -> None:
    """Let frames go on by themselves until one waits for an answer, and nothing comes before that."""
    for _ in range(MAX_SETTLING):
        top = g.top
        if not g.title.questions[type(top)].settle(g, top) and not g.title.interrupt(g):
            return
    raise RuntimeError("the rules go round in circles")


class Standing(NamedTuple):
    """What tells one question from another. `matter`: of one that several are asked at once, what must
    not change while they answer."""

    seats: tuple[str, ...]
    frame: type[AnyFrame]
    company: str | None
    step: str | None
    matter: object


def standing(g: Game) -> Standing:
    """The question on top."""
    top = g.top
    kind = type(top)
    seats = g.title.questions[kind].asked(g, top)
    matter = _MATTERS[kind](top) if kind in _MATTERS else None
    return Standing(seats, kind, getattr(top, "company", None), getattr(top, "step", None), matter)


_MATTERS: dict[type[AnyFrame], Callable[[Any], object]] = {
    Claim: attrgetter("company", "revenue"),
    Poll: attrgetter("stage"),
    Auction: attrgetter("kind", "lot"),
    ShareTrade: attrgetter("company"),
}


def _ask(g: Game, now: Standing) -> None:
    """Number the question that stands now."""
    g.emit(Asked(g.state.question + 1, now.seats))
