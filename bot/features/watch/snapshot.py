"""A snapshot of a game: what it is, who is to act, what has changed since the last one, and its pictures.

A snapshot shows what anybody at the table may know. A game is known again by its id, if its file has one,
else by its first position and its first moves (`Snapshot.key`). What was posted last of each game at each
place is kept, so that the next snapshot edits that post.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

import engine
from bot.hub.info import stopped_text
from bot.pictures.views import changed_hexes, repriced_companies
from bot.position import text_views
from bot.position.boards import last_runs
from bot.position.pending import pending_decisions
from engine.core.events import Passed, RoundStarted
from engine.core.words import counted, join_words
from engine.game_text import GameHistory
from engine.game_text.redaction import redacted

PICTURES = ("map", "market", "sheet")
FIRST_MOVES = 8  # that tell a game from another with the same players
MOST_SENTENCES = 8
MOST_CHARACTERS = 180  # of one sentence
TAKEN_BACK = "Moves were taken back since the last snapshot."
OTHER_POSITION = "The position has changed since the last snapshot."


class Snapshot(NamedTuple):
    """A game at one moment. history: without hidden orders. state: its last position. id: of the game at the
    site that has written its file, or the code of its table here, or empty. status: of that table."""

    history: GameHistory
    state: engine.State
    id: str = ""
    status: str = ""

    @property
    def moves(self) -> int:
        """How many moves were made."""
        return len(self.history.lines)

    def key(self, moves: int) -> str:
        """By what the game is known again: its first position and so many of its first moves."""
        start = self.history.start
        begun = [start.title, *start.options, *start.players]
        begun += [f"{line.seat} {line.line}" for line in self.history.lines[:moves]]
        return sha256("\n".join(begun).encode()).hexdigest()[:16]

    def whole(self, moves: int) -> str:
        """By what is known whether so much of the game is as it was: its moves, without any the position."""
        start = engine.encode_state(self.history.start)
        return self.key(moves) if moves else sha256(start).hexdigest()[:16]

    def at(self, moves: int) -> Snapshot:
        """The snapshot after so many moves."""
        history = GameHistory(self.history.start, self.history.lines[:moves])
        return Snapshot(history, history.state_after(moves), self.id)

    def rounds(self) -> list[tuple[int, str]]:
        """How many moves were made when each round ended, with its name; the last is the one that is on."""
        found, name = list[tuple[int, str]](), engine.round_name(self.history.start)
        for made, line in enumerate(self.history.lines, 1):
            for event in line.events:
                if isinstance(event, RoundStarted):
                    found.append((made, name))
                    name = event.name
        if not found or found[-1][0] < self.moves or not self.state.game_over:
            found.append((self.moves, name))
        return found


def snapshot_of(history: GameHistory) -> Snapshot:
    """The snapshot of a game, without what is hidden from anybody at the table."""
    public = redacted(history)
    return Snapshot(public, public.state_after(len(public.lines)))


def game_id(raw: bytes) -> str:
    """The title and the id of a game in a file of 18xx.games; empty for other files."""
    try:
        found = msgspec.json.decode(raw, type=_SiteGame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return f"{found.title} {found.id}" if found.id else ""


class _SiteGame(msgspec.Struct):
    """What a file of 18xx.games says of the game."""

    title: str
    id: int | str = ""


def description(snapshot: Snapshot) -> list[str]:
    """What the game is, who is to act, and how the players stand, in sentences."""
    state = snapshot.state
    names = join_words(state.players)
    moves = f", after {counted(snapshot.moves, 'move')}" if snapshot.moves else ""
    told = [
        f"{state.title} with {names}, {engine.round_name(state)}{moves}.",
        stopped_text(snapshot.status) or text_views.waiting_sentence(state, pending_decisions(state, 0)),
    ]
    if not state.game_over:
        told.append(f"Standings: {text_views.standings_sentence(state)}")
    return told


def news(
    snapshot: Snapshot, since: int, most: int = MOST_SENTENCES, characters: int = MOST_CHARACTERS
) -> list[str]:
    """What the moves after the first `since` have brought about; of many only the last `most` that did not
    decline, each cut to so many characters."""
    if since >= snapshot.moves:
        return ["Nothing has changed since the last snapshot."]
    state, found, done = snapshot.history.state_after(since), list[str](), list[str]()
    for line in snapshot.history.lines[since:]:
        engine.fold(line.events, state)
        if text := " ".join(engine.narrate(state, line.events)):
            found.append(text if len(text) <= characters else f"{text[: characters - 1]}…")
            if engine.narrate(state, [each for each in line.events if not isinstance(each, Passed)]):
                done.append(found[-1])
    if len(found) > most:
        found = done or found
    left_out = len(found) - most
    if left_out > 0:
        found = [f"… {left_out} earlier", *found[-most:]]
    return [f"Since the last snapshot, {counted(snapshot.moves - since, 'move')}:", *found]


def drawings(
    snapshot: Snapshot, since: int | None, kinds: Sequence[str] = PICTURES
) -> list[tuple[str, dict[str, Any]]]:
    """The pictures by name with what the renderers are told, so that what has changed is marked.

    since: as in `news`, None for the first snapshot. Raises ValueError for a name that is none of `PICTURES`.
    """
    state = snapshot.state
    before = state if since is None else snapshot.history.state_after(min(since, snapshot.moves))
    marked: dict[str, dict[str, Any]] = {
        "map": {"highlight": changed_hexes(before, state)},
        "market": {"highlight": repriced_companies(before, state)},
        "sheet": {"revenues": _revenues(snapshot)},
    }
    if unknown := [kind for kind in kinds if kind not in marked]:
        raise ValueError(f"There is no picture {unknown[0]}; the pictures are {', '.join(PICTURES)}.")
    return [(kind, marked[kind]) for kind in kinds]


def _revenues(snapshot: Snapshot) -> dict[str, int]:
    """The last revenue of each company, in dollars."""
    runs = last_runs(snapshot.state, (line.events for line in reversed(snapshot.history.lines)))
    return {company: run.revenue for company, run in runs.items()}


MOST_KEPT = 100  # posts; the oldest are forgotten


class Posted(msgspec.Struct, frozen=True):
    """A post of a game. where: the place, such as a channel. begun: by how many first moves the game is known
    again; key: by them. moves: how many it had. message: the id of the post. game: its id, if its
    file has one. whole: see `Snapshot.whole`."""

    where: str
    begun: int
    key: str
    moves: int
    message: str = ""
    game: str = ""
    whole: str = ""

    def since(self, snapshot: Snapshot) -> int | None:
        """How many moves of a game this post has shown; None where some were taken back since, or the
        position without moves is another."""
        goes_on = self.moves <= snapshot.moves and self.whole in ("", snapshot.whole(self.moves))
        return self.moves if goes_on else None


class Posts:
    """The last post of each game at each place, the newest first."""

    def __init__(self, raw: bytes | str | None) -> None:
        """raw: what `encode` gave; what cannot be read is begun anew."""
        try:
            self._known = msgspec.json.decode(raw or "[]", type=list[Posted])
        except msgspec.DecodeError:
            self._known = []

    def __iter__(self) -> Iterator[Posted]:
        return iter(self._known)

    def last(self, snapshot: Snapshot, where: str) -> Posted | None:
        """What was posted last of this game at a place."""
        for each in self._known:
            is_begun = each.begun <= snapshot.moves and each.key == snapshot.key(each.begun)
            is_same = each.game == snapshot.id if each.game and snapshot.id else is_begun
            if is_same and each.where == where:
                return each
        return None

    def keep(self, snapshot: Snapshot, where: str, message: str) -> list[Posted]:
        """Remember a post; returns the posts that are not known any more."""
        former, begun = self.last(snapshot, where), min(snapshot.moves, FIRST_MOVES)
        posted = Posted(
            where,
            begun,
            snapshot.key(begun),
            snapshot.moves,
            message,
            snapshot.id,
            snapshot.whole(snapshot.moves),
        )
        others = [each for each in self._known if each is not former]
        self._known = [posted, *others[: MOST_KEPT - 1]]
        replaced = [former] if former and former.message != message else []
        return [*replaced, *others[MOST_KEPT - 1 :]]

    def remove(self, posts: Collection[Posted]) -> None:
        """Forget posts."""
        self._known = [each for each in self._known if each not in posts]

    def encode(self) -> bytes:
        """The posts as JSON."""
        return msgspec.json.encode(self._known)


def changes(last: Posted | None, snapshot: Snapshot) -> list[str]:
    """What has changed since the last post of a game, in sentences; nothing for a first post."""
    if last is None:
        return []
    since = last.since(snapshot)
    if since is None:
        return [TAKEN_BACK if last.moves else OTHER_POSITION]
    return news(snapshot, since)
