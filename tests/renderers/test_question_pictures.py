"""The picture of a question: auction, companies side by side, the map around a company's reach, routes."""

from typing import Any

import pytest

import engine
from engine import State
from engine.game_text import replay
from renderers import PALETTES, around, auction_png, companies_png, map_png, market, theme
from renderers.canvas import CAP_HEIGHT, Page
from renderers.charts import chart
from renderers.geometry import dashed
from renderers.map import route_sprites
from renderers.map.label_layout import lay_out_labels
from renderers.map.map import Legend, draw_map, grid_for, legend_font, legend_height, legend_rows, row_height
from renderers.map.page_layout import PHONE_WIDTH
from renderers.sheet import sheet, tables
from renderers.views import auction_view, map_view, market_view, sheet_view
from tests.renderers.positions import financed, opening, position, with_route
from tests.renderers.test_legibility import GAMES, ROOT, end_of
from tests.renderers.test_map import near, opened, pixel
from tests.t1817.scenarios import run_scenario

PHONE_DIGITS = 5.0
"""The least height of a digit, in pixels, where a picture is shown 400 pixels wide."""


def digits(font_size: float, width: int) -> float:
    """The height of a digit in pixels where a picture of that width is shown 400 pixels wide."""
    return font_size * CAP_HEIGHT * PHONE_WIDTH / width


def after(text: str) -> State:
    state = replay(text).state
    assert state is not None
    return state


BIDDING = """title 1830
players Ann, Bob, Cid
---
Ann: bid CA 165
Bob: bid CA 170
Cid: bid MH 115
"""


# --- auctions and mergers -------------------------------------------------------------------


def test_an_auction_shows_lots_bids_the_leader_and_free_money() -> None:
    view = auction_view(after(BIDDING))
    lots = {lot.sym: lot for lot in view.lots}
    assert lots["CA"].bids == (("Ann", 165), ("Bob", 170)) and lots["CA"].revenue == 25
    assert [lot.sym for lot in view.lots if lot.is_next] == ["SV"]
    assert view.players == (
        ("Ann", 800, 635, True), ("Bob", 800, 630, False), ("Cid", 800, 685, False),
    )  # fmt: skip
    assert "Bob $800, $630 free" in view.alt and "Bob bids $170, Bob leads" in view.alt
    assert "Mohawk & Hudson: face value $110, pays $20" in view.alt
    for palette in PALETTES:
        picture = auction_png(after(BIDDING), palette=palette)  # type: ignore[arg-type]
        assert picture.alt == view.alt and len(picture.png) < 150_000


def test_privates_without_a_fixed_income_are_said_to_pay_nothing_of_the_kind() -> None:
    """Those of 1817: a mail contract pays its company."""
    assert "pays" not in auction_view(engine.new_game("1817", ["Ann", "Bob", "Cid"]).state).lots[-1].summary


