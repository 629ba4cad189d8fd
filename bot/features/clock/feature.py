"""Commands about time: `pace`, `extend`, `turns`, `settings`, `away`, `back`."""

from __future__ import annotations

from bot.features.clock.clocks import ClockRules
from bot.features.digest.feature import pace_text
from bot.features.settings.feature import PersonSettingsService
from bot.hub.cache import TableCache
from bot.hub.commands import PERSONAL_WORDS, Command, first_word, not_running, refused
from bot.hub.pace import Pace, parse_pace
from bot.hub.polls import PollHandler, completed
from bot.hub.result import CommandResult, QueryAnswer
from bot.hub.status import record_pace
from bot.hub.table import LiveTable
from bot.position.times import moment_text
from storage import ClockChanges


class TimeCommands:
    """Carries out the commands about time at a locked table."""

    def __init__(self, cache: TableCache, polls: PollHandler, settings: PersonSettingsService) -> None:
        self._cache, self._polls, self._settings = cache, polls, settings

    async def handle(self, table: LiveTable, command: Command) -> CommandResult:
        """Carry out a command whose first word is one of `TIME_WORDS`."""
        line = command.lines[0]
        word, _, rest = line.partition(" ")
        try:
            match word.casefold():
                case "pace" if rest.strip():
                    return await self._propose_pace(table, command, parse_pace(rest))
                case "pace":
                    return self._answer(table, command, pace_text(table.stored_info.pace))
                case "extend":
                    return await self._extend(table, command)
                case "turns":
                    text = await self._settings.turns(self._person(table, command))
                    return self._answer(table, command, text)
            text = await self._settings.apply(self._person(table, command), command.lines)
        except ValueError as error:
            return refused(table, command, str(error))
        return self._answer(table, command, text)

    @staticmethod
    def _person(table: LiveTable, command: Command) -> int:
        """Whose settings are meant: the person's who writes, for the operator those of the seat's player."""
        if command.person_id is not None:
            return command.person_id
        player = table.stored_info.player_at(command.seat)
        if player is None:
            raise ValueError("Nobody sits there.")
        return player.person_id

    @staticmethod
    def _answer(table: LiveTable, command: Command, text: str) -> QueryAnswer:
        word = first_word(command.lines[0])
        query = "settings" if word in PERSONAL_WORDS else word
        return QueryAnswer(query, text, next_decision_id=table.decision_id_of(command.seat))

    async def _propose_pace(self, table: LiveTable, command: Command, pace: Pace) -> CommandResult:
        """Ask the others for another pace; alone at the table, a player changes it at once."""
        if problem := not_running(table, "running", "paused"):
            return problem
        if pace == table.stored_info.pace:
            return refused(table, command, f"The pace is already {pace}.")
        others = [
            p.seat for p in table.stored_info.seated_players if p.seat is not None and p.seat != command.seat
        ]
        name = table.state.players[command.seat]
        if others:
            question = f"{name} proposes another pace: {pace} (now: {table.stored_info.pace})."
            return await self._polls.open_poll(table, command, "pace", others, question, {"pace": str(pace)})
        async with self._cache.commit_command(table, command) as draft:
            sentence = f"{name} sets the pace: {pace}."
            await record_pace(draft, pace, sentence, command.person_id, command.transport)
            draft.result = completed(draft, command, sentences=(sentence,))
        return draft.result

    async def _extend(self, table: LiveTable, command: Command) -> CommandResult:
        """Take one more allowance for the decision that waits; once, without asking."""
        if problem := not_running(table, "running"):
            return problem
        info = table.stored_info
        if info.pace.kind == "none":
            return refused(table, command, "There is no pace at this table, so your time does not run out.")
        async with self._cache.store.read() as unit:
            clock = (await unit.clocks.seat_clocks(info.id)).get(command.seat)
        if clock is None or clock.decision_id is None or table.decision_id_of(command.seat) is None:
            return refused(table, command, "The table does not wait for you, so your time does not run.")
        if clock.extended:
            return refused(table, command, "You have taken more time for this decision already.")
        clock.extended = True
        due = ClockRules(info.pace, table.metadata.settings).deadline(clock)
        zone = table.metadata.settings[command.seat].zone if command.seat in table.metadata.settings else None
        until = moment_text(due.time_up, zone) if due else ""
        name = table.state.players[command.seat]
        async with self._cache.commit_command(table, command) as draft:
            unit = await draft.unit()
            await unit.clocks.write(ClockChanges(seats=[clock]))
            await unit.clocks.look_again(info.id)
            draft.add_row(
                command.new_row(
                    kind="note", line="extend", raw_line=f"{name} takes more time, until {until}."
                )
            )
            draft.result = completed(draft, command, sentences=(f"You have more time, until {until}.",))
        return draft.result
