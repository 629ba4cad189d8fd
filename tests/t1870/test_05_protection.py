"""1870 §5.9: share price protection."""

import msgspec
import pytest

from engine import can_be_protected, copy_state, legal_lines, narrate, parse
from engine.core.actions import BuyShares, Decline, Pass, ProtectPrice
from engine.core.state import OperatingRound, PendingSale, State, StockRound, StockTurn
from engine.kernel import (
    RefusedError,
    advance,
    apply,
    awaited_seats,
    game_of,
    options,
    play,
    play_in_place,
    refusal,
)
from engine.site_18xx.file_title import file_game, has_no_answer
from engine.stock.turn import current_stock_round
from tests.t1870.scenarios import SITE, run_scenario

MP = """
@ cash Ann 500
@ cash Bob 50
@ cash Cid 300
@ owns Ann MP 5
@ owns Bob MP 3
@ owns Cid MP 2
@ price MP 100 0
@ round stock Bob
"""


def test_5_9_the_president_is_asked_after_the_sellers_turn() -> None:
    run_scenario(
        MP
        + """
        Bob: sell 2 MP
        = cash Bob 250
        = turn Bob
        = price MP 100 0
        Bob: done
        = turn Ann
        Ann: protect MP
        = cash Ann 300
        = owns Ann MP 7
        = owns pool MP 0
        = price MP 100 0
        """
    )


def test_5_9_1_he_need_not_and_then_the_price_falls() -> None:
    run_scenario(
        MP + "Bob: sell 2 MP\nBob: done\nAnn: decline\n= price MP 82 2\n= owns pool MP 2\n= turn Cid"
    )


def test_5_9_2_all_or_nothing_and_with_cash_on_hand() -> None:
    run_scenario(MP.replace("Ann 500", "Ann 199") + "Bob: sell 2 MP\nBob: done\n= turn Cid\n= price MP 82 2")


FIFTEEN = "".join(f"@ owns Ann {sym} 6\n@ price {sym} 100 0\n" for sym in ("FW", "IC", "SP"))
"""Certificates of Ann that count, of three companies over which she presides."""


def test_5_9_2_room_for_the_certificates_is_needed() -> None:
    run_scenario(FIFTEEN + MP + "= limit 20\nBob: sell 2 MP\nBob: done\n= turn Cid\n= price MP 82 2")


def test_5_9_2_what_closes_by_the_same_turns_sales_needs_no_room() -> None:
    """Ann holds 18 that count, and brown ones of a company that falls out of the market behind hers."""
    falling = "@ owns Bob GMO 4\n@ owns Ann GMO 2\n@ price GMO 10 8\n"
    body = FIFTEEN + falling + MP.replace("owns Ann MP 5", "owns Ann MP 4").replace("Cid MP 2", "Cid MP 3")
    asked = "= limit 20\nBob: sell 1 MP\nBob: sell 1 GMO\nBob: done\n= turn Ann\nAnn: protect MP\n"
    for conventions in ((), (SITE,)):
        run_scenario(body + asked + "= price MP 100 0\n= turn Bob", options=conventions)


def test_5_9_2_on_the_site_what_has_closed_counts_until_somebody_is_asked() -> None:
    sixteen = (
        "@ owns Ann FW 6\n@ price FW 100 0\n@ owns Ann IC 6\n@ price IC 100 0\n"
        "@ owns Ann SP 4\n@ price SP 100 0\n"
    )
    falling = "@ owns Bob GMO 5\n@ owns Ann GMO 4\n@ price GMO 10 8\n"
    body = sixteen + falling + MP.replace("owns Ann MP 5", "owns Ann MP 4").replace("Cid MP 2", "Cid MP 3")
    sold = "Bob: sell 1 GMO\nBob: sell 1 MP\nBob: done\n= limit 17\n"
    run_scenario(body + sold + "= turn Ann\nAnn: protect MP\n= price MP 100 0")
    run_scenario(body + sold + "= turn Cid\n= price MP 90 1", options=(SITE,))


