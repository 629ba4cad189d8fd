"""What a title is: its printed components, and the mechanics that are put together for it.

A title is a value. `questions` says which mechanic asks for each kind of frame; `out_of_turn` are the
activities beside the question (an exchange, an offer and its answer). Variants and conventions are
parameters of the mechanics; no mechanic asks which title it serves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from engine.board.route_graph import PLAIN_REVENUE, RevenueRules
from engine.board.tile_geometry import Fit, Stop
from engine.core.actions import Action, LayTile
from engine.core.components import (
    CompanyDefinition,
    Components,
    MarketCell,
    MarketZone,
    PhaseDefinition,
    PrivateDefinition,
    TrainDefinition,
    faults_of,
    refuse_faults,
    tile_faces,
)
from engine.core.state import AnyFrame, PendingSale, State
from engine.mechanics import Flotation, OutOfTurn, Question, never

SITE_CONVENTIONS = "conventions 18xx.games"
"""The option to play by that site's conventions. Every title has it; where the site lacks a title it has no
effect."""


GameT = TypeVar("GameT")


def _plain_revenue(g: object, company: str) -> RevenueRules:
    return PLAIN_REVENUE


def _no_section(frame: AnyFrame) -> str:
    return ""


@dataclass(frozen=True)
class Title(Generic[GameT]):
    """The components and mechanics of one title under one set of options, generic in the game of its rules.

    * `components`: what is printed, as these options change it; `options` in the title's own order.
    * `opening`: makes the first frame, given a random seed for what the title deals out.
    * `questions`: by kind of frame the mechanic that asks it.
    * `out_of_turn`: activities beside the question on top.
    * `scores`: dollars by seat at the end, given the seat that is bankrupt.
    * `flotation`: what a company receives once enough of it is sold.
    * `after_sale`: what follows at once when a player has sold shares.
    * `revenue_rules`: what a company's routes earn besides the printed revenue of their stops.
    * `interrupt`: what comes before any question is asked; true where something did.
    * `sale_objections`, `lay_objections`: further reasons why a company's shares may not be sold, or its
      tile not be laid, beyond the rules of every title.
    * `train_counts`: numbers of trains that differ from the components, by type.
    * `sections`: this title's place for a rule that a shared mechanic cites from another book
      (`{"1830 §18": "1870 §6"}`); a citation that is missing here is left out.
    * `section_of`: where this title's book describes the question of a frame (`1870 §5.3`); a refusal that
      cites nothing else cites that.
    * `after_price_move`: what follows when a company's token has come to another space of the market.
    * `extra_slots`: token places of cities beyond the printed ones.
    * `must_sell_excess`: a player who holds more of a company than the limit has to sell the excess first.
    * `follows_granted_certificates`: which share came with a private matters (`engine.finance`).
    * `private_treasuries`: only its president sees what a company has.
    """

    components: Components
    options: tuple[str, ...]
    opening: Callable[[GameT, int], AnyFrame]
    questions: Mapping[type[AnyFrame], Question[GameT, Any]]
    out_of_turn: tuple[OutOfTurn[GameT, Any], ...]
    scores: Callable[[GameT, str | None], dict[str, int]]
    flotation: Flotation[GameT]
    after_sale: Callable[[GameT, PendingSale], None]
    revenue_rules: Callable[[GameT, str], RevenueRules] = _plain_revenue
    interrupt: Callable[[GameT], bool] = never
    sale_objections: tuple[Callable[[GameT, str], str | None], ...] = ()
    lay_objections: tuple[Callable[[GameT, str, LayTile, Fit], str | None], ...] = ()
    train_counts: Mapping[str, int | None] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    section_of: Callable[[AnyFrame], str] = _no_section
    after_price_move: tuple[Callable[[GameT, str], None], ...] = ()
    extra_slots: Callable[[Components, State], Mapping[Stop, int]] | None = None
    must_sell_excess: bool = True
    follows_granted_certificates: bool = False
    private_treasuries: bool = False

    def __post_init__(self) -> None:
        """Check the components as the options have changed them. Raises ValueError for any fault."""
        faults = faults_of(self.components, tile_faces())
        unknown = sorted(self.train_counts.keys() - self.trains.keys())
        faults += [f"`train_counts` names train {name}, which this title does not have." for name in unknown]
        refuse_faults(self.components.title, faults)

    def cite(self, *citations: str) -> str:
        """The citations in brackets, with a space before them: ` (1830 §10, Table 3)`; or nothing.

        Each names its book (`1830 §10`). A citation from another book is given by this title's own place
        for the same rule, and left out where it has none.
        """
        text = self._cited.get(citations)
        if text is None:
            text = self._cited[citations] = self._bracketed(citations)
        return text

    def cites(self, refusal: str, citation: str = "") -> bool:
        """Whether a refusal cites that section (`1830 §10`), or any."""
        book = self.components.title
        cited = re.findall(rf"\({book},? ([^)]+)\)", refusal)
        name = citation.removeprefix(f"{book} ")
        return any(not name or f", {name}, " in f", {names}, " for names in cited)

    def with_citation(self, refusal: str, frame: AnyFrame) -> str:
        """A refusal with the section of the frame's question, unless it cites a section itself."""
        if self.cites(refusal):
            return refusal
        return f"{refusal.removesuffix('.')}{self.cite(self.section_of(frame))}."

    def _bracketed(self, citations: tuple[str, ...]) -> str:
        own = f"{self.components.title} "
        places = (c if c.startswith(own) else self.sections.get(c, "") for c in citations)
        names = [place.removeprefix(own) for place in dict.fromkeys(places) if place]
        if not names:
            return ""
        numbered = names[0].startswith(("§", "Table"))
        return f" ({self.components.title}{'' if numbered else ','} {', '.join(names)})"

    @cached_property
    def _cited(self) -> dict[tuple[str, ...], str]:
        """The texts of `cite` by its arguments: refusals are judged by the thousand."""
        return {}

    @cached_property
    def _out_of_turn_by_action(self) -> dict[type[Action], list[OutOfTurn[GameT, Any]]]:
        by_action: dict[type[Action], list[OutOfTurn[GameT, Any]]] = {}
        for activity in self.out_of_turn:
            for kind in activity.handles:
                by_action.setdefault(kind, []).append(activity)
        return by_action

    def out_of_turn_for(self, g: GameT, action: Action) -> OutOfTurn[GameT, Any] | None:
        """The activity that carries the action out beside the question on top, if there is one."""
        for activity in self._out_of_turn_by_action.get(type(action), ()):
            if activity.applies(g, action):
                return activity
        return None

    @cached_property
    def out_of_turn_awaiting(self) -> tuple[OutOfTurn[GameT, Any], ...]:
        """The activities that may expect an answer from somebody."""
        return tuple(a for a in self.out_of_turn if type(a).asked is not OutOfTurn.asked)

    @cached_property
    def unusable_hexes(self) -> dict[str, frozenset[str]]:
        """By phase the hexes whose track no route may use yet."""
        order = [phase.name for phase in self.components.phases]
        first_phase = {
            hex: max(
                order.index(node.usable_from_phase) for node in definition.nodes if node.usable_from_phase
            )
            for hex, definition in self.components.map.hexes.items()
            if any(node.usable_from_phase for node in definition.nodes)
        }
        return {
            phase: frozenset(hex for hex, first in first_phase.items() if i < first)
            for i, phase in enumerate(order)
        }

    @cached_property
    def trains_introduced(self) -> dict[str, frozenset[str]]:
        """By phase the types of train whose first purchase began it or an earlier phase."""
        introduced: dict[str, frozenset[str]] = {}
        types: frozenset[str] = frozenset()
        for phase in self.components.phases:
            types = types | {phase.on} if phase.on else types
            introduced[phase.name] = types
        return introduced

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
        """By hex what is printed there, as `preprinted_upgrades` names it: `town`, `city_OO`, `B16` …"""
        named = self.components.preprinted_upgrades
        return {
            hex: hex if hex in named else definition.printed_kind
            for hex, definition in self.components.map.hexes.items()
        }

    def cell(self, at: tuple[int, int]) -> MarketCell:
        """The market cell at (row, column). Raises AssertionError where there is none."""
        cell = self.components.market.rows[at[0]][at[1]]
        assert cell is not None
        return cell

    def par_cell(self, price: int) -> tuple[int, int] | None:
        """The (row, column) at which a company with that par price starts."""
        for row, cells in enumerate(self.components.market.rows):
            for column, cell in enumerate(cells):
                if cell is not None and cell.price == price and MarketZone.PAR in cell.zones:
                    return row, column
        return None


def validated_options(available: Iterable[str], chosen: Iterable[str]) -> tuple[str, ...]:
    """The chosen options in the title's own order, each once.

    Raises ValueError with a sentence for one that is not available.
    """
    wanted = set(chosen)
    if unknown := wanted.difference(available):
        names = ", ".join(available)
        raise ValueError(f"There is no option {sorted(unknown)[0]!r}; the options are {names}.")
    return tuple(o for o in available if o in wanted)
