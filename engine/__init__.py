"""The rules of Railpost: deterministic, without a clock, random numbers, or input and output.

This is the public interface. A `State` is a whole position. `new_game` makes one, `parse` reads a line of
notation for a seat, `play` carries an action out and returns the new state with its events, and `fold`
applies stored events without asking a rule. Transports show what `decision`, `choices`, `narrate` and
`standings` give.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from engine import kernel
from engine.board.route_notation import parse_route
from engine.board.tile_geometry import face_at, same_rotations
from engine.core.actions import Action
from engine.core.components import (
    CityTokenAbility,
    CoalMineAbility,
    Components,
    Face,
    HexDefinition,
    HexTokenAbility,
    MarketCell,
    PrivateDefinition,
    TileLayAbility,
    column_row,
    components_of,
    tile_faces,
)
from engine.core.events import (
    AnyEvent,
    PlayerRenamed,
    TileLaid,
    TokenPlaced,
    TrainsRan,
    decode_events,
    encode_events,
    fold,
)
from engine.core.hidden_orders import visible_to
from engine.core.state import (
    BANK,
    CLOSED,
    FORMAT_VERSION,
    IPO,
    POOL,
    TREASURY,
    Auction,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    PostMergerTrade,
    State,
    StockRound,
    copy_state,
    decode_state,
    encode_state,
    is_seat,
)
from engine.core.words import counted, dollars
from engine.finance import loans
from engine.finance.loans import LoanStatus
from engine.finance.market import space_label, space_name
from engine.finance.offers import answerable_offers, offer_label
from engine.finance.ownership import certificate_limit, counted_certificates, net_worth
from engine.game import Game
from engine.kernel import RefusedError, Transition, game_of, new_game, play
from engine.language import forms, menu, narration, notation, similar_lines
from engine.language.menu import Choice
from engine.language.notation import AmbiguousError, UnreadableError
from engine.mechanics import Option
from engine.operating.run import stop_revenue
from engine.operating.stations import home_node
from engine.overview import (
    TrainRun,
    auctioned,
    auctioned_company,
    best_run,
    bids,
    can_be_protected,
    companies_in_question,
    company_hexes,
    free_cash,
    hexes_in_question,
    later_fall,
    places_of,
    price_after_stock_round,
    rotations_on,
    tile_upgrades,
    tiles_left,
    topic,
    train_runs,
    trains_rusted_by,
)
from engine.stock import treasury_shares
from engine.titles import optional_rules, title_names, title_of


@dataclass(frozen=True, slots=True)
class Decision:
    """What the table waits for.

    * `number`: of the question, which an answer refers to.
    * `asked`: the seats that the question is put to; `acting`: those of them that may act now, while the
      others may answer in advance; `awaited`: the seats asked, and those with an offer to answer.
    * `company`: the one whose turn it is. `round`: where the game is, see `round_name`.
    """

    number: int
    asked: tuple[str, ...]
    awaited: tuple[str, ...]
    company: str | None
    round: str
    acting: tuple[str, ...]


def decision(state: State | Game) -> Decision:
    """What is asked now, and whom."""
    g = game_of(state)
    top = g.top
    asked = tuple(g.title.questions[type(top)].asked(g, top))
    company = getattr(top, "company", None)
    acting = asked[:1] if isinstance(top, Auction | PostMergerTrade) else asked
    return Decision(
        g.state.question_number,
        asked,
        kernel.awaited_seats(g),
        company,
        round_name(g.state),
        acting,
    )


def prompt(state: State | Game) -> str:
    """What is asked now, as an imperative phrase: `lay track for the PRR`."""
    return kernel.prompt(game_of(state))


def round_name(state: State) -> str:
    """Where the game is: `stock round 2`, `operating round 3.1`, `merger round 3.1`, `opening` or `over`."""
    if state.game_over:
        return "over"
    match state.stack[0]:
        case StockRound(number):
            return f"stock round {number}"
        case OperatingRound(after, number):
            return f"operating round {after}.{number}"
        case MergerRound(after, number):
            return f"merger round {after}.{number}"
    return "opening"


def short_round(name: str) -> str:
    """`SR 2` for `stock round 2`, `OR 3.1` for `operating round 3.1`; another name as it is."""
    kind, _, number = name.partition(" round ")
    initials = {"stock": "SR", "operating": "OR", "merger": "MR"}
    return f"{initials[kind]} {number}" if kind in initials else name


def options(state: State, seat: str) -> list[Option]:
    """Everything that the seat may do now, as actions."""
    return kernel.options(game_of(state), seat)


def choices(state: State, seat: str) -> list[Choice]:
    """Everything that the seat may do now, as lines with labels and menu paths."""
    return menu.choices(game_of(state), seat)


def other_runs(state: State, seat: str) -> list[Choice]:
    """The runs that the seat may choose instead of the best, highest revenue first; none but where it runs
    trains."""
    return menu.other_runs(game_of(state), seat)


def parse(state: State, seat: str, line: str) -> Action:
    """The action that a line means for the seat.

    Raises UnreadableError, RefusedError or AmbiguousError.
    """
    return notation.parse(game_of(state), seat, line)


class LineResult(NamedTuple):
    """What a line led to: the line in full, the new state, and the events that changed it."""

    line: str
    state: State
    events: list[AnyEvent]


def play_line(state: State, seat: str, line: str) -> LineResult:
    """Read a line and play it on a copy of the state. The rules judge it once.

    Raises UnreadableError, RefusedError or AmbiguousError.
    """
    return play_line_on(game_of(copy_state(state)), seat, line)


def play_line_on(g: Game, seat: str, line: str) -> LineResult:
    """Read a line and play it on the game itself; where it is not played, nothing has changed.

    Raises what `play_line` raises.
    """
    g.events = []
    action = notation.parse(g, seat, line)
    full = forms.format_action(g, action)
    return LineResult(full, *kernel.apply(g, seat, action))


def try_line(state: State, seat: str, line: str) -> LineResult | None:
    """What `play_line` gives; None where the line cannot be played."""
    try:
        return play_line(state, seat, line)
    except (UnreadableError, RefusedError, AmbiguousError):
        return None


def is_readable(state: State, seat: str, line: str) -> bool:
    """Whether a line says something of which the rules can be asked now, legal or not; it is not played."""
    try:
        notation.parse(game_of(state), seat, line)
    except UnreadableError:
        return False
    except (RefusedError, AmbiguousError):
        return True
    return True


def format_action(state: State, action: Action) -> str:
    """The full line of an action."""
    return forms.format_action(game_of(state), action)


def nearest_lines(state: State, seat: str, text: str, limit: int = 5) -> list[str]:
    """The legal lines most like a text, at most so many; none that has nothing in common with it."""
    return similar_lines.nearest_lines(game_of(state), seat, text, limit)


def legal_lines(state: State, seat: str) -> list[str]:
    """Every legal line of the seat but what it has offered already; dollars that are open at their least."""
    return similar_lines.legal_lines(game_of(state), seat)


def narrate(state: State | Game, events: Iterable[AnyEvent]) -> list[str]:
    """Events as sentences; `state` is the position after them."""
    return narration.narrate(game_of(state), events)


def standings(state: State) -> dict[str, int]:
    """Dollars by seat, richest first; the final scores once the game is over."""
    g = game_of(state)
    scores = g.title.scores(g, state.game_over.bankrupt if state.game_over else None)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def loan_status(state: State) -> LoanStatus | None:
    """The bank's loans to companies and their interest; None in a title without loans."""
    return loans.loan_status(game_of(state))


