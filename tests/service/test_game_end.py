"""The end of a game: the last moves of a stored game are played at a table."""

from __future__ import annotations

from pathlib import Path

import engine
from bot.hub.request import Completed, PollUpdated, QueryAnswer, TableNotRunning
from engine.game_text import read_script
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.script import ScriptMove
from tests.service.conftest import ServiceHarness

GAMES = Path(__file__).parent.parent / "games"
LAST = 6


async def unfinished_game(world: ServiceHarness, path: Path) -> list[tuple[int, str]]:
    """A table with a stored game except its last moves; those moves."""
    script = read_script(path.read_text())
    moves_played = [(int(item.seat[1:]), item.text) for item in script.items if isinstance(item, ScriptMove)]
    state, moves = engine.copy_state(script.start), []
    for seat, line in moves_played[:-LAST]:
        state, events = engine.play(state, f"p{seat}", engine.parse(state, f"p{seat}", line))
        moves.append(HistoryLine(f"p{seat}", line, events))
    history = GameHistory(script.start, tuple(moves))
    world.table = (await world.service.lobby.import_game(history, name="Found")).id
    return moves_played[-LAST:]


async def test_a_game_ends_and_an_undo_reopens_it(empty: ServiceHarness) -> None:
    last = await unfinished_game(empty, min(GAMES.glob("1830-*.18xx"), key=lambda path: path.stat().st_size))
    service = empty.service
    async with empty.store.begin() as unit:
        for number, seat_row in enumerate(await unit.tables.seats(empty.table)):
            await unit.people.add_identity(seat_row.person_id, "email", f"player{number}@example.org")
    answer = None
    for seat, line in last:
        answer = await service.submit(empty.table, seat, [line], None, None)
        assert isinstance(answer, Completed), (line, answer)
    assert isinstance(answer, Completed) and answer.game_over and await empty.asked_names() == []
    state = await service.queries.state_at(empty.table)
    best = next(iter(engine.standings(state)))
    assert any("over" in s and state.name(best) in s for s in answer.sentences)
    assert (await service.queries.table_info(empty.table)).status == "finished"
    assert (await service.queries.view(empty.table)).pending == ()
    over = await empty.sent("over")
    assert len(over) == len(state.players)
    assert f"${engine.standings(state)[best]:,}" in over[0][1].sentences[0]
    assert isinstance(await service.submit(empty.table, 0, ["pass"], None, None), TableNotRunning)
    shown = await service.submit(empty.table, 0, ["status"], None, None)
    assert isinstance(shown, QueryAnswer) and "The game is over" in shown.text
    back = await service.submit(empty.table, last[-1][0], ["undo"], None, None)
    assert isinstance(back, Completed), "the last move is one's own, and nobody has moved since"
    assert (await service.queries.table_info(empty.table)).status == "running"
    again = await service.submit(empty.table, last[-1][0], ["redo"], None, None)
    assert isinstance(again, Completed) and again.game_over
    other = next((who for who, _ in last if who != last[-1][0]), None)
    if other is not None:
        assert isinstance(await service.submit(empty.table, other, ["undo"], None, None), PollUpdated)


async def test_a_game_that_begins_as_another_of_the_same_players_has_a_post_of_its_own(
    world: ServiceHarness,
) -> None:
    watcher, queries = world.service.watcher, world.service.queries
    file = b"title 1830\nplayers Ann, Bob, Cid\n---\n"
    first = await queries.table_info(world.table)
    await watcher.keep(await watcher.look(file, "hall", None, first), "hall", "post 1")
    again = await world.service.lobby.create("1830", world.people["Ann"], name="Rematch")
    assert (await watcher.look(file, "hall", None, first)).message == "post 1"
    assert (await watcher.look(file, "hall", None, again)).message == ""
