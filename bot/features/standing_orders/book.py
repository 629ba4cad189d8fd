"""The armed orders of a table as the engine judges them, and what a line about orders means there (pure).

An order is stored as a line with the move after which it was left. It is judged by the position after that
move and by the moves since then that still count; both follow from the log. An order ends when one of
these, or the place where it was left, is undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import engine
from bot.hub.info import ROBOT_TRANSPORT
from bot.hub.request import Request, is_from_deputy
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.standing_orders import (
    ArmedOrder,
    Order,
    PlayedMove,
    declines_votes,
    format_order,
    is_order_line,
    limit_as_order,
    parse_order,
)
from storage import LogRow, OrderRecord, resolve_line_of_play

UNDONE = "What it was left for was undone."


@dataclass
class _Book:
    """What has been read of the orders of one table, while that is in memory. No id of an order is a key: one
    that was given in a transaction which failed is given again."""

    starts: dict[int, engine.State] = field(default_factory=dict)  # by the move after which an order was left
    orders: dict[tuple[int, int, str], Order] = field(default_factory=dict)  # by seat, that move, and line
    moves: dict[int, PlayedMove] = field(default_factory=dict)  # by row of the log


_books = WeakKeyDictionary[LiveTable, _Book]()


@dataclass
class ReadOrders:
    """The orders of a table that are still armed, and why the others have ended, by id."""

    armed: list[ArmedOrder] = field(default_factory=list)
    ended: dict[int, str] = field(default_factory=dict)


def read_orders(
    table: LiveTable, records: Iterable[OrderRecord], new_rows: Sequence[LogRow] = ()
) -> ReadOrders:
    """The orders of records after the log with further rows. Raises LogNotLoaded."""
    book = _books.setdefault(table, _Book())
    played = resolve_line_of_play(new_rows, table.log.line_of_play).played
    later = {row.seq: row for row in new_rows}
    found = ReadOrders()
    for record in records:
        if _is_undone(table, record, played, later):
            found.ended[record.id] = UNDONE
            continue
        start, seat = _start_of(table, book, record, played, later), engine_seat(record.seat)
        key = record.seat, record.armed_at, record.line
        if key not in book.orders:
            try:
                own_view = engine.visible_to(start, seat)
                book.orders[key] = parse_order(engine.game_of(own_view), seat, record.line)
            except (engine.UnreadableError, engine.RefusedError) as error:
                found.ended[record.id] = str(error)
                continue
        moves = tuple(_move(table, book, seq, later) for seq in played if seq > record.armed_at)
        found.armed.append(ArmedOrder(record.id, seat, book.orders[key], start, moves))
    return found


def _start_of(
    table: LiveTable, book: _Book, record: OrderRecord, played: Sequence[int], later: Mapping[int, LogRow]
) -> engine.State:
    """The position in which an order was left; it may be left in the commit that plays the move before it."""
    if record.armed_at in later:
        before = [seq for seq in played if seq in later and seq <= record.armed_at]
        state = engine.copy_state(table.state)
        for seq in before:
            engine.fold(engine.decode_events(later[seq].events), state)
        return state
    if record.armed_at not in book.starts:
        book.starts[record.armed_at] = table.log.state_after_move(record.armed_at)
    return book.starts[record.armed_at]


def _is_undone(
    table: LiveTable, record: OrderRecord, played: Sequence[int], later: Mapping[int, LogRow]
) -> bool:
    """Whether the place where the order was left, or a move that it said, does not count any more."""
    counted = {0, *played}
    said = table.log.rows_said_by(record.id, record.armed_seq) + [
        row.seq for row in later.values() if row.order_id == record.id
    ]
    return record.armed_at not in counted or not counted.issuperset(said)


def _move(table: LiveTable, book: _Book, seq: int, later: Mapping[int, LogRow]) -> PlayedMove:
    if (row := later.get(seq)) is not None:
        return _played_move(row)
    if seq not in book.moves:
        book.moves[seq] = _played_move(table.log.row(seq))
    return book.moves[seq]


def _played_move(row: LogRow) -> PlayedMove:
    events = tuple(engine.decode_events(row.events))
    return PlayedMove(engine_seat(row.seat or 0), row.line, events, row.order_id)


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
    return request._replace(lines=(line,))


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


def armed_orders(table: LiveTable, seat: int, person_id: int) -> list[ArmedOrder]:
    """The orders of a player that are armed now. Raises LogNotLoaded."""
    own = orders_of(table, seat, person_id)
    return read_orders(table, own).armed if own else []
