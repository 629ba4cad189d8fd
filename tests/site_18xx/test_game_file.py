"""Game files as the site and other programs write them: results, nulls, unknown rules, broken files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine.core.events import TrainMoved
from engine.core.reasons import TrainReason
from engine.kernel import game_of
from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError
from engine.titles import title_of
from tests.site_18xx.recorded_games import replay_file
from tests.t1830.scenarios import run_scenario as run_1830_scenario
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_conventions import RUNS_OF_SITE

SITE = "conventions 18xx.games"


def file_of(title: str, *actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    players = [{"id": number, "name": f"P{number}"} for number in (1, 2, 3)]
    numbered = [{"id": number, "entity_type": "player", **each} for number, each in enumerate(actions, 1)]
    return {"title": title, "players": players, "actions": numbered} | more


BUY = {"type": "bid", "entity": 1, "company": "SV", "price": 20}


@pytest.mark.parametrize("result", [{"1": "$1,521", "2": "-$20"}, {"1": 1521, "2": -20}])
def test_results_are_numbers_or_dollars_in_words(result: dict[str, Any]) -> None:
    assert read_site_file(json.dumps(file_of("1830", result=result)).encode()).result == {"1": 1521, "2": -20}


def test_a_result_that_is_no_number_is_an_error() -> None:
    with pytest.raises(SiteFileError):
        read_site_file(json.dumps(file_of("1830", result={"1": "much"})).encode())


def test_nulls_are_fields_left_out() -> None:
    game = replay_file(file_of("1830", BUY | {"auto_actions": None, "routes": None}, result=None))
    assert game.state.private_owners["SV"] == "p0" and game.file.result is None


@pytest.mark.parametrize("options", [("volatility",), (SITE, "volatility")])
def test_volatility_is_refused_as_an_expansion(options: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"volatility is an expansion of 1817 .*; it is not played here\."):
        title_of("1817", options)
    file = file_of("1817", settings={"optional_rules": ["volatility"]})
    with pytest.raises(SiteFileError, match="volatility is an expansion of 1817"):
        replay_file(file)


def test_only_the_company_that_is_asked_chooses() -> None:
    """1870 §11.4.1: only the company of a connection run has a destination token to place."""
    for company, is_asked in (("SSW", True), ("MP", False)):
        choose = {"type": "choose", "entity": company, "entity_type": "corporation", "choice": "Charter"}
        game = SiteReplay(read_site_file(json.dumps(file_of("1870", choose | {"id": 1})).encode()))
        more = "@ owns Bob MP 6\n@ par MP 100\n"
        game.game = game_of(run_scenario(more + RUNS_OF_SITE + "= turn Bob SSW\n", options=(SITE,)))
        game.state = game.game.state
        if is_asked:
            assert [action.type for action in game.run()] == ["choose"]
            continue
        with pytest.raises(SiteReplayError, match="Action 1: it is the turn of the SSW, not of the MP"):
            list(game.run())


def test_as_far_as_possible_the_rest_is_in_the_file_as_messages() -> None:
    """1830 §23.1: a private for $0, which the site does not allow."""
    history = simulate_game("1830", 2, 16).history
    file = export_game(history, as_far_as_possible=True)
    game = replay_file(file)
    assert game.lines and not game.warnings
    first = next(n for n, each in enumerate(file["actions"]) if each["type"] == "message")
    remarks = [each["message"] for each in file["actions"][first:]]
    assert {each["type"] for each in file["actions"][first:]} == {"message"}
    assert "has no counterpart on 18xx.games" in remarks[0]
    names = history.start.players
    assert all(remark.startswith(tuple(f"{name}: " for name in names)) for remark in remarks[1:])
    assert len(remarks) - 1 + len(game.lines) >= len(history.lines) * 0.9
    assert file["status"] == "active" and "result" not in file


TURN = {"type": "dividend", "entity": "PRR", "entity_type": "corporation", "kind": "payout"}
OPERATING = """
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ owns Ann NYC 6
@ par NYC 67
@ cash NYC 500
@ trains PRR 2
@ round operating PRR
= turn Ann PRR
"""


def replay_in(setup: str, *actions: dict[str, Any]) -> SiteReplay:
    """The replay of these actions in a position of 1830."""
    game = SiteReplay(read_site_file(json.dumps(file_of("1830", *actions)).encode()))
    game.game = game_of(run_1830_scenario(setup, options=(SITE,)))
    game.state = game.game.state
    for owner, company in game.game.state.companies.items():
        for train in company.trains:
            game.numbering.update([TrainMoved(train, "bank", owner, TrainReason.BOUGHT)])
    assert list(game.run())
    return game


def run_of(train: str) -> dict[str, Any]:
    return TURN | {"type": "run_routes", "routes": [{"train": train, "connections": [], "revenue": 10}]}


@pytest.mark.parametrize(
    "action, reason",
    [
        (TURN | {"entity": 1, "entity_type": "player"}, "'dividend' is not an action of a player"),
        (BUY | {"entity": "PRR", "entity_type": "corporation"}, "'bid' is not an action of a corporation"),
        (run_of("3-0"), "the PRR does not own the train 3-0"),
        (TURN | {"type": "buy_train", "train": "2-1", "price": 1}, r"a 2-train costs \$80 there, not \$1"),
    ],
)
def test_an_action_that_the_site_would_refuse_is_refused(action: dict[str, Any], reason: str) -> None:
    with pytest.raises(SiteReplayError, match=rf"^Action 1: {reason}\.$"):
        replay_in(OPERATING, action)


def test_a_train_runs_once() -> None:
    twice = run_of("2-0")
    with pytest.raises(SiteReplayError, match="the train 2-0 has two routes"):
        replay_in(OPERATING, twice | {"routes": twice["routes"] * 2})


def test_passes_that_are_missing_or_too_many_are_warnings() -> None:
    """The game goes on as the file has it, and the reader learns what was added or left out."""
    buy_train = TURN | {"type": "buy_train", "train": "2-1", "price": 80}
    game = replay_in(OPERATING, buy_train)
    assert game.warnings == ["Action 1: the file has no pass of the PRR in the step before (track)."]
    superfluous = replay_in(OPERATING, {"type": "pass", "entity": 2})
    assert superfluous.warnings == ["Action 1: 2 has nothing to pass now, and the pass is left out."]
    stock = "@ owns Ann PRR 6\n@ par PRR 100\n@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n"
    stock += "@ round stock Ann\n= turn Ann"
    par = {"type": "par", "entity": 3, "corporation": "NYC", "share_price": "67,5,6"}
    added = replay_in(stock, {"type": "pass", "entity": 1}, par)
    assert added.warnings == [
        "Action 2: Bob is asked first; the file does not have their pass, and it is added."
    ]
