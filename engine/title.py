"""What a title is: printed facts, and the mechanics that are put together for it.

A title is a value. `questions` says for each kind of frame which mechanic asks it; `asides` are
acts beside the question (an exchange, an offer, its answer). Variants and conventions are
parameters of the mechanics; no mechanic asks which title it serves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar

from engine.board.network import Stop
from engine.board.route_graph import PLAIN_REVENUE, RevenueRules
from engine.board.tile_geometry import Fit
from engine.core.actions import Action, LayTile
from engine.core.components import (
    CompanyDefinition,
    Components,
    HexDefinition,
    MarketCell,
    PhaseDefinition,
    PrivateDefinition,
    TrainDefinition,
)
from engine.core.state import AnyFrame, PendingSale, State
from engine.finance import market
from engine.game import Game

SITE_CONVENTIONS = "conventions 18xx.games"
"""The option to play as on that site. Every title has it; in one that the site has not, nothing changes."""

F_contra = TypeVar("F_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be said now.

    `says` tells it in words. Where `amounts` is set, the action's dollars may be anything in
    that range (its start is in the action).
    """

    action: Action
    label: str
    amounts: range | None = None


class Question(Protocol[F_contra]):
    """How one kind of frame is asked, answered and settled."""

    def asked(self, g: Game, frame: F_contra) -> tuple[str, ...]:
        """The seats that may answer."""

    def prompt(self, g: Game, frame: F_contra) -> str:
        """What is asked, as a phrase that follows a name: `to lay track for the PRR`."""

    def options(self, g: Game, frame: F_contra, seat: str) -> Iterable[Option]:
        """Every answer that is not refused."""

    def refusal(self, g: Game, frame: F_contra, seat: str, action: Action) -> str | None:
        """Why that answer is not allowed, in the rulebook's words, or None."""

    def apply(self, g: Game, frame: F_contra, seat: str, action: Action) -> None:
        """Carry out an answer that was not refused."""

    def advance(self, g: Game, frame: F_contra) -> bool:
        """Go on by itself where nobody has anything to decide. False: it waits for an answer."""


class Flotation(Protocol):
    """What happens as a company floats.

    `keeps_rest`: what is left of the initial offering goes into its treasury; `homes`: its home
    token is placed at once, not in its first turn.
    """

    @property
    def rest_to_treasury(self) -> bool: ...

    @property
    def places_home(self) -> bool: ...

    def __call__(self, g: Game, company: str) -> None:
        """Carry it out."""


class OutOfTurn(Protocol):
    """Acts of the kinds `hears`, that do not answer the question that stands, by whoever may do them now."""

    handles: ClassVar[tuple[type[Action], ...]]

    def applies(self, g: Game, action: Action) -> bool:
        """Whether it is for this aside now."""
        return True

    def asked(self, g: Game) -> tuple[str, ...]:
        """The seats from which an answer is expected, if any."""
        return ()

    def options(self, g: Game, seat: str) -> Iterable[Option]:
        """What that seat may do beside the question."""

    def refusal(self, g: Game, seat: str, action: Action) -> str | None:
        """Why not, or None."""

    def apply(self, g: Game, seat: str, action: Action) -> None:
        """Carry it out."""


def never(g: Game) -> bool:
    """What comes before anything else goes on, where nothing does."""
    return False


def drop_price(g: Game, sale: PendingSale) -> None:
    """The price falls by a row for each share, at once (1830 §8.2.1)."""
    market.move_token(
        g, sale.company, market.down(g, market.token_space(g, sale.company), sale.count), "sold"
    )


