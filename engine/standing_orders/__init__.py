"""Orders: what players leave beforehand, so that the table does not wait for what they would have said.

Theory of operation. An order is a line that begins with `auto` (`language`). It is judged by its owner's
seat, the position in which it was armed, the moves since then and the position now, and by nothing else: the
same game with the same orders says the same lines, in a replay and in a what-if too. A judgement is one of
three (`model`): the order says a line now, it waits, or it has ended, with the reason.

`run_orders` (`speaking`) asks all orders of a table after a move, lets the first that has something to say
say it as a move of its owner, and asks again, until nobody's order says anything. A line is played by the
same functions as a line that a player writes; one that is refused is not said, and ends its order.

What holds for all of them:

* Only what happens after the arming counts; a refusal, a pass or a declined offer of others is no event.
* A player's orders are asked in the order in which their owner has put them.
* An order that ends without having done what it was left for takes those after it in the same field with it
  (`Order.field`), so that a failed first step never triggers what was to follow it. The owner is asked.
* A judgement uses the position as the owner sees it: orders know no secrets of others.

Which module judges which order: `stock` (`auto pass`, `auto buy`), `auctions` (`auto bid`), `turns` (`auto
run`, `auto turn`), `speaking` (`auto decline`, `auto protect`). `speaking` also knows which order takes the
place of an older one, and which never speaks because of one before it; `default_line` what is said for a
player whose time is up; `liquidation` where neither passes, because a company would be lost.
"""

from engine.standing_orders.auctions import answered_in_advance, limit_as_order
from engine.standing_orders.default_line import line_when_time_is_up
from engine.standing_orders.language import ORDER_HELP, format_order, is_order_line, parse_order
from engine.standing_orders.model import ArmedOrder, Ended, EndedOrder, Order, PlayedMove, Says
from engine.standing_orders.speaking import (
    OrderRun,
    SpokenLine,
    declines_votes,
    judge,
    masking_order,
    order_preview,
    replaces,
    run_orders,
)
