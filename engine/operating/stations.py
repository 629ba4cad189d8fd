"""Station tokens: homes, reserved cities, and the one token of a turn (1830 §19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.board.tile_geometry import Stop, face_at, printed_face
from engine.core.actions import Action, ChooseHome, PlaceToken
from engine.core.components import HomeDefinition, Node
from engine.core.events import OperatingTurnStarted, TokenMoved, TokenPlaced
from engine.core.reasons import CashReason
from engine.core.state import BANK, HomeToken, OperatingTurn
from engine.core.words import join_words
from engine.game import Game
from engine.mechanics import Option
from engine.operating.turn import Step

TOKENS_PER_TURN = 1
"""1830 §19."""

UNDECIDED_CITY = -1
"""The node of a home token while its city is still to be chosen."""

HomeChooser = Literal["president", "layer"]
"""Who chooses the city of a home that has several: the president, or the player who lays the tile."""


def token_cost(g: Game, company: str) -> int:
    """Dollars for the company's next token (1830 §19); 0 if its tokens are already paid for."""
    co = g.company(company)
    costs = (
        *g.company_definition(company).tokens,
        *[g.components.kept_token_cost] * co.kept_destination_tokens,
    )
    return costs[len(costs) - co.unplaced_tokens] if costs else 0


def printed_home(g: Game, company: str) -> HomeDefinition:
    """The home that the map prints for a company. Raises AssertionError if there is none."""
    home = g.company_definition(company).home
    assert home is not None
    return home


def home_node(g: Game, company: str) -> int | None:
    """The node that is the company's home on the tile now, or None if the city is still to be chosen.

    A city is identified by its edges: the home is the city that has an exit of the printed one.
    """
    home = printed_home(g, company)
    if home.city is None:
        return None
    printed_exits = printed_face(g.components, home.hex).node_exits[home.city]
    face = face_at(g.components, g.state.tiles, home.hex)
    return next((i for i, exits in enumerate(face.node_exits) if exits & printed_exits), home.city)


def has_token(g: Game, company: str, hex: str) -> bool:
    """Whether the company has a token in the hex, in any of its cities."""
    return any(owner == company for _, owner in g.state.tokens.get(hex, ()))


def free_slots(g: Game, hex: str, node: int) -> int:
    """How many token spaces of a city are vacant, reserved ones included."""
    face = face_at(g.components, g.state.tiles, hex)
    taken = sum(n == node for n, _ in g.state.tokens.get(hex, ()))
    return face.nodes[node].slots + (g.extra_slots or {}).get((hex, node), 0) - taken


def reserved_slots(g: Game, hex: str, node: int) -> int:
    """How many spaces of a city are reserved for home tokens that are still to be placed (1830 §19)."""
    reserved = 0
    for company in _reserved_for(g, hex):
        home = home_node(g, company)
        reserved += home == node or home is None
    return reserved


def _reserved_for(g: Game, hex: str) -> list[str]:
    """The companies whose home token is still to be placed in the hex."""
    return [
        company
        for company in g.components.map.hexes[hex].reserved
        if not (has_token(g, company, hex) or g.company(company).closed)
    ]


def accepts_tokens(g: Game, stop: Node) -> bool:
    """Whether a stop takes tokens of all companies: a city, or an off-board home if the title allows it."""
    return stop.kind == "city" or (stop.slots > 0 and g.components.offboard_tokens)


def refuse_city(g: Game, company: str, hex: str, node: int) -> str | None:
    """Why the company may not place a token in that city, connected or not; or None."""
    if hex not in g.components.map.hexes:
        return f"There is no hex {hex}."
    nodes = face_at(g.components, g.state.tiles, hex).nodes
    if not 0 <= node < len(nodes) or not accepts_tokens(g, nodes[node]):
        return f"{hex} has no such city for a token{g.cite('1830 §19')}."
    if has_token(g, company, hex):
        return f"The {company} already has a token in {hex}, and may have only one there{g.cite('1830 §19')}."
    free = free_slots(g, hex, node)
    if free < 1:
        return f"That city has no vacant space for a token{g.cite('1830 §19')}."
    if free <= reserved_slots(g, hex, node):
        homes = join_words(_reserved_for(g, hex))
        return f"The vacant space is reserved for the home of the {homes}{g.cite('1830 §19')}."
    return None


def refuse_token(g: Game, company: str, hex: str, node: int, *, free: bool = False) -> str | None:
    """Why the company may not place a token in that city, or None.

    `free`: the token costs nothing and needs no connection.
    """
    if g.company(company).unplaced_tokens < 1:
        return f"The {company} has no token left{g.cite('1830 §19')}."
    if why := refuse_city(g, company, hex, node):
        return why
    if free:
        return None
    if not g.network.reaches_stop(company, (hex, node)):
        return f"No route of the {company} leads to that city{g.cite('1830 §19')}."
    if token_cost(g, company) > g.cash(company):
        cost, cash = token_cost(g, company), g.cash(company)
        return f"A token costs ${cost:,}, and the {company} has ${cash:,}{g.cite('1830 §19')}."
    return None


def begin_first_turn(g: Game, company: str, chosen_by: HomeChooser) -> None:
    """Begin the first turn of a company, with its home token on the map (1830 §19, §19.1)."""
    if not g.company(company).has_operated:
        g.emit(OperatingTurnStarted(company))
        place_home(g, company, chosen_by)


