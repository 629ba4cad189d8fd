"""The recorded games of 18xx.games beside the checkout (`../shared/games`), read in place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec

import engine
from engine import State
from engine.core.state import AnyFrame, OperatingTurn
from engine.site_18xx.game_file import SiteFile, read_site_file
from engine.site_18xx.replay import SiteReplay

GAMES = Path(__file__).parents[3] / "shared" / "games"


def recorded_files() -> list[Path]:
    """Every recorded game of a playable title; none where the folder is absent."""
    files = [
        p for title in engine.title_names() for p in sorted((GAMES / "18xx.games" / title).glob("*.json.gz"))
    ]
    return [p for p in files if not p.name.endswith(".states.jsonl.gz")]


def branch_files() -> list[Path]:
    """Games that leave a recorded game and go on by random legal play on the site; none if absent."""
    files = sorted((GAMES / "branches").glob("*/*.json.gz"))
    return [p for p in files if not p.name.endswith(".states.jsonl.gz")]


def recorded_game(path: Path) -> SiteFile:
    return read_site_file(gzip.decompress(path.read_bytes()))


def json_lines(path: Path) -> list[dict[str, Any]]:
    """A gzipped file with one JSON object per line."""
    return msgspec.json.Decoder().decode_lines(gzip.decompress(path.read_bytes()))


def states(path: Path) -> list[dict[str, Any]]:
    """The position that 18xx.games showed after every action in effect (as `position_snapshot`)."""
    return json_lines(path.with_name(path.name.replace(".json.gz", ".states.jsonl.gz")))


def replay(path: Path) -> SiteReplay:
    return SiteReplay(recorded_game(path))


def replay_file(file: dict[str, Any] | bytes) -> SiteReplay:
    """The game in a file, replayed to its end."""
    game = SiteReplay(read_site_file(file if isinstance(file, bytes) else json.dumps(file).encode()))
    for _ in game.run():
        pass
    return game


def assert_same_position(a: State, b: State) -> None:
    """The positions are equal, but for what the site does not have (such as standing orders), and for
    players and options, which are compared where they are the same."""
    left_out = {"options", "players", "question_number", "last_offer_number", "standing_protections", "stack"}
    for field in a.__struct_fields__:
        if field not in left_out:
            assert getattr(a, field) == getattr(b, field), field
    assert _stack(a) == _stack(b)


def _stack(state: State) -> list[AnyFrame]:
    """The frames without what has been done in a step of trains: the site has no offer without an answer."""
    return [
        msgspec.structs.replace(frame, acted=False)
        if isinstance(frame, OperatingTurn) and frame.step == "trains"
        else frame
        for frame in state.stack
    ]
