"""What a company takes over from another: cash, loans, trains, privates, station markers, and what of
trains and markers is above the limits (1817 §7.1.2, §7.2.4, §7.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.actions import Action, Keep, RemoveMarker
from engine.events import CashMoved, LoansChanged, MarkersChanged, PrivateMoved, TokenTaken, TrainMoved
from engine.game import Game
from engine.operating.stations import city_words
from engine.state import Crisis, Discard, GameOver, MergerRound, Settlement, Surplus
from engine.title import Option, nothing


def take_assets(g: Game, buyer: str, target: str) -> None:
    """Give a company all that another has: cash, loans, trains, privates (§7.1.2, §7.2.4). The cash and
    loans of one in liquidation have been set aside."""
    if cash := g.cash(target):
        g.emit(CashMoved(target, buyer, cash, f"what the {target} had"))
    if count := g.company(target).loans:
        g.emit(LoansChanged(target, -count, f"to the {buyer}"))
        g.emit(LoansChanged(buyer, count, f"of the {target}"))
    for train in list(g.company(target).trains):
        g.emit(TrainMoved(train, target, buyer, f"of the {target}"))
    for private in g.privates_of(target):
        g.emit(PrivateMoved(private, buyer))


def standing(g: Game, company: str) -> list[str]:
    """The hexes with a marker of the company."""
    return [h for h, here in g.state.tokens.items() if any(c == company for _, c in here)]


def take_markers(g: Game, buyer: str, target: str) -> None:
    """Replace the markers of one company by those of another, one in a hex, eight in all (§7.3)."""
    limit = g.facts.max_stations
    spare = g.company(target).markers
    for hex in [h for h, here in g.state.tokens.items() if any(c == target for _, c in here)]:
        here = g.state.tokens[hex]
        if any(c == buyer for _, c in here):
            g.emit(TokenTaken(target, hex, None))
            spare += 1
        else:
            g.emit(TokenTaken(target, hex, buyer))
    if g.company(target).markers:
        g.emit(MarkersChanged(target, -g.company(target).markers))
    had = g.company(buyer).markers
    if change := max(min(had + spare, limit - len(standing(g, buyer))), 0) - had:
        g.emit(MarkersChanged(buyer, change))


def settle_excess(g: Game, company: str, target: str, and_then: Settlement | None = None) -> None:
    """Ask for the markers and trains above the limits, markers first (§7, §7.3); between them comes what
    is given."""
    for _ in range(len(g.company(company).trains) - g.phase.train_limit):
        g.open(Discard(company))
    if and_then:
        g.open(and_then)
    if _too_many(g, company, target):
        g.open(Surplus(company, target))
    else:
        take_markers(g, company, target)


def join_markers(g: Game, company: str, target: str) -> tuple[str, str] | None:
    """Take over the markers of a company that goes out of play at once, as far as that is no choice; the two
    companies where it is one (§7, §7.3). Those of its charter come along in any case."""
    merge_doubles(g, company, target)
    if spare := g.company(target).markers:
        g.emit(MarkersChanged(target, -spare))
        g.emit(MarkersChanged(company, spare))
    if _too_many(g, company, target):
        return company, target
    take_markers(g, company, target)
    return None


def _too_many(g: Game, company: str, target: str) -> bool:
    """Whether the markers of both are more than one may have, or two of them stand in one hex."""
    mine, theirs = standing(g, company), standing(g, target)
    return len(mine) + len(theirs) > g.facts.max_stations or bool(set(mine) & set(theirs))


def ask_for_markers(g: Game) -> bool:
    """Ask for the markers that were noted as too many, before anything else goes on (§7.3)."""
    base = g.state.stack[0]
    if not isinstance(base, MergerRound) or base.excess is None or isinstance(g.top, Surplus):
        return False
    if not standing(g, base.excess[1]):
        return False
    g.open(Surplus(*base.excess))
    return True


def ask_for_trains(g: Game) -> bool:
    """Ask the first company in the sales that is above the train limit what it discards (§7)."""
    base = g.state.stack[0]
    if (
        not isinstance(base, MergerRound)
        or base.stage not in ("sales", "end")
        or isinstance(g.top, Crisis | Discard | Surplus | GameOver)
    ):
        return False
    crowded = (c for c, co in g.state.companies.items() if len(co.trains) > g.phase.train_limit)
    if company := next(crowded, None):
        g.open(Discard(company))
    return company is not None


def merge_doubles(g: Game, company: str, target: str) -> None:
    """Of two markers in one city one goes onto the charter (§7); of two in one hex that is a choice."""
    for hex in standing(g, target):
        places = {owner: node for node, owner in g.state.tokens[hex]}
        if places.get(company) == places[target]:
            g.emit(TokenTaken(company, hex, None))
            g.emit(MarkersChanged(company, 1))


@dataclass(frozen=True)
class Surpluses:
    """Asks which markers leave the map: of two in one hex the one that goes onto the charter, then those
    above eight, one after the other or all at once (§7, §7.3).

    Two in one hex come first, so that as many as eight hexes keep their marker. `then`: what is looked for
    before anything goes on.
    """

    then: Callable[[Game], bool] = nothing

    def _cities(self, g: Game, frame: Surplus) -> list[tuple[str, int]]:
        """The cities with a marker of either company."""
        mine = (frame.company, frame.target)
        return list(dict.fromkeys((h, n) for h, here in g.state.tokens.items() for n, c in here if c in mine))

    def _hexes(self, g: Game, frame: Surplus) -> list[str]:
        """The hexes with a marker of either company."""
        return list(dict.fromkeys(hex for hex, _ in self._cities(g, frame)))

    def _double(self, g: Game, frame: Surplus) -> set[str]:
        """Hexes with markers of both."""
        return set(standing(g, frame.company)) & set(standing(g, frame.target))

    def _above(self, g: Game, frame: Surplus) -> int:
        """How many hexes have to lose their marker."""
        return max(len(self._hexes(g, frame)) - g.facts.max_stations, 0)

    def asked(self, g: Game, frame: Surplus) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def needs(self, g: Game, frame: Surplus) -> str:
        if double := self._double(g, frame):
            return f"to remove one of the two station markers of the {frame.company} in {min(double)}"
        above = self._above(g, frame)
        return f"to remove {above} station marker{'s' if above > 1 else ''} of the {frame.company}"

    def options(self, g: Game, frame: Surplus, seat: str) -> Iterator[Option]:
        for hex, node in self._cities(g, frame):
            if self.refuse(g, frame, seat, said := RemoveMarker(hex, node)) is None:
                yield Option(said, f"Remove the marker in {city_words(g, hex, node)}")

    def refuse(self, g: Game, frame: Surplus, seat: str, action: Action) -> str | None:
        double, limit = self._double(g, frame), g.facts.max_stations
        match action:
            case RemoveMarker(hex, node) if (hex, node) not in self._cities(g, frame):
                return f"The {frame.company} has no marker there."
            case RemoveMarker(hex):
                if double and hex not in double:
                    return f"First one of the two markers in {min(double)} is removed (§7)."
                return None
            case Keep(hexes) if self._above(g, frame):
                if len(set(hexes)) != limit or not set(hexes) <= set(self._hexes(g, frame)):
                    return f"Name {limit} hexes with a marker of the {frame.company} (§7.3)."
                return None
        return f"The {frame.company} has to remove station markers: say which (§7, §7.3)."

    def take(self, g: Game, frame: Surplus, seat: str, action: Action) -> None:
        if isinstance(action, RemoveMarker):
            here = g.state.tokens[action.hex]
            owner = next(c for n, c in here if n == action.node and c in (frame.company, frame.target))
            if action.hex in self._double(g, frame):
                g.emit(MarkersChanged(frame.company, 1))
            g.emit(TokenTaken(owner, action.hex, None))
        elif isinstance(action, Keep):
            for hex in self._hexes(g, frame):
                if hex not in action.hexes:
                    for owner in (frame.company, frame.target):
                        if hex in standing(g, owner):
                            g.emit(TokenTaken(owner, hex, None))

    def settle(self, g: Game, frame: Surplus) -> bool:
        merge_doubles(g, frame.company, frame.target)
        asks = self._above(g, frame) or self._double(g, frame)
        if g.company(frame.company).president and asks:
            return False
        g.close()
        take_markers(g, frame.company, frame.target)
        self.then(g)
        return True
