"""Moves of the log told in short: one line for the successive moves of a player (pure).

A company's steps in which it did nothing are left out, and so is a player's word that their turn is over:
`/show log` has them. Players who pass one after the other share a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.hub.log import LogEntry
from bot.position import text_views

PASS = re.compile(r"(.+) passes\.")
NEW_ROUND = re.compile(r"\w+ round [\d.]+ begins(, the \w+ of \d+)?\.")
DECLINED_STEP = re.compile(r"The \S+ declines to [a-z ]+\.")


@dataclass(slots=True)
class TurnSummary:
    """Successive moves of one player, or players who pass one after the other."""

    seat: int | None
    sentences: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    def text(self, names: Sequence[str]) -> str:
        """`Ann buys the SV for $20.`; `Ann: The PRR runs…`; `Bob and Cid pass.`"""
        if self.passed:
            who = list(dict.fromkeys(self.passed))
            return f"{text_views.join_words(who)} pass{'es' * (len(who) == 1)}."
        told = " ".join(self.sentences)
        name = "" if self.seat is None else names[self.seat]
        return told if name in told else f"{name}: {told}"


def told_turns(entries: Sequence[LogEntry]) -> list[TurnSummary]:
    """Log entries as turns, without those that were undone or say nothing."""
    turns: list[TurnSummary] = []
    for entry in entries:
        is_note = entry.kind != "move"
        seat = None if is_note else entry.seat  # a note says itself whom it is about
        for sentence in told_sentences(entry):
            passing = PASS.fullmatch(sentence)
            seat = None if passing or NEW_ROUND.fullmatch(sentence) else seat  # what follows is nobody's move
            last = turns[-1] if turns else None
            if is_note or last is None or last.seat != seat or bool(passing) != bool(last.passed):
                last = TurnSummary(seat)
                turns.append(last)
            if passing:
                last.passed.append(passing[1])
            else:
                last.sentences.append(sentence)
    return turns


def told_sentences(entry: LogEntry) -> list[str]:
    """What an entry says that others want to know."""
    if not entry.is_live or not entry.has_text:
        return []
    if entry.kind != "move":
        return [" ".join(entry.sentences) or entry.line]
    return [each for each in entry.sentences if not DECLINED_STEP.fullmatch(each)]
