"""Orders at a table are left, listed, put in order and taken back.

They are secret: they have no row in the log, and only their owner is answered about them. When and how they
speak is in `order_speaking`, what a line means in `order_lines`.
"""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.features.standing_orders.book import OrderBook, OrderBooks
from bot.features.standing_orders.controls import order_controls
from bot.features.standing_orders.lines import (
    full_order_line,
    is_about_orders,
    is_limit,
    limit_as_own_order,
    orders_of,
)
from bot.features.standing_orders.pages import (
    armed_text,
    group_order_lines,
    help_text,
    list_text,
    order_number,
    preview_texts,
)
from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.play import line_failure
from bot.hub.request import Request, refused
from bot.hub.result import CommandResult, QueryAnswer
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.standing_orders import ArmedOrder, parse_order, replaces
from storage import OrderRecord, UnitOfWork

MAX_MOVES = 20
"""Armed orders of a seat."""
ENDED_SHOWN = 5


class OrderHandler:
    """Carries out `auto …` for a seated player."""

    def __init__(self, cache: TableCache, books: OrderBooks) -> None:
        self._cache, self._books = cache, books

    def commands(self) -> list[Command]:
        """`auto ORDER`, and `standing protect`, which leaves the same order."""
        line = r"auto(?: (?:off|first|help|pass|buy|bid|run|turn|decline|protect)\b.*)?"
        leave = Form(
            "auto ORDER", "leave an order beforehand, such as `auto pass`; `auto help` explains", pattern=line
        )
        protect = Form("standing protect COMPANY", pattern=r"standing protect (?P<company>[\w&]+)\b.*")
        return [
            TableCommand("auto", (leave,), self.handle, Lines.ANY),
            TableCommand("standing", (protect,), self.handle, Lines.ANY, is_about_orders),
            TableCommand("bid", (), self._leave_limit, applies=is_limit),
        ]

    async def _leave_limit(self, table: LiveTable, request: Request) -> CommandResult:
        """A limit of an auction is the order that means the same."""
        return await self.handle(table, limit_as_own_order(table, request))

    async def handle(self, table: LiveTable, request: Request) -> CommandResult:
        """`auto` lists, `auto off N` ends, `auto first N` puts first, and any other order is armed."""
        player = table.stored_info.player_at(request.seat)
        if player is None:
            return refused(table, request, "That seat is empty; nobody can leave orders for it.")
        if request.person_id not in (None, player.person_id):
            reason = f"Orders are {player.name}'s alone: a deputy neither sees nor leaves them."
            return refused(table, request, reason)
        own = orders_of(table, request.seat, player.person_id)
        texts, index = list[str](), 0
        try:
            for place, text in group_order_lines(request.lines):
                index = place
                texts.append(full_order_line(table, request.seat, own, text))
        except ValueError as error:
            return refused(table, request, str(error), index)
        except (engine.UnreadableError, engine.RefusedError) as error:
            decision_id = table.decision_id_of(request.seat)
            return line_failure(error, *request.numbered_line(index), (), decision_id)
        if texts == ["auto help"]:
            return QueryAnswer("auto", help_text(), next_decision_id=table.decision_id_of(request.seat))
        if texts == ["auto"]:
            return await self._list(table, request, player.person_id, own)
        armed = [text for text in texts if text.split()[1] not in ("off", "first")]
        if armed and len(own) + len(armed) > MAX_MOVES:
            return refused(table, request, f"At most {MAX_MOVES} orders can be left at a table.")
        try:
            async with self._cache.commit(table, request.request_id) as draft:
                unit = await draft.unit()
                answers = [await self._carry_out(unit, table, request, own, text) for text in texts]
                draft.armed_orders = {answer.armed.id for answer in answers if answer.armed}
                draft.make_result = lambda: _answer(table, request, draft, answers, own)
        except ValueError as error:
            return refused(table, request, str(error))
        assert draft.result is not None
        return draft.result

    async def _list(
        self, table: LiveTable, request: Request, person_id: int, own: list[OrderRecord]
    ) -> CommandResult:
        async with self._cache.store.read() as unit:
            ended = await unit.orders.ended(table.stored_info.id, person_id, ENDED_SHOWN)
        text = list_text(table, own, preview_texts(table, self._books.of(table), own), ended, request.seat)
        return QueryAnswer(
            "auto", text, next_decision_id=table.decision_id_of(request.seat),
            controls=order_controls(table.state, request.seat, has_orders=bool(own)),
        )  # fmt: skip

    async def _carry_out(
        self, unit: UnitOfWork, table: LiveTable, request: Request, own: list[OrderRecord], text: str
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
        player = table.stored_info.player_at(request.seat)
        assert player is not None
        added = await unit.orders.add(
            table_id, request.seat, player.person_id, text, table.log.line_of_play.current_move, table.seq
        )
        replaced = self._replaced_by(table, request.seat, own, text)
        if replaced:
            await unit.orders.end(table_id, replaced.id, f"`{text}` has replaced it.")
            own.remove(replaced)
        own.append(added)
        return _Answer(armed_text(len(own), text, replaced.line if replaced else ""), added)

    def _replaced_by(
        self, table: LiveTable, seat: int, own: Sequence[OrderRecord], text: str
    ) -> OrderRecord | None:
        """The armed order in whose place a new one is."""
        game = engine.game_of(engine.visible_to(table.state, engine_seat(seat)))
        order = parse_order(game, engine_seat(seat), text)
        older = {armed.id for armed in self._books.read(table, own).armed if replaces(order, armed.order)}
        return next((each for each in own if each.id in older), None)

    def armed_orders(self, table: LiveTable, seat: int, person_id: int) -> list[ArmedOrder]:
        """The orders of a player that are armed now. Raises LogNotLoaded."""
        own = orders_of(table, seat, person_id)
        return self._books.read(table, own).armed if own else []


class _Answer:
    """The answer to one `auto` line; `armed` is the order that it left."""

    def __init__(self, text: str, armed: OrderRecord | None = None) -> None:
        self.text = text
        self.armed = armed


def _answer(
    table: LiveTable,
    request: Request,
    draft: CommitDraft,
    answers: Sequence[_Answer],
    own: Sequence[OrderRecord],
) -> CommandResult:
    """What the owner is told once the orders have been asked. own: the orders that were left before that."""
    lines, over = [], {ended.id for ended in draft.ended_orders}
    left = [order for order in own if order.id not in over]
    now = engine.copy_state(draft.state or table.state)
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
            lines.append(preview_texts(table, OrderBook(), left, now)[order.id])
    return QueryAnswer("auto", "\n".join(lines), next_decision_id=draft.next_decision_id(request.seat))
