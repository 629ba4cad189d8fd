"""Scenarios: rule tests as short scripts, which must replay or must fail with a sentence."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from engine.core.state import State
from engine.game_text import replay


class ScenarioRunner(NamedTuple):
    """Runs scenarios of one title. A body is what follows the `---` line of a script."""

    title: str

    def script_text(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
        """The whole script with that body."""
        header = [f"title {self.title}", f"players {players}", *(f"option {o}" for o in options), "---"]
        return "\n".join(header) + "\n" + body

    def run(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> State:
        """Replay a body and return its last position. The test fails with the line that fails."""
        script = self.script_text(body, players, options)
        report = replay(script)
        if failure := report.failure:
            pytest.fail(f"{failure}\n>> {script.splitlines()[failure.line - 1]}", pytrace=False)
        assert report.state is not None
        assert report.move_count or report.checkpoint_count or "!" in body
        return report.state

    def error(self, body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
        """The sentence with which the replay of a body fails."""
        report = replay(self.script_text(body, players, options))
        assert report.failure, "the scenario replays, but should fail"
        return str(report.failure)
