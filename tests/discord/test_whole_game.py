"""A whole game through the shipped client, move by move, pressing only what is on the screen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import engine
from bot.offline.simulate import simulated

from .fake import FakeDiscord
from .party import Party
from .player import kind_of, players


async def test_a_whole_game(tmp_path: Path) -> None:
    game = simulated("1830", 3, 3)
    assert game.failure is None
    names = game.players
    async with FakeDiscord(names) as fake:
        party = Party(fake, tmp_path / "railpost.db")
        async with party.online() as service:
            thread = await party.begun(*names)
            table = (await service.find(party.code)).id
            seated = players(fake, names, thread, lambda: service.view(table))
            met: Counter[str] = Counter()
            state = engine.new_game("1830", names).state
            for seat, line in game.lines:
                note(met, state, seat, line)
                await seated[state.name(seat)].say(line)
                state = engine.play(state, seat, engine.parse(state, seat, line)).state
            now = (await service.view(table)).state
            assert now and engine.encoded(now) == engine.encoded(game.state)
            await fake.until(lambda: "The game is over" in fake.last(thread).text, "the end")
            assert not party.cards, "controls are left"
        pressed = sum((each.decisions for each in seated.values()), Counter[str]())
        ways = sum((each.ways for each in seated.values()), Counter[str]())
        assert set(met) == set(pressed), "some kind of decision was never made by a control"
        assert all(ways[way] for way in ("button", "select", "menu", "form")), ways
        fake.check(pinged=names)
        assert not fake.without_nonce


def note(met: Counter[str], state: engine.State, seat: str, line: str) -> None:
    """Count what kind of decision a line is, if it is offered to who is asked."""
    if seat in engine.decision(state).all:
        for choice in engine.choices(state, seat):
            if line == choice.line or (
                choice.amounts and line.rpartition(" ")[0] == choice.line.rpartition(" ")[0]
            ):
                met[kind_of(state, choice)] += 1
