"""Turning points in sentences, as a person would say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

import engine
from bot.features.review.money import Cause
from bot.features.review.money_words import bankruptcy_sentence
from bot.features.review.runs import BestRunChange
from bot.features.review.turning_points import Moment
from engine.core.components import train_label
from engine.core.events import (
    CashMoved,
    PhaseStarted,
    PriceMoved,
    SharesMoved,
    TileLaid,
    TokenPlaced,
    TrainMoved,
    TrainsRusted,
)
from engine.core.reasons import CashReason, PriceReason, TrainReason
from engine.core.state import POOL
from engine.core.words import dollars, join_words
from engine.game_text import GameHistory

MOST_RUNS_NAMED = 3
LEAST_PART = 0.15
"""Effects on players that are smaller than this part of a moment are not named."""
PICTURES = {
    "trains": "sheet",
    "track": "map",
    "sales": "market",
    "forced": "sheet",
    "private": "sheet",
    "company": "market",
}
WHY_LIQUIDATED = {
    PriceReason.NO_TRAIN: "had no train at the end of its turn",
    PriceReason.INTEREST_UNPAID: "could not pay its interest",
    PriceReason.TOKENS_UNPAID: "could not pay for its tokens",
    PriceReason.NO_PRESIDENT: "lost its president",
}


class TurningPoint(NamedTuple):
    """A moment in words. `at`: the index of the move that began it; `shown_at`: of the move to look at;
    `picture`: `map`, `market` or `sheet`, after that."""

    at: int
    shown_at: int
    round: str
    sentence: str
    picture: str


def told(game: GameHistory, moment: Moment, names: engine.State) -> TurningPoint:
    """A moment in words. `names`: a position with the names of the players."""
    teller = _Teller(game, moment, names)
    return TurningPoint(
        moment.at,
        moment.passed.at if moment.passed else moment.at,
        moment.place.round,
        " ".join(teller.sentences()),
        "sheet" if moment.passed and not moment.entries else PICTURES[moment.kind],
    )


class _Teller:
    """Puts one moment into words."""

    def __init__(self, game: GameHistory, moment: Moment, names: engine.State) -> None:
        self.game, self.moment, self.name = game, moment, names.name
        self.before = game.state_after(moment.at)

    def sentences(self) -> Iterator[str]:
        """The sentences about the moment."""
        match self.moment.kind:
            case "trains":
                yield f"{self._trains()}: {_best_runs(self.moment.changes)}."
                for payer, paid in self.paid().items():
                    yield f"{self.name(payer)} had to pay {dollars(paid)} for it."
                yield from self._effects(self._runs_counted())
            case "track":
                yield f"{self._track()}: {_best_runs(self.moment.changes)}."
                yield from self._effects(self._runs_counted())
            case "sales":
                yield from self._sales()
            case "forced":
                payer, paid = next(iter(self.moment.effects.items()))
                yield f"{self.name(payer)} had to pay {dollars(-paid)} for {self._forced_train()}."
            case "private":
                yield self._private()
            case "company":
                yield from self._company()

    # -- trains and track --------------------------------------------------------------------

    def _trains(self) -> str:
        """`The NYC bought the first 4-train, and the 2-trains rusted`."""
        bought, rusted, other = [], [], ""
        for index in sorted({change.at for change in self.moment.changes}):
            events = self.game.lines[index].events
            first = any(isinstance(event, PhaseStarted) for event in events)
            for event in events:
                if isinstance(event, TrainsRusted):
                    rusted.append(event.train)
                elif isinstance(event, TrainMoved) and event.reason is TrainReason.BOUGHT:
                    seller = f" from the {event.source}" if event.source in self.before.companies else ""
                    train = f"the first {event.train}-train" if first else train_label(event.train)
                    bought.append((event.target, f"{train}{seller}"))
                elif isinstance(event, TrainMoved) and event.reason is TrainReason.TAKEOVER:
                    other = f"The {event.target} took over the trains of the {event.source}"
        words = other or "Trains left the game"
        if bought:
            words = f"The {bought[0][0]} bought {join_words(_counted([train for _, train in bought]))}"
        if rusted:
            words += f", and {_rusted(rusted)} rusted"
        return words

    def _track(self) -> str:
        """`The UR laid #8 on G14`."""
        for event in self.game.lines[self.moment.at].events:
            if isinstance(event, TileLaid):
                return f"The {event.company} laid #{event.tile} on {event.hex}"
            if isinstance(event, TokenPlaced):
                return f"The {event.company} placed a token in {event.hex}"
        return f"`{self.game.lines[self.moment.at].line}` was played"

    def _runs_counted(self) -> str:
        return f"Over the next {'two runs' if self.moment.runs > 1 else 'run'}, as the shares were held,"

    def paid(self) -> Counter[str]:
        """What presidents paid for trains, by seat."""
        paid: Counter[str] = Counter()
        for entry in self.moment.entries:
            if entry.cause is Cause.FORCED:
                paid[entry.seat] -= entry.dollars
        return paid

    def _effects(self, heading: str) -> Iterator[str]:
        """`Over the next two turns that brought Bob $65 and cost Dan $108.`"""
        parts = [*_amounts(self, "brought", 1), *_amounts(self, "cost", -1)]
        if parts:
            yield f"{heading} that {join_words(parts)}."

    # -- shares ------------------------------------------------------------------------------

    def _sales(self) -> Iterator[str]:
        moment, company = self.moment, self.moment.company
        sold = list(self._shares_sold())
        if sold:
            yield f"{join_words(sold)} of the {company}{self._paid_for()}{self._price_fall()}."
        if passed := moment.passed:
            verb = "became president instead of"
            yield (
                f"{self.name(passed.new)} {verb} {self.name(passed.old)}, and later had to pay "
                f"{dollars(moment.paid)} for the {company}."
            )
        losses = {seat: amount for seat, amount in moment.effects.items() if amount}
        if passed:
            losses[passed.new] = losses.get(passed.new, 0) + moment.paid
        worst = {seat: amount for seat, amount in losses.items() if -amount >= LEAST_PART * moment.size}
        if worst:
            yield f"The fall cost {self._named(worst)}."
        best = {seat: amount for seat, amount in losses.items() if amount >= LEAST_PART * moment.size}
        if best:
            yield f"It brought {self._named(best)} on shares sold short."

    def _named(self, amounts: dict[str, int]) -> str:
        """`Bob $90 and Ann $40`, the largest first."""
        ranked = sorted(amounts.items(), key=lambda item: -abs(item[1]))
        return join_words([f"{self.name(seat)} {dollars(abs(amount))}" for seat, amount in ranked])

    def _paid_for(self) -> str:
        """` to pay for a train of the GMO`, where the president sold in an operating turn."""
        seller = self.game.lines[self.moment.at].seat
        following = self.game.lines[self.moment.at :] if self.moment.place.company else ()
        for move in takewhile(lambda each: each.seat == seller, following):
            for event in move.events:
                if isinstance(event, CashMoved) and event.reason is CashReason.TRAIN_CONTRIBUTION:
                    return f" to pay for a train of the {event.target}"
        return ""

    def _price_fall(self) -> str:
        """`, and its price fell from $100 to $70`: by the sales alone, whatever else moved it meanwhile."""
        falls, state = list[int](), engine.copy_state(self.before)
        last = max([entry.at for entry in self.moment.entries], default=self.moment.at)
        g = engine.game_of(state)
        for move in self.game.lines[self.moment.at : last + 1]:
            for event in move.events:
                price = g.price(self.moment.company)
                event.apply(state)
                match event:
                    case PriceMoved(company, _, PriceReason.SOLD | PriceReason.SHARES_IN_POOL):
                        if company == self.moment.company:
                            falls += [price, g.price(company)]
        if not falls or falls[0] <= falls[-1]:
            return ""
        return f", and its price fell from {dollars(falls[0])} to {dollars(falls[-1])}"

    def _shares_sold(self) -> Iterator[str]:
        """`Ann sold 30 %`, for each seller of the round until the price last fell."""
        company = self.moment.company
        last = max([entry.at for entry in self.moment.entries], default=self.moment.at)
        state = engine.copy_state(self.before)
        sold: dict[str, Counter[str]] = {}
        for move in self.game.lines[self.moment.at : last + 1]:
            for event in move.events:
                match event:
                    case SharesMoved(moved, seat, target, percent) if (moved, target) == (company, POOL):
                        held = max(state.companies[company].shares.get(seat, 0), 0)
                        amounts = sold.setdefault(seat, Counter())
                        amounts[""] += min(held, percent)
                        amounts[" short"] += max(percent - held, 0)
                event.apply(state)
        for seat, amounts in sold.items():
            words = [f"{amount} %{short}" for short, amount in amounts.items() if amount > 0]
            if words and engine.is_seat(seat):
                yield f"{self.name(seat)} sold {join_words(words)}"

    # -- payments ----------------------------------------------------------------------------

    def _forced_train(self) -> str:
        company = self.moment.company
        indices = {entry.at for entry in self.moment.entries}
        trains = [
            event.train
            for index in sorted(indices)
            for event in self.game.lines[index].events
            if isinstance(event, TrainMoved) and event.target == company
        ]
        if len(trains) == 1:
            return f"{train_label(trains[0])} of the {company}"
        return f"trains of the {company}"

    def _private(self) -> str:
        entry, private = self.moment.entries[0], self.moment.company
        owner = self.game.state_after(self.moment.at + 1).private_owners[private]
        price = engine.game_of(self.before).private_definition(private).price
        if entry.seat == owner:
            paid = dollars(price - entry.dollars)
            return f"{self.name(owner)} bought the {private} for {paid}, {_above(-entry.dollars)}."
        buyer = f"the {owner}" if owner in self.before.companies else self.name(owner)
        return (
            f"{self.name(entry.seat)} sold the {private} to {buyer} for {dollars(price + entry.dollars)}, "
            f"{_above(entry.dollars)}."
        )

    def _company(self) -> Iterator[str]:
        moment, company = self.moment, self.moment.company
        causes = {entry.cause for entry in moment.entries}
        if Cause.BANKRUPTCY in causes:
            (entry,) = [e for e in moment.entries if e.cause is Cause.BANKRUPTCY][:1]
            company = moment.place.company
            if company and engine.game_of(self.before).components.must_own_train:
                yield f"{self.name(entry.seat)} could not pay for a train of the {company}."
            yield bankruptcy_sentence(self.name(entry.seat), moment.effects[entry.seat])
            return
        if Cause.LIQUIDATION in causes:
            yield f"The {company} {self._why_liquidated()} and was liquidated."
        elif Cause.MERGERS in causes:
            yield f"Two companies merged into the {company}."
        else:
            yield f"The {company} was sold."
        yield from self._effects("In all")

    def _why_liquidated(self) -> str:
        for entry in self.moment.entries:
            for event in self.game.lines[entry.at].events:
                match event:
                    case PriceMoved(company, _, reason) if company == self.moment.company:
                        if reason in WHY_LIQUIDATED:
                            return WHY_LIQUIDATED[reason]
        return "fell into the liquidation area"


def _amounts(teller: _Teller, verb: str, sign: int) -> Iterator[str]:
    """`brought Bob $65 and Ann $40`: what is large enough, the largest first."""
    moment = teller.moment
    paid = teller.paid() if moment.kind == "trains" else Counter[str]()
    effects = [(seat, sign * (amount + paid[seat])) for seat, amount in moment.effects.items()]
    effects = [(seat, amount) for seat, amount in effects if amount >= max(1, LEAST_PART * moment.size)]
    if effects:
        effects.sort(key=lambda item: -item[1])
        yield f"{verb} {join_words([f'{teller.name(seat)} {dollars(amount)}' for seat, amount in effects])}"


def _best_runs(changes: Iterable[BestRunChange]) -> str:
    """`the best run of the PRR fell from $220 to $0, that of the B&O rose from $220 to $400`."""
    first, last = dict[str, int](), dict[str, int]()
    for change in changes:
        first.setdefault(change.company, change.before)
        last[change.company] = change.after
    moved = sorted(first, key=lambda company: -abs(last[company] - first[company]))
    parts = []
    for at, company in enumerate(moved[:MOST_RUNS_NAMED]):
        verb = "rose" if last[company] > first[company] else "fell"
        what = "the best run" if at == 0 else "that"
        parts.append(
            f"{what} of the {company} {verb} from {dollars(first[company])} to {dollars(last[company])}"
        )
    others = len(moved) - MOST_RUNS_NAMED
    if others > 0:
        parts.append(
            "that of one other company changed" if others == 1 else f"those of {others} others changed"
        )
    return join_words(parts)


def _counted(trains: Iterable[str]) -> list[str]:
    """`a 3-train` twice as `two 3-trains`."""
    counts = Counter(trains)
    numbers = {2: "two", 3: "three", 4: "four"}
    return [
        f"{numbers.get(count, count)} {train.partition(' ')[2]}s" if count > 1 else train
        for train, count in counts.items()
    ]


def _rusted(trains: Iterable[str]) -> str:
    return "the " + join_words([f"{train}-trains" for train in dict.fromkeys(trains)])


def _above(amount: int) -> str:
    return f"{dollars(abs(amount))} {'above' if amount > 0 else 'below'} its face value"
