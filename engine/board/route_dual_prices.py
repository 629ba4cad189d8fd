"""Dual prices of hexsides and stops, at which no train wants what another needs more.

Which fractions of known routes earn the most together is a linear program. No shared hexside is used more
than once, and no type of train more often than there are trains of it. A route that passes through a
stop uses two of its exits, so a stop with three exits is passed through once, one with five twice. The
dual values of these constraints are prices of hexsides and of passing through stops. The program is
solved by the revised simplex method: the inverse of the basis is kept, so that routes can be added between
two solutions.

The prices are only advice. What is proven with them holds for any prices (`engine.board.route_sets`). So
they may be computed in floating point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

PRICE_SCALE = 64
"""Prices are counted in parts of a dollar, of which it has so many."""

TOLERANCE = 1e-7
PERTURBATION = 1e-5
"""The limits are moved apart by multiples of this, because a program with equal limits can cycle."""


class DualPrices(msgspec.Struct, frozen=True, gc=False):
    """What routes pay, in parts of a dollar.

    `hexsides`: prices of shared hexsides, by bit. `passes`: prices of passing through a stop, by stop.
    `max_total`: the most that all routes of a set can pay together.
    """

    hexsides: Sequence[int]
    passes: Mapping[int, int]
    max_total: int


class LinearProgram:
    """The linear program that finds the fractions of routes that earn the most together.

    `hexside_count`: how many shared hexsides (bits) there are. `passes`: by stop how many routes can pass
    through it. `counts`: how many trains of each type there are.
    """

    def __init__(self, hexside_count: int, passes: Mapping[int, int], counts: Sequence[int]) -> None:
        self.hexside_count = hexside_count
        self.pass_rows = {stop: hexside_count + i for i, stop in enumerate(passes)}
        self.limits = [*[1] * hexside_count, *passes.values(), *counts]
        self.first_train_row = hexside_count + len(passes)
        count = len(self.limits)
        self.basis_inverse = [[0.0] * i + [1.0] + [0.0] * (count - i - 1) for i in range(count)]
        self.basis_values = [limit + PERTURBATION * (i + 1) for i, limit in enumerate(self.limits)]
        self.duals = [0.0] * count
        self.columns: list[tuple[Sequence[int], int]] = []

    def add_route(self, train_type: int, hexsides: int, passed: Iterable[int], dollars: int) -> None:
        """Add a route: its type of train, its hexsides (bits), the stops it passes through, its dollars."""
        passes = [self.pass_rows[stop] for stop in passed if stop in self.pass_rows]
        self.columns.append(
            ((*_bit_positions(hexsides), *passes, self.first_train_row + train_type), dollars)
        )

    def prices(self) -> DualPrices:
        """The prices in the latest solution."""
        parts = [max(int(PRICE_SCALE * dual), 0) for dual in self.duals[: self.first_train_row]]
        max_total = sum([part * limit for part, limit in zip(parts, self.limits, strict=False)])
        passes = {stop: parts[row] for stop, row in self.pass_rows.items() if parts[row]}
        return DualPrices(parts[: self.hexside_count], passes, max_total)

    def solve(self) -> int:
        """Find the best fractions. Returns the number of steps that this took."""
        max_steps = 4 * len(self.duals)
        for steps in range(max_steps):
            gain, rows = self._entering_column()
            if gain < TOLERANCE or not self._pivot(rows, gain):
                return steps
        return max_steps

    def _entering_column(self) -> tuple[float, Sequence[int]]:
        """The column that would gain the most, with its gain: a route, or unused capacity."""
        duals = self.duals
        lowest = min(duals)
        best: tuple[float, Sequence[int]] = (-lowest, (duals.index(lowest),))
        for rows, dollars in self.columns:
            gain = dollars - sum([duals[row] for row in rows])
            if gain > best[0]:
                best = gain, rows
        return best

    def _pivot(self, rows: Sequence[int], gain: float) -> bool:
        """Bring the column into the basis. Returns False where the program is unbounded."""
        values, inverse = self.basis_values, self.basis_inverse
        column = [sum([pivot_row[row] for row in rows]) for pivot_row in inverse]
        ratios = [
            (values[i] / coefficient, i) for i, coefficient in enumerate(column) if coefficient > TOLERANCE
        ]
        if not ratios:
            return False
        value, leaving = min(ratios)
        pivot_row = inverse[leaving] = [number / column[leaving] for number in inverse[leaving]]
        for i, coefficient in enumerate(column):
            if i != leaving and coefficient:
                inverse[i] = [
                    number - coefficient * other for number, other in zip(inverse[i], pivot_row, strict=True)
                ]
                values[i] -= coefficient * value
        values[leaving] = value
        self.duals = [dual + gain * number for dual, number in zip(self.duals, pivot_row, strict=True)]
        return True


def _bit_positions(bits: int) -> Iterable[int]:
    while bits:
        bit = bits & -bits
        yield bit.bit_length() - 1
        bits ^= bit
