"""Records of connection runs in files of 18xx.games (1870)."""

from __future__ import annotations

import json
from typing import Any

from engine.core.state import State, copy_state
from engine.game_text import HistoryLine
from engine.kernel import game_of, new_game
from engine.site_18xx.codecs_connections import found_connections
from engine.site_18xx.export import SiteExporter
from engine.site_18xx.game_file import read_site_file
from engine.site_18xx.replay import SiteReplay
from engine.title import SITE_CONVENTIONS
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_11_destinations import TOGETHER

OPTIONS = (SITE_CONVENTIONS, "station_wars")


def replay_connections(state: State, *recorded: str) -> SiteReplay:
    """The replay of one record in that position."""
    action = {
        "type": "destination_connection", "entity": "FW", "entity_type": "corporation", "id": 1,
        "corporations": recorded,
    }  # fmt: skip
    players = [{"id": number, "name": name} for number, name in enumerate(state.players, 1)]
    file: dict[str, Any] = {"title": "1870", "players": players, "actions": [action]}
    game = SiteReplay(read_site_file(json.dumps(file).encode()))
    game.game = game_of(copy_state(state))
    game.state = game.game.state
    assert [each.type for each in game.run()] == ["destination_connection"]
    return game


def test_companies_connected_together_run_in_the_recorded_order() -> None:
    state = run_scenario(TOGETHER + "= turn Cid MP", options=OPTIONS)
    assert found_connections(game_of(state)) == ("MP", "SSW")
    in_our_order = replay_connections(state, "MP", "SSW")
    assert not in_our_order.lines and not in_our_order.warnings
    game = replay_connections(state, "SSW", "MP")
    assert found_connections(game.game) == ("SSW", "MP")
    assert game.warnings == ["Action 1: the SSW and MP connect in the recorded order."]


def test_the_recorded_order_is_exported_again() -> None:
    state = run_scenario(TOGETHER + "= turn Cid MP", options=OPTIONS)
    [line] = replay_connections(state, "SSW", "MP").lines
    exporter = SiteExporter(new_game("1870", state.players, OPTIONS).state)
    exporter.our_state, exporter.site.game = copy_state(state), game_of(copy_state(state))
    connection = {"type": "destination_connection", "corporations": ["MP", "SSW"]}
    exporter.actions.append({"type": "pass", "auto_actions": [connection]})
    exporter.add_line(HistoryLine(line.seat, line.line, line.events))
    assert connection["corporations"] == ["SSW", "MP"]
    assert exporter.site.game.state == exporter.our_state


def test_a_run_that_only_the_file_has_is_opened() -> None:
    state = run_scenario(TOGETHER.replace("@ trains MP 4\n", "") + "= turn Bob SSW", options=OPTIONS)
    assert found_connections(game_of(state)) == ("SSW",)
    game = replay_connections(state, "SSW", "MP")
    assert game.warnings == ["Action 1: the MP connects as recorded."]
    assert found_connections(game.game)[0] == "MP"


def test_a_record_without_a_run_that_is_due_is_a_warning() -> None:
    state = run_scenario(TOGETHER + "= turn Cid MP", options=OPTIONS)
    game = replay_connections(state, "MP")
    assert game.warnings == ["Action 1: the file leaves out that the SSW can make a connection run."]


def test_a_record_inside_another_action_has_its_order_too() -> None:
    """Item 15: the site nests the record in the action that ends the turn."""
    state = run_scenario(TOGETHER + "= turn Cid MP", options=OPTIONS)
    record = {"type": "destination_connection", "entity": "FW", "entity_type": "corporation"}
    message = {"type": "message", "entity": 1, "entity_type": "player", "id": 1, "message": "so"}
    nested = message | {"auto_actions": [record | {"corporations": ["SSW", "MP"]}]}
    players = [{"id": number, "name": name} for number, name in enumerate(state.players, 1)]
    game = SiteReplay(
        read_site_file(json.dumps({"title": "1870", "players": players, "actions": [nested]}).encode())
    )
    game.game = game_of(copy_state(state))
    game.state = game.game.state
    assert [each.type for each in game.run()] == ["message"]
    assert found_connections(game.game) == ("SSW", "MP")
