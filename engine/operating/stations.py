"""Station markers: homes, reservations, the one token of a turn (1830 §19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine.board.network import Stop
from engine.board.tile_geometry import face_at, printed_face
from engine.core.actions import Action, ChooseHome, PlaceToken
from engine.core.components import HomeDefinition, Node
from engine.core.events import OperatingTurnStarted, TokenMoved, TokenPlaced
from engine.core.reasons import CashReason
from engine.core.state import BANK, HomeToken, OperatingTurn
from engine.game import Game
from engine.mechanics import Option

TOKENS_PER_TURN = 1
"""1830 §19."""

UNDECIDED_CITY = -1
"""The node of a home token whose city is still to be chosen."""

HomeChooser = Literal["president", "layer"]


def token_cost(g: Game, company: str) -> int:
    """Dollars for the company's next token (§19); nothing where they are paid for beforehand."""
    co = g.company(company)
    costs = (
        *g.company_definition(company).tokens,
        *[g.components.kept_token_cost] * co.kept_destination_tokens,
    )
    return costs[len(costs) - co.unplaced_tokens] if costs else 0


def printed_home(g: Game, company: str) -> HomeDefinition:
    """The home of a company that has one printed on the map."""
    home = g.company_definition(company).home
    assert home is not None
    return home


def home_node(g: Game, company: str) -> int | None:
    """The node that is the company's home by now, None where its president may choose.

    Cities are known by their edges: the home is wherever the track of the printed city has gone.
    """
    home = printed_home(g, company)
    if home.city is None:
        return None
    mask = printed_face(g.components, home.hex).node_exits[home.city]
    face = face_at(g.components, g.state.tiles, home.hex)
    return next((i for i, exits in enumerate(face.node_exits) if exits & mask), home.city)


def has_token(g: Game, company: str, hex: str) -> bool:
    """Whether the company has a token in the hex, in whichever city."""
    return any(owner == company for _, owner in g.state.tokens.get(hex, ()))


def free_slots(g: Game, hex: str, node: int) -> int:
    """Vacant token spaces of a city, whoever they are kept for."""
    face = face_at(g.components, g.state.tiles, hex)
    taken = sum(n == node for n, _ in g.state.tokens.get(hex, ()))
    return face.nodes[node].slots + (g.extra_slots or {}).get((hex, node), 0) - taken


def reserved_slots(g: Game, hex: str, node: int) -> int:
    """Spaces kept for the homes of companies whose token is still to come (§19)."""
    kept = 0
    for company in g.components.map.hexes[hex].reserved:
        if not (has_token(g, company, hex) or g.company(company).closed):
            home = home_node(g, company)
            kept += home == node or home is None
    return kept


def accepts_tokens(g: Game, stop: Node) -> bool:
    """Whether a stop has spaces for tokens of any company: a city, or a home off the board where the title
    lets others come there once it is free."""
    return stop.kind == "city" or (stop.slots > 0 and g.components.offboard_tokens)


def refuse_city(g: Game, company: str, hex: str, node: int) -> str | None:
    """Why the company's token may not stand in that city, connected or not; or None."""
    if hex not in g.components.map.hexes:
        return f"There is no hex {hex} on the map."
    nodes = face_at(g.components, g.state.tiles, hex).nodes
    if not 0 <= node < len(nodes) or not accepts_tokens(g, nodes[node]):
        return f"{hex} has no such city for a token (§19)."
    if has_token(g, company, hex):
        return f"The {company} has a token in {hex}; two never stand in one hex (§19)."
    free = free_slots(g, hex, node)
    if free < 1:
        return "No space for a token is vacant there (§19)."
    if free <= reserved_slots(g, hex, node):
        kept = " and ".join(
            c
            for c in g.components.map.hexes[hex].reserved
            if not (has_token(g, c, hex) or g.company(c).closed)
        )
        return f"The vacant space is kept for the home of the {kept} (§19)."
    return None


def refuse_token(g: Game, company: str, hex: str, node: int, *, free: bool = False) -> str | None:
    """Why the company may not buy a token there; `free`: it costs nothing and need not connect."""
    if g.company(company).unplaced_tokens < 1:
        return f"The {company} has no token left (§19)."
    if why := refuse_city(g, company, hex, node):
        return why
    if free:
        return None
    if not g.network.reaches_stop(company, (hex, node)):
        return f"No route of the {company} leads to that city (§19)."
    if token_cost(g, company) > g.cash(company):
        return f"A token costs ${token_cost(g, company)}, and the {company} has ${g.cash(company)} (§19)."
    return None


def begin_first_turn(g: Game, company: str, chosen_by: HomeChooser) -> None:
    """Begin the first turn of a company, with its home token on the map (§19, §19.1)."""
    if not g.company(company).has_operated:
        g.emit(OperatingTurnStarted(company))
        place_home(g, company, chosen_by)


