"""Where the money came from, in sentences and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import engine
from bot.features.review.money import Cause, Entry
from bot.features.review.runs import BestRunChange
from engine.core.components import train_label
from engine.core.events import TrainMoved
from engine.core.reasons import TrainReason
from engine.core.words import dollars, join_words
from engine.game_text import GameHistory
from engine.kernel import AGREED

MOST_SENTENCES = 12
LEAST_PART, LEAST_DOLLARS = 0.04, 50
"""What is less than this part of the largest gain, or less than so much, is not worth a sentence."""

MOST_AFTER_TRAIN = 90
"""Percent of dividends: that nearly all of them came after a train is no news."""

OF_COMPANY = {Cause.DIVIDENDS, Cause.RUNS, Cause.SOLD_OUT}
"""What a player gains by holding a company while it does well."""
GROUPS: dict[str, frozenset[Cause]] = {
    "Dividends": frozenset({Cause.DIVIDENDS}),
    "Prices by runs": frozenset({Cause.RUNS}),
    "Sold-out prices": frozenset({Cause.SOLD_OUT}),
    "Private income": frozenset({Cause.INCOME}),
    "Deals": frozenset({Cause.PURCHASES, Cause.GRANTS, Cause.PRIVATES, Cause.CLOSINGS}),
    "Shorts": frozenset({Cause.SHORTS}),
    "Sales": frozenset({Cause.SALES, Cause.UNSOLD}),
    "Forced purchases": frozenset({Cause.FORCED, Cause.INTEREST}),
    "Other": frozenset(
        {
            Cause.ISSUES, Cause.LOANS, Cause.FLOATING, Cause.MERGERS, Cause.LIQUIDATION,
            Cause.ACQUISITIONS, Cause.BANKRUPTCY,
        }
    ),
}  # fmt: skip
"""The parts of a bar, each with its causes. Every cause is in one of them."""


def parts_of(entries: Sequence[Entry], seat: str) -> dict[str, int]:
    """The dollars of a seat by the names of `GROUPS`; parts of nothing are left out."""
    found: Counter[str] = Counter()
    for entry in entries:
        if entry.seat == seat:
            found[next(name for name, causes in GROUPS.items() if entry.cause in causes)] += entry.dollars
    return {name: found[name] for name in GROUPS if found[name]}


class _Said(NamedTuple):
    """A sentence, and the dollars that it is about."""

    dollars: float
    sentence: str


class MoneySentences:
    """Tells where the money came from: who won and by what, and what cost the others most.

    `last`: the last position. `changes`: of best runs, for what a train brought.
    """

    def __init__(
        self,
        game: GameHistory,
        entries: Sequence[Entry],
        changes: Sequence[BestRunChange],
        last: engine.State,
    ) -> None:
        self.game, self.entries, self.changes, self.last = game, entries, changes, last
        self.standings = engine.standings(last)
        self.gain = {seat: self.standings[seat] - engine.standings(game.start)[seat] for seat in last.seats}
        self.least = max(LEAST_DOLLARS, *(LEAST_PART * abs(gain) for gain in self.gain.values()))

    def all(self) -> list[str]:
        """At most twelve sentences, those about the most money."""
        seats = list(self.standings)
        first = [self._result(seats), *self._lead(seats)]
        others = [said.sentence for said in sorted(self._others(), key=lambda said: -said.dollars)]
        players = [_in_full(text, others) for seat in seats if (text := self._player(seat))]
        told = [*first, *players, *(sentence for sentence in others if sentence not in players)]
        return told[:MOST_SENTENCES]

    def _result(self, seats: Sequence[str]) -> str:
        """`Ann won with $900, $80 more than Bob.` `Ann and Bob won with $900.`"""
        most = self.standings[seats[0]]
        best = [seat for seat in seats if self.standings[seat] == most]
        names, over = join_words([self.last.name(seat) for seat in best]), self.last.game_over
        verb = "won" if over else "lead" if len(best) > 1 else "leads"
        if over and over.reason == AGREED:
            verb = "was ahead when the game was ended" if len(best) == 1 else "were ahead when it was ended"
        text = f"{names} {verb} with {dollars(most)}"
        if over and seats[1:] and all(self._is_bankrupt(seat) for seat in seats[1:]):
            return f"{text}; {'all others' if len(seats) > 2 else self.last.name(seats[1])} went bankrupt."
        if len(best) > 1 or len(seats) == 1:
            return f"{text}."
        return f"{text}, {dollars(most - self.standings[seats[1]])} more than {self.last.name(seats[1])}."

    def _is_bankrupt(self, seat: str) -> bool:
        over = self.last.game_over
        return seat in self.last.bankrupt_seats or (over is not None and over.bankrupt == seat)

    def _lead(self, seats: Sequence[str]) -> Iterator[str]:
        """What put the first before the second, by companies and causes."""
        if len(seats) < 2 or self.standings[seats[0]] == self.standings[seats[1]]:
            return
        if self._is_bankrupt(seats[1]):
            return
        first, second = self._by_source(seats[0]), self._by_source(seats[1])
        ahead = {key: first[key] - second[key] for key in first.keys() | second.keys()}
        ranked = sorted(ahead.items(), key=lambda item: (-abs(item[1]), item[0]))
        more = [(key, amount) for key, amount in ranked if amount >= self.least][:2]
        less = [(key, -amount) for key, amount in ranked if -amount >= self.least][:2]
        if more:
            text = f"{self.last.name(seats[0])} {_comparison(more)} than {self.last.name(seats[1])}"
            yield f"{text}, who {_comparison(less)}." if less else f"{text}."

    def _by_source(self, seat: str) -> Counter[str]:
        """What a seat gained from each company by holding it, and by each other cause."""
        found: Counter[str] = Counter()
        for entry in self.entries:
            if entry.seat == seat:
                found[f"the {entry.subject}" if entry.cause in OF_COMPANY else _SOURCES[entry.cause]] += (
                    entry.dollars
                )
        return found

    def _player(self, seat: str) -> str:
        """What most of a player's gain came from."""
        gain = self.gain[seat]
        held = Counter[str]()
        paid = Counter[str]()
        for entry in self.entries:
            if entry.seat == seat and entry.cause in OF_COMPANY:
                held[entry.subject] += entry.dollars
                paid[entry.subject] += entry.dollars * (entry.cause is Cause.DIVIDENDS)
        best = [(company, amount) for company, amount in held.most_common(2) if amount >= self.least]
        name = self.last.name(seat)
        if not best:
            return f"{name} {_gained(gain)}{self._worst(seat, gain)}." if abs(gain) >= self.least else ""
        told = [
            _from_company(company, amount, paid[company], self._after_train(seat, company, paid[company]))
            for company, amount in best
        ]
        return f"{name} {_gained(gain)}{':' if gain >= 0 else ' in spite of'} {join_words(told)}."

    def _worst(self, seat: str, gain: int) -> str:
        """`: $830 by liquidations`, what a player who lost lost most by; ` by liquidations` if it is all."""
        source, amount = min(self._by_source(seat).items(), key=lambda item: item[1])
        if gain >= 0 or -amount < self.least:
            return ""
        how = f" {'with' if source.startswith('the ') else 'by'} {source}"
        return how if amount == gain else f": {dollars(-amount)}{how}"

    def _after_train(self, seat: str, company: str, dividends: int) -> str:
        """`, 80 % of them after it bought a 4-train`, where a train made most of the dividends."""
        bought = [
            change
            for change in self.changes
            if change.company == company
            and change.occasion == "trains"
            and change.before > 0
            and change.dollars >= change.before / 2
            and self._train_bought(change)
        ]
        if not bought or not dividends:
            return ""
        best = max(bought, key=lambda change: change.dollars)
        after = sum(
            entry.dollars
            for entry in self.entries
            if (entry.seat, entry.cause, entry.subject) == (seat, Cause.DIVIDENDS, company)
            and entry.at > best.at
        )
        share, train = 100 * after // dividends, self._train_bought(best)
        if not 50 <= share <= MOST_AFTER_TRAIN:
            return ""
        return f", {share} % of them after it bought {train_label(train)}"

    def _train_bought(self, change: BestRunChange) -> str:
        for event in self.game.lines[change.at].events:
            match event:
                case TrainMoved(train, _, target, TrainReason.BOUGHT) if target == change.company:
                    return train
        return ""

    # -- what else was large -----------------------------------------------------------------

    def _others(self) -> Iterator[_Said]:
        """What is told of causes beside the companies held."""
        yield from self._sales()
        yield from self._privates()
        for causes, (gain, loss) in _TOLD.items():
            for seat in self.last.seats:
                mine = [e for e in self.entries if e.seat == seat and e.cause in causes]
                amount = sum(entry.dollars for entry in mine)
                form, name, size = gain if amount > 0 else loss, self.last.name(seat), dollars(abs(amount))
                if form and abs(amount) >= self.least:
                    told = form.format(name=name, amount=size, of=_subjects(mine, amount))
                    yield _Said(abs(amount), told)

    def _privates(self) -> Iterator[_Said]:
        """What privates brought, by income, deals, shares for them, and closing."""
        for seat in self.last.seats:
            parts: Counter[Cause] = Counter()
            for entry in self.entries:
                if entry.seat == seat and entry.cause in _OF_PRIVATES:
                    parts[entry.cause] += entry.dollars
            amount = sum(parts.values())
            if abs(amount) < self.least:
                continue
            verb = "gained" if amount > 0 else "lost"
            text = f"{self.last.name(seat)} {verb} {dollars(abs(amount))} by privates"
            yield _Said(abs(amount), f"{text}{_private_parts(parts, 1 if amount > 0 else -1)}.")

    def _sales(self) -> Iterator[_Said]:
        """What sales cost whom: the own ones and those of others."""
        lost: Counter[tuple[str, str]] = Counter()
        companies: dict[tuple[str, str], Counter[str]] = {}
        for entry in self.entries:
            if entry.cause is Cause.SALES and entry.by:
                key = (entry.seat, entry.by)
                lost[key] -= entry.dollars
                companies.setdefault(key, Counter())[entry.subject] -= entry.dollars
        for (seat, by), amount in lost.items():
            if amount < self.least:
                continue
            where = join_words([f"the {company}" for company, _ in companies[seat, by].most_common(2)])
            if by == seat:
                text = f"{self.last.name(seat)}'s own sales of {where} cost them {dollars(amount)}"
                yield _Said(amount, f"{text} on the shares that they kept.")
            else:
                text = f"Sales by {self.last.name(by)} cost {self.last.name(seat)} {dollars(amount)}"
                yield _Said(amount, f"{text} in the price of {where}.")


