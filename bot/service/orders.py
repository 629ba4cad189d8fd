"""Orders at a table: they are armed, listed and ended, and speak in the commit of the move that wakes them.

`OrderHandler.wake` runs at the end of every commit that changes a position, before it is written. What orders
say are rows of the log like those of any player, in the same transaction. A process that dies has written the
move with everything that followed it, or nothing, and of two processes the second loads the table again. So
no order speaks twice and none is lost, and a chain of ten orders is one commit with one notification.

Orders are secret. They have no row in the log; only their owner is answered about them and told why one has
ended; whatever goes wrong with one is logged without its line.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import engine
from bot.service import notifications
from bot.service.commands import Command, refused
from bot.service.commit_draft import CommitDraft
from bot.service.live_table import LiveTable, LogNotLoaded, engine_seat, seat_number
from bot.service.loading import load_recipient
from bot.service.moves import line_failure
from bot.service.order_book import OrderBook, ReadOrders, read_orders
from bot.service.order_texts import (
    armed_text,
    group_order_lines,
    help_text,
    list_text,
    order_number,
    preview_texts,
)
from bot.service.polls import PollHandler
from bot.service.results import CommandResult, QueryAnswer
from bot.service.table_cache import TableCache
from engine.orders import (
    ArmedOrder,
    EndedOrder,
    OrderRun,
    SpokenLine,
    answered_in_advance,
    format_order,
    limit_as_order,
    parse_order,
    run_orders,
)
from storage import NewLogRow, OrderRecord, UnitOfWork

log = logging.getLogger(__name__)

MAX_ORDERS = 20
"""Armed orders of a seat."""
ENDED_SHOWN = 5
ORDER_TRANSPORT = "order"
"""The transport of a row that an order has said."""
ROBOT_TRANSPORT = "robot"


class OrderHandler:
    """Carries out `auto …` for a seated player, and lets the orders of a table speak."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache = cache
        self._polls = polls
        self._books = WeakKeyDictionary[LiveTable, OrderBook]()

    # -- the commands ------------------------------------------------------------------------

    async def handle(self, table: LiveTable, command: Command) -> CommandResult:
        """`auto` lists, `auto off N` ends, `auto first N` puts first, and any other order is armed."""
        player = table.stored_info.player_at(command.seat)
        if player is None:
            return refused(table, command, "That seat is empty; nobody can leave orders for it.")
        if command.person_id not in (None, player.person_id):
            reason = f"Orders are {player.name}'s alone: a deputy neither sees nor leaves them."
            return refused(table, command, reason)
        texts, index = list[str](), 0
        try:
            for place, text in group_order_lines(command.lines):
                index = place
                texts.append(_in_full(table, command.seat, text))
        except ValueError as error:
            return refused(table, command, str(error), index)
        except (engine.UnreadableError, engine.RefusedError) as error:
            decision_id = table.decision_id_of(command.seat)
            return line_failure(error, *command.numbered_line(index), (), decision_id)
        if texts == ["auto help"]:
            return QueryAnswer("auto", help_text(), next_decision_id=table.decision_id_of(command.seat))
        if texts == ["auto"]:
            return await self._list(table, command, player.person_id)
        own = [order for order in _own(table, command.seat) if order.person_id == player.person_id]
        armed = [text for text in texts if text.split()[1] not in ("off", "first")]
        if armed and len(own) + len(armed) > MAX_ORDERS:
            return refused(table, command, f"At most {MAX_ORDERS} orders can be left at a table.")
        try:
            async with self._cache.commit(table, command.request_id) as draft:
                unit = await draft.unit()
                answers = [await self._carry_out(unit, table, command, own, text) for text in texts]
                draft.armed_orders = {answer.armed.id for answer in answers if answer.armed}
                draft.make_result = lambda: _answer(table, command, draft, answers)
        except ValueError as error:
            return refused(table, command, str(error))
        assert draft.result is not None
        return draft.result

    async def _list(self, table: LiveTable, command: Command, person_id: int) -> CommandResult:
        async with self._cache.store.read() as unit:
            ended = await unit.orders.ended(table.stored_info.id, person_id, ENDED_SHOWN)
        own = [order for order in _own(table, command.seat) if order.person_id == person_id]
        text = list_text(table, own, preview_texts(table, self._book(table), own), ended, command.seat)
        return QueryAnswer("auto", text, next_decision_id=table.decision_id_of(command.seat))

    async def _carry_out(
        self, unit: UnitOfWork, table: LiveTable, command: Command, own: list[OrderRecord], text: str
    ) -> _Answer:
        """Arm, end or move one order; what to answer. `own` follows."""
        table_id, words = table.stored_info.id, text.split()
        if words[1] == "first":
            order = own[order_number(text, own) - 1]
            own.sort(key=lambda each: each.id != order.id)
            await unit.orders.set_places(table_id, [each.id for each in own])
            return _Answer(f"`{order.line}` is asked first now.")
        if words[1] == "off":
            chosen = [own[order_number(text, own) - 1]] if words[2:] else list(own)
            for order in chosen:
                await unit.orders.end(table_id, order.id, "You have taken it back.")
                own.remove(order)
            lines = ", ".join(f"`{order.line}`" for order in chosen)
            return _Answer(f"Taken back: {lines}." if chosen else "You have left no orders.")
        player = table.stored_info.player_at(command.seat)
        assert player is not None
        added = await unit.orders.add(
            table_id, command.seat, player.person_id, text, table.line_of_play.current_move, table.seq
        )
        own.append(added)
        return _Answer(armed_text(len(own), text), added)

    def armed_orders(self, table: LiveTable, seat: int, person_id: int) -> list[ArmedOrder]:
        """The orders of a player that are armed now. Raises LogNotLoaded."""
        own = [order for order in _own(table, seat) if order.person_id == person_id]
        return read_orders(table, self._book(table), own).armed if own else []

    # -- speaking ----------------------------------------------------------------------------

    def _book(self, table: LiveTable) -> OrderBook:
        return self._books.setdefault(table, OrderBook())

    async def wake(self, draft: CommitDraft) -> None:
        """Let the orders of a table speak after what the draft has done, in the same transaction."""
        if await self._may_speak(draft):
            records = await self._records(draft)
            if records:
                try:
                    found = read_orders(draft.table, self._book(draft.table), records, [*draft.log_rows])
                    run = run_orders(draft.state or draft.table.state, found.armed)
                except LogNotLoaded:
                    raise
                except Exception as error:  # an order that cannot be judged must not stop its table
                    log.error(
                        "orders of table %s were not asked: %s",
                        draft.table.stored_info.code,
                        type(error).__name__,
                    )
                else:
                    seats = answered_in_advance(run.state, run.armed)
                    draft.answered_in_advance = {seat_number(seat) for seat in seats}
                    await self._record(draft, {order.id: order for order in records}, found, run)
        if draft.make_result is not None:
            draft.result = draft.make_result()

    @staticmethod
    async def _may_speak(draft: CommitDraft) -> bool:
        """Whether something has happened that orders have to be asked after, and the table is played."""
        table = draft.table
        if not table.begun and draft.state is None:
            return False
        status = table.stored_info.status
        if draft.open_unit is not None:
            status = (await draft.open_unit.tables.get(table.stored_info.id)).status
        resumed = status == "running" != table.stored_info.status
        changed = draft.state is not None or draft.armed_orders or resumed
        return bool(changed) and table.begun and status in ("running", "finished")

    @staticmethod
    async def _records(draft: CommitDraft) -> list[OrderRecord]:
        """The armed orders, of players who still have their seats."""
        table = draft.table
        if draft.open_unit is not None:
            records = await draft.open_unit.orders.armed(table.stored_info.id)
        else:
            records = list(table.metadata.orders)
        owners = {player.seat: player.person_id for player in table.stored_info.seated_players}
        return [record for record in records if owners.get(record.seat) == record.person_id]

    async def _record(
        self, draft: CommitDraft, records: dict[int, OrderRecord], found: ReadOrders, run: OrderRun
    ) -> None:
        """Write what orders have said, and end those that are over."""
        draft.spoken = list(run.spoken)
        for spoken in run.spoken:
            draft.add_row(
                _row(spoken, records[spoken.order_id]),
                spoken.state,
                tuple(engine.narrate(spoken.state, spoken.events)),
            )
            await self._polls.update_after_move(draft, seat_number(spoken.seat))
        undone = [EndedOrder(id, engine_seat(records[id].seat), reason) for id, reason in found.ended.items()]
        ended = [*undone, *run.ended]
        if not ended:
            return
        unit = await draft.unit()
        for order in ended:
            await unit.orders.end(draft.table.stored_info.id, order.id, order.reason)
        draft.ended_orders = ended
        if not run.state.game_over:
            await self._tell(draft, unit, records, ended)

    @staticmethod
    async def _tell(
        draft: CommitDraft, unit: UnitOfWork, records: dict[int, OrderRecord], ended: Sequence[EndedOrder]
    ) -> None:
        """Tell the owners of orders that have ended why, each of them alone and in one message."""
        told = [order for order in ended if order.id not in draft.armed_orders]
        for person_id in sorted({records[order.id].person_id for order in told}):
            own = [order for order in told if records[order.id].person_id == person_id]
            owner = await load_recipient(unit, person_id, records[own[0].id].seat)
            sentences = [f"Your order `{records[o.id].line}` has ended. {o.reason}" for o in own]
            suffix = "-".join(str(order.id) for order in own)
            draft.messages += notifications.order_notices(
                draft.table.stored_info, draft.seq, owner, sentences, suffix, unit.now
            )


