"""The end of the game and who has won (1817 §8)."""

from __future__ import annotations

import pytest

from engine import standings
from engine.core.events import RoundStarted
from engine.game_text import replay
from tests.t1817.scenarios import MONEY, RUNNER, SITE, company_lines, run_scenario, scenario_error

SEVEN = MONEY.replace("phase 3", "phase 7").replace("@ trains bank 3 3 3\n", "")
WT = company_lines("WT", 10, 200, "Ann 4, Bob 1", cash=1200, token="F19", trains="7")


def late(number: int, depot: str) -> str:
    """The WT operates in that round of a set; that is what the bank sells."""
    return f"{SEVEN}{WT}@ depot {depot}\n@ round operating WT {number}\n"


def rounds(body: str, options: tuple[str, ...] = ()) -> list[str]:
    """The rounds that still begin, until the game is over."""
    report = replay(RUNNER.script_text(f"{body}> until over\n= over", options=options))
    assert report.failure is None and report.history is not None and report.state is not None
    assert (
        report.state.game_over is not None
        and report.state.game_over.reason == "The last operating round is over."
    )
    events = [event for told in report.history.lines for event in told.events]
    return [event.round for event in events if isinstance(event, RoundStarted)]


BOUGHT = "> until train\nAnn: buy train 8\n= phase 8\n"
AFTER_FIRST = [
    *("merger round 1.1", "operating round 1.2 of 2", "merger round 1.2", "stock round 2"),
    *("operating round 2.1 of 2", "merger round 2.1", "operating round 2.2 of 2"),
]
AFTER_SECOND = [
    *("merger round 1.2", "stock round 2", "operating round 2.1 of 3", "merger round 2.1"),
    *("operating round 2.2 of 3", "merger round 2.2", "operating round 2.3 of 3"),
]


def test_8_bought_in_the_first_round_of_a_set_the_set_and_one_of_two_rounds_follow() -> None:
    assert rounds(late(1, "8") + BOUGHT) == AFTER_FIRST


def test_8_bought_in_the_second_round_of_a_set_one_of_three_rounds_follows() -> None:
    assert rounds(late(2, "8") + BOUGHT) == AFTER_SECOND


@pytest.mark.parametrize(("number", "left"), [(1, AFTER_FIRST), (2, AFTER_SECOND)])
def test_8_an_export_counts_as_in_the_operating_round_that_it_ends(number: int, left: list[str]) -> None:
    """The 7-trains are sold out, and the first 8-train leaves as the operating round ends."""
    body = late(number, "8").replace("cash WT 1200", "cash WT 0")
    run_scenario(f"{body}= phase 7\n> until merger\n= phase 8")
    assert rounds(body) == left


LEFT = [
    *(("round operating WT 1", left, trigger) for left, trigger in ((1, (0, 1)), (2, (0, 2)), (3, (1, 1)))),
    *(("round operating WT 2", left, trigger) for left, trigger in ((0, (0, 1)), (1, (0, 2)), (2, (1, 1)))),
    *(("round operating WT 2", 3, (1, 2)), ("round operating WT 3", 0, (0, 2))),
    *(("round stock Ann", 2, (1, 1)), ("round stock Ann", 3, (1, 2))),
    *(("round sale WT 1", 3, (1, 1)), ("round merger WT 2", 1, (0, 2)), ("round merger WT 2", 3, (1, 2))),
]


def in_phase_8(line: str, left: int | None) -> str:
    company = WT.replace("trains WT 7", "trains WT 8")
    if "stock" not in line and "operating" not in line:  # with two companies that may merge or be sold
        company = company_lines("WT", 2, 100, "Ann 2", cash=900, token="F19", trains="8")
        company += company_lines("SR", 2, 90, "Bob 2", cash=900, token="G18", trains="8")
    ending = "" if left is None else f"@ left {left}\n"
    return (
        f"{MONEY.replace('phase 3', 'phase 8').replace('@ trains bank 3 3 3', '')}{company}{ending}@ {line}\n"
    )


@pytest.mark.parametrize(("line", "left", "trigger"), LEFT)
def test_8_a_set_up_says_how_many_rounds_are_left(line: str, left: int, trigger: tuple[int, int]) -> None:
    body = in_phase_8(line, left)
    state = run_scenario(f"{body}= left {left}\n")
    assert state.end_triggered_in == trigger and not state.bank_broken
    operating = [name for name in rounds(body) if name.startswith("operating")]
    assert len(operating) == left


@pytest.mark.parametrize(
    "line", ["round operating WT 1", "round operating WT 2", "round stock Ann", "round sale WT 2"]
)
def test_8_a_set_up_in_phase_8_without_left_has_three_rounds_left(line: str) -> None:
    run_scenario(f"{in_phase_8(line, None)}= left 3\n> until over\n= left none\n")


@pytest.mark.parametrize(
    ("line", "left"), [("round operating WT 1", 0), ("round stock Ann", 1), ("round operating WT 3", 1)]
)
def test_8_an_end_that_cannot_be_is_refused(line: str, left: int) -> None:
    assert "cannot end after" in scenario_error(in_phase_8(line, left))


def test_8_nothing_is_left_before_the_first_8_train() -> None:
    run_scenario(late(1, "8") + "= left none\n" + BOUGHT + "= left 3\n> until stock\n= left 2\n")
    assert "not in sight" in scenario_error(late(1, "8") + "@ left 3\n")


