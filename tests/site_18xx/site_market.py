"""The stock market of 1830, for the model of the money in a file."""

from __future__ import annotations

from itertools import count

ROWS = (
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
PRICES = [[0 if price == "-" else int(price) for price in row.split()] for row in ROWS]


class Market1830:
    """Where each company's token lies, and since when: in one space the first to come is on top."""

    def __init__(self) -> None:
        self._at: dict[str, tuple[int, int]] = {}
        self._since: dict[str, int] = {}
        self._clock = count()

    @staticmethod
    def price_at(row: int, column: int) -> int:
        """Dollars of a space; 0 where there is none."""
        if not 0 <= row < len(PRICES) or not 0 <= column < len(PRICES[row]):
            return 0
        return PRICES[row][column]

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
