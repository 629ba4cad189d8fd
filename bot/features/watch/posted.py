"""What was posted last of each game at each place, so that the next snapshot edits that post."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from bot.features.watch.snapshot import FIRST_MOVES, TAKEN_BACK, Snapshot, news

MOST_KEPT = 100  # posts; the oldest are forgotten


class Posted(msgspec.Struct, frozen=True):
    """A post of a game. where: the place, such as a channel. begun: by how many first moves the game is known
    again; key: by them. moves: how many it had. message: the id of the post. game: its id, if its
    file has one. whole: the key of all its moves."""

    where: str
    begun: int
    key: str
    moves: int
    message: str = ""
    game: str = ""
    whole: str = ""

    def since(self, snapshot: Snapshot) -> int | None:
        """How many moves of a game this post has shown; None where some were taken back since."""
        goes_on = self.moves <= snapshot.moves and self.whole in ("", snapshot.key(self.moves))
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
            snapshot.key(snapshot.moves),
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
    return [TAKEN_BACK] if since is None else news(snapshot, since)
