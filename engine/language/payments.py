"""What owners are called, and payments as sentences: who pays how much, and for what."""

from __future__ import annotations

from engine.core.components import train_label
from engine.core.events import CashMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, IPO, POOL
from engine.game import Game

OWNER_LABELS = {IPO: "the initial offering", POOL: "the pool", BANK: "the bank"}

_PURPOSES = {
    CashReason.CAPITAL: "capital",
    CashReason.COMPANY: "the {}",
    CashReason.FORFEIT: "the train of a closed company",
    CashReason.LOAN: "a loan",
    CashReason.LOAN_REPAYMENT: "a loan repaid",
    CashReason.LOAN_SHORTFALL: "loans of the {}",
    CashReason.PRESIDENT_CASH: "what its president had",
    CashReason.PRESIDENT_CERTIFICATE: "the president's certificate of the {}",
    CashReason.PRIVATE: "the {}",
    CashReason.SHARES: "shares of the {}",
    CashReason.SHARE_SETTLEMENT: "shares of the {}",
    CashReason.SHORT_SALE: "a share of the {} sold short",
    CashReason.SHORT_SETTLEMENT: "shares of the {} sold short",
    CashReason.TERRAIN: "the terrain of {}",
    CashReason.TOKEN: "a token",
    CashReason.TOKENS: "station tokens",
    CashReason.TRACK: "track on {}",
    CashReason.TRAIN_CONTRIBUTION: "a forced purchase",
    CashReason.TREASURY_SHARES: "its treasury shares",
}
"""What a payment was for, as the object of `pays $100 for`; `{}` is the subject of the event."""


def owner_label(g: Game, owner: str, of: str | None = None) -> str:
    """An owner in words; the treasury, where a company owns shares `of` itself."""
    if owner == of:
        return "its treasury"
    if owner in g.state.companies:
        return f"the {owner}"
    return OWNER_LABELS.get(owner) or g.state.name(owner)


def payment_sentence(g: Game, paid: CashMoved) -> str:
    """A payment whose purpose no event has shown."""
    source, target = owner_label(g, paid.source), owner_label(g, paid.target)
    dollars = f"${paid.amount}"
    match paid.reason:
        case CashReason.BANKRUPTCY if paid.source == BANK:
            return f"{target} cannot pay {dollars} more"
        case CashReason.BANKRUPTCY:
            return f"{source} loses {dollars} by bankruptcy"
        case CashReason.SET_ASIDE:
            return f"{dollars} of {source} is set aside for its loans"
        case CashReason.COMPANY_CASH:
            return f"{target} receives the {dollars} of {source}"
        case CashReason.CLOSING | CashReason.REMAINDER:
            return f"the {dollars} of {source} goes to the bank"
        case CashReason.TRAIN:
            purpose = train_label(paid.subject)
        case CashReason.INTEREST:
            purpose = f"interest of the {paid.subject}" if paid.subject else "interest"
        case reason:
            purpose = _PURPOSES.get(reason, reason).format(paid.subject)
    if paid.source == BANK:
        return f"{target} receives {dollars} ({purpose})"
    return f"{source} pays {dollars} for {purpose}"