_BANKRUPT = (
    "{name} went bankrupt and was freed of {amount} more in debts than they lost.",
    "{name} went bankrupt and lost {amount} by that.",
)
_TOLD: dict[frozenset[Cause], tuple[str, str]] = {
    frozenset({Cause.FORCED}): ("", "{name} had to pay {amount} for trains of {of}."),
    frozenset({Cause.INTEREST}): ("", "{name} had to pay {amount} for the interest of {of}."),
    frozenset({Cause.SHORTS}): (
        "{name} gained {amount} by short sales, most by {of}.",
        "{name} lost {amount} by short sales, most by {of}.",
    ),
    frozenset({Cause.LIQUIDATION, Cause.ACQUISITIONS}): (
        "Liquidations and sales of companies brought {name} {amount}, most by {of}.",
        "Liquidations and sales of companies cost {name} {amount}, most by {of}.",
    ),
    frozenset({Cause.BANKRUPTCY}): _BANKRUPT,
    frozenset({Cause.PURCHASES}): (
        "{name} paid {amount} less for shares than they were worth: {of}.",
        "{name} paid {amount} more for shares than they were worth: {of}.",
    ),
    frozenset({Cause.LOANS}): (
        "Loans, taken and repaid, raised the prices of {name}'s shares by {amount} in all, most of {of}.",
        "Loans lowered the prices of {name}'s shares by {amount} in all, most of {of}.",
    ),
    frozenset({Cause.UNSOLD}): ("", "Shares left in the pool cost {name} {amount} in price, most in {of}."),
}
"""What is told of a gain and of a loss by these causes; empty for what is never a gain."""
_OF_PRIVATES = {
    Cause.INCOME: "of income",
    Cause.PRIVATES: "by buying and selling them",
    Cause.GRANTS: "by shares that came with them",
    Cause.CLOSINGS: "by their closing",
}
_LOSSES = {
    Cause.FORCED, Cause.INTEREST, Cause.SALES, Cause.UNSOLD, Cause.LIQUIDATION, Cause.BANKRUPTCY,
}  # fmt: skip
_SOURCES = {cause: "privates" if cause in _OF_PRIVATES else cause.value for cause in Cause}
_LOSS_SOURCES = {cause.value for cause in _LOSSES}