class _Answer:
    """The answer to one `auto` line; `armed` is the order that it left."""

    def __init__(self, text: str, armed: OrderRecord | None = None) -> None:
        self.text = text
        self.armed = armed


def _answer(
    table: LiveTable, command: Command, draft: CommitDraft, answers: Sequence[_Answer]
) -> CommandResult:
    """What the owner is told once the orders have been asked."""
    lines = []
    for answer in answers:
        lines.append(answer.text)
        if (order := answer.armed) is None:
            continue
        said = [spoken for spoken in draft.spoken if spoken.order_id == order.id]
        lines += [
            f"It has said `{spoken.line}`: {' '.join(engine.narrate(spoken.state, spoken.events))}"
            for spoken in said
        ]
        reasons = [ended.reason for ended in draft.ended_orders if ended.id == order.id]
        if reasons:
            lines.append(f"It has ended. {reasons[0]}")
        elif not said:
            own_view = engine.copy_state(draft.state or table.state)
            lines.append(preview_texts(table, OrderBook(), [order], own_view)[order.id])
    return QueryAnswer("auto", "\n".join(lines), next_decision_id=draft.next_decision_id(command.seat))


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


def _in_full(table: LiveTable, seat: int, text: str) -> str:
    """A line about orders in full.

    Raises what `parse_order` raises, and ValueError where no such order is there to take back.
    """
    words = text.casefold().split()
    if words in (["auto"], ["auto", "help"]) or words[:2] in (["auto", "off"], ["auto", "first"]):
        return " ".join(words)
    if words[:2] == ["standing", "protect"] and words[-1] == "ask":
        begin = f"auto protect {' '.join(words[2:3])} up to"
        for number, order in enumerate(_own(table, seat), 1):
            if order.line.casefold().startswith(begin):
                return f"auto off {number}"
        raise ValueError("You have left no such order.")
    state = engine.visible_to(table.state, engine_seat(seat))
    return format_order(parse_order(engine.game_of(state), engine_seat(seat), text))


def _own(table: LiveTable, seat: int) -> list[OrderRecord]:
    return [order for order in table.metadata.orders if order.seat == seat]


def _row(spoken: SpokenLine, record: OrderRecord) -> NewLogRow:
    """The row of the log for a line that an order has said."""
    return NewLogRow(
        seat=record.seat, person_id=record.person_id, transport=ORDER_TRANSPORT, raw_line=spoken.line,
        line=spoken.line, events=engine.encode_events(spoken.events), order_id=record.id,
    )  # fmt: skip
