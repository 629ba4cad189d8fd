"""Narration of 1851, and invalid positions of its scripts."""

from __future__ import annotations

from engine import State, choices, narrate, new_game, parse, play
from tests.t1851.scenarios import RICH, run_scenario, scenario_error

TC = (
    RICH
    + """
@ owns Ann TC 4
@ owns Bob TC 2
@ owns pool TC 1
@ price TC 90 3
@ tile F12 202 2
@ tile E11 5 4
@ trains TC 2
"""
)


def told(state: State, seat: str, line: str) -> list[str]:
    after, events = play(state, seat, parse(state, seat, line))
    return narrate(after, events)


def position(body: str) -> State:
    return run_scenario(body + "= phase 2")


def test_the_deal() -> None:
    state, events = new_game("1851", ["Ann", "Bob", "Cid", "Dan"])
    sentences = narrate(state, events)
    assert sentences[0] == "Ann buys the L&O for $200."
    assert "Dan receives 10 % of the L&N from the initial offering." in sentences


def test_floating() -> None:
    state = position(RICH + "@ owns Ann TC 4\n@ price TC 90 3\n@ round stock Ann\n")
    assert told(state, "p0", "buy TC")[:6] == [
        "Ann buys 10 % of the TC from the initial offering for $90.",
        "The TC floats.",
        "The TC receives $350 (capital).",
        "50 % of the TC goes into its treasury.",
        "The TC places a token in F12 Nashville.",
        "The TC is at $100 (floated).",
    ]


def test_half_and_issue() -> None:
    state = position(TC + "@ round operating TC\nAnn: run best\n")
    assert told(state, "p0", "half")[0] == "The TC pays half of its $50."
    state = position(TC + "@ round operating TC\nAnn: run best\nAnn: withhold\n")
    assert told(state, "p0", "issue 2")[:2] == [
        "The TC issues 20 % of its shares for $164.",
        "The TC is at $70 (issued).",
    ]


def test_shares_of_a_treasury() -> None:
    state = position(TC + "@ round stock Cid\n")
    assert (
        told(state, "p2", "buy TC from treasury")[0] == "Cid buys 10 % of the TC from its treasury for $90."
    )


def test_menus_lead_to_treasury_issue_and_half() -> None:
    paths = {c.path for c in choices(position(TC + "@ round stock Cid\n"), "p2")}
    assert ("buy", "TC", "treasury") in paths and ("par", "SR", "$70") in paths
    paths = {c.path for c in choices(position(TC + "@ round operating TC\nAnn: run best\n"), "p0")}
    assert paths == {("pay",), ("half",), ("withhold",)}


def test_reasons_name_the_chapters_of_the_book() -> None:
    assert "(1851, Buying Stock)" in scenario_error("Ann: par L&N 70\nBob: par TC 71")
    assert "(1851, Selling Stock)" in scenario_error(
        "Ann: par L&N 70\nBob: buy L&N\nCid: buy L&N\nAnn: sell 1 L&N"
    )


def test_positions_that_cannot_be() -> None:
    for body, why in (
        ("@ owns Ann TC 4\n@ owns treasury TC 2\n@ price TC 90 3\n@ round stock Ann", "has not floated"),
        ("@ owns Ann TC 6\n@ owns ipo TC 4\n@ price TC 90 3\n@ round stock Ann", "has floated"),
        ("@ private O&W Ann\n@ round stock Ann", "not in play"),
        ("@ private L&O Ann\n@ phase 5\n@ round stock Ann", "every private is closed"),
        ("@ owns Ann TC 6\n@ price TC 90 3\n@ new TC\n@ token TC E11\n@ round stock Ann", "but its home's"),
        ("@ left 2\n@ owns Ann TC 6\n@ price TC 90 3\n@ round operating TC", "ends with this round"),
        ("@ tile B16 202 0\n@ round stock Ann", "can never lie"),
    ):
        assert why in scenario_error(body), body
