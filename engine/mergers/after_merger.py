"""What follows a conversion or merger: trades of its shares, then loans (1817 §7.1.1, §7.1.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.actions import Action, BuyPostMergerShares, Pass, SellPostMergerShares, TakeLoans
from engine.core.events import Passed, UnplacedTokensChanged
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, PostMergerLoans, PostMergerTrade
from engine.finance.loans import (
    is_tradable,
    loan_label,
    loans_available,
    put_into_liquidation,
    refuse_loans,
    size_definition,
    take_loans,
    token_cost_label,
)
from engine.finance.ownership import share_percent
from engine.finance.share_sales import (
    refuse_sale_at_steady_price,
    sell_at_steady_price,
    sellable_counts,
)
from engine.game import Game
from engine.mechanics import Option
from engine.mergers.conversion import current_merger_round, tokens_to_buy
from engine.stock.short_selling_turn import buy_shares, refuse_buy


@dataclass(frozen=True)
class PostMergerTradeQuestion:
    """Asks the president, then every other player once, whether they buy or sell shares (1817 §7.1.4).

    `new_president_continues`: a player who becomes president by a purchase may buy more, and a player who
    could do nothing in their turn is asked again once they can. `asks_together`: the later players are asked
    too, and may pass in advance.
    """

    new_president_continues: bool = False
    asks_together: bool = False

    def asked(self, g: Game, frame: PostMergerTrade) -> tuple[str, ...]:
        later = frame.seats[1:] if self.asks_together else ()
        return (*frame.seats[:1], *(seat for seat in later if self._can_trade(g, frame, seat)))

    def prompt(self, g: Game, frame: PostMergerTrade) -> str:
        verbs = {BuyPostMergerShares: "buy", SellPostMergerShares: "sell"}
        possible = dict.fromkeys(verbs[type(o.action)] for o in self._trades(g, frame, frame.seats[0]))
        several = len(self.asked(g, frame)) > 1
        order = f": {g.state.name(frame.seats[0])} now, the others may pass in advance" if several else ""
        return f"{' or '.join(possible)} shares of the {frame.company}, or pass{order}"

    def options(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        if seat == frame.seats[0]:
            yield from self._trades(g, frame, seat)
        yield Option(Pass(), f"No more shares of the {frame.company}")

    def _trades(self, g: Game, frame: PostMergerTrade, seat: str) -> Iterator[Option]:
        company, percent = frame.company, share_percent(g, frame.company)
        for word, holder, kind in (
            ("Buy", company, BuyPostMergerShares),
            ("Sell", seat, SellPostMergerShares),
        ):
            for count in sellable_counts(g, holder, company):
                if self._refuse_trade(g, frame, seat, trade := kind(count)) is None:
                    yield Option(
                        trade,
                        f"{word} {count * percent} % of the {company} for ${count * g.price(company):,}",
                    )

    def refusal(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> str | None:
        if isinstance(action, Pass):
            return None
        if seat != frame.seats[0]:
            first = f"{g.state.name(frame.seats[0])} acts first"
            return f"{first}; you may only pass in advance{g.cite('1817 §7.1.4')}."
        return self._refuse_trade(g, frame, seat, action)

    def _refuse_trade(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> str | None:
        """Why the player could not do that in their turn, or None."""
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                if count != 1 and not presides:
                    return f"Only the president may buy more than one share{g.cite('1817 §7.1.4')}."
                return refuse_buy(g, seat, company, company, count)
            case SellPostMergerShares(count):
                if presides:
                    return f"The president may not sell shares now{g.cite('1817 §7.1.4')}."
                return refuse_sale_at_steady_price(g, seat, company, count)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.1.4')}."

    def apply(self, g: Game, frame: PostMergerTrade, seat: str, action: Action) -> None:
        company = frame.company
        presides = g.company(company).president == seat
        match action:
            case BuyPostMergerShares(count):
                buy_shares(g, seat, company, company, count)
                is_new_president = self.new_president_continues and g.company(company).president == seat
                if presides or is_new_president:
                    g.change_top(frame, acted=True)
                    return
            case SellPostMergerShares(count):
                sell_at_steady_price(g, seat, company, count)
            case _:
                g.emit(Passed(seat, f"shares of the {company}"))
        g.replace_top(PostMergerTrade(company, tuple(s for s in frame.seats if s != seat)))

    def advance(self, g: Game, frame: PostMergerTrade) -> bool:
        if not frame.seats or not is_tradable(g, frame.company):
            g.pop()
            return True
        seat, others = frame.seats[0], frame.seats[1:]
        if self._can_trade(g, frame, seat):
            return False
        asked_again = self.new_president_continues and any(self._can_trade(g, frame, s) for s in others)
        g.replace_top(PostMergerTrade(frame.company, (*others, seat) if asked_again else others))
        return True

    def _can_trade(self, g: Game, frame: PostMergerTrade, seat: str) -> bool:
        return seat in g.state.active_seats and next(self._trades(g, frame, seat), None) is not None


@dataclass(frozen=True)
class PostMergerLoansQuestion:
    """Asks for loans after a conversion or merger; then a converted company buys its tokens (1817 §7.1.1).

    The president need not take loans, even if the company goes into liquidation without them.
    """

    def asked(self, g: Game, frame: PostMergerLoans) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: PostMergerLoans) -> str:
        size = g.company(frame.company).size
        assert size is not None
        cash = f"it has ${g.cash(frame.company):,}{token_cost_label(g, size, self._tokens_to_buy(g, frame))}"
        return f"take loans for the {frame.company}, or pass ({cash})"

    @staticmethod
    def _tokens_to_buy(g: Game, frame: PostMergerLoans) -> int:
        """How many tokens the company has to buy after the loans."""
        size = g.company(frame.company).size
        if current_merger_round(g).last_converted != frame.company or size is None:
            return 0
        return tokens_to_buy(g, frame.company, size)

    def options(self, g: Game, frame: PostMergerLoans, seat: str) -> Iterator[Option]:
        for count in range(1, loans_available(g, frame.company) + 1):
            yield Option(TakeLoans(count), loan_label(g, frame.company, count))
        yield Option(Pass(), "No more loans")

    def refusal(self, g: Game, frame: PostMergerLoans, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case TakeLoans(count):
                return refuse_loans(g, frame.company, count)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7.1')}."

    def apply(self, g: Game, frame: PostMergerLoans, seat: str, action: Action) -> None:
        if isinstance(action, TakeLoans):
            take_loans(g, frame.company, action.count)
        else:
            self._finish(g, frame)

    def advance(self, g: Game, frame: PostMergerLoans) -> bool:
        if g.company(frame.company).president is not None and loans_available(g, frame.company):
            return False
        self._finish(g, frame)
        return True

    def _finish(self, g: Game, frame: PostMergerLoans) -> None:
        company = frame.company
        g.pop()
        count = self._tokens_to_buy(g, frame)
        cost = count * size_definition(g, company).station_cost
        if cost > g.cash(company):
            put_into_liquidation(g, company, PriceReason.TOKENS_UNPAID)
        elif count:
            g.pay(company, BANK, cost, CashReason.TOKENS)
            g.emit(UnplacedTokensChanged(company, count))
