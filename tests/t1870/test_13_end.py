"""1870 §13, §14: how the game ends, and who has won."""

from engine import standings
from engine.ending import stalemate
from engine.kernel import game_of
from tests.t1870.test_08_routes import MP as RUN
from tests.t1870.test_10_trains import SHORT
from tests.t1870.texts import SITE, holds

LAST = RUN.replace("@ round operating MP\n", "")


def test_13_2_the_set_is_finished_once_the_bank_cannot_pay() -> None:
    body = LAST + (
        "@ trains MP 2\n@ cash bank 20\n@ cash MP 180\n@ cash Bob 11800\n"
        "@ round operating MP\n> until dividend\nAnn: pay\n"
    )
    holds(body + "= left 1\n> until over\n= over")


def test_13_2_exactly_nothing_is_not_broken() -> None:
    body = LAST + (
        "@ trains MP 2\n@ cash bank 40\n@ cash MP 180\n@ cash Bob 11780\n"
        "@ round operating MP\n> until dividend\nAnn: pay\n"
    )
    holds(body + "= left none\n= cash bank 0")


def test_13_2_broken_in_a_stock_round_the_next_set_is_played() -> None:
    body = (
        LAST
        + "@ trains MP 2\n@ cash bank 50\n@ cash Bob 11950\n@ round stock Ann\nAnn: sell 1 MP\n= left 2\n"
    )
    holds(body + "> until operating\n> until over\n= over")


def test_13_1_a_bankrupt_scores_what_he_could_not_sell_and_his_privates() -> None:
    poor = SHORT.replace("@ owns Ann FW 4\n", "").replace("cash Ann 200", "cash Ann 2\n@ owns Bob MP 1")
    body = poor.replace("price MP 100 0", "price MP 60 1") + "Ann: sell 4 MP\nAnn: bankrupt\n= over\n"
    state = holds(body)
    assert standings(state)["p0"] == 2 * game_of(state).price("MP")


def test_13_3_a_stalemate_is_declared() -> None:
    gone = "".join(f"@ closed {c}\n" for c in ("ATSF", "FW", "GMO", "IC", "MP", "MKT", "SP", "SSW", "SLSF"))
    last = gone + "@ cash Ann 60\n@ cash Bob 60\n@ owns Ann TP 2\n@ par TP 100\n"
    g = game_of(holds(last.replace("cash Ann 60", "cash Ann 700") + "@ round stock Ann\n= turn Ann"))
    assert stalemate(g) is None
    g.state.cash["p0"] = 60
    assert stalemate(g)
    g.state.privates["SCC"] = "p1"
    assert stalemate(g) is None


def test_13_3_the_site_goes_on_until_its_last_stock_round() -> None:
    gone = "".join(f"@ closed {c}\n" for c in ("ATSF", "FW", "GMO", "IC", "MP", "MKT", "SP", "SSW", "SLSF"))
    last = gone + "@ cash Ann 10\n@ cash Bob 10\n@ owns Ann TP 2\n@ owns Bob TP 1\n@ par TP 100\n"
    holds(last + "@ round stock Bob\n= over")
    state = holds(last + "@ round stock Bob\n= turn Bob\nBob: pass\n= turn Bob\n", options=(SITE,))
    assert state.over is None
    state = holds(last.replace("@ owns Bob TP 1\n", "") + "@ round stock Bob\n= over", options=(SITE,))
    assert state.over and "Stock round 100" in state.over.reason


def test_14_cash_stock_at_market_and_privates_at_cost() -> None:
    body = LAST + "@ cash Ann 7\n@ private SCC Ann\n@ round stock Ann\n= score Ann 657"
    holds(body)
    holds(body, options=(SITE,))