def test_5_9_2_on_the_site_the_limit_falls_once_the_president_is_asked() -> None:
    seventeen = (
        "@ owns Ann FW 6\n@ price FW 100 0\n@ owns Ann IC 6\n@ price IC 100 0\n"
        "@ owns Ann SP 5\n@ price SP 100 0\n"
    )
    falling = "@ owns Bob GMO 5\n@ owns Ann GMO 1\n@ price GMO 10 8\n"
    body = seventeen + falling + MP.replace("owns Ann MP 5", "owns Ann MP 4").replace("Cid MP 2", "Cid MP 3")
    sold = "Bob: sell 1 GMO\nBob: sell 1 MP\nBob: done\n= limit 17\n"
    run_scenario(body + sold + "= turn Cid\n= price MP 90 1")
    run_scenario(body + sold + "= turn Cid\n= price MP 90 1", options=(SITE,))
    g = file_game(run_scenario(body + sold.partition("Bob: done")[0], options=(SITE,)))
    play_in_place(g, "p1", Pass())
    offered = {type(option.action) for option in options(g, "p0")}
    assert Decline in offered and ProtectPrice not in offered
    assert has_no_answer(g)


CLOSES = """
@ cash Ann 300
@ cash Bob 300
@ cash Cid 5
@ owns Bob MP 4
@ owns Ann MP 2
@ price MP 10 8
@ round stock Bob
"""
"""The MP falls out of the market by two shares; Cid can do nothing in the turn."""


def test_5_9_1_on_the_site_the_next_turn_begins_before_a_company_is_closed() -> None:
    sold = "Bob: sell 2 MP\nBob: done\n= price MP none\n"
    run_scenario(CLOSES + sold + "= turn Ann")
    run_scenario(CLOSES + sold + "= turn Ann", options=(SITE,))
    g = file_game(run_scenario(CLOSES + "Bob: sell 2 MP", options=(SITE,)))
    play_in_place(g, "p1", Pass())
    assert awaited_seats(g) == ("p2",) and refusal(g, "p2", BuyShares("MP", "pool"))
    play_in_place(g, "p2", Pass())
    assert awaited_seats(g) == ("p0",)
    run_scenario(
        CLOSES.replace("MP 10 8", "MP 30 5") + "Bob: sell 2 MP\nBob: done\n= turn Ann", options=(SITE,)
    )


def test_5_9_3_he_sells_nothing_for_it() -> None:
    run_scenario(MP + "Bob: sell 2 MP\nBob: done\n!Ann: sell 1 MP | 1870 §5.9\nAnn: protect")


def test_5_9_4_play_goes_on_at_his_left_and_some_miss_their_turn() -> None:
    body = MP.replace("owns Ann MP 5", "owns Ann MP 2").replace("owns Cid MP 2", "owns Cid MP 5")
    run_scenario(
        body.replace("Cid 300", "Cid 500")
        + "Bob: sell 1 MP\nBob: done\n= turn Cid\nCid: protect MP\n= turn Ann"
    )
    run_scenario(MP + "Bob: sell 1 MP\nBob: done\nAnn: protect MP\n= turn Bob")


def test_5_9_5_the_seller_names_the_order_and_the_last_protector_counts() -> None:
    two = MP + "@ owns Cid FW 4\n@ owns Bob FW 2\n@ price FW 90 1\n"
    run_scenario(
        two
        + """
        Bob: sell 1 FW
        Bob: sell 1 MP
        Bob: done
        = turn Cid
        Cid: protect FW
        = turn Ann
        Ann: protect MP
        = turn Bob
        """
    )
    run_scenario(
        two + "Bob: sell 1 MP\nBob: sell 1 FW\nBob: done\nAnn: protect MP\nCid: protect FW\n= turn Ann"
    )


