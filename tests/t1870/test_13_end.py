"""1870 §13, §14: how the game ends, and who has won."""

from engine import standings
from engine.kernel import game_of
from engine.rounds.sequence import end_by_stalemate
from tests.t1870.scenarios import SITE, run_scenario
from tests.t1870.test_08_routes import MP as RUN
from tests.t1870.test_10_trains import SHORT

LAST = RUN.replace("@ round operating MP\n", "")


def test_13_2_the_set_is_finished_once_the_bank_cannot_pay() -> None:
    body = LAST + (
        "@ trains MP 2\n@ cash bank 20\n@ cash MP 180\n@ cash Bob 11800\n"
        "@ round operating MP\n> until dividend\nAnn: pay\n"
    )
    run_scenario(body + "= left 1\n> until over\n= over")


def test_13_2_broken_in_a_stock_round_the_next_set_is_played() -> None:
    body = (
        LAST
        + "@ trains MP 2\n@ cash bank 50\n@ cash Bob 11950\n@ round stock Ann\nAnn: sell 1 MP\n= left 2\n"
    )
    run_scenario(body + "> until operating\n> until over\n= over")


def test_13_1_a_bankrupt_scores_what_he_could_not_sell_and_his_privates() -> None:
    poor = SHORT.replace("@ owns Ann FW 4\n", "").replace("cash Ann 200", "cash Ann 2\n@ owns Bob MP 1")
    body = poor.replace("price MP 100 0", "price MP 60 1") + "Ann: sell 4 MP\nAnn: bankrupt\n= over\n"
    state = run_scenario(body)
    assert standings(state)["p0"] == 2 * game_of(state).price("MP")


def test_13_3_a_stalemate_is_declared() -> None:
    gone = "".join(f"@ closed {c}\n" for c in ("ATSF", "FW", "GMO", "IC", "MP", "MKT", "SP", "SSW", "SLSF"))
    last = gone + "@ cash Ann 60\n@ cash Bob 60\n@ owns Ann TP 2\n@ par TP 100\n"
    g = game_of(run_scenario(last.replace("cash Ann 60", "cash Ann 700") + "@ round stock Ann\n= turn Ann"))
    assert end_by_stalemate(g) is None
    g.state.cash["p0"] = 60
    assert end_by_stalemate(g)
    g.state.private_owners["SCC"] = "p1"
    assert end_by_stalemate(g) is None


def test_13_3_the_site_goes_on_until_its_last_stock_round() -> None:
    gone = "".join(f"@ closed {c}\n" for c in ("ATSF", "FW", "GMO", "IC", "MP", "MKT", "SP", "SSW", "SLSF"))
    last = gone + "@ cash Ann 10\n@ cash Bob 10\n@ owns Ann TP 2\n@ owns Bob TP 1\n@ par TP 100\n"
    run_scenario(last + "@ round stock Bob\n= over")
    state = run_scenario(last + "@ round stock Bob\n= turn Bob\nBob: pass\n= turn Bob\n", options=(SITE,))
    assert state.game_over is None
    state = run_scenario(last.replace("@ owns Bob TP 1\n", "") + "@ round stock Bob\n= over", options=(SITE,))
    assert state.game_over and "stock round 100" in state.game_over.reason


def test_14_cash_stock_at_market_and_privates_at_cost() -> None:
    body = LAST + "@ cash Ann 7\n@ private SCC Ann\n@ round stock Ann\n= score Ann 657"
    run_scenario(body)
    run_scenario(body, options=(SITE,))
