"""What the rule tests of 1870 are written with."""

from __future__ import annotations

from tests.scenarios import ScenarioRunner

TITLE = "1870"
SITE = "conventions 18xx.games"

SOLD = """
Ann: buy GRSC
Bob: buy MRBC
Cid: buy SCC
Ann: buy GSC
Bob: buy Frisco
Bob: par SLSF 100
Cid: buy Katy
"""
"""Every private at its price; it is Ann's turn of the first stock round."""

RUNNER = ScenarioRunner(TITLE)
script_text, run_scenario, scenario_error = RUNNER.script_text, RUNNER.run, RUNNER.error
