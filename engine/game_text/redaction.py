"""A game as the table has seen it: every answer that was left beforehand is said in its turn.

The game is played once more, without the lines that are their speaker's secret; where what such a one
has left would have answered, the answer itself becomes a line. So nothing that is handed out tells
how far somebody would have gone. A game that was played by rules which have been mended since may not
be playable so; then it is not handed out.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.actions import (
    Action,
    Bid,
    BidNothing,
    BidUpTo,
    Decline,
    Pass,
    ProtectPrice,
    RaiseBid,
)
from engine.core.events import AnyEvent, fold
from engine.core.hidden_orders import visible_to
from engine.core.state import Auction, PriceProtection, State, copy_state
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE, GameHistory, HistoryLine
from engine.kernel import (
    RefusedError,
    awaited_seats,
    game_of,
    options,
    play_in_place,
)
from engine.language.notation import (
    AmbiguousError,
    UnreadableError,
    format_action,
    is_secret,
    parse,
)
from engine.stock.price_protection import block_cost


def redacted(telling: GameHistory) -> GameHistory:
    """The same game without a secret line; itself where there is none.

    Raises ValueError with a sentence where the rules of now lead elsewhere.
    """
    if not any(is_secret(told.line) for told in telling.lines):
        return telling
    retelling = _Redactor(telling.start)
    try:
        for told in telling.lines:
            retelling.add_line(told)
    except (UnreadableError, RefusedError, AmbiguousError):
        raise ValueError(RULES_CHANGED) from None
    if _public_position(retelling.public) != _public_position(retelling.actual):
        raise ValueError(RULES_CHANGED)
    return GameHistory(telling.start, tuple(retelling.lines))


RULES_CHANGED = (
    "The rules have been mended since this game was played; without its secrets it cannot be told."
)


def _public_position(state: State) -> State:
    """A position without what was left in secret, and without the number of its question."""
    seen = visible_to(state, None)
    seen.question_number = 0
    return seen


class _Redactor:
    """A game that is told again: `own` as it was played, `seen` as it is told.

    `limits`: how far players have left their bids in the auction that is going on, which is of `lot`.
    """

    def __init__(self, start: State) -> None:
        self.actual, self.public = copy_state(start), copy_state(start)
        self.lot, self.limits = "", dict[str, int]()
        self.lines: list[HistoryLine] = []

    def add_line(self, told: HistoryLine) -> None:
        """Take in the next line of the game."""
        if told.line in (ENDED_LINE, CONNECTION_RUN_LINE):
            fold(told.events, self.actual)
            self._append(told, told.seat, told.line, told.events)
            return
        action = parse(game_of(self.actual), told.seat, told.line)
        auction = self.actual.top if isinstance(self.actual.top, Auction) else None
        self.lot, self.limits = (auction.item, dict(auction.bid_limits)) if auction else ("", {})
        fold(told.events, self.actual)
        if isinstance(action, BidUpTo | BidNothing):
            self.limits[told.seat] = action.amount if isinstance(action, BidUpTo) else 0
        elif not is_secret(told.line):
            self._play(told, told.seat, action)
        while (left := self._stored_answer()) is not None:
            self._play(told, *left)

    def _stored_answer(self) -> tuple[str, Action] | None:
        """Who is asked what he has answered beforehand, and how he answers."""
        g = game_of(self.public)
        match self.public.top:
            case Auction(item=lot) if lot == self.lot:
                seat = awaited_seats(g)[0]
                if seat not in self.limits:
                    return None
                bid = next(o for o in options(g, seat) if isinstance(o.action, Bid | RaiseBid))
                within = bid.amounts is not None and bid.amounts[0] <= self.limits[seat]
                return seat, bid.action if within else Pass()
            case PriceProtection(pending_sales=(sale, *_)):
                limit = self.actual.standing_protections.get(sale.president, {}).get(sale.company)
                if limit is None:
                    return None
                return sale.president, ProtectPrice(sale.company) if block_cost(
                    g, sale
                ) <= limit else Decline()
        return None

    def _play(self, told: HistoryLine, seat: str, action: Action) -> None:
        g = game_of(copy_state(self.public))
        line = format_action(g, action)
        self._append(told, seat, line, play_in_place(g, seat, action).events)

    def _append(self, told: HistoryLine, seat: str, line: str, events: Sequence[AnyEvent]) -> None:
        fold(events, self.public)
        self.lines.append(HistoryLine(seat, line, events, told.timestamp))
