"""A company issues or redeems its own shares at the end of its turn (1851, Issue or Redeem Stock)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, IssueShares, RedeemShares
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, POOL, OperatingTurn
from engine.finance import market
from engine.finance.ownership import move_shares, share_percent, too_few_shares
from engine.game import Game
from engine.mechanics import Option
from engine.operating.turn import Step


@dataclass(frozen=True)
class ShareIssueStep(Step):
    """Issue shares or redeem some, once in a turn. A company issues none in its first turn."""

    name: str = "issue"
    handles: tuple[type[Action], ...] = (IssueShares, RedeemShares)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted and next(self.options(g, turn), None) is not None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"issue or redeem shares of the {turn.company}, or pass"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company, step = turn.company, share_percent(g, turn.company)
        for kind, source, verb in ((IssueShares, company, "Issue"), (RedeemShares, POOL, "Redeem")):
            for count in range(1, g.percent_held(source, company) // step + 1):
                if self.refusal(g, turn, action := kind(count)) is None:
                    dollars = count * g.price(company)
                    yield Option(action, f"{verb} {count * step} % of the {company} for ${dollars}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, IssueShares | RedeemShares)
        company, count = turn.company, action.count
        if turn.acted:
            done = "has already issued or redeemed shares in this turn"
            return f"The {company} {done}{g.cite('1851 Issue or Redeem Stock')}."
        if count < 1:
            return "Name at least one share."
        issues = isinstance(action, IssueShares)
        if issues and turn.is_first:
            return f"The {company} issues no shares in its first turn{g.cite('1851 Issue or Redeem Stock')}."
        source, target, limit = (company, POOL, "pool") if issues else (POOL, company, "treasury")
        percent, source_name = count * share_percent(g, company), "treasury" if issues else "pool"
        if percent > g.percent_held(source, company):
            few = too_few_shares(f"The {source_name}", g.percent_held(source, company), company)
            return f"{few}{g.cite('1851 Issue or Redeem Stock')}."
        limits = g.components.limits
        most = limits.pool_percent if issues else limits.treasury_percent
        if g.percent_held(target, company) + percent > most:
            allowed = f"at most {most} % of the {company}"
            return f"The {limit} may hold {allowed}{g.cite('1851 Issue or Redeem Stock')}."
        if not issues and count * g.price(company) > g.cash(company):
            return f"That costs ${count * g.price(company)}, and the {company} has ${g.cash(company)}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, IssueShares | RedeemShares)
        company, count = turn.company, action.count
        percent, dollars = count * share_percent(g, company), count * g.price(company)
        g.replace_top(msgspec.structs.replace(turn, acted=True))
        if isinstance(action, IssueShares):
            move_shares(g, company, company, POOL, percent)
            g.pay(BANK, company, dollars, CashReason.SHARES, company)
            market.move_token(
                g, company, market.down(g, market.token_space(g, company), count), PriceReason.ISSUED
            )
        else:
            g.pay(company, BANK, dollars, CashReason.SHARES, company)
            move_shares(g, company, POOL, company, percent)
