"""How many messages and megabytes a whole game leaves in its thread, with the sizes of real pictures."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.service.picture_workers import RENDERERS
from bot.service.results import Completed
from renderers import Picture
from tests.end_to_end.test_whole_games import own_game
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord

GAME = Path(__file__).parents[1] / "games/1830-5p-23.18xx"
MAX_MESSAGES, MAX_BYTES = 250, 25_000_000
MAX_POSTED = 340
"""Messages that were sent, with those that have become a line of a list: 330 when this was written."""
SAMPLED = 12
"""So many pictures of a kind are drawn to find their size."""


class NamedPictures(OnePixelPictures):
    """Each picture is the name of what would be drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[bytes, tuple[str, bytes, tuple[Any, ...], dict[str, Any]]] = {}

    async def _cached(
        self, kind: str, state: engine.State, arguments: Any, details: Any, *_: Any
    ) -> Picture | None:
        raw = engine.encode_state(state)
        name = hashlib.sha256(repr((kind, raw, arguments, sorted(details.items()))).encode()).digest()
        self.asked[name] = (kind, raw, arguments, details)
        return Picture(name, f"The {kind}.", 1, 1)

    def drawn_size(self, name: bytes) -> int:
        kind, raw, arguments, details = self.asked[name]
        return len(RENDERERS[kind](engine.decode_state(raw), *arguments, **details).png)

    def total_size(self, names: list[bytes]) -> float:
        """Bytes of these pictures, from a sample of each kind."""
        total, chosen = 0.0, random.Random(1)
        for kind in sorted({self.asked[name][0] for name in names}):
            of_kind = [name for name in names if self.asked[name][0] == kind]
            sample = chosen.sample(of_kind, min(SAMPLED, len(of_kind)))
            total += len(of_kind) * sum(map(self.drawn_size, sample)) / len(sample)
        return total


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_what_a_whole_game_leaves_in_its_thread(tmp_path: Path) -> None:
    """Every move is delivered before the next one, so nothing is merged that a slow group would see."""
    game, pictures = own_game(GAME), NamedPictures()
    async with FakeDiscord(game.names) as fake:
        fake.default_timeout = 60.0
        running = RunningBot(fake, tmp_path / "railpost.db", pictures=pictures)
        async with running.online() as service:
            await running.start_game(*game.names)
            table = (await service.queries.find_table(running.table_code)).id
            for number, (seat, line) in enumerate(game.lines):
                done = await service.submit(table, seat, [line], None, f"line {number}")
                assert isinstance(done, Completed), (line, done)
                await running.wait_for_delivery(60.0)
            thread = running.thread
            await fake.wait_until(lambda: "The game is over" in fake.last_message(thread).text, "the end")
            left = [message for message in thread.messages if not message.deleted]
            attached = [file.content for message in left for file in message.attachments]
    assert len(left) <= MAX_MESSAGES and len(thread.messages) <= MAX_POSTED
    named = [content for content in attached if content in pictures.asked]
    size = pictures.total_size(named) + sum(len(content) for content in attached if content not in named)
    assert size <= MAX_BYTES
