"""`railpost export` and `railpost simulate --to`."""

from __future__ import annotations

import errno
import json
import resource
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from bot.cli import export, import_games, render, review, snapshot
from bot.email import hosts
from bot.tools.simulation import simulate

GAMES = Path(__file__).parents[1] / "games"
GAME = GAMES / "1830-2p-1.18xx"
app = Typer()
app.command("export")(export.command)
app.command("simulate")(simulate.command)
app.command("import")(import_games.command)
app.command("render")(render.command)
app.command("review")(review.command)
app.command("host")(hosts.command)
app.command("snapshot")(snapshot.command)


def run(*words: object) -> Result:
    result = CliRunner().invoke(app, [str(w) for w in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_text_is_exported_imported_and_written_as_text_again(tmp_path: Path) -> None:
    source = GAMES / "1830-2p-27-18xx.games.18xx"
    assert run("export", source, "--to", "18xx.games", "--out", tmp_path).exit_code == 0
    file = tmp_path / "1830-2p-27-18xx.json"
    assert json.loads(file.read_bytes())["title"] == "1830"
    assert "finished" in run("import", file).output
    assert run("export", file, "--to", "text", "--out", tmp_path / "back.18xx").exit_code == 0
    first, second = (path.read_text().splitlines() for path in (source, tmp_path / "back.18xx"))
    names = dict(zip(("Ann", "Bob"), second[1].removeprefix("players ").split(", "), strict=True))
    scores = [line for line in first if line.startswith("= score")]
    for old, new in names.items():
        scores = [line.replace(f" {old} ", f" {new} ") for line in scores]
    assert scores and set(scores) <= set(second)


@pytest.fixture
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginning of a game, up to the first stock round."""
    path = tmp_path_factory.mktemp("source") / "game.18xx"
    path.write_text("".join(GAME.read_text().splitlines(keepends=True)[:25]))
    return path


def test_without_out_the_export_is_printed(begun: Path) -> None:
    result = run("export", begun, "--to", "csv")
    assert result.output.startswith("round,") and "stock round 1," in result.output


@pytest.mark.parametrize(
    "words, message",
    [
        (("tests/games/1830-2p-1.18xx", "--to", "rails"), "There is no format rails"),
        (
            ("Nowhere.json",),
            "There is no file Nowhere.json, and no table of that code or name can be looked up: There is",
        ),
        ((GAMES / "1830-4p-16.18xx", "--to", "18xx.games"), "has no counterpart on 18xx.games"),
        ((Path(__file__), "--to", "text"), "neither a file of 18xx.games nor a game text"),
    ],
)
def test_each_error_is_one_sentence(
    words: tuple[object, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    result = run("export", *words)
    assert result.exit_code == 1
    assert message in result.output and len(result.output.splitlines()) == 1
    assert not list(tmp_path.iterdir()), "who only looks makes no store"


@pytest.mark.parametrize(
    "words, name",
    [
        (("export", "{game}", "--out", "{}"), "game.18xx"),
        (("render", "{game}", "--market", "{}/market.png"), "market.png"),
        (("review", "{game}", "--out", "{}"), "game-review.html"),
        (("snapshot", "{game}", "--only", "market", "--out", "{}"), "market.png"),
        (("simulate", "--title", "1830", "--out", "{}"), "4p-1.18xx"),
    ],
)
def test_a_disk_that_is_full_leaves_the_former_file(
    words: tuple[str, ...], name: str, begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path / "data"))
    (file := tmp_path / name).write_text("former")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        result = run(*(word.format(tmp_path, game=begun) for word in words))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert result.exit_code == 1 and f"{file} cannot be used: File too large.\n" in result.output
    assert list(tmp_path.iterdir()) == [file] and file.read_text() == "former"


def test_a_file_that_is_mounted_alone_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(part: Path, target: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(target))

    monkeypatch.setattr(Path, "replace", busy)
    file = tmp_path / "mounted.csv"
    assert run("export", GAME, "--to", "csv", "--out", file).exit_code == 1 and not file.exists()
    file.write_text("former")
    assert run("export", GAME, "--to", "csv", "--out", file).exit_code == 0
    assert file.read_text().startswith("round,") and [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("name", ["", "  "])
def test_a_game_is_saved_by_a_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    refused = run("import", GAMES / "1830-2p-1.18xx", "--save", name)
    assert refused.exit_code == 2 and "needs a name: --save Friday." in refused.output
    assert not list(tmp_path.iterdir())


def test_a_table_of_the_store_is_named_by_its_code(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    saved = run("import", begun, "--save", "Friday").output
    assert "saved as table" in saved
    code = saved.split()[-1]
    for command in ("export", "review"):
        assert run(command, code).output == run(command, "Friday").output != ""
    unknown = run("export", "Nowhere.json")
    assert unknown.output == "There is no file Nowhere.json, and no table of that code or name.\n"


def test_who_forgets_to_say_add_reads_what_to_write() -> None:
    refused = run("host", "ann@example.org")
    assert refused.exit_code == 2
    assert "a host can only be added" in refused.output and "Value error" not in refused.output


def test_a_simulated_game_without_a_counterpart_is_a_failure(tmp_path: Path) -> None:
    words = ("--title", "1830", "--seed", 4, "--conventions", "rulebook", "--to", "18xx.games")
    result = run("simulate", *words, "--out", tmp_path)
    assert result.exit_code == 1 and "has no counterpart" in result.output
    assert not list(tmp_path.iterdir())


def test_as_far_as_possible_a_rulebook_game_is_written_up_to_the_first_difference(tmp_path: Path) -> None:
    source, file = GAMES / "1830-4p-16.18xx", tmp_path / "part.json"
    words = ("export", source, "--to", "18xx.games", "--out", file)
    refused = run(*words)
    assert (
        refused.exit_code == 1
        and f"`railpost export {source} --to 18xx.games --as-far-as-possible` writes" in refused.output
    )
    assert run(*words, "--as-far-as-possible").exit_code == 0
    assert any(each["type"] == "message" for each in json.loads(file.read_bytes())["actions"])
    assert run("import", file).exit_code == 0
