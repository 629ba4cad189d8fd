"""What the controls below a snapshot show: changes, the map larger, each round, an animation, a review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

import engine
from bot.features.watch.snapshot import Snapshot, drawings, news
from bot.hub.request import ReviewChart
from bot.pictures.views import NamedPicture, draw_all
from bot.pictures.workers import Pictures
from bot.position.controls import Show
from engine.game_text import GameHistory

REFRESH = "refresh"
"""Reads the page of a game again, and edits the post."""
MOST_NEWS, NEWS_LENGTH = 40, 300
LARGE = (2560, 1920)  # pixels

ReviewGame = Callable[[GameHistory], tuple[str, ReviewChart]]
"""Where the money came from, and the turning points; and what their picture shows."""


class SnapshotAnswer(NamedTuple):
    """What one person is shown of a snapshot. controls: what it may show next."""

    text: str = ""
    pictures: Sequence[NamedPicture] = ()
    controls: Sequence[Show] = ()


def controls_of(snapshot: Snapshot, *, is_read: bool) -> list[Show]:
    """The controls of a snapshot. is_read: from a page, which can be read again."""
    found = [
        Show("What changed", "changed"),
        Show("Map larger", "larger"),
        Show("◀ Rounds ▶", "rounds"),
        Show("Animation", "animation"),
    ]
    if snapshot.state.game_over:
        return [*found, Show("Review", "review")]
    return [*found, Show("Refresh", REFRESH)] if is_read else found


async def answer(
    snapshot: Snapshot, since: int | None, question: str, pictures: Pictures, review: ReviewGame
) -> SnapshotAnswer:
    """The answer to a control. since: the moves of the snapshot before, None where this is the first."""
    what, _, number = question.partition(" ")
    start, events = snapshot.history.start, _events(snapshot)
    match what:
        case "changed":
            return SnapshotAnswer("\n".join(_changes(snapshot, since)))
        case "larger":
            return SnapshotAnswer("", await draw_all([("map", pictures.map(snapshot.state, size=LARGE))]))
        case "rounds":
            return await _round(snapshot, number, pictures)
        case "animation":
            drawn = pictures.request("animation", start, (events,), {})
            return SnapshotAnswer("", await draw_all([("animation", drawn)]))
        case _:
            text, chart = await asyncio.to_thread(review, snapshot.history)
            drawn = pictures.review(start, events, chart)
            return SnapshotAnswer(text, await draw_all([("review", drawn)]))


async def _round(snapshot: Snapshot, number: str, pictures: Pictures) -> SnapshotAnswer:
    """The map and the market at the end of a round, with what has changed in it marked."""
    rounds = snapshot.rounds()
    at = min(max(int(number), 0), len(rounds) - 1) if number.isdecimal() else len(rounds) - 1
    moves, name = rounds[at]
    then = snapshot.at(moves)
    wanted = drawings(then, rounds[at - 1][0] if at else 0, ("map", "market"))
    drawn = await draw_all([(kind, pictures.request(kind, then.state, (), how)) for kind, how in wanted])
    steps = [
        Show(label, f"rounds {to}") for label, to in (("◀", at - 1), ("▶", at + 1)) if 0 <= to < len(rounds)
    ]
    return SnapshotAnswer(f"{name}, {at + 1} of {len(rounds)}, after {moves} moves", drawn, steps)


def _changes(snapshot: Snapshot, since: int | None) -> list[str]:
    """What has changed since the snapshot before; where this is the first, in the round that is on."""
    if since is not None:
        return news(snapshot, since, MOST_NEWS, NEWS_LENGTH)
    rounds = snapshot.rounds()
    begun = rounds[-2][0] if len(rounds) > 1 else 0
    name = rounds[-1][1].replace("opening", "the opening")
    if begun == snapshot.moves:
        return [f"This is the first snapshot. Nothing has been played since {name} began."]
    _, *told = news(snapshot, begun, MOST_NEWS, NEWS_LENGTH)
    return [f"This is the first snapshot. Since {name} began:", *told]


def _events(snapshot: Snapshot) -> tuple[bytes, ...]:
    """The events of each move, as they are stored."""
    return tuple(engine.encode_events(line.events) for line in snapshot.history.lines)
