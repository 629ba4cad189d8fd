"""Final standings (1830 §25, §23.3)."""

from __future__ import annotations

from engine.game import Game
from engine.holdings import worth


def scores(g: Game, bankrupt: str | None, *, with_privates: bool) -> dict[str, int]:
    """Dollars by seat. A bankrupt scores what stock he still holds; `with_privates`: and these."""
    found = {seat: worth(g, seat) for seat in g.state.seats}
    if bankrupt and not with_privates:
        found[bankrupt] -= sum(g.private_facts(p).price for p in g.privates_of(bankrupt))
    return found
