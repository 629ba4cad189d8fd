"""City tokens of privates, and the revenue of destination tokens (1870 §8.3, §11.5, §15.2).

A stop earns its printed revenue. It earns it twice for the company whose destination token is there, if it is
an end of the route. Tokens of privates add to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from engine.board.route_graph import RevenueRules
from engine.board.tile_geometry import Stop
from engine.core.actions import Action, ClosePort, PlaceCattleToken, PlaceClosedPort, PlaceOpenPort
from engine.core.components import CityTokenAbility
from engine.core.events import CityTokenPlaced, PrivateMoved
from engine.core.state import CLOSED, CityToken, OperatingTurn
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.run import stop_revenue
from engine.operating.turn import current_turn, turn_or_refusal
from engine.private_companies.abilities import active_ability

PLACED_TOKENS = {
    PlaceCattleToken: "cattle",
    PlaceOpenPort: "port",
    PlaceClosedPort: "port",
    ClosePort: "port",
}


def beneficiary(g: Game, private: str) -> str:
    """The company that a private's token counts for: the private's owner, or the one that has placed it."""
    owner = g.state.private_owners[private]
    return owner if owner in g.state.companies else g.state.city_tokens[private].company


def revenue_rules(g: Game, company: str) -> RevenueRules:
    """What stops earn for the company beyond their printed revenue."""
    at_stops: dict[Stop, int] = {}
    for private, token in g.state.city_tokens.items():
        ability = g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        own = beneficiary(g, private) == company
        bonus = ability.bonus if own else ability.open_bonus if token.is_open else 0
        if bonus:
            at_stops[token.hex, 0] = at_stops.get((token.hex, 0), 0) + bonus
    hex = g.state.destination_tokens.get(company)
    if hex is None:
        return RevenueRules(stop_bonus=at_stops)
    value = stop_revenue(g.components, g.state.phase, g.network.node((hex, 0)))
    return RevenueRules(stop_bonus=at_stops, end_bonus={(hex, 0): value})


CityTokenAction: TypeAlias = PlaceCattleToken | PlaceOpenPort | PlaceClosedPort | ClosePort


@dataclass(frozen=True)
class CityTokens(OutOfTurn[Game, CityTokenAction]):
    """Placements of such a token, once, at any time in a turn of the company that owns the private."""

    handles: ClassVar[tuple[type[Action], ...]] = (
        PlaceCattleToken,
        PlaceOpenPort,
        PlaceClosedPort,
        ClosePort,
    )

    def _usable_abilities(self, g: Game, turn: OperatingTurn) -> Iterator[tuple[str, CityTokenAbility]]:
        for private in g.privates_of(turn.company):
            if ability := active_ability(g, private, CityTokenAbility):
                yield private, ability

    def has_unused_token(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company still has a token to place, or an open port to close."""
        placed = g.state.city_tokens
        return any(
            private not in placed or placed[private].is_open for private, _ in self._usable_abilities(g, turn)
        )

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = current_turn(g)
        if turn is None or g.president(turn.company) != seat:
            return
        for private, ability in self._usable_abilities(g, turn):
            if private in g.state.city_tokens:
                if self.refusal(g, seat, ClosePort()) is None and ability.token == "port":
                    yield Option(
                        ClosePort(), f"Close the {private}: its port serves the {turn.company} alone"
                    )
                continue
            for kind in (PlaceCattleToken, PlaceOpenPort, PlaceClosedPort):
                if PLACED_TOKENS[kind] == ability.token:
                    for hex in ability.hexes:
                        name = g.components.map.hexes[hex].name or ""
                        token = {PlaceOpenPort: "Open port", PlaceClosedPort: "Closed port"}.get(
                            kind, "Cattle token"
                        )
                        yield Option(kind(hex), f"{token} in {hex} {name}".strip())

    def refusal(self, g: Game, seat: str, action: CityTokenAction) -> str | None:
        turn = turn_or_refusal(
            g, seat, f"A company places city tokens in its turn of an operating round{g.cite('1870 §15.2')}."
        )
        if isinstance(turn, str):
            return turn
        usable = next(
            ((p, e) for p, e in self._usable_abilities(g, turn) if e.token == PLACED_TOKENS[type(action)]),
            None,
        )
        if usable is None:
            return f"The {turn.company} owns no private with such a token{g.cite('1870 §15.2')}."
        private, ability = usable
        placed = g.state.city_tokens.get(private)
        if isinstance(action, ClosePort):
            return (
                None
                if placed and placed.is_open
                else f"The {private} has placed no open port{g.cite('1870 §15.2')}."
            )
        if placed:
            return f"The token of the {private} is placed already and cannot be moved{g.cite('1870 §15.2')}."
        if action.hex not in ability.hexes:
            return f"The token of the {private} goes to {', '.join(ability.hexes)}{g.cite('1870 §15.2')}."
        return None

    def apply(self, g: Game, seat: str, action: CityTokenAction) -> None:
        turn = current_turn(g)
        assert turn is not None
        private = next(
            p for p, e in self._usable_abilities(g, turn) if e.token == PLACED_TOKENS[type(action)]
        )
        opened = isinstance(action, PlaceOpenPort)
        hex = g.state.city_tokens[private].hex if isinstance(action, ClosePort) else action.hex
        g.emit(CityTokenPlaced(private, CityToken(hex, turn.company, opened)))
        if isinstance(action, PlaceClosedPort | ClosePort):
            g.emit(PrivateMoved(private, CLOSED))
