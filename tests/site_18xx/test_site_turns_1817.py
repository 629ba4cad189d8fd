"""Operating turns of exported games of 1817, by a model that knows the printed numbers only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.simulation.simulate import simulate_game
from engine.core.actions import Action
from engine.core.events import RoundStarted
from engine.game_text import GameHistory, replay
from engine.site_18xx.export import SiteExporter
from engine.site_18xx.site_game import SiteGame
from engine.site_18xx.snapshot import position_snapshot
from tests.site_18xx.recorded_games import recorded_files
from tests.site_18xx.site_turns_1817 import Snapshot, turn_faults
from tests.site_18xx.test_export import history_of, played
from tests.site_18xx.test_round_trips import options_on_site, tables

STORED = Path(__file__).parents[1] / "games" / "1817-4p-5700-18xx.games-five_shorts.18xx"
RECORDED = [path for path in recorded_files() if path.parent.name == "1817"]


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
            position["size"] = state.companies[self.names.our_company(company)].size


def faults_in(history: GameHistory, damage: Sequence[Any] = ()) -> list[str | None]:
    """The faults in the turns of the exported game, or in a copy with damaged actions."""
    exporter = SiteExporter(history.start)
    exporter.site.__class__ = SnapshotsGame
    recorded = exporter.site
    assert isinstance(recorded, SnapshotsGame)
    recorded.rounds, recorded.snapshots = [], {}
    for line in history.lines:
        exporter.add_line(line)
    file = json.loads(json.dumps(exporter.build_file()))
    for change in damage:
        change(file["actions"])
    return list(turn_faults(file, recorded.rounds, recorded.snapshots))


def _withheld(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a.get("kind") == "payout")["kind"] = "withhold"


def _dearer_train(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a["type"] == "buy_train")["price"] += 100


def _loan_not_repaid(actions: list[dict[str, Any]]) -> None:
    next(a for a in actions if a["type"] == "payoff_loan")["type"] = "pass"


def test_operating_turns_of_an_exported_game_are_those_of_the_model() -> None:
    """Treasury, loans, price and the cash of all players after each turn. Damaged turns are found."""
    history = replay(STORED.read_text()).history
    assert history
    faults = faults_in(history)
    assert len(faults) > 20 and not any(faults)
    damaged = faults_in(history, (_withheld, _dearer_train, _loan_not_repaid))
    assert sum(fault is not None for fault in damaged) == 3


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_operating_turns_of_many_exported_games_are_those_of_the_model() -> None:
    for seed, players, options in tables("1817", "18xx.games", 100):
        history = simulate_game("1817", players, seed, options_on_site("1817", options)).history
        assert not any(faults_in(history)), seed


@pytest.mark.skipif(not RECORDED, reason="the recorded games are not beside this checkout")
@pytest.mark.parametrize("path", RECORDED[::8], ids=lambda path: path.name)
def test_operating_turns_of_recorded_games_are_those_of_the_model(path: Path) -> None:
    assert not any(faults_in(history_of(played(path))))
