"""A game with the real client, using only the controls on the screen. A soak plays it to its end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import engine
from tests.end_to_end.test_whole_games import table_game
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.scripted_player import decision_kind, make_players
from tests.fake_discord.server import FakeDiscord


@pytest.mark.parametrize("moves", [120, pytest.param(8_000, id="whole", marks=pytest.mark.soak)])
async def test_a_game(tmp_path: Path, moves: int) -> None:
    game = table_game("1830", 3, 6, max_moves=moves)
    is_whole = game.state.game_over is not None
    names = game.players
    async with FakeDiscord(names) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online() as service:
            thread = await running.start_game(*names)
            table = (await service.queries.find_table(running.table_code)).id
            seated = make_players(fake, names, thread, lambda: service.queries.view(table))
            met: Counter[str] = Counter()
            state = engine.new_game("1830", names).state
            for seat, line in game.lines:
                note(met, state, seat, line)
                await seated[state.name(seat)].play_line(line)
                state = engine.play(state, seat, engine.parse(state, seat, line)).state
            now = (await service.queries.view(table)).state
            assert now and engine.encode_state(now) == engine.encode_state(state)
            if is_whole:

                def left() -> list[str]:
                    return [control.label for card in running.cards for control in fake.controls(card)]

                await fake.wait_until(lambda: left() == ["Rematch"], "the end, and no other control")
                assert "The game is over" in fake.last_message(thread).text
        pressed = sum((each.decisions for each in seated.values()), Counter[str]())
        ways = sum((each.inputs_used for each in seated.values()), Counter[str]())
        assert set(met) == set(pressed), "some kind of decision was never made by a control"
        assert all(ways[way] for way in ("button", "select", "menu", "form")), ways
        fake.check_violations(pinged=names)
        assert not fake.messages_without_nonce


def note(met: Counter[str], state: engine.State, seat: str, line: str) -> None:
    """Count the kind of decision of a line, if it is offered to the player who has to act."""
    if seat in engine.decision(state).awaited:
        for choice in engine.choices(state, seat):
            if line == choice.line or (
                choice.amounts and line.rpartition(" ")[0] == choice.line.rpartition(" ")[0]
            ):
                met[decision_kind(state, choice)] += 1
