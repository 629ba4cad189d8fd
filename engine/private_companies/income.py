"""The income of private companies."""

from __future__ import annotations

from engine.core.reasons import CashReason
from engine.core.state import BANK
from engine.game import Game


def pay_private_income(g: Game) -> None:
    """Pay the income of each open private to its owner (1830 §16, §7.3)."""
    for private, owner in list(g.owned_privates()):
        g.pay(BANK, owner, g.private_definition(private).revenue, CashReason.PRIVATE_INCOME, private)
