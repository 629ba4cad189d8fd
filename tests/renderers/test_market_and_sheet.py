"""The pictures of the market and the sheet, and their alt texts."""

from io import BytesIO

import pytest
from PIL import Image, ImageChops

from bot.position.numbers import company_line
from engine import OperatingRound, State, components_of, new_game
from engine.game_text import replay
from renderers import auction_png, color_math, market, market_png, measure_rendering, sheet_png, theme
from renderers.canvas import text_width
from renderers.sheet import sheet
from renderers.views import (
    Badge,
    CellView,
    MarketView,
    TrainView,
    market_view,
    sheet_view,
)
from tests.renderers.positions import opening, position, trading
from tests.renderers.test_map import near, pixel


def test_price_tokens_are_in_their_cells_top_first() -> None:
    view = market_view(trading())
    plan = market.MarketLayout(view)
    image = market.draw_market(view).convert("RGB")
    cells = {(c.row, c.column): c for c in view.cells}
    pile = cells[3, 6]
    assert [b.sym for b in pile.tokens] == ["PRR", "C&O", "CPR", "Erie"]
    placed = plan.token_positions(pile)
    assert [at for _, at, _ in placed] == sorted((at for _, at, _ in placed), key=lambda p: (p[1], p[0]))
    x, y = plan.corner(pile)
    for badge, (cx, cy), diameter in placed:
        assert x < cx - diameter / 2 and cx + diameter / 2 < x + plan.cell_width
        assert y + plan.price_size < cy - diameter / 2 and cy + diameter / 2 < y + plan.cell_height
        assert near(pixel(image, (cx, round(cy - 0.39 * diameter))), color_math.parse_color(badge.color))


@pytest.mark.parametrize("title", ["1830", "1851", "1870", "1817"])
def test_no_arrow_is_over_a_price(title: str) -> None:
    view = market_view(new_game(title, ["Ann", "Bob", "Cid"]).state)
    plan = market.MarketLayout(view)
    for cell in view.cells:
        left, size = plan.price_place(cell)
        end = plan.arrow_left(cell) if cell.arrow else plan.cell_width
        assert left + text_width(str(cell.price), size) < end, cell
        assert size * 400 / market.WIDTH > 6, "on a phone"


def test_tokens_of_a_cell_never_overlap() -> None:
    badges = tuple(Badge(f"C{i}", "#333333", "#ffffff") for i in range(9))
    for count in range(1, 10):
        cell = CellView(0, 0, 100, (), None, badges[:count])
        view = MarketView("many", "2d", (cell, CellView(0, 18, 350, (), None, ())), (), badges)
        placed = market.MarketLayout(view).token_positions(cell)
        assert len(placed) == count
        assert count == 9 or placed[0][2] * 400 / market.WIDTH >= 6, "on a phone"
        for i, (_, (ax, ay), d) in enumerate(placed):
            for _, (bx, by), _ in placed[:i]:
                assert (ax - bx) ** 2 + (ay - by) ** 2 >= d * d


@pytest.mark.parametrize(
    "cell, zone",
    [((0, 0), "yellow"), ((3, 0), "orange"), ((5, 0), "brown"), ((0, 6), "par"), ((0, 8), "white")],
)
def test_cells_have_the_color_of_their_zone(cell: tuple[int, int], zone: str) -> None:
    view = market_view(opening())
    here = next(c for c in view.cells if (c.row, c.column) == cell)
    assert market.fill_zone(here) == zone
    x, y = market.MarketLayout(view).corner(here)
    assert near(
        pixel(market.draw_market(view).convert("RGB"), (x + 50, y + 60)), theme.LIGHT.zone_colors[zone], 8
    )


