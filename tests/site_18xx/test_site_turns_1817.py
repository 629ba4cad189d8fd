"""Rounds of exported games of 1817, by models that know the printed numbers and the rules only."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine.core.actions import Action
from engine.core.events import RoundStarted
from engine.core.state import Auction, State
from engine.game_text import GameHistory
from engine.site_18xx.export import SiteExporter
from engine.site_18xx.site_game import SiteGame
from engine.site_18xx.site_table import position_snapshot
from tests.game_text.histories import history_of
from tests.site_18xx.site_rounds_1817 import round_faults
from tests.site_18xx.site_turns_1817 import Snapshot, turn_faults
from tests.site_18xx.test_round_trips import options_on_site, tables
from tests.site_18xx.test_site_money import dearer_train, withheld

STORED = Path(__file__).parents[1] / "games" / "1817-4p-5700-18xx.games-five_shorts.18xx"


class SnapshotsGame(SiteGame):
    """A second game that notes its position after its actions, and how many were before each round."""

    rounds: list[tuple[int, str]]
    snapshots: dict[int, Snapshot]

    def play(self, seat: str, action: Action) -> None:
        super().play(seat, action)
        count, state = len(self.actions), self.game.state
        self.rounds += [(count, e.round) for e in self.game.events if isinstance(e, RoundStarted)]
        keys = [str(number) for number in range(1, len(state.seats) + 1)]
        snapshot = self.snapshots[count] = position_snapshot(self.game, self.names, keys, count)
        for company, position in snapshot["companies"].items():
            ours = state.companies[self.names.our_company(company)]
            placed = sum(
                owner == self.names.our_company(company) for at in state.tokens.values() for _, owner in at
            )
            position["size"], position["due"] = ours.size, ours.owed_tokens
            position["aside"] = _set_aside(state, self.names.our_company(company))
            position["markers"] = placed + ours.unplaced_tokens


def _set_aside(state: State, company: str) -> tuple[int, int]:
    """Dollars and loans of a company in liquidation that are on its charter no more."""
    for frame in state.stack:
        if isinstance(frame, Auction) and frame.item == company:
            return frame.set_aside_cash, frame.set_aside_loans
    return 0, 0


Exported = tuple[dict[str, Any], list[tuple[int, str]], dict[int, Snapshot]]


def with_snapshots(history: GameHistory) -> Exported:
    """The exported game, its rounds, and the position after so many actions."""
    exporter = SiteExporter(history.start)
    exporter.site.__class__ = SnapshotsGame
    recorded = exporter.site
    assert isinstance(recorded, SnapshotsGame)
    recorded.rounds, recorded.snapshots = [], {}
    for line in history.lines:
        exporter.add_line(line)
    return json.loads(json.dumps(exporter.build_file())), recorded.rounds, recorded.snapshots


def damaged(exported: Exported, *damage: Callable[[list[dict[str, Any]]], None]) -> Exported:
    """A copy in which actions are damaged."""
    file, rounds, snapshots = exported
    file = copy.deepcopy(file)
    for change in damage:
        change(file["actions"])
    return file, rounds, snapshots


@cache
def stored_game() -> Exported:
    return with_snapshots(history_of(STORED))


def faults_in(exported: Exported) -> list[str | None]:
    """The faults in the operating turns, and the other rounds of an exported game."""
    return [*turn_faults(*exported), *round_faults(*exported)]


def _loan_not_repaid(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a["type"] == "payoff_loan")["type"] = "pass"


def test_operating_turns_of_an_exported_game_are_those_of_the_model() -> None:
    """Treasury, loans, price and the cash of all players after each turn. Damaged turns are found."""
    faults = list(turn_faults(*stored_game()))
    assert len(faults) > 20 and not any(faults)
    broken = damaged(stored_game(), withheld, dearer_train, _loan_not_repaid)
    assert sum(fault is not None for fault in turn_faults(*broken)) == 3


def _changed(number: int, **fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    """The damage that the action of that number has other fields."""
    return lambda actions: actions[number - 1].update(fields)


@pytest.mark.parametrize(("kind", "least"), [("stock", 100), ("merger", 80)])
def test_rounds_of_an_exported_game_are_those_of_the_model(kind: str, least: int) -> None:
    """1817 §5: purchases, sales, shorts, loans, starts and the end of the round. §7: conversions, mergers,
    acquisitions, friendly sales and liquidations."""
    faults = list(round_faults(*stored_game(), kind))
    assert len(faults) > least and not any(faults)


DAMAGED_ROUNDS = {
    "stock": {
        "purchase": _changed(316, percent=20),
        "short": _changed(323, type="pass"),
        "private": _changed(322, type="pass"),
        "size": _changed(321, choice=2),
    },
    "merger": {
        "§7.1.1 conversion": _changed(98, type="pass"),
        "§7.1.4 purchase": _changed(189, type="pass"),
        "§7.2.2 acquisition": _changed(194, price=60),
        "§7.2.3 friendly sale": _changed(153, price=170),
        "buyer": _changed(159, entity=3),
    },
}


@pytest.mark.parametrize(
    ("kind", "what"), [(kind, what) for kind, damages in DAMAGED_ROUNDS.items() for what in damages]
)
def test_damage_to_a_round_is_found(kind: str, what: str) -> None:
    assert any(round_faults(*damaged(stored_game(), DAMAGED_ROUNDS[kind][what]), kind))


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_rounds_of_many_exported_games_are_those_of_the_model() -> None:
    for seed, players, options in tables("1817", "18xx.games", 100):
        history = simulate_game("1817", players, seed, options_on_site("1817", options)).history
        assert not any(faults_in(with_snapshots(history))), seed
