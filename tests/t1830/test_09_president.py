"""1830 §9: who is president."""

from tests.t1830.scenarios import run_scenario


def test_9_the_first_buyer_is_president_until_another_holds_more() -> None:
    run_scenario(
        """
        @ cash Ann 1000
        @ cash Bob 1000
        @ round stock Ann
        Ann: par PRR 67
        ?Ann: done
        = president PRR Ann
        Bob: buy PRR from ipo
        ?Bob: done
        ?Cid: pass
        Ann: pass
        Bob: buy PRR from ipo
        ?Bob: done
        = president PRR Ann
        ?Cid: pass
        Ann: pass
        Bob: buy PRR from ipo
        = president PRR Bob
        """
    )