def test_arrows_are_at_the_ends_of_rows() -> None:
    view = market_view(opening())
    plan = market.MarketLayout(view)
    image = market.draw_market(view).convert("RGB")
    arrows = 0
    for cell in view.cells:
        x, y = plan.corner(cell)
        red = any(
            near(pixel(image, (x + dx, y + dy)), theme.LIGHT.blocked, 30)
            for dx in range(plan.cell_width - 24, plan.cell_width - 6)
            for dy in range(10, 40)
        )
        assert red == bool(cell.arrow), (cell.row, cell.column)
        arrows += red
    printed = [c for row in components_of("1830").market.rows for c in row if c and c.arrow]
    assert arrows == len(printed) > 10


def test_the_market_lists_companies_in_operating_order() -> None:
    view = market_view(trading())
    assert [(b.sym, price) for b, price in view.order] == [
        ("B&O", 100), ("NYC", 82), ("PRR", 76), ("C&O", 76), ("CPR", 76), ("Erie", 76), ("B&M", 25),
    ]  # fmt: skip
    assert "In one space, top first: 76 (PRR, C&O, CPR, Erie)." in view.alt
    assert market_view(opening()).alt.startswith(
        "Stock market of 1830. No company has a price. Prices: 60 67 71"
    )


def test_a_market_of_one_row_is_folded() -> None:
    cells = tuple(CellView(0, i, 10 * i, (), None, ()) for i in range(40))
    view = MarketView("long", "1d", cells, (), ())
    plan = market.MarketLayout(view)
    assert (plan.rows, plan.columns) == (4, 10)
    assert market.cell_position(view, cells[17]) == (1, 7)
    assert market.draw_market(view).size == (market.WIDTH, plan.height)


def test_a_changed_price_has_a_ring() -> None:
    state = trading()
    plain, ringed = market_png(state), market_png(state, highlight=["NYC"])
    view = market_view(state)
    cell = next(c for c in view.cells if [b.sym for b in c.tokens] == ["NYC"])
    a, b = (Image.open(BytesIO(p.png)).convert("RGB") for p in (plain, ringed))
    box = ImageChops.difference(a, b).getbbox()
    x, y = market.MarketLayout(view).corner(cell)
    assert box and x <= box[0] and y <= box[1]
    assert (
        box[2] <= x + market.MarketLayout(view).cell_width
        and box[3] <= y + market.MarketLayout(view).cell_height
    )


# --- the sheet ------------------------------------------------------------------------------


def test_the_sheet_counts_certificates_and_worth_as_the_rules_do() -> None:
    view = sheet_view(trading())
    bob = view.players[1]
    assert bob.name == "Bob" and view.certificate_limit == 20
    assert bob.certificates == 6 * 3  # seven presidencies of 40 %, the B&M's in the brown zone
    assert bob.worth == bob.cash + 4 * (100 + 82 + 4 * 76 + 25)
    assert all(h.president for h in bob.holdings if h.percent) and bob.holdings[0].percent == 40
    charter = {c.badge.sym: c for c in view.companies}
    assert charter["PRR"].trains == ("2", "3") and charter["PRR"].president == "Bob"
    assert charter["Erie"].floated is False and charter["NYNH"].started is False
    assert charter["PRR"].tokens == (0, 40, 100, 100) and charter["PRR"].pool == 10


def test_the_sheet_shows_round_phase_bank_and_trains() -> None:
    view = sheet_view(opening(4))
    assert (view.round, view.phase, view.bank, view.certificate_limit) == (
        "opening",
        "2",
        12000 - 4 * 600,
        16,
    )
    assert view.depot[0] == TrainView("2", 6, 80) and len(view.depot) == 6
    assert view.for_sale[0].text == "SV $20"
    assert [p.acting for p in view.players] == [True, False, False, False]
    assert "Bank $9,600" in view.alt and "Ann: $600, priority" in view.alt


def words_of(state: State, revenues: dict[str, int] | None = None) -> list[str]:
    """The texts and tags of all cells of a sheet."""
    tables = sheet.sheet_tables(sheet_view(state, revenues=revenues))
    cells = [cell for table in tables for row in (table.header, *table.rows) for cell in row]
    return [word for cell in cells for word in (cell.text, cell.tag) if word]


