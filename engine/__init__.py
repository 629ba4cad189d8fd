"""The rules of Railpost: deterministic, without clock, chance or input and output.

This is the public face. A `State` is a whole position; `new_game` makes one, `parse` reads a line
for a seat, `play` carries an action out and gives the new state with the events that led to it,
`fold` brings a state up to date without asking a rule. Everything a transport shows comes from
`decision`, `choices`, `narrate` and `standings`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from engine import kernel, loans, menu, notation
from engine import narrate as narration
from engine.actions import Action
from engine.beforehand import as_seen
from engine.board.faces import Turned, face_at, printed, turned
from engine.board.network import network_of
from engine.board.spelling import read_route
from engine.events import (
    AnyEvent,
    PlayerRenamed,
    Ran,
    TileLaid,
    TokenPlaced,
    decoded_events,
    encoded_events,
    fold,
)
from engine.facts import Cell, Face, Facts, HexFacts, Market, Node, PrivateFacts, facts_of, tile_faces
from engine.game import Game
from engine.holdings import certificate_limit, certificates, counted_certificates, worth
from engine.kernel import Played, Refused, game_of, new_game, play
from engine.loans import Lending
from engine.market import space_words
from engine.menu import Choice
from engine.notation import Ambiguous, Unreadable
from engine.offers import offer_words
from engine.operating.run import stop_value
from engine.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    TREASURY,
    Auction,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    ShareTrade,
    State,
    StockRound,
    copied,
    decoded,
    encoded,
    is_seat,
)
from engine.title import Option
from engine.titles import optional_rules, title_of, titles


@dataclass(frozen=True, slots=True)
class Decision:
    """What the table waits for.

    `question` is the number that an answer refers to; `asked` the seats of the question, `all`
    these and those who have an offer to answer; `needs` a phrase after a name; `company` the
    one whose turn it is; `round` where the game is, in words. `now`: the seats that may do what is asked;
    the others of `asked` say beforehand what they will do.
    """

    question: int
    asked: tuple[str, ...]
    all: tuple[str, ...]
    needs: str
    company: str | None
    round: str
    now: tuple[str, ...]


def decision(state: State) -> Decision:
    """What is asked now, and of whom."""
    g = game_of(state)
    top = g.top
    asked = tuple(g.title.questions[type(top)].asked(g, top))
    company = getattr(top, "company", None)
    now = asked[:1] if isinstance(top, Auction | ShareTrade) else asked
    return Decision(state.question, asked, kernel.asked(g), kernel.needs(g), company, round_name(state), now)


def round_name(state: State) -> str:
    """Where the game is: `stock round 2`, `operating round 3.1`, `opening`, `over`."""
    if state.over:
        return "over"
    match state.stack[0]:
        case StockRound(number):
            return f"stock round {number}"
        case OperatingRound(after, number):
            return f"operating round {after}.{number}"
        case MergerRound(after, number):
            return f"merger round {after}.{number}"
    return "opening"


def options(state: State, seat: str) -> list[Option]:
    """Everything that seat may do now."""
    return kernel.options(game_of(state), seat)


def choices(state: State, seat: str) -> list[Choice]:
    """The same as lines with words and menu paths."""
    return menu.choices(game_of(state), seat)


def parse(state: State, seat: str, line: str) -> Action:
    """The action that a line means for that seat. Raises Unreadable, Refused or Ambiguous."""
    return notation.parse(game_of(state), seat, line)


class Said(NamedTuple):
    """What a line came to: in full, the new state, and the events that brought it about."""

    line: str
    state: State
    events: list[AnyEvent]


def say(state: State, seat: str, line: str) -> Said:
    """Read a line and play it; it is judged once. The state that is given stays as it is.

    Raises Unreadable, Refused or Ambiguous.
    """
    g = game_of(copied(state))
    action = notation.parse(g, seat, line)
    full = notation.spell(g, action)
    return Said(full, *kernel.take(g, seat, action))


def spell(state: State, action: Action) -> str:
    """The line of an action in full."""
    return notation.spell(game_of(state), action)


def nearest(state: State, seat: str, text: str, most: int = 5) -> list[str]:
    """Legal lines most like a text."""
    return notation.nearest(game_of(state), seat, text, most)


def legal_lines(state: State, seat: str) -> list[str]:
    """Every legal line of that seat, amounts at their least."""
    return notation.legal_lines(game_of(state), seat)


def narrate(state: State, events: Iterable[AnyEvent]) -> list[str]:
    """Events as sentences; `state` is the position after them."""
    return narration.narrate(game_of(state), events)


def standings(state: State) -> dict[str, int]:
    """Dollars by seat, richest first: final scores once the game is over."""
    g = game_of(state)
    found = g.title.scores(g, state.over.bankrupt if state.over else None)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def lending(state: State) -> Lending | None:
    """The bank's loans to companies and what they cost; None in a title without any."""
    return loans.standing(game_of(state))


def hidden(state: State, viewer: str | None = None) -> frozenset[str]:
    """The companies whose cash is not to be shown to that seat, or to the whole table (None).

    Empty unless the table has chosen that treasuries are private (1870 §3.4).
    """
    if not game_of(state).title.private_treasuries or state.over:
        return frozenset()
    return frozenset(c for c, co in state.companies.items() if viewer is None or co.president != viewer)


def is_secret(line: str) -> bool:
    """Whether the log keeps a line from everybody but its speaker."""
    return notation.is_secret(line)


def renamed(state: State, seat: str, name: str) -> Played:
    """Let another person play on in that seat under that name.

    Raises ValueError with a sentence where the name cannot be used.
    """
    g = game_of(copied(state))
    others = [n for s, n in zip(state.seats, state.players, strict=True) if s != seat]
    kernel.check_names(g.title, [*others, name])
    g.emit(PlayerRenamed(seat, name))
    return Played(g.state, g.events)


__all__ = [
    "BANK",
    "CLOSED",
    "IPO",
    "POOL",
    "TREASURY",
    "Action",
    "Ambiguous",
    "AnyEvent",
    "Cell",
    "Choice",
    "Decision",
    "Face",
    "Facts",
    "Game",
    "HexFacts",
    "Lending",
    "Market",
    "Node",
    "OperatingRound",
    "OperatingTurn",
    "Option",
    "Played",
    "PrivateFacts",
    "Ran",
    "Refused",
    "Said",
    "State",
    "StockRound",
    "TileLaid",
    "TokenPlaced",
    "Turned",
    "Unreadable",
    "as_seen",
    "certificate_limit",
    "certificates",
    "choices",
    "copied",
    "counted_certificates",
    "decision",
    "decoded",
    "decoded_events",
    "encoded",
    "encoded_events",
    "face_at",
    "facts_of",
    "fold",
    "game_of",
    "hidden",
    "is_seat",
    "is_secret",
    "legal_lines",
    "lending",
    "narrate",
    "nearest",
    "network_of",
    "new_game",
    "offer_words",
    "optional_rules",
    "options",
    "parse",
    "play",
    "printed",
    "read_route",
    "renamed",
    "round_name",
    "say",
    "space_words",
    "spell",
    "standings",
    "stop_value",
    "tile_faces",
    "title_of",
    "titles",
    "turned",
    "worth",
]
