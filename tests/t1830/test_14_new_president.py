"""1830 §14: who becomes president."""

from tests.t1830.scenarios import run_scenario

FOUR = "Ann, Bob, Cid, Dan"


def test_14_the_largest_holder() -> None:
    run_scenario(
        "@ owns Bob NYC 4\n@ owns Cid NYC 2\n@ owns Dan NYC 3\n@ par NYC 67\n@ round stock Bob\n"
        "Bob: sell 2 NYC\n= president NYC Dan",
        FOUR,
    )


def test_14_among_equals_the_next_to_the_left_of_the_old_president() -> None:
    shares = "@ owns Bob NYC 4\n@ owns {} NYC 3\n@ owns {} NYC 3\n@ par NYC 67\n"
    shares += "@ round stock Bob\nBob: sell 2 NYC\n"
    run_scenario(shares.format("Ann", "Dan") + "= president NYC Dan", FOUR)
    run_scenario(shares.format("Ann", "Cid") + "= president NYC Cid", FOUR)
    run_scenario(shares.format("Cid", "Dan") + "= president NYC Cid", FOUR)
