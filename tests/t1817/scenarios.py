"""What the rule tests of 1817 are written with."""

from __future__ import annotations

import pytest

from tests.scenarios import ScenarioRunner

SITE = "conventions 18xx.games"
BOTH = ((), (SITE,))

both_conventions = pytest.mark.parametrize("options", BOTH, ids=("rulebook", "site"))

RUNNER = ScenarioRunner("1817")
run_scenario, scenario_error = RUNNER.run, RUNNER.error


def company_lines(sym: str, size: int, price: int | str, owners: str, **more: int | str) -> str:
    """Set-up lines of a company: `owners` as `Ann 2, treasury 1`, the others by their own words."""
    said = [f"size {sym} {size}", f"price {sym} {price}"]
    said += [f"owns {who} {sym} {count}" for who, count in (each.split() for each in owners.split(", "))]
    said += [f"{word} {sym} {value}" for word, value in more.items()]
    return "".join(f"@ {line}\n" for line in said)


CASH = "@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n"
MONEY = f"@ phase 3\n{CASH}@ trains bank 3 3 3\n"
MERGER = CASH + company_lines("WT", 2, 100, "Ann 2", cash=200, token="F19", trains=2)
"""A company of two shares, and money for everybody."""
WT = company_lines("WT", 5, 100, "Ann 2, Bob 2", president="Ann", cash=200, token="F19", trains=2)
SR = company_lines("SR", 5, 60, "Bob 1, Cid 2", cash=100, token="G18", trains=2)
FIVE = MONEY + WT
TWO = MONEY + company_lines("WT", 2, 100, "Ann 2", cash=100, token="F19")
TEN = "@ phase 5\n@ cash Ann 900\n@ cash Bob 900\n@ cash Cid 900\n@ trains bank 5 5 5\n"
TEN += company_lines("WT", 10, 100, "Ann 5", cash=200, token="F19", trains=5)
ANN = "@ round stock Ann\n"
BOB = "@ round stock Bob\n"
CID = "@ round stock Cid\n"
