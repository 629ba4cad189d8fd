"""Rules of the introduction: components, privates, loans, how to win (1817 §1)."""

from __future__ import annotations

import pytest

from engine import (
    components_of,
    hidden_treasuries,
    is_secret,
    new_game,
    parse,
    play,
)
from engine.core.actions import BidUpTo
from engine.core.components import BridgeAbility, CoalMineAbility
from engine.finance.loans import interest_rate
from engine.kernel import game_of
from tests.t1817.scenarios import ANN, BOB, CID, FIVE, both_conventions, run_scenario
from tests.t1817.test_06_running import COAST, earns
from tests.t1817.test_06_track import company, turn, ways

Options = tuple[str, ...]
OWN = "@ round operating WT\n"
NAMES = [f"P{n}" for n in range(1, 13)]
ROAD = ("tile F19 57 1", "tile F17 9 1", "tile F13 57 1")
"""Philadelphia and Pittsburgh, the mountain between them still free."""


# -- 1817 §1 to §1.2.5 -----------------------------------------------------------------------------


def test_1_for_three_to_seven_players() -> None:
    for count in range(3, 8):
        assert len(new_game("1817", NAMES[:count]).state.seats) == count
    for count in (2, 8):
        with pytest.raises(ValueError, match="3 to 7"):
            new_game("1817", NAMES[:count])


def test_1_what_players_and_companies_own_is_public() -> None:
    state = run_scenario(FIVE + ANN + "Ann: pass")
    assert all(not hidden_treasuries(state, seat) for seat in (None, *state.seats))


@both_conventions
def test_1_1_a_short_share_is_a_promise_that_need_not_be_kept(options: Options) -> None:
    """It may stay open through rounds and to the end, where it counts against its holder."""
    short = FIVE.replace("trains WT 2", "trains WT 3") + CID + "Cid: short WT\nCid: done\n"
    run_scenario(
        short + "= score Cid 500\n> until operating\n= owns Cid WT -1\n> until stock\n= owns Cid WT -1",
        options=options,
    )


def test_1_2_the_companies_privates_and_trains_of_the_box() -> None:
    facts = components_of("1817")
    assert len(facts.companies) == 20 and len(facts.privates) == 11
    abilities = [private.ability for private in facts.privates]
    assert sum(ability.tokens for ability in abilities if isinstance(ability, CoalMineAbility)) == 6
    assert sum(ability.tokens for ability in abilities if isinstance(ability, BridgeAbility)) == 3
    assert facts.loans and facts.loans.count == 70


def test_1_2_1_the_map_ends_in_red_areas_and_the_sea() -> None:
    hexes = components_of("1817").map.hexes
    red = {hex for hex, each in hexes.items() if each.color == "red"}
    assert red == {"A20", "A28", "D1", "H1", "J7", "J15"}
    # Nothing is laid on red, gray or blue, and no token stands in Toronto or off the map.
    body = turn(*COAST, phase="7")
    assert not any(ways(body, tile, hex) for tile in ("57", "9", "597") for hex in (*red, "C12", "B13"))
    for hex in (*red, "B13"):
        run_scenario(f"{FIVE}{ANN}!Ann: start PW {hex} 100\nAnn: pass")


def test_1_2_2_values_from_40_to_600_with_liquidation_and_acquisition_below() -> None:
    (row,) = components_of("1817").market.rows
    spaces = [cell for cell in row if cell is not None]
    assert spaces[0].zones == ("liquidation",) and all(c.zones == ("acquisition",) for c in spaces[1:4])
    prices = [cell.price for cell in spaces[4:]]
    assert prices == sorted(set(prices)) and (prices[0], prices[-1]) == (40, 600)


@pytest.mark.parametrize("space", ["acquisition 1", "acquisition 3", "liquidation"])
def test_1_2_2_below_40_nothing_is_bought_or_sold(space: str) -> None:
    body = FIVE.replace("price WT 100", f"price WT {space}") + "@ owns pool WT 1\n"
    run_scenario(
        body + BOB + "!Bob: sell 1 WT | 1817 §5.2\n!Bob: buy WT from pool | 1817 §5.4\n"
        "Bob: pass\n!Cid: short WT | 1817 §5.3\n!Cid: buy WT from pool | 1817 §5.4"
    )


