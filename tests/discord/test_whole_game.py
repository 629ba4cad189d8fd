"""A whole game through the shipped client, move by move, pressing only what is on the screen."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import engine
from engine.record.text import Move, read

from .fake import FakeDiscord
from .party import Party
from .player import kind_of, players

GAMES = Path(__file__).parent.parent / "games"


async def test_a_whole_game(tmp_path: Path) -> None:
    script = read((GAMES / "3p-3.18xx").read_text(encoding="utf-8"))
    names = script.start.players
    moves = [item for item in script.items if isinstance(item, Move)]
    async with FakeDiscord(names) as fake:
        party = Party(fake, tmp_path / "railpost.db")
        async with party.online() as service:
            thread = await party.begun(*names)
            table = (await service.find(party.code)).id
            seated = players(fake, names, thread, lambda: service.view(table))
            state = script.start
            met: Counter[str] = Counter()
            began = time.monotonic()
            for move in moves:
                action = engine.parse(state, move.seat, move.text)
                line = engine.spell(state, action)
                note(met, state, move.seat, line)
                await seated[state.name(move.seat)].say(line)
                state = engine.play(state, move.seat, action).state
            print(f"{len(moves)} moves in {time.monotonic() - began:.0f} s")
            assert engine.encoded((await service.view(table)).state) == engine.encoded(state)
            assert state.over
            await fake.until(lambda: "The game is over" in fake.last(thread).text, "the end")
            assert not party.cards, "controls are left"
        pressed = sum((each.decisions for each in seated.values()), Counter[str]())
        ways = sum((each.ways for each in seated.values()), Counter[str]())
        print(ways)
        assert set(met) == set(pressed), set(met) - set(pressed)
        assert ways["button"] and ways["select"] and ways["menu"] and ways["form"]
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
