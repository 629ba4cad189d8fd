"""Scenarios written from the rulebooks and the list of the site's conventions, without a look at the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rulebooks.scenario_files import Scenario, scenarios
from tests.scenarios import ScenarioRunner

ALL = [scenario for path in sorted(Path(__file__).parent.glob("*.txt")) for scenario in scenarios(path)]


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: f"{scenario.title} {scenario.name}")
def test_scenario(scenario: Scenario) -> None:
    assert re.search(r"^(=|!|\w+:)", scenario.body, re.M), "it says and checks nothing"
    runner = ScenarioRunner(scenario.title)
    if scenario.refused:
        assert scenario.refused in runner.error(scenario.body, scenario.players, scenario.options)
    else:
        runner.run(scenario.body, scenario.players, scenario.options)


def test_scenarios_are_named_once() -> None:
    names = [(scenario.title, scenario.name) for scenario in ALL]
    assert len(set(names)) == len(names)
