"""What the owner of orders reads about them, the commonest orders as controls there and on the page of a
turn, and how lines are put together to orders (pure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import engine
from bot.features.standing_orders.book import read_orders
from bot.hub.feature import Addition, TurnPage
from bot.hub.table import LiveTable
from bot.position.controls import Ask, Control, Say, Show
from bot.position.pending import engine_seat
from engine.standing_orders import ORDER_HELP, is_order_line, masking_order, order_preview
from storage import LogRow, OrderRecord

SAID_SHOWN = 5


class OrderLine(NamedTuple):
    """A line about orders, and which lines of its request it consists of."""

    text: str
    indices: range

    @property
    def place(self) -> int:
        """Where it begins."""
        return self.indices[0]


def group_order_lines(lines: Sequence[str]) -> list[OrderLine]:
    """The lines about orders: those after `auto turn X:` belong to it, and those before are moves.

    Raises ValueError for a line that has to be alone.
    """
    groups: list[OrderLine] = []
    for index, line in enumerate(lines):
        if is_order_line(line):
            groups.append(OrderLine(line.strip(), range(index, index + 1)))
        elif groups and ":" in groups[-1].text:
            text, indices = groups[-1]
            joined = f"{text.rstrip(';')}; {line}" if text.rpartition(":")[2] else f"{text} {line}"
            groups[-1] = OrderLine(joined, range(indices[0], index + 1))
    for group in groups if len(lines) > 1 else ():
        if group.text.casefold() in ("auto", "auto help"):
            raise ValueError(f"`{group.text}` has to be submitted alone.")
    return groups


def order_number(text: str, own: Sequence[OrderRecord]) -> int:
    """The number in `auto off 2`. Raises ValueError with what would be right."""
    word = text.split()[2] if len(text.split()) > 2 else ""
    if word.isdecimal() and 1 <= int(word) <= len(own):
        return int(word)
    if not own:
        raise ValueError("You have left no orders at this table.")
    numbers = "number 1" if len(own) == 1 else f"numbers from 1 to {len(own)}"
    raise ValueError(f"You have no order {word or 'without a number'}; `auto` lists yours, with {numbers}.")


def armed_text(number: int, line: str, replaced: str = "") -> str:
    """The answer to a line that arms an order. replaced: the order in whose place it is."""
    former = f" It replaces `{replaced}`." if replaced else ""
    return f"Order {number}: `{line}`.{former} `auto off {number}` takes it back."


def preview_texts(
    table: LiveTable,
    own: Sequence[OrderRecord],
    state: engine.State | None = None,
    new_rows: Sequence[LogRow] = (),
) -> Mapping[int, str]:
    """By id what each order would do now, as a sentence. state: the position after new rows, None for the
    table's."""
    found = read_orders(table, own, new_rows)
    now = state or table.state
    texts = dict(found.ended)
    for index, armed in enumerate(found.armed):
        texts[armed.id] = order_preview(armed, now)
        if first := masking_order(armed, found.armed[:index], now):
            lines = {order.id: (number, order.line) for number, order in enumerate(own, 1)}
            (before, line), (number, _) = lines[first.id], lines[armed.id]
            texts[armed.id] = (
                f"It never speaks while order {before}, `{line}`, comes before it; `auto first {number}` has "
                "it asked first."
            )
    return texts


def help_text() -> str:
    """What orders there are."""
    rows = [f"  {line}\n    {meaning}" for line, meaning in ORDER_HELP]
    return "\n".join(
        [
            "Orders are left beforehand. Nobody else sees them; what one says is a move like any other.",
            *rows,
            "`auto` lists yours, `auto off N` takes one back, `auto first N` has it asked before the others.",
        ]
    )


def list_text(
    table: LiveTable,
    own: Sequence[OrderRecord],
    previews: Mapping[int, str],
    ended: Sequence[OrderRecord],
    seat: int,
) -> str:
    """The answer to `auto`: the armed orders, what they have said, and those that have ended lately."""
    lines = [f"{number}. `{order.line}`. {previews[order.id]}" for number, order in enumerate(own, 1)]
    numbering = "`auto off N` takes one back, `auto first N` has it asked before the others."
    if not lines:
        lines.append("You have left no orders at this table.")
        numbering = "`auto help` lists what you can leave."
    for order in (*own, *ended):
        rows = table.log.rows_said_by(order.id, order.armed_seq)[-SAID_SHOWN:]
        lines += [f"`{order.line}` has said `{table.log.row(seq).line}` in row {seq}." for seq in rows]
    lines += [f"Ended: `{order.line}`. {order.ended_reason}" for order in ended]
    lines += _limits_in_position(table, seat)
    lines.append(numbering)
    return "\n".join(lines)


def _limits_in_position(table: LiveTable, seat: int) -> list[str]:
    """The limits of a seat that are part of the position, which lines in the notation change."""
    found, own = [], engine_seat(seat)
    for frame in table.state.stack:
        limit = getattr(frame, "bid_limits", {}).get(own)
        if limit is not None:
            found.append(f"`{f'bid up to {limit}' if limit else 'bid nothing'}` holds in the auction now.")
    for company, limit in table.state.standing_protections.get(own, {}).items():
        line = f"standing protect {company}"
        found.append(f"`{line} up to {limit}` holds; `{line} ask` takes it back.")
    return found


FORMS = (
    Ask("Bid up to", "auto bid ", "BO up to 260"),
    Ask("Buy shares", "auto buy ", "NYC until floated, or 3 NYC then pass"),
    Ask("An order", "", "auto turn NYC: lay 57 H10; run best; pay"),
)
AUTO_PASS = Say("Auto pass", "auto pass", "first")
PROTECTION = "standing protect "
"""Begins the lines that answer price protection in advance: they leave an order."""
MAX_COMPANIES = 4
"""Companies of a player that have a button."""


def order_controls(state: engine.State, seat: int, *, has_orders: bool) -> tuple[Control, ...]:
    """The controls of the orders of a seat."""
    return tuple(_order_controls(state, seat, has_orders))


def _order_controls(state: engine.State, seat: int, has_orders: bool) -> Iterator[Control]:
    own = [sym for sym, company in state.companies.items() if company.president == engine_seat(seat)]
    own = own[:MAX_COMPANIES]
    yield AUTO_PASS
    for sym in own:
        yield Say(f"Auto run {sym}", f"auto run {sym}")
    yield from FORMS
    lines = [] if state.game_over else [each.line for each in engine.choices(state, engine_seat(seat))]
    for sym in own:
        if any(line.startswith(f"{PROTECTION}{sym} ") for line in lines):
            yield Ask(f"Protect {sym} up to $", f"auto protect {sym} up to ", "300, or 0 for never")
    if has_orders:
        yield Say("Take all back", "auto off")


async def add_to_turn(page: TurnPage) -> Addition:
    """One's own orders; in a stock turn the order to pass, which in one's own turn passes at once."""
    orders = Show("Orders…", "auto")
    is_stock_turn = page.view.state is not None and engine.topic(page.view.state) == "stock"
    if page.pending is not None and is_stock_turn and any(each.line == "pass" for each in page.choices):
        return Addition(controls=(orders, Say("Auto pass", "auto pass")))
    return Addition(controls=(orders,))
