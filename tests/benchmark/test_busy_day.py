"""`railpost bench --tables N --running M`: costs are measured at N tables, and a day of M is simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.tools.benchmark.busy_day import Costs, simulate_day
from tests.benchmark.test_benchmark import run

COSTS = Costs(warm=2, cold=4, follow=0.5, due=5, in_memory=1000)


def test_14_12_a_day_that_can_be_served() -> None:
    day = simulate_day(2000, COSTS)
    assert 9 < day.moves / 2000 < 20, "moves of a table a day"
    assert 0 < day.loaded < day.moves
    assert day.longest_due == 100 and day.busy < 3600
    assert max(day.waits) < 1


def test_14_12_a_process_that_is_too_slow_has_queues() -> None:
    day = simulate_day(2000, Costs(warm=2000, cold=4000, follow=500, due=5, in_memory=1000))
    assert day.longest_queue > 100 and max(day.waits) > 100


@pytest.mark.soak
def test_14_12_costs_are_measured_on_a_real_store(tmp_path: Path) -> None:
    words = ("--tables", "104", "--moves", "40", "--running", "500", "--store", str(tmp_path))
    code, output = run("bench", *words)
    assert code == 0, output
    assert "reminders that are due at once" in output and "500 tables for a day" in output