def test_1_2_3_the_token_shows_stock_operating_and_merger_rounds() -> None:
    body = FIVE.replace("trains WT 2", "trains WT 3")
    rounds = "= round stock Ann\n> until operating\n= round operating WT\n> until merger\n= round merger\n"
    run_scenario(
        body + ANN + rounds + "> until operating\n= round operating WT 2\n> until stock\n= round stock Ann"
    )


def test_1_2_4_the_first_short_sale_opens_shares_of_its_own() -> None:
    """Nothing of the treasury is sold: more than a hundred percent are out then."""
    whole = FIVE.replace("owns Ann WT 2", "owns Ann WT 3").replace("@ president WT Ann\n", "")
    run_scenario(
        whole
        + CID
        + "= owns treasury WT 0\nCid: short WT\n= owns pool WT 1\n= owns treasury WT 0\n= owns Ann WT 3"
    )


def test_1_2_5_a_loan_brings_100_and_costs_a_space() -> None:
    run_scenario(
        turn("trains WT 2")
        + "Ann: loan 1\n= cash WT 300\n= price WT 90\n= loans WT 1\nAnn: loan 1\n= price WT 80"
    )


@pytest.mark.parametrize("size", [2, 5, 10])
def test_1_2_5_as_many_loans_as_shares(size: int) -> None:
    body = turn("trains WT 5", phase="5").replace("size WT 10", f"size WT {size}")
    body = body.replace("owns Ann WT 6", "owns Ann WT 2").replace("price WT 100", "price WT 300")
    run_scenario(
        body + f"!Ann: loan {size + 1}\nAnn: loan {size}\n!Ann: loan 1 | 1817 §1.2.5\n= loans WT {size}"
    )


def test_1_2_5_seventy_loans_in_all() -> None:
    body = "@ phase 5\n@ trains bank 5 5\n@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n@ interest 5\n"
    cities = "B5 B17 C14 C22 F3 F13 F19 H9".split()
    for symbol, city in zip("A&S A&A Belt Bess B&A DL&W J GT".split(), cities, strict=True):
        loans = {"A&S": 3, "GT": 7}.get(symbol, 10)
        body += f"@ size {symbol} 10\n@ price {symbol} 300\n@ owns Ann {symbol} 2\n@ loans {symbol} {loans}\n"
        body += f"@ token {symbol} {city}\n"
    body = body.replace("@ price A&S 300", "@ price A&S 330") + "@ round operating A&S\n"
    run_scenario(
        body.replace("@ loans GT 7", "@ loans GT 6")
        + "!Ann: loan 2 | 1817 §1.2.5\nAnn: loan 1\n!Ann: loan 1 | 1817 §1.2.5\n= loans A&S 4"
    )
    run_scenario(body + "!Ann: loan 1 | 1817 §1.2.5\n= loans A&S 3")


@pytest.mark.parametrize(
    ("loans", "fee"),
    [(0, 5), (1, 5), (5, 5), (6, 10), (10, 10), (11, 15), (35, 35), (36, 40), (65, 65), (70, 70)],
)
def test_1_2_5_the_fee_by_the_loans_that_are_out(loans: int, fee: int) -> None:
    body = "@ phase 5\n@ trains bank 5 5\n@ cash Ann 5\n"
    cities = "B5 B17 C14 C22 F3 F13 F19".split()
    for at, (symbol, city) in enumerate(zip("A&S A&A Belt Bess B&A DL&W J".split(), cities, strict=True)):
        body += f"@ size {symbol} 10\n@ price {symbol} 300\n@ owns Ann {symbol} 2\n@ token {symbol} {city}\n"
        body += f"@ loans {symbol} {min(max(loans - 10 * at, 0), 10)}\n"
    state = run_scenario(body + ANN + "= phase 5")
    assert interest_rate(game_of(state)) == fee