def _private_parts(parts: Counter[Cause], sign: int) -> str:
    """`: $160 of income and $90 by shares that came with them, less $10 by their closing`; one part is not
    told. sign: 1 for a gain, -1 for a loss."""
    told: dict[bool, list[str]] = {True: [], False: []}
    for cause, words in _OF_PRIVATES.items():
        if dollars_of_part := sign * parts[cause]:
            told[dollars_of_part > 0].append(f"{dollars(abs(dollars_of_part))} {words}")
    if len(told[True]) + len(told[False]) == 1:
        return ""
    less = f", less {join_words(told[False])}" if told[False] else ""
    return f": {join_words(told[True])}{less}"


def _comparison(parts: Sequence[tuple[str, int]]) -> str:
    """`made $767 more with the B&O and lost $518 less by forced purchases`."""
    told = []
    for source, amount in parts:
        if source in _LOSS_SOURCES:
            told.append(f"lost {dollars(amount)} less by {source}")
        else:
            told.append(
                f"made {dollars(amount)} more {'with' if source.startswith('the ') else 'by'} {source}"
            )
    if len(told) == 2:
        first, second = (each.partition(" ")[0] for each in told)
        if first == second:
            told[1] = told[1].partition(" ")[2]
    return join_words(told)


def _from_company(company: str, amount: int, paid: int, after_train: str) -> str:
    """`$794 from the B&O ($576 of it dividends)`. after_train: when most of the dividends came."""
    if amount == paid:
        told = f" ({after_train.removeprefix(', ')})" if after_train else ""
        return f"{dollars(amount)} in dividends of the {company}{told}"
    parts = f"{dollars(paid)} of it dividends{after_train}"
    if paid > amount:
        parts = f"{dollars(paid)} in dividends{after_train}, less {dollars(paid - amount)} in price"
    return f"{dollars(amount)} from the {company} ({parts})"


def _in_full(sentence: str, others: Sequence[str]) -> str:
    """A sentence, or the other one that says the same and how: `Dan lost $130 by privates: …`."""
    start = sentence.removesuffix(".")
    return next((each for each in others if each.startswith((sentence, f"{start}:", f"{start},"))), sentence)


def _gained(amount: int) -> str:
    return f"gained {dollars(amount)}" if amount >= 0 else f"lost {dollars(-amount)}"


def _subjects(entries: Sequence[Entry], amount: int) -> str:
    """`the PRR and the NYC`: the two subjects with most of an amount."""
    by_subject: Counter[str] = Counter()
    for entry in entries:
        if entry.subject:
            by_subject[entry.subject] += entry.dollars if amount > 0 else -entry.dollars
    return join_words([f"the {subject}" for subject, part in by_subject.most_common(2) if part > 0])


def bankruptcy_sentence(name: str, amount: int) -> str:
    """What a bankruptcy itself changed: shares and cash lost, debts that nobody pays."""
    gain, loss = _BANKRUPT
    return (gain if amount > 0 else loss).format(name=name, amount=dollars(abs(amount)))
