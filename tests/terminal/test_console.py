"""The lines of the terminal, answered one by one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import engine
from bot.features.robots.robot import LEAST_EFFORT
from bot.features.robots.worker import RobotMove, RobotWorker, decide_now
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from bot.terminal.console import Console
from bot.terminal.replies import Reply
from bot.tools.simulation.simulate import simulate_game
from engine import State, encode_state
from storage import StoreError, open_store
from tests.drawn_here import DrawnHere
from tests.stores import run_sql
from tests.terminal.conftest import enter

BEGUN = ("table new 1830 Ann, Bob, Cid", "table start")


async def test_the_opening_in_the_readme(console: Console) -> None:
    assert "is created: Ann, Bob and Cid" in await enter(console, BEGUN[0])
    assert "Ann to act" in await enter(console, BEGUN[1])
    assert "Bob to act" in await enter(console, "Ann: buy SV")
    assert "Cid to act" in await enter(console, "bid CA 165")
    assert "Ann to act" in await enter(console, "cid:  PASS")
    assert "$780" in await enter(console, "status")


async def test_a_seat_may_be_called_player_and_a_number(console: Console) -> None:
    await enter(console, "table new 1830 Ann, Player 2, Cid", "table start Ann, Player 2, Cid")
    for line in ("player 2", "player player 2"):
        assert "Player 2  $800" in await enter(console, line)
    assert await enter(console, "player 3") == "There is no player 3; there are Ann, Player 2 and Cid."
    assert "Player 2 has no email address" in await enter(console, "player 2 mail")


async def test_several_lines_at_once(console: Console) -> None:
    await enter(console, *BEGUN, "buy SV", "buy CS", "buy DH", "buy MH", "buy CA")
    refused = await enter(console, "Cid: buy BO; par BO 101")
    assert "Line 2" in refused
    assert "Ann to act" in await enter(console, "Cid: buy BO; par BO 100")


async def test_bad_lines_are_answered(console: Console) -> None:
    for line, expected in (
        ("Ann: buy SV", "no table is open"),
        ("show map", "No table is open"),
        ("table start", "No table is open"),
        ("watch", "Name a file of 18xx.games or a game text: `watch PATH`."),
        ("watch 'nowhere.json'", "There is no file nowhere.json."),
        ("watch /", "/ is a folder; name a file in it."),
        ("table import nowhere.json", "There is no file nowhere.json."),
        ("table new", "Name a title first"),
        ("table new 1066 Ann, Bob", "or 1817. For example: `table new TITLE Ann, Bob, Cid`."),
        ("table new 1830 Ann, pool", "word of the game"),
        ("table new 1830 Ann, Bob option nothing", "nothing"),
        ("table use QQQ", "no table QQQ"),
        ("table use", "Name the table by its code: `table use ABC`."),
        ("table frob", "is not a command"),
    ):
        reply = await console.handle_line(line)
        assert expected in reply.text and reply.tone == "bad", line
    await enter(console, *BEGUN)
    for line, expected in (
        ("Dora: buy SV", "There is no player Dora"),
        ("frob", "not a line of this game"),
        ("buy BO", "buy SV"),
        ("Bob: buy SV", "Ann"),
        (": buy SV", "Name the player before the colon: `Ann: buy SV`."),
        ("table pace 24h", "Name the player: `Ann: pace 24h`."),
        ("table replace Ann", "Name both players: `replace Bob by Dora`."),
        ("table replace Zed by Dora", "There is no player Zed at table"),
        ("table replace Ann by bob", "Two players are called bob."),
        ("table resume", "being played"),
        ("show nothing", "`nothing` is no question that can be asked"),
        ("show buy SV", "`buy SV` is no question that can be asked"),
    ):
        reply = await console.handle_line(line)
        assert expected in reply.text and reply.tone == "bad", line
    assert (await console.handle_line("")).text == ""


async def test_a_table_without_players(console: Console) -> None:
    assert " is created: nobody yet.\n" in await enter(console, "table new 1830")
    assert (await enter(console, "table")).endswith("in its lobby: nobody yet.")


async def test_a_failed_table_leaves_none(console: Console) -> None:
    await enter(console, "table new 1830 Ann, pool")
    assert await enter(console, "table list") == "There is no table yet."
    assert console.table_id is None
    await enter(console, *BEGUN, "table end yes")
    assert "ended" in await enter(console, "table list")


async def test_who_is_next_is_said_after_an_order_that_has_played(console: Console) -> None:
    await enter(console, *BEGUN)
    assert "Ann passes.\nBob to act: buy the SV" in await enter(console, "Ann: auto pass")
    assert "to act" not in await enter(console, "Cid: auto pass"), "which waits for Cid's turn"


async def test_tables_side_by_side(console: Console) -> None:
    await enter(console, *BEGUN)
    first = console.table_id
    text = await enter(console, "table new 1830 Xan, Yul option conventions 18xx.games", "table start")
    assert "Xan and Yul" in text
    code = (await console.service.queries.table_info(first or 0)).code
    xan = await console.service.queries.table_info(console.table_id or 0)
    assert "conventions 18xx.games" in await enter(console, "table")
    assert "Ann, Bob and Cid" in await enter(console, f"table use {code.lower()}")
    async with console.service.store.begin() as unit:
        await unit.tables.update(first or 0, name="Friday night")
    assert "Xan and Yul" in await enter(console, f"table use {xan.code}")
    assert "Ann, Bob and Cid" in await enter(console, "table use friday night")
    listed = (await enter(console, "table list")).splitlines()
    assert len(listed) == 3 and "Ann*, Bob, Cid" in listed[1]
    assert "Bob to act" in await enter(console, "buy SV")


async def test_a_shuffled_start(console: Console) -> None:
    await enter(console, "table new 1830 A, B, C, D, E, F", "table start shuffled")
    assert "in random order" in await enter(console, "log")


async def test_undo_and_redo_without_a_name(console: Console) -> None:
    await enter(console, *BEGUN, "buy SV", "buy CS")
    assert "Bob undoes buy CS" in await enter(console, "undo")
    assert "Ann undoes buy SV" in await enter(console, "undo")
    assert "Ann redoes buy SV" in await enter(console, "redo")
    assert "Bob redoes buy CS" in await enter(console, "redo")
    assert "Cid to act" in await enter(console, "show turn")


async def test_a_vote_at_the_terminal(console: Console) -> None:
    await enter(console, *BEGUN, "buy SV", "buy CS")
    assert "Bob: accept" in await enter(console, "Ann: undo")
    assert "Ann to act" in await enter(console, "accept")


async def test_the_operator_is_told_of_players_by_their_names(console: Console) -> None:
    await enter(console, "table new 1830 Ann, Bob, Cid")
    (table,) = await console.service.queries.list_tables()
    assert await enter(console, "table join Dora") == f"Dora has joined table {table.code}."
    assert await enter(console, "table leave dora") == f"Dora has left table {table.code}."
    await enter(console, "table start")
    for line in ("table start", "table keep"):
        assert await enter(console, line) == f"Table {table.code} is being played."
    await enter(console, "Bob: pause", "resume", "pause", "table resume")
    log = await enter(console, "log")
    assert "Bob pauses the game." in log and "The host resumes the game." in log
    assert "The host pauses the game." in log
    assert await enter(console, "Ann: list") == (
        f"{table.code} 1830, being played: Ann, Bob and Cid. "
        "Ann to act: buy the SV for $20, bid on another private, or pass."
    )
    await enter(console, "table end yes")
    assert await enter(console, "table pace") == f"Table {table.code} is ended."


async def test_a_pause_asks_nobody(console: Console) -> None:
    await enter(console, *BEGUN)
    code = console.prompt().split()[0]
    assert console.prompt() == f"{code} Ann> "
    assert await enter(console, "Bob: pause") == f"Table {code} is paused."
    assert console.prompt() == f"{code}> "
    assert "Ann*" not in await enter(console, "table list")
    assert "Ann to act" in await enter(console, "Bob: resume")
    assert "Ann*" in await enter(console, "table list")


async def test_replace_pause_and_end(console: Console) -> None:
    await enter(console, *BEGUN)
    assert "Dora plays on for Ann" in await enter(console, "table replace Ann by Dora")
    assert "Bob to act" in await enter(console, "Dora: buy SV")
    assert "paused" in await enter(console, "table pause")
    assert "paused" in await enter(console, "buy CS")
    assert "resumed" in await enter(console, "table resume")
    assert "give up your seat" in await enter(console, "Bob: resign")
    assert "waits until somebody" in await enter(console, "Bob: resign yes")
    assert "Eve plays on for Bob" in await enter(console, "table replace Bob by Eve")
    assert "Cid to act" in await enter(console, "buy CS")
    await enter(console, "Cid: resign yes")
    told = await enter(console, "table replace Cid by robot")
    assert "Robot plays on for Cid." in told and "agree" not in told, "nobody was asked"
    assert "ended" in await enter(console, "table end yes")


async def test_show(console: Console) -> None:
    await enter(console, *BEGUN)
    for line in ("show board", "show market", "show sheet", "show log 3", "show turn", "show company b&o"):
        assert (await console.handle_line(line)).tone == "plain", line
    assert "Bob" in await enter(console, "show player bob")
    help = await enter(console, "help")
    assert help.index("table new") < help.index("undo, redo") < help.index("buy SV")


async def test_pictures_are_saved(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path, DrawnHere())
        await enter(console, *BEGUN)
        for what in ("map", "market", "sheet"):
            text = await enter(console, f"show {what}")
            path = Path(text.rpartition("Picture: ")[2])
            assert path.parent == tmp_path / "pictures"
            assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


async def test_a_failed_picture_fails_nothing_else(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        with PictureWorkers(1) as pictures:
            console = Console(Service(store), tmp_path, pictures)
            await enter(console, *BEGUN)
            state = await console.service.queries.state_at(console.table_id or 0)
            assert await pictures.map(state, crop=["no such hex"]) is None
            assert await pictures.map(state) is not None, "the pool goes on"
            assert "Bob to act" in await enter(console, "buy SV")
            shutil.rmtree(tmp_path / "pictures", ignore_errors=True)
            (tmp_path / "pictures").write_text("in the way")
            reply = await console.handle_line("show sheet")
            assert "Bob to act" in reply.text and "cannot be written: " in reply.text


async def test_completion(console: Console) -> None:
    assert "table new 1830 " in list(console.completions("table n"))
    await enter(console, *BEGUN)
    assert next(console.completions("Ann: b")) == "Ann: buy SV"
    assert "bid CA 165" in list(console.completions("bid"))
    await enter(console, "buy SV")
    assert "Bob: buy CS" in list(console.completions("Bob:"))
    assert console.prompt().endswith("Bob> ")


async def test_news_from_other_players(console: Console) -> None:
    await enter(console, *BEGUN)
    await console.service.submit(console.table_id or 0, 0, ["buy SV"], None, None)
    assert "Ann: buy SV" in await console.news()
    assert await console.news() == ""


async def test_an_internal_error_is_a_sentence(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    await enter(console, *BEGUN)

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not foreseen")

    with monkeypatch.context() as patched:
        patched.setattr(console.service, "submit", broken)
        reply = await console.handle_line("buy SV")
    assert reply.tone == "bad" and "RuntimeError" not in reply.text
    assert "Bob to act" in await enter(console, "buy SV")


async def test_plans_past_positions_and_files(console: Console, tmp_path: Path) -> None:
    await enter(console, *BEGUN, "buy SV")
    tried = await enter(console, "plan buy CS; Cid: bid CA 165")
    assert "1. Bob: buy CS" in tried and "2. Cid: bid CA 165" in tried and "Standings:" in tried
    assert "2. Cid: bid CA 165" in await enter(console, "Bob: plan show")
    assert "no plan" in await enter(console, "Ann: try")
    assert "Cid to act" in await enter(console, "plan play")
    assert "At the start" in await enter(console, "at start")
    assert "neither a round of this game" in await enter(console, "at noon")
    reply = await enter(console, "export 18xx.games")
    path = Path(reply.partition("File: ")[2])
    assert path.parent == tmp_path / "games" and '"bid"' in path.read_text()
    assert "no form" in await enter(console, "export rails")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("1830 Ann, Bob, Cid", "The option `conventions 18xx.games` is for a game that will move to"),
        ("1830 Ann, Bob, Cid option conventions 18xx.games", "can go on there at any time"),
        ("1851 Ann, Bob, Cid", "18xx.games does not have 1851"),
        ("1870 Ann, Bob, Cid option private_treasuries", "It plays by the rulebook"),
    ],
)
async def test_a_new_table_says_whether_its_game_can_go_to_18xx_games(
    console: Console, table: str, sentence: str
) -> None:
    assert sentence in await enter(console, f"table new {table}")


def decide_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots think here, and as little as they can."""

    async def decide(worker: RobotWorker, state: State, seat: str, seed: int) -> RobotMove | None:
        found = decide_now(encode_state(state), seat, seed, LEAST_EFFORT)
        return RobotMove(*found) if found else None

    monkeypatch.setattr(RobotWorker, "decide", decide)


