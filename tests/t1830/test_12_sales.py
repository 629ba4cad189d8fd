"""1830 §12: what may not be sold."""

from tests.t1830.scenarios import BOUGHT, run_scenario

HELD = """
@ cash Ann 100
@ owns Ann PRR 4
@ owns Bob PRR 2
@ owns pool PRR 4
@ par PRR 100
@ round stock Ann
"""


def test_12_1_nothing_in_the_first_stock_round() -> None:
    run_scenario(
        BOUGHT + "Cid: par BO 67\n!Ann: sell 1 PRR | 1830 §12.1\n"
        "Ann: par PRR 67\n!Bob: sell 1 PRR | 1830 §12.1"
    )


def test_12_2_the_pool_holds_half_of_a_company_at_most() -> None:
    run_scenario(
        HELD + "!Ann: sell 2 PRR | 1830 §12.2\nAnn: sell 1 PRR\n"
        "= owns pool PRR 5\n!Ann: sell 1 PRR | 1830 §12.2"
    )


def test_12_any_amount_otherwise() -> None:
    run_scenario(
        """
        @ owns Ann PRR 6
        @ owns Bob PRR 2
        @ par PRR 100
        @ round stock Ann
        !Ann: sell 6 PRR | 1830 §12.2
        !Ann: sell 7 PRR | 1830 §12
        Ann: sell 5 PRR
        = cash Ann 500
        = owns Ann PRR 1
        = president PRR Bob
        """
    )


def test_12_3_the_presidents_certificate_is_not_sold_into_the_pool() -> None:
    run_scenario(
        """
        @ owns Ann PRR 4
        @ owns Bob PRR 1
        @ par PRR 100
        @ round stock Ann
        !Ann: sell 3 PRR | 1830 §13
        !Ann: sell 4 PRR | 1830 §13
        Ann: sell 2 PRR
        = owns Ann PRR 2
        = president PRR Ann
        """
    )
