"""Recorded games of 18xx.games replay with equal positions, legal lays and best runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import pytest

from engine import options, play
from engine.core.actions import Action, LayMine, LayTile, Pass, PlaceToken
from engine.core.components import CoalMineAbility
from engine.game_text import GameHistory, HistoryLine
from engine.kernel import awaited_seats
from engine.operating.mines_and_bridges import private_tokens_left, refuse_fewer_exits
from engine.operating.run import best_run
from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteAction
from engine.site_18xx.replay import SiteReplay
from engine.stock.short_selling_turn import vacant_cities
from tests.site_18xx.recorded_games import (
    GAMES,
    branch_files,
    json_lines,
    recorded_files,
    replay,
    states,
    with_soaked,
)

KNOWN_WARNING = "connects as recorded"
"""A warning of `played-34110`: its last run has five stops, and no train of the company is so long."""

WITHOUT_HOME = "comes without its home token, and is left out"
"""The warning of a file that was written between the opening bid and the placing of the home token."""

pytestmark = pytest.mark.skipif(
    not recorded_files(), reason="the recorded games are not beside this checkout"
)


def replayed_with_equal_states(game: SiteReplay, path: Path) -> int:
    """Replay the game with the position that the site showed after actions; the number of the first."""
    shown = {state["id"]: state for state in states(path)}
    first: int = next(iter(shown))
    for action in game.run():
        if expected := shown.pop(action.id, None):
            assert game.snapshot(action.id) == expected
    assert not shown
    return first


def game_id(path: Path) -> str:
    return f"{path.parent.name}-{path.name.removesuffix('.json.gz')}"


@pytest.mark.parametrize("path", with_soaked(recorded_files(), 2), ids=game_id)
def test_states_are_equal_after_every_action(path: Path) -> None:
    """And no run earns more than the best one that is proven."""
    game = EveryRun(path)
    replayed_with_equal_states(game, path)
    assert game.checked
    if result := game.file.result:
        scores = dict(zip(game.player_keys, _scores(game), strict=True))
        assert scores == result
    assert [warning for warning in game.warnings if not warning.endswith(KNOWN_WARNING)] == []


@pytest.mark.parametrize(
    "path", [path for path in branch_files() if "missing-pass" not in path.name], ids=game_id
)
def test_states_of_branches_are_equal_after_every_action(path: Path) -> None:
    """The states begin where the branch leaves its game. Runs after that are recorded without their track."""
    game = replay(path)
    first = replayed_with_equal_states(game, path)
    without_track = {a.id for a in game.file.actions if a.type == "run_routes" and a.id >= first}
    warnings = [warning for warning in game.warnings if WITHOUT_HOME not in warning]
    assert {int(warning.split(":")[0].removeprefix("Action ")) for warning in warnings} <= without_track
    assert len(game.warnings) - len(warnings) == path.name.endswith("-branch-home.json.gz")


@pytest.mark.parametrize(
    "path", [path for path in branch_files() if "missing-pass" in path.name], ids=game_id
)
def test_a_pass_is_exported_where_a_bid_has_no_free_city(path: Path) -> None:
    """1817: after a short sale the site still offers a bid, though no city is free for a home token."""
    game = replay(path)
    assert [*game.run()][-1].type == "short" and not game.warnings
    [seat] = awaited_seats(game.game)
    assert not list(vacant_cities(game.game)) and game.state.cash[seat] >= 100
    game.apply(seat, Pass())
    history = GameHistory(game.start, tuple(HistoryLine(s.seat, s.line, s.events) for s in game.lines))
    last = export_game(history)["actions"][-1]
    assert (last["type"], last["entity"]) == ("pass", game.player_keys.index("3739") + 1)


def _scores(game: SiteReplay) -> list[int]:
    over = game.state.game_over
    dollars = game.game.title.scores(game.game, over.bankrupt if over else None)
    return [dollars[seat] for seat in game.state.seats]


def recorded_path(title: str, name: str) -> Path:
    return GAMES / "18xx.games" / title / f"{name}.json.gz"


class CheckedReplay(SiteReplay):
    """A replay that compares the position before some actions with the record of each."""

    def __init__(self, path: Path, before: dict[int, Any]) -> None:
        super().__init__(replay(path).file)
        self.records = before
        self.checked: list[int] = []

    def run_through(self) -> Self:
        for _ in self.run():
            pass
        return self

    def _play_site_action(self, action: SiteAction) -> None:
        if action.id in self.records and action.id == self.action_id and action.type != "message":
            if self.is_turn_action(action):
                self.pass_for_others(action)
            self.check(self.records[action.id])
            self.checked.append(action.id)
        super()._play_site_action(action)

    def is_turn_action(self, action: SiteAction) -> bool:
        """Whether it belongs to a turn, so that others pass before it."""
        return True

    def check(self, record: Any) -> None:
        raise NotImplementedError


class LegalLays(CheckedReplay):
    """Compares the offered lays and tokens, and what each costs when played, with what the site accepts."""

    compared = 0

    def is_turn_action(self, action: SiteAction) -> bool:
        home = self.records[action.id]["step"].endswith("HomeToken")
        return not home and not action.type.startswith("program_")

    def check(self, record: Any) -> None:
        company = self.names.our_company(record["corporation"])
        kind = record["step"].rpartition("Step::")[2]
        if kind == "Track":
            self._compare(record, self._lays(company), self._site_lays(record))
        elif kind == "Token":
            offered = [o.action for o in options(self.state, self.game.president(company))]
            ours = {(t.hex, t.node, self._cost(company, t)) for t in offered if isinstance(t, PlaceToken)}
            site = {(t["hex"], t["city"], t["cost"]) for t in record["tokens"] if t["ok"]}
            self._compare(record, ours, site)
        elif kind == "HomeToken" and self.game.components.ipo_bid:
            # Here the token is on the map already: it is placed with the first bid.
            placed = {(h, n) for h, tokens in self.state.tokens.items() for n, c in tokens if c == company}
            homes = {(t["hex"], t["city"]) for t in record["tokens"] if t["ok"]}
            self._compare(record, {*vacant_cities(self.game), *placed}, homes)

    def _compare(self, record: Any, ours: set[tuple[Any, ...]], site: set[tuple[Any, ...]]) -> None:
        assert ours == site, record["before"]
        self.compared += len(site)

    def _cost(self, company: str, action: Action) -> int:
        """The dollars that the company pays for it."""
        after = play(self.state, self.game.president(company), action).state
        return self.state.cash[company] - after.cash[company]

    def _lays(self, company: str) -> set[tuple[Any, ...]]:
        """(entity: a private or the company, hex, tile, rotation, cost in dollars) of every offered lay.

        The site lists brown cities as 1817 §6.3.2 has them, though it accepts others too.
        """
        lays = set()
        for option in options(self.state, self.game.president(company)):
            match option.action:
                case LayTile(tile, hex, turn, using) as lay:
                    entity = self.names.site_private(using) if using else self.names.site_company(company)
                    if self.game.components.company_sizes and refuse_fewer_exits(self.game, lay):
                        continue
                case LayMine(tile, hex, turn, using):
                    mines = [
                        p
                        for p, _ in private_tokens_left(self.game, company, CoalMineAbility)
                        if using in (None, p)
                    ]
                    entity = self.names.site_private(mines[0])
                case _:
                    continue
            cost = self._cost(company, option.action)
            lays.add((entity, hex, self.names.site_tile(tile), turn, cost))
        return lays

    def _site_lays(self, record: Any) -> set[tuple[Any, ...]]:
        return {
            (lay["by"], lay["hex"], lay["tile"], turn, cost)
            for lay in record["lays"]
            for turn, cost in lay["ok"]
        }


@pytest.mark.parametrize("path", sorted((GAMES / "legal").glob("*.jsonl.gz")), ids=lambda p: p.name)
def test_legal_lays_and_tokens_equal_those_of_the_site(path: Path) -> None:
    title, _, name = path.name.removesuffix(".jsonl.gz").partition("-")
    before = {record["before"]: record for record in json_lines(path)}
    game = LegalLays(recorded_path(title, name), before).run_through()
    assert len(game.checked) > 0.98 * len(before)
    assert game.compared > 1500


class BestRuns(CheckedReplay):
    def check(self, record: Any) -> None:
        company = self.names.our_company(record["company"])
        best = best_run(self.game, company)
        assert sorted(self.game.company(company).trains) == sorted(record["trains"])
        assert (best.revenue, best.proven) == (record["best"], True)


def _best_runs() -> dict[tuple[str, str], dict[int, Any]]:
    path = GAMES / "optimum" / "best-runs.jsonl.gz"
    runs_by_game: dict[tuple[str, str], dict[int, Any]] = {}
    if path.exists():
        for record in json_lines(path):
            runs_by_game.setdefault((record["title"], record["game"]), {})[record["id"]] = record
    titles = {path.parent.name for path in recorded_files()}
    return {key: runs for key, runs in runs_by_game.items() if key[0] in titles}


@pytest.mark.parametrize("title, name", _best_runs())
def test_best_runs_earn_the_proven_maximum(title: str, name: str) -> None:
    before = _best_runs()[title, name]
    game = BestRuns(recorded_path(title, name), before).run_through()
    assert sorted(game.checked) == sorted(before)


class EveryRun(CheckedReplay):
    def __init__(self, path: Path) -> None:
        runs = {a.id: a for a in replay(path).file.actions if a.type == "run_routes"}
        super().__init__(path, runs)

    def check(self, record: Any) -> None:
        best = best_run(self.game, self.company(record.entity_key))
        assert best.proven
        assert best.revenue >= sum(route.get("revenue", 0) for route in record.routes)
