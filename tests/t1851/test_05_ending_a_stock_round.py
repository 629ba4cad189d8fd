"""1851, Ending the Stock Round: companies that players hold whole rise."""

from tests.t1851.scenarios import RICH, run_scenario

WHOLE = (
    RICH
    + """
@ owns Ann TC 6
@ owns Bob TC 4
@ price TC 90 3
@ owns Ann SR 4
@ owns Bob SR 6
@ cash TC 100
@ cash SR 100
"""
)
PASSES = "@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n"


def test_it_rises_a_row() -> None:
    run_scenario(WHOLE + "@ price SR 82 3\n" + PASSES + "= price TC 100 2\n= price SR 90 2")


def test_not_from_the_top_row() -> None:
    run_scenario(WHOLE + "@ price SR 200 0\n" + PASSES + "= price SR 200 0")


def test_not_while_a_treasury_or_the_pool_has_a_share() -> None:
    held = WHOLE + "@ price SR 82 3\n"
    run_scenario(held.replace("Bob TC 4", "Bob TC 3") + PASSES + "= price TC 90 3")
    run_scenario(held.replace("Bob TC 4", "Bob TC 3\n@ owns pool TC 1") + PASSES + "= price TC 90 3")


def test_all_at_once_they_keep_their_order() -> None:
    state = run_scenario(
        WHOLE + "@ price SR 100 2\n" + PASSES + "= price TC 100 2\n= price SR 110 1\n= round operating SR"
    )
    assert state.market_order == ["SR", "TC"]
    state = run_scenario(WHOLE + "@ price SR 90 3\n" + PASSES + "= price TC 100 2\n= price SR 100 2")
    assert state.market_order == ["TC", "SR"]


def test_the_token_goes_below_those_in_the_space_above() -> None:
    body = WHOLE + "@ price SR 82 3\n@ owns Cid IC 6\n@ price IC 100 2\n" + PASSES + "= price TC 100 2\n"
    assert run_scenario(body).market_order.index("IC") < run_scenario(body).market_order.index("TC")


def test_rounds_to_come_by_phase() -> None:
    for phase, rounds in (("2", 1), ("3", 2), ("4", 2), ("5", 3), ("6", 3), ("8", 3)):
        state = run_scenario(
            f"@ phase {phase}\n" + WHOLE + "@ price SR 82 3\n" + PASSES + "= round operating TC 1"
        )
        assert state.stack[0].rounds_in_set == rounds  # type: ignore[attr-defined]