async def test_a_practice_game_against_robots_with_hints(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide_at_once(monkeypatch)
    assert "`practice` begins a game" in await console.practice_offer()
    begun = await enter(console, "practice 1830")
    assert await console.practice_offer() == ""
    assert "you are Guest and play against two robots" in begun
    assert "Guest to act" in begun
    assert "A robot would play" in await enter(console, "hint")
    moved = await enter(console, "buy SV")
    assert "Robot: " in moved
    assert "Robot 2: " in moved
    assert "Robot to act" not in moved
    *_, asked, examples = moved.splitlines()
    assert asked == "Guest to act: buy the CS for $40, bid on another private, or pass."
    assert "`buy CS`" in examples and "`pass`" in examples and "`hint`" in examples
    await enter(console, "undo")
    assert "SV for $20" in await enter(console, "show turn")
    first, second = console.prompt().split()[0], await enter(console, "practice")
    assert f"Practice game {first} still goes on: `table use {first}`, then `table end`, ends it." in second
    await enter(console, f"table use {first}")
    await enter(console, "table end")
    await enter(console, "table end yes")
    assert f"game {first} still" not in await enter(console, "practice")


async def test_what_robots_did_while_a_picture_was_drawn_is_told(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 1851 a robot may have to par its company first; robots play in the background."""
    decide_at_once(monkeypatch)
    monkeypatch.setattr("bot.features.lobby.tables.secrets.randbelow", lambda _: 2)  # what is dealt at random

    async def draw(query: str) -> Reply:
        assert console.table_id is not None
        await console.service.robots.play(console.table_id)
        return Reply("")

    monkeypatch.setattr(console, "_run_query", draw)
    begun = (await enter(console, "practice 1851")).splitlines()
    assert not any(" to act" in line for line in begun[:-2]) and begun[-2].startswith("Guest to act")
    assert any("Robot 2: par " in line for line in begun[1:-2])


async def test_seats_for_robots_are_named_as_such(console: Console) -> None:
    assert "Ann, Robot and Robot 2" in await enter(console, "table new 1830 Ann, robot, robot")
    assert "computer player" in await enter(console, "table new 1830 Ann, Robot 2")


async def test_a_game_from_a_file_goes_on(console: Console) -> None:
    path = Path(__file__).parents[1] / "games" / "1830-2p-1.18xx"
    text = await enter(console, f"table import {path}")
    assert "has the game" in text and "Ann" in text
    assert "Name a file of 18xx.games or a game text" in await enter(console, "table import nowhere.json")


async def test_a_player_of_the_terminal_agrees_to_a_robot_or_declines(console: Console) -> None:
    await enter(console, "table new 1830 Ann, Bob")
    info = (await console.service.queries.list_tables())[0]
    ann = info.seated_players[0].person_id
    await console.service.lobby.invite_robot(info.id, by=ann)
    assert "Name who answers" in await enter(console, "table agree")
    assert await enter(console, "table agree Bob") == "Bob agrees. The robot takes its seat."
    assert "Robot 2 takes a seat" in await enter(console, "table invite robot")
    assert "No robot plays" in await enter(console, "table decline Bob")
    assert "No robot sits at table" in await enter(console, "table decline Bob")


async def damage(console: Console) -> str:
    """Damage the open table; the sentence about it."""
    info = await console.service.queries.table_info(console.table_id or 0)
    async with console.service.store.begin() as unit:
        for table in ("table_snapshots SET state", "moves SET events"):
            await run_sql(unit, f"UPDATE {table} = :bytes", {"bytes": b"\xc1"})
    return (
        f"Table {info.code} cannot be read, so nobody can play there now; nothing of it is lost, and the "
        "operator has been told."
    )


async def test_14_1_a_damaged_newest_table_is_not_opened_and_ends_no_terminal(
    console: Console, tmp_path: Path
) -> None:
    await enter(console, *BEGUN, "buy SV")
    sentence = await damage(console)
    later = Console(Service(console.service.store), tmp_path)
    assert await later.open_latest() == sentence
    assert later.table_id is None and "no table is open" in await enter(later, "buy CS")
    assert "Ann to act" in await enter(later, "table new 1830 Ann, Bob", "table start")


async def test_14_1_what_follows_a_line_or_another_players_move_ends_no_terminal(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    await enter(console, *BEGUN)

    async def away(*_: object) -> object:
        raise StoreError("The database is away.")

    monkeypatch.setattr(console.service.queries, "log", away)
    assert [await console.news(), await console.news()] == ["The database is away.", ""]
    monkeypatch.undo()
    await enter(console, "buy SV")
    assert await console.news() == ""
    monkeypatch.setattr(console, "_after_robots", away)
    assert (await enter(console, "buy CS")).splitlines()[-1] == "The database is away."


async def test_notes_and_orders_are_those_of_the_player(console: Console) -> None:
    await enter(console, *BEGUN)
    assert "1. keep $100" in await enter(console, "Bob: note keep $100")
    assert "is empty" in await enter(console, "Ann: notes")
    assert "1. keep $100" in await enter(console, "Bob: notes")
    assert "1. Bob: sell first" in await enter(console, "note Bob: sell first"), "a colon names nobody there"
    assert "The PRR has no president." in await enter(console, "auto turn PRR: run best; pay")


async def test_a_player_whose_name_begins_like_a_command(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path)
        await enter(console, "table new 1830 Player 1, Table", "table start")
        assert "Player 1 buys the SV" in await enter(console, "Player 1: buy SV")
        assert "Table buys the CS" in await enter(console, "Table: buy CS")


async def test_a_lay_without_a_tile_says_what_fits(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path)
        game = simulate_game("1830", 3, 6, max_moves=120)
        await enter(console, f"table new 1830 {', '.join(game.players)}", "table start")
        state = engine.new_game("1830", game.players).state
        for seat, line in game.lines:
            turn = state.stack[-1]
            if isinstance(turn, engine.OperatingTurn) and turn.step == "track":
                break
            await enter(console, f"{state.name(seat)}: {line}")
            state = engine.play(state, seat, engine.parse(state, seat, line)).state
        assert "On H10 #57 would fit" in await enter(console, "lay H10")


async def test_watch_shows_a_game_without_a_table(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "friday.18xx"
    path.write_text("title 1830\nplayers Nora, Otto\n---\nNora: buy SV\n")
    assert "Otto to act" in await enter(console, f"watch {path}")
    path.write_text(path.read_text() + "Otto: buy CS\n")
    told = await enter(console, f"watch {path}")
    assert "Since the last snapshot, 1 move:" in told and "Otto buys the CS" in told
    assert await enter(console, "table list") == "There is no table yet."
    assert "Name a file" in await enter(console, "watch nothing.json")
    for line in ("watch", "table import"):
        told = await enter(console, f"{line} /proc/self/mem")
        assert told == "The file cannot be used: Input/output error."
