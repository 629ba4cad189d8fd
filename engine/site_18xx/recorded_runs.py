"""Whether the run in a file can be read: its trains, revenues and stops.

The site pays the recorded revenue without a look at the track, so a run is imported with a warning where the
two differ. A run that the site would not take either is refused: with a train of another company, or a
revenue that is no number.
"""

from __future__ import annotations

from typing import Any

from engine.board.routes import Route
from engine.site_18xx.game_file import SiteAction, SiteFileError, kind_of
from engine.site_18xx.names import split_number
from engine.site_18xx.site_table import SiteTable


def check_run(table: SiteTable, action: SiteAction) -> None:
    """Raise SiteFileError for a train that cannot run, or a revenue that cannot be paid."""
    company, used = table.company(action.entity_key), set[str]()
    for field in ("extra_revenue", "subsidy"):
        if dollars := getattr(action, field):
            raise SiteFileError(
                f"its field {field} is {dollars}; this title has none, so it would have to be 0"
            )
    for route in action.routes or ():
        train, revenue = str(route.get("train", "")), route.get("revenue")
        if not train:
            raise SiteFileError("one of its routes names no train")
        if split_number(train)[0] not in table.game.title.trains:
            raise SiteFileError(f"there is no {split_number(train)[0]}-train")
        if table.numbering.train_owner(train) != company:
            raise SiteFileError(f"the {company} does not own the train {train}")
        if train in used:
            raise SiteFileError(f"the train {train} has two routes")
        used.add(train)
        if revenue is not None and type(revenue) is not int:
            raise SiteFileError(f"the revenue of the train {train} is {kind_of(revenue)}, not a whole number")


def note_other_stops(table: SiteTable, record: dict[str, Any], route: Route) -> None:
    """Warn where a route lists other stops than its track has. The site goes by the track."""
    stops = {
        "hexes": sorted(hex for hex, _ in route.stops),
        "nodes": sorted(f"{hex}-{node}" for hex, node in route.stops),
    }
    for field, on_track in stops.items():
        listed = record.get(field)
        if listed is not None and (not isinstance(listed, list) or sorted(map(str, listed)) != on_track):
            table.warn(f"the {route.train}-train stops at {', '.join(on_track)} by its track, which counts")
            return