def test_5_9_6_more_than_60_percent_is_kept_until_the_next_sale() -> None:
    run_scenario(
        MP
        + """
        Bob: sell 3 MP
        Bob: done
        Ann: protect MP
        = owns Ann MP 8
        > until Ann
        !Ann: sell 1 MP | 1870 §5.9
        Ann: sell 2 MP
        = owns Ann MP 6
        """
    )


def test_5_9_6_above_60_percent_nothing_has_to_be_sold() -> None:
    run_scenario(MP + "Bob: sell 3 MP\nBob: done\nAnn: protect MP\n> until Ann\nAnn: pass")


FORCED = """
@ cash Ann 10
@ cash Cid 500
@ owns Ann MP 6
@ price MP 100 0
@ owns Cid FW 6
@ owns Ann FW 4
@ price FW 90 1
@ private MRBC closed
@ tile C18 57 0
@ tile B19 57 0
@ phase 3
@ depot 4
@ round operating MP
> until trains
"""


IC = "@ owns Ann IC 2\n@ owns Bob IC 2\n@ president IC Ann\n@ price IC 60 4\n"
SOLD = "> until trains\nAnn: sell {} IC\nAnn: sell 1 FW\nAnn: buy train 4\n> until Ann\n"


def test_5_9_7_on_the_site_half_of_the_certificate_comes_back_in_files_only() -> None:
    """No file can say that it comes back, so at our tables the block is not protected."""
    rich = FORCED.replace("> until trains\n", "").replace("cash Ann 10", "cash Ann 235") + IC
    sold = run_scenario(rich + SOLD.format(1) + "= president IC Bob", options=(SITE,))
    assert not can_be_protected(sold, "IC")
    refused = "!Ann: protect IC | 1870 §5.9\nAnn: decline\n= price IC 55 5"
    run_scenario(rich + SOLD.format(1) + refused, options=(SITE,))
    g = file_game(copy_state(sold))
    apply(g, "p0", ProtectPrice("IC"))
    assert g.state.companies["IC"].shares == {"p0": 20, "p1": 10, "pool": 10, "ipo": 60}
    assert g.state.companies["IC"].president == "p0"
    more = rich.replace("owns Ann IC 2", "owns Ann IC 3").replace("owns Bob IC 2", "owns Bob IC 3")
    whole = run_scenario(more + SOLD.format(1), options=(SITE,))
    assert can_be_protected(whole, "IC")
    run_scenario(more + SOLD.format(1) + "Ann: protect IC\n= owns Bob IC 3\n= price IC 60 4", options=(SITE,))


def test_5_9_7_on_the_site_a_seller_of_the_whole_certificate_cannot_protect() -> None:
    rich = FORCED.replace("> until trains\n", "").replace("cash Ann 10", "cash Ann 215")
    rich += IC.replace("IC 60 4", "IC 40 4")
    run_scenario(
        rich + SOLD.format(2) + "!Ann: protect IC | 1870 §5.9\nAnn: decline\n= president IC Bob",
        options=(SITE,),
    )


@pytest.mark.parametrize("option", ["can_protect_if_sold", "original_rules"])
def test_5_9_7_on_the_site_with_the_books_rule_no_seller_protects_a_forced_sale(option: str) -> None:
    rich = FORCED.replace("> until trains\n", "").replace("cash Ann 10", "cash Ann 235") + IC
    run_scenario(rich + SOLD.format(1).replace("> until Ann\n", "= price IC 55 5"), options=(SITE, option))


