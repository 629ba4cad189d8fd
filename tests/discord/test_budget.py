"""How many messages are posted and how many bytes are uploaded for a game, with the sizes of real pictures.

Every move is delivered before the next one. A push is a message: Discord notifies nobody of an edit. So a
group of which nobody ever answers within the hold-off gets one message for each change of the player who
acts; a player who answers sooner is not notified, and plays on the card that is there. In the game of 681
moves 316 questions are to somebody who was not asked last, 195 of them in stock rounds, where 135 pass. With
`auto pass` left in place of the second pass of each row it would be 242.

Measured in PNG, one game of 681 moves, every picture drawn: if nobody is there, 328 messages are posted and
12 remain in the thread at the end, with 646 pictures of 27.8 MB. (With the market on every card of a stock
round, more greys, and a sheet with tiles, names of privates and companies that have not started, they were
734 pictures of 35.6 MB.) The other messages were deleted when their turn
was over: their moves are a line of a list. Fewer cannot be posted while each turn is notified where it is
played: what does not notify needs no message already, and *Auto pass* on the card of a stock turn is what a
player may do about it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.hub.request import Completed
from bot.pictures.workers import draw_file
from renderers import Picture
from renderers.files import smaller_png
from renderers.views import auction_view, map_view, market_view, sheet_view
from tests.end_to_end.test_whole_games import GameToPlay, own_game
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import Channel, FakeDiscord

GAME = Path(__file__).parents[1] / "games/1830-5p-23.18xx"
MAX_BYTES = 28_000_000
MAX_LEFT = 25
"""Messages that stay in the thread of a whole game; the others have become lines of a list."""
HELD = 7 * 24 * 3600.0  # seconds: nothing that is held back is sent before the test ends
NOT_CONTENT = ("palette", "file_type", "size")


VIEWS: dict[str, Callable[..., Any]] = {
    "map": map_view, "market": market_view, "sheet": lambda state, **shown: sheet_view(state, None, **shown),
    "auction": auction_view,
}  # fmt: skip


class NamedPictures(OnePixelPictures):
    """Each picture is a name of what it would show; `sampled`: so many of a kind are drawn for their size."""

    def __init__(self, sampled: int) -> None:
        super().__init__()
        self._sampled = sampled
        self._asked: dict[bytes, tuple[str, bytes, tuple[Any, ...], dict[str, Any]]] = {}

    async def request(
        self, kind: str, state: engine.State, arguments: Any, details: Any, *_: Any
    ) -> Picture | None:
        shown = {key: value for key, value in details.items() if key not in NOT_CONTENT}
        content = (
            VIEWS[kind](state, **shown) if kind in VIEWS else (engine.encode_state(state), arguments, shown)
        )
        name = hashlib.sha256(repr((kind, content)).encode()).digest()
        self._asked[name] = (kind, engine.encode_state(state), arguments, details)
        return Picture(name, f"The {kind}.", 1, 1)

    def total_size(self, uploads: list[bytes]) -> float:
        """Bytes of these uploads, from a sample of each kind, made smaller as other tests do not."""
        total, chosen = 0.0, random.Random(1)
        named = [self._asked[content] for content in uploads if content in self._asked]
        for kind in sorted({each[0] for each in named}):
            of_kind = [each for each in named if each[0] == kind]
            sample = chosen.sample(of_kind, min(self._sampled, len(of_kind)))
            drawn = [draw_file(kind, engine.decode_state(raw), how, what) for _, raw, how, what in sample]
            total += len(of_kind) * sum(len(smaller_png(each.png)) for each in drawn) / len(sample)
        return total + sum(len(content) for content in uploads if content not in self._asked)


@dataclass
class Played:
    """What a game has sent: messages posted and left, changes of the player who acts, uploads."""

    posted: int
    left: int
    pushes: int
    uploads: list[bytes]


async def play(
    game: GameToPlay, path: Path, pictures: NamedPictures, lines: int, present: float = 0.0
) -> Played:
    """Play so many lines. `present`: the share of turns that are answered within the hold-off."""
    chosen, pushes = random.Random(2), 1
    async with FakeDiscord(game.names) as fake:
        running = RunningBot(fake, path, pictures=pictures)
        async with running.online() as service:
            await running.start_game(*game.names)
            table = (await service.queries.find_table(running.table_code)).id
            for number, (seat, line) in enumerate(game.lines[:lines]):
                following = game.lines[number + 1].seat if number + 1 < len(game.lines) else seat
                is_quick = chosen.random() < present
                running.hold_pings(HELD if is_quick else 0.0)
                pushes += following != seat and not is_quick
                done = await service.submit(table, seat, [line], None, f"line {number}")
                assert isinstance(done, Completed), (line, done)
                await running.wait_for_cards()
            thread = running.thread
            if lines >= len(game.lines):
                await fake.wait_until(lambda: "The game is over" in fake.last_message(thread).text, "the end")
            left = [message for message in thread.messages if not message.deleted]
            return Played(len(thread.messages), len(left), pushes, uploads_of(thread))


def changes(game: GameToPlay, lines: int | None = None) -> int:
    """How often another player acts than before, in the first lines."""
    seats = [line.seat for line in game.lines[:lines]]
    return 1 + sum(seat != before for before, seat in pairwise(seats))


def uploads_of(thread: Channel) -> list[bytes]:
    """All files that were ever uploaded to a thread."""
    files = {
        file.id: file.content
        for message in thread.messages
        for attached in (message.attachments, *(each.attachments for each in message.history))
        for file in attached
    }
    return list(files.values())


async def test_the_beginning_of_a_game(tmp_path: Path) -> None:
    """In proportion to the turns of the whole game: the first stock round, with two pictures a turn."""
    game, pictures, lines = own_game(GAME), NamedPictures(1), 24
    played = await play(game, tmp_path / "railpost.db", pictures, lines)
    assert played.posted <= played.pushes + 2
    assert pictures.total_size(played.uploads) <= MAX_BYTES * changes(game, lines) / changes(game)


@pytest.mark.soak
@pytest.mark.parametrize("present", [0.0, 0.3], ids=["slow", "a third are there"])
async def test_a_whole_game(tmp_path: Path, present: float) -> None:
    game, pictures = own_game(GAME), NamedPictures(40)
    played = await play(game, tmp_path / "railpost.db", pictures, len(game.lines), present)
    size = pictures.total_size(played.uploads)
    print(f"{played.posted} posted, {played.left} left, {len(played.uploads)} uploads, {size / 1e6:.1f} MB")
    assert played.left <= MAX_LEFT and played.posted <= played.pushes + 15
    assert size <= MAX_BYTES
    assert played.posted <= 250 or not present
