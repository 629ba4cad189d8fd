"""A day of very many running tables, simulated event by event with costs that were measured at fewer.

Theory of operation. Nothing of the service runs here. Tables move as games of 18xx.games did: 134 waits in
22 days, a third of the waiting in gaps of more than a day (a log-normal gap), with 1.7 moves after each wait.
People are awake: the pace of all follows the time of day. A tenth of the tables has an hour that is fixed,
20:00: half of their moves fall into the hour before, everybody who is still awaited is reminded at 19:00, and
at 20:00 what is up is handled. These shares are assumed; the costs are measured.

One process serves: players first and in turn, then the clock, in portions that hold up players. A table that
is not among the latest in memory is loaded. Messages leave by Discord at the rate that it allows.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

DAY = 86_400.0
MEAN_GAP = 22 * DAY / 134
SIGMA = 1.65
MOVES_A_WAIT = 1.7
BETWEEN_MOVES = 30.0
"""Seconds between two moves of one player."""
FIXED_SHARE, FIXED_HOUR = 0.1, 20 * 3600.0
LATE_SHARE = 0.5
"""Of the moves with a fixed hour that are made in the hour before it."""
PORTION = 32
"""Tables that the clock follows at once."""
DISCORD_RATE = 50.0
"""Requests a second that Discord allows a bot."""
MESSAGES_A_MOVE = 1.5
SEED = 14


@dataclass(frozen=True, slots=True)
class Costs:
    """Milliseconds of processor time: of a move at a table in memory, and of one that is loaded; of following
    a table, and of a row that is due. in_memory: tables that fit."""

    warm: float
    cold: float
    follow: float
    due: float
    in_memory: int


@dataclass
class DayMetrics:
    """What a day was like: seconds of waiting of the moves, the longest queues, what was busy."""

    tables: int
    moves: int = 0
    loaded: int = 0
    busy: float = 0.0
    waits: list[float] = field(default_factory=list)
    longest_queue: int = 0
    longest_due: int = 0
    clock_behind: float = 0.0
    messages: int = 0
    longest_outbox: float = 0.0
    busiest_second: int = 0

    def lines(self) -> list[str]:
        """The figures in sentences."""
        waits = sorted(self.waits)
        p99, worst = waits[len(waits) * 99 // 100], waits[-1]
        return [
            f"{self.tables:,} tables for a day: {self.moves:,} moves, {self.moves / DAY:.1f} a second on "
            f"average and {self.busiest_second} in the busiest; {self.loaded / self.moves:.0%} of them "
            "at tables that had to be loaded",
            f"the process is busy for {self.busy / DAY:.1%} of the day; a move waits "
            f"{1000 * sum(waits) / len(waits):.1f} ms on average, 99 of 100 at most {1000 * p99:.0f} ms, the "
            f"longest {worst:.2f} s; at most {self.longest_queue} moves wait at once",
            f"the clock has at most {self.longest_due:,} things to do at once, and is up to "
            f"{self.clock_behind:.0f} s behind; at most {self.longest_outbox:,.0f} of {self.messages:,} "
            "messages wait for Discord",
        ]


def simulate_day(tables: int, costs: Costs) -> DayMetrics:
    """A day of so many tables."""
    return _Day(tables, costs, Random(SEED)).run()


def _awake(at: float) -> float:
    """How much is played at a time of the day, 1 on average: least at four in the morning."""
    return 1 - 0.8 * math.cos((at / DAY - 4 / 24) * 2 * math.pi)


class _Day:
    def __init__(self, tables: int, costs: Costs, dice: Random) -> None:
        self._costs, self._dice, self._tables = costs, dice, tables
        self._memory: OrderedDict[int, None] = OrderedDict()
        self._metrics = DayMetrics(tables)
        self._moves: deque[tuple[float, int]] = deque()
        self._clock: deque[tuple[float, float]] = deque()  # since when, seconds of work
        self._to_follow = 0
        self._outbox, self._outbox_at = 0.0, 0.0

    def run(self) -> DayMetrics:
        """Serve all that arrives in a day."""
        now, second, in_second = 0.0, -1, 0
        for at, table in self._arrivals():
            now = self._serve(now, at)
            if table < 0:
                self._due(at, -table)
                continue
            self._moves.append((at, table))
            self._metrics.longest_queue = max(self._metrics.longest_queue, len(self._moves))
            in_second = in_second + 1 if int(at) == second else 1
            second = int(at)
            self._metrics.busiest_second = max(self._metrics.busiest_second, in_second)
        self._serve(now, DAY * 2)
        return self._metrics

    def _serve(self, now: float, until: float) -> float:
        """Work until the next arrival; the time when the work at hand is done."""
        while now < until and (self._moves or self._clock or self._to_follow):
            if self._moves:
                at, table = self._moves.popleft()
                now = max(now, at) + self._move(table) / 1000
                self._send(now, MESSAGES_A_MOVE)
                self._metrics.waits.append(now - at)
            elif self._clock:
                since, work = self._clock.popleft()
                now = max(now, since)
                self._metrics.clock_behind = max(self._metrics.clock_behind, now - since)
                self._work(work)
                now += work
            else:
                now = self._follow(now)
        return now

    def _move(self, table: int) -> float:
        self._metrics.moves += 1
        cost = self._costs.warm
        if table not in self._memory:
            self._metrics.loaded += 1
            cost = self._costs.cold
            if len(self._memory) >= self._costs.in_memory:
                self._memory.popitem(last=False)
        self._memory[table] = None
        self._memory.move_to_end(table)
        self._to_follow += 1
        self._work(cost / 1000)
        return cost

    def _follow(self, now: float) -> float:
        some = min(self._to_follow, PORTION)
        self._to_follow -= some
        work = some * self._costs.follow / 1000
        self._work(work)
        return now + work

    def _due(self, at: float, rows: int) -> None:
        self._clock.extend([(at, self._costs.due / 1000)] * rows)
        self._metrics.longest_due = max(self._metrics.longest_due, len(self._clock))
        self._send(at, rows)

    def _work(self, seconds: float) -> None:
        self._metrics.busy += seconds

    def _send(self, at: float, messages: float) -> None:
        self._outbox = max(self._outbox - DISCORD_RATE * max(at - self._outbox_at, 0), 0) + messages
        self._outbox_at = max(at, self._outbox_at)
        self._metrics.messages += round(messages)
        self._metrics.longest_outbox = max(self._metrics.longest_outbox, self._outbox)

    def _arrivals(self) -> Iterator[tuple[float, int]]:
        """Moves, as time and table, and what is due at once, as time and a negative number; in order."""
        queue: list[tuple[float, int]] = []
        fixed = int(self._tables * FIXED_SHARE)
        for table in range(self._tables):
            heappush(queue, (self._dice.random() * self._gap(), table))
        waiting = fixed // 2
        heappush(queue, (FIXED_HOUR - 3600, -max(waiting, 1)))
        heappush(queue, (FIXED_HOUR, -max(waiting // 3, 1)))
        while queue and queue[0][0] < DAY:
            at, table = heappop(queue)
            yield at, table
            if table >= 0:
                heappush(queue, (self._next(at, table < fixed), table))

    def _gap(self) -> float:
        return self._dice.lognormvariate(math.log(MEAN_GAP) - SIGMA**2 / 2, SIGMA)

    def _next(self, at: float, is_fixed: bool) -> float:
        if self._dice.random() < 1 - 1 / MOVES_A_WAIT:
            return at + self._dice.expovariate(1 / BETWEEN_MOVES)
        if is_fixed and at < FIXED_HOUR - 3600 and self._dice.random() < LATE_SHARE:
            return FIXED_HOUR - 3600 * self._dice.random() ** 2
        return at + self._gap() / _awake(at)
