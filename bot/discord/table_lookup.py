"""Which table a user means, and whether they may read about it."""

from __future__ import annotations

from collections.abc import Sequence

import discord

from bot.discord.interactions.line_interactions import LineInteractions
from bot.discord.threads import code_in, has_own_thread
from bot.hub.info import TableInfo
from bot.hub.queries import NoSuchTable, is_visible
from bot.service import Service
from engine.core.words import join_words
from storage import GameTable, TableStatus, UnitOfWork


def _is_own_thread(table: GameTable, channel: int | None) -> bool:
    """Whether that is the thread of the table: there, everything is about this table, whatever its status."""
    return has_own_thread(table) and table.location.get("thread") == channel


def sees(interaction: discord.Interaction, table: TableInfo, person_id: int) -> bool:
    """Whether a user may read about a table: those at it, and those who see its channel."""
    guild, user, channel = interaction.guild, interaction.user, table.location.get("channel")
    room = guild.get_channel_or_thread(int(channel)) if guild and channel else None
    if is_visible(table, person_id, None):
        return True
    return room is not None and isinstance(user, discord.Member) and room.permissions_for(user).view_channel


async def resolve_table(
    lines: LineInteractions,
    interaction: discord.Interaction,
    code: str | None,
    statuses: Sequence[TableStatus] = (),
) -> TableInfo:
    """The table that a command is about.

    It is the table with that `code`, or else that name; without a code that of the thread, the only one
    of the channel, the only one that waits for the user, or the only one of the user. `statuses` limits
    the choice where there is neither code nor a thread of its own. Raises ValueError with a sentence for
    the user.
    """
    queries = lines.service.queries
    if code:
        person_id = await lines.known_person_id(interaction)
        found = await queries.find_table(code, person_id=person_id, guild=interaction.guild_id)
        if not sees(interaction, found, person_id):
            raise NoSuchTable(f"There is no table {code.strip().upper()}.")
        return found
    all_here = await _tables_here(lines.service, interaction)
    here = [
        t
        for t in all_here
        if not statuses or t.status in statuses or _is_own_thread(t, interaction.channel_id)
    ]
    if len(here) == 1:
        return await queries.table_info(here[0].id)
    person_id = await lines.known_person_id(interaction)
    mine = [t for t in await queries.list_tables(person_id=person_id) if not statuses or t.status in statuses]
    if here and (own_here := [t for t in mine if t.id in {each.id for each in here}]):
        mine = own_here
    waiting = [t for t in mine if t.status == "running" and t.seat_of(person_id) in t.acting_seats]
    for candidates in (waiting, mine):
        if len(candidates) == 1:
            return candidates[0]
    codes = [t.code for t in mine] or [t.code for t in here]
    if codes:
        raise ValueError(f"Which table? Fill in `table`: {join_words(codes, 'or')}.")
    if lobbies := [t.code for t in all_here if t.status == "lobby" and statuses]:
        raise ValueError(f"The game at table {lobbies[0]} has not started yet; `/table start` starts it.")
    raise ValueError("There is no such table here. `/table new` opens one, `/table list` shows all.")


async def _tables_here(service: Service, interaction: discord.Interaction) -> list[GameTable]:
    """The tables of the thread in which a user acts, or of the channel."""
    channel = interaction.channel_id
    async with service.store.read() as unit:
        if in_thread := await unit.tables.find(location=("thread", channel)):
            return in_thread
        if named := await _named_by_thread(unit, interaction):
            return [named.model_copy(update={"location": named.location | {"thread": channel}})]
        tables = await unit.tables.find(location=("channel", channel))
    return [table for table in tables if table.status != "ended"]


async def _named_by_thread(unit: UnitOfWork, interaction: discord.Interaction) -> GameTable | None:
    """The table of our thread, by its name, where its place could not be stored: its log is damaged."""
    thread = interaction.channel
    if not isinstance(thread, discord.Thread) or thread.owner_id != interaction.application_id:
        return None
    table = await unit.tables.by_code(code_in(thread.name))
    is_its_channel = table is not None and table.location.get("channel") == thread.parent_id
    return table if is_its_channel else None


async def matching_tables(
    lines: LineInteractions, interaction: discord.Interaction, person_id: int, typed: str
) -> list[TableInfo]:
    """Tables for autocompletion: those that wait for the user, their others, then the server's. person_id:
    the user's, see `LineInteractions.known_person_id`."""
    queries = lines.service.queries
    mine = await queries.list_tables(person_id=person_id)
    mine.sort(
        key=lambda t: (
            t.status != "running" or t.seat_of(person_id) not in t.acting_seats,
            t.status != "lobby",
        )
    )
    if interaction.guild_id is not None:
        own_ids = {t.id for t in mine}
        others = await queries.list_tables(
            location=("guild", interaction.guild_id), statuses=("lobby", "running")
        )
        mine += [t for t in others if t.id not in own_ids and sees(interaction, t, person_id)]
    wanted = typed.casefold().strip()
    return [t for t in mine if wanted in f"{t.code} {t.title} {t.name}".casefold() and t.status != "ended"]
