"""Every line that an email offers is played when it is copied as it stands, with our comment on it."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import engine
from bot.email.pages.turn_pages import bundle_lines, offered_lines
from bot.email.replies.reply_reader import ReplyReader
from bot.position.pending import seat_number
from mail.reading.parser import ParsedMail
from tests.game_text.histories import GAMES, history_of
from tests.mail.mail_desk import MailDesk
from tests.mail.reply_corpus import COMMANDS
from tests.mail.servers import Delivery

EVERY = 41
"""Moves from one position that is tried to the next."""


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_every_offered_line_is_read(path: Path) -> None:
    history = history_of(path)
    state, tried = engine.copy_state(history.start), 0
    for number, move in enumerate(history.lines):
        if number % EVERY == 0 and state.game_over is None:
            for name in engine.decision(state).asked:
                seat, choices = seat_number(name), engine.choices(state, name)
                reader = ReplyReader(COMMANDS, state, seat, choices)
                offered = offered_lines(state, seat, choices)
                reader.vocabulary = replace(reader.vocabulary, offered=partial(tuple, offered))
                for line in (*offered, *bundle_lines(state, seat)):
                    reply = reader.read(ParsedMail("<m@player.test>", text=line))
                    assert not reply.parsed.fault, (number, line, reply.parsed.fault)
                    assert reply.lines, (number, line)
                    tried += 1
        for event in move.events:
            event.apply(state)
    assert tried


@pytest.mark.parametrize("line", ["bid CS 60 # or more, up to $1,200", "bid CA 200 # or more, up to"])
async def test_an_offered_line_may_be_changed_and_keep_our_comment(
    desk: MailDesk, notice: Delivery, line: str
) -> None:
    """Its `or` was taken for the player's own, and nothing was played or offered."""
    assert line.partition("#")[2].strip() in notice.text
    assert "OK: all lines" in (await desk.answered(notice, line)).text


async def test_an_answer_to_a_command_lists_no_moves(desk: MailDesk, notice: Delivery) -> None:
    """Nor does a word that is nearly a command: the answer has what it may mean."""
    assert "buy SV" not in (await desk.answered(notice, "settings")).text
    answer = (await desk.answered(notice, "autopass")).text
    assert "auto pass" in answer.splitlines() and "buy SV" not in answer
    for lines in (["auto pas"], ["buy SV", "auto pas"]):
        read = (await desk.answered(notice, *lines)).text.splitlines()
        assert "auto pass" in read and "auto" not in read and not await desk.played()


async def test_who_writes_no_move_reads_one_of_each_kind(desk: MailDesk, notice: Delivery) -> None:
    answer = (await desk.answered(notice, "a fine game")).text
    assert [line for line in answer.splitlines() if line.startswith(("buy", "bid", "pass"))] == [
        "buy SV",
        "bid CS 45",
        "pass",
    ]
