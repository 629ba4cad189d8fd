"""Set-up lines of phases, trains and privates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.core.components import PhaseDefinition
from engine.core.state import BANK, CLOSED, POOL, MergerRound, is_seat
from engine.game import Game
from engine.game_text.setup import Setup
from engine.game_text.word_reader import InvalidLineError


def set_phase(g: Game, setup: Setup) -> None:
    """Set the phase: the one that is named, or else the latest whose train is named."""
    phases, depot = g.components.phases, _train_counts(g)
    bought = {train for trains in setup.trains.values() for train in trains}
    if setup.depot and (train := setup.depot[0]):
        types = [t.name for t in g.components.trains]
        bought |= set(types[: types.index(train)])
        count, left = depot[train], setup.depot[1]
        if count is not None and left is not None and left < count:
            bought.add(train)
    earliest = max((i for i, p in enumerate(phases) if p.on in bought), default=0)
    if setup.phase is None:
        g.state.phase = phases[earliest].name
        return
    if [p.name for p in phases].index(setup.phase) < earliest:
        raise InvalidLineError(
            f"A {phases[earliest].on}-train was bought, so it is phase {phases[earliest].name}.", "phase"
        )
    g.state.phase = setup.phase


def is_train_bought(g: Game, train: str | None) -> bool:
    """Whether the first train of that type has been bought."""
    count = g.components.phases.index(g.phase) + 1
    return train is not None and any(p.on == train for p in g.components.phases[:count])


def _train_counts(g: Game) -> dict[str, int | None]:
    return {t.name: t.count for t in g.components.trains} | dict(g.title.train_counts)


def set_trains(g: Game, setup: Setup) -> None:
    """Give the named trains to their owners."""
    for owner, trains in setup.trains.items():
        for train in trains:
            if is_train_bought(g, g.train_definition(train).rusts_on):
                raise InvalidLineError(f"The {train}-trains are out of play in phase {g.state.phase}.", owner)
        if owner == POOL:
            g.state.pool_trains = trains
            continue
        if trains and not g.company(owner).has_operated:
            raise InvalidLineError(f"The {owner} has not operated yet, so it has no trains.", owner)
        if len(trains) > g.phase.train_limit:
            limit = g.phase.train_limit
            raise InvalidLineError(f"The {owner} has {len(trains)} trains; the limit is {limit}.", owner)
        g.company(owner).trains = trains


def set_depot(g: Game, setup: Setup) -> None:
    """Set the bank's trains: earlier types are gone, later types are complete.

    Where trains are exported, those of the first type leave with the first operating round (1817 §6.11).
    """
    owned = Counter(train for trains in setup.trains.values() for train in trains)
    totals, types = _train_counts(g), [t.name for t in g.components.trains]
    is_later = MergerRound in g.title.questions and not (
        setup.operating_turn and setup.operating_turn[1] == 1
    )
    phase_train = max(types.index(g.phase.on) if g.phase.on else 0, int(is_later))
    train, left = setup.depot or (types[phase_train], None)
    on_sale = len(types) if train is None else types.index(train)
    earliest = max(i for i in range(phase_train + 1) if g.components.trains[i].available_on is None)
    if on_sale < earliest:
        raise InvalidLineError(f"In phase {g.state.phase} every {train}-train is gone.", BANK)
    for i, name in enumerate(types):
        count = totals[name]
        rest = None if count is None else count - owned[name]
        if rest is not None and rest < 0:
            raise InvalidLineError(
                f"{owned[name]} {name}-trains are owned; there are {count}.", _last_owner(setup, name)
            )
        g.state.depot[name] = 0 if i < on_sale else rest
        if i == on_sale and left is not None:
            if rest is None:
                raise InvalidLineError(
                    f"The {name}-trains are unlimited, so no number of them is left.", BANK
                )
            if left > rest:
                raise InvalidLineError(
                    f"{left} {name}-trains are left and {owned[name]} are owned; there are {count}.", BANK
                )
            g.state.depot[name] = left


def _last_owner(setup: Setup, train: str) -> str:
    return next(owner for owner in reversed(setup.trains) if train in setup.trains[owner])


def set_privates(g: Game, setup: Setup) -> None:
    """Give the named privates to their owners; the others are closed."""
    in_play = {p for p, owner in g.state.private_owners.items() if owner != CLOSED}
    g.state.private_owners = dict.fromkeys(g.state.private_owners, CLOSED) | setup.privates
    for private, owner in g.owned_privates():
        definition = g.private_definition(private)
        if private not in in_play:
            raise InvalidLineError(
                f"The {private} is not in play with {len(g.state.players)} players.", private
            )
        if any(p.closes_privates for p in phases_so_far(g)):
            raise InvalidLineError(f"In phase {g.state.phase} every private is closed.", private)
        closing_company = definition.closes_with_first_train_of
        if closing_company and g.company(closing_company).trains:
            raise InvalidLineError(
                f"The {private} closed with the first train of the {closing_company}.", private
            )
        if is_seat(owner) or g.components.company_sizes:
            continue
        if not definition.sellable_to_company:
            raise InvalidLineError(f"The {private} may not be sold to a company.", private)
        is_early_buyer = definition.early_sale is not None and owner in definition.early_sale.buyers
        if not is_early_buyer and not any(p.companies_may_buy_privates for p in phases_so_far(g)):
            raise InvalidLineError(f"No company has bought a private by phase {g.state.phase}.", private)
        if not g.company(owner).has_operated:
            raise InvalidLineError(f"The {owner} has not operated yet, so it owns no private.", private)


def phases_so_far(g: Game) -> Sequence[PhaseDefinition]:
    return g.components.phases[: g.components.phases.index(g.phase) + 1]