def hidden_treasuries(state: State, viewer: str | None = None) -> frozenset[str]:
    """The companies whose cash is hidden from that seat, or from the whole table (None).

    Empty unless the table plays with private treasuries (1870 §3.4).
    """
    if not game_of(state).title.private_treasuries or state.game_over:
        return frozenset()
    return frozenset(c for c, co in state.companies.items() if viewer is None or co.president != viewer)


def awaited_capital(state: State, company: str) -> int:
    """Dollars that the bank will pay a company when the next operating round begins (1830 §11)."""
    g = game_of(state)
    return g.title.flotation.awaited(g, company)


def held_back_cash(state: State) -> dict[str, int]:
    """By company the dollars that it may not spend before the stock round is over (1870 §5.11)."""
    g = game_of(state)
    amounts = {company: treasury_shares.held_back_cash(g, company) for company in state.companies}
    return {company: amount for company, amount in amounts.items() if amount}


def is_secret(line: str) -> bool:
    """Whether a line is shown to nobody but its player, in the log too."""
    return notation.is_secret(line)


def rename_player(state: State, seat: str, name: str) -> Transition:
    """Give a seat to another person of that name.

    Raises ValueError with a sentence where the name cannot be used.
    """
    g = game_of(copy_state(state))
    others = [n for s, n in zip(state.seats, state.players, strict=True) if s != seat]
    kernel.check_names(g.title, [*others, name])
    g.emit(PlayerRenamed(seat, name))
    return Transition(g.state, g.events)
