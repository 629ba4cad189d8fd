"""The recorded games of the site replay here with equal states, legal lays and best runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import options, play
from engine.core.actions import Action, LayMine, LayTile, PlaceToken
from engine.core.components import CoalMineAbility
from engine.operating.mines_and_bridges import private_tokens_left, refuse_fewer_exits
from engine.operating.run import best_run
from engine.site_18xx.game_file import SiteAction
from engine.site_18xx.replay import SiteReplay
from engine.stock.short_selling import vacant_cities
from tests.site_18xx.recorded_games import GAMES, json_lines, recorded_files, replay, states

KNOWN = "connects as recorded"
"""Of `played-34110`: its last run goes by five stops, and no train of the company is so long."""

pytestmark = pytest.mark.skipif(
    not recorded_files(), reason="the recorded games are not beside this checkout"
)


@pytest.mark.parametrize(
    "path", recorded_files(), ids=lambda p: f"{p.parent.name}-{p.name.removesuffix('.json.gz')}"
)
def test_states_are_equal_after_every_action(path: Path) -> None:
    game = replay(path)
    shown = {action.id: game.snapshot(action.id) for action in game.run()}
    for expected in states(path):
        assert shown[expected["id"]] == expected
    if result := game.file.result:
        scored = dict(zip(game.player_keys, _scores(game), strict=True))
        assert scored == result
    assert [warning for warning in game.warnings if not warning.endswith(KNOWN)] == []


def _scores(game: SiteReplay) -> list[int]:
    over = game.state.game_over
    found = game.game.title.scores(game.game, over.bankrupt if over else None)
    return [found[seat] for seat in game.state.seats]


class Watching(SiteReplay):
    """A replay that looks at the position just before each action of interest."""

    def __init__(self, path: Path, before: dict[int, Any]) -> None:
        super().__init__(replay(path).file)
        self.before = before
        self.seen: list[int] = []

    def _play_site_action(self, action: SiteAction) -> None:
        if action.id in self.before and action.id == self.action_id and action.type != "message":
            if self.answers(action):
                self.pass_for_others(action)
            self.look(self.before[action.id])
            self.seen.append(action.id)
        super()._play_site_action(action)

    def answers(self, action: SiteAction) -> bool:
        """Whether it answers a question, so that those before it are declined."""
        return True

    def look(self, record: Any) -> None:
        raise NotImplementedError


class LegalLays(Watching):
    """Compares what is offered, and what each costs as it is played, with what the site accepts."""

    compared = 0

    def answers(self, action: SiteAction) -> bool:
        home = self.before[action.id]["step"].endswith("HomeToken")
        return not home and not action.type.startswith("program_")

    def look(self, record: Any) -> None:
        company = self.names.our_company(record["corporation"])
        kind = record["step"].rpartition("Step::")[2]
        if kind == "Track":
            self._compare(record, self._lays(company), self._their_lays(record))
        elif kind == "Token":
            offered = [o.action for o in options(self.state, self.game.president(company))]
            mine = {(t.hex, t.node, self._cost(company, t)) for t in offered if isinstance(t, PlaceToken)}
            theirs = {(t["hex"], t["city"], t["cost"]) for t in record["tokens"] if t["ok"]}
            self._compare(record, mine, theirs)
        elif kind == "HomeToken" and self.game.components.ipo_bid:
            # Here the token stands already: where it was placed is said as the company is put up.
            placed = {(h, n) for h, here in self.state.tokens.items() for n, c in here if c == company}
            homes = {(t["hex"], t["city"]) for t in record["tokens"] if t["ok"]}
            self._compare(record, {*vacant_cities(self.game), *placed}, homes)

    def _compare(self, record: Any, mine: set[tuple[Any, ...]], theirs: set[tuple[Any, ...]]) -> None:
        assert mine == theirs, record["before"]
        self.compared += len(theirs)

    def _cost(self, company: str, action: Action) -> int:
        """Dollars that the company pays for it."""
        after = play(self.state, self.game.president(company), action).state
        return self.state.cash[company] - after.cash[company]

    def _lays(self, company: str) -> set[tuple[Any, ...]]:
        """Who lays (a private with a token to leave there, or the company), hex, tile, rotation, dollars.

        The site lists brown cities as 1817 §6.3.2 has them, though it takes others too.
        """
        found = set()
        for option in options(self.state, self.game.president(company)):
            match option.action:
                case LayTile(tile, hex, turn, using) as lay:
                    by = self.names.site_private(using) if using else self.names.site_company(company)
                    if self.game.components.company_sizes and refuse_fewer_exits(self.game, lay):
                        continue
                case LayMine(tile, hex, turn, using):
                    mines = [
                        p
                        for p, _ in private_tokens_left(self.game, company, CoalMineAbility)
                        if using in (None, p)
                    ]
                    by = self.names.site_private(mines[0])
                case _:
                    continue
            cost = self._cost(company, option.action)
            found.add((by, hex, self.names.site_tile(tile), turn, cost))
        return found

    def _their_lays(self, record: Any) -> set[tuple[Any, ...]]:
        return {
            (lay["by"], lay["hex"], lay["tile"], turn, cost)
            for lay in record["lays"]
            for turn, cost in lay["ok"]
        }


@pytest.mark.parametrize("path", sorted((GAMES / "legal").glob("*.jsonl.gz")), ids=lambda p: p.name)
def test_legal_lays_and_tokens_are_those_of_the_site(path: Path) -> None:
    title, _, name = path.name.removesuffix(".jsonl.gz").partition("-")
    before = {record["before"]: record for record in json_lines(path)}
    game = LegalLays(GAMES / "18xx.games" / title / f"{name}.json.gz", before)
    for _ in game.run():
        pass
    assert len(game.seen) > 0.98 * len(before)
    assert game.compared > 1500


class BestRuns(Watching):
    def look(self, record: Any) -> None:
        company = self.names.our_company(record["company"])
        found = best_run(self.game, company)
        assert sorted(self.game.company(company).trains) == sorted(record["trains"])
        assert (found.revenue, found.proven) == (record["best"], True)


def _best_runs() -> dict[tuple[str, str], dict[int, Any]]:
    path = GAMES / "optimum" / "best-runs.jsonl.gz"
    found: dict[tuple[str, str], dict[int, Any]] = {}
    if path.exists():
        for record in json_lines(path):
            found.setdefault((record["title"], record["game"]), {})[record["id"]] = record
    return {key: runs for key, runs in found.items() if key[0] in {p.parent.name for p in recorded_files()}}


@pytest.mark.parametrize("title, name", _best_runs())
def test_best_runs_are_those_that_were_proven(title: str, name: str) -> None:
    before = _best_runs()[title, name]
    game = BestRuns(GAMES / "18xx.games" / title / f"{name}.json.gz", before)
    for _ in game.run():
        pass
    assert sorted(game.seen) == sorted(before)


class EveryRun(Watching):
    def __init__(self, path: Path) -> None:
        runs = {a.id: a for a in replay(path).file.actions if a.type == "run_routes"}
        super().__init__(path, runs)

    def look(self, record: Any) -> None:
        found = best_run(self.game, self.company(record.actor))
        assert found.proven
        assert found.revenue >= sum(route.get("revenue", 0) for route in record.routes)


@pytest.mark.parametrize("path", recorded_files()[::4], ids=lambda p: p.name)
def test_every_run_of_a_recorded_game_is_within_the_best_and_proven(path: Path) -> None:
    game = EveryRun(path)
    for _ in game.run():
        pass
    assert game.seen
