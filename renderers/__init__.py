"""Pictures of a game as PNG files with alt text: map, market, sheet, and the rotations of a tile.

All caches are keyed by content, so the same position always gives the same bytes. Drawing takes processor
time (about 20 ms for a map), so a service draws in a process pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from PIL import Image

import engine
from engine import State, dollars, game_of, places_of, tile_faces, tile_upgrades, tiles_left
from renderers.canvas import can_draw, encode_png
from renderers.charts.chart import draw_chart
from renderers.charts.review_chart import BarView, ReviewView, draw_review
from renderers.charts.tile_charts import WAYS_PER_SHEET, draw_tiles, draw_ways
from renderers.files import Picture
from renderers.map.animation import Animator, Moment
from renderers.map.label_sizes import tile_number
from renderers.map.map import draw_map
from renderers.market import draw_market
from renderers.sheet.sheet import draw_sheet
from renderers.sheet.tables import companies_alt, draw_auction, draw_companies
from renderers.theme import PALETTES, PaletteName
from renderers.timing import measure_rendering
from renderers.views import (
    CHART_KINDS,
    ChartKind,
    ChartView,
    MapView,
    around,
    auction_view,
    chart_view,
    clip_text,
    map_description,
    map_view,
    market_view,
    part_around,
    sheet_view,
    surroundings,
    tile_face_label,
    tile_title,
    tile_view,
)


def _picture(image: Image.Image, alt: str) -> Picture:
    """A picture with its description, which is cut at its end where it is too long."""
    return Picture(encode_png(image), clip_text(alt), image.width, image.height)


def _drawn_names(names: Sequence[str]) -> dict[str, str]:
    """How pictures call the players at a table: by their seats where the font has not all letters, with
    another number where somebody is called that."""
    taken, step = {name.casefold() for name in names}, len(names)
    numbers = [next(n for n in count(i, step) if f"player {n}" not in taken) for i in range(1, step + 1)]
    return {name: name if can_draw(name) else f"Player {n}" for name, n in zip(names, numbers, strict=True)}


def _with_drawn_names(state: State) -> State:
    """A position with the names that pictures have."""
    drawn = list(_drawn_names(state.players).values())
    if drawn == state.players:
        return state
    state = engine.copy_state(state)
    state.players = drawn
    return state


def _with_drawn_series(view: ChartView) -> ChartView:
    """A chart with the names that pictures have."""
    drawn = _drawn_names([each.name for each in view.series])
    return replace(view, series=tuple(replace(each, name=drawn[each.name]) for each in view.series))


def map_png(
    state: State,
    *,
    size: tuple[int, int] | None = None,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, str]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    palette: PaletteName = "light",
) -> Picture:
    """The map of a position.

    `size`: width and height in pixels; None: as large as the map needs within 1280 x 960. `highlight`: the
    hexes that changed last. `routes`: (label, route) of each train that `company` runs; a route is in the
    players' notation: `F2-H4-H10`. `crop`: draw only these hexes, as large as the picture allows.

    Raises KeyError for an unknown hex, ValueError for a route without track.
    """
    view = map_view(state, highlight=highlight, routes=routes, company=company, crop=crop)
    return _picture(draw_map(view, size, palette=PALETTES[palette]), view.alt)


def market_png(state: State, *, highlight: Iterable[str] = (), palette: PaletteName = "light") -> Picture:
    """The stock market. `highlight`: the companies whose price changed last."""
    view = market_view(state, highlight=highlight)
    return _picture(draw_market(view, PALETTES[palette]), view.alt)


def sheet_png(
    state: State,
    *,
    revenues: Mapping[str, int] | None = None,
    has_footer: bool = True,
    palette: PaletteName = "light",
) -> Picture:
    """The sheet: players, companies, bank, phase, the trains in the depot and the tiles left.

    It shows what the whole table may see. `revenues`: dollars of each company's last run. `has_footer`: False
    leaves out the names of privates and the tiles.
    """
    view = sheet_view(_with_drawn_names(state), revenues=revenues, has_footer=has_footer)
    return _picture(draw_sheet(view, PALETTES[palette]), view.alt)


def auction_png(state: State, *, palette: PaletteName = "light") -> Picture:
    """An auction: what is for sale, income, bids and their leader, and everybody's free money."""
    view = auction_view(_with_drawn_names(state))
    return _picture(draw_auction(view, PALETTES[palette]), view.alt)


def companies_png(
    state: State,
    companies: Sequence[str],
    *,
    revenues: Mapping[str, int] | None = None,
    palette: PaletteName = "light",
) -> Picture:
    """Companies side by side, with what they have together. Raises ValueError for none."""
    if not companies:
        raise ValueError("no company is given")
    view = sheet_view(_with_drawn_names(state), revenues=revenues)
    return _picture(draw_companies(view, companies, PALETTES[palette]), companies_alt(view, companies))


def ways_png(
    state: State,
    hex: str,
    ways: Sequence[tuple[str, int]],
    sheet: int = 0,
    *,
    palette: PaletteName = "light",
) -> Picture:
    """The ways of a lay on a hex, (tile, rotation) each, numbered from 1 in the given order.

    `WAYS_PER_SHEET` are on one picture; `sheet`: which of them, from 0. Raises KeyError for an unknown hex or
    tile, and ValueError for no ways.
    """
    first = sheet * WAYS_PER_SHEET
    shown = ways[first : first + WAYS_PER_SHEET]
    if not shown:
        raise ValueError(f"no ways of a lay on {hex} are given")
    if hex not in game_of(state).components.map.hexes:
        raise KeyError(f"the map of {state.title} has no hex {hex}")
    crop = around(state, [hex])
    views = [map_view(state, highlight=[hex], crop=crop, preview={hex: way}) for way in shown]
    captions = [f"{number}: {tile_title(tile)}" for number, (tile, _) in enumerate(shown, first + 1)]
    image = draw_ways(list(zip(captions, views, strict=True)), PALETTES[palette])
    words = [
        f"{caption} with edges {_track_edges(view, hex)}{_revenues(view, hex)}"
        for caption, view in zip(captions, views, strict=True)
    ]
    nearby = ". ".join(surroundings(each for each in views[0].hexes if each.coord != hex))
    return _picture(image, f"Ways to lay on {hex}. {'. '.join(words)}. {nearby}".strip() + ".")


