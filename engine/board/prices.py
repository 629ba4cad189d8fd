"""Prices of shared hexsides, at which no train would want what another needs more.

Which fractions of known routes together earn the most, no hexside being used more than once and no
kind of train more often than there are trains of it, is a linear programme. Its dual values of the
hexsides are their prices. It is solved by the simplex method with the inverse of the basis kept, so
that routes can be added while it stands.

The prices are only advice: what is proven with them holds for any prices (`engine.board.sets`). So
they may come of arithmetic with fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TINY = 1e-7
STIR = 1e-5
"""By what part the limits are moved apart, since a programme of so many equal limits goes in circles."""


class Programme:
    """Routes that earn the most together. `limits`: by row how much of routes is used at most; the rows
    are hexsides (bits) and after them kinds of trains."""

    def __init__(self, limits: Sequence[int]) -> None:
        count = len(limits)
        self.inverse = [[0.0] * i + [1.0] + [0.0] * (count - i - 1) for i in range(count)]
        self.shares = [limit + STIR * (i + 1) for i, limit in enumerate(limits)]
        self.duals = [0.0] * count
        self.columns: list[tuple[tuple[int, ...], int]] = []

    def add(self, bits: int, row: int, dollars: int) -> None:
        """One more route: its hexsides, the row of its kind of train, what it earns."""
        self.columns.append(((*_places(bits), row), dollars))

    def solve(self) -> int:
        """Find the best fractions; how many steps that took."""
        most = 4 * len(self.duals)
        for steps in range(most):
            gain, rows = self._entering()
            if gain < TINY or not self._enter(rows, gain):
                return steps
        return most

    def _entering(self) -> tuple[float, Sequence[int]]:
        """What would earn the most if there were more of it: a route, or less of what is used."""
        duals = self.duals
        least = min(duals)
        best: tuple[float, Sequence[int]] = (-least, (duals.index(least),))
        for rows, dollars in self.columns:
            gain = dollars - sum([duals[row] for row in rows])
            if gain > best[0]:
                best = gain, rows
        return best

    def _enter(self, rows: Sequence[int], gain: float) -> bool:
        """Let in as much of it as there can be; False where there is no end to it."""
        shares, inverse = self.shares, self.inverse
        takes = [sum([line[row] for row in rows]) for line in inverse]
        ratios = [(shares[i] / take, i) for i, take in enumerate(takes) if take > TINY]
        if not ratios:
            return False
        share, out = min(ratios)
        line = inverse[out] = [each / takes[out] for each in inverse[out]]
        for i, take in enumerate(takes):
            if i != out and take:
                inverse[i] = [each - take * other for each, other in zip(inverse[i], line, strict=True)]
                shares[i] -= take * share
        shares[out] = share
        self.duals = [dual + gain * each for dual, each in zip(self.duals, line, strict=True)]
        return True


def _places(bits: int) -> Iterable[int]:
    while bits:
        bit = bits & -bits
        yield bit.bit_length() - 1
        bits ^= bit
