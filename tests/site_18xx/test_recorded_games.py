"""Recorded games of 18xx.games replay with equal positions, legal lays and best runs, and come out again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from engine import options, play
from engine.core.actions import Action, LayMine, LayTile, Pass, PlaceToken
from engine.core.components import CoalMineAbility
from engine.kernel import awaited_seats
from engine.operating.mines_and_bridges import private_tokens_left, refuse_fewer_exits
from engine.operating.run import best_run
from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteAction
from engine.site_18xx.replay import SiteReplay
from engine.stock.short_selling_turn import vacant_cities
from tests.review.test_money import assert_sums
from tests.site_18xx import site_procedure
from tests.site_18xx.recorded_games import (
    GAMES,
    assert_same_position,
    branch_files,
    json_lines,
    recorded_files,
    recorded_game,
    replay,
    replay_file,
    states,
)
from tests.site_18xx.test_export import recorded_actions, same_action
from tests.site_18xx.test_site_money import MODELS, money_faults, with_rounds
from tests.site_18xx.test_site_turns_1817 import faults_in, with_snapshots

KNOWN_WARNING = "connects as recorded."
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
    last = export_game(game.history)["actions"][-1]
    assert (last["type"], last["entity"]) == ("pass", game.player_keys.index("3739") + 1)


@cache
def _best_runs() -> dict[tuple[str, str], dict[int, Any]]:
    """By title and game, and by the run: what the company had, and the proven maximum."""
    path = GAMES / "optimum" / "best-runs.jsonl.gz"
    runs_by_game: dict[tuple[str, str], dict[int, Any]] = {}
    if path.exists():
        for record in json_lines(path):
            runs_by_game.setdefault((record["title"], record["game"]), {})[record["id"]] = record
    return runs_by_game


def _legal_lays(title: str, name: str) -> dict[int, Any]:
    """What the site accepted before actions of a game; nothing of most games."""
    path = GAMES / "legal" / f"{title}-{name}.jsonl.gz"
    return {record["before"]: record for record in json_lines(path)} if path.exists() else {}


class RecordedGame(SiteReplay):
    """A replay that compares the position before actions with what is recorded of it.

    Before each run: no recorded run earns more than the best one that is proven. best: runs of which the
    maximum is recorded. legal: which lays and tokens the site accepted before actions.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(recorded_game(path))
        title, name = path.parent.name, path.name.removesuffix(".json.gz")
        self.best, self.legal = _best_runs().get((title, name), {}), _legal_lays(title, name)
        self.checked, self.compared = set[int](), 0

    def _play_site_action(self, action: SiteAction) -> None:
        if action.id == self.action_id and action.type != "message":
            if action.type == "run_routes":
                self.pass_for_others(action)
                self._check_run(action)
            elif record := self.legal.get(action.id):
                is_home = record["step"].endswith("HomeToken")
                if not is_home and not action.type.startswith("program_"):
                    self.pass_for_others(action)
                self._check_lays(record)
            self.checked.add(action.id)
        super()._play_site_action(action)

    def _check_run(self, action: SiteAction) -> None:
        company = self.company(action.entity_key)
        best = best_run(self.game, company)
        assert best.proven
        assert best.revenue >= sum(route.get("revenue", 0) for route in action.routes or ())
        if record := self.best.get(action.id):
            assert sorted(self.game.company(company).trains) == sorted(record["trains"])
            assert best.revenue == record["best"]

    def _check_lays(self, record: Any) -> None:
        """The offered lays and tokens, and what each costs when played, are what the site accepts."""
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


def scores(game: SiteReplay) -> list[int]:
    over = game.state.game_over
    dollars = game.game.title.scores(game.game, over.bankrupt if over else None)
    return [dollars[seat] for seat in game.state.seats]


def is_exported(number: int, path: Path) -> bool:
    """Every fourth game, and the last of each title."""
    return number % 4 == 2 or path == [p for p in recorded_files() if p.parent == path.parent][-1]


def is_played_again(number: int, path: Path) -> bool:
    """Every second game, and those of which more than the positions is recorded."""
    title, name = path.parent.name, path.name.removesuffix(".json.gz")
    return (
        number % 2 == 0
        or is_exported(number, path)
        or (title, name) in _best_runs()
        or bool(_legal_lays(title, name))
    )


def recorded_games() -> Iterator[Any]:
    """Games, and whether they are exported again; what is left out of that is for the soak."""
    for number, path in enumerate(recorded_files()):
        if is_played_again(number, path):
            yield pytest.param(path, is_exported(number, path), id=game_id(path))
        if not is_exported(number, path):
            yield pytest.param(path, True, id=f"{game_id(path)}-exported", marks=pytest.mark.soak)


@pytest.mark.parametrize(("path", "exports"), list(recorded_games()))
def test_a_recorded_game(path: Path, exports: bool) -> None:
    """Positions after every action, runs, lays, the result, and the money that a review tells of."""
    game = RecordedGame(path)
    replayed_with_equal_states(game, path)
    assert game.checked
    assert len(game.checked & game.legal.keys()) >= 0.98 * len(game.legal)
    assert game.compared > 1500 or not game.legal
    assert game.checked >= game.best.keys()
    if result := game.file.result:
        assert dict(zip(game.player_keys, scores(game), strict=True)) == result
    assert [warning for warning in game.warnings if not warning.endswith(KNOWN_WARNING)] == []
    assert_sums(game.history)
    if exports:
        comes_out_as_it_went_in(path, game)


def comes_out_as_it_went_in(path: Path, game: SiteReplay) -> None:
    """Each action has the recorded fields, the models of the site find no fault, and the file is imported as
    the same game. The models know no game that is ended in the middle of a turn.

    Connections, which the site finds by itself, are automatic actions of the action that causes them.
    """
    file, faults = exported(game)
    assert game.file.actions[-1].type == "end_game" or not any(faults)
    expected, actions = list(recorded_actions(path, game)), file["actions"]
    assert all(action["type"] != "destination_connection" for action in actions)
    flat = [each for action in actions for each in (action, *action.get("auto_actions", ()))]
    for exported_action, recorded_action in zip(flat, expected, strict=True):
        same_action(exported_action, recorded_action)
        if path.name.startswith("played-"):
            assert exported_action.get("loan") == recorded_action.get("loan")
    imported = replay_file(file)
    assert [w.partition(": ")[2] for w in imported.warnings] == [
        w.partition(": ")[2] for w in game.warnings if w.endswith("as recorded.")
    ]
    assert_same_position(imported.state, game.state)
    assert imported.state.options == game.state.options
    result = game.file.result or {}
    assert sorted(file.get("result", {}).values()) == sorted(result.values() if game.state.game_over else ())


def exported(game: SiteReplay) -> tuple[dict[str, Any], Iterator[str | None]]:
    """The exported game, and what the models find wrong with it."""
    if game.file.title in MODELS:
        file, rounds = with_rounds(game.history)
        return file, chain(money_faults(file, rounds), site_procedure.faults(file))
    noted = with_snapshots(game.history)
    return noted[0], chain(faults_in(noted), site_procedure.faults(noted[0]))