# -- 1817 §1.2.6, privates -------------------------------------------------------------------------


def test_1_2_6_names_and_face_values() -> None:
    faces = {p.name: p.price for p in components_of("1817").privates}
    assert faces == {
        "Pittsburgh Steel Mill": 40,
        "Mountain Engineers": 40,
        "Ohio Bridge Co": 40,
        "Union Bridge Co": 80,
        "Train Station": 80,
        "Minor Coal Mine": 30,
        "Coal Mine": 60,
        "Major Coal Mine": 90,
        "Minor Mail Contract": 60,
        "Mail Contract": 90,
        "Major Mail Contract": 120,
    }


def test_1_2_6_privates_go_into_companies_and_are_not_resold() -> None:
    body = f"{FIVE}@ private ME Ann\n@ private TS Bob\n{ANN}"
    run_scenario(
        body + "!Ann: buy private TS from Bob for 40 | 1817 §5\n"
        "!Ann: sell private ME to Bob for 40 | 1817 §5\nAnn: pass"
    )
    own = turn("private ME Ann", "trains WT 2") + "> until trains\n"
    run_scenario(own + "!Ann: buy private ME for 40 | 1817 §6\nAnn: buy train 2")


def test_1_2_6_privates_stay_open_through_all_phases() -> None:
    body = company("private MAIL WT", "trains WT 7", "depot 8", phase="7", cash=2000) + OWN
    run_scenario(
        body + "> until trains\nAnn: buy train 8\n= private MAIL WT\n> until operating\n= private MAIL WT"
    )


def test_1_2_6_the_steel_mill_lays_its_tile_without_a_connection() -> None:
    body = turn("private PSM WT")
    run_scenario(
        body + "!Ann: lay X00 F13 0 | 1817 §1.2.6\nAnn: mill 0\n"
        "= tile F13 X00 0\n= cash WT 200\n!Ann: mill 1 | 1817 §1.2.6"
    )
    # It is one of the two tiles of the turn, and nobody else's.
    run_scenario(body + "Ann: lay 57 F19 1\nAnn: mill 1\n= cash WT 180\n!Ann: lay 9 F17 1 | 1817 §6")
    run_scenario(turn("private PSM Ann") + "!Ann: mill 0 | 1817 §1.2.6\nAnn: pass")
    run_scenario(turn() + "!Ann: mill 0 | 1817 §1.2.6\nAnn: pass")


def test_1_2_6_pittsburgh_is_not_reserved_for_the_mill() -> None:
    road = ("tile F19 57 1", "tile F17 9 1", "tile F15 9 1")
    run_scenario(turn(*road, "private PSM WT") + "Ann: lay 57 F13 1\n!Ann: mill 0 | 1817 §1.2.6")
    run_scenario(turn("private PSM WT", "tile F13 57 1") + "!Ann: mill 0 | 1817 §1.2.6\nAnn: pass")
    run_scenario(turn(tokens="F13") + "Ann: lay 57 F13 1\n= tile F13 57 1")
    # Later upgrades follow the tile on the hex.
    mill = turn("tile F13 X00 0", tokens="F13", phase="3")
    assert ways(mill, "592", "F13") and not ways(mill, "14", "F13")
    city = turn("tile F13 57 1", tokens="F13", phase="3")
    assert ways(city, "14", "F13") and not ways(city, "592", "F13")


