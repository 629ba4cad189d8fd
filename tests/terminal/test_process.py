"""The service as a process: lines on standard input, signals, kill -9, and errors of sub-commands."""

from __future__ import annotations

import asyncio
import logging
import os
import pty
import random
import re
import select
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from bot.operations import backups
from bot.service import Service
from engine import title_names
from engine.core.words import join_words
from storage import open_store
from tests.end_to_end.fork_server import COMMAND, environment
from tests.terminal.conftest import Run

OPENING = """\
table new 1830 Ann, Bob, Cid
table start
Ann: buy SV
frobnicate
Bob: bid CA 165
Cid: pass
show turn
log
"""


def test_an_opening_from_standard_input(run: Run, tmp_path: Path) -> None:
    done = run(lines=OPENING)
    assert done.returncode == 0
    assert "Ann buys the SV" in done.stdout or "Ann pays $20" in done.stdout
    assert "This is not a line of this game" in done.stdout
    assert "Bob: bid CA 165" in done.stdout
    assert "RAILPOST_DISCORD_TOKEN" in done.stdout and "RAILPOST_IMAP" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    again = run(lines="show turn")
    assert "Ann to act" in again.stdout, "the newest table is open again"
    assert (tmp_path / "data" / "railpost.db").is_file()


def test_without_any_input(run: Run) -> None:
    done = run()
    assert done.returncode == 0 and "neither Discord nor mail is configured" in done.stdout


def test_a_title_that_is_not_there_is_named(run: Run) -> None:
    done = run("play", "1899", "--players", "Ann,Bob")
    assert done.returncode == 1
    titles = join_words(title_names(), "or")
    assert done.stderr.startswith(f"There is no title 1899. Name a title first: {titles}.")


def test_a_store_moves_only_to_what_is_a_database(run: Run, tmp_path: Path) -> None:
    assert run("migrate").returncode == 0
    done = run("move-store", "elsewhere")
    assert done.returncode == 1 and not (tmp_path / "elsewhere").exists()
    assert done.stderr.startswith("The address of the new database should start with one of sqlite://")


def test_quit_ends_before_the_rest(run: Run) -> None:
    done = run(lines="quit\ntable new 1830 Ann, Bob\n")
    assert done.returncode == 0 and done.stdout == ""


