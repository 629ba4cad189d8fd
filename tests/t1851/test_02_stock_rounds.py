"""1851, Stock Rounds: turns, passes, the end of a round, the priority deal."""

from tests.t1851.scenarios import RICH, run_scenario

START = "Ann: par L&N 70\n"
STOCK = RICH + "@ owns Ann TC 6\n@ price TC 90\n@ owns Bob SR 6\n@ price SR 82\n@ round stock Ann\n"


def test_one_certificate_a_turn_and_the_turn_is_over() -> None:
    run_scenario(
        START + "Bob: par TC 70\n= turn Cid\n!Bob: buy TC | 1851 Stock Rounds\nCid: buy TC\n= turn Ann"
    )


def test_sales_come_before_the_purchase() -> None:
    run_scenario(STOCK + "Ann: sell 1 TC\nAnn: par IC 70\n= turn Bob\n= owns Ann TC 5")
    run_scenario(STOCK + "Ann: par IC 70\n= turn Bob\n!Ann: sell 1 TC | 1851 Stock Rounds")


def test_any_number_of_sales_in_a_turn() -> None:
    run_scenario(
        STOCK.replace("Bob SR 6", "Bob SR 6\n@ owns Ann SR 2")
        + "Ann: sell 1 TC\nAnn: sell 2 SR\nAnn: sell 1 TC\nAnn: done\n= turn Bob\n= owns pool TC 2"
    )


def test_the_round_ends_when_all_pass_in_a_row() -> None:
    run_scenario(STOCK + "Ann: pass\nBob: pass\nCid: pass\n= round operating TC")
    run_scenario(
        STOCK + "Ann: pass\nBob: sell 1 SR\nBob: done\nCid: pass\nAnn: pass\n= round stock Bob\nBob: pass\n"
        "= round operating TC"
    )


def test_priority_goes_to_the_left_of_the_last_to_deal() -> None:
    run_scenario(
        STOCK + "Ann: pass\nBob: sell 1 SR\nBob: done\nCid: pass\nAnn: pass\nBob: pass\n= priority Cid"
    )


def test_priority_stays_where_nobody_dealt() -> None:
    run_scenario(STOCK + "Ann: pass\nBob: pass\nCid: pass\n= priority Ann")


def test_players_do_not_deal_with_each_other() -> None:
    run_scenario(
        "@ private L&O Bob\n" + STOCK + "!Ann: buy private L&O from Bob for 100 | 1851 Stock Rounds\n"
        "!Bob: sell private L&O to Ann for 1 | 1851 Stock Rounds"
    )
