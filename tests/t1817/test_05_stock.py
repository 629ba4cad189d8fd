"""Stock rounds (§5)."""

from __future__ import annotations

from tests.t1817.texts import SITE, holds

FIVE = """
@ phase 3
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ size WT 5
@ price WT 100
@ owns Ann WT 2
@ owns Bob WT 2
@ president WT Ann
@ cash WT 200
@ token WT F19
@ trains WT 2
@ trains bank 3 3 3
"""


def test_selling_leaves_the_price_and_pays_it() -> None:
    holds(f"{FIVE}\n@ round stock Bob\nBob: sell 2 WT\n= cash Bob 700\n= price WT 100\n= owns pool WT 2")


def test_a_purchase_from_the_treasury_pays_the_company_and_ends_the_turn() -> None:
    holds(
        f"{FIVE}\n@ round stock Bob\nBob: buy WT from treasury\n= cash WT 300\n= president WT Bob\n= turn Cid"
    )


def test_nobody_holds_more_than_three_of_five() -> None:
    holds(f"{FIVE}\n@ round stock Bob\nBob: buy WT from treasury\nCid: pass\nAnn: pass\n!Bob: buy WT")


def test_resigning_as_president() -> None:
    holds(f"{FIVE}\n@ round stock Ann\nAnn: sell 1 WT\n= president WT Bob\n= owns Ann WT 1")


def test_sales_come_before_short_sales() -> None:
    holds(f"{FIVE}\n@ size SR 5\n@ price SR 60\n@ owns Cid SR 2\n@ owns Bob SR 1\n@ round stock Bob\n"
          "!Bob: short WT\nBob: sell 1 SR\nBob: short SR\n!Bob: sell 1 WT\n!Bob: short SR\n")  # fmt: skip


def test_selling_short() -> None:
    holds(
        f"""{FIVE}
        @ round stock Cid
        !Ann: short WT
        Cid: short WT
        = owns Cid WT -1
        = owns pool WT 1
        = cash Cid 600
        = price WT 100
        !Cid: buy WT from treasury      # who has sold may not buy in the same round
        !Cid: short WT                  # one a turn
        Cid: done
        """
    )


def test_five_shares_may_be_short_and_ten_by_variant_9_1() -> None:
    short = "".join(f"{who}: short WT\n{who}: done\n" for who in ("Cid",)) * 1
    body = FIVE.replace("@ owns Bob WT 2\n", "").replace("@ president WT Ann\n", "")
    body += "@ owns Bob WT -5\n@ owns pool WT 5\n@ round stock Cid\n"
    holds(body + "!Cid: short WT\nCid: pass")
    ten = body.replace("size WT 5", "size WT 10").replace("trains WT 2", "trains WT 3")
    holds(ten + "!Cid: short WT\nCid: pass")
    holds(ten + short, options=("increased_short_sales",))


def test_two_share_companies_are_neither_sold_nor_shorted() -> None:
    holds(
        """
        @ size WT 2
        @ price WT 100
        @ owns Ann WT 2
        @ cash Ann 100
        @ cash Bob 100
        @ round stock Ann
        !Ann: sell 1 WT
        !Ann: sell 2 WT
        Ann: pass
        !Bob: short WT
        """
    )


def test_buying_closes_a_short_position() -> None:
    holds(
        f"""{FIVE}
        @ owns Cid WT -1
        @ owns pool WT 1
        @ round stock Cid
        Cid: buy WT from pool
        = owns Cid WT 0
        = owns pool WT 0
        = cash Cid 400
        """
    )


def test_gray_companies_are_not_dealt_in() -> None:
    body = FIVE.replace("price WT 100", "price WT acquisition 2")
    holds(
        f"{body}\n@ round stock Bob\n!Bob: sell 1 WT\n!Bob: buy WT from treasury\nBob: pass\n!Cid: short WT"
    )


