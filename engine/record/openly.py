"""A game as the table has seen it: every answer that was left beforehand is said in its turn.

The game is played once more, without the lines that are their speaker's secret; where what such a one
has left would have answered, the answer itself becomes a line. So nothing that is handed out tells
how far somebody would have gone. A game that was played by rules which have been mended since may not
be playable so; then it is not handed out.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.actions import Action, Bid, BidNothing, BidUpTo, Decline, Pass, Protect, Raise
from engine.beforehand import as_seen
from engine.events import AnyEvent, fold
from engine.kernel import Refused, asked, carry_out, game_of, options
from engine.notation import Ambiguous, Unreadable, is_secret, parse, spell
from engine.record.telling import ENDED, RECORDED, Telling, Told
from engine.state import Auction, Protection, State, copied
from engine.stock.protection import cost_of


def opened(telling: Telling) -> Telling:
    """The same game without a secret line; itself where there is none.

    Raises ValueError with a sentence where the rules of now lead elsewhere.
    """
    if not any(is_secret(told.line) for told in telling.moves):
        return telling
    retelling = _Retelling(telling.start)
    try:
        for told in telling.moves:
            retelling.hear(told)
    except (Unreadable, Refused, Ambiguous):
        raise ValueError(MENDED) from None
    if _plain(retelling.seen) != _plain(retelling.own):
        raise ValueError(MENDED)
    return Telling(telling.start, tuple(retelling.moves))


MENDED = "The rules have been mended since this game was played; without its secrets it cannot be told."


def _plain(state: State) -> State:
    """A position without what was left in secret, and without the number of its question."""
    seen = as_seen(state, None)
    seen.question = 0
    return seen


class _Retelling:
    """A game that is told again: `own` as it was played, `seen` as it is told.

    `limits`: how far players have left their bids in the auction that is going on, which is of `lot`.
    """

    def __init__(self, start: State) -> None:
        self.own, self.seen = copied(start), copied(start)
        self.lot, self.limits = "", dict[str, int]()
        self.moves: list[Told] = []

    def hear(self, told: Told) -> None:
        """Take in the next line of the game."""
        if told.line in (ENDED, RECORDED):
            fold(told.events, self.own)
            self._keep(told, told.seat, told.line, told.events)
            return
        action = parse(game_of(self.own), told.seat, told.line)
        auction = self.own.top if isinstance(self.own.top, Auction) else None
        self.lot, self.limits = (auction.lot, dict(auction.limits)) if auction else ("", {})
        fold(told.events, self.own)
        if isinstance(action, BidUpTo | BidNothing):
            self.limits[told.seat] = action.amount if isinstance(action, BidUpTo) else 0
        elif not is_secret(told.line):
            self._say(told, told.seat, action)
        while (left := self._left()) is not None:
            self._say(told, *left)

    def _left(self) -> tuple[str, Action] | None:
        """Who is asked what he has answered beforehand, and how he answers."""
        g = game_of(self.seen)
        match self.seen.top:
            case Auction(lot=lot) if lot == self.lot:
                seat = asked(g)[0]
                if seat not in self.limits:
                    return None
                bid = next(o for o in options(g, seat) if isinstance(o.action, Bid | Raise))
                within = bid.amounts is not None and bid.amounts[0] <= self.limits[seat]
                return seat, bid.action if within else Pass()
            case Protection(sales=(sale, *_)):
                limit = self.own.standing.get(sale.president, {}).get(sale.company)
                if limit is None:
                    return None
                return sale.president, Protect(sale.company) if cost_of(g, sale) <= limit else Decline()
        return None

    def _say(self, told: Told, seat: str, action: Action) -> None:
        g = game_of(copied(self.seen))
        line = spell(g, action)
        self._keep(told, seat, line, carry_out(g, seat, action).events)

    def _keep(self, told: Told, seat: str, line: str, events: Sequence[AnyEvent]) -> None:
        fold(events, self.seen)
        self.moves.append(Told(seat, line, events, told.at))