@pytest.mark.parametrize("title", ["1830", "1870", "1817"])
def test_what_each_lot_can_do_is_told_whole(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = Page.write

    def note(page: Page, at: tuple[float, float], text: str, *args: Any, **kwargs: Any) -> None:
        written.append(text)
        write(page, at, text, *args, **kwargs)

    monkeypatch.setattr(Page, "write", note)
    view = auction_view(engine.new_game(title, ["Ann", "Bob", "Cid"]).state)
    tables.draw_auction(view)
    for lot in view.lots:
        assert " ".join(lot.power.split()) in " ".join(" ".join(written).split()), lot.sym


def test_companies_are_side_by_side_and_two_with_their_sums() -> None:
    """Of all those that may merge, what they have together says nothing."""
    picture = companies_png(financed(), ["WT", "SR"])
    assert "WT of 10 shares at $100, $130" in picture.alt and "SR of 5 shares" in picture.alt
    assert "Together: 15 shares" in picture.alt
    three = companies_png(financed(), ["WT", "SR", "WT"])
    assert "Together" not in three.alt and three.width == picture.width
    assert opened(picture).size == (picture.width, picture.height)
    with pytest.raises(ValueError, match="no company"):
        companies_png(financed(), [])


def test_more_than_six_companies_are_below_each_other() -> None:
    started = [sym for sym, company in financed().companies.items() if company.president]
    one = companies_png(financed(), started[:1])
    many = companies_png(financed(), started * 4)
    assert len(started) * 4 > 6 and many.width <= 1500 and many.height > 2 * one.height - 100


def test_the_auction_of_a_company_is_not_of_the_private_of_the_same_name() -> None:
    """1817 has a private ME and a company ME; the private is Ann's."""
    start = "@ private ME Ann\n@ cash Ann 500\n@ cash Bob 500\n@ round stock Ann\nAnn: start ME F19 100\n"
    (lot,) = auction_view(run_scenario(start)).lots
    assert (lot.name, lot.bids) == ("Morristown and Erie Railway", (("Ann", 100),))


def test_topics_of_questions() -> None:
    assert engine.topic(opening()) == "auction"
    assert engine.topic(financed()) == "stock"
    assert engine.companies_in_question(financed()) == ()


# --- at the width of a phone ----------------------------------------------------------------


def test_digits_of_tables_are_legible_on_a_phone() -> None:
    assert digits(sheet.FONT_SIZE, sheet.WIDTH) >= PHONE_DIGITS
    assert digits(sheet.FONT_SIZE, tables.WIDTH) >= 8
    assert digits(chart.FONT_SIZE - 3, chart.SIZE[0]) >= 6.5
    assert digits(sheet.TILE_FONT_SIZE, sheet.WIDTH) >= PHONE_DIGITS
    for game in GAMES:
        tables_of_sheet = sheet.sheet_tables(sheet_view(end_of(ROOT / game)))
        least = PHONE_DIGITS if "1817" in game else 6.5
        assert digits(sheet.FONT_SIZE, tables_of_sheet[0].page_width) >= least, game
        for table in tables_of_sheet:
            assert table.needed_width("dense") <= table.page_width - 2 * sheet.MARGIN, "whole texts"
    for title in engine.title_names():
        layout = market.MarketLayout(market_view(engine.new_game(title, ["Ann", "Bob", "Cid"]).state))
        assert digits(layout.price_size, market.WIDTH) >= PHONE_DIGITS, title


@pytest.mark.parametrize("game", GAMES)
def test_what_can_be_built_on_is_legible_on_a_phone(game: str) -> None:
    """Coordinates and costs of free hexes, even where the map around all tokens is nearly the whole map."""
    state = end_of(ROOT / game)
    view = map_view(state, crop=around(state, state.tokens))
    grid = grid_for(view)
    for hex in view.hexes:
        if hex.tile or hex.color != "white":
            continue
        labels = lay_out_labels(hex, grid.metrics)
        assert labels.coordinate
        sizes = [labels.coordinate.font_size, *(place.font_size for _, place in labels.terrain)]
        assert min(digits(size, grid.size[0]) for size in sizes) >= 3.5, hex.coord
        if not (hex.nodes or hex.river_banks):
            assert min(digits(size, grid.size[0]) for size in sizes) >= 4.5, hex.coord


@pytest.mark.parametrize("game", GAMES)
def test_what_a_run_brings_is_legible_on_a_phone(game: str) -> None:
    """The revenue of every stop on the whole last map, and of every area what it is worth now."""
    view = map_view(end_of(ROOT / game))
    grid = grid_for(view)
    for hex in view.hexes:
        labels = lay_out_labels(hex, grid.metrics)
        values = zip(hex.phase_values, labels.values, strict=True)
        assert all(digits(box.font_size, grid.size[0]) >= 2.9 for value, box in values if value.is_current), (
            hex.coord
        )
        assert all(digits(place.font_size, grid.size[0]) >= 2.4 for place in labels.revenues), hex.coord


def test_a_small_part_of_a_map_is_larger_than_the_whole() -> None:
    state = position()
    part, whole = grid_for(map_view(state, crop=around(state, ["H10"]))), grid_for(map_view(state))
    assert digits(part.metrics.radius, part.size[0]) > 3 * digits(whole.metrics.radius, whole.size[0])
    assert around(state, ["A19"]) == ("A17", "A19", "B18", "B20")


# --- routes ---------------------------------------------------------------------------------


def test_each_route_has_its_own_color_dash_and_row_in_the_legend() -> None:
    state = position()
    routes = [("3-train $60: H10-H12-H16", "H10-H12")]
    view = with_route(map_view(state, routes=routes, company="PRR"), "2-train $40", ("H4", "e4", "n0"))
    plain = map_view(state)
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    assert image.height - draw_map(plain).height == legend_height(Legend(view.routes), grid.size[0])
    row, size, strokes = row_height(grid.size[0]), legend_font(grid.size[0]), []
    for i in range(2):
        y = round(grid.size[1] + row * (i + 0.5))
        pixels = [pixel(image, (x, y)) for x in range(round(0.75 * size), round(3.75 * size))]
        strokes.append(sum(near(color, theme.LIGHT.route_colors[i], 12) for color in pixels) / len(pixels))
    assert strokes[0] > 0.9 > strokes[1] > 0.25, "one is solid and one is dashed"
    assert len(set(route_sprites.DASHES)) == len(theme.LIGHT.route_colors)
    assert "Route 1: 3-train $60: H10-H12-H16" in map_png(state, routes=routes, company="PRR").alt


def test_every_stop_of_a_long_route_is_in_the_legend() -> None:
    label = "8-train $300: " + "-".join(f"C{i}" for i in range(40))
    for width in (400, 700, 1280):
        (rows,) = legend_rows((label,), width)
        assert "".join(rows) == label and len(rows) > 1
        assert legend_height(Legend((label,)), width) > len(rows) * legend_font(width)
        assert digits(legend_font(width), width) >= PHONE_DIGITS


def test_a_dashed_line_has_strokes_of_the_given_lengths() -> None:
    strokes = list(dashed(((0.0, 0.0), (10.0, 0.0)), (3.0, 1.0)))
    assert [(a[0], b[0]) for a, *_, b in strokes] == [(0, 3), (4, 7), (8, 10)]
    assert list(dashed(((0.0, 0.0), (1.0, 0.0)), ())) == [((0.0, 0.0), (1.0, 0.0))]


def test_the_best_run_names_each_train_with_its_sum() -> None:
    state = position(tiles={"H14": ("9", 1)}, tokens={"H12": [(0, "PRR")]})
    company = state.companies["PRR"]
    company.trains = ["2"]
    runs = engine.best_run(state, "PRR")
    assert all(run.train == "2" and run.revenue > 0 for run in runs)
    assert engine.train_runs(state, "PRR", [(run.train, run.route) for run in runs]) == runs


# --- rotations that are the same ------------------------------------------------------------


@pytest.mark.parametrize(
    ("tile", "hex", "old", "distinct"),
    [("9", "H14", None, 3), ("57", "H10", None, 3), ("63", "H10", ("14", 0), 1), ("8", "H14", None, 6)],
)
def test_rotations_with_the_same_track_are_the_same(
    tile: str, hex: str, old: tuple[str, int] | None, distinct: int
) -> None:
    same = engine.same_rotations(engine.components_of("1830"), hex, old, tile)
    assert len(set(same.values())) == distinct
    assert all(same[first] == first <= rotation for rotation, first in same.items())


def test_144_is_the_same_in_three_rotations() -> None:
    """1870's gray city."""
    (hex,) = [h for h, d in engine.components_of("1870").map.hexes.items() if d.name == "Wichita"]
    rotations = engine.same_rotations(engine.components_of("1870"), hex, None, "144")
    assert [list(rotations.values()).count(first) for first in set(rotations.values())] == [3, 3]


def test_cities_that_change_places_are_not_the_same() -> None:
    """1830 #59: an OO hex turned so that its cities change places gives each another exit."""
    same = engine.same_rotations(engine.components_of("1830"), "E11", None, "59")
    assert len(set(same.values())) == len(same)


def test_where_a_tile_may_lie() -> None:
    state = opening()
    assert engine.rotations_on(state, "57", "H10") and not engine.rotations_on(state, "57", "H14")
    assert engine.rotations_on(state, "14", "H10") == {}
    with pytest.raises(KeyError):
        engine.rotations_on(state, "9999", "H10")
