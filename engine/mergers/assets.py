"""What a company takes over from another: cash, loans, trains, privates and station tokens, and the trains
and tokens above the limits (1817 §7.1.2, §7.2.4, §7.3)."""

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
from engine.core.reasons import CashReason, LoanReason, TrainReason
from engine.core.state import CashCrisis, Discard, ExcessTokens, GameOver, MergerRound, ShareholderSettlement
from engine.core.words import counted
from engine.game import Game
from engine.mechanics import Option, never
from engine.operating.stations import city_label


def transfer_assets(g: Game, buyer: str, target: str) -> None:
    """Move cash, loans, trains and privates of one company to another (1817 §7.1.2, §7.2.4).

    The cash and loans of a company in liquidation have been set aside before.
    """
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
    """The hexes with a token of the company."""
    return [h for h, tokens in g.state.tokens.items() if any(c == company for _, c in tokens)]


def replace_tokens(g: Game, buyer: str, target: str) -> None:
    """Replace the target's tokens by the buyer's, at most one in a hex and eight in all (1817 §7.3)."""
    limit = g.components.max_stations
    unplaced = g.company(target).unplaced_tokens
    for hex in token_hexes(g, target):
        if hex in token_hexes(g, buyer):
            g.emit(TokenRemoved(target, hex, None))
            unplaced += 1
        else:
            g.emit(TokenRemoved(target, hex, buyer))
    if g.company(target).unplaced_tokens:
        g.emit(UnplacedTokensChanged(target, -g.company(target).unplaced_tokens))
    before = g.company(buyer).unplaced_tokens
    if change := max(min(before + unplaced, limit - len(token_hexes(g, buyer))), 0) - before:
        g.emit(UnplacedTokensChanged(buyer, change))


def ask_for_excess(
    g: Game, company: str, target: str, settlement: ShareholderSettlement | None = None
) -> None:
    """Ask which tokens, then which trains, above the limits are given up (1817 §7, §7.3).

    `settlement`: a frame that comes between tokens and trains.
    """
    for _ in range(len(g.company(company).trains) - g.phase.train_limit):
        g.push(Discard(company))
    if settlement:
        g.push(settlement)
    if _must_remove_tokens(g, company, target):
        g.push(ExcessTokens(company, target))
    else:
        replace_tokens(g, company, target)


def combine_tokens(g: Game, company: str, target: str) -> tuple[str, str] | None:
    """Take over the tokens of a company that leaves play at once (1817 §7, §7.3).

    The unplaced tokens always come along. If the president has to choose tokens to remove, those on the map
    stay until then, and the two companies are returned.
    """
    return_duplicate_tokens(g, company, target)
    if unplaced := g.company(target).unplaced_tokens:
        g.emit(UnplacedTokensChanged(target, -unplaced))
        g.emit(UnplacedTokensChanged(company, unplaced))
    if _must_remove_tokens(g, company, target):
        return company, target
    replace_tokens(g, company, target)
    return None


def _must_remove_tokens(g: Game, company: str, target: str) -> bool:
    """Whether both companies together have too many tokens, or both have one in the same hex."""
    own, others = token_hexes(g, company), token_hexes(g, target)
    return len(own) + len(others) > g.components.max_stations or bool(set(own) & set(others))


def ask_for_token_removal(g: Game) -> bool:
    """Ask which tokens a company removes, if the merger round has noted excess tokens (1817 §7.3).

    Returns whether it asks.
    """
    base = g.state.stack[0]
    if not isinstance(base, MergerRound) or base.excess_tokens is None or isinstance(g.top, ExcessTokens):
        return False
    if not token_hexes(g, base.excess_tokens[1]):
        return False
    g.push(ExcessTokens(*base.excess_tokens))
    return True


def ask_for_next_discard(g: Game) -> bool:
    """During the sales, ask the first company above the train limit for a discard (1817 §7).

    Returns whether it asks.
    """
    base = g.state.stack[0]
    if (
        not isinstance(base, MergerRound)
        or base.stage not in ("sales", "end")
        or isinstance(g.top, CashCrisis | Discard | ExcessTokens | GameOver)
    ):
        return False
    over_limit = (c for c, co in g.state.companies.items() if len(co.trains) > g.phase.train_limit)
    if company := next(over_limit, None):
        g.push(Discard(company))
    return company is not None


