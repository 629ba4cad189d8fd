"""What a line about orders means at a table, and which lines about limits are orders (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.hub.info import ROBOT_TRANSPORT
from bot.hub.request import Request, is_from_deputy
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.standing_orders import declines_votes, format_order, is_order_line, limit_as_order, parse_order
from storage import OrderRecord


def is_about_orders(table: LiveTable, request: Request) -> bool:
    """Whether a request has a line that leaves, lists or ends orders.

    `standing protect` for a company whose limit the position holds is a move, which changes that limit.
    """
    return any(map(is_order_line, request.lines)) and not (
        len(request.lines) == 1 and _changes_held_limit(table, request.seat, request.lines[0])
    )


def _changes_held_limit(table: LiveTable, seat: int, line: str) -> bool:
    """Whether a line is about a limit of a seat that the position holds: older versions, files of other sites
    and lines that were played with others have put it there."""
    words = [*line.casefold().split(), "", "", ""]
    held = table.state.standing_protections.get(engine_seat(seat), {})
    return words[:2] == ["standing", "protect"] and words[2] in {company.casefold() for company in held}


def is_limit(table: LiveTable, request: Request) -> bool:
    """Whether a request sets a limit of a bid that is left as an order."""
    return limit_as_own_order(table, request) is not request


def limit_as_own_order(table: LiveTable, request: Request) -> Request:
    """A request that sets a bid limit as the order that means the same; any other request as it is.

    A robot's limit stays in the position: it answers in advance once, and is not asked again.
    """
    if len(request.lines) != 1 or request.transport == ROBOT_TRANSPORT:
        return request
    line = limit_as_order(table.state, engine_seat(request.seat), request.lines[0])
    if line is None or table.stored_info.player_at(request.seat) is None or is_from_deputy(table, request):
        return request  # a deputy leaves no orders; their limit is for this auction
    return replace(request, lines=(line,))


def full_order_line(state: engine.State, seat: int, own: Sequence[OrderRecord], text: str) -> str:
    """A line about orders in full. state: the position. own: the orders of the player.

    Raises what `parse_order` raises, and ValueError where no such order is there to take back.
    """
    words = text.casefold().split()
    if words in (["auto"], ["auto", "help"]) or words[:2] in (["auto", "off"], ["auto", "first"]):
        return " ".join(words)
    if words[:2] == ["standing", "protect"] and words[-1] == "ask":
        begin = f"auto protect {' '.join(words[2:3])} up to"
        for number, order in enumerate(own, 1):
            if order.line.casefold().startswith(begin):
                return f"auto off {number}"
        raise ValueError("You have left no such order.")
    visible = engine.visible_to(state, engine_seat(seat))
    return format_order(parse_order(engine.game_of(visible), engine_seat(seat), text))


def orders_of(table: LiveTable, seat: int, person_id: int) -> list[OrderRecord]:
    """The armed orders of a player, in the order in which they are asked."""
    return [o for o in table.metadata.orders if (o.seat, o.person_id) == (seat, person_id)]


def declining_seat(table: LiveTable, voters: Sequence[int]) -> int | None:
    """The first voter who has left an order to decline votes."""
    owners = {player.seat: player.person_id for player in table.stored_info.seated_players}
    declining = {
        order.seat
        for order in table.metadata.orders
        if owners.get(order.seat) == order.person_id and declines_votes(order.line)
    }
    return next((seat for seat in voters if seat in declining), None)
