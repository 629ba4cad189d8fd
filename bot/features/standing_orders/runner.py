"""Orders speak in the commit of the move that wakes them.

`OrderRunner.run` runs at the end of every commit that changes a position, before it is written. While
people vote on an undo, orders wait for its end. What orders say are rows of the log like those of any player,
in the same transaction. A process that dies has written the move with everything that followed it, or
nothing, and of two processes the second loads the table again. So no order speaks twice and none is lost, and
a chain of ten orders is one commit with one notification.

Orders are secret: only their owner is told why one has ended; whatever goes wrong with one is logged without
its line.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import engine
from bot.features.standing_orders.book import ReadOrders, read_orders
from bot.hub.cache import TableCache
from bot.hub.commit import CommitDraft
from bot.hub.info import ORDER_TRANSPORT
from bot.hub.loading import load_info, load_recipient
from bot.hub.log import LogNotLoaded
from bot.hub.notifications.messages import Notification, sent
from bot.hub.polls import UNDO_POLL, PollHandler, holds_table
from bot.position.pending import engine_seat, seat_number
from engine.standing_orders import EndedOrder, OrderRun, SpokenLine, answered_in_advance, run_orders
from storage import LogRow, OrderRecord, StoredTimer, resolve_line_of_play

log = logging.getLogger(__name__)


class OrderRunner:
    """Lets the orders of a table speak."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    async def release(self, row: StoredTimer) -> bool:
        """The time is over for which the orders of a table wait for a vote on an undo: they speak."""
        assert row.table_id is not None
        async with self._cache.locked(row.table_id) as table, self._cache.commit(table) as draft:
            await (await draft.unit()).clocks.take_due(row)
        return True

    async def run(self, draft: CommitDraft) -> None:
        """Let the orders of a table speak after what the draft has done, in the same transaction."""
        restored = await self._restore(draft)
        if (records := await self._records(draft)) and await self._may_speak(draft):
            await self._speak(draft, records, restored)

    @staticmethod
    async def _restore(draft: CommitDraft) -> set[int]:
        """Arm again what was ended by the moves that the draft undoes; the ids."""
        restored = set[int]()
        for undo in [row for row in draft.new_rows if row.kind == "undo"]:
            orders = (await draft.unit()).orders
            restored |= await orders.restore(draft.table.stored_info.id, undo.rewinds_to or 0)
        return restored

    async def _speak(self, draft: CommitDraft, records: list[OrderRecord], restored: set[int]) -> None:
        try:
            found = read_orders(draft.table, records, [*draft.log_rows])
            run = run_orders(draft.state or draft.table.state, found.armed)
        except LogNotLoaded:
            raise
        except Exception as error:  # an order that cannot be judged must not stop its table
            code = draft.table.stored_info.code
            log.error("orders of table %s were not asked: %s", code, type(error).__name__)
            return
        seats = answered_in_advance(run.state, run.armed)
        draft.answered_in_advance = {seat_number(seat) for seat in seats}
        by_id = {order.id: order for order in records}
        await self._record(draft, by_id, found, run, restored)
        if not run.state.game_over:
            again = [by_id[armed.id] for armed in run.armed if armed.id in restored]
            why = "is left again. What ended it was undone."
            await self._tell(draft, [(order, f"Your order `{order.line}` {why}") for order in again])

    @staticmethod
    async def _may_speak(draft: CommitDraft) -> bool:
        """Whether something has happened that orders have to be asked after, and the table is played."""
        table = draft.table
        if not table.begun and draft.state is None:
            return False
        info, unit = table.stored_info, draft.open_unit
        status, open_polls = info.status, [*table.polls]
        if unit is not None:
            status = (await unit.tables.get(info.id)).status
            open_polls = await unit.polls.open_polls(info.id)
        if holds_table(open_polls, info.pace, draft.timestamp):
            return False
        resumed = status == "running" != info.status
        released = any(each.poll.kind == UNDO_POLL for each in table.polls)
        changed = draft.state is not None or draft.armed_orders or resumed or released
        return bool(changed) and table.begun and status in ("running", "finished")

    @staticmethod
    async def _records(draft: CommitDraft) -> list[OrderRecord]:
        """The armed orders, of players who still have their seats."""
        info, unit = draft.table.stored_info, draft.open_unit
        if unit is not None:
            records = await unit.orders.armed(info.id)
            if draft.changes_seats:
                info = await load_info(unit, info.id)
        else:
            records = list(draft.table.metadata.orders)
        owners = {player.seat: player.person_id for player in info.seated_players}
        return [record for record in records if owners.get(record.seat) == record.person_id]

    async def _record(
        self,
        draft: CommitDraft,
        records: dict[int, OrderRecord],
        found: ReadOrders,
        run: OrderRun,
        restored: set[int],
    ) -> None:
        """Write what orders have said, and end those that are over. restored: those that had ended before the
        undo of the draft, of which their owners know."""
        draft.spoken = list(run.spoken)
        for spoken in run.spoken:
            draft.add_row(
                _row(spoken, records[spoken.order_id]),
                spoken.state,
                tuple(engine.narrate(spoken.state, spoken.events)),
            )
            await self._polls.drop_after_move(draft, seat_number(spoken.seat))
        undone = [EndedOrder(id, engine_seat(records[id].seat), reason) for id, reason in found.ended.items()]
        ended = [*undone, *run.ended]
        if not ended:
            return
        unit = await draft.unit()
        move = resolve_line_of_play([*draft.log_rows], draft.table.log.line_of_play).current_move
        for order in ended:
            by_move = None if order in undone else move
            await unit.orders.end(draft.table.stored_info.id, order.id, order.reason, by_move)
        draft.ended_orders = ended
        if not run.state.game_over:
            again = {order.id for order in undone if order.id in restored}
            told = [(records[o.id], o.reason) for o in ended if o.id not in draft.armed_orders | again]
            await self._tell(
                draft, [(order, f"Your order `{order.line}` has ended. {reason}") for order, reason in told]
            )

    @staticmethod
    async def _tell(draft: CommitDraft, sentences: Sequence[tuple[OrderRecord, str]]) -> None:
        """Tell the owners of orders what has become of these, each of them alone and in one message."""
        for person_id in sorted({order.person_id for order, _ in sentences}):
            own = [(order, sentence) for order, sentence in sentences if order.person_id == person_id]
            unit = await draft.unit()
            owner = await load_recipient(unit, person_id, own[0][0].seat)
            suffix = "-".join(str(order.id) for order, _ in own)
            table, told = draft.table.stored_info, tuple(sentence for _, sentence in own)
            notification = Notification("order", table.id, draft.seq, owner.seat, sentences=told)
            draft.messages += sent(table, notification, owner, now=unit.now, suffix=suffix)


def _row(spoken: SpokenLine, record: OrderRecord) -> LogRow:
    """The row of the log for a line that an order has said."""
    return LogRow(
        seat=record.seat, person_id=record.person_id, transport=ORDER_TRANSPORT, raw_line=spoken.line,
        line=spoken.line, events=engine.encode_events(spoken.events), order_id=record.id,
    )  # fmt: skip
