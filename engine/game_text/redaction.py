"""The history of a game without its secrets: every order left beforehand appears only as it takes effect.

The game is played again without the secret lines. Wherever an order that was left beforehand answers a
question, the answer becomes a line of its own. So the history never shows how far a player would have
gone. A game that was played by older rules may not be playable in this way. It is then refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.actions import Action, Bid, BidNothing, BidUpTo, Decline, Pass, ProtectPrice, RaiseBid
from engine.core.events import AnyEvent, fold
from engine.core.hidden_orders import visible_to
from engine.core.state import Auction, PriceProtection, State, StockTurn, copy_state
from engine.game_text.history import CONNECTION_RUN_LINE, ENDED_LINE, GameHistory, HistoryLine
from engine.kernel import RefusedError, advance, awaited_seats, game_of, options, play_in_place
from engine.language.forms import format_action
from engine.language.notation import AmbiguousError, UnreadableError, is_secret, parse
from engine.stock.price_protection import block_cost


def redacted(history: GameHistory) -> GameHistory:
    """The same game without secret lines; the same object where it has none.

    Raises ValueError with a sentence where today's rules lead to another position.
    """
    if not any(is_secret(entry.line) for entry in history.lines):
        return history
    redactor = _Redactor(history.start)
    try:
        for entry in history.lines:
            redactor.add_line(entry)
    except (UnreadableError, RefusedError, AmbiguousError):
        raise ValueError(RULES_CHANGED) from None
    advance(game_of(redactor.actual))  # a turn may be open that ends by itself today
    if _public_position(redactor.public) != _public_position(redactor.actual):
        raise ValueError(RULES_CHANGED)
    return GameHistory(history.start, tuple(redactor.lines))


RULES_CHANGED = (
    "The rules have been corrected since this game was played, so it cannot be shown without its secrets."
)


def _public_position(state: State) -> State:
    """A position without hidden orders and without the number of its question."""
    public = visible_to(state, None)
    public.question_number = 0
    return public


class _Redactor:
    """Plays a game again without its secrets: `actual` is the real position, `public` the redacted one.

    `item`: what is auctioned now, empty outside an auction. `bid_limits`: by seat the most that they
    have ordered to bid for it, in dollars.
    """

    def __init__(self, start: State) -> None:
        self.actual, self.public = copy_state(start), copy_state(start)
        self.item, self.bid_limits = "", dict[str, int]()
        self.lines: list[HistoryLine] = []

    def add_line(self, entry: HistoryLine) -> None:
        """Process the next line of the game."""
        if entry.line in (ENDED_LINE, CONNECTION_RUN_LINE):
            fold(entry.events, self.actual)
            self._append(entry, entry.seat, entry.line, entry.events)
            return
        action = parse(game_of(self.actual), entry.seat, entry.line)
        auction = self.actual.top if isinstance(self.actual.top, Auction) else None
        in_stock_turn = isinstance(self.actual.top, StockTurn)
        self.item, self.bid_limits = (auction.item, dict(auction.bid_limits)) if auction else ("", {})
        fold(entry.events, self.actual)
        if isinstance(action, BidUpTo | BidNothing):
            self.bid_limits[entry.seat] = action.amount if isinstance(action, BidUpTo) else 0
        elif not is_secret(entry.line) and not (in_stock_turn and self._has_happened(action)):
            self._play(entry, entry.seat, action)
        while (stored := self._stored_answer()) is not None:
            self._play(entry, *stored)

    def _has_happened(self, action: Action) -> bool:
        """Whether an answer has only ended a stock turn that ends by itself today.

        In version 1.0.0 it went on while an offer was open that could not be accepted any more.
        """
        is_answer = isinstance(action, Pass | Decline)
        return is_answer and _public_position(self.public) == _public_position(self.actual)

    def _stored_answer(self) -> tuple[str, Action] | None:
        """A seat that is asked now and has left its answer beforehand, with that answer; or None."""
        g = game_of(self.public)
        match self.public.top:
            case Auction(item=item) if item == self.item:
                seat = awaited_seats(g)[0]
                if seat not in self.bid_limits:
                    return None
                bid = next(o for o in options(g, seat) if isinstance(o.action, Bid | RaiseBid))
                affordable = bid.amounts is not None and bid.amounts[0] <= self.bid_limits[seat]
                return seat, bid.action if affordable else Pass()
            case PriceProtection(pending_sales=(sale, *_)):
                limit = self.actual.standing_protections.get(sale.president, {}).get(sale.company)
                if limit is None:
                    return None
                protects = block_cost(g, sale) <= limit
                return sale.president, ProtectPrice(sale.company) if protects else Decline()
        return None

    def _play(self, original: HistoryLine, seat: str, action: Action) -> None:
        g = game_of(copy_state(self.public))
        text = format_action(g, action)
        self._append(original, seat, text, play_in_place(g, seat, action).events)

    def _append(self, original: HistoryLine, seat: str, text: str, events: Sequence[AnyEvent]) -> None:
        fold(events, self.public)
        self.lines.append(HistoryLine(seat, text, events, original.timestamp))