def test_an_unterminated_last_line_and_invalid_bytes(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        input=b"\xff\xfe\ntable list",
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0
    assert "There is no table yet." in done.stdout.decode()


@pytest.mark.parametrize("name", ["RAILPOST_IMAP", "RAILPOST_NONSENSE"])
def test_a_wrong_setting_is_a_sentence(run: Run, name: str) -> None:
    done = run(**{name: "nonsense"})
    assert done.returncode == 2
    assert name in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_not_a_store(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "railpost.db").write_text(
        "this is no database, and long enough to be looked at" * 40
    )
    done = run()
    assert done.returncode == 2, "a restart would not help"
    assert "railpost.db" in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_hot_seat_with_too_few_players(run: Run) -> None:
    done = run("play", "1830", "--players", "Ann")
    assert done.returncode == 1
    assert "2 to 6" in done.stderr and len(done.stderr.splitlines()) == 1


def test_hot_seat(run: Run) -> None:
    done = run("play", "1830", "--players", "Ann,Bob,Cid", lines="Ann: buy SV\n")
    assert done.returncode == 0
    assert "Ann to act" in done.stdout
    assert "Bob to act" in done.stdout
    seeded = run(
        "play", "1830", "--players", "A,B,C,D,E,F", "--seed", "7", "--option", "conventions 18xx.games"
    )
    order = list("ABCDEF")
    random.Random(7).shuffle(order)
    assert ", ".join(order) in seeded.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("play", "1830"),
        ("frobnicate",),
        ("render", "NOPE", "--map", "x.png"),
        ("render", "NOPE"),
        ("restore", "nothing.db"),
        ("restore", "."),
        ("backup", "backup.db"),
    ],
)
def test_errors_of_commands_are_sentences(command: Run, words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode in (1, 2)
    assert done.stderr and "Traceback" not in done.stderr + done.stdout
    if words == ("restore", "."):
        assert done.stderr == ". is a folder; name a file in it.\n"


def test_an_unexpected_error_goes_to_the_log(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(backups, "backup", broken)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    done = command("backup", "backup.db")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    assert "not foreseen" in (tmp_path / "data" / "railpost.log").read_text()


def test_backup_and_restore_during_play(tmp_path: Path, command: Run) -> None:
    with ServiceProcess(tmp_path) as playing:
        playing.say("table new 1830 Ann, Bob, Cid", "table start", "Ann: buy SV")
        playing.until("Bob to act")
        (secret := tmp_path / "data" / "mail-secret").write_text("a" * 64)
        assert command("backup", "backup.db").returncode == 0
        secret.write_text("b" * 64)
        playing.say("Bob: buy CS")
        playing.until("Cid to act")
        assert command("restore", "backup.db").returncode == 0
        assert secret.read_text() == "a" * 64
        playing.say("Bob: bid CA 165")
        playing.until("Bob bids $165")


def test_pictures_of_a_table_and_of_a_file(run: Run, command: Run, tmp_path: Path) -> None:
    run(lines=OPENING)
    database = sqlite3.connect(tmp_path / "data" / "railpost.db")
    (code,) = database.execute("SELECT code FROM game_tables").fetchone()
    (tmp_path / "game.18xx").write_text("title 1830\nplayers Ann, Bob\n---\nAnn: buy SV\nBob: buy CS\n")
    for words in (
        (code, "--map", "a.png", "--market", "b.png"),
        (code, "--at", "1", "--sheet", "c.png"),
        ("game.18xx", "--at", "1", "--sheet", "d.png"),
    ):
        done = command("render", *words)
        assert done.returncode == 0, done.stderr
    for name in "abcd":
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert "moves" in command("render", "game.18xx", "--at", "9", "--map", "x.png").stderr


TEXT_GAME = "title 1830\nplayers Ann, Bob\n---\nAnn: buy SV\nBob: buy CS\n"


def test_import_and_replay_read_text_games_and_files_of_the_site(command: Run, tmp_path: Path) -> None:
    (tmp_path / "game.18xx").write_text(TEXT_GAME)
    saved = command("import", "game.18xx", "--save", "Friday")
    assert saved.returncode == 0 and "1830, 2 moves, not finished" in saved.stdout, saved
    assert command("render", "friday", "--map", "map.png").returncode == 0
    command("import", "game.18xx", "--save", "Friday")
    assert "Several tables are named Friday" in command("render", "Friday", "--map", "map.png").stderr
    assert command("export", "game.18xx", "--to", "18xx.games", "--out", "game.json").returncode == 0
    replayed = command("replay", "game.json", "game.18xx")
    assert replayed.returncode == 0 and replayed.stdout.startswith("game.json: 1830, 2 moves"), replayed
    assert "game.18xx: ok, 2 moves" in replayed.stdout
    (tmp_path / "broken.18xx").write_text(TEXT_GAME + "Ann: buy BO\n")
    broken = command("import", "broken.18xx")
    assert broken.returncode == 1 and "buy BO" in broken.stdout and "JSON" not in broken.stdout


def test_the_help_says_of_each_command_in_a_whole_sentence_what_it_does(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = command("--help").stdout.partition("Commands:")[2].strip().splitlines()
    assert len(commands) > 15 and all(each.endswith(".") and "..." not in each for each in commands)


def test_a_picture_is_named_as_what_it_is(command: Run, tmp_path: Path) -> None:
    (tmp_path / "game.18xx").write_text(TEXT_GAME)
    done = command("render", "game.18xx", "--map", "map.jpg")
    assert done.returncode == 1 and "name it map.png" in done.stderr
    assert not (tmp_path / "map.jpg").exists()


def test_an_arena_without_a_title_names_them(command: Run) -> None:
    done = command("arena")
    assert done.returncode == 1 and "the titles are 1830, 1851, 1870, 1817" in done.stderr


def test_robots_without_hints_say_how_to_get_them(run: Run) -> None:
    assert "--option hints" in run("play", "1830", "--players", "Ann,robot,robot").stdout
    allowed = run("play", "1830", "--players", "Ann,robot,robot", "--option", "hints").stdout
    assert "--option hints" not in allowed


class ServiceProcess:
    """A running service with a pipe for its terminal."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment(), bufsize=0
        )
        self.heard = ""

    def __enter__(self) -> ServiceProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def say(self, *lines: str) -> None:
        assert self._process.stdin
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def until(self, text: str, patience: float = 120) -> None:
        """Wait until this text is printed."""
        end = time.monotonic() + patience
        while text not in self.heard:
            assert self._process.stdout
            ready, _, _ = select.select([self._process.stdout], [], [], max(end - time.monotonic(), 0))
            assert ready, f"{text!r} was not printed, but: {self.heard}"
            chunk = self._process.stdout.read(65536)
            assert chunk, f"the service ended before {text!r}: {self.heard}"
            self.heard += chunk.decode()

    def signal(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        return self._process.wait(timeout=120)


def lines_in_the_store(folder: Path) -> list[str]:
    async def loaded() -> list[str]:
        async with await open_store(folder / "data" / "railpost.db") as store:
            service = Service(store)
            (table,) = await service.queries.list_tables()
            view = await service.queries.view(table.id)
            assert view.seq == table.seq
            return [h.line for h in await service.queries.log(table.id) if h.kind == "move" and h.is_live]

    return asyncio.run(loaded())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with ServiceProcess(tmp_path) as playing:
        playing.say("table new 1830 Ann, Bob, Cid", "table start", "Ann: buy SV")
        playing.until("Bob to act")
        assert playing.signal(number) == 0
    assert lines_in_the_store(tmp_path) == ["buy SV"]


@pytest.mark.soak
def test_kill_9_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    """The service is killed while lines arrive: every answered line is stored, and no other."""
    moves = [f"{name}: {line}" for name, line in zip(["Ann", "Bob", "Cid"] * 3, BIDS, strict=True)]
    with ServiceProcess(tmp_path) as playing:
        playing.say("table new 1830 Ann, Bob, Cid", "table start", *moves)
        playing.until("bid CA 170")
        playing.signal(signal.SIGKILL)
        answered = [line for line in BIDS if f"\n{line}: " in playing.heard]
    stored = lines_in_the_store(tmp_path)
    assert stored == BIDS[: len(stored)]
    assert len(stored) >= len(answered) >= 4
    with ServiceProcess(tmp_path) as playing:
        playing.say(*moves[len(stored) :], "show turn", "log 3")
        playing.until(f"{moves[-1]}")
        assert playing.signal(signal.SIGTERM) == 0
    assert lines_in_the_store(tmp_path) == BIDS


BIDS = [
    "buy SV", "bid CA 165", "bid DH 75", "bid CA 170", "bid BO 225", "bid MH 115", "bid CA 175", "bid BO 230",
    "bid MH 120",
]  # fmt: skip


def test_the_prompt_in_a_terminal(tmp_path: Path) -> None:
    """At a real terminal: a prompt, a line and its reply, a completion with Tab, and `quit`."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execve(COMMAND[0], COMMAND, environment(TERM="xterm", COLUMNS="40"))
    heard = ""

    def until(text: str) -> None:
        nonlocal heard
        end = time.monotonic() + 120
        while text not in heard:
            ready, _, _ = select.select([terminal], [], [], max(end - time.monotonic(), 0))
            assert ready, f"{text!r} did not come, but {heard!r}"
            heard += os.read(terminal, 65536).decode(errors="replace")
            if "\x1b[6n" in heard:  # where is the cursor?
                heard = heard.replace("\x1b[6n", "")
                os.write(terminal, b"\x1b[1;1R")

    def say(text: str) -> None:
        nonlocal heard
        heard = ""
        os.write(terminal, text.encode())

    try:
        until("railpost>")
        say("table new 1830 Ann, Bob, Cid\r")
        until("starts it.")
        until(">")
        say("table start\r")
        until("Ann>")
        say("bid BO 9999999\r")
        until("Possible")
        until(">")
        lines = [line.strip() for line in re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", heard).splitlines()]
        assert "Ann has $800 for a bid on the BO (1830" in lines, lines
        say("buy S")
        until("buy SV")  # in the menu
        say("\t")
        until("V")  # in the line
        say("\r")
        until("Bob>")
        say("quit\r")
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        os.close(terminal)
    assert lines_in_the_store(tmp_path) == ["buy SV"]