def return_duplicate_tokens(g: Game, company: str, target: str) -> None:
    """Where both companies have a token in one city, return one to the charter (1817 §7).

    Tokens in two cities of one hex are left for the president to choose.
    """
    for hex in token_hexes(g, target):
        cities = {owner: node for node, owner in g.state.tokens[hex]}
        if cities.get(company) == cities[target]:
            g.emit(TokenRemoved(company, hex, None))
            g.emit(UnplacedTokensChanged(company, 1))


@dataclass(frozen=True)
class ExcessTokensQuestion:
    """Asks which tokens leave the map after a merger or acquisition (1817 §7, §7.3).

    First, of two tokens in one hex, the one that returns to the charter; then the tokens above the limit of
    eight, one by one or all at once. In this order up to eight hexes keep their token. `next_interruption`:
    pushes what interrupts the game afterwards.
    """

    next_interruption: Callable[[Game], bool] = never

    def _token_cities(self, g: Game, frame: ExcessTokens) -> list[tuple[str, int]]:
        """The cities (hex, node) with a token of either company."""
        both = (frame.company, frame.target)
        cities = ((h, n) for h, tokens in g.state.tokens.items() for n, c in tokens if c in both)
        return list(dict.fromkeys(cities))

    def _token_hexes(self, g: Game, frame: ExcessTokens) -> list[str]:
        """The hexes with a token of either company."""
        return list(dict.fromkeys(hex for hex, _ in self._token_cities(g, frame)))

    def _shared_hexes(self, g: Game, frame: ExcessTokens) -> set[str]:
        """The hexes with a token of each company."""
        return set(token_hexes(g, frame.company)) & set(token_hexes(g, frame.target))

    def _excess(self, g: Game, frame: ExcessTokens) -> int:
        """How many hexes above the limit have a token."""
        return max(len(self._token_hexes(g, frame)) - g.components.max_stations, 0)

    def asked(self, g: Game, frame: ExcessTokens) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: ExcessTokens) -> str:
        if shared := self._shared_hexes(g, frame):
            return f"remove one of the two station tokens of the {frame.company} in {min(shared)}"
        excess = self._excess(g, frame)
        return f"remove {counted(excess, 'station token')} of the {frame.company}"

    def options(self, g: Game, frame: ExcessTokens, seat: str) -> Iterator[Option]:
        for hex, node in self._token_cities(g, frame):
            if self.refusal(g, frame, seat, removal := RemoveToken(hex, node)) is None:
                yield Option(removal, f"Remove the station token in {city_label(g, hex, node)}")

    def refusal(self, g: Game, frame: ExcessTokens, seat: str, action: Action) -> str | None:
        shared, limit = self._shared_hexes(g, frame), g.components.max_stations
        match action:
            case RemoveToken(hex, node) if (hex, node) not in self._token_cities(g, frame):
                return f"The {frame.company} has no station token there."
            case RemoveToken(hex):
                if shared and hex not in shared:
                    return f"First remove one of the two tokens in {min(shared)}{g.cite('1817 §7')}."
                return None
            case KeepTokens(hexes) if self._excess(g, frame):
                if len(set(hexes)) != limit or not set(hexes) <= set(self._token_hexes(g, frame)):
                    return f"Name {limit} hexes with a token of the {frame.company}{g.cite('1817 §7.3')}."
                return None
        prompt = self.prompt(g, frame)
        return f"{g.state.name(seat)} to act: {prompt}{g.cite('1817 §7', '1817 §7.3')}."

    def apply(self, g: Game, frame: ExcessTokens, seat: str, action: Action) -> None:
        if isinstance(action, RemoveToken):
            both = (frame.company, frame.target)
            owner = next(c for n, c in g.state.tokens[action.hex] if n == action.node and c in both)
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
        has_choice = self._excess(g, frame) or self._shared_hexes(g, frame)
        if g.company(frame.company).president and has_choice:
            return False
        g.pop()
        replace_tokens(g, frame.company, frame.target)
        self.next_interruption(g)
        return True
