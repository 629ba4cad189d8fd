"""Trains: which are for sale, how a company takes one, the phases that a purchase starts, and discards of
trains above the limit, which go to the pool (1830 §21)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.actions import Action, BuyTrain, DiscardTrain
from engine.core.components import CityTokenAbility, train_label
from engine.core.events import (
    CityTokenRemoved,
    EndTriggered,
    PhaseStarted,
    PrivateMoved,
    TrainMoved,
    TrainsRusted,
    TrainsWithdrawn,
)
from engine.core.reasons import CashReason, TrainReason
from engine.core.state import BANK, CLOSED, POOL, Discard, MergerRound, OperatingRound, OperatingTurn
from engine.game import Game, cached
from engine.mechanics import Option, never

BANK_SOURCES = (BANK, POOL)


@cached
def trains_for_sale(g: Game) -> list[str]:
    """Types that the bank sells now: the next in order, and those that a type already sold made available
    (1830 §21)."""
    depot, introduced = g.state.depot, g.title.trains_introduced[g.state.phase]
    remaining = [t for t in g.components.trains if depot[t.name] != 0]
    return [t.name for t in remaining if t is remaining[0] or t.available_on in introduced]


@cached
def cheapest_train_price(g: Game) -> int | None:
    """Dollars of the cheapest train in the bank or the pool; None if there is none."""
    return min(
        (g.train_definition(t).price for t in (*trains_for_sale(g), *g.state.pool_trains)), default=None
    )


def is_obsolete(g: Game, train: str) -> bool:
    """Whether a type of train can no longer be bought or sold, and leaves after its next run (1817 §2)."""
    return g.train_definition(train).obsolete_on in g.title.trains_introduced[g.state.phase]


def face_price(g: Game, buy: BuyTrain) -> int:
    """The price printed on the train in dollars, less the discount for a train traded in (1830 §21)."""
    train = g.train_definition(buy.train)
    return train.price - (train.discounts.get(buy.traded_in, 0) if buy.traded_in else 0)


def buy_train(g: Game, company: str, buy: BuyTrain) -> bool:
    """Pay for a train and take it (1830 §21), and start the phase that it brings (1830 §22).

    Returns whether a phase has started; then the caller has to ask for discards.
    """
    price = face_price(g, buy) if buy.price is None else buy.price
    president = g.president(company)
    if price > g.cash(company):
        g.pay(president, company, price - g.cash(company), CashReason.TRAIN_CONTRIBUTION)
    seller = BANK if buy.source in BANK_SOURCES else buy.source
    if buy.traded_in:
        g.emit(TrainMoved(buy.traded_in, company, POOL, TrainReason.TRADED_IN))
    g.pay(company, seller, price, CashReason.TRAIN, buy.train)
    g.emit(TrainMoved(buy.train, buy.source, company, TrainReason.BOUGHT))
    close_privates_on_purchase(g, company)
    return buy.source == BANK and start_phase(g, buy.train)


def close_privates_on_purchase(g: Game, company: str) -> None:
    """Close the privates that close when this company buys its first train (1830 §23.2)."""
    for private in g.components.privates:
        if private.closes_with_first_train_of == company and g.state.private_owners[private.sym] != CLOSED:
            g.emit(PrivateMoved(private.sym, CLOSED))


def start_phase(g: Game, train: str) -> bool:
    """Start the phase of the first train of a type, without its discards (1830 §22).

    Returns False, and changes nothing, if the type starts no phase or the phase has started before.
    """
    phases = g.components.phases
    at = next((i for i, p in enumerate(phases) if p.on == train), None)
    if at is None or at <= phases.index(g.phase):
        return False
    g.emit(PhaseStarted(phases[at].name))
    for facts in g.components.trains:
        if facts.rusts_on == train:
            g.emit(TrainsRusted(facts.name))
        elif facts.obsolete_on == train:
            g.emit(TrainsWithdrawn(facts.name))
            for _ in range(g.state.pool_trains.count(facts.name)):
                g.emit(TrainMoved(facts.name, POOL, CLOSED, TrainReason.OBSOLETE))
    base = g.state.stack[0]
    if phases[at].triggers_game_end and isinstance(base, OperatingRound | MergerRound):
        g.emit(EndTriggered(base.stock_round, base.number))
    for definition in g.components.privates:
        ability = definition.ability
        removed = isinstance(ability, CityTokenAbility) and ability.removed_on == train
        if removed and definition.sym in g.state.city_tokens:
            g.emit(CityTokenRemoved(definition.sym))
    if phases[at].closes_privates:
        for private, owner in g.state.private_owners.items():
            if owner != CLOSED:
                g.emit(PrivateMoved(private, CLOSED))
    return True


def ask_for_discards(g: Game, *, by_price: bool) -> None:
    """Ask every company above the train limit which trains it discards (1830 §21).

    `by_price`: in operating order. Otherwise in the printed order of the companies, since 1830 §21 does not
    say which of several discards first.
    """
    for company in reversed(g.operating_order() if by_price else list(g.state.companies)):
        for _ in range(len(g.company(company).trains) - g.phase.train_limit):
            g.push(Discard(company))


def scrap_obsolete_trains(g: Game, turn: OperatingTurn) -> None:
    """Remove the company's obsolete trains, which have run for the last time (1817 §2, §6.5)."""
    for train in list(g.company(turn.company).trains):
        if is_obsolete(g, train):
            g.emit(TrainMoved(train, turn.company, CLOSED, TrainReason.OBSOLETE))


