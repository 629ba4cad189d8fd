"""What a company takes over from another: cash, loans, trains, privates, station markers, and what of
trains and markers is above the limits (1817 §7.1.2, §7.2.4, §7.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.actions import Action, KeepTokens, RemoveToken
from engine.core.events import (
    CashMoved,
    LoansChanged,
    PrivateMoved,
    TokenRemoved,
    TrainMoved,
    UnplacedTokensChanged,
)
from engine.core.hooks import never
from engine.core.reasons import CashReason, LoanReason, TrainReason
from engine.core.state import (
    CashCrisis,
    Discard,
    ExcessTokens,
    GameOver,
    MergerRound,
    ShareholderSettlement,
)
from engine.game import Game
from engine.mechanics import Option
from engine.operating.stations import city_label


def transfer_assets(g: Game, buyer: str, target: str) -> None:
    """Give a company all that another has: cash, loans, trains, privates (§7.1.2, §7.2.4). The cash and
    loans of one in liquidation have been set aside."""
    if cash := g.cash(target):
        g.emit(CashMoved(target, buyer, cash, CashReason.TAKEOVER, target))
    if count := g.company(target).loans:
        g.emit(LoansChanged(target, -count, LoanReason.PASSED_ON, buyer))
        g.emit(LoansChanged(buyer, count, LoanReason.TAKEN_OVER, target))
    for train in list(g.company(target).trains):
        g.emit(TrainMoved(train, target, buyer, TrainReason.TAKEOVER))
    for private in g.privates_of(target):
        g.emit(PrivateMoved(private, buyer))


def token_hexes(g: Game, company: str) -> list[str]:
    """The hexes with a marker of the company."""
    return [h for h, here in g.state.tokens.items() if any(c == company for _, c in here)]


def replace_tokens(g: Game, buyer: str, target: str) -> None:
    """Replace the markers of one company by those of another, one in a hex, eight in all (§7.3)."""
    limit = g.components.max_stations
    spare = g.company(target).unplaced_tokens
    for hex in [h for h, here in g.state.tokens.items() if any(c == target for _, c in here)]:
        here = g.state.tokens[hex]
        if any(c == buyer for _, c in here):
            g.emit(TokenRemoved(target, hex, None))
            spare += 1
        else:
            g.emit(TokenRemoved(target, hex, buyer))
    if g.company(target).unplaced_tokens:
        g.emit(UnplacedTokensChanged(target, -g.company(target).unplaced_tokens))
    had = g.company(buyer).unplaced_tokens
    if change := max(min(had + spare, limit - len(token_hexes(g, buyer))), 0) - had:
        g.emit(UnplacedTokensChanged(buyer, change))


def ask_for_excess(g: Game, company: str, target: str, and_then: ShareholderSettlement | None = None) -> None:
    """Ask for the markers and trains above the limits, markers first (§7, §7.3); between them comes what
    is given."""
    for _ in range(len(g.company(company).trains) - g.phase.train_limit):
        g.push(Discard(company))
    if and_then:
        g.push(and_then)
    if _must_remove_tokens(g, company, target):
        g.push(ExcessTokens(company, target))
    else:
        replace_tokens(g, company, target)


def combine_tokens(g: Game, company: str, target: str) -> tuple[str, str] | None:
    """Take over the markers of a company that goes out of play at once, as far as that is no choice; the two
    companies where it is one (§7, §7.3). Those of its charter come along in any case."""
    return_duplicate_tokens(g, company, target)
    if spare := g.company(target).unplaced_tokens:
        g.emit(UnplacedTokensChanged(target, -spare))
        g.emit(UnplacedTokensChanged(company, spare))
    if _must_remove_tokens(g, company, target):
        return company, target
    replace_tokens(g, company, target)
    return None


def _must_remove_tokens(g: Game, company: str, target: str) -> bool:
    """Whether the markers of both are more than one may have, or two of them stand in one hex."""
    mine, theirs = token_hexes(g, company), token_hexes(g, target)
    return len(mine) + len(theirs) > g.components.max_stations or bool(set(mine) & set(theirs))


def ask_for_token_removal(g: Game) -> bool:
    """Ask for the markers that were noted as too many, before anything else goes on (§7.3)."""
    base = g.state.stack[0]
    if not isinstance(base, MergerRound) or base.excess_tokens is None or isinstance(g.top, ExcessTokens):
        return False
    if not token_hexes(g, base.excess_tokens[1]):
        return False
    g.push(ExcessTokens(*base.excess_tokens))
    return True


def ask_for_next_discard(g: Game) -> bool:
    """Ask the first company in the sales that is above the train limit what it discards (§7)."""
    base = g.state.stack[0]
    if (
        not isinstance(base, MergerRound)
        or base.stage not in ("sales", "end")
        or isinstance(g.top, CashCrisis | Discard | ExcessTokens | GameOver)
    ):
        return False
    crowded = (c for c, co in g.state.companies.items() if len(co.trains) > g.phase.train_limit)
    if company := next(crowded, None):
        g.push(Discard(company))
    return company is not None


def return_duplicate_tokens(g: Game, company: str, target: str) -> None:
    """Of two markers in one city one goes onto the charter (§7); of two in one hex that is a choice."""
    for hex in token_hexes(g, target):
        places = {owner: node for node, owner in g.state.tokens[hex]}
        if places.get(company) == places[target]:
            g.emit(TokenRemoved(company, hex, None))
            g.emit(UnplacedTokensChanged(company, 1))


@dataclass(frozen=True)
class SurplusQuestion:
    """Asks which markers leave the map: of two in one hex the one that goes onto the charter, then those
    above eight, one after the other or all at once (§7, §7.3).

    Two in one hex come first, so that as many as eight hexes keep their marker. `then`: what is looked for
    before anything goes on.
    """

    next_interruption: Callable[[Game], bool] = never

    def _token_cities(self, g: Game, frame: ExcessTokens) -> list[tuple[str, int]]:
        """The cities with a marker of either company."""
        mine = (frame.company, frame.target)
        return list(dict.fromkeys((h, n) for h, here in g.state.tokens.items() for n, c in here if c in mine))

    def _token_hexes(self, g: Game, frame: ExcessTokens) -> list[str]:
        """The hexes with a marker of either company."""
        return list(dict.fromkeys(hex for hex, _ in self._token_cities(g, frame)))

    def _shared_hexes(self, g: Game, frame: ExcessTokens) -> set[str]:
        """Hexes with markers of both."""
        return set(token_hexes(g, frame.company)) & set(token_hexes(g, frame.target))

    def _excess(self, g: Game, frame: ExcessTokens) -> int:
        """How many hexes have to lose their marker."""
        return max(len(self._token_hexes(g, frame)) - g.components.max_stations, 0)

    def asked(self, g: Game, frame: ExcessTokens) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: ExcessTokens) -> str:
        if double := self._shared_hexes(g, frame):
            return f"to remove one of the two station markers of the {frame.company} in {min(double)}"
        above = self._excess(g, frame)
        return f"to remove {above} station marker{'s' if above > 1 else ''} of the {frame.company}"

    def options(self, g: Game, frame: ExcessTokens, seat: str) -> Iterator[Option]:
        for hex, node in self._token_cities(g, frame):
            if self.refusal(g, frame, seat, said := RemoveToken(hex, node)) is None:
                yield Option(said, f"Remove the marker in {city_label(g, hex, node)}")

    def refusal(self, g: Game, frame: ExcessTokens, seat: str, action: Action) -> str | None:
        double, limit = self._shared_hexes(g, frame), g.components.max_stations
        match action:
            case RemoveToken(hex, node) if (hex, node) not in self._token_cities(g, frame):
                return f"The {frame.company} has no marker there."
            case RemoveToken(hex):
                if double and hex not in double:
                    return f"First one of the two markers in {min(double)} is removed (§7)."
                return None
            case KeepTokens(hexes) if self._excess(g, frame):
                if len(set(hexes)) != limit or not set(hexes) <= set(self._token_hexes(g, frame)):
                    return f"Name {limit} hexes with a marker of the {frame.company} (§7.3)."
                return None
        return f"The {frame.company} has to remove station markers: say which (§7, §7.3)."

    def apply(self, g: Game, frame: ExcessTokens, seat: str, action: Action) -> None:
        if isinstance(action, RemoveToken):
            here = g.state.tokens[action.hex]
            owner = next(c for n, c in here if n == action.node and c in (frame.company, frame.target))
            if action.hex in self._shared_hexes(g, frame):
                g.emit(UnplacedTokensChanged(frame.company, 1))
            g.emit(TokenRemoved(owner, action.hex, None))
        elif isinstance(action, KeepTokens):
            for hex in self._token_hexes(g, frame):
                if hex not in action.hexes:
                    for owner in (frame.company, frame.target):
                        if hex in token_hexes(g, owner):
                            g.emit(TokenRemoved(owner, hex, None))

    def advance(self, g: Game, frame: ExcessTokens) -> bool:
        return_duplicate_tokens(g, frame.company, frame.target)
        asks = self._excess(g, frame) or self._shared_hexes(g, frame)
        if g.company(frame.company).president and asks:
            return False
        g.pop()
        replace_tokens(g, frame.company, frame.target)
        self.next_interruption(g)
        return True