def test_1_2_6_mountain_engineers_earn_20_for_each_yellow_tile_in_the_mountains() -> None:
    run_scenario(turn("private ME WT", tokens="I12") + "Ann: lay 57 I12 1\n= cash WT 205")
    run_scenario(turn("private ME WT", "tile F13 57 1", tokens="F13") + "Ann: lay 9 F15 1\n= cash WT 205")
    # The fee comes first; nothing is earned elsewhere, nor with an upgrade.
    poor = turn("private ME WT", tokens="I12", cash=14)
    run_scenario(poor + "!Ann: lay 57 I12 1 | 1817 §6.3\nAnn: loan 1\nAnn: lay 57 I12 1\n= cash WT 119")
    run_scenario(turn("private ME WT") + "Ann: lay 57 F19 1\n= cash WT 200")
    green = turn("private ME WT", "tile F13 57 1", "tile F15 9 1", tokens="F13", phase="3")
    run_scenario(green + f"Ann: lay 82 F15 {ways(green, '82', 'F15')[0]}\n= cash WT 200")


@pytest.mark.parametrize(("private", "bridges"), [("OBC", 1), ("UBC", 2)])
def test_1_2_6_bridge_companies_have_their_tokens(private: str, bridges: int) -> None:
    tries = "Ann: bridge H9\n" + (
        "Ann: bridge H3\n!Ann: bridge G6 | 1817 §1.2.6\n"
        if bridges == 2
        else "!Ann: bridge H3 | 1817 §1.2.6\n"
    )
    run_scenario(turn(f"private {private} WT", "trains WT 2") + tries + "= bridge H9")


def test_1_2_6_bridge_companies_pay_for_no_river_but_for_all_else() -> None:
    for private in ("OBC", "UBC"):
        river = turn(f"private {private} WT", tokens="H3")
        run_scenario(river + "Ann: lay 57 H3 0\n= cash WT 200")
        run_scenario(turn(f"private {private} WT", tokens="I12") + "Ann: lay 57 I12 1\n= cash WT 185")
        # Also once the tokens are placed.
        run_scenario(
            turn(f"private {private} WT", tokens="H3") + "Ann: bridge G6\nAnn: lay 57 H3 0\n= cash WT 200"
        )
    run_scenario(turn(tokens="H3") + "Ann: lay 57 H3 0\n= cash WT 190")


def test_1_2_6_a_bridge_token_at_any_time_of_the_turn_on_three_cities_once_each() -> None:
    body = turn(*COAST, "private UBC WT", "trains WT 3", phase="3")
    for step in ("track", "run", "dividend", "trains", "repay"):
        run_scenario(
            f"{body}> until {step}\nAnn: bridge G6\n= bridge G6\n"
            "!Ann: bridge G6 | 1817 §1.2.6\nAnn: bridge H3"
        )
    run_scenario(
        body + "!Ann: bridge F13 | 1817 §1.2.6\n!Ann: bridge F19 | 1817 §1.2.6\n"
        "!Ann: bridge F11 | 1817 §1.2.6\nAnn: bridge H9"
    )
    other = "@ size SR 2\n@ price SR 60\n@ owns Bob SR 2\n@ token SR D9\n@ trains SR 3\n"
    body = company("private UBC SR", "trains WT 3", phase="3") + other + OWN
    run_scenario(
        body + "!Ann: bridge G6 | 1817 §1.2.6\n!Bob: bridge G6 | 1817 §6\n> until SR\nBob: bridge G6"
    )


def test_1_2_6_a_bridge_adds_10_for_every_company() -> None:
    earns(40, "tile F3 57 1", "tile F5 8 5", "tile G6 5 2", "trains WT 2", tokens="F3")
    earns(50, "tile F3 57 1", "tile F5 8 5", "tile G6 5 2", "trains WT 2", "bridge G6", tokens="F3")


def test_1_2_6_a_bridge_token_takes_no_place_of_a_token() -> None:
    run_scenario(f"{FIVE}@ bridge G6\n{ANN}Ann: start PW G6 100\n= token PW G6")


def test_1_2_6_the_train_station_is_one_more_token() -> None:
    body = "@ cash Ann 400\n@ cash Bob 10\n@ cash Cid 10\n@ private TS Ann\n@ round stock Ann\n"
    run_scenario(body + "Ann: start WT F19 200\nAnn: float 2 with TS\n= markers WT 1\n= cash WT 120")
    run_scenario(body + "Ann: start WT F19 200\nAnn: float 2\n= markers WT 0\n= cash WT 200")
    five = "@ phase 5\n" + body + "Ann: start WT F19 300\nAnn: float 10 with TS\n= cash WT 70\n= markers WT 4"
    run_scenario(five)


