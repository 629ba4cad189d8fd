"""The end of a game: of a whole game that the project carries, its last moves said at a table."""

from __future__ import annotations

from pathlib import Path

import engine
from bot.answers import Closed, Done, Shown, Voted
from engine.record import read
from engine.record.text import Move
from tests.service.conftest import World

GAMES = Path(__file__).parent.parent / "games"
LAST = 6


async def near_its_end(world: World, path: Path) -> list[tuple[int, str]]:
    """The game as a table, but for its last moves; those."""
    script = read(path.read_text())
    said = [(int(item.seat[1:]), item.text) for item in script.items if isinstance(item, Move)]
    state, moves = engine.copied(script.start), []
    for seat, line in said[:-LAST]:
        state, events = engine.play(state, f"p{seat}", engine.parse(state, f"p{seat}", line))
        moves.append((seat, line, events))
    world.table = (await world.service.adopt(script.start, moves, name="Found")).id
    return said[-LAST:]


async def test_a_game_ends_and_may_come_back_from_it(empty: World) -> None:
    last = await near_its_end(empty, min(GAMES.glob("[2-6]p-*.18xx"), key=lambda path: path.stat().st_size))
    service = empty.service
    async with empty.store.begin() as unit:
        for number, sitter in enumerate(await unit.games.seats(empty.table)):
            await unit.people.identify(sitter.person_id, "email", f"player{number}@example.org")
    answer = None
    for seat, line in last:
        answer = await service.say(empty.table, seat, [line], None, None)
        assert isinstance(answer, Done), (line, answer)
    assert isinstance(answer, Done) and answer.over and answer.asked == ()
    state = await service.state_at(empty.table)
    best = next(iter(engine.standings(state)))
    assert any("over" in s and state.name(best) in s for s in answer.sentences)
    assert (await service.table(empty.table)).status == "finished"
    assert (await service.view(empty.table)).asked == ()
    over = await empty.sent("over")
    assert len(over) == len(state.players)
    assert f"${engine.standings(state)[best]:,}" in over[0][1].text[0]
    assert isinstance(await service.say(empty.table, 0, ["pass"], None, None), Closed)
    shown = await service.say(empty.table, 0, ["status"], None, None)
    assert isinstance(shown, Shown) and "The game is over" in shown.text
    back = await service.say(empty.table, last[-1][0], ["undo"], None, None)
    assert isinstance(back, Done), "the last move is one's own, and nobody has moved since"
    assert (await service.table(empty.table)).status == "running"
    again = await service.say(empty.table, last[-1][0], ["redo"], None, None)
    assert isinstance(again, Done) and again.over
    other = next((who for who, _ in last if who != last[-1][0]), None)
    if other is not None:
        assert isinstance(await service.say(empty.table, other, ["undo"], None, None), Voted)
