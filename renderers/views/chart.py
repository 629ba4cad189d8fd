"""The view of a chart: lines over the rounds of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import engine
from engine import components_of, dollars
from renderers.views.labels import Badge, clip_text, company_badges

ChartKind = Literal["worth", "prices", "revenue"]
CHART_KINDS: tuple[ChartKind, ...] = ("worth", "prices", "revenue")
_HEADINGS = {"worth": "worth by round", "prices": "share prices by round", "revenue": "revenue by round"}


@dataclass(frozen=True)
class SeriesView:
    """A line: a player (`badge` is None) or a company, with the dollars of each round where there are any."""

    name: str
    badge: Badge | None
    values: tuple[int | None, ...]

    @property
    def last(self) -> int | None:
        """The last dollars of the line."""
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True)
class ChartView:
    """A chart of a game. `rounds`: their short names. `marks`: (index of the round, text above it)."""

    title: str
    kind: ChartKind
    rounds: tuple[str, ...]
    series: tuple[SeriesView, ...]
    marks: tuple[tuple[int, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see: no price, no revenue, or what everybody has begun with."""
        return not self.series or (self.kind == "worth" and len(self.rounds) < 2)

    @property
    def heading(self) -> str:
        return f"{self.title} · {_HEADINGS[self.kind]}"

    @property
    def alt(self) -> str:
        """A description of the picture: the last and the highest dollars of each line."""
        lines = []
        for series in sorted(self.series, key=lambda series: -(series.last or 0)):
            if series.last is not None:
                highest = max(value for value in series.values if value is not None)
                most = f", at most {dollars(highest)}" if highest != series.last else ""
                lines.append(f"{series.name} {dollars(series.last)}{most}")
        return clip_text(f"{self.heading}, {len(self.rounds)} rounds. {'. '.join(lines)}.")


def chart_view(title: str, statistics: Sequence[Sequence[str]], kind: ChartKind) -> ChartView:
    """A chart of the table that `round_statistics` makes: a heading, then a row for each round."""
    heading, *rows = statistics
    badges = company_badges(components_of(title))
    players = len(heading) - 1 - 2 * len(badges)
    first, names = {
        "worth": (1, heading[1 : 1 + players]),
        "prices": (1 + players, list(badges)),
        "revenue": (1 + players + len(badges), list(badges)),
    }[kind]
    rows = [row for row in rows if kind != "revenue" or any(row[1 + players + len(badges) :])]
    series = (
        SeriesView(
            name,
            None if kind == "worth" else badges[name],
            tuple(int(row[first + i]) if row[first + i] else None for row in rows),
        )
        for i, name in enumerate(names)
    )
    return ChartView(
        title,
        kind,
        tuple(engine.short_round(row[0]) for row in rows),
        tuple(s for s in series if s.last is not None),
    )
