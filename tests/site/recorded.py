"""The recorded games that lie beside the checkout, read in place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import engine
from engine.interchange.site import Replay
from engine.interchange.site_file import SiteFile, read

GAMES = Path(__file__).parents[3] / "shared" / "games"


def files() -> list[Path]:
    """Every recorded game of a title that can be played; none where the folder is absent."""
    found = [p for title in engine.titles() for p in sorted((GAMES / "18xx.games" / title).glob("*.json.gz"))]
    return [p for p in found if not p.name.endswith(".states.jsonl.gz")]


def game(path: Path) -> SiteFile:
    return read(gzip.decompress(path.read_bytes()))


def lines(path: Path) -> list[dict[str, Any]]:
    """A gzipped file of one JSON object a line."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def states(path: Path) -> list[dict[str, Any]]:
    """What the other engine showed after every live action of that game."""
    return lines(path.with_name(path.name.replace(".json.gz", ".states.jsonl.gz")))


def replay(path: Path) -> Replay:
    return Replay(game(path))
