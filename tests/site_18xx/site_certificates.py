"""Where the numbered certificates of a company lie, for the model of the money in a file of 1870.

An owner's certificates lie in the order of their arrival; a new president gives their first two ordinary ones
for the president's, of which the pool gets one if half of it was sold.
"""

from __future__ import annotations

from typing import Any

from tests.site_18xx.site_money import IPO, POOL


class Certificates:
    """Where the numbered certificates of a company lie, in the order of their arrival."""

    def __init__(self, company: str) -> None:
        self._first = f"{company}_0"
        self.lie: dict[Any, list[str]] = {IPO: [f"{company}_{number}" for number in range(9)]}

    def owner(self, share: str) -> Any:
        return next(owner for owner, shares in self.lie.items() if share in shares)

    def move(self, shares: list[str], source: Any, target: Any) -> None:
        """Move certificates. One that was thought elsewhere changes places with one of its source."""
        for share in shares:
            if (owner := self.owner(share)) != source and self.lie.get(source):
                lent = self.lie[source].pop(0)
                self.lie[owner][self.lie[owner].index(share)] = lent
            else:
                self.lie[owner].remove(share)
            self.lie.setdefault(target, []).append(share)

    def swap(self, old: int, new: int, missing: int) -> None:
        """A new president takes the president's certificate; `missing`: percent sold of it."""
        given = [share for share in self.lie[new] if share != self._first][:2]
        to_pool = given[: missing // 10]
        self.move(to_pool, new, POOL)
        self.move(given[len(to_pool) :], new, old)
        self.move([self._first], old, new)