def test_5_9_7_on_the_site_the_turn_of_a_closed_company_ends_with_one_answer() -> None:
    others = "@ owns Bob IC 3\n@ owns Ann IC 1\n@ price IC 60 4\n@ cash Bob 100\n@ owns Bob GMO 6\n"
    body = FORCED.replace("> until trains\n", "").replace("cash Ann 10", "cash Ann 195")
    body = body.replace("price MP 100 0", "price MP 20 7") + others + "@ price GMO 10 8\n"
    sold = "> until trains\nAnn: sell 2 MP\nAnn: sell 1 IC\nAnn: sell 1 FW\nAnn: buy train 4\n"
    asked = "> until Ann\nAnn: decline\n= price MP none\n= turn Bob\nBob: decline\n= price IC 55 5\n"
    late = "= turn Bob GMO\n= price FW 90 1\n> until Cid\nCid: done\n= turn Cid\nCid: protect FW"
    run_scenario(body + sold + asked + late, options=(SITE,))


def test_5_9_7_on_the_site_what_is_left_after_the_last_round_waits_for_the_first_stock_turn() -> None:
    g = game_of(run_scenario(MP + "= turn Bob", options=(SITE,)))
    sale = PendingSale("MP", 1, "p0")
    g.state.stack = [OperatingRound(1, 1, 1, pending_sales=(sale,))]
    advance(g)
    turn = g.top
    assert isinstance(turn, StockTurn) and turn.pending_sales == (sale,)
    assert isinstance(g.state.stack[0], StockRound) and not g.state.stack[0].pending_sales


def test_5_9_8_protecting_moves_the_priority() -> None:
    run_scenario(
        MP + "Bob: sell 1 MP\nBob: done\nAnn: protect MP\nBob: pass\nCid: pass\nAnn: pass\n= priority Bob"
    )


def test_5_9_9_who_becomes_president_by_the_sale_does_not_protect() -> None:
    body = MP.replace("owns Bob MP 3", "owns Bob MP 4").replace("owns Cid MP 2", "owns pool MP 1")
    run_scenario(
        body.replace("round stock Bob", "round stock Ann")
        + "Ann: sell 3 MP\nAnn: done\n= president MP Bob\n= turn Bob\n= price MP 76 3"
    )


def test_an_answer_can_be_left_and_taken_back() -> None:
    up_to = "Ann: standing protect MP up to {}\n"
    sale = "Bob: sell 2 MP\nBob: done\n"
    run_scenario(MP + up_to.format(200) + sale + "= turn Bob\n= owns Ann MP 7")
    run_scenario(MP + up_to.format(199) + sale + "= turn Cid\n= price MP 82 2")
    run_scenario(
        MP + up_to.format(0) + "Ann: standing protect MP ask\n" + sale + "= turn Ann\n= price MP 100 0"
    )
    run_scenario(
        MP + "!Bob: standing protect MP up to 5 | 1870 §5.9\n"
        "!Ann: standing protect MP ask | 1870 §5.3\n= turn Bob"
    )


def test_an_answer_is_offered_where_others_can_sell() -> None:
    """Not in the first stock round, nor where no other player holds a share."""

    def offered(state: State) -> list[str]:
        return [line for line in legal_lines(state, "p0") if line.startswith("standing")]

    state = run_scenario(MP + "= turn Bob")
    assert offered(state) == ["standing protect MP up to 0"]
    alone = MP.replace("owns Bob MP 3", "owns pool MP 5").replace("@ owns Cid MP 2\n", "")
    assert offered(run_scenario(alone.replace("round stock Bob", "round stock Ann") + "= turn Ann")) == []
    state.stack[0] = msgspec.structs.replace(current_stock_round(game_of(state)), number=1)
    assert offered(state) == []


def test_a_standing_order_is_not_narrated() -> None:
    state = run_scenario(MP + "= turn Bob")
    played = play(state, "p0", parse(state, "p0", "standing protect MP up to 300"))
    assert narrate(played.state, played.events) == []
    assert played.state.question_number == state.question_number


def test_nobody_protects_what_was_not_sold() -> None:
    state = run_scenario(MP + "= turn Bob")
    with pytest.raises(RefusedError):
        play(state, "p0", ProtectPrice("MP"))
    assert game_of(state).state is state
