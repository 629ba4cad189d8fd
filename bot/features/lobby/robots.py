"""Robots in a lobby: they join once everybody there agrees, and leave when anybody does not."""

from __future__ import annotations

from bot.features.lobby.messages import ask_about_robot, tell_no_robots
from bot.hub.changes import TableChanges, actor_name, again_on_conflict, check_allowed, check_in_lobby
from bot.hub.info import TableInfo
from bot.hub.seating import (
    add_robot,
    add_seat,
    agree_to_robots,
    check_name,
    people_of,
    robot_name,
    robots_of,
    seat_agreed_robots,
    waiting_robots,
)


class LobbyRobots(TableChanges):
    """Robots at tables that have not started."""

    @again_on_conflict
    async def invite_robot(self, table_id: int, *, by: int | None) -> TableInfo:
        """Keep a seat for a robot, which joins once all people at the table agree. For host and players.

        by: None is the operator, who speaks for everybody.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            check_in_lobby(info)
            name = robot_name(p.name for p in info.seated_players)
            check_name(info, name, None)
            agreed = [] if by is None else [by]
            waits = by is not None and any(p.person_id != by for p in people_of(info))
            async with self.changing(table) as unit:
                robot_id = await add_robot(unit, name, agreed)
                await add_seat(unit, info, robot_id, name, invited=waits)
                if waits:
                    await ask_about_robot(unit, info, name, by)
        return table.stored_info

    @again_on_conflict
    async def agree_to_robots(self, table_id: int, person_id: int) -> TableInfo:
        """A person at the table agrees to the robots that wait for it; those join to whom all agree."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.player_of(person_id) is None:
                raise ValueError(f"You have no seat at table {info.code}.")
            if not waiting_robots(info):
                raise ValueError(f"No robot waits for an answer at table {info.code}.")
            async with self.changing(table) as unit:
                await agree_to_robots(unit, info, person_id)
                await seat_agreed_robots(unit, info, [p.person_id for p in people_of(info)])
        return table.stored_info

    @again_on_conflict
    async def refuse_robots(self, table_id: int, *, by: int | None) -> TableInfo:
        """A person at the table does not agree, or no longer: the robots leave, and the others are told.

        by: None is the operator.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            check_in_lobby(info)
            robots = robots_of(info)
            if not robots:
                raise ValueError(f"No robot sits at table {info.code}.")
            async with self.changing(table) as unit:
                for robot in robots:
                    await unit.tables.vacate_seat(robot.seat_id)
                await tell_no_robots(unit, info, actor_name(info, by), by)
        return table.stored_info
