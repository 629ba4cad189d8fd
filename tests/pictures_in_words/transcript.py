"""docs/blind-game.md: parts of a game as a player without sight hears it.

.venv/bin/python -m tests.pictures_in_words.transcript     writes it
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.service import Service
from storage import Store
from tests.pictures_in_words.blind_player import BlindPlayer
from tests.readme_pictures import moves
from tests.test_players_guide import service_in, started_table

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "blind-game.md"
PARTS = (
    ("The opening", 0, 4),
    ("A stock round", 25, 29),
    ("A company's turn", 284, 292),
)
"""Headings, and which moves of the game."""
FIRST_QUESTIONS = {284: ("words", "network NYNH", "from F20 southwest")}
"""What is asked before a move, besides what its line needs."""

HEAD = """# A game without sight

Every picture has its words, and every word can be asked for: on Discord by `/do`, by email, and in the
terminal. This is a game of 1830 (`docs/1830.18xx`) as a player hears it who asks, before each move, for what
the move needs. A test plays a whole game in this way.

| question | answer |
|---|---|
| `words` | what the sheet shows, in words: players, companies, trains |
| `hex H10` | what lies there, what its track joins, what it may become, what it costs |
| `from E11 northeast` | the hexes that lie that way, to the border |
| `network PRR` | the stops that its track reaches, and where it could build |
| `route PRR 1` | a route of its last run, leg by leg |
| `around PRR`, `around 82` | the market there: right, left, up, down |
| `map`, `market`, `bids`, `trains`, `tiles`, `company PRR`, `player Ann` | as for everybody |

In the {moves} moves of this game such a player asked {questions} questions: {kinds}.
An answer had {letters} characters on average.
"""


async def document() -> str:
    """The document as it is now."""
    _, played = moves()
    with TemporaryDirectory() as folder:
        async with service_in(Path(folder)) as (service, store):
            player, marks = await _played(service, store)
    questions = sum(player.asked.values())
    kinds = ", ".join(f"{count} `{word}`" for word, count in player.asked.most_common())
    text = HEAD.format(
        moves=len(played), questions=questions, kinds=kinds, letters=round(player.letters / questions)
    )
    for heading, first, last in PARTS:
        said = player.transcript[marks[first] : marks[last]]
        shown = "\n".join(f"{name}> {line}\n{answer}" for name, line, answer in said)
        text += f"\n## {heading}\n\n```text\n{shown}\n```\n"
    return text


async def _played(service: Service, store: Store) -> tuple[BlindPlayer, list[int]]:
    """The game as it was played, and where each move begins in the transcript."""
    names, played = moves()
    table = await started_table(service, store, names)
    player, marks = BlindPlayer(service, table.id), []
    for number, (name, line) in enumerate(played):
        marks.append(len(player.transcript))
        for question in FIRST_QUESTIONS.get(number, ()):
            await player.ask(name, names.index(name), question)
        await player.play(names.index(name), line)
    return player, [*marks, len(player.transcript)]


if __name__ == "__main__":
    DOCUMENT.write_text(asyncio.run(document()))
