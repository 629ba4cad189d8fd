"""Games imported by email: a file is attached, and the seats are claimed by replies.

import Friday                    with the game attached: the table
seat Ann                         ask the host to play on as Ann
invite Bob <bob@example.org>     offer Bob's seat to its player, who takes it with `yes`
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.game_files.importing import imported_sentences
from bot.service import Service
from mail.reading.parts import MailFile

NO_FILE = "Attach the game: the JSON file that 18xx.games exports, or a game text."
HOW_TO_SIT = (
    "Reply with `seat NAME` to play on in a seat, and with `invite Bob <bob@example.org>` to offer the seat "
    "of Bob to its player by email. The game goes on once every seat has its player."
)


async def import_game(
    service: Service, person_id: int, name: str, files: Sequence[MailFile]
) -> tuple[tuple[str, ...], int]:
    """Open a table for the game in the first file: sentences, and its id. Raises ValueError."""
    if not files:
        raise ValueError(NO_FILE)
    table, warnings = await service.imports.open_table(files[0].content, by=person_id, name=name[:60])
    return tuple(imported_sentences(table, warnings, HOW_TO_SIT)), table.id
