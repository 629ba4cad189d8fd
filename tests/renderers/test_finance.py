"""Pictures of loans, short shares and company sizes; mines and bridges on the map."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from engine import (
    OperatingRound,
    OperatingTurn,
    State,
    copy_state,
    loan_status,
    new_game,
)
from renderers import map_png, market, market_png, sheet_png, sprites, theme
from renderers.geometry import edge_middle
from renderers.map import map
from renderers.map.label_layout import lay_out_labels
from renderers.map.map import draw_map, grid_for
from renderers.sheet import sheet
from renderers.views import Badge, Structure, map_view, market_view, sheet_view
from tests.renderers.positions import financed, recorded_ends, with_route
from tests.renderers.test_map import around, check_edges, near, pixel

MINE, BRIDGE = Structure("mine", 10, True), Structure("bridge", 10, True)
NAMES = ["Ann", "Bob", "Cid", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kay", "Bartholomew"]


# --- the map --------------------------------------------------------------------------------


def test_the_view_has_mines_and_bridges_and_their_possible_sites() -> None:
    sites = {h.coord: h.structures for h in map_view(financed()).hexes if h.structures}
    assert {c for c, found in sites.items() if found == (MINE,)} == {"F15"}
    assert {c for c, found in sites.items() if found == (BRIDGE,)} == {"H3"}
    assert {c for c, found in sites.items() if found == (Structure("bridge", 10, False),)} == {"G6", "H9"}
    may_mine = {c for c, found in sites.items() if found == (Structure("mine", 10, False),)}
    assert len(may_mine) == 11 and {"B25", "I10"} <= may_mine


def test_a_mine_is_impossible_without_a_token_or_the_private_or_on_a_tile() -> None:
    def places(state: State) -> set[str]:
        return {h.coord for h in map_view(state).hexes if any(not site.is_built for site in h.structures)}

    state = financed()
    state.tiles["G12"] = ("8", 0)
    assert "G12" not in places(state) and "G14" in places(state)
    state.used_abilities = ["CM", "CM", "OBC"]
    assert places(state) == set()
    closed = financed()
    closed.private_owners |= {"CM": "closed", "OBC": "closed"}
    assert places(closed) == set()
    assert [h.coord for h in map_view(closed).hexes if h.structures] == ["F15", "H3"]


def test_structures_are_dark_and_possible_sites_are_pale() -> None:
    view = map_view(financed())
    grid = grid_for(view)
    image = draw_map(view).convert("RGB")
    for here in view.hexes:
        spots = lay_out_labels(here, grid.metrics).structures
        assert len(spots) == len(here.structures)
        for site, spot in spots:
            (dx, dy), letters = spot.offset, spot.font_size
            x, y = grid.center(here.coord)
            wide, high = sprites.structure_size(site, letters)
            if spot.is_tight:
                wide, high = sprites.plate_size(f"+{site.bonus}", letters, is_tight=True)
            corner = (x + dx - wide // 2 + wide // 6, y + dy + high // 2 - 3)
            paper = theme.LIGHT.ink if site.is_built else theme.LIGHT.paper
            assert any(near(c, paper, 60) for c in around(image, corner, 2)), here.coord


def test_a_private_with_its_own_tile_is_noted_on_its_hex_until_a_tile_is_laid() -> None:
    state = financed()
    assert map_view(state).hex_at("F13").notes == ("PSM",)
    state.tiles["F13"] = ("57", 0)
    assert map_view(state).hex_at("F13").notes == ()


@pytest.mark.parametrize("a, b", [(0, 1), (1, 2), (2, 0)])
def test_a_route_through_a_junction_is_drawn_between_its_edges_only(a: int, b: int) -> None:
    state = financed()
    state.tiles["E14"] = ("80", 0)
    view = with_route(map_view(state), "3", ("E14", f"e{a}", f"e{b}"))
    grid = grid_for(view)
    image = draw_map(view).convert("RGB")

    def coloured(edge: int, share: float) -> bool:
        x, y = edge_middle("pointy", edge)
        return near(pixel(image, grid.to_pixels("E14", (x * share, y * share))), theme.LIGHT.route_colors[0])

    assert {edge for edge in range(3) if coloured(edge, 0.5)} == {a, b}


def test_a_map_is_cropped_to_its_hexes() -> None:
    picture = map_png(financed())
    assert picture.width > 1.5 * picture.height and picture.width <= 1600
    grid = grid_for(map_view(financed()))
    w, h = grid.metrics.half_size
    x, y = grid.center("A28")
    assert (x + w, y - h) == (picture.width - map.MARGIN, map.MARGIN)


def test_the_last_boards_of_recorded_games_are_drawn_whole(shared: Path) -> None:
    for name, seen in recorded_ends(shared, "1817"):
        state = new_game("1817", NAMES[:4], ["conventions 18xx.games"]).state
        state.tiles = {coord: (tile, turns) for coord, (tile, turns) in seen["tiles"].items()}
        state.phase = seen["phase"]
        view = map_view(state)
        assert check_edges(view, grid_for(view), draw_map(view).convert("RGB")) > 500, name
        assert len(map_png(state).png) < 150_000


def test_the_alt_text_of_a_map_has_mines_and_bridges() -> None:
    assert "Mines: F15. Bridges: H3." in map_png(financed()).alt
    alt = map_png(financed(), highlight=["H3"]).alt
    assert "Last change at H3 (Louisville): yellow tile 57, a bridge." in alt


# --- the market -----------------------------------------------------------------------------


def test_every_loan_has_a_mark_and_the_current_rate_a_frame() -> None:
    view = market_view(financed())
    assert view.loans and (view.loans.taken, view.loans.limit, view.loans.rate) == (7, 70, 10)
    plan = market.MarketLayout(view)
    image = market.draw_market(view).convert("RGB")
    y = plan.loans_top + 42 + 59 + 9
    dark = [
        near(pixel(image, (x, y)), theme.LIGHT.ink)
        for x in range(market.MARGIN, market.WIDTH - market.MARGIN)
    ]
    filled = sum(all(dark[i : i + 9]) for i in range(len(dark)) if not dark[i - 1])
    assert filled == 7
    wide = (market.WIDTH - 2 * market.MARGIN) // len(view.loans.rates)
    framed = [
        near(pixel(image, (market.MARGIN + i * wide + wide // 2, plan.loans_top + 42 + 3)), theme.LIGHT.ink)
        for i in range(len(view.loans.rates))
    ]
    assert framed == [rate == 10 for rate in view.loans.rates]


@pytest.mark.parametrize("taken, rate", [(0, 5), (5, 5), (6, 10), (70, 70)])
def test_the_interest_rate_depends_on_the_loans_taken(taken: int, rate: int) -> None:
    state = financed()
    for company in state.companies.values():
        company.loans = 0
    state.companies["WT"].loans = taken
    found = loan_status(state)
    assert found and (found.taken, found.rate, found.round_rate) == (taken, rate, None)
    alt = market_view(state).alt
    assert f" Interest ${rate} a loan" in alt and f", {taken} of 70 loans taken." in alt
    assert (f" (${rate + 5} above {rate} loans)" in alt) is (taken < 70)


def test_a_market_without_loans_has_no_loan_table() -> None:
    state = new_game("1830", NAMES[:3]).state
    assert loan_status(state) is None and market_view(state).loans is None
    plan = market.MarketLayout(market_view(state))
    assert plan.list_top == plan.loans_top


def test_the_alt_text_names_companies_in_liquidation_or_acquisition() -> None:
    alt = market_png(financed()).alt
    assert "Highest first: 1. WT 100, 2. J 100, 3. SR 0, 4. R 0." in alt
    assert "In liquidation: R. In acquisition 2: SR." in alt


# --- the sheet ------------------------------------------------------------------------------


def test_short_shares_are_negative_in_picture_and_alt_text() -> None:
    view = sheet_view(financed())
    ownership = sheet.sheet_tables(view)[0]
    wt = next(row for row in ownership.rows if row[0].text == "WT")
    assert [cell.text for cell in wt[1:]] == ["40%", "−20%", "−10%", "50%", "40%"]
    assert [cell.color == "blocked" for cell in wt[1:]] == [False, True, True, False, False]
    assert "SR 40% president, WT short 20%." in view.alt


def test_shares_that_the_bank_is_short_of_are_shown_like_those_of_a_player() -> None:
    state = financed()
    state.companies["WT"].shares |= {"pool": -10, "treasury": 100}
    view = sheet_view(state)
    cell = next(row for row in sheet.sheet_tables(view)[0].rows if row[0].text == "WT")[-2]
    assert (cell.text, cell.color) == ("−10%", "blocked")
    assert "pool short 10%" in next(each for each in view.companies if each.badge.sym == "WT").details


def test_charters_show_size_loans_and_zone_and_unstarted_companies_are_named() -> None:
    view = sheet_view(financed())
    charters = sheet.sheet_tables(view)[-1]
    assert [cell.text for cell in charters.header] == [
        "", "Turn", "Price", "Shares", "Cash", "Last run", "Loans", "Trains", "Privates", "Tokens",
        "President",
    ]  # fmt: skip
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in charters.rows}
    assert rows["WT"] == ["1", "$100", "10", "$130", "–", "4/10", "3 3", "CM×2", "2", "Ann"]
    assert rows["SR"][:4] == ["3", "acquisition 2", "5", "$0"] and rows["SR"][5] == "3/5"
    assert rows["R"][1] == "liquidation" and rows["J"][1:4] == ["$100", "2", "$20"]
    assert len(rows) == 4 and len(view.unstarted) == 16
    assert "SR of 5 shares in acquisition 2, $0, 3 loans, no train, president Bob" in view.alt


def test_unpaid_tokens_and_bankrupt_players_are_shown() -> None:
    state = financed()
    state.companies["WT"].owed_tokens = 2
    state.bankrupt_seats, state.cash["p2"] = ["p1"], -70
    view = sheet_view(state)
    words = [[cell.text for cell in row] for table in sheet.sheet_tables(view) for row in table.rows]
    assert any("2 owes $100" in row for row in words) and any("-$70" in row for row in words)
    assert [cell.tag for cell in sheet.sheet_tables(view)[0].header[1:4]] == ["now", "out", ""]
    assert "Bob: bankrupt" in view.alt


def test_an_unlimited_bank_is_not_shown() -> None:
    assert sheet_view(financed()).bank is None and "Bank" not in sheet_png(financed()).alt
    assert "$10 a loan" in sheet_png(financed()).alt


def test_a_company_without_a_president_belongs_to_the_bank() -> None:
    state = financed()
    state.companies["WT"].president, state.companies["WT"].former_president = None, "p0"
    charter = next(c for c in sheet_view(state).companies if c.badge.sym == "WT")
    assert charter.president == "bank"


def test_a_broken_bank_is_named_so() -> None:
    state = new_game("1830", NAMES[:3]).state
    assert "Bank $9,600." in sheet_view(state).alt
    state.cash["bank"] = -120
    assert "Bank broken, owes $120." in sheet_view(state).alt


def test_in_an_operating_round_the_current_and_the_next_interest_are_shown() -> None:
    state = financed()
    state.stack = [OperatingRound(2, 1, 2, ("J",), None), OperatingTurn("WT", "track")]
    state.interest_per_loan = 5
    assert (
        str(loan_status(state))
        == "interest $5 a loan in this round, $10 after it ($15 above 10 loans), 7 of 70 loans taken"
    )
    assert sheet_view(state).alt.count("$10 after it") == 1


def crowded() -> State:
    """Twelve players, the last with a long name and many privates."""
    state = new_game("1817", NAMES, ["more_players"]).state
    held = financed()
    state.companies, state.market_order = copy_state(held).companies, held.market_order
    state.private_owners = dict.fromkeys(state.private_owners, "p11")
    return state


def test_many_players_are_split_into_tables_without_smaller_fonts() -> None:
    view = sheet_view(crowded())
    first, second, _ = sheet.sheet_tables(view)
    assert [len(first.header), len(second.header)] == [1 + 6, 1 + 6 + 2]
    for table in (first, second):
        assert sum(table.column_widths()) <= sheet.WIDTH - 2 * sheet.MARGIN
        for row in (table.header, *table.rows):
            for cell, wide in zip(row, table.column_widths(), strict=True):
                assert cell.needed_width("dense") <= wide, cell.text
    assert [cell.text for cell in second.header[7:]] == ["Pool", "Treasury"]


def test_names_beside_many_privates_are_whole() -> None:
    """The symbol of a company of 1817 with six privates, that acts, became an ellipsis."""
    name = sheet.SheetCell("PLE", badge=Badge("PLE", "#00a993", "#000000"), tag="now")
    privates = sheet.SheetCell("ME OBC×0 UBC×0 MINC×1 MINM MAIL", wraps=True)
    others = [
        sheet.SheetCell(text) for text in ("2", "acquisition 3", "10", "$1,578", "Last run", "10/10", "8 8")
    ]
    row = (name, *others, privates, sheet.SheetCell("Tokens"), sheet.SheetCell("President"))
    table = sheet.SheetTable(row, (row,))
    widths = table.column_widths()
    assert sum(widths) <= sheet.WIDTH - 2 * sheet.MARGIN < sum(cell.needed_width("dense") for cell in row)
    assert all(cell.needed_width("least") <= width for cell, width in zip(row, widths, strict=True))


def test_many_privates_wrap_in_their_cell() -> None:
    state = crowded()
    view = sheet_view(state)
    row = next(row for row in sheet.sheet_tables(view)[1].rows if row[0].text == "Privates")
    assert row[6].text.count(" ") == 10 and row[6].needed_width("dense") < row[6].needed_width() / 2
    image = sheet.draw_sheet(view).convert("RGB")
    first, second, _ = sheet.sheet_tables(view)
    headings = sheet.LINE_HEIGHT * len(sheet._heading_lines(view, second.page_width))
    top = sheet.MARGIN + headings + first.height + 20 + sum(second.row_heights()[:4])
    left = sheet.MARGIN + sum(second.column_widths()[:6])
    right = left + second.column_widths()[6]

    def inked(low: int, high: int, columns: range) -> bool:
        band = [pixel(image, (x, top + y)) for y in range(low, high) for x in columns]
        return any(near(c, theme.LIGHT.ink, 60) for c in band)

    whole = range(left, right)
    lines = [(12, 26), (40, 54)]
    assert all(inked(low, high, whole) for low, high in lines)
    assert not inked(32, 34, whole)
    assert not inked(0, sheet.ROW_HEIGHT, range(left, left + 4)) and not inked(
        0, sheet.ROW_HEIGHT, range(right - 4, right)
    )


@pytest.mark.parametrize("draw", [map_png, market_png, sheet_png])
def test_pictures_are_palette_pngs_and_always_the_same(draw) -> None:  # type: ignore[no-untyped-def]
    picture = draw(financed())
    image = Image.open(BytesIO(picture.png))
    assert image.mode == "P" and image.size == (picture.width, picture.height)
    assert len(picture.png) < 150_000
    draw(crowded())
    assert draw(financed()) == picture