def place_home(g: Game, company: str, chosen_by: HomeChooser) -> None:
    """Place the home token of a company, unless it has been placed (1830 §19, §19.1)."""
    home, node = printed_home(g, company).hex, home_node(g, company)
    if has_token(g, company, home):
        return
    if node is not None:
        g.emit(TokenPlaced(company, home, node))
    elif chosen_by == "president" or home in g.state.tiles:
        g.push(HomeToken(company, g.president(company)))
    else:
        g.emit(TokenPlaced(company, home, UNDECIDED_CITY))


def ask_for_home_cities(g: Game, hex: str, chooser: str) -> None:
    """Ask for the city of home tokens that have waited for a tile on this hex."""
    for node, owner in g.state.tokens.get(hex, ()):
        if node == UNDECIDED_CITY:
            g.push(HomeToken(owner, chooser))


@dataclass(frozen=True)
class HomeTokenQuestion:
    """Asks for the city of a home that has several cities (1830 §19.1)."""

    def asked(self, g: Game, frame: HomeToken) -> tuple[str, ...]:
        return (frame.chooser,)

    def prompt(self, g: Game, frame: HomeToken) -> str:
        return f"choose the home city of the {frame.company}"

    def options(self, g: Game, frame: HomeToken, seat: str) -> Iterator[Option]:
        hex = printed_home(g, frame.company).hex
        for node in range(len(face_at(g.components, g.state.tiles, hex).nodes)):
            choice = ChooseHome(frame.company, hex, node)
            if self.refusal(g, frame, seat, choice) is None:
                yield Option(choice, f"Home of the {frame.company} in {city_label(g, hex, node)}")

    def refusal(self, g: Game, frame: HomeToken, seat: str, action: Action) -> str | None:
        if not isinstance(action, ChooseHome) or action.company != frame.company:
            return f"The home city of the {frame.company} has to be chosen first{g.cite('1830 §19.1')}."
        if action.hex != printed_home(g, frame.company).hex:
            home = printed_home(g, frame.company).hex
            return f"The home of the {frame.company} is in {home}{g.cite('1830 §19.1')}."
        nodes = face_at(g.components, g.state.tiles, action.hex).nodes
        if not 0 <= action.node < len(nodes) or free_slots(g, action.hex, action.node) < 1:
            return f"{action.hex} has no such vacant city{g.cite('1830 §19.1')}."
        return None

    def apply(self, g: Game, frame: HomeToken, seat: str, action: Action) -> None:
        assert isinstance(action, ChooseHome)
        g.pop()
        event = TokenMoved if has_token(g, frame.company, action.hex) else TokenPlaced
        g.emit(event(frame.company, action.hex, action.node))

    def advance(self, g: Game, frame: HomeToken) -> bool:
        return False


def city_label(g: Game, hex: str, node: int) -> str:
    """The name of a city: `Altoona (H12)`, and if the hex has several, `city 1 towards H10` too."""
    name = g.components.map.hexes[hex].name
    face = face_at(g.components, g.state.tiles, hex)
    label = f"{name} ({hex})" if name else hex
    cities = [n for n in face.nodes if n.kind == "city"]
    if len(cities) < 2:
        return label
    edges = [e for e in range(6) if face.node_exits[node] >> e & 1]
    neighbors = [n for e in edges if (n := g.components.map.hexes[hex].neighbors.get(e))]
    return f"{label}, city {node}" + (f" towards {', '.join(neighbors)}" if neighbors else "")


def _price_suffix(dollars: int) -> str:
    return f" for ${dollars:,}" if dollars else ""


@dataclass(frozen=True)
class TokenStep(Step[PlaceToken]):
    """Place one token a turn in a city that a route reaches (1830 §19)."""

    name: str = "token"
    handles: tuple[type[Action], ...] = (PlaceToken,)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return self._may_place(g, turn) and next(self._legal_cities(g, turn), None) is not None

    def _may_place(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.tokens_placed < TOKENS_PER_TURN

    def _legal_cities(self, g: Game, turn: OperatingTurn) -> Iterator[Stop]:
        """The cities (hex, node) in which the company may place a token and can pay for it, in no order."""
        company = turn.company
        if g.company(company).unplaced_tokens and token_cost(g, company) <= g.cash(company):
            yield from (s for s in g.network.reachable_stops(company) if refuse_city(g, company, *s) is None)

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"place a token of the {turn.company}{_price_suffix(token_cost(g, turn.company))}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for hex, node in sorted(self._legal_cities(g, turn)):
            price = _price_suffix(token_cost(g, turn.company))
            yield Option(PlaceToken(hex, node), f"Token in {city_label(g, hex, node)}{price}")

    def refusal(self, g: Game, turn: OperatingTurn, action: PlaceToken) -> str | None:
        if not self._may_place(g, turn):
            return f"The {turn.company} has placed its token for this turn{g.cite('1830 §19')}."
        if action.using:
            return f"The {action.using} allows no token now{g.cite('1830 Table 1.2')}."
        return refuse_token(g, turn.company, action.hex, action.node)

    def apply(self, g: Game, turn: OperatingTurn, action: PlaceToken) -> None:
        g.change_top(turn, tokens_placed=turn.tokens_placed + 1, acted=True)
        g.pay(turn.company, BANK, token_cost(g, turn.company), CashReason.TOKEN)
        g.emit(TokenPlaced(turn.company, action.hex, action.node))
