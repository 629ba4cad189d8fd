"""Orders at a table are left, listed, put in order and taken back.

They are secret: they have no row in the log, and only their owner is answered about them. When they are
asked is in `runner`, what a line means at a table in `book`, what an order says in `engine.standing_orders`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import engine
from bot.features.standing_orders.book import (
    full_order_line,
    is_about_orders,
    is_limit,
    limit_as_own_order,
    orders_of,
    read_orders,
)
from bot.features.standing_orders.pages import (
    OrderLine,
    armed_text,
    group_order_lines,
    help_text,
    list_text,
    order_controls,
    order_number,
    preview_texts,
)
from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.play import Beside, MoveHandler, NotCarriedOut
from bot.hub.polls import holds_table
from bot.hub.request import CommandResult, QueryAnswer, Request, is_from_deputy, not_running, refused
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.standing_orders import parse_order, replaces
from storage import OrderRecord, resolve_line_of_play

MAX_MOVES = 20
"""Armed orders of a seat."""
ENDED_SHOWN = 5


class OrderHandler:
    """Carries out `auto …` for a seated player."""

    def __init__(self, cache: TableCache, moves: MoveHandler) -> None:
        self._cache, self._moves = cache, moves

    def commands(self) -> list[Command]:
        """`auto ORDER`, and `standing protect`, which leaves the same order."""
        kinds = "off|first|help|pass|buy|bid|run|turn|decline|protect"
        leave = Form(
            f"auto [{kinds}]", "leave an order beforehand, such as `auto pass`; `auto help` explains",
            "auto ORDER", rf"auto(?: (?:{kinds})\b.*)?",
        )  # fmt: skip
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
            return refused(request, "That seat is empty; nobody can leave orders for it.")
        if is_from_deputy(table, request):
            reason = f"Orders are {player.name}'s alone: a deputy neither sees nor leaves them."
            return refused(request, reason)
        own = orders_of(table, request.seat, player.person_id)
        groups = group_order_lines(request.lines)
        first = groups[0].text.casefold().split()
        if first == ["auto", "help"]:
            return QueryAnswer("auto", help_text())
        if first == ["auto"]:
            return await self._list(table, request, player.person_id, own)
        if problem := not_running(table, "running", "paused"):
            return problem
        about_orders = frozenset(index for group in groups for index in group.indices)
        leave = partial(self._leave_in, request=request, own=own, groups=groups)
        return await self._moves.carry_out(
            table, request, Beside(about_orders, leave, partial(QueryAnswer, "auto"))
        )

    async def _leave_in(
        self, draft: CommitDraft, request: Request, own: list[OrderRecord], groups: Sequence[OrderLine]
    ) -> Callable[[], tuple[str, ...]]:
        """Carry out the lines about orders in a draft; what is answered after it. Raises NotCarriedOut."""
        state, texts = draft.state or draft.table.state, list[str]()
        for group in groups:
            try:
                texts.append(full_order_line(state, request.seat, own, group.text))
            except (ValueError, engine.UnreadableError, engine.RefusedError) as error:
                raise NotCarriedOut(error, group.place) from error
        armed = [text for text in texts if text.split()[1] not in ("off", "first")]
        if armed and len(own) + len(armed) > MAX_MOVES:
            raise NotCarriedOut(
                ValueError(f"At most {MAX_MOVES} orders can be left at a table."), groups[0].place
            )
        answers = []
        for group, text in zip(groups, texts, strict=True):
            try:
                answers.append(await self._carry_out(draft, request, own, text))
            except ValueError as error:
                raise NotCarriedOut(error, group.place) from error
        draft.armed_orders = {answer.armed.id for answer in answers if answer.armed}
        return lambda: _answer(draft, answers, own)

    async def _list(
        self, table: LiveTable, request: Request, person_id: int, own: list[OrderRecord]
    ) -> CommandResult:
        async with self._cache.store.read() as unit:
            ended = await unit.orders.ended(table.stored_info.id, person_id, ENDED_SHOWN)
        text = list_text(table, own, preview_texts(table, own), ended, request.seat)
        is_over = table.stored_info.is_over
        controls = () if is_over else order_controls(table.state, request.seat, has_orders=bool(own))
        return QueryAnswer("auto", text, controls=controls)

    async def _carry_out(
        self, draft: CommitDraft, request: Request, own: list[OrderRecord], text: str
    ) -> _Answer:
        """Arm, end or move one order; what to answer. `own` follows."""
        table, unit = draft.table, await draft.unit()
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
        rows = [*draft.log_rows]
        move = resolve_line_of_play(rows, table.log.line_of_play).current_move
        added = await unit.orders.add(table_id, request.seat, player.person_id, text, move, draft.seq)
        replaced = _replaced_by(draft, request.seat, own, text)
        if replaced:
            await unit.orders.end(table_id, replaced.id, f"`{text}` has replaced it.")
            own.remove(replaced)
        own.append(added)
        return _Answer(armed_text(len(own), text, replaced.line if replaced else ""), added)


def _replaced_by(draft: CommitDraft, seat: int, own: Sequence[OrderRecord], text: str) -> OrderRecord | None:
    """The armed order in whose place a new one is."""
    game = engine.game_of(engine.visible_to(draft.state or draft.table.state, engine_seat(seat)))
    order = parse_order(game, engine_seat(seat), text)
    armed = read_orders(draft.table, own, [*draft.log_rows]).armed
    older = {each.id for each in armed if replaces(order, each.order)}
    return next((each for each in own if each.id in older), None)


class _Answer(NamedTuple):
    """The answer to one `auto` line; `armed` is the order that it left."""

    text: str
    armed: OrderRecord | None = None


def _answer(draft: CommitDraft, answers: Sequence[_Answer], own: Sequence[OrderRecord]) -> tuple[str, ...]:
    """What the owner is told once the orders have been asked. own: the orders that were left before that."""
    lines, over = list[str](), {ended.id for ended in draft.ended_orders}
    left = [order for order in own if order.id not in over]
    now = engine.copy_state(draft.state or draft.table.state)
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
        elif not said and order in left:  # a later line of the message may have taken its place
            previews = preview_texts(draft.table, left, now, [*draft.log_rows])
            lines.append(previews[order.id])
    table = draft.table
    if draft.armed_orders and holds_table(table.polls, table.stored_info.pace, draft.timestamp):
        lines.append("Orders wait until the vote on the undo is over.")
    if draft.armed_orders and table.stored_info.status == "paused":
        lines.append("Orders wait until the game goes on.")
    return tuple(lines)
