"""Damaged files of recorded games: each is refused with a sentence, or taken as it is, or with warnings.

A file that is accepted without a warning is exported again: every one of its actions has to come out. So
nothing that the site would not have played is changed or left out silently. The damaged actions get new ids,
since ids that do not ascend are refused before anything is played.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from engine.site_18xx.export import export_game
from engine.site_18xx.game_file import SiteFileError, active_actions
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import SiteReplayError
from tests.site_18xx.recorded_games import recorded_files, replay_file
from tests.site_18xx.test_export import SILENT, same_action

FUZZED = ("price", "company", "corporation", "entity", "entity_type", "hex", "tile", "rotation", "city",
          "train", "shares", "percent", "kind", "choice", "target", "routes", "share_price", "type",
          "corporations", "exchange", "variant", "slot", "target_type")  # fmt: skip
WRONG: tuple[Any, ...] = (
    None,
    0,
    -1,
    "",
    "x-1",
    "57-99",
    "PRR",
    "TP_0",
    [],
    ["x"],
    2.5,
    True,
    {"x": 1},
    10**9,
)
"""Values that no field has, or that belong to another one."""


def mutate(actions: list[dict[str, Any]], chance: random.Random) -> None:
    """One fault: an action is dropped, doubled, moved or exchanged; a field is lost or has another value."""
    at, other = chance.randrange(len(actions)), chance.randrange(len(actions))
    match chance.randrange(7):
        case 0:
            del actions[at]
        case 1:
            actions.insert(at, dict(actions[at]))
        case 2:
            actions[at], actions[other] = actions[other], actions[at]
        case 3:
            actions.insert(other, actions.pop(at))
        case 4:
            field = chance.choice([f for f in FUZZED if f in actions[at]])
            actions[at] = {key: value for key, value in actions[at].items() if key != field}
        case _:
            field = chance.choice([f for f in FUZZED if f in actions[at]])
            others = [each[field] for each in actions if field in each]
            actions[at] = actions[at] | {field: chance.choice([*others[:100], *WRONG])}


def mutate_part(actions: list[dict[str, Any]], chance: random.Random) -> None:
    """One fault in a route of a run, or in an automatic action."""
    lists = [action.get(field) for action in actions for field in ("routes", "auto_actions")]
    inner = [part for parts in lists if isinstance(parts, list) for part in parts if isinstance(part, dict)]
    part = chance.choice(inner) if inner else {}
    if part:
        field = chance.choice([key for key in part if key not in ("created_at", "revenue_str", "id")])
        others = [each[field] for each in inner if field in each]
        part[field] = chance.choice([*others[:100], *WRONG])
        if chance.random() < 0.3:
            del part[field]


def renumbered(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The actions with ids from 1; what is undone stays the same where it still can."""
    numbers = {action["id"]: number for number, action in reversed(list(enumerate(actions, 1)))}
    return [
        action
        | {"id": number}
        | (
            {"action_id": numbers.get(action["action_id"], action["action_id"])}
            if "action_id" in action
            else {}
        )
        for number, action in enumerate(actions, 1)
    ]


def damaged_copy(raw: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    actions = copy.deepcopy(raw["actions"])
    for _ in range(chance.randint(1, 3)):
        chance.choice((mutate, mutate, mutate, mutate_part))(actions, chance)
    return raw | {"actions": renumbered(actions)}


def check_mutations(path: Path, count: int, length: int | None = None) -> None:
    """A damaged file is refused with one sentence, or imported; what it says then is in the game."""
    raw = json.loads(gzip.decompress(path.read_bytes()))
    raw = raw | {"actions": raw["actions"][:length], "result": None}
    for seed in range(count):
        damaged = damaged_copy(raw, random.Random(f"{path.name} {seed}"))
        try:
            game = replay_file(damaged)
        except (SiteFileError, SiteReplayError) as error:
            assert str(error) and "\n" not in str(error), seed
            continue
        if not game.warnings:
            comes_out_as_it_went_in(game, damaged["actions"])


def comes_out_as_it_went_in(game: SiteReplay, recorded: list[dict[str, Any]]) -> None:
    file = export_game(game.history)
    exported = [e for action in file["actions"] for e in (action, *action.get("auto_actions", ()))]
    for out, came in zip(exported, _actions_in_effect(game, recorded), strict=True):
        same_action(_without_numbers(out), _without_numbers(came))


def _actions_in_effect(game: SiteReplay, recorded: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The actions that are played, with players by their seats from 1."""
    by_id: dict[int, list[dict[str, Any]]] = {}
    for raw in recorded:
        by_id.setdefault(raw["id"], []).append(raw)
    actions = []
    for action in active_actions(game.file.actions):
        same_id = by_id[action.id]
        raw = same_id.pop(0) if len(same_id) > 1 else same_id[0]
        for each in (raw, *(raw.get("auto_actions") or ())):
            if each["type"] in SILENT or each["type"].startswith("program_"):
                continue
            if each.get("entity_type") == "player":
                each = each | {"entity": game.player_keys.index(str(each["entity"])) + 1}
            actions.append(each)
    return actions


def _without_numbers(action: dict[str, Any]) -> dict[str, Any]:
    """The action without the numbers of equal pieces: another free share or tile does as well."""
    plain = {key: value for key, value in action.items() if value is not None}
    if "tile" in plain:
        plain["tile"] = plain["tile"].rpartition("-")[0]
    if "shares" in plain:
        plain["shares"] = sorted(share.rpartition("_")[0] for share in plain["shares"])
    return plain


@pytest.mark.skipif(not recorded_files(), reason="the recorded games are not beside this checkout")
@pytest.mark.parametrize("path", recorded_files()[::12], ids=lambda path: path.name)
def test_damaged_recorded_games_are_imported_or_refused(path: Path) -> None:
    check_mutations(path, 6, 250)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("path", recorded_files(), ids=lambda path: path.name)
def test_many_damaged_recorded_games_are_imported_or_refused(path: Path) -> None:
    check_mutations(path, 60)
