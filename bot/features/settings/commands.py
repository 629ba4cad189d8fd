"""Commands about oneself: `settings`, `away`, `back`, and `turns`, which lists what waits."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.settings.controls import settings_controls
from bot.features.settings.feature import PersonSettingsService, without_word
from bot.hub.command import Command, Form, Lines, PersonCommand
from bot.hub.result import QueryAnswer


class SettingsCommands:
    """Carries out lines about a person's own settings."""

    def __init__(self, settings: PersonSettingsService) -> None:
        self._settings = settings

    def commands(self) -> list[Command]:
        """`turns`, `settings`, `away`, `back`."""
        list_turns = Form("turns", "every table that waits for you, the most urgent first")
        own = Form(
            "settings [TEXT]", "how you are told: channels, digest, quiet hours, time zone", "settings",
            pattern=r"settings(?: [^?]{1,80})?",
        )  # fmt: skip
        away = Form(
            "away until DATE", "you are away; `away until DATE deputy NAME`, `back`",
            pattern=r"away (?:until|from|off).{0,60}",
        )  # fmt: skip
        return [
            PersonCommand("turns", (list_turns,), self._turns, Lines.NONE),
            PersonCommand("settings", (own,), self._change),
            PersonCommand("away", (away,), self._change),
            PersonCommand("back", (Form("back"),), self._change),
        ]

    async def _turns(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        return QueryAnswer("turns", await self._settings.turns(person_id))

    async def _change(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        """Change settings, or show them with the controls that change them."""
        text = await self._settings.apply(person_id, lines)
        is_change = any(map(without_word, lines))
        now = [without_word(line) for line in text.splitlines()]
        return QueryAnswer("settings", text, controls=() if is_change else settings_controls(now))
