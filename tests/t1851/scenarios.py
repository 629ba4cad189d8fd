"""What the rule tests of 1851 are written with."""

from __future__ import annotations

from tests.scenarios import ScenarioRunner

RICH = "@ cash Ann 1500\n@ cash Bob 1500\n@ cash Cid 1500\n"

RUNNER = ScenarioRunner("1851")
script_text, run_scenario, scenario_error = RUNNER.script_text, RUNNER.run, RUNNER.error