def export_train(g: Game) -> None:
    """Export the next train: it leaves the game, which may start a phase (1817 §6.11).

    After the first operating round all trains of the first type leave.
    """
    train = next((t.name for t in g.components.trains if g.state.depot[t.name] != 0), None)
    if train is None:
        return
    base = g.state.stack[0]
    is_first = isinstance(base, OperatingRound | MergerRound) and (base.stock_round, base.number) == (1, 1)
    g.emit(TrainMoved(train, BANK, CLOSED, TrainReason.EXPORTED))
    if start_phase(g, train):
        ask_for_discards(g, by_price=False)
    if is_first and train == g.components.trains[0].name and g.state.depot[train] != 0:
        g.emit(TrainsWithdrawn(train))


@dataclass(frozen=True)
class DiscardQuestion:
    """Asks the president of a company with too many trains which one to discard.

    `bank_discards`: of a company without a president the bank takes the oldest train (1817 §7.4); on
    18xx.games the player with the priority chooses. `scraps_obsolete`: a discarded obsolete train leaves the
    game; the 1817 book does not say where it goes. `next_interruption`: what is looked for right after.
    """

    bank_discards: bool = True
    scraps_obsolete: bool = False
    next_interruption: Callable[[Game], bool] = never

    def asked(self, g: Game, frame: Discard) -> tuple[str, ...]:
        return (g.company(frame.company).president or g.state.seats_from(g.state.priority)[0],)

    def prompt(self, g: Game, frame: Discard) -> str:
        return f"discard a train of the {frame.company}"

    def options(self, g: Game, frame: Discard, seat: str) -> Iterator[Option]:
        for train in sorted(set(g.company(frame.company).trains)):
            yield Option(
                DiscardTrain(train, frame.company), f"Discard {train_label(train)} of the {frame.company}"
            )

    def refusal(self, g: Game, frame: Discard, seat: str, action: Action) -> str | None:
        match action:
            case DiscardTrain(train, company) if company == frame.company:
                if train in g.company(company).trains:
                    return None
                return f"The {company} has no {train}-train."
        return (
            f"The {frame.company} is above the train limit and has to discard a train "
            f"first{g.cite('1830 §21')}."
        )

    def apply(self, g: Game, frame: Discard, seat: str, action: Action) -> None:
        assert isinstance(action, DiscardTrain)
        self._discard(g, frame, action.train)

    def _discard(self, g: Game, frame: Discard, train: str) -> None:
        g.pop()
        scrapped = self.scraps_obsolete and is_obsolete(g, train)
        g.emit(TrainMoved(train, frame.company, CLOSED if scrapped else POOL, TrainReason.DISCARDED))
        self.next_interruption(g)

    def advance(self, g: Game, frame: Discard) -> bool:
        if not self.bank_discards or g.company(frame.company).president is not None:
            return False
        self._discard(g, frame, next(t for t in g.title.trains if t in g.company(frame.company).trains))
        return True
