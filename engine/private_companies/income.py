"""The income of private companies."""

from __future__ import annotations

from engine.core.components import MailContractAbility
from engine.core.reasons import CashReason
from engine.core.state import BANK, is_seat
from engine.game import Game


def pay_private_income(g: Game) -> None:
    """Pay the income of each open private to its owner (1830 §16, §7.3)."""
    for private, owner in list(g.owned_privates()):
        g.pay(BANK, owner, g.private_definition(private).revenue, CashReason.PRIVATE_INCOME, private)


def pay_mail_contracts(g: Game) -> None:
    """Pay the income of mail contracts to companies that have a train (1817 §6)."""
    for private, owner in list(g.owned_privates()):
        ability = g.private_definition(private).ability
        if isinstance(ability, MailContractAbility) and not is_seat(owner) and g.company(owner).trains:
            g.pay(BANK, owner, ability.income, CashReason.PRIVATE_INCOME, private)
