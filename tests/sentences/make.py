"""Writes what players read to text files, so that it can be read in a row: `python -m tests.sentences.make`.

`TITLE.txt` has one example of each form of sentence from stored games; `cards.txt` and `emails.txt` have one
card and one email of every kind (`messages.py`). An argument names the file
of a title, or `cards` for both of these.

Sentences of one form differ only in names, symbols, hexes and numbers. Prompts are shown as players see them.
Refusals come from lines that were legal some moves before.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from unittest.mock import patch

import engine
from engine import kernel
from engine.game_text import GameHistory
from engine.language import notation
from tests.game_text.histories import history_of
from tests.sentences.messages import collect

HERE = Path(__file__).parent
TESTS = HERE.parent
GAMES = {
    "1830": (
        "games/1830-3p-9.18xx",
        "games/1830-4p-19-18xx.games-multiple_brown_from_ipo-optional_6_train.18xx",
    ),
    "1851": ("t1851/games/3p-811-claims.18xx",),
    "1870": ("games/1870-3p-5004.18xx", "games/1870-4p-5103-18xx.games.18xx"),
    "1817": ("games/1817-3p-5601.18xx", "games/1817-4p-5700-18xx.games-five_shorts.18xx"),
}
HEADINGS = ("Prompts", "Events", "Options", "Refusals")
MESSAGES = ("cards", "emails")
SAMPLED = 5
"""Options and refusals are looked at before every so many moves."""


def sentences(title: str) -> str:
    """The text of one file: under each heading one example of each form, in the order of the games."""
    examples: dict[str, dict[str, str]] = {heading: {} for heading in HEADINGS}
    for path in GAMES[title]:
        for heading, form, sentence in _sentences_of(history_of(TESTS / path)):
            examples[heading].setdefault(form, sentence)
    parts = ("\n".join([f"# {heading}", "", *examples[heading].values(), ""]) for heading in HEADINGS)
    return "\n".join(parts)


def _sentences_of(history: GameHistory) -> Iterator[tuple[str, str, str]]:
    """(heading, form, sentence) from one game."""
    state, earlier = history.start, deque[str](maxlen=40)
    form = _form_of(state)
    for number, move in enumerate(history.lines):
        decision = engine.decision(state)
        names = " or ".join(state.name(seat) for seat in decision.asked)
        prompt = f"{names} to act: {engine.prompt(state)}."
        yield "Prompts", form(prompt), prompt
        if number % SAMPLED == 0 and decision.asked:
            seat = decision.asked[0]
            for choice in engine.choices(state, seat):
                yield "Options", form(choice.label), choice.label
            yield from (("Refusals", form(why), why) for why in _refusals(state, seat, earlier))
        earlier.append(move.line)
        state = engine.fold(move.events, state)
        for sentence in engine.narrate(state, move.events):
            yield "Events", form(sentence), sentence


def _refusals(state: engine.State, seat: str, lines: Iterable[str]) -> Iterator[str]:
    """Why lines cannot be played. What the position offers, which most refusals look at, is found once."""
    game = engine.game_of(state)
    with patch.object(notation, "options", cache(kernel.options)):
        for line in dict.fromkeys(lines):
            try:
                notation.parse(game, seat, line)
            except (engine.RefusedError, engine.AmbiguousError) as error:
                yield str(error)
            except engine.UnreadableError:
                continue


def _form_of(state: engine.State) -> Callable[[str], str]:
    """The function that reduces a sentence of that game to its form."""
    words = sorted({*state.companies, *state.private_owners, *state.players}, key=len, reverse=True)
    hexes = "|".join(sorted(engine.game_of(state).components.map.hexes, key=len, reverse=True))
    names = {h.name for h in engine.game_of(state).components.map.hexes.values() if h.name}
    places = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    symbols = "|".join(map(re.escape, words))

    def form(sentence: str) -> str:
        sentence = re.sub(rf"(?<![\w&])(?:{symbols})(?![\w&])", "X", sentence)
        sentence = re.sub(rf"\b(?:{hexes})\b(?: (?:{places}))?", "H", sentence)
        sentence = re.sub(r"\(\d{4},? [^)]*\)", "(cited)", sentence)
        sentence = re.sub(r"\d+(?:,\d{3})*", "1", sentence)
        sentence = re.sub(r"(H(?:\.1)?-)+H(?:\.1)?", "R", sentence)
        sentence = re.sub(
            r"\b(1\+?-train on R)(?:, 1\+?-train on R)+|(X)(?:(?:, | and | or )X)+", "X", sentence
        )
        return re.sub(r"\b1\+? R(?:, 1\+? R)+", "1 R", sentence)

    return form


def main(*names: str) -> None:
    wanted = names or (*GAMES, *MESSAGES)
    for title in GAMES:
        if title in wanted:
            (HERE / f"{title}.txt").write_text(sentences(title), encoding="utf-8")
    if set(wanted) & set(MESSAGES):
        for name, text in asyncio.run(collect()).items():
            (HERE / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
