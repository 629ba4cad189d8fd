"""Starting companies, acting for one, and the end of a stock round (1817 §5.5 to §5.7)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from engine import free_cash, new_game
from engine.kernel import game_of
from engine.stock.short_selling_turn import affordable_bids
from tests.t1817.scenarios import (
    ANN,
    BOB,
    BOTH,
    CID,
    FIVE,
    MONEY,
    TEN,
    TWO,
    run_scenario,
    scenario_error,
)

# -- 1817 §5.5 -------------------------------------------------------------------------------------


def test_5_5_the_auction_of_the_presidents_certificate() -> None:
    run_scenario(
        """
        @ cash Ann 300
        @ cash Bob 300
        @ cash Cid 90
        @ private TS Bob
        @ round stock Ann
        Ann: start WT F19 120
        Bob: bid 185
        = turn Ann                      # Cid cannot pay
        Ann: pass
        Bob: float 2 with TS
        = president WT Bob
        = owns Bob WT 2
        = price WT 90                   # half of $185, rounded down to a price
        = cash WT 105
        = cash Bob 195
        = private TS WT
        = token WT F19
        = markers WT 1
        = turn Bob                      # left of who started it
        """
    )


def test_5_5_what_privates_pay_of_a_bid_ties_up_no_cash() -> None:
    state = run_scenario(
        """
        @ cash Ann 300
        @ cash Bob 150
        @ private TS Bob
        @ round stock Ann
        Ann: start WT F19 120
        Bob: bid 185
        = turn Ann
        """
    )
    free = free_cash(state)
    assert (free["p0"], free["p1"]) == (300, 0)


def test_5_5_bids_are_multiples_of_5_from_100_to_400() -> None:
    run_scenario(
        f"""{MONEY}{ANN}
        !Ann: start WT F19 95 | 1817 §5.5
        !Ann: start WT F19 102 | 1817 §5.5
        !Ann: start WT F19 405 | 1817 §5.5
        Ann: start WT F19 100
        !Bob: bid 100 | 1817 §5.5
        !Bob: bid 107 | 1817 §5.5
        !Bob: bid 405 | 1817 §5.5
        Bob: bid 400                    # nobody can bid more
        Bob: float 2
        = price WT 200
        """
    )


def test_5_5_bidding_goes_around_from_the_left_and_who_passes_is_out() -> None:
    body = (
        MONEY + BOB + "Bob: start WT F19 100\n= turn Cid\nCid: bid 110\n= turn Ann\nAnn: pass\n= turn Bob\n"
    )
    run_scenario(
        body + "Bob: bid 120\n= turn Cid\n!Ann: bid 130 | 1817 §5.5\n"
        "Cid: pass\nBob: float 2\n= president WT Bob\n= turn Cid"
    )


def test_5_5_the_turn_goes_on_left_of_who_started_whoever_won() -> None:
    run_scenario(
        MONEY + ANN + "Ann: start WT F19 100\nBob: pass\nCid: bid 110\nAnn: pass\nCid: float 2\n= turn Bob"
    )


def test_5_5_the_purchase_of_the_turn_is_the_start() -> None:
    run_scenario(f"{FIVE}{ANN}Ann: start PW F13 100\nBob: pass\nCid: pass\nAnn: float 2\n= turn Bob")
    bought = f"{TEN}{ANN}Ann: buy WT from treasury\n"
    run_scenario(bought + "!Ann: start PW F13 100 | 1817 §5\n= turn Bob")


@pytest.mark.parametrize(
    ("bid", "price"), [(100, 50), (105, 50), (110, 55), (155, 70), (325, 150), (400, 200)]
)
def test_5_5_the_price_is_half_the_bid_rounded_down(bid: int, price: int) -> None:
    run_scenario(
        f"{MONEY}{ANN}Ann: start WT F19 {bid}\n?Bob: pass\n?Cid: pass\nAnn: float 2\n= price WT {price}\n"
        f"= cash WT {bid}\n= cash Ann {500 - bid}"
    )


def test_5_5_the_new_price_token_goes_below_those_in_its_space() -> None:
    body = FIVE.replace("price WT 100", "price WT 50").replace("owns Ann WT 2", "owns Ann WT 3")
    body = body.replace("@ president WT Ann\n", "")
    body = (
        body.replace("owns Bob WT 2", "owns Bob WT 1") + ANN + "Ann: start PW F13 100\nBob: pass\nCid: pass\n"
    )
    run_scenario(body + "Ann: float 2\n> until operating\n= round operating WT")


def test_5_5_a_place_in_any_open_city_but_not_in_toronto() -> None:
    body = FIVE + ANN
    for taken in ("PW B13", "PW F19", "PW F15", "PW D1", "WT F13"):
        run_scenario(f"{body}!Ann: start {taken} 100\nAnn: start PW D9 100\n= token PW D9")
    run_scenario(body + "Ann: start PW E22.1 100\n= token PW E22.1")


def test_5_5_without_an_open_city_nobody_starts() -> None:
    cities = "B5 B17 C14 C22 D7 D19 F3 F13 F19 G6 H3 H9 I12 I16 C8 C26 G18 D9 E22.0".split()
    symbols = "A&S A&A Belt Bess B&A DL&W J GT H ME NYOW NYSW PSNR PLE PW R SR UR WT".split()
    body = "@ phase 3\n@ trains bank 3 3\n@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n"
    for symbol, city in zip(symbols, cities, strict=True):
        body += f"@ size {symbol} 2\n@ price {symbol} 60\n@ owns Bob {symbol} 2\n"
        body += f"@ token {symbol} {city}\n"
    body = body.replace("Bob A&S 2", "Ann A&S 2")
    none = body.replace("@ token A&S B5", "@ token A&S B5 D9 E22.1") + ANN
    for city in ("D9", "E22.1", "B5", "B13"):
        assert "is refused" in scenario_error(f"{none}Ann: start WC {city} 100")
    run_scenario(body.replace("@ token A&S B5", "@ token A&S B5 E22.1") + ANN + "Ann: start WC D9 100")


def test_5_5_a_bid_must_be_made_exactly_of_cash_and_privates() -> None:
    run_scenario(
        """
        @ cash Ann 90
        @ private MAJM Ann
        @ cash Bob 10
        @ cash Cid 10
        @ round stock Ann
        !Ann: start WT F19 115 | 1817 §5.5
        Ann: start WT F19 120
        Ann: float 2                    # with the MAJM, as she cannot pay otherwise
        = private MAJM WT
        = cash WT 0
        = cash Ann 90
        """
    )


@pytest.mark.parametrize("seed", range(40))
def test_5_5_what_can_be_bid_goes_up_to_the_first_amount_that_cannot_be_paid(seed: int) -> None:
    rng = Random(seed)
    g = game_of(new_game("1817", ["Ann", "Bob", "Cid"]).state)
    g.state.cash["p0"] = rng.choice([0, 3, 20, 45, 80, 200, 700])
    prices = [g.private_definition(private).price for private in g.state.private_owners if rng.random() < 0.3]
    for private in g.state.private_owners:
        if g.private_definition(private).price in prices:
            g.state.private_owners[private] = "p0"
    prices = [g.private_definition(private).price for private in g.privates_of("p0")]
    sums = {sum(some) for n in range(len(prices) + 1) for some in combinations(prices, n)}
    low = rng.choice(range(100, 405, 5))
    bids = range(low, 401, 5)
    able = [any(0 <= bid - paid <= g.cash("p0") for paid in sums) for bid in bids]
    lowest = able.index(True) if any(able) else 0
    end = able.index(False, lowest) if False in able[lowest:] else len(able)
    assert list(affordable_bids(g, "p0", low)) == list(bids[lowest:end])


def test_5_5_privates_of_the_winner_count_at_their_face_value() -> None:
    body = "@ cash Ann 200\n@ cash Bob 10\n@ cash Cid 10\n"
    body += "@ private TS Ann\n@ private MINC Ann\n@ private ME Bob\n"
    body += "@ round stock Ann\nAnn: start WT F19 200\n"
    run_scenario(
        body + "!Ann: float 2 with ME | 1817 §5.5\nAnn: float 2 with TS, MINC\n= cash Ann 110\n= cash WT 90\n"
        "= private MINC WT\n= private TS WT\n= private ME Bob"
    )
    run_scenario(body + "Ann: float 2\n= cash Ann 0\n= cash WT 200\n= private TS Ann")
    cheap = body.replace("F19 200", "F19 100")
    run_scenario(cheap + "!Ann: float 2 with TS, MINC | 1817 §5.5\nAnn: float 2 with TS\n= cash WT 20")


@pytest.mark.parametrize(
    ("phase", "sizes"),
    [("2", "2"), ("3", "2 5"), ("4", "5"), ("5", "5 10"), ("6", "10"), ("7", "10"), ("8", "10")],
)
def test_5_5_the_size_is_one_that_the_phase_allows(phase: str, sizes: str) -> None:
    body = f"@ phase {phase}\n@ cash Ann 500\n@ cash Bob 10\n@ cash Cid 10\n@ round stock Ann\n"
    body += "Ann: start WT F19 300\n"
    for size in ("2", "5", "10"):
        said = f"Ann: float {size}\n"
        if size in sizes.split():
            run_scenario(
                body + ("?" if sizes == size else "") + said + f"= size WT {size}\n= owns Ann WT 2\n"
                f"= owns treasury WT {int(size) - 2}"
            )
        elif len(sizes.split()) > 1:
            run_scenario(body + "!" + said + "= turn Ann")


@pytest.mark.parametrize(("size", "cost", "markers"), [(2, 0, 0), (5, 50, 1), (10, 150, 3)])
def test_5_5_the_first_token_is_free_and_the_others_cost_50(size: int, cost: int, markers: int) -> None:
    phase = 3 if size == 2 else 5
    body = f"@ phase {phase}\n@ cash Ann 500\n@ cash Bob 10\n@ cash Cid 10\n@ round stock Ann\n"
    run_scenario(
        body + f"Ann: start WT F19 200\nAnn: float {size}\n= cash WT {200 - cost}\n= markers WT {markers}"
    )


OWING = """
@ phase 3
@ cash Ann 200
@ cash Bob 200
@ cash Cid 10
@ private MAJM Ann
@ trains bank 3 3
@ size SR 2
@ price SR 100
@ owns Bob SR 2
@ token SR G18
@ round stock Ann
Ann: start WT F19 120
Bob: pass
Ann: float 5 with MAJM
= cash WT 0
= markers WT 0
"""


def test_5_5_tokens_unpaid_at_the_end_of_the_round_liquidate() -> None:
    run_scenario(OWING + "> until operating\n= price WT liquidation")


def test_5_5_tokens_are_paid_out_of_loans_or_shares_sold_before_the_round_ends() -> None:
    run_scenario(
        OWING + "Bob: pass\nAnn: for WT loan 1\n= cash WT 50\n= markers WT 1\n> until operating\n"
        "= price WT 55"
    )
    run_scenario(
        OWING + "Bob: buy WT from treasury\n= cash WT 10\n= markers WT 1\n> until operating\n= price WT 60"
    )


def test_5_5_paying_for_tokens_is_no_action_but_taking_loans_is() -> None:
    run_scenario(
        OWING + "Bob: pass\nAnn: for WT loan 1\n!Ann: buy WT from treasury | 1817 §5\nAnn: done\n= turn Bob"
    )


def test_5_5_tokens_are_paid_also_where_the_loans_lead_into_the_gray_area() -> None:
    run_scenario(
        OWING + "Bob: pass\nAnn: for WT loan 5\n= price WT acquisition 3\n= markers WT 1\n= cash WT 450"
    )


def test_5_6_loans_then_shares_of_its_own_out_of_the_market() -> None:
    run_scenario(
        f"""{FIVE}
        @ owns pool WT 1
        @ round stock Ann
        !Ann: for WT loan 6 | 1817 §1.2.5             # five shares, five loans
        Ann: for WT loan 2
        = loans WT 2
        = cash WT 400
        = price WT 80
        Ann: for WT redeem 1
        = cash WT 320
        = owns pool WT 0
        = owns treasury WT 1
        = turn Bob                      # it can do nothing more
        """
    )


def test_5_6_several_shares_up_to_what_the_market_has_and_it_can_pay() -> None:
    body = TEN + "@ owns pool WT 3\n" + ANN
    run_scenario(
        body + "!Ann: for WT redeem 4 | 1817 §5.6\n!Ann: for WT redeem 3 | 1817 §5.6\n"
        "Ann: for WT redeem 2\n= cash WT 0\n= owns pool WT 1"
    )


def test_5_6_no_loans_after_the_purchase_in_one_turn() -> None:
    body = TEN.replace("cash WT 200", "cash WT 150") + "@ owns pool WT 2\n" + ANN
    run_scenario(body + "Ann: for WT redeem 1\n!Ann: for WT loan 1 | 1817 §5\n= cash WT 50")


def test_5_6_only_its_president_and_only_for_a_company_in_the_white() -> None:
    run_scenario(f"{FIVE}{BOB}!Bob: for WT loan 1 | 1817 §5.6\nBob: pass")
    for space in ("acquisition 2", "liquidation"):
        body = FIVE.replace("price WT 100", f"price WT {space}") + "@ owns pool WT 1\n" + ANN
        run_scenario(body + "!Ann: for WT loan 1 | 1817 §5.6\n!Ann: for WT redeem 1 | 1817 §5.6\nAnn: pass")


def test_5_6_no_interest_is_due_in_a_stock_round() -> None:
    run_scenario(
        f"{FIVE}@ loans WT 2\n@ interest 10\n{ANN}Ann: for WT loan 1\nAnn: done\n= cash WT 300\n= interest 10"
    )


@pytest.mark.parametrize("act", ["sell 1 WT", "for WT loan 1", "start PW F13 100"])
def test_5_7_priority_goes_left_of_the_last_who_acted(act: str) -> None:
    body = f"{FIVE}{ANN}Ann: {act}\n?Ann: done\n?Bob: pass\n?Cid: pass\n?Ann: float 2\n"
    run_scenario(body + "?Bob: pass\n?Cid: pass\n?Ann: pass\n> until operating\n= priority Bob")


def test_5_7_priority_stays_where_nobody_acted() -> None:
    run_scenario(f"{FIVE}{CID}Cid: pass\nAnn: pass\nBob: pass\n= priority Cid")


def ended(ann: int, bob: int, pool: int = 0, cid: int = 0, *, size: int = 5, price: str = "100") -> str:
    """The end of a stock round with the WT so held."""
    body = (
        f"@ phase 5\n@ trains bank 5 5\n@ size WT {size}\n@ price WT {price}\n@ token WT F19\n@ trains WT 5\n"
    )
    for who, count in (("Ann", ann), ("Bob", bob), ("pool", pool), ("Cid", cid)):
        body += f"@ owns {who} WT {count}\n" if count else ""
    body += "@ president WT Ann\n" if ann == bob else ""
    cash = "@ cash Ann 10\n@ cash Bob 10\n@ cash Cid 10\n"
    return cash + body + ANN + "> until operating\n"


def test_5_7_a_company_held_whole_by_players_rises() -> None:
    run_scenario(ended(3, 2) + "= price WT 110")
    run_scenario(ended(3, 1) + "= price WT 100")
    run_scenario(ended(6, 4, size=10) + "= price WT 110")
    run_scenario(ended(3, 2, price="600") + "= price WT 600")


def test_5_7_shares_in_the_market_lower_the_price_a_space_each() -> None:
    run_scenario(ended(2, 1, 1) + "= price WT 90")
    run_scenario(ended(2, 1, 2) + "= price WT 80")
    run_scenario(ended(4, 2, 4, size=10) + "= price WT 65")


def test_5_7_with_short_shares_both_happen() -> None:
    """100 % with players and a share in the market: up, then down."""
    run_scenario(ended(3, 2, 1, -1) + "= price WT 100")
    run_scenario(ended(3, 2, 2, -2) + "= price WT 90")
    run_scenario(ended(3, 2, 1, -1, price="600") + "= price WT 540")
    # More than 100 % with players is one space as well; short positions are not taken off.
    run_scenario(ended(3, 3, 0, -1) + "= price WT 110")


def test_5_7_the_leftmost_gray_space_is_the_lowest() -> None:
    run_scenario(ended(2, 1, 2, price="acquisition 2") + "= price WT acquisition 1")
    run_scenario(ended(2, 1, 2, price="40") + "= price WT acquisition 2")


def test_5_7_a_2_share_company_does_not_rise() -> None:
    run_scenario(f"{TWO}@ trains WT 2\n{ANN}> until operating\n= price WT 100")


def test_5_7_prices_move_in_operating_order() -> None:
    """The A&S comes down to 90 before the WT, which operates after it; so its token is above."""
    body = ended(2, 1, 2).replace(ANN, "").replace("> until operating\n", "")
    body = body.replace("price WT 100", "price WT 90").replace("owns pool WT 2", "owns pool WT 1")
    body += "@ size A&S 5\n@ price A&S 100\n@ owns Ann A&S 2\n@ owns pool A&S 2\n"
    body += "@ token A&S F13\n@ trains A&S 5\n"
    run_scenario(body + ANN + "> until operating\n= price WT 80\n= price A&S 80\n= round operating A&S")


@pytest.mark.parametrize("options", BOTH, ids=("rulebook", "site"))
def test_5_5_only_privates_with_which_the_bid_can_be_paid_are_put_in(options: tuple[str, ...]) -> None:
    """1817 §5.5: cash and privates make the bid exactly; on the site too, where they are named one by one."""
    one_by_one = "Ann: float 2 with UBC\nAnn: float 2 with CM\n" if options else "Ann: float 2 with UBC CM\n"
    run_scenario(
        """
        @ cash Ann 0
        @ cash Bob 100
        @ cash Cid 0
        @ private UBC Ann               # $80
        @ private CM Ann                # $60
        @ private MAIL Ann              # $90, which leaves $50 of the bid
        @ round stock Ann
        Ann: start WT F19 140
        !Ann: pass | 1817 §5.5
        !Ann: float 2 with MAIL | 1817 §5.5
        """
        + one_by_one
        + "= cash Ann 0\n= cash WT 0\n= private MAIL Ann\n= turn Bob\n",
        options=options,
    )
