"""Files that are no game, or not a whole one: each is refused with one clear sentence, and none crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.features.game_files.feature import read_game
from tests.site_18xx.test_game_file import BUY, file_of

PASS = {"type": "pass", "entity": 2}
GOOD = file_of("1830", BUY)
NOT_A_GAME = "This is not a game file of 18xx.games: "


def without(file: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in file.items() if key != field}


def action(**fields: Any) -> dict[str, Any]:
    return file_of("1830", BUY | fields)


BAD: list[tuple[bytes | dict[str, Any], str]] = [
    (b"", "The file is empty."),
    (json.dumps(GOOD).encode()[:-20], f"{NOT_A_GAME}it breaks off in the middle."),
    (json.dumps(GOOD).encode().replace(b"P1", b"\xff\xfe"), f"{NOT_A_GAME}it is not UTF-8 text."),
    (json.dumps(GOOD).encode("utf-16"), "This is neither a file of 18xx.games nor a game text."),
    (b"[1, 2]", f"{NOT_A_GAME}it is a list, not an object with a title and actions."),
    (b'{"a":' * 200_000, f"{NOT_A_GAME}it is nested too deeply."),
    (b"{" + b"\0" * (10 << 20), f"{NOT_A_GAME}it is not JSON (object keys must be strings (byte 1))."),
    (b" " * (17 << 20), "The file is larger than 16 MB."),
    (GOOD | {"title": "1846"}, "Games of '1846' cannot be imported; those of 1830, 1870, 1817 can."),
    (
        GOOD | {"title": "x" * 9999},
        f"Games of '{'x' * 40}' cannot be imported; those of 1830, 1870, 1817 can.",
    ),
    (GOOD | {"title": 1830}, f"{NOT_A_GAME}the field 'title' is a whole number, and has to be text."),
    (without(GOOD, "players"), f"{NOT_A_GAME}it has no players."),
    (without(GOOD, "actions"), f"{NOT_A_GAME}it has no actions."),
    (GOOD | {"players": []}, "1830 is for 2 to 6 players, not 0."),
    (GOOD | {"players": GOOD["players"][:1] * 2}, "Two players of the file have the same id."),
    (
        GOOD | {"actions": {}},
        f"{NOT_A_GAME}the field 'actions' is an object with fields, and has to be a list.",
    ),
    (GOOD | {"actions": ["x"]}, "Action 1: it is text, and has to be an object with fields."),
    (GOOD | {"actions": [{"id": 1}]}, "Action 1: it has no type."),
    (action(id=-5), "An action of the file has the id -5; ids count from 1."),
    (file_of("1830", BUY, PASS | {"id": 1}), "Two actions of the file have the id 1."),
    (file_of("1830", BUY | {"id": 3}, PASS), "Action 2 comes after action 3; the ids of a file ascend."),
    (file_of("1830", {"type": "redo"}), "Action 1: there is nothing to redo."),
    (action(entity=9), "Action 1: 9 is not a player of this game."),
    (action(entity=None), "Action 1: the bid has no entity."),
    (action(type="dance"), "Action 1: 'dance' is not an action of this title."),
    (action(price=None), "Action 1: the bid has no price."),
    (action(price=-5), "Action 1: P1: buy SV for -5: The SV costs $20 (1830 §7.1)."),
    (
        action(price=2.5),
        "Action 1: the field 'price' is a number with a fraction, and has to be a whole number or nothing.",
    ),
]  # fmt: skip


@pytest.mark.parametrize("content, sentence", BAD, ids=range(len(BAD)))
def test_a_bad_file_is_one_sentence(content: bytes | dict[str, Any], sentence: str) -> None:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(ValueError) as error:
        read_game(raw)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "hotseat", "id": "hs_abcdefgh_1", "players": [{"name": f"P{n}"} for n in (1, 2, 3)]},
        {"fixture_format": 99, "settings": {"pin": "abc", "use_engine_v2": True, "optional_rules": []}},
        {"description": "x" * (10 << 20)},
    ],
    ids=["hot seat", "unknown version", "10 MB"],
)
def test_what_only_looks_odd_is_imported(more: dict[str, Any]) -> None:
    by = "P1" if "mode" in more else 1
    game, warnings = read_game(b"\xef\xbb\xbf" + json.dumps(action(entity=by) | more).encode())
    assert len(game.lines) == 1 and not warnings
