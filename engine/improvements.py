"""Tokens of privates in cities, and what destination tokens earn (1870 §8.3, §11.5, §15.2).

A stop is worth what is printed; at an end of a route it counts twice for the company whose destination
token stands there; then come the tokens of privates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from engine.actions import Action, ClosedPort, ClosePort, OpenPort, PlaceCattle
from engine.board.chains import Terms
from engine.board.network import Stop
from engine.events import Improved, PrivateMoved
from engine.game import Game
from engine.operating.run import stop_value
from engine.operating.turn import own_turn, turn_for
from engine.powers import effect_of
from engine.state import CLOSED, Improvement, OperatingTurn
from engine.title import Aside, Option

Placing = PlaceCattle | OpenPort | ClosedPort
WORDS = {PlaceCattle: "cattle", OpenPort: "port", ClosedPort: "port", ClosePort: "port"}


def owner_of(g: Game, private: str) -> str:
    """The company for which the token of a private counts: its owner, or who has placed it."""
    owner = g.state.privates[private]
    return owner if owner in g.state.companies else g.state.improvements[private].company


def terms(g: Game, company: str) -> Terms:
    """What stops bring the company beyond their figures."""
    at_stops: dict[Stop, int] = {}
    for private, token in g.state.improvements.items():
        effect = g.private_facts(private).effect
        own = owner_of(g, private) == company
        bonus = effect["bonus"] if own else effect.get("open_bonus", 0) if token.open else 0
        if bonus:
            at_stops[token.hex, 0] = at_stops.get((token.hex, 0), 0) + bonus
    hex = g.state.destinations.get(company)
    if hex is None:
        return Terms(at_stops=at_stops)
    value = stop_value(g.facts, g.state.phase, g.network.node((hex, 0)))
    return Terms(at_stops=at_stops, at_ends={(hex, 0): value})


@dataclass(frozen=True)
class Improvements(Aside):
    """The company that owns such a private places its token at any time in its turn, once."""

    hears: ClassVar[tuple[type[Action], ...]] = (PlaceCattle, OpenPort, ClosedPort, ClosePort)

    def _usable(self, g: Game, turn: OperatingTurn) -> Iterator[tuple[str, dict[str, Any]]]:
        for private in g.privates_of(turn.company):
            effect = effect_of(g, private, "token")
            if effect:
                yield private, effect

    def unused(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has a token left to place, or a port to close."""
        placed = g.state.improvements
        return any(private not in placed or placed[private].open for private, _ in self._usable(g, turn))

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = own_turn(g)
        if turn is None or g.president(turn.company) != seat:
            return
        for private, effect in self._usable(g, turn):
            if private in g.state.improvements:
                if self.refuse(g, seat, ClosePort()) is None and effect["word"] == "port":
                    yield Option(
                        ClosePort(), f"Close the {private}: its port serves the {turn.company} alone"
                    )
                continue
            for kind in (PlaceCattle, OpenPort, ClosedPort):
                if WORDS[kind] == effect["word"]:
                    for hex in effect["hexes"]:
                        name = g.facts.map.hexes[hex].name or ""
                        how = {OpenPort: "Open port", ClosedPort: "Closed port"}.get(kind, "Cattle token")
                        yield Option(kind(hex), f"{how} in {hex} {name}".strip())

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, PlaceCattle | OpenPort | ClosedPort | ClosePort)
        turn = turn_for(g, seat, "That is done in a company's turn of an operating round (§15.2).")
        if isinstance(turn, str):
            return turn
        found = next(((p, e) for p, e in self._usable(g, turn) if e["word"] == WORDS[type(action)]), None)
        if found is None:
            return f"The {turn.company} owns no private with such a token (§15.2)."
        private, effect = found
        placed = g.state.improvements.get(private)
        if isinstance(action, ClosePort):
            return None if placed and placed.open else f"The {private} has placed no open port (§15.2)."
        if placed:
            return f"The token of the {private} is placed, and is not moved (§15.2)."
        if action.hex not in effect["hexes"]:
            return f"The token of the {private} goes to {', '.join(effect['hexes'])} (§15.2)."
        return None

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, PlaceCattle | OpenPort | ClosedPort | ClosePort)
        turn = own_turn(g)
        assert turn is not None
        private = next(p for p, e in self._usable(g, turn) if e["word"] == WORDS[type(action)])
        opened = isinstance(action, OpenPort)
        hex = g.state.improvements[private].hex if isinstance(action, ClosePort) else action.hex
        g.emit(Improved(private, Improvement(hex, turn.company, opened)))
        if isinstance(action, ClosedPort | ClosePort):
            g.emit(PrivateMoved(private, CLOSED))
