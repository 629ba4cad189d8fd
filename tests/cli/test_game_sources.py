"""Every command reads the same files, and says the same of what it cannot read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from bot.cli import export, import_games, render, replay, review, snapshot
from engine.game_text import GameHistory
from engine.site_18xx.export import export_game

GAME = Path(__file__).parents[1] / "games" / "1830-2p-27-18xx.games.18xx"
MODULES = {
    "export": export, "import": import_games, "render": render,
    "replay": replay, "review": review, "snapshot": snapshot,
}  # fmt: skip
ALL = pytest.mark.parametrize("name", MODULES)


def run(name: str, file: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setenv("RAILPOST_DATA", str(folder / "data"))
    monkeypatch.chdir(folder)
    app = Typer()
    app.command(name)(MODULES[name].command)
    more = {"render": ["--map", "map.png"], "snapshot": ["--only", "map"]}.get(name, [])
    result = CliRunner().invoke(app, [str(file), *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize(
    "name", sorted(MODULES.keys() - {"review"})
)  # it is long, and reads as `export` does
@pytest.mark.parametrize("suffix", [".json", ".18xx"])
def test_a_byte_order_mark_and_gzip_change_nothing(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = GAME.read_bytes()
    if suffix == ".json":
        history = export.history_of_file(GAME)
        raw = json.dumps(export_game(GameHistory(history.start, history.lines[:40]), "")).encode()
    file = tmp_path / f"game{suffix}"
    for content in (raw, gzip.compress(b"\xef\xbb\xbf" + raw)):
        file.write_bytes(content)
        result = run(name, file.name, tmp_path, monkeypatch)
        assert result.exit_code == 0, result.output


@ALL
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"hello", "This is neither a file of 18xx.games nor a game text."),
        (b"[]", "This is not a game file of 18xx.games: it is a list"),
        (b"title 1830\nplayers J\xfcrgen, Bob\n---\n", "line 2 is not UTF-8 text"),
        (b"{", "This is not a game file of 18xx.games: it breaks off in the middle."),
    ],
)
def test_what_is_no_game_is_told_in_the_same_words(
    name: str, content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "game.18xx").write_bytes(content)
    result = run(name, "game.18xx", tmp_path, monkeypatch)
    assert result.exit_code == 1 and f"game.18xx: {words}" in result.output


@pytest.mark.parametrize("name", ["export", "render", "snapshot"])
def test_what_is_neither_a_file_nor_a_table_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(name, "Nowhere.json", tmp_path, monkeypatch)
    assert result.exit_code == 1
    assert "There is no file Nowhere.json, and no table of that code or name can" in result.output
