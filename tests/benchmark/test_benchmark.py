"""The commands `railpost simulate` and `railpost bench`."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bot.cli.import_games import import_file
from bot.tools import benchmark
from bot.tools.benchmark import bench
from bot.tools.benchmark.games import BenchmarkError, BenchmarkGame, load_game
from bot.tools.benchmark.rules import (
    RulesMetrics,
    densest_boards,
    measure_decisions,
    measure_dense_boards,
    measure_loading,
    play_through,
)
from bot.tools.benchmark.thinking import Thinking, measure_thinking
from bot.tools.benchmark.timing import Timings
from bot.tools.simulation import simulate
from engine import decode_state, title_names
from engine.game_text import read_script, replay

GAMES = sorted((Path(__file__).parents[1] / "games").glob("1870-*.18xx"))

app = typer.Typer()
app.command("simulate")(simulate.command)
app.command("bench")(benchmark.command)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.output


def test_simulate_plays_writes_and_counts(tmp_path: Path) -> None:
    words = (
        "--title",
        title_names()[0],
        "--players",
        "3",
        "--seed",
        "3",
        "--games",
        "2",
        "--out",
        str(tmp_path),
    )
    code, output = run("simulate", *words)
    assert code == 0
    assert "2 games" in output and "run best" in output
    written = sorted(tmp_path.iterdir())
    assert [path.name for path in written] == ["3p-3.18xx", "3p-4.18xx"]
    assert all(replay(path.read_text()).ok for path in written)


def test_simulate_cycles_player_counts_and_varies_the_rules(tmp_path: Path) -> None:
    rules = ("--title", "1817", "--players", "7-8", "--seed", "8", "--games", "3", "--vary")
    code, output = run("simulate", *rules, "--out", str(tmp_path))
    assert code == 0, output
    starts = {path.name: read_script(path.read_text()).start for path in tmp_path.iterdir()}
    assert sorted(name[:4] for name in starts) == ["7p-1", "7p-8", "8p-9"]
    for name, start in starts.items():
        seed = int(name.split("-")[1].removesuffix(".18xx"))
        assert start.options == simulate.random_options("1817", len(start.players), seed)
        assert len(start.players) == 7 or "more_players" in start.options


def test_simulate_to_the_site_plays_by_its_conventions(tmp_path: Path) -> None:
    """Games for the site are played by its conventions, with optional rules that it has."""
    seeds = range(1, 13)
    ours = [
        rules for seed in seeds if "historical_order" in (rules := simulate.random_options("1870", 4, seed))
    ]
    assert ours and not any(
        "historical_order" in simulate.random_options("1870", 4, seed, to_site=True) for seed in seeds
    )
    words = ("--title", "1830", "--seed", "2", "--games", "2", "--vary", "--to", "18xx.games")
    code, output = run("simulate", *words, "--out", str(tmp_path))
    assert code == 0 and "phase 3" in output, output
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"] * 2
    chosen = []
    for path in sorted(tmp_path.iterdir()):
        file = json.loads(path.read_bytes())
        chosen += file["settings"]["optional_rules"]
        back, _ = import_file(path)
        assert file["status"] == "finished" and back.ok and back.finished
        assert not back.warnings and back.scores == file["result"]
    assert chosen


def test_simulate_names_seed_and_move_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "simulate_game", partial(simulate.simulate_game, max_moves=20))
    code, output = run("simulate", "--title", title_names()[0], "--seed", "8", "--games", "2")
    assert code == 1
    assert output.endswith(
        "seed 8, move 21: the game has not ended after 20 moves\n"
        "seed 9, move 21: the game has not ended after 20 moves\n"
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--title", "Monopoly"), "There is no title Monopoly"),
        (("--title", title_names()[0], "--players", "9"), "players"),
        (("--title", title_names()[0], "--players", "3-"), "players"),
        (("--title", title_names()[0], "--players", "some"), "should look like 4 or 3-6"),
        (("--title", "1817", "--players", "13", "--vary"), "allow 13 players"),
        (("--title", title_names()[0], "--conventions", "house"), "house"),
        (("--title", title_names()[0], "--option", "cheat"), "cheat"),
    ],
)
def test_simulate_rejects_bad_arguments_with_one_sentence(words: tuple[str, ...], error: str) -> None:
    code, output = run("simulate", *words)
    assert code == 1
    assert error in output and output.count("\n") == 1


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer samples, so that the tests are short."""
    monkeypatch.setattr(bench, "PICTURE_POSITIONS", 2)


