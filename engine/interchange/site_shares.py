"""Where the numbered shares of companies that choose their number of shares lie.

The site numbers shares as they come into being: 0 is the president's certificate, 1 and up the others
of the first issue, then those of conversions and mergers; a short sale makes two, from 10 upward. What
matters here is whether a share that is bought lies in the treasury or in the pool.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.actions import Action, Short
from engine.events import (
    AnyEvent,
    CompanyReturned,
    PlayerOut,
    PresidentNamed,
    Restructured,
    SharesMoved,
)
from engine.state import POOL, State, is_seat

FIRST_SHORT = 10


class ShareRegister:
    """By company the holder of each numbered share."""

    def __init__(self) -> None:
        self._held: dict[str, dict[int, str]] = {}
        self._presidents: dict[str, str] = {}
        self._swapped: dict[str, list[int]] = {}

    def source(self, company: str, share: str) -> str | None:
        """Who holds the share of that name, as far as that is known."""
        number = share.rpartition("_")[2]
        if not number.isdecimal():
            return None
        holder = self._held.get(company, {}).get(int(number))
        if int(number) >= FIRST_SHORT and holder != company:
            return POOL
        return holder

    def moved(self, company: str, shares: Iterable[str], holder: str) -> None:
        """Named shares have a new holder."""
        held = self._held.setdefault(company, {})
        for share in shares:
            number = share.rpartition("_")[2]
            if number.isdecimal():
                held.pop(int(number), None)  # the order is that in which the holders came by them
                held[int(number)] = holder

    def sold(self, company: str, shares: list[str], count: int, seat: str) -> None:
        """Named shares were sold; of a president's certificate that another has by now, those for it."""
        others = [s for s in shares if s.rpartition("_")[2] != "0"]
        self.moved(company, others, POOL)
        if len(others) == len(shares):
            return
        # The heir's two shares go to the pool, and what was not sold comes back from there, oldest first.
        held = self._held.setdefault(company, {})
        self.moved(company, [f"{company}_{n}" for n in self._swapped.get(company, [])], POOL)
        back = [n for n, h in held.items() if h == POOL][: len(others) + 2 - count]
        self.moved(company, [f"{company}_{n}" for n in back], seat)

    def hear(self, state: State, action: Action, seat: str, events: list[AnyEvent]) -> None:
        """Note what an action has brought about."""
        absorbed = [e.company for e in events if isinstance(e, CompanyReturned)]
        for event in events:
            match event:
                case Restructured(company, size):
                    self._issue(state, company, size, absorbed)
                case PresidentNamed(company, new):
                    self._swap(company, new)
                case PlayerOut(gone):
                    for held in self._held.values():
                        held.update({n: POOL for n, h in held.items() if h == gone})
                case CompanyReturned(company):
                    self._held.pop(company, None)
                    self._presidents.pop(company, None)
                case SharesMoved(company, source, target) if isinstance(action, Short) and is_seat(source):
                    held = self._held.setdefault(company, {})
                    number = max([FIRST_SHORT - 1, *held]) + 1
                    held[number], held[number + 1] = target, seat

    def _issue(self, state: State, company: str, size: int, absorbed: list[str]) -> None:
        """Shares that come into being as a company starts, converts or merges."""
        held = self._held.setdefault(company, {})
        ordinary = {2: 0, 5: 3, 10: 8}.get(size, 0)
        if not held:
            held[0] = state.companies[company].president or ""
        theirs = next((self._held[c] for c in absorbed if c in self._held and c != company), None)
        if theirs is not None and size == 10 and 4 not in held:
            number = max(n for n in held if n < FIRST_SHORT) + 1
            above = max([FIRST_SHORT - 1, *held]) + 1
            for old, holder in sorted(theirs.items()):
                to = company if holder in absorbed else holder
                if old >= FIRST_SHORT:
                    # Of each pair the short share is numbered first here.
                    held[above + (old - FIRST_SHORT ^ 1)] = to
                    continue
                for _ in range(2 if old == 0 else 1):
                    if number <= ordinary:
                        held[number], number = to, number + 1
            return
        for number in range(1, ordinary + 1):
            held.setdefault(number, company)

    def _swap(self, company: str, new: str) -> None:
        """The president's certificate against two ordinary ones."""
        held, old = self._held.setdefault(company, {}), self._presidents.get(company)
        self._presidents[company] = new
        if old and held.get(0) == old:
            self._swapped[company] = [n for n, h in held.items() if h == new and n][:2]
            for number in self._swapped[company]:
                held.pop(number)
                held[number] = old
        held[0] = new
