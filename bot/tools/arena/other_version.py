"""A player of another version of Railpost, from a checkout of it, in a process of its own.

`../before@robot:0.2` is the `robot:0.2` of the checkout in `../before`. Both versions play the whole game:
each move goes over a pipe as a line of the notation, which is the same in all versions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import NamedTuple

from engine import Action, State, format_action, parse

PLAYER = """
import sys
from importlib import import_module
from engine import format_action, new_game, parse, play
try:
    arena = import_module("bot.tools.arena.contestants")
except ModuleNotFoundError:
    arena = import_module("bot.arena.contestants")
title, names, options, seed, name, number = sys.argv[1:]
state, _ = new_game(title, names.split(","), tuple(options.split()), int(seed))
player = arena.contestant(name, int(number), len(state.seats))
for line in sys.stdin:
    seat, _, text = line.strip().partition(" ")
    if text:
        state = play(state, seat, parse(state, seat, text)).state
    else:
        print(format_action(state, player.choose_action(state, seat)), flush=True)
"""
"""What the other version runs: `p0` asks for the move of a seat, `p0 pass` says which move was made."""


class Table(NamedTuple):
    """The game that both versions play."""

    title: str
    names: tuple[str, ...]
    options: tuple[str, ...]
    seed: int


class OtherVersion:
    """A player of the version in a checkout. `number`: the seed of its temper."""

    def __init__(self, name: str, table: Table, number: int) -> None:
        checkout, _, player = name.rpartition("@")
        if not Path(checkout, "engine").is_dir():
            raise ValueError(f"{checkout!r} is no checkout of Railpost, which {name!r} needs.")
        told = table.title, ",".join(table.names), " ".join(table.options), str(table.seed)
        command = [sys.executable, "-c", PLAYER, *told, player, str(number)]
        self.process = Popen(command, cwd=checkout, stdin=PIPE, stdout=PIPE, text=True, bufsize=1)

    def saw(self, state: State, seat: str, action: Action) -> None:
        """Tell it of a move, its own included."""
        self._send(f"{seat} {format_action(state, action)}")

    def choose_action(self, state: State, seat: str) -> Action:
        """Its move. Raises RuntimeError if the other version has stopped."""
        self._send(seat)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError("The other version has stopped; what it said is above.")
        return parse(state, seat, line)

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")

    def close(self) -> None:
        """End its process."""
        self.process.communicate()