def chart_png(
    title: str, statistics: Sequence[Sequence[str]], kind: ChartKind, *, palette: PaletteName = "light"
) -> Picture:
    """A chart of a game: everybody's `worth` by round, share `prices`, or the `revenue` of companies.

    `statistics`: the table of rounds that the engine makes of a game's history.
    """
    view = _with_drawn_series(chart_view(title, statistics, kind))
    return _picture(draw_chart(view, PALETTES[palette]), view.alt)


def review_png(
    title: str,
    statistics: Sequence[Sequence[str]],
    marks: Sequence[tuple[str, str]],
    bars: Sequence[tuple[str, Sequence[tuple[str, int]]]],
    *,
    palette: PaletteName = "light",
) -> Picture:
    """A review: everybody's worth by round with its turning points, and where their money came from.

    `statistics`: as for `chart_png`. `marks`: (full name of a round, text) of the turning points. `bars`:
    each player's name with dollars by cause.
    """
    worth = chart_view(title, statistics, "worth")
    drawn = _drawn_names([each.name for each in worth.series])
    places = {name: i for i, name in enumerate(worth.rounds)}
    marked = tuple(
        (places[short], text) for round, text in marks if (short := engine.short_round(round)) in places
    )
    view = ReviewView(
        replace(_with_drawn_series(worth), marks=marked),
        tuple(BarView(drawn[name], tuple(parts)) for name, parts in bars),
    )
    return _picture(draw_review(view, PALETTES[palette]), view.alt)


def tile_places_png(state: State, tile: str, *, palette: PaletteName = "light") -> Picture:
    """Where a tile may lie now: the map with these hexes marked. Raises KeyError for an unknown tile."""
    hexes = places_of(state, tile)
    view = map_view(state, highlight=hexes)
    image = draw_map(view, palette=PALETTES[palette])
    where = " ".join(hexes) or "nowhere"
    left = tiles_left(state).get(tile, 0)
    count = "any number" if left is None else left
    named = f"{tile_title(tile).capitalize()} may lie on: {where}. Left: {count}."
    return _picture(image, f"{named} {map_description(map_view(state))}")


def upgrades_png(state: State, tile: str, *, palette: PaletteName = "light") -> Picture:
    """The upgrades to and from a tile, with the number left of each. Raises KeyError for an unknown tile."""
    upgrades = tile_upgrades(state, tile)
    hexes = " ".join(kind.replace("_", " ") for kind in upgrades.empty_hexes)
    groups = {
        f"lies on{f' empty hexes ({hexes})' if hexes else ''}": upgrades.before,
        "this tile": (tile,),
        "becomes": upgrades.after,
    }
    return _tiles_png(state, f"{state.title} · upgrades of {tile_title(tile)}", groups, palette)


def tiles_left_png(state: State, *, palette: PaletteName = "light") -> Picture:
    """All tiles that are left, by grade, with their numbers."""
    faces, groups = tile_faces(), dict[str, tuple[str, ...]]()
    for tile in tiles_left(state):
        color = faces[tile].color
        groups[color] = (*groups.get(color, ()), tile)
    return _tiles_png(state, f"{state.title} · tiles left", groups, palette)


def _tiles_png(
    state: State, heading: str, groups: Mapping[str, Sequence[str]], palette: PaletteName
) -> Picture:
    left = tiles_left(state)

    def count(tile: str) -> str:
        number = left.get(tile, 0)
        return "any number left" if number is None else f"{number} left"

    def worth(tile: str) -> str:
        face = tile_view(state, tile)
        amounts = [*face.revenues, *(value.amount for value in face.phase_values)]
        return f" ({' '.join(dollars(amount) for amount in dict.fromkeys(amounts))})" if amounts else ""

    def short(tile: str) -> str:
        number = left.get(tile, 0)
        sign = tile_number(tile) or tile_face_label(tile)
        return f"{sign} ×{'∞' if number is None else number}".strip()

    image = draw_tiles(
        heading,
        [
            (name if tiles else f"{name}: –", [(tile_view(state, tile), short(tile)) for tile in tiles])
            for name, tiles in groups.items()
        ],
        game_of(state).components.map.layout,
        PALETTES[palette],
    )
    words = [
        f"{name}: {', '.join(f'{tile_title(tile)}{worth(tile)} {count(tile)}' for tile in tiles) or 'none'}"
        for name, tiles in groups.items()
    ]
    return _picture(image, f"{heading}. {'. '.join(words)}.")


def _revenues(view: MapView, coord: str) -> str:
    amounts = dict.fromkeys(view.hex_at(coord).revenues)
    return f", {' '.join(dollars(amount) for amount in amounts)}" if amounts else ""


def _track_edges(view: MapView, coord: str) -> str:
    here = view.hex_at(coord)
    edges = {(int(end[1:]) + here.rotation) % 6 for path in here.paths for end in path if end[0] == "e"}
    return " ".join(str(e) for e in sorted(edges))
