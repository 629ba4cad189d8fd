"""1830 §13: a presidency passes."""

from tests.t1830.scenarios import run_scenario

HELD = """
@ cash Ann 1000
@ cash Bob 1000
@ cash Cid 1000
"""


def test_13_by_the_purchase_of_another() -> None:
    run_scenario(
        HELD
        + """
        @ owns Ann NYC 3
        @ owns Bob NYC 3
        @ president NYC Ann
        @ par NYC 67
        @ cash NYC 500
        @ trains NYC 2
        @ round stock Bob
        = president NYC Ann
        Bob: buy NYC from ipo
        = president NYC Bob
        = owns Ann NYC 3
        = owns Bob NYC 4
        = trains NYC 2
        > until operating
        = turn Bob NYC
        """
    )


def test_13_not_by_an_equal_holding() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 4\n@ owns Bob NYC 3\n@ par NYC 67\n@ round stock Bob\n"
        + "Bob: buy NYC from ipo\n= president NYC Ann\n= owns Bob NYC 4"
    )


def test_13_by_the_presidents_sale() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 4\n@ owns Bob NYC 3\n@ par NYC 67\n@ round stock Ann\n"
        + "Ann: sell 1 NYC\n= president NYC Ann\nAnn: sell 1 NYC\n= president NYC Bob\n= owns Ann NYC 2"
    )


def test_13_a_president_may_sell_out_where_another_holds_20_percent() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 4\n@ owns Bob NYC 2\n@ par NYC 67\n@ round stock Ann\n"
        + "Ann: sell 4 NYC\n= president NYC Bob\n= owns Ann NYC 0\n= owns Bob NYC 2\n= owns pool NYC 4"
    )


def test_13_half_of_the_presidents_certificate_is_sold_by_exchange() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 2\n@ owns Bob NYC 2\n@ president NYC Ann\n@ par NYC 67\n@ round stock Ann\n"
        + "Ann: sell 1 NYC\n= president NYC Bob\n= owns Ann NYC 1\n= owns pool NYC 1\n= cash Ann 1067"
    )


def test_13_not_where_nobody_else_holds_more_than_10_percent() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 4\n@ owns Bob NYC 1\n@ owns Cid NYC 1\n@ par NYC 67\n@ round stock Ann\n"
        + "!Ann: sell 3 NYC | 1830 §13\n!Ann: sell 4 NYC | 1830 §13\n= president NYC Ann"
    )


def test_13_not_where_the_pool_would_hold_too_much() -> None:
    run_scenario(
        HELD
        + "@ owns Ann NYC 4\n@ owns Bob NYC 2\n@ owns pool NYC 2\n@ par NYC 67\n@ round stock Ann\n"
        + "!Ann: sell 4 NYC | 1830 §12.2\nAnn: sell 3 NYC\n= president NYC Bob"
    )


def test_13_the_old_president_may_come_above_the_certificate_limit() -> None:
    run_scenario(
        """
        @ cash Bob 1000
        @ owns Ann PRR 6
        @ par PRR 100
        @ owns Ann BM 6
        @ par BM 100
        @ owns Ann CPR 6
        @ par CPR 100
        @ private SV Ann
        @ private CS Ann
        @ private DH Ann
        @ owns Ann NYC 3
        @ owns Bob NYC 3
        @ president NYC Ann
        @ par NYC 67
        @ owns Cid CO 3
        @ par CO 67
        @ round stock Bob
        = limit 20
        Bob: buy NYC from ipo
        = president NYC Bob
        ?Bob: done
        ?Cid: pass
        = turn Ann
        !Ann: buy CO from ipo | 1830 §10
        !Ann: pass | 1830 §10
        Ann: sell 1 CPR
        Ann: done
        """
    )