@dataclass(frozen=True)
class Title:
    """The facts and mechanics of one title under one set of options.

    `opening` makes the first frame, given a number drawn by lot; `scores` the final standings by
    seat (given who is bankrupt). `flotation`: what a company gets once enough of it is sold.
    `terms`: what a company's routes earn beside their stops. `interrupt`: what comes before any
    question is asked; true where something did. `sale_objections` and `lay_objections`: why a
    company's shares may not be sold now, or its tile not be laid so, beyond what holds in every
    title. `depot`: train counts that differ from the facts. `sections`: mechanics cite the sections
    of one rulebook in their reasons; here another book says where it has the same rule, a section
    that it does not name being left out (None: that book is this title's own).
    `sold`: what follows a sale of shares at once; `landed`: what follows when a token has come to
    another space of the market. `places`: token places of cities beyond those of their faces.
    `excess_sold`: who holds more of a company than he may has to sell first. `private_treasuries`:
    only its president sees what a company has.
    """

    components: Components
    options: tuple[str, ...]
    opening: Callable[[Game, int], AnyFrame]
    questions: Mapping[type[AnyFrame], Question[Any]]
    out_of_turn: tuple[OutOfTurn, ...]
    scores: Callable[[Game, str | None], dict[str, int]]
    flotation: Flotation
    revenue_rules: Callable[[Game, str], RevenueRules] = lambda g, company: PLAIN_REVENUE
    interrupt: Callable[[Game], bool] = never
    sale_objections: tuple[Callable[[Game, str], str | None], ...] = ()
    lay_objections: tuple[Callable[[Game, str, LayTile, Fit], str | None], ...] = ()
    train_counts: Mapping[str, int | None] = field(default_factory=dict)
    sections: Mapping[str, str] | None = None
    after_sale: Callable[[Game, PendingSale], None] = drop_price
    after_price_move: tuple[Callable[[Game, str], None], ...] = ()
    extra_slots: Callable[[Components, State], Mapping[Stop, int]] | None = None
    must_sell_excess: bool = True
    private_treasuries: bool = False

    def cited(self, reason: str) -> str:
        """A reason with the sections that it cites as this title's rulebook has them."""
        sections = self.sections
        if sections is None:
            return reason

        def translated(found: re.Match[str]) -> str:
            names = dict.fromkeys(sections.get(s, "") for s in found[1].split(", "))
            known = ", ".join(name for name in names if name)
            return f" ({known})" if known else ""

        return re.sub(r" \(((?:(?:§|Table )[\d.]+(?:, )?)+)\)", translated, reason)

    @cached_property
    def _out_of_turn_by_action(self) -> dict[type[Action], list[OutOfTurn]]:
        found: dict[type[Action], list[OutOfTurn]] = {}
        for aside in self.out_of_turn:
            for kind in aside.handles:
                found.setdefault(kind, []).append(aside)
        return found

    def out_of_turn_for(self, g: Game, action: Action) -> OutOfTurn | None:
        """What hears the action beside the question that stands, if anything does."""
        for aside in self._out_of_turn_by_action.get(type(action), ()):
            if aside.applies(g, action):
                return aside
        return None

    @cached_property
    def out_of_turn_awaiting(self) -> tuple[OutOfTurn, ...]:
        """The asides that may expect an answer of somebody."""
        return tuple(aside for aside in self.out_of_turn if type(aside).asked is not OutOfTurn.asked)

    @cached_property
    def unusable_hexes(self) -> dict[str, frozenset[str]]:
        """By phase the hexes whose track no route uses yet."""
        order = [p.name for p in self.components.phases]
        opened = {
            hex: max(order.index(n.usable_from_phase) for n in here.nodes if n.usable_from_phase)
            for hex, here in self.components.map.hexes.items()
            if any(n.usable_from_phase for n in here.nodes)
        }
        return {p: frozenset(h for h, first in opened.items() if i < first) for i, p in enumerate(order)}

    @cached_property
    def trains_introduced(self) -> dict[str, frozenset[str]]:
        """By phase the types of train whose first purchase has begun it or an earlier one."""
        begun: dict[str, frozenset[str]] = {}
        types: frozenset[str] = frozenset()
        for phase in self.components.phases:
            types = types | {phase.on} if phase.on else types
            begun[phase.name] = types
        return begun

    @cached_property
    def companies(self) -> dict[str, CompanyDefinition]:
        return {c.sym: c for c in self.components.companies}

    @cached_property
    def privates(self) -> dict[str, PrivateDefinition]:
        return {p.sym: p for p in self.components.privates}

    @cached_property
    def trains(self) -> dict[str, TrainDefinition]:
        return {t.name: t for t in self.components.trains}

    @cached_property
    def phases(self) -> dict[str, PhaseDefinition]:
        return {p.name: p for p in self.components.phases}

    @cached_property
    def preprinted_kinds(self) -> dict[str, str]:
        """By hex what is printed there, as `preprinted_upgrades` names it: `town`, `city_OO`, `B16`..."""
        named = self.components.preprinted_upgrades
        return {
            h: h if h in named else _preprinted_kind(here) for h, here in self.components.map.hexes.items()
        }

    def cell(self, at: tuple[int, int]) -> MarketCell:
        """The market space at (row, column). Raises AssertionError where there is none."""
        cell = self.components.market.rows[at[0]][at[1]]
        assert cell is not None
        return cell

    def par_cell(self, price: int) -> tuple[int, int] | None:
        """Where a token with that par price starts."""
        for row, cells in enumerate(self.components.market.rows):
            for column, cell in enumerate(cells):
                if cell is not None and cell.price == price and "par" in cell.zones:
                    return row, column
        return None


def _preprinted_kind(here: HexDefinition) -> str:
    if towns := sum(node.kind == "town" for node in here.nodes):
        return "town" if towns == 1 else "two_towns"
    kind = "city" if here.nodes else "plain"
    return f"{kind}_{here.label}" if here.label else kind


def validated_options(known: Iterable[str], said: Iterable[str]) -> tuple[str, ...]:
    """The options that were said, in the title's own order and each once.

    Raises ValueError with a sentence for one that is not known.
    """
    wanted = set(said)
    if unknown := wanted.difference(known):
        raise ValueError(f"There is no option {sorted(unknown)[0]!r}; there is {', '.join(known)}.")
    return tuple(o for o in known if o in wanted)
