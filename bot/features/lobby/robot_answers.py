"""What people at a table that has not started are told about robots, on every channel."""

from __future__ import annotations

from bot.features.lobby.tables import Lobby
from bot.hub.info import TableInfo
from bot.hub.seating import robots_of


def invited_robot_sentence(info: TableInfo) -> str:
    """What happens with the robot that was invited last."""
    robot = robots_of(info)[-1]
    if robot.joined:
        return f"{robot.name} takes a seat at table {info.code}. Who joins later agrees to it by joining."
    return f"{robot.name} joins table {info.code} once everybody there agrees; they are asked."


async def answer_about_robots(lobby: Lobby, table: TableInfo, person_id: int, *, agrees: bool) -> str:
    """A person agrees to the robots of a lobby, or declines; what follows, in a sentence."""
    try:
        if not agrees:
            await lobby.refuse_robots(table.id, by=person_id)
            return f"No robot plays at table {table.code}."
        info = await lobby.agree_to_robots(table.id, person_id)
    except ValueError as error:
        return str(error)
    if any(not robot.joined for robot in robots_of(info)):
        return "You agree. Others have not answered yet."
    return "You agree. The robot takes its seat."