def test_the_sheet_shows_what_a_train_rusts_while_somebody_has_it() -> None:
    texts = [train.text for train in sheet_view(trading()).depot]
    assert "4: 4 at $300, rusts 2" in texts and "6: 2 at $630, rusts 3" in texts
    assert "4: 4 at $300, rusts 2" in sheet_view(trading()).alt


def test_the_sheet_shows_the_last_revenue() -> None:
    state = trading()
    state.companies["PRR"].has_operated = True
    (prr,) = [c for c in sheet_view(state, revenues={"PRR": 230}).companies if c.badge.sym == "PRR"]
    assert prr.last_revenue == 230 and "last ran $230" in prr.summary
    assert "$230" in words_of(state, {"PRR": 230}) and "$230" not in words_of(state)
    assert "last ran $230" in company_line(state, "PRR", 230)


def test_a_company_that_is_closed_or_started_once_more_has_no_last_revenue() -> None:
    """1870 §5.1.1, 1817 §7.2.4."""
    state = trading()
    state.companies["PRR"].closed = state.companies["PRR"].has_operated = True
    assert "$230" not in words_of(state, {"PRR": 230})
    state.companies["PRR"].closed = state.companies["PRR"].has_operated = False
    assert "$230" not in words_of(state, {"PRR": 230})
    assert "last ran" not in company_line(state, "PRR", 230)


def test_the_sheet_shows_the_operating_order_and_who_has_run() -> None:
    state = trading()
    state.stack = [OperatingRound(1, 1, 2, ("PRR",), "B&O", ("B&O", "NYC"))]
    charter = {c.badge.sym: c for c in sheet_view(state).companies}
    assert [charter[sym].turn for sym in ("B&O", "NYC", "PRR")] == [1, 2, 3]
    assert [charter[sym].has_run for sym in ("B&O", "NYC", "PRR")] == [True, True, False]
    assert words_of(state).count("ran") == 2


def test_the_table_of_companies_has_those_that_have_started() -> None:
    def listed(state: State) -> list[str]:
        return [table.rows[at][0].text for table in sheet.sheet_tables(sheet_view(state))[1:]
                for at in range(len(table.rows))]  # fmt: skip

    state = trading()
    assert listed(opening()) == [] and "NYNH" not in listed(state) and {"PRR", "Erie"} <= set(listed(state))
    state.companies["NYNH"].closed = True
    assert "NYNH" in listed(state) and "closed" in words_of(state)


def test_the_sheet_shows_the_tiles_left_of_the_grades_of_the_phase() -> None:
    state = position()
    left = dict(sheet_view(state).tiles)
    assert list(left) == ["yellow", "green"] and ("57", 3) in left["yellow"]
    assert "14" in dict(left["green"]) and "59" in dict(left["green"])
    state.tiles["B10"] = ("59", 0)
    state.tiles["F16"] = ("59", 0)
    assert "59" not in dict(dict(sheet_view(state).tiles)["green"])


def test_the_sheet_shows_bids_and_their_leader() -> None:
    text = """title 1830
players Ann, Bob, Cid
---
Ann: bid CA 165
Bob: bid CA 170
"""
    state = replay(text).state
    assert state is not None
    assert "CA $160: Ann $165, Bob $170 leads" in [each.text for each in sheet_view(state).for_sale]
    assert "CA $160: Ann $165, Bob $170 leads" in sheet_view(state).alt


def test_the_sheet_shows_how_many_certificates_are_too_many() -> None:
    state = trading()
    for company in state.companies.values():
        company.shares, company.cell, company.par = {"p1": 60, "p0": 40}, (0, 8), 100
    view = sheet_view(state)
    over = view.players[1].certificates - (view.certificate_limit or 0)
    assert over > 0 and f"{over} over" in words_of(state)
    assert f"({over} over)" in view.alt


