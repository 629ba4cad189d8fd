"""Rule tests as short text games: a body of one title that must hold, or must be found wrong."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from engine.core.state import State
from engine.game_text import replay


class ScenarioRunner(NamedTuple):
    """The title that bodies are of."""

    title: str

    def script_text(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
        """A whole text game of that body, whose lines keep their order."""
        header = [f"title {self.title}", f"players {players}", *(f"option {o}" for o in options), "---"]
        return "\n".join(header) + "\n" + body

    def run(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> State:
        """Play a body; the test fails with the line that does not hold."""
        whole = self.script_text(body, players, options)
        report = replay(whole)
        if failure := report.failure:
            pytest.fail(f"{failure}\n>> {whole.splitlines()[failure.line - 1]}", pytrace=False)
        assert report.state is not None
        assert report.move_count or report.checkpoint_count or "!" in body
        return report.state

    def error(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
        """The sentence with which a body is found wrong."""
        report = replay(self.script_text(body, players, options))
        assert report.failure, "the text holds, but must not"
        return str(report.failure)