def place_home(g: Game, company: str, chosen_by: HomeChooser) -> None:
    """Place the home token of a company, unless it stands (§19, §19.1)."""
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
    """Ask where a home token stands that was waiting for a tile on its hex."""
    for node, owner in g.state.tokens.get(hex, ()):
        if node == UNDECIDED_CITY:
            g.push(HomeToken(owner, chooser))


@dataclass(frozen=True)
class HomeTokenQuestion:
    """Asks for the city of a home that has several (§19.1)."""

    def asked(self, g: Game, frame: HomeToken) -> tuple[str, ...]:
        return (frame.chooser,)

    def prompt(self, g: Game, frame: HomeToken) -> str:
        return f"to choose the home city of the {frame.company}"

    def options(self, g: Game, frame: HomeToken, seat: str) -> Iterator[Option]:
        hex = printed_home(g, frame.company).hex
        for node in range(len(face_at(g.components, g.state.tiles, hex).nodes)):
            choice = ChooseHome(frame.company, hex, node)
            if self.refusal(g, frame, seat, choice) is None:
                yield Option(choice, f"Home of the {frame.company} in {city_label(g, hex, node)}")

    def refusal(self, g: Game, frame: HomeToken, seat: str, action: Action) -> str | None:
        if not isinstance(action, ChooseHome) or action.company != frame.company:
            return f"The home city of the {frame.company} has to be chosen first (§19.1)."
        if action.hex != printed_home(g, frame.company).hex:
            return f"The home of the {frame.company} is in {printed_home(g, frame.company).hex} (§19.1)."
        nodes = face_at(g.components, g.state.tiles, action.hex).nodes
        if not 0 <= action.node < len(nodes) or free_slots(g, action.hex, action.node) < 1:
            return f"{action.hex} has no such vacant city (§19.1)."
        return None

    def apply(self, g: Game, frame: HomeToken, seat: str, action: Action) -> None:
        assert isinstance(action, ChooseHome)
        g.pop()
        waiting = any(owner == frame.company for _, owner in g.state.tokens.get(action.hex, ()))
        placed = TokenMoved if waiting else TokenPlaced
        g.emit(placed(frame.company, action.hex, action.node))

    def advance(self, g: Game, frame: HomeToken) -> bool:
        return False


def city_label(g: Game, hex: str, node: int) -> str:
    """A city as a person would say it, by its edges where the hex has several."""
    name = g.components.map.hexes[hex].name
    face = face_at(g.components, g.state.tiles, hex)
    where = f"{name} ({hex})" if name else hex
    cities = [n for n in face.nodes if n.kind == "city"]
    if len(cities) < 2:
        return where
    edges = [e for e in range(6) if face.node_exits[node] >> e & 1]
    beside = [n for e in edges if (n := g.components.map.hexes[hex].neighbors.get(e))]
    return f"{where}, city {node}" + (f" towards {', '.join(beside)}" if beside else "")


def _price_suffix(dollars: int) -> str:
    return f" for ${dollars}" if dollars else ""


@dataclass(frozen=True)
class TokenStep:
    """One token a turn in a city that a route leads to (§19)."""

    name: str = "token"
    handles: tuple[type[Action], ...] = (PlaceToken,)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return self._may_place(g, turn) and next(self._legal_cities(g, turn), None) is not None

    def _may_place(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.tokens_placed < TOKENS_PER_TURN

    def _legal_cities(self, g: Game, turn: OperatingTurn) -> Iterator[Stop]:
        """The cities for a token that the company can pay, in no order."""
        company = turn.company
        if g.company(company).unplaced_tokens and token_cost(g, company) <= g.cash(company):
            yield from (s for s in g.network.reachable_stops(company) if refuse_city(g, company, *s) is None)

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to place a token of the {turn.company}{_price_suffix(token_cost(g, turn.company))}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for hex, node in sorted(self._legal_cities(g, turn)):
            where = city_label(g, hex, node)
            yield Option(
                PlaceToken(hex, node), f"Token in {where}{_price_suffix(token_cost(g, turn.company))}"
            )

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, PlaceToken)
        if not self._may_place(g, turn):
            return f"The {turn.company} has placed its token for this turn (§19)."
        if action.using:
            return f"The {action.using} gives no token now (Table 1.2)."
        return refuse_token(g, turn.company, action.hex, action.node)

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, PlaceToken)
        g.replace_top(msgspec.structs.replace(turn, tokens_placed=turn.tokens_placed + 1, acted=True))
        g.pay(turn.company, BANK, token_cost(g, turn.company), CashReason.TOKEN)
        g.emit(TokenPlaced(turn.company, action.hex, action.node))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """No token is placed."""
