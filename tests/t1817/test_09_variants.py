"""The variants, each of which a table chooses before the game begins (1817 §9)."""

from __future__ import annotations

import pytest

from engine import new_game
from engine.core.components import components_of
from engine.kernel import game_of
from tests.t1817.scenarios import ANN, BOTH, CID, MONEY, SITE, TEN, company_lines, run_scenario

VARIANTS = ("increased_short_sales", "more_players", "short_squeeze", "modern_trains")


def test_9_a_variant_is_chosen_as_the_table_is_made() -> None:
    for variant in VARIANTS:
        assert new_game("1817", ["Ann", "Bob", "Cid"], [variant]).state.options == (variant,)
    assert new_game("1817", ["Ann", "Bob", "Cid"]).state.options == ()
    for conventions in BOTH:
        with pytest.raises(ValueError, match="volatility"):
            new_game("1817", ["Ann", "Bob", "Cid"], [*conventions, "volatility"])


# -- 1817 §9.1 -------------------------------------------------------------------------------------


def shorted(count: int, size: int = 10) -> str:
    return TEN.replace("size WT 10", f"size WT {size}").replace(
        "owns Ann WT 5", f"owns Ann WT {size * 4 // 10}\n@ owns Bob WT -{count}\n@ owns pool WT {count}"
    )


def test_9_1_ten_shares_of_a_10_share_company_may_be_sold_short() -> None:
    ten = ("increased_short_sales",)
    run_scenario(f"{shorted(9)}{CID}Cid: short WT\n= owns Cid WT -1", options=ten)
    run_scenario(f"{shorted(10)}{CID}!Cid: short WT | 1817 §5.3\nCid: pass", options=ten)
    run_scenario(f"{shorted(5)}{CID}!Cid: short WT | 1817 §5.3\nCid: pass")


def test_9_1_of_others_no_more_than_before() -> None:
    for ten in ("increased_short_sales", SITE):
        run_scenario(f"{shorted(5, size=5)}{CID}!Cid: short WT | 1817 §5.3\nCid: pass", options=(ten,))
        run_scenario(f"{shorted(4, size=5)}{CID}Cid: short WT", options=(ten,))


def test_9_1_the_site_plays_so_unless_five_are_chosen() -> None:
    for most, options in ((10, (SITE,)), (5, (SITE, "five_shorts"))):
        run_scenario(f"{shorted(most - 1)}{CID}Cid: short WT\n= owns Cid WT -1", options=options)
        run_scenario(f"{shorted(most)}{CID}!Cid: short WT | 1817 §5.3\nCid: pass", options=options)


# -- 1817 §9.2 -------------------------------------------------------------------------------------

PEOPLE = ("Ann", "Bob", "Cid", "Dot", "Eve", "Fay", "Gus", "Hal", "Ida", "Jim", "Kay", "Lou", "Max")


@pytest.mark.parametrize(
    ("count", "cash", "limit"), [(8, 158, 8), (9, 140, 7), (10, 126, 6), (11, 115, 6), (12, 105, 5)]
)
def test_9_2_money_and_limit_of_eight_to_twelve_players(count: int, cash: int, limit: int) -> None:
    names = ", ".join(PEOPLE[:count])
    checks = "".join(f"= cash {name} {cash}\n" for name in PEOPLE[:count])
    run_scenario(f"{checks}= limit {limit}", names, ("more_players",))
    run_scenario(f"{checks}= limit {limit}", names, (SITE,))


def test_9_2_not_more_than_twelve_and_only_where_it_is_chosen() -> None:
    with pytest.raises(ValueError, match="3 to 7 players"):
        new_game("1817", PEOPLE[:8])
    with pytest.raises(ValueError, match="3 to 12 players"):
        new_game("1817", PEOPLE[:13], ["more_players"])


# -- 1817 §9.3 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owners", "plain", "squeezed"),
    [
        ("Ann 3, Cid 1", 100, 100),
        ("Ann 3, Cid 2", 110, 110),
        ("Ann 3, Cid 3, Bob -1", 110, 120),
        ("Ann 3, Cid 3, Bob -2, pool 1", 100, 110),
    ],
)
def test_9_3_more_than_all_of_it_moves_the_price_two_spaces(owners: str, plain: int, squeezed: int) -> None:
    """Players hold four shares of five, five, and six; a share in the market takes one space back."""
    body = MONEY + company_lines("WT", 5, 100, owners, token="F19", trains="3", president="Ann") + ANN
    passed = "Ann: pass\nBob: pass\nCid: pass\n= price WT {}"
    for conventions in BOTH:
        run_scenario(body + passed.format(plain), options=conventions)
        run_scenario(body + passed.format(squeezed), options=(*conventions, "short_squeeze"))


# -- 1817 §9.4 -------------------------------------------------------------------------------------

ROUTE = (
    "@ phase 8\n@ cash Ann 100\n@ tile F21 8 1\n@ tile F19 5 4\n@ tile G20 7 1\n@ depot 8\n"
    + company_lines("WT", 10, 100, "Ann 4", token="{tokens}", trains="{train}")
    + "@ round operating WT\n"
)


@pytest.mark.parametrize(("train", "bonus"), [("5", 0), ("6", 0), ("7", 10), ("8", 20)])
def test_9_4_7_and_8_trains_earn_more_for_each_own_token_on_the_route(train: str, bonus: int) -> None:
    """New York, Philadelphia and Baltimore: with one, two and three tokens of the WT."""
    for own, tokens in enumerate(("F19", "F19 G18", "F19 G18 E22.0"), 1):
        body = ROUTE.format(tokens=tokens, train=train)
        for conventions in BOTH:
            run_scenario(f"{body}= best WT 90", options=conventions)
            run_scenario(f"{body}= best WT {90 + own * bonus}", options=(*conventions, "modern_trains"))


def test_9_4_not_for_the_tokens_of_others() -> None:
    other = company_lines("SR", 10, 90, "Ann 4", token="G18")
    body = ROUTE.format(tokens="F19", train="8").replace("@ round", f"{other}@ round")
    run_scenario(f"{body}= best WT 110", options=("modern_trains",))


def test_9_4_facts() -> None:
    bonus = components_of("1817").own_station_bonus
    assert bonus == {"7": 10, "8": 20}
    assert game_of(new_game("1817", ["Ann", "Bob", "Cid"]).state).components.own_station_bonus == {}
