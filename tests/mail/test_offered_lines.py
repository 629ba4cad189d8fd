"""Every line that an email offers is played when it is copied as it stands, with our comment on it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.email.pages.turn_pages import bundle_lines, offered_lines
from bot.email.replies.reply_reader import ReplyReader
from bot.position.pending import seat_number
from mail.reading.parser import ParsedMail
from tests.game_text.histories import GAMES, history_of
from tests.mail.reply_corpus import LINE_READER, TOKEN

EVERY = 41
"""Moves from one position that is tried to the next."""


class Seat:
    """The part of `SeatReplies` that reading needs, for one seat of a position."""

    def __init__(self, state: engine.State, seat: int, choices: list[engine.Choice]) -> None:
        self.state, self.seat = state, seat
        self.offered = offered_lines(state, seat, choices)
        self.said = replace(LINE_READER.vocabulary_of(state, seat, choices), offered=lambda: self.offered)

    async def vocabulary(self, token: object) -> object:
        return self.said

    async def readable_lines(self, token: object, lines: list[str]) -> object:
        return LINE_READER.readable_lines(self.state, self.seat, lines)

    async def try_lines(self, token: object, lines: list[str]) -> object:
        return LINE_READER.try_lines(self.state, self.seat, lines)


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
async def test_every_offered_line_is_read(path: Path) -> None:
    history = history_of(path)
    state, tried = engine.copy_state(history.start), 0
    for number, line in enumerate(history.lines):
        if number % EVERY == 0 and state.game_over is None:
            for name in engine.decision(state).asked:
                seat = Seat(state, seat_number(name), engine.choices(state, name))
                reader: Any = ReplyReader(seat)  # type: ignore[arg-type]
                for offered in (*seat.offered, *bundle_lines(state, seat.seat)):
                    reply = await reader.read(ParsedMail("<m@player.test>", text=offered), TOKEN)
                    assert not reply.parsed.fault, (number, offered, reply.parsed.fault)
                    assert reply.lines, (number, offered)
                    tried += 1
        for event in line.events:
            event.apply(state)
    assert tried