def test_starting_a_company() -> None:
    holds(
        """
        @ cash Ann 300
        @ cash Bob 300
        @ cash Cid 90
        @ private TS Bob
        @ round stock Ann
        !Ann: start WT B13 120          # no marker stands in Toronto
        !Ann: start WT F19 95
        Ann: start WT F19 120
        Bob: bid 185
        = turn Ann                      # Cid cannot pay
        Ann: pass
        Bob: float 2 with TS
        = price WT 90                   # half of $185, rounded down to a price
        = cash WT 105
        = cash Bob 195
        = token WT F19
        = markers WT 1                  # the train station's
        = turn Bob                      # left of who started it
        """
    )


def test_a_bid_must_be_made_exactly_of_cash_and_privates() -> None:
    holds(
        """
        @ cash Ann 90
        @ private MAJM Ann
        @ cash Bob 10
        @ cash Cid 10
        @ round stock Ann
        !Ann: start WT F19 115
        Ann: start WT F19 120
        Ann: float 2                    # with the MAJM, as she cannot pay otherwise
        = private MAJM WT
        """
    )


def test_sizes_by_phase_and_markers_that_are_owed() -> None:
    holds(
        """
        @ phase 3
        @ cash Ann 300
        @ cash Bob 10
        @ cash Cid 10
        @ trains bank 3 3
        @ round stock Ann
        Ann: start WT F19 200
        !Ann: float 10
        Ann: float 5
        = cash WT 150                   # the second marker is paid at once
        = markers WT 1
        = owns treasury WT 3
        """
    )


def test_markers_unpaid_at_the_end_of_the_round_liquidate() -> None:
    holds(
        """
        @ phase 3
        @ cash Ann 40
        @ cash Bob 10
        @ cash Cid 10
        @ private MAJM Ann
        @ trains bank 3 3
        @ size SR 2
        @ price SR 100
        @ owns Bob SR 2
        @ token SR G18
        @ round stock Ann
        Ann: start WT F19 120
        Ann: float 5 with MAJM
        = cash WT 0
        > until operating
        = price WT liquidation
        """
    )


def test_acting_for_a_company() -> None:
    holds(
        f"""{FIVE}
        @ owns pool WT 1
        @ round stock Ann
        Ann: for WT loan 2
        = loans WT 2
        = cash WT 400
        = price WT 80
        Ann: for WT redeem 1
        = cash WT 320
        = turn Bob                      # it can do nothing more
        """
    )


def test_prices_at_the_end_of_the_round() -> None:
    body = FIVE.replace("@ owns Bob WT 2", "@ owns Bob WT 3\n@ owns pool WT 1\n@ owns Cid WT -1").replace(
        "@ president WT Ann\n", ""
    )
    passes = "Ann: pass\nBob: pass\nCid: pass\n"
    # All held by players: a space up; one share in the pool: a space down.
    holds(f"{body}\n@ round stock Ann\n{passes}= price WT 100")
    short = body.replace("@ owns pool WT 1", "@ owns pool WT 0").replace("@ owns Cid WT -1\n", "")
    holds(f"{short}\n@ round stock Ann\n{passes}= price WT 110")


def test_short_squeeze_moves_two_spaces() -> None:
    body = (
        FIVE.replace("@ owns Bob WT 2", "@ owns Bob WT 3\n@ owns Cid WT -1")
        .replace("@ owns Ann WT 2", "@ owns Ann WT 3")
        .replace("president WT Ann", "president WT Bob")
    )
    passes = "Ann: pass\nBob: pass\nCid: pass\n"
    holds(f"{body}\n@ round stock Ann\n{passes}= price WT 110")
    holds(f"{body}\n@ round stock Ann\n{passes}= price WT 120", options=("short_squeeze",))


def test_the_site_lets_gray_companies_borrow() -> None:
    body = FIVE.replace("price WT 100", "price WT acquisition 2") + "\n@ round stock Ann\n"
    holds(body + "!Ann: for WT loan 1\nAnn: pass")
    holds(body + "Ann: for WT loan 1\n= price WT acquisition 1", options=(SITE,))
