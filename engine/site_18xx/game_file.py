"""The site's game file: one JSON object whose `actions` are the game, and nothing else is.

`read` checks the envelope; `live` resolves undo and redo, so that what is left is the line of play
that the players ended with. Nested automatic actions stay with the action that they followed.
"""

from __future__ import annotations

from typing import Any

import msgspec

MAX_ACTIONS = 50_000


class SiteFileError(Exception):
    """The file cannot be read as a game; the message says what is wrong with it."""


class SitePlayer(msgspec.Struct, frozen=True, gc=False):
    """A player as the file names him: an id, or only a name."""

    name: str
    id: int | str | None = None

    @property
    def key(self) -> str:
        return str(self.name if self.id is None else self.id)


class SiteSettings(msgspec.Struct, frozen=True, gc=False):
    optional_rules: list[str] = []


class SiteAction(msgspec.Struct, frozen=True, gc=False):
    """One entry of `actions`; `auto` are the automatic ones that followed it."""

    type: str
    id: int = 0
    entity: int | str | None = None
    entity_type: str | None = None
    auto_actions: list[SiteAction] = msgspec.field(default_factory=list, name="auto_actions")
    action_id: int | None = None
    company: str | None = None
    corporation: str | None = None
    price: int | None = None
    share_price: str | int | None = None
    shares: list[str] = []
    percent: int | None = None
    hex: str | None = None
    tile: str | None = None
    rotation: int | None = None
    city: str | None = None
    routes: list[dict[str, Any]] = []
    kind: str | None = None
    train: str | None = None
    variant: str | None = None
    exchange: str | None = None
    choice: str | int | None = None
    target: str | None = None
    target_type: str | None = None
    corporations: list[str] = []

    @property
    def entity_key(self) -> str:
        return str(self.entity)


class SiteFile(msgspec.Struct, frozen=True, gc=False):
    """A game of the site."""

    title: str
    players: list[SitePlayer]
    actions: list[SiteAction]
    settings: SiteSettings = msgspec.field(default_factory=SiteSettings)
    result: dict[str, int] | None = None


_decoder = msgspec.json.Decoder(SiteFile)


def read_site_file(raw: bytes) -> SiteFile:
    """The game in the bytes of a file. Raises FileError with one sentence."""
    try:
        game = _decoder.decode(raw)
    except RecursionError:
        raise SiteFileError("This is no game file: it is nested without end.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise SiteFileError(f"This is no game file of the site: {wrong}.") from None
    if len(game.actions) > MAX_ACTIONS:
        raise SiteFileError(
            f"The file has {len(game.actions)} actions; more than {MAX_ACTIONS} are not read."
        )
    if len({p.key for p in game.players}) < len(game.players):
        raise SiteFileError("Two players of the file have the same id.")
    return game


def active_actions(actions: list[SiteAction]) -> list[SiteAction]:
    """The actions that stand once undo and redo are resolved; chat is never undone."""
    line: list[SiteAction] = []
    undone: list[list[SiteAction]] = []
    for action in actions:
        if action.type == "undo":
            moves = [a for a in line if a.type != "message"]
            to = action.action_id
            gone = moves[-1:] if to is None else [a for a in moves if a.id > to]
            undone.append(gone)
            dropped = set(map(id, gone))
            line = [a for a in line if id(a) not in dropped]
        elif action.type == "redo":
            line += undone.pop() if undone else []
        else:
            if action.type != "message":
                undone.clear()
            line.append(action)
    return line
