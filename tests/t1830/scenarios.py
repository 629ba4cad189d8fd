"""What the rule tests are written with."""

from __future__ import annotations

import pytest

from tests.scenarios import ScenarioRunner

TITLE = "1830"
SITE = "conventions 18xx.games"
Options = tuple[str, ...]
BOTH: tuple[Options, ...] = ((), (SITE,))

both_conventions = pytest.mark.parametrize("options", BOTH, ids=("rulebook", "site"))

BOUGHT = """
Ann: buy SV
Bob: buy CS
Cid: buy DH
Ann: buy MH
Bob: buy CA
Cid: buy BO
"""
"""Every private at its price, up to the question for the B&O's par."""

RUNNER = ScenarioRunner(TITLE)
script_text, run_scenario, scenario_error = RUNNER.script_text, RUNNER.run, RUNNER.error
