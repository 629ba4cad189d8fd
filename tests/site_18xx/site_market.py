"""The two-dimensional stock markets of 1830 and 1870, for the models of the money in a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import ClassVar

ROWS_1830 = (
    "60 67 71 76 82 90 100 112 126 142 160 180 200 225 250 275 300 325 350",
    "53 60 66 70 76 82 90 100 112 126 142 160 180 200 220 240 260 280 300",
    "46 55 60 65 70 76 82 90 100 111 125 140 155 170 185 200",
    "39 48 54 60 66 71 76 82 90 100 110 120 130",
    "32 41 48 55 62 67 71 76 82 90 100",
    "25 34 42 50 58 65 67 71 75 80",
    "18 27 36 45 54 63 67 69 70",
    "10 20 30 40 50 60 67 68",
    "- 10 20 30 40 50 60",
    "- - 10 20 30 40 50",
    "- - - 10 20 30 40",
)
ROWS_1870 = (
    "64v 68 72 76 82 90 100 110 120 140 160 180 200 225 250 275 300 325 350 375 400",
    "60v 64 68 72 76 82 90 100 110 120 140 160 180 200 225 250 275L 300L 325L 350L 375L^",
    "55v 60 64 68 72 76 82 90 100 110 120 140 160 180L 200L 225L^ 250 275 300 325 350^",
    "50v 55 60 64 68 72 76 82 90 100 110 120L 140L^ 160 180 200 225 250 275 300 325^",
    "40v 50 55 60 64 68 72 76 82 90 100L^ 110 120 140 160 180^",
    "30v 40 50 55 60 64 68 72 76 82L^ 90 100 110^",
    "20v 30 40 50 55 60 64 68 72L^ 76 82^",
    "10v 20 30 40 50 55 60 64L^ 68 72^",
    "0 10 20 30 40 50 55^ 60 64^",
    "0 0 10 20 30 40 50^",
    "0 0 0 10 20 30 40^",
)
"""L: on the upper ledge; v, ^: arrows. A price of 0 closes the company."""


class Market:
    """Where each company's token lies, and since when: in one space the first to come is on top."""

    ROWS: ClassVar[Sequence[str]]

    def __init__(self) -> None:
        self._rows = [row.split() for row in self.ROWS]
        self._at: dict[str, tuple[int, int]] = {}
        self._since: dict[str, int] = {}
        self._clock = count()

    def _space(self, row: int, column: int) -> str:
        """What is printed in a space; nothing where there is none."""
        if not 0 <= row < len(self._rows) or not 0 <= column < len(self._rows[row]):
            return ""
        return self._rows[row][column]

    def price_at(self, row: int, column: int) -> int:
        """Dollars of a space; 0 where there is none."""
        return int(self._space(row, column).strip("Lv^-") or 0)

    def price(self, company: str) -> int:
        return self.price_at(*self._at[company])

    def put(self, company: str, row: int, column: int) -> None:
        if self._at.get(company) != (row, column):
            self._at[company], self._since[company] = (row, column), next(self._clock)

    def up(self, company: str) -> None:
        row, column = self._at[company]
        if self.price_at(row - 1, column):
            self.put(company, row - 1, column)

    def down(self, company: str, rows: int = 1) -> None:
        row, column = self._at[company]
        while rows and self.price_at(row + 1, column):
            row, rows = row + 1, rows - 1
        self.put(company, row, column)

    def right(self, company: str) -> None:
        row, column = self._at[company]
        if self.price_at(row, column + 1):
            self.put(company, row, column + 1)
        else:
            self.up(company)

    def left(self, company: str) -> None:
        row, column = self._at[company]
        if self.price_at(row, column - 1):
            self.put(company, row, column - 1)
        else:
            self.down(company)

    def order(self) -> list[str]:
        """The companies by price; of one price first the one further right, then higher up, then on top."""
        return sorted(
            self._at, key=lambda c: (-self.price(c), -self._at[c][1], self._at[c][0], self._since[c])
        )


class Market1830(Market):
    """A token at the end of a row or column moves along the other."""

    ROWS = ROWS_1830


class Market1870(Market):
    """Some rows end with an arrow, a ledge holds a token that would come one row below it."""

    ROWS = ROWS_1870

    def remove(self, company: str) -> None:
        del self._at[company]

    def up(self, company: str) -> None:
        row, column = self._at[company]
        if row:
            self.put(company, row - 1, column)
        elif self._space(1, column + 1):
            self.put(company, 1, column + 1)

    def right(self, company: str) -> None:
        row, column = self._at[company]
        if "^" in self._space(row, column):
            self.put(company, row - 1, column)
        elif self._space(row, column + 1):
            self.put(company, row, column + 1)

    def left(self, company: str) -> None:
        row, column = self._at[company]
        if "v" in self._space(row, column):
            self.put(company, row + 1, column)
        else:
            self.put(company, row, column - 1)

    def down(self, company: str, rows: int = 1) -> None:
        row, column = self._at[company]
        end = row
        while end < row + rows and self._space(end + 1, column):
            end += 1
        ledge = row + rows - 1
        if "L" in self._space(ledge, column):
            end = ledge
        self.put(company, end, column)

    def closed(self) -> list[str]:
        """The companies in the closing area."""
        return [company for company in self._at if not self.price(company)]