@pytest.mark.parametrize(("private", "mines"), [("MINC", 1), ("CM", 2), ("MAJC", 3)])
def test_1_2_6_coal_mines_have_their_tokens(private: str, mines: int) -> None:
    ability = next(p.ability for p in components_of("1817").privates if p.sym == private)
    assert isinstance(ability, CoalMineAbility) and ability.tokens == mines
    body = turn("tile F13 5 4", f"private {private} WT", tokens="F13") + "Ann: lay 9 F15 1 with mine\n"
    if mines == 1:
        run_scenario(body + "!Ann: lay 9 G14 2 with mine | 1817 §1.2.6\nAnn: lay 9 G14 2\n= mine F15")
    else:
        run_scenario(body + "Ann: lay 9 G14 2 with mine\n= mine F15\n= mine G14\n= cash WT 180")


def test_1_2_6_a_mine_goes_with_a_yellow_tile_on_a_mountain_and_saves_its_fee() -> None:
    body = turn(*ROAD, "private CM WT")
    run_scenario(body + "Ann: lay 9 F15 1 with mine\n= cash WT 200\n= mine F15")
    assert not run_scenario(body + "Ann: lay 9 F15 1\n= cash WT 185").mine_hexes
    run_scenario(turn(*ROAD, "private ME WT", "private CM WT") + "Ann: lay 9 F15 1 with mine\n= cash WT 220")
    # On no plain hex, on no river, not with a city, not on a mountain without a city beside it.
    flat = turn("tile F19 57 1", "private CM WT")
    run_scenario(flat + "!Ann: lay 9 F17 1 with mine | 1817 §1.2.6\nAnn: lay 9 F17 1")
    run_scenario(
        turn("tile F13 57 1", "private CM WT", tokens="F13") + "!Ann: lay 9 F11 1 with mine | 1817 §1.2.6\n"
        "Ann: lay 9 F11 1"
    )
    run_scenario(
        turn("private CM WT", tokens="I12") + "!Ann: lay 57 I12 1 with mine | 1817 §1.2.6\nAnn: lay 57 I12 1"
    )
    far = turn("tile F19 57 1", "tile F17 8 2", "private CM WT")
    run_scenario(far + "!Ann: lay 9 E16 2 with mine | 1817 §1.2.6\nAnn: lay 9 E16 2")


def test_1_2_6_a_mine_joins_a_city_beside_it_or_could_after_upgrades() -> None:
    """F15 is next to Pittsburgh: track that bypasses the city takes no mine."""
    near = turn("tile F19 57 1", "tile F17 9 1", "private CM WT")
    run_scenario(near + "Ann: lay 9 F15 1 with mine\n= mine F15")  # a tile in Pittsburgh can join it yet
    run_scenario(
        near + "!Ann: lay 8 F15 4 with mine | 1817 §1.2.6\n"
        "!Ann: lay 7 F15 4 with mine | 1817 §1.2.6\nAnn: lay 8 F15 4"
    )


def test_1_2_6_the_tile_under_a_mine_is_never_replaced() -> None:
    mined = ("tile F13 57 1", "tile F15 9 1", "mine F15")
    assert not any(
        ways(turn(*mined, tokens="F13", phase="3"), tile, "F15") for tile in ("80", "81", "82", "83")
    )


def test_1_2_6_any_company_runs_through_a_mine_for_10_more() -> None:
    mined = (*ROAD, "tile F15 9 1", "mine F15", "trains WT 2")
    earns(50, *mined)
    earns(40, *mined[:-2], "trains WT 2")
    # At neither end of a route.
    earns(0, "tile F19 57 1", "tile F17 9 1", "tile F15 9 1", "mine F15", "trains WT 2")


# -- 1817 §1.2.7 to §1.4 ---------------------------------------------------------------------------