def test_8_a_7_train_ends_nothing() -> None:
    """The last two 7-trains leave after this set's rounds, and the first 8-train in the next one."""
    body = late(1, "7 2").replace("cash WT 1200", "cash WT 0")
    said = rounds(body)
    assert said[:4] == AFTER_FIRST[:4] and said[4:] == [
        *("operating round 2.1 of 2", "merger round 2.1", "operating round 2.2 of 2", "merger round 2.2"),
        *("stock round 3", "operating round 3.1 of 2", "merger round 3.1", "operating round 3.2 of 2"),
    ]


def test_8_no_merger_round_follows_the_last_operating_round_but_on_the_site() -> None:
    assert rounds(late(1, "8") + BOUGHT, options=(SITE,)) == [*AFTER_FIRST, "merger round 2.2"]


WEALTH = (
    MONEY.replace("cash Ann 500", "cash Ann 100").replace("cash Bob 500", "cash Bob 50")
    + company_lines("WT", 5, 100, "Ann 2, Bob -1, pool 1", cash=700)
    + company_lines("SR", 2, "acquisition 1", "Ann 2", cash=300)
    + company_lines("UR", 2, "liquidation", "Bob 2")
    + "@ private CM Cid\n@ round stock Ann\n"
)


def test_8_wealth_is_stock_less_short_shares_and_cash() -> None:
    """What companies have counts for nothing; nor do companies in the gray and red spaces."""
    run_scenario(f"{WEALTH}= score Ann 300\n= score Bob -50")
    run_scenario(f"{WEALTH.replace('price WT 100', 'price WT 200')}= score Ann 500\n= score Bob -150")


def test_8_privates_count_for_nothing_but_on_the_site() -> None:
    run_scenario(f"{WEALTH}= score Cid 500")
    run_scenario(f"{WEALTH}= score Cid 560", options=(SITE,))


def test_8_the_richest_wins() -> None:
    assert list(standings(run_scenario(f"{WEALTH}= turn Ann"))) == ["p2", "p0", "p1"]


def test_8_the_only_one_who_is_not_bankrupt_has_won() -> None:
    owing = (
        MONEY.replace("cash Ann 500", "cash Ann 0").replace("cash Bob 500", "cash Bob 0")
        + company_lines("WT", 2, 100, "Ann 2", loans=2, token="F19", trains="2")
        + company_lines("SR", 2, 90, "Bob 2", loans=2, token="G18", trains="2")
        + "@ interest 30\n@ round operating WT\n"
    )
    one = f"{owing}> until crisis\n= turn Ann\nAnn: bankrupt\n> until crisis\n= turn Bob\n"
    state = run_scenario(f"{one}Bob: bankrupt\n= over\n= score Cid 500\n= score Ann 0\n= score Bob 0")
    assert state.game_over is not None and state.game_over.reason == "All but Cid are bankrupt."
    assert next(iter(standings(state))) == "p2"


def test_8_several_may_go_bankrupt_by_one_dividend() -> None:
    """It ruins Bob and Cid, who are short: Ann has won."""
    body = (
        MONEY.replace("cash Bob 500", "cash Bob 0").replace("cash Cid 500", "cash Cid 0")
        + company_lines("WT", 5, 100, "Ann 3, Bob -1, Cid -1", token="E22.0", trains="2")
        + "@ tile F21 8 1\n@ tile F19 57 1\n@ round operating WT\n> until dividend\nAnn: pay\n"
    )
    state = run_scenario(f"{body}Bob: bankrupt\nCid: bankrupt\n= over")
    assert state.game_over is not None and state.game_over.reason == "All but Ann are bankrupt."


TWO = (
    MONEY
    + company_lines("WT", 2, 100, "Ann 2", cash=900, token="F19", trains="3")
    + company_lines("SR", 2, 90, "Bob 2", cash=900, token="G18", trains="3")
)


@pytest.mark.parametrize("options", [(), (SITE,)], ids=("rulebook", "site"))
@pytest.mark.parametrize(
    ("line", "holds", "fails"),
    [
        (
            "round merger WT 2",
            ("round merger WT 2", "round merger"),
            ("round merger SR 2", "round sale WT 2"),
        ),
        (
            "round sale SR",
            ("round sale SR", "round sale SR 1", "round sale", "round merger"),
            ("round sale SR 2",),
        ),
    ],
)
def test_checkpoints_of_merger_rounds(
    line: str, holds: tuple[str, ...], fails: tuple[str, ...], options: tuple[str, ...]
) -> None:
    run_scenario(f"{TWO}@ {line}\n" + "".join(f"= {words}\n" for words in holds), options=options)
    for words in fails:
        assert "expected" in scenario_error(f"{TWO}@ {line}\n= {words}\n", options=options)


def test_the_checkpoint_of_an_auction_names_the_company_that_is_sold() -> None:
    sold = TWO.replace("price WT 100", "price WT liquidation")
    run_scenario(f"{sold}@ round sale WT 2\n= round sale WT 2\n> until over\n= round over")


def test_a_player_who_may_only_answer_in_advance_is_not_to_act() -> None:
    """Neither the second bidder of an auction, nor a president whose company comes later."""
    presidents = f"{TWO}@ round merger WT\n"
    run_scenario(
        f"{presidents}= turn Ann WT\n= round merger WT\n> until Bob\n= turn Bob SR\n= round merger SR"
    )
    assert "expected Bob" in scenario_error(f"{presidents}= turn Bob")
    sold = TWO.replace("price WT 100", "price WT liquidation").replace("owns Ann WT 2", "owns Cid WT 2")
    third = company_lines("UR", 2, 80, "Ann 2", cash=900, token="B5", trains="3")
    auction = f"{sold}{third}@ round sale WT\n"
    run_scenario(f"{auction}= turn Ann\nAnn: bid 10\n= turn Bob\n> until Ann\n= cash UR 890")
    assert "expected Bob" in scenario_error(f"{auction}= turn Bob")