def test_another_cash_changes_only_the_column_of_its_player() -> None:
    state = trading()
    before = sheet.draw_sheet(sheet_view(state)).convert("RGB")
    state.cash["p2"] += 1
    after = sheet.draw_sheet(sheet_view(state)).convert("RGB")
    box = ImageChops.difference(before, after).getbbox()
    assert box
    ownership = sheet.sheet_tables(sheet_view(state))[0]
    left = sheet.MARGIN + sum(ownership.column_widths()[:3])
    assert left <= box[0] and box[2] <= left + ownership.column_widths()[3]
    assert box[3] - box[1] < 2 * sheet.ROW_HEIGHT


def test_the_columns_of_a_table_fill_the_page_exactly() -> None:
    for players in range(2, 7):
        for table in sheet.sheet_tables(sheet_view(opening(players))):
            room = table.page_width - 2 * sheet.MARGIN
            assert room - 20 <= sum(table.column_widths()) <= room + 8


@pytest.mark.parametrize(
    ("name", "is_cut"), [("Bartholomew Quigley {}", False), ("Bartholomewquigley{}", True)]
)
def test_long_names_cut_no_number(name: str, is_cut: bool) -> None:
    """A name of several words is in two lines; one that is too long is cut itself."""
    state = opening(6)
    state.players = [name.format(i) for i in range(6)]
    state.companies["PRR"].shares = {f"p{i}": 10 for i in range(6)}
    table = sheet.sheet_tables(sheet_view(state))[0]
    widths = table.column_widths()
    assert sum(widths) <= table.page_width - 2 * sheet.MARGIN

    def cut(cells: tuple[sheet.SheetCell, ...]) -> list[str]:
        pairs = zip(cells, widths, strict=True)
        return [cell.text for cell, width in pairs if cell.needed_width("least") > width]

    assert bool(cut(table.header)) is is_cut and not [text for row in table.rows for text in cut(row)]
    picture = sheet_png(state)
    assert picture.width == sheet.WIDTH and len(picture.alt) <= 1024


def test_a_player_whose_name_the_font_has_not_is_called_by_the_seat() -> None:
    """Their columns had boxes above them, all alike."""
    state = opening(4)
    state.players = ["José", "李小龙", "محمد", "Ольга"]
    for picture in (sheet_png(state), auction_png(state)):
        assert all(name in picture.alt for name in ("José", "Player 2", "Player 3", "Ольга"))
        assert "李小龙" not in picture.alt
    assert state.players[1] == "李小龙"
    state.players[0] = "Player 2"
    assert "Player 6" in sheet_png(state).alt


@pytest.mark.parametrize("draw", [market_png, sheet_png])
def test_tables_are_small_palette_pngs_and_always_the_same(draw) -> None:  # type: ignore[no-untyped-def]
    picture = draw(trading())
    image = Image.open(BytesIO(picture.png))
    assert image.mode == "P" and image.size == (picture.width, picture.height)
    assert sheet.LEAST_WIDTH <= picture.width <= sheet.WIDTH
    assert len(picture.png) < 150_000
    draw(position())
    assert draw(trading()) == picture


def test_fonts_are_readable_on_a_phone() -> None:
    """At a width of 400 points the important fonts have at least 8 points."""
    assert sheet.FONT_SIZE >= 0.02 * sheet.WIDTH
    assert market.MarketLayout(market_view(opening())).price_size >= 0.019 * market.WIDTH


def test_rendering_metrics_have_bounds() -> None:
    figures = {f.name: f for f in measure_rendering([opening(), position()])}
    assert figures["map, the very first"].bound == 500 and figures["map, size"].unit == "kB"
    assert all(f.value > 0 for f in figures.values()) and "map after a move, mean" in figures
    with pytest.raises(ValueError, match="no position"):
        measure_rendering([])
