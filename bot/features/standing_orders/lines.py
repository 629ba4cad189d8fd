"""What a line about orders means at a table, and which lines about limits are orders (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.hub.commands import Command
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.orders import format_order, is_order_line, limit_as_order, parse_order
from storage import OrderRecord

ROBOT_TRANSPORT = "robot"


def is_about_orders(table: LiveTable, command: Command) -> bool:
    """Whether a command has a line that leaves, lists or ends orders.

    `standing protect` for a company whose limit the position holds is a move, which changes that limit.
    """
    return any(map(is_order_line, command.lines)) and not (
        len(command.lines) == 1 and _changes_held_limit(table, command.seat, command.lines[0])
    )


def _changes_held_limit(table: LiveTable, seat: int, line: str) -> bool:
    """Whether a line is about a limit of a seat that the position holds: older versions, files of other sites
    and lines that were played with others have put it there."""
    words = [*line.casefold().split(), "", "", ""]
    held = table.state.standing_protections.get(engine_seat(seat), {})
    return words[:2] == ["standing", "protect"] and words[2] in {company.casefold() for company in held}


def limits_as_orders(table: LiveTable, command: Command) -> Command:
    """A command that sets a bid limit as the order that means the same; any other command as it is.

    A robot's limit stays in the position: it answers in advance once, and is not asked again.
    """
    if len(command.lines) != 1 or command.word != "bid" or command.transport == ROBOT_TRANSPORT:
        return command
    line = limit_as_order(table.state, engine_seat(command.seat), command.lines[0])
    player = table.stored_info.player_at(command.seat)
    if line is None or player is None or command.person_id not in (None, player.person_id):
        return command  # a deputy leaves no orders; their limit is for this auction
    return replace(command, lines=(line,))


def full_order_line(table: LiveTable, seat: int, own: Sequence[OrderRecord], text: str) -> str:
    """A line about orders in full. own: the orders of the player.

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
    state = engine.visible_to(table.state, engine_seat(seat))
    return format_order(parse_order(engine.game_of(state), engine_seat(seat), text))


def orders_of(table: LiveTable, seat: int, person_id: int) -> list[OrderRecord]:
    """The armed orders of a player, in the order in which they are asked."""
    return [o for o in table.metadata.orders if (o.seat, o.person_id) == (seat, person_id)]
