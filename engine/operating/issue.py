"""A company's dealings in its own shares, at the end of its turn (1851, Issue or Redeem Stock)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine import market
from engine.actions import Action, IssueShares, RedeemShares
from engine.game import Game
from engine.holdings import move_shares, unit
from engine.state import BANK, POOL, OperatingTurn
from engine.title import Option

BOOK = "(Issue or Redeem Stock)"


@dataclass(frozen=True)
class IssueStep:
    """Issue shares or redeem some, once in a turn; none are issued in the first."""

    name: str = "issue"
    hears: tuple[type[Action], ...] = (IssueShares, RedeemShares)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted and next(self.options(g, turn), None) is not None

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to issue or redeem shares of the {turn.company}, or be done"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company, step = turn.company, unit(g, turn.company)
        for kind, source, verb in ((IssueShares, company, "Issue"), (RedeemShares, POOL, "Redeem")):
            for count in range(1, g.held(source, company) // step + 1):
                if self.refuse(g, turn, action := kind(count)) is None:
                    dollars = count * g.price(company)
                    yield Option(action, f"{verb} {count * step} % of the {company} for ${dollars}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, IssueShares | RedeemShares)
        company, count = turn.company, action.count
        if turn.acted:
            return f"The {company} has issued or redeemed in this turn {BOOK}."
        if count < 1:
            return "At least one share has to be named."
        issues = isinstance(action, IssueShares)
        if issues and turn.first:
            return f"The {company} issues nothing in its first turn {BOOK}."
        source, target, limit = (company, POOL, "pool") if issues else (POOL, company, "treasury")
        percent, lies = count * unit(g, company), "treasury" if issues else "pool"
        if percent > g.held(source, company):
            return f"The {lies} holds {g.held(source, company)} % of the {company} {BOOK}."
        most = g.facts.limits[f"{limit}_percent"]
        if g.held(target, company) + percent > most:
            return f"The {limit} may hold {most} % of the {company} at most {BOOK}."
        if not issues and count * g.price(company) > g.cash(company):
            return f"That costs ${count * g.price(company)}, and the {company} has ${g.cash(company)}."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, IssueShares | RedeemShares)
        company, count = turn.company, action.count
        percent, dollars = count * unit(g, company), count * g.price(company)
        g.change(msgspec.structs.replace(turn, acted=True))
        if isinstance(action, IssueShares):
            move_shares(g, company, company, POOL, percent)
            g.pay(BANK, company, dollars, f"{percent} % of the {company}")
            market.move(g, company, market.down(g, market.place(g, company), count), "issued")
        else:
            g.pay(company, BANK, dollars, f"{percent} % of the {company}")
            move_shares(g, company, POOL, company, percent)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing is issued or redeemed."""