def test_1_2_7_the_size_is_chosen_at_the_start_and_companies_may_stay_as_they_are() -> None:
    start = (
        "@ phase 3\n@ cash Ann 400\n@ cash Bob 10\n@ cash Cid 10\n@ round stock Ann\nAnn: start WT F19 200\n"
    )
    run_scenario(start + "Ann: float 2\n= size WT 2\n= owns Ann WT 2\n= owns treasury WT 0")
    run_scenario(start + "Ann: float 5\n= size WT 5\n= owns Ann WT 2\n= owns treasury WT 3")


@pytest.mark.parametrize(("size", "stations"), [(2, 1), (5, 2), (10, 4)])
def test_1_2_7_basic_station_tokens(size: int, stations: int) -> None:
    phase = 3 if size == 2 else 5
    body = f"@ phase {phase}\n@ cash Ann 400\n@ cash Bob 10\n@ cash Cid 10\n{ANN}Ann: start WT F19 200\n"
    run_scenario(body + f"Ann: float {size}\n= token WT F19\n= markers WT {stations - 1}")


def test_1_2_7_a_company_out_of_play_may_start_again() -> None:
    body = FIVE + "@ size PW 2\n@ price PW liquidation\n@ owns Cid PW 2\n@ token PW F13\n"
    body = body.replace("trains WT 2", "trains WT 3")
    run_scenario(body + "@ round sale PW\n> until stock\n= price PW none\n> until Ann\nAnn: start PW F13 100")


def test_1_2_8_there_is_no_end_of_tiles() -> None:
    tiles = components_of("1817").tiles
    assert all(count is None for tile, count in tiles.items() if tile != "X00")
    eight = [f"tile {hex} 57 1" for hex in "F19 F13 F3 B17 C22 I12".split()] + [
        "tile C14 57 2",
        "tile D19 57 0",
    ]
    run_scenario(turn(*eight, tokens="H3") + "Ann: lay 57 H3 0")  # seven are in the box


def test_1_2_9_trains_with_their_prices_numbers_and_order() -> None:
    found = [(t.name, t.price, t.count) for t in components_of("1817").trains]
    assert found[:4] == [("2", 100, None), ("2+", 100, 4), ("3", 250, 12), ("4", 400, 8)]
    assert found[4:] == [("5", 600, 5), ("6", 750, 4), ("7", 900, 3), ("8", 1100, None)]


@pytest.mark.parametrize(
    ("phase", "train", "price"),
    [("2", "2+", 100), *zip("345678", "345678", (250, 400, 600, 750, 900, 1100), strict=True)],
)
def test_1_2_9_what_a_train_costs(phase: str, train: str, price: int) -> None:
    body = company(f"depot {train}", phase=phase, cash=price) + OWN + "> until trains\n"
    run_scenario(f"{body}Ann: buy train {train}\n= cash WT 0")


def test_1_2_10_the_bank_does_not_run_out() -> None:
    assert components_of("1817").bank is None
    body = FIVE.replace("cash Ann 500", "cash Ann 11000") + "@ cash bank 5\n" + BOB
    run_scenario(body + "Bob: sell 2 WT\n= cash Bob 700\nBob: done\n= turn Cid")


def test_1_3_net_worth_is_cash_and_stock_less_short_stock() -> None:
    body = FIVE + "@ owns Cid WT -2\n@ owns pool WT 2\n@ private MAJM Ann\n" + ANN
    run_scenario(body + "= score Ann 700\n= score Bob 700\n= score Cid 300")


def test_1_4_all_that_is_done_is_public_but_a_limit_that_is_left() -> None:
    state = new_game("1817", NAMES[:3]).state
    said = parse(state, state.seats[0], "bid PSM 0")
    assert not is_secret("bid PSM 0")
    state = play(state, state.seats[0], said).state
    limit = parse(state, state.seats[1], "bid up to 40")
    assert isinstance(limit, BidUpTo) and is_secret("bid up to 40")
