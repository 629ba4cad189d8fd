"""`railpost bench --pace`: waits before and after, the same moves, files that cannot be read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import engine
from bot.tools.benchmark import pace
from bot.tools.benchmark.pace_model import (
    Arming,
    RecordedGame,
    RecordedMove,
    measure_pace,
    plan_orders,
    plays_the_same,
)

GAME = """title 1830
players Ann, Bob, Cid
---
@ owns Ann PRR 6
@ owns Bob NYC 3
@ price PRR 100
@ price NYC 90
@ cash Ann 600
@ cash Bob 600
@ cash Cid 600
@ round stock Ann
Ann: buy NYC from ipo
Ann: pass
Bob: buy NYC from ipo
Bob: pass
Cid: buy PRR from ipo
Cid: pass
Ann: buy NYC from ipo
Ann: pass
Bob: buy NYC from ipo
Bob: pass
Cid: pass
Ann: pass
Bob: pass
"""


def game(tmp_path: Path) -> RecordedGame:
    path = tmp_path / "played-short.18xx"
    path.write_text(GAME)
    return pace.recorded_game(path)


def test_waits_before_and_after(tmp_path: Path) -> None:
    """Ann, Bob and Cid move in turn. Each leaves an order at their first move, for what follows."""
    result = measure_pace(game(tmp_path))
    assert sum(result.before.values()) == 8 and result.same
    assert sum(result.after.values()) == 3, "each player once"
    assert result.before["same company again"] == 2 and result.after["same company again"] == 0
    assert pace.saved_part(result) == 1 - 3 / 8


def test_an_order_that_says_something_else_is_noticed(tmp_path: Path) -> None:
    recorded = game(tmp_path)
    _, armings = plan_orders(recorded)
    assert plays_the_same(recorded, armings)
    wrong = [armings[0], Arming(1, "p0", ("auto pass",)), *armings[2:]]
    assert not plays_the_same(recorded, wrong)


def test_a_wait_of_nobody_is_no_wait() -> None:
    start, _ = engine.new_game("1830", ["Ann", "Bob", "Cid"])
    assert measure_pace(RecordedGame("empty", start, list[RecordedMove]())).before.total() == 0


def test_a_file_that_cannot_be_read_is_skipped_with_a_sentence(tmp_path: Path) -> None:
    game(tmp_path)
    (tmp_path / "played-broken.json.gz").write_bytes(gzip.compress(json.dumps({"title": "1830"}).encode()))
    (tmp_path / "random.18xx").write_text(GAME)
    said: list[str] = []
    results = pace.measure_folder(tmp_path, said.append)
    assert [result.name for result in results] == ["played-short.18xx"]
    assert len(said) == 1 and said[0].startswith("Skipped: ") and "played-broken.json.gz" in said[0]
    assert pace.verdict(results) == (
        "Aim met: the median game loses 62% of its waits, with planned turns 62%; "
        "1 of 1 games end in the same position."
    )
