"""`rematch`: a table like one whose game is over, with the same people."""

from __future__ import annotations

from bot.features.lobby.tables import Lobby
from bot.hub.info import TableInfo
from bot.hub.limits import LimitReached
from bot.hub.request import Request
from bot.hub.result import CommandResult, LineRefused, QueryAnswer
from bot.position import text_views


async def rematch(lobby: Lobby, info: TableInfo, request: Request) -> CommandResult:
    """Open a table for a player of a game that is over. For the operator, its host is the seat's player."""
    player = info.player_of(request.person_id) or info.player_at(request.seat)
    if player is None:
        return LineRefused(*request.numbered_line(0), "A rematch is for those who have played.")
    try:
        created = await lobby.rematch(info.id, by=player.person_id)
    except (ValueError, LimitReached) as error:
        return LineRefused(*request.numbered_line(0), str(error))
    invited = [p.name for p in created.seated_players if not p.joined]
    verb = "is" if len(invited) == 1 else "are"
    others = f" {text_views.join_words(invited)} {verb} invited." if invited else ""
    return QueryAnswer("rematch", f"Table {created.code} is open, as the last one was.{others}")
