"""Operating rounds with an export and a merger round after each, and when the game ends (1817 §3, §6.11,
§7, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine import market
from engine.actions import Action, Pass, WillAct
from engine.events import Passed, PoolPaired, PriorityMoved, PrivateMoved, RoundBegan, SharesMoved
from engine.game import Game
from engine.holdings import unit
from engine.loans import in_zone, is_liquid, liquidate, set_interest
from engine.merging.growth import may_grow
from engine.merging.sale import may_be_offered, put_up
from engine.operating.debts import export, operates, pay_mail
from engine.rounds import Unasked
from engine.state import (
    CLOSED,
    POOL,
    GameOver,
    MergerRound,
    MergerTurn,
    OperatingRound,
    OperatingTurn,
    Poll,
    StockRound,
    is_seat,
)
from engine.title import Option
from engine.trouble.crisis import end_by_bankruptcy, look_for_crisis

STAGES = ("export", "convert", "liquidate", "acquire", "offer", "end")
ONE_PASS = ("export", "convert", "sales", "end")


def begin_stock_round(g: Game, number: int) -> StockRound:
    """The stock round of that number; the bank first closes what it is short of (§7.4), but for
    companies whose shares cannot be bought (§1.2.2): it waits until they can."""
    for company, co in g.state.companies.items():
        pool, treasury = co.shares.get(POOL, 0), max(co.shares.get(company, 0), 0)
        loose = co.loose * unit(g, company) if co.loose else 0
        short = min(max(-pool, 0) + loose, treasury)
        if short > 0 and is_liquid(g, company):
            dollars = short // unit(g, company) * g.price(company)
            g.pay("bank", company, dollars, f"{short} % of the {company}")
            if kept := min(max(-pool, 0) + loose - short, loose) - loose:
                g.emit(PoolPaired(company, kept // unit(g, company)))
            g.emit(SharesMoved(company, company, POOL, short))
    g.emit(RoundBegan(f"stock round {number}"))
    first = g.state.seats_from(g.state.priority)[0]
    if first != g.state.priority:
        g.emit(PriorityMoved(first))
    return StockRound(number=number, turn=first)


@dataclass(frozen=True)
class Closing:
    """What follows the last turn of a stock round (§5.5, §5.7); station privates have done all they can.

    `squeeze`: a company of which players hold more than all rises by two spaces (§9.3).
    """

    squeeze: bool = False

    def __call__(self, g: Game) -> None:
        for company, co in g.state.companies.items():  # the last is sold first (§7); §5.5 has no order
            if co.owed:
                liquidate(g, company, "its station markers are not paid")
        for company in g.operating_order():
            self._move(g, company)
        for private, owner in list(g.open_privates()):
            if not is_seat(owner) and g.private_facts(private).effect.get("kind") == "station":
                g.emit(PrivateMoved(private, CLOSED))

    def _move(self, g: Game, company: str) -> None:
        co = g.company(company)
        if co.size is None or co.size <= 2 or in_zone(g, company, "liquidation"):
            return
        held = sum(p for h, p in co.shares.items() if is_seat(h) and p > 0)
        rises = (held >= 100) + (self.squeeze and held > 100)
        for _ in range(rises):
            market.move(g, company, market.right(g, market.place(g, company)), "all held by players")
        for _ in range(max(co.shares.get(POOL, 0), 0) // unit(g, company)):
            market.move(g, company, market.left(g, market.place(g, company)), "shares in the pool")


@dataclass(frozen=True)
class Finish:
    """When the game ends (§8).

    `rounds_after`: how many operating rounds the last set has where the last train came in the second
    of a set. `final_merger`: whether a merger round follows the last operating round.
    """

    rounds_after: int = 3
    final_merger: bool = False

    def of(self, g: Game, after: int) -> int:
        """The number of operating rounds after that stock round."""
        ending, usual = g.state.ending, g.phase.operating_rounds
        return self.rounds_after if ending and after > ending[0] and ending[1] >= usual else usual

    def is_last(self, g: Game, after: int, number: int, of: int) -> bool:
        ending = g.state.ending
        return ending is not None and after > ending[0] and number >= of


def open_operating(g: Game, frame: OperatingRound) -> None:
    """Fix the interest, pay the mail; whoever is not in liquidation will operate (§6)."""
    g.emit(RoundBegan(f"operating round {frame.after}.{frame.number} of {frame.of}"))
    set_interest(g)
    pay_mail(g)
    waiting = tuple(c for c in g.operating_order() if operates(g, c))
    g.change(msgspec.structs.replace(frame, waiting=waiting))


def begin_operating(g: Game) -> None:
    """Begin the operating round on top."""
    frame = g.top
    assert isinstance(frame, OperatingRound)
    open_operating(g, frame)


@dataclass(frozen=True)
class OperatingSets(Unasked):
    """A turn for each company, the next always the highest of those that wait; then the merger round."""

    first_step: str

    def settle(self, g: Game, frame: OperatingRound) -> bool:
        waiting = tuple(c for c in g.operating_order() if c in frame.waiting and operates(g, c))
        if waiting:
            g.change(msgspec.structs.replace(frame, waiting=waiting[1:]))
            g.open(OperatingTurn(waiting[0], self.first_step))
            return True
        gray = tuple(c for c in g.state.market if in_zone(g, c, "acquisition"))
        red = tuple(c for c in g.state.market if in_zone(g, c, "liquidation"))
        order = tuple(g.operating_order())
        g.change(MergerRound(frame.after, frame.number, frame.of, STAGES[0], order, gray, red, start=order))
        return True


@dataclass(frozen=True)
class MergerRounds(Unasked):
    """The stages of a merger round, one company after the other.

    `polls`: presidents are asked at once whether they will act, and where nobody will the stage is
    over; otherwise each is asked when the turn is his company's. `one_pass`: all sales are one stage, in
    the order as it is when they begin, each company by what it is when its turn comes. `crises_wait`: whoever
    a sale has left with less than nothing raises it once the next company is up, not before; and so ends a
    game by bankruptcy.
    """

    finish: Finish
    polls: bool = True
    one_pass: bool = False
    crises_wait: bool = False

    def settle(self, g: Game, frame: MergerRound) -> bool:
        at_once = not self.crises_wait
        if (at_once or frame.stage == "export") and end_by_bankruptcy(g):
            return True
        if at_once and look_for_crisis(g):
            return True
        match frame.stage:
            case "export":
                self._export(g, frame)
            case "convert":
                self._convert(g, frame)
            case "sales":
                self._sales(g, frame)
            case "liquidate":
                self._liquidate(g, frame)
            case "acquire":
                self._acquire(g, frame)
            case "offer":
                self._offer(g, frame)
            case _:
                self._end(g, frame)
        return True

    def _export(self, g: Game, frame: MergerRound) -> None:
        if self.finish.is_last(g, frame.after, frame.number, frame.of) and not self.finish.final_merger:
            if look_for_crisis(g):
                return
            g.change(GameOver("The last operating round is over."))
            return
        g.change(msgspec.structs.replace(frame, stage="convert"))
        export(g)
        if not g.state.over:
            g.emit(RoundBegan(f"merger round {frame.after}.{frame.number}"))

    def _advance(self, g: Game, frame: MergerRound) -> None:
        stages = ONE_PASS if self.one_pass else STAGES
        stage = stages[stages.index(frame.stage) + 1]
        if stage == "sales":
            frame = msgspec.structs.replace(frame, start=tuple(g.operating_order()))
        start = [c for c in frame.start if g.company(c).cell is not None]
        others = [c for c in g.operating_order() if c not in start]
        order = tuple(reversed([*start, *others]))
        g.change(msgspec.structs.replace(frame, stage=stage, order=order, willing=None))

    def _convert(self, g: Game, frame: MergerRound) -> None:
        self._ask(g, frame, [c for c in frame.order if may_grow(g, c)])

    def _offer(self, g: Game, frame: MergerRound) -> None:
        self._ask(g, frame, [c for c in frame.order if may_be_offered(g, c)])

    def _ask(self, g: Game, frame: MergerRound, able: list[str]) -> None:
        """Let the next company that can and whose president will act have its turn; none: the next stage."""
        if able and self.polls and frame.willing is None:
            g.open(Poll(frame.stage, tuple(dict.fromkeys(g.president(c) for c in able))))
            return
        wanted = [c for c in able if not self.polls or g.president(c) in (frame.willing or ())]
        if not wanted:
            self._advance(g, frame)
            return
        self._come_to(g, frame, wanted[0])
        g.open(MergerTurn(wanted[0], frame.stage))

    @staticmethod
    def _come_to(g: Game, frame: MergerRound, company: str) -> None:
        """Only those behind it in the order are still to come."""
        rest = frame.order[frame.order.index(company) + 1 :]
        g.change(msgspec.structs.replace(frame, order=rest))

    def _liquidate(self, g: Game, frame: MergerRound) -> None:
        """Whichever was placed in liquidation last, until none is left (§7): so one that could not pay for
        its markers, or lost its president by the sale of another, comes before those that were there. One
        that loses its president later waits for the next round."""
        red = [c for c in g.operating_order() if in_zone(g, c, "liquidation")]
        if red:
            put_up(g, red[-1])
        else:
            self._advance(g, frame)

    def _acquire(self, g: Game, frame: MergerRound) -> None:
        """Those that were gray as the round began; what becomes gray in it is not put up (§7)."""
        gray = [c for c in frame.order if c in frame.gray and in_zone(g, c, "acquisition")]
        if gray:
            self._come_to(g, frame, gray[0])
            put_up(g, gray[0])
        else:
            self._advance(g, frame)

    def _sales(self, g: Game, frame: MergerRound) -> None:
        """The next company in turn: put up, or its president asked; what has come into liquidation or
        acquisition in this round is passed over."""
        if not frame.order:
            self._advance(g, frame)
            return
        company, *rest = frame.order
        g.change(msgspec.structs.replace(frame, order=tuple(rest)))
        if in_zone(g, company, "liquidation"):
            if company in frame.red:
                put_up(g, company)
        elif in_zone(g, company, "acquisition"):
            if company in frame.gray:
                put_up(g, company)
        elif may_be_offered(g, company):
            g.open(MergerTurn(company, "offer"))

    def _end(self, g: Game, frame: MergerRound) -> None:
        if g.title.interrupt(g):
            return
        if self.finish.is_last(g, frame.after, frame.number, frame.of):
            g.change(GameOver("The last operating round is over."))
        elif frame.number < frame.of:
            following = OperatingRound(frame.after, frame.number + 1, frame.of)
            g.change(following)
            open_operating(g, following)
        else:
            g.change(begin_stock_round(g, frame.after + 1))


@dataclass(frozen=True)
class Polls:
    """Asks presidents all at once whether any of their companies will act in a stage."""

    def asked(self, g: Game, frame: Poll) -> tuple[str, ...]:
        return tuple(s for s in frame.seats if s in g.state.active)

    def needs(self, g: Game, frame: Poll) -> str:
        what = "offer a company for sale" if frame.stage == "offer" else "convert or merge a company"
        return f"to say whether to {what}: act, or pass"

    def options(self, g: Game, frame: Poll, seat: str) -> Iterator[Option]:
        able = may_be_offered if frame.stage == "offer" else may_grow
        mine = [c for c in g.operating_order() if g.company(c).president == seat and able(g, c)]
        which = " or ".join(f"the {c}" for c in mine)
        does = "is offered for sale" if frame.stage == "offer" else "converts or merges"
        yield Option(WillAct(), f"Act: {which} {does}")
        yield Option(Pass(), f"Pass: not {which}")

    def refuse(self, g: Game, frame: Poll, seat: str, action: Action) -> str | None:
        if isinstance(action, Pass | WillAct):
            return None
        return "Say whether you will act, or pass; what is done is said when it is your company's turn (§7)."

    def take(self, g: Game, frame: Poll, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            g.emit(Passed(seat, "the merger round"))
        willing = (*frame.willing, seat) if isinstance(action, WillAct) else frame.willing
        g.change(Poll(frame.stage, tuple(s for s in frame.seats if s != seat), willing))

    def settle(self, g: Game, frame: Poll) -> bool:
        if self.asked(g, frame):
            return False
        g.close()
        base = g.top
        assert isinstance(base, MergerRound)
        g.change(msgspec.structs.replace(base, willing=frame.willing))
        return True
