"""Mergers, acquisitions, liquidations and cash crises (§7)."""

from __future__ import annotations

from tests.t1817.texts import SITE, holds

TWO = """
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ cash WT 200
@ token WT F19
@ trains WT 2
@ size SR 2
@ price SR 60
@ owns Bob SR 2
@ cash SR 50
@ token SR G18
@ trains SR 2
"""


def test_presidents_are_asked_at_once_whether_they_will_act() -> None:
    holds(
        f"""{TWO}
        @ round merger WT
        = turn Ann
        = turn Bob
        Bob: pass
        Ann: pass
        = turn Ann
        = turn Bob              # now whether a company is for sale
        Ann: pass
        Bob: pass
        = round operating WT 2
        """
    )


def test_conversion() -> None:
    holds(
        f"""{TWO}
        @ round merger WT
        Ann: act
        Bob: pass
        Ann: convert
        = size WT 5
        = owns Ann WT 2
        = owns treasury WT 3
        Ann: buy 1
        = cash WT 300           # three of five are the most
        !Bob: buy 2
        Bob: buy 1
        = cash WT 400
        Cid: pass
        Ann: loan 1
        Ann: pass
        = cash WT 450           # $50 for the marker
        = markers WT 1
        = turn Bob              # after an action it is asked again
        """
    )


def test_a_conversion_that_cannot_pay_its_marker_is_liquidated() -> None:
    holds(
        f"""{TWO.replace("cash WT 200", "cash WT 0").replace("cash Ann 500", "cash Ann 0")}
        @ loans WT 2
        @ round merger WT
        ?Ann: act
        ?Bob: pass
        Ann: convert
        ?Bob: pass
        ?Cid: pass
        Ann: pass
        = price WT liquidation
        """
    )


def test_two_2_share_companies_of_different_presidents_merge_by_consent() -> None:
    holds(
        f"""{TWO}
        @ round merger WT
        Ann: act
        Bob: pass
        Ann: merge SR
        Bob: accept
        = size WT 5
        = price WT 150          # $160 rounded down
        = owns Ann WT 2
        = owns Bob WT 1
        = owns treasury WT 2
        = cash Ann 350
        = cash WT 400           # $200, $50 and the share
        = trains WT 2 2
        = token WT F19 G18
        = price SR none
        """
    )


def test_a_merger_may_be_declined_and_the_other_may_survive() -> None:
    holds(
        f"""{TWO}
        @ round merger WT
        Ann: act
        Bob: pass
        Ann: merge SR as SR
        Bob: decline
        Ann: merge SR as SR
        Bob: accept
        = price SR 150
        = president SR Ann
        = price WT none
        """
    )
    holds(f"{TWO}\n@ round merger WT\n!Ann: merge SR as SR\nAnn: merge SR", options=(SITE,))


def test_a_merger_of_five_share_companies_keeps_shares_and_shorts() -> None:
    holds(
        """
        @ phase 3
        @ cash Ann 100
        @ cash Bob 100
        @ cash Cid 100
        @ size WT 5
        @ price WT 100
        @ owns Ann WT 2
        @ owns Cid WT -1
        @ owns pool WT 1
        @ token WT F19
        @ trains WT 2
        @ size SR 5
        @ price SR 70
        @ owns Bob SR 3
        @ owns Cid SR 1
        @ token SR G18
        @ trains SR 2
        @ trains bank 3 3
        @ round merger WT
        Ann: act
        Bob: pass
        Ann: merge SR
        Bob: accept
        = size WT 10
        = price WT 80           # $85, rounded down
        = president WT Bob
        = owns Bob WT 3
        = owns Ann WT 2
        = owns Cid WT 0         # the short share is closed
        = owns pool WT 1
        """
    )


SALE = f"""{TWO.replace("price SR 60", "price SR acquisition 2")}
@ loans SR 2
@ round sale SR
"""


def test_an_acquisition_takes_cash_loans_trains_and_markers() -> None:
    holds(
        f"""{SALE}
        = turn Ann              # nobody else has a company that could buy
        !Ann: bid 5
        Ann: bid 10
        = loans WT 2
        = trains WT 2 2
        = token WT F19 G18
        = cash WT 240
        Ann: pass
        = cash Bob 510
        = price SR none
        = price WT 80           # two loans are kept
        """
    )


def test_the_buyer_may_repay_the_loans_it_takes_over() -> None:
    holds(f"{SALE}\nAnn: bid 10\nAnn: repay 2\n= loans WT 0\n= cash WT 40\n= price WT 100")


def test_a_company_in_acquisition_without_a_bid_goes_on() -> None:
    holds(f"{SALE}\nAnn: pass\n= price SR acquisition 2\n= president SR Bob")


def test_a_liquidation_pays_loans_first_and_the_president_makes_up_the_rest() -> None:
    body = f"""{TWO.replace("price SR 60", "price SR liquidation")}
        @ loans SR 2
        @ round sale SR
        """
    holds(
        f"""{body}
        Ann: bid 100
        ?Ann: pass
        = cash Bob 450          # $50 and the $100 of the bid are $50 short of $200
        = price SR none
        = trains WT 2 2
        = loans WT 0
        """
    )
    holds(f"{body}\nAnn: pass\n= cash Bob 350\n= price SR none\n= token WT F19")


def test_a_friendly_sale_costs_the_market_value_and_the_president_outbids_by_10() -> None:
    holds(
        f"""{TWO}
        @ size PW 2
        @ price PW 50
        @ owns Ann PW 2
        @ token PW H3
        @ trains PW 2
        @ round sale PW
        Ann: act
        Bob: pass
        Ann: offer PW
        !Bob: bid 90
        Bob: bid 100
        !Ann: bid 130
        Ann: bid 110
        Bob: pass
        Ann: pass               # no loans
        = cash Ann 610
        = token WT F19 H3
        """
    )


CRISIS = """
@ phase 3
@ cash Ann 10
@ cash Bob 500
@ cash Cid 500
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ cash WT 0
@ loans WT 2
@ interest 30
@ token WT F19
@ trains WT 2
@ size SR 5
@ price SR 60
@ owns Ann SR 1
@ owns Bob SR 2
@ token SR G18
@ trains SR 2
@ trains bank 3 3
@ round operating WT
"""


def test_a_cash_crisis_is_met_by_single_shares() -> None:
    holds(
        f"""{CRISIS}
        ?Ann: done
        ?Ann: done
        ?Ann: done
        = cash Ann -50
        !Ann: bankrupt
        Ann: sell 1 SR
        = cash Ann 10
        = owns Ann SR 0
        = price WT liquidation
        """
    )


def test_a_bankrupt_leaves_and_the_others_play_on() -> None:
    holds(
        f"""{CRISIS.replace("@ owns Ann SR 1", "").replace("@ owns Bob SR 2", "@ owns Bob SR 3")}
        ?Ann: done
        ?Ann: done
        ?Ann: done
        = cash Ann -50
        Ann: bankrupt
        = cash Ann 0
        = cash WT 10            # what she had goes to the company whose interest it was
        = president WT none
        = limit 21
        = turn Bob
        """
    )
