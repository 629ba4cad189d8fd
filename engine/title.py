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

from engine import market
from engine.actions import Action, Lay
from engine.board.chains import NO_TERMS, Terms
from engine.board.faces import Fit
from engine.board.network import Stop
from engine.facts import Cell, CompanyFacts, Facts, HexFacts, PhaseFacts, PrivateFacts, TrainFacts
from engine.game import Game
from engine.state import AnyFrame, Sale, State

SITE = "conventions 18xx.games"
"""The option to play as on that site. Every title has it; in one that the site has not, nothing changes."""

F_contra = TypeVar("F_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be said now.

    `says` tells it in words. Where `amounts` is set, the action's dollars may be anything in
    that range (its start is in the action).
    """

    action: Action
    says: str
    amounts: range | None = None


class Question(Protocol[F_contra]):
    """How one kind of frame is asked, answered and settled."""

    def asked(self, g: Game, frame: F_contra) -> tuple[str, ...]:
        """The seats that may answer."""

    def needs(self, g: Game, frame: F_contra) -> str:
        """What is asked, as a phrase that follows a name: `to lay track for the PRR`."""

    def options(self, g: Game, frame: F_contra, seat: str) -> Iterable[Option]:
        """Every answer that is not refused."""

    def refuse(self, g: Game, frame: F_contra, seat: str, action: Action) -> str | None:
        """Why that answer is not allowed, in the rulebook's words, or None."""

    def take(self, g: Game, frame: F_contra, seat: str, action: Action) -> None:
        """Carry out an answer that was not refused."""

    def settle(self, g: Game, frame: F_contra) -> bool:
        """Go on by itself where nobody has anything to decide. False: it waits for an answer."""


class Flotation(Protocol):
    """What happens as a company floats.

    `keeps_rest`: what is left of the initial offering goes into its treasury; `homes`: its home
    token is placed at once, not in its first turn.
    """

    @property
    def keeps_rest(self) -> bool: ...

    @property
    def homes(self) -> bool: ...

    def __call__(self, g: Game, company: str) -> None:
        """Carry it out."""


class Aside(Protocol):
    """Acts of the kinds `hears`, that do not answer the question that stands, by whoever may do them now."""

    hears: ClassVar[tuple[type[Action], ...]]

    def applies(self, g: Game, action: Action) -> bool:
        """Whether it is for this aside now."""
        return True

    def asked(self, g: Game) -> tuple[str, ...]:
        """The seats from which an answer is expected, if any."""
        return ()

    def options(self, g: Game, seat: str) -> Iterable[Option]:
        """What that seat may do beside the question."""

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        """Why not, or None."""

    def take(self, g: Game, seat: str, action: Action) -> None:
        """Carry it out."""


def nothing(g: Game) -> bool:
    """What comes before anything else goes on, where nothing does."""
    return False


def price_falls(g: Game, sale: Sale) -> None:
    """The price falls by a row for each share, at once (1830 §8.2.1)."""
    market.move(g, sale.company, market.down(g, market.place(g, sale.company), sale.count), "sold")


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

    facts: Facts
    options: tuple[str, ...]
    opening: Callable[[Game, int], AnyFrame]
    questions: Mapping[type[AnyFrame], Question[Any]]
    asides: tuple[Aside, ...]
    scores: Callable[[Game, str | None], dict[str, int]]
    flotation: Flotation
    terms: Callable[[Game, str], Terms] = lambda g, company: NO_TERMS
    interrupt: Callable[[Game], bool] = nothing
    sale_objections: tuple[Callable[[Game, str], str | None], ...] = ()
    lay_objections: tuple[Callable[[Game, str, Lay, Fit], str | None], ...] = ()
    depot: Mapping[str, int | None] = field(default_factory=dict)
    sections: Mapping[str, str] | None = None
    sold: Callable[[Game, Sale], None] = price_falls
    landed: tuple[Callable[[Game, str], None], ...] = ()
    places: Callable[[Facts, State], Mapping[Stop, int]] | None = None
    excess_sold: bool = True
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
    def _beside(self) -> dict[type[Action], list[Aside]]:
        found: dict[type[Action], list[Aside]] = {}
        for aside in self.asides:
            for kind in aside.hears:
                found.setdefault(kind, []).append(aside)
        return found

    def aside(self, g: Game, action: Action) -> Aside | None:
        """What hears the action beside the question that stands, if anything does."""
        for aside in self._beside.get(type(action), ()):
            if aside.applies(g, action):
                return aside
        return None

    @cached_property
    def asking(self) -> tuple[Aside, ...]:
        """The asides that may expect an answer of somebody."""
        return tuple(aside for aside in self.asides if type(aside).asked is not Aside.asked)

    @cached_property
    def shut(self) -> dict[str, frozenset[str]]:
        """By phase the hexes whose track no route uses yet."""
        order = [p.name for p in self.facts.phases]
        opened = {
            hex: max(order.index(n.usable_from_phase) for n in here.nodes if n.usable_from_phase)
            for hex, here in self.facts.map.hexes.items()
            if any(n.usable_from_phase for n in here.nodes)
        }
        return {p: frozenset(h for h, first in opened.items() if i < first) for i, p in enumerate(order)}

    @cached_property
    def started(self) -> dict[str, frozenset[str]]:
        """By phase the types of train whose first purchase has begun it or an earlier one."""
        begun: dict[str, frozenset[str]] = {}
        types: frozenset[str] = frozenset()
        for phase in self.facts.phases:
            types = types | {phase.on} if phase.on else types
            begun[phase.name] = types
        return begun

    @cached_property
    def companies(self) -> dict[str, CompanyFacts]:
        return {c.sym: c for c in self.facts.companies}

    @cached_property
    def privates(self) -> dict[str, PrivateFacts]:
        return {p.sym: p for p in self.facts.privates}

    @cached_property
    def trains(self) -> dict[str, TrainFacts]:
        return {t.name: t for t in self.facts.trains}

    @cached_property
    def phases(self) -> dict[str, PhaseFacts]:
        return {p.name: p for p in self.facts.phases}

    @cached_property
    def printed_kinds(self) -> dict[str, str]:
        """By hex what is printed there, as `preprinted_upgrades` names it: `town`, `city_OO`, `B16`..."""
        named = self.facts.preprinted_upgrades
        return {h: h if h in named else _printed_kind(here) for h, here in self.facts.map.hexes.items()}

    def cell(self, at: tuple[int, int]) -> Cell:
        """The market space at (row, column). Raises AssertionError where there is none."""
        cell = self.facts.market.rows[at[0]][at[1]]
        assert cell is not None
        return cell

    def par_cell(self, price: int) -> tuple[int, int] | None:
        """Where a token with that par price starts."""
        for row, cells in enumerate(self.facts.market.rows):
            for column, cell in enumerate(cells):
                if cell is not None and cell.price == price and "par" in cell.zones:
                    return row, column
        return None


def _printed_kind(here: HexFacts) -> str:
    if towns := sum(node.kind == "town" for node in here.nodes):
        return "town" if towns == 1 else "two_towns"
    kind = "city" if here.nodes else "plain"
    return f"{kind}_{here.label}" if here.label else kind


def chosen(known: Iterable[str], said: Iterable[str]) -> tuple[str, ...]:
    """The options that were said, in the title's own order and each once.

    Raises ValueError with a sentence for one that is not known.
    """
    wanted = set(said)
    if unknown := wanted.difference(known):
        raise ValueError(f"There is no option {sorted(unknown)[0]!r}; there is {', '.join(known)}.")
    return tuple(o for o in known if o in wanted)
