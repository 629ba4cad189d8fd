"""Prices of track, at which no train would want what another needs more.

Which fractions of known routes together earn the most is a linear programme: no shared hexside is used
more than once, no kind of train more often than there are trains of it, and as a route that passes
through a stop uses two of its exits, a stop with three exits is passed through once, with five twice.
The dual values of these limits are prices of hexsides and of passing. The programme is solved by the
simplex method with the inverse of the basis kept, so that routes can be added while it stands.

The prices are only advice: what is proven with them holds for any prices (`engine.board.sets`). So
they may come of arithmetic with fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

PARTS = 64
"""Prices are in so many parts of a dollar."""

TINY = 1e-7
STIR = 1e-5
"""By what part the limits are moved apart, since a programme of so many equal limits goes in circles."""


class Prices(msgspec.Struct, frozen=True, gc=False):
    """What routes pay, in parts of a dollar: for shared hexsides by bit, for passing through stops by stop.

    `most`: what all routes of a set pay together at most.
    """

    sides: Sequence[int]
    passes: Mapping[int, int]
    most: int


class Programme:
    """Routes that earn the most together.

    `width`: how many shared hexsides (bits) there are; `passes`: how often stops are passed through at
    most; `counts`: how many trains of each kind there are.
    """

    def __init__(self, width: int, passes: Mapping[int, int], counts: Sequence[int]) -> None:
        self.width = width
        self.passes = {stop: width + i for i, stop in enumerate(passes)}
        self.limits = [*[1] * width, *passes.values(), *counts]
        self.kinds = width + len(passes)
        count = len(self.limits)
        self.inverse = [[0.0] * i + [1.0] + [0.0] * (count - i - 1) for i in range(count)]
        self.shares = [limit + STIR * (i + 1) for i, limit in enumerate(self.limits)]
        self.duals = [0.0] * count
        self.columns: list[tuple[Sequence[int], int]] = []

    def add(self, kind: int, bits: int, passed: Iterable[int], dollars: int) -> None:
        """One more route: its kind of train, its hexsides, the stops it passes through, what it earns."""
        passes = [self.passes[stop] for stop in passed if stop in self.passes]
        self.columns.append(((*_places(bits), *passes, self.kinds + kind), dollars))

    def prices(self) -> Prices:
        """The prices as the programme was solved last."""
        parts = [max(int(PARTS * dual), 0) for dual in self.duals[: self.kinds]]
        most = sum([part * limit for part, limit in zip(parts, self.limits, strict=False)])
        passes = {stop: parts[row] for stop, row in self.passes.items() if parts[row]}
        return Prices(parts[: self.width], passes, most)

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
