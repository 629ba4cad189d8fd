"""`railpost import`: one line for each file, whatever is wrong with it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

import engine
from bot import config
from bot.cli import import_games
from bot.cli.import_games import import_file
from bot.service import Service
from storage import open_store
from tests.site_18xx.recorded_games import recorded_files, replay_file, states

app = Typer()
app.command()(import_games.command)


def run(*arguments: object) -> tuple[int, list[str]]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output.splitlines()


def minimal(*actions: dict[str, Any], seats: int = 3, **more: Any) -> bytes:
    """A small game as a file of 18xx.games."""
    people = [{"id": i, "name": f"P {i}"} for i in range(1, seats + 1)]
    numbered = [{"id": i, "entity_type": "player"} | a for i, a in enumerate(actions, 1)]
    return json.dumps({"title": "1830", "players": people, "actions": numbered} | more).encode()


BUY = {"type": "bid", "entity": 1, "company": "SV", "price": 20}

BROKEN = {
    "empty": b"",
    "no JSON": b"\x00\x01 not a game",
    "truncated": minimal(BUY)[:-20],
    "no object": b"[1, 2, 3]",
    "deep": b"[" * 100_000,
    "half a gzip": gzip.compress(minimal(BUY) * 50)[:60],
    "another title": minimal(BUY, title="1899"),
    "a path for a title": minimal(BUY, title="../1830"),
    "too many players": minimal(BUY, seats=9),
    "one id twice": minimal(BUY, players=[{"id": 1, "name": "A"}, {"id": 1, "name": "B"}]),
    "an unknown rule": minimal(BUY, settings={"optional_rules": ["moon"]}),
    "nobody's action": minimal({"type": "pass", "entity": 77}),
    "unknown action": minimal({"type": "explode", "entity": 1}),
    "illegal": minimal(BUY, {"type": "bid", "entity": 2, "company": "SV", "price": 20}),
    "a negative price": minimal({"type": "bid", "entity": 1, "company": "SV", "price": -5}),
    "text for a number": minimal({"type": "bid", "entity": 1, "company": "SV", "price": "20"}),
    "no private": minimal({"type": "bid", "entity": 1, "company": "ZZ", "price": 20}),
    "too poor": minimal({"type": "bid", "entity": 1, "company": "SV", "price": 20_000}),
}


def test_the_result_names_players_and_json_has_the_ids_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(minimal(BUY, result={"1": 600, "2": 600, "3": 600}))
    assert run(file)[1] == [f"{file}: 1830, 1 move, not finished: P 1 $800, P 2 $800, P 3 $800"]
    report = json.loads(run("--json", file)[1][0])
    assert report["scores"].keys() == {"1", "2", "3"} and "standings" not in report


def test_states_of_a_text_are_refused(tmp_path: Path) -> None:
    text, states = tmp_path / "game.18xx", tmp_path / "states"
    text.write_text("title 1830\nplayers Ann, Bob\n---\nAnn: buy SV\n")
    code, lines = run(text, "--states", states)
    assert (code, lines) == (1, [f"{text}: --states is for files of 18xx.games, and this is a game text."])


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_one_line(what: str, tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(BROKEN[what])
    code, lines = run(file)
    assert code == 1
    assert len(lines) == 1 and lines[0].startswith(f"{file}: ") and "Traceback" not in lines[0]
    code, lines = run("--json", file)
    report = json.loads(lines[0])
    assert code == 1 and report["ok"] is False and report["error"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    code, lines = run(tmp_path / "none.json")
    assert code == 1 and "No such file" in lines[0]


def test_the_error_for_an_illegal_action_has_its_line_and_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(BROKEN["illegal"])
    _, lines = run(file)
    assert "Action 2" in lines[0] and "bid SV 20" in lines[0] and "sold" in lines[0]


def test_json_has_exactly_the_documented_keys(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(minimal(BUY, {"type": "pass", "entity": 2}))
    code, lines = run("--json", file)
    report = json.loads(lines[0])
    assert code == 0
    assert set(report) == {"file", "title", "actions", "finished", "scores", "ok", "error", "warnings"}
    assert report["actions"] == 2 and report["ok"] and not report["finished"]
    assert report["scores"] == {"1": 800, "2": 800, "3": 800}


def test_each_of_several_files_has_a_line_and_a_bad_one_sets_the_exit_code(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json.gz", tmp_path / "bad.json"
    good.write_bytes(gzip.compress(minimal(BUY)))
    bad.write_bytes(b"{}")
    code, lines = run(good, bad)
    assert code == 1 and len(lines) == 2


def test_undo_redo_and_chat_are_resolved(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(
        minimal(
            BUY,
            {"type": "message", "entity": 2, "message": "hello"},
            {"type": "bid", "entity": 2, "company": "CA", "price": 165},
            {"type": "undo", "entity": 3},
            {"type": "redo", "entity": 3},
            {"type": "undo", "entity": 3, "action_id": 0},
            {"type": "pass", "entity": 1},
        )
    )
    report, game = import_file(file)
    assert report.ok and game is not None
    assert [each.line for each in game.lines] == ["pass"]


def test_a_different_recorded_revenue_is_paid_with_a_warning() -> None:
    source = next((p for p in recorded_files() if p.name == "played-bank.json.gz"), None)
    if source is None:
        pytest.skip("the recorded games are not beside this checkout")
    raw = json.loads(gzip.decompress(source.read_bytes()))
    first = next(a for a in raw["actions"] if a["type"] == "run_routes")
    raw["actions"] = raw["actions"][: raw["actions"].index(first) + 2]
    first["routes"][0]["revenue"] += 50
    game = replay_file(raw)
    assert len(game.warnings) == 1 and f"Action {first['id']}" in game.warnings[0]
    claimed = next(s for s in game.lines if "claiming" in s.line)
    assert claimed.line.endswith(str(sum(r["revenue"] for r in first["routes"])))


def test_states_are_written_as_the_recorded_ones(tmp_path: Path) -> None:
    source = next(iter(recorded_files()), None)
    if source is None:
        pytest.skip("the recorded games are not beside this checkout")
    out = tmp_path / "states.jsonl"
    code, _ = run(source, "--states", out)
    assert code == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == states(source)


async def test_a_saved_game_becomes_a_table_that_can_be_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "game.json"
    file.write_bytes(minimal(BUY))
    monkeypatch.chdir(tmp_path)
    game = import_file(file)[1]
    assert game is not None
    code = await import_games._save_as_table(game.history, "Friday")
    async with await open_store(config.load_settings().database_url) as store:
        service = Service(store)
        table = await service.queries.find_table(code)
        assert table.name == "Friday" and table.status == "running"
        view = await service.queries.view(table.id)
        assert view.state is not None and engine.decision(view.state).asked == ("p1",)
        assert "conventions 18xx.games" in view.state.options
        await service.submit(table.id, 1, ["buy CS"], None, "one")
        assert (await service.queries.view(table.id)).seq == view.seq + 1
