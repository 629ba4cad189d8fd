"""Prices of track, at which no train would want what another needs more.

Which fractions of known routes together earn the most is a linear programme: no shared hexside is used
more than once, no kind of train more often than there are trains of it, and as a route that passes
through a stop uses two of its exits, a stop with three exits is passed through once, with five twice.
The dual values of these limits are prices of hexsides and of passing. The programme is solved by the
simplex method with the inverse of the basis kept, so that routes can be added while it stands.

The prices are only advice: what is proven with them holds for any prices (`engine.board.route_sets`). So
they may come of arithmetic with fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

PRICE_SCALE = 64
"""Prices are in so many parts of a dollar."""

TOLERANCE = 1e-7
PERTURBATION = 1e-5
"""By what part the limits are moved apart, since a programme of so many equal limits goes in circles."""


class DualPrices(msgspec.Struct, frozen=True, gc=False):
    """What routes pay, in parts of a dollar: for shared hexsides by bit, for passing through stops by stop.

    `most`: what all routes of a set pay together at most.
    """

    hexsides: Sequence[int]
    passes: Mapping[int, int]
    max_total: int


class LinearProgram:
    """Routes that earn the most together.

    `width`: how many shared hexsides (bits) there are; `passes`: how often stops are passed through at
    most; `counts`: how many trains of each kind there are.
    """

    def __init__(self, width: int, passes: Mapping[int, int], counts: Sequence[int]) -> None:
        self.hexside_count = width
        self.pass_rows = {stop: width + i for i, stop in enumerate(passes)}
        self.limits = [*[1] * width, *passes.values(), *counts]
        self.first_train_row = width + len(passes)
        count = len(self.limits)
        self.basis_inverse = [[0.0] * i + [1.0] + [0.0] * (count - i - 1) for i in range(count)]
        self.basis_values = [limit + PERTURBATION * (i + 1) for i, limit in enumerate(self.limits)]
        self.duals = [0.0] * count
        self.columns: list[tuple[Sequence[int], int]] = []

    def add_route(self, kind: int, bits: int, passed: Iterable[int], dollars: int) -> None:
        """One more route: its kind of train, its hexsides, the stops it passes through, what it earns."""
        passes = [self.pass_rows[stop] for stop in passed if stop in self.pass_rows]
        self.columns.append(((*_bit_positions(bits), *passes, self.first_train_row + kind), dollars))

    def prices(self) -> DualPrices:
        """The prices as the programme was solved last."""
        parts = [max(int(PRICE_SCALE * dual), 0) for dual in self.duals[: self.first_train_row]]
        most = sum([part * limit for part, limit in zip(parts, self.limits, strict=False)])
        passes = {stop: parts[row] for stop, row in self.pass_rows.items() if parts[row]}
        return DualPrices(parts[: self.hexside_count], passes, most)

    def solve(self) -> int:
        """Find the best fractions; how many steps that took."""
        most = 4 * len(self.duals)
        for steps in range(most):
            gain, rows = self._entering_column()
            if gain < TOLERANCE or not self._pivot(rows, gain):
                return steps
        return most

    def _entering_column(self) -> tuple[float, Sequence[int]]:
        """What would earn the most if there were more of it: a route, or less of what is used."""
        duals = self.duals
        least = min(duals)
        best: tuple[float, Sequence[int]] = (-least, (duals.index(least),))
        for rows, dollars in self.columns:
            gain = dollars - sum([duals[row] for row in rows])
            if gain > best[0]:
                best = gain, rows
        return best

    def _pivot(self, rows: Sequence[int], gain: float) -> bool:
        """Let in as much of it as there can be; False where there is no end to it."""
        shares, inverse = self.basis_values, self.basis_inverse
        takes = [sum([line[row] for row in rows]) for line in inverse]
        ratios = [(shares[i] / take, i) for i, take in enumerate(takes) if take > TOLERANCE]
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


def _bit_positions(bits: int) -> Iterable[int]:
    while bits:
        bit = bits & -bits
        yield bit.bit_length() - 1
        bits ^= bit
