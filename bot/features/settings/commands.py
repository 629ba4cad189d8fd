"""Commands about oneself: `settings`, `away`, `back`, and `turns`, which lists what waits."""

from __future__ import annotations

from bot.features.settings.feature import PersonSettingsService
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.request import Request, refused
from bot.hub.result import CommandResult, QueryAnswer
from bot.hub.table import LiveTable


class SettingsCommands:
    """Carries out lines about a person's own settings."""

    def __init__(self, settings: PersonSettingsService) -> None:
        self._settings = settings

    def commands(self) -> list[Command]:
        """`turns`, `settings`, `away`, `back`."""
        list_turns = Form("turns", "every table that waits for you, the most urgent first")
        own = Form(
            "settings [TEXT]", "how you are told: channels, digest, quiet hours, time zone", "settings"
        )
        away = Form(
            "away until DATE", "you are away; `away until DATE deputy NAME`, `back`",
            pattern=r"away (?:until|from|off).{0,60}",
        )  # fmt: skip
        kin = Lines.SAME_HANDLER
        return [
            TableCommand("turns", (list_turns,), self._turns),
            TableCommand("settings", (own,), self._change_settings, kin),
            TableCommand("away", (away,), self._change_settings, kin),
            TableCommand("back", (Form("back"),), self._change_settings, kin),
        ]

    async def _turns(self, table: LiveTable, request: Request) -> CommandResult:
        try:
            text = await self._settings.turns(self._person(table, request))
        except ValueError as error:
            return refused(table, request, str(error))
        return self._answer(table, request, text)

    async def _change_settings(self, table: LiveTable, request: Request) -> CommandResult:
        try:
            text = await self._settings.apply(self._person(table, request), request.lines)
        except ValueError as error:
            return refused(table, request, str(error))
        return self._answer(table, request, text)

    @staticmethod
    def _person(table: LiveTable, request: Request) -> int:
        """Whose settings are meant: the person's who writes, for the operator those of the seat's player."""
        if request.person_id is not None:
            return request.person_id
        player = table.stored_info.player_at(request.seat)
        if player is None:
            raise ValueError("Nobody sits there.")
        return player.person_id

    @staticmethod
    def _answer(table: LiveTable, request: Request, text: str) -> QueryAnswer:
        query = "settings" if request.word in ("away", "back") else request.word
        return QueryAnswer(query, text, next_decision_id=table.decision_id_of(request.seat))
