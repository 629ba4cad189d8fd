"""Game files as the site and other programs write them: results, nulls, unknown rules, broken files."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from bot.simulation.simulate import simulate_game
from engine.kernel import game_of
from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteFileError, read_site_file
from engine.site_18xx.replay import SiteReplay, SiteReplayError
from engine.titles import title_of
from tests.site_18xx.recorded_games import recorded_files
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_conventions import RUNS_OF_SITE

SITE = "conventions 18xx.games"


def file_of(title: str, *actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    players = [{"id": number, "name": f"P{number}"} for number in (1, 2, 3)]
    numbered = [{"id": number, "entity_type": "player", **each} for number, each in enumerate(actions, 1)]
    return {"title": title, "players": players, "actions": numbered} | more


def replay_file(file: dict[str, Any]) -> SiteReplay:
    game = SiteReplay(read_site_file(json.dumps(file).encode()))
    for _ in game.run():
        pass
    return game


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
        with pytest.raises(SiteReplayError, match="Action 1: MP has nothing to choose now"):
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


FUZZED = ("price", "company", "corporation", "entity", "entity_type", "hex", "tile", "rotation", "city",
          "train", "shares", "percent", "kind", "choice", "target", "routes", "share_price", "type",
          "corporations")  # fmt: skip


def mutate(actions: list[dict[str, Any]], chance: random.Random) -> None:
    """One fault: an action is dropped, doubled, moved or exchanged, or a field has another value."""
    at, other = chance.randrange(len(actions)), chance.randrange(len(actions))
    match chance.randrange(5):
        case 0:
            del actions[at]
        case 1:
            actions.insert(at, dict(actions[at]))
        case 2:
            actions[at], actions[other] = actions[other], actions[at]
        case 3:
            actions.insert(other, actions.pop(at))
        case _:
            field = chance.choice([f for f in FUZZED if f in actions[at]])
            others = [each[field] for each in actions if field in each]
            actions[at] = actions[at] | {field: chance.choice([*others, None, 0, -1, "", "x-1", [], ["x"]])}


def check_mutations(path: Path, count: int) -> None:
    """A damaged file is imported, or refused with one sentence; nothing else happens."""
    raw = json.loads(gzip.decompress(path.read_bytes()))
    for seed in range(count):
        chance = random.Random(f"{path.name} {seed}")
        damaged = raw | {"actions": [dict(each) for each in raw["actions"]]}
        for _ in range(chance.randint(1, 3)):
            mutate(damaged["actions"], chance)
        try:
            replay_file(damaged)
        except (SiteFileError, SiteReplayError) as error:
            assert str(error) and "\n" not in str(error), seed


@pytest.mark.skipif(not recorded_files(), reason="the recorded games are not beside this checkout")
@pytest.mark.parametrize("path", recorded_files()[::12], ids=lambda path: path.name)
def test_damaged_recorded_games_are_imported_or_refused(path: Path) -> None:
    check_mutations(path, 3)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("path", recorded_files(), ids=lambda path: path.name)
def test_many_damaged_recorded_games_are_imported_or_refused(path: Path) -> None:
    check_mutations(path, 60)