@pytest.mark.usefixtures("short")
def test_bench_reports_every_metric_with_its_target(tmp_path: Path) -> None:
    cut = tmp_path / "cut.18xx"
    cut.write_text(_first_lines(GAMES[0], 250))
    code, output = run("bench", str(cut), "--simulated", "0")
    assert code == 0, output
    for figure in (
        "mean 0.1, p99 2",
        "all legal lays of a company",
        "all options of a decision",
        "best routes of a run, recorded games",
        "the densest boards",
        "proven",
        "a finished game from its events",
        "map, from cached tiles",
        "slowest move:",
        "cores",
    ):
        assert figure in output


def test_bench_names_the_file_that_it_cannot_play(tmp_path: Path) -> None:
    broken = tmp_path / "broken.18xx"
    broken.write_text(_first_lines(GAMES[0], 40) + "Ann: fly\n")
    code, output = run("bench", str(broken), "--simulated", "0")
    assert code == 1
    assert "broken.18xx: move" in output and "fly" in output
    assert run("bench", str(tmp_path / "none.json"))[0] == 1
    assert run("bench", "--games", str(tmp_path / "none"))[0] == 1
    assert run("bench", "--tables", "100", "--store", str(broken)) == (
        1, f"{broken} is not a writable folder; name one with --store.\n"
    )  # fmt: skip


def test_bench_measures_every_move_and_run() -> None:
    game = load_game(GAMES[0])
    all_lines = [line for _, line in game.lines]
    lines = game.lines[
        : 300 - next(i for i, line in enumerate(reversed(all_lines[:300])) if line[:4] == "run ")
    ]
    rules = RulesMetrics()
    played, states = play_through(BenchmarkGame("cut", game.start, lines), rules)
    measure_decisions(game, states, rules)
    (timings,) = rules.lines.values()
    assert len(timings.samples) == len(played.events) == len(lines)
    assert len(states) == len(lines) + 1 and states[-1] == played.final_state
    runs = sum(line.startswith("run ") for _, line in lines)
    assert len(rules.runs[False].samples) == runs > 0
    assert len(lines) >= len(rules.menus.samples) > runs
    assert decode_state(states[0]) == game.start


def test_bench_searches_the_densest_boards_with_the_longest_trains() -> None:
    game = load_game(GAMES[0])
    boards = [
        decode_state(raw)
        for raw in play_through(BenchmarkGame("cut", game.start, game.lines[:300]), RulesMetrics())[1]
    ]
    chosen = list(densest_boards((str(n), state) for n, state in enumerate(boards)))
    assert len(chosen) == 3
    assert max(len(state.tiles) for state in boards) == len(chosen[0][1].tiles)
    rules = RulesMetrics()
    measure_dense_boards(chosen[:1], rules)
    assert len(rules.dense.samples) == 2
    assert len(rules.dense_unproven) <= 2
    assert " with " in rules.dense.worst_case


def test_bench_loads_a_finished_game() -> None:
    game = load_game(GAMES[0])
    rules = RulesMetrics()
    played, states = play_through(BenchmarkGame("cut", game.start, game.lines[:60]), rules)
    measure_loading(played, rules)
    assert len(rules.loads.samples) == 1
    with pytest.raises(BenchmarkError, match="do not lead"):
        measure_loading(replace(played, final_state=states[0]), rules)


def test_bench_rejects_a_game_that_cannot_go_on() -> None:
    game = load_game(GAMES[0])
    with pytest.raises(BenchmarkError, match="move 1, 'pay'"):
        play_through(BenchmarkGame("odd", game.start, [("p0", "pay")]), RulesMetrics())


def test_timings_keep_the_worst_case() -> None:
    times = Timings()
    for at in range(200):
        times.add(float(at % 101), f"at {at}")
    assert (times.worst, times.worst_case, times.p99) == (100, "at 100", 99)
    assert times.mean == (sum(range(101)) + sum(range(99))) / 200


def _first_lines(path: Path, lines: int) -> str:
    return "\n".join(path.read_text(encoding="utf-8").splitlines()[:lines]) + "\n"


def test_thinking_is_measured_by_title_and_kind() -> None:
    game = simulate.simulate_game("1830", 3, 1, max_moves=60)
    _, states = play_through(BenchmarkGame("cut", game.start, game.lines), RulesMetrics())
    thinking = Thinking()
    measure_thinking(states, thinking)
    assert {title for title, _ in thinking} == {"1830"}
    assert {"copy", "options", "play", "value", "robot's decision"} < {kind for _, kind in thinking}
    assert len({len(times.samples) for times in thinking.values()}) == 1
