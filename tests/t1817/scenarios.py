"""What the rule tests of 1817 are written with."""

from __future__ import annotations

import pytest

from tests.scenarios import ScenarioRunner

SITE = "conventions 18xx.games"
BOTH = ((), (SITE,))

both_conventions = pytest.mark.parametrize("options", BOTH, ids=("rulebook", "site"))

RUNNER = ScenarioRunner("1817")
run_scenario, scenario_error = RUNNER.run, RUNNER.error

MERGER = """
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ cash WT 200
@ token WT F19
@ trains WT 2
"""
"""A company of two shares, and money for everybody."""
MONEY = """
@ phase 3
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ trains bank 3 3 3
"""
WT = """
@ size WT 5
@ price WT 100
@ owns Ann WT 2
@ owns Bob WT 2
@ president WT Ann
@ cash WT 200
@ token WT F19
@ trains WT 2
"""
SR = """
@ size SR 5
@ price SR 60
@ owns Bob SR 1
@ owns Cid SR 2
@ cash SR 100
@ token SR G18
@ trains SR 2
"""
FIVE = MONEY + WT
TWO = f"""{MONEY}
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ cash WT 100
@ token WT F19
"""
TEN = """
@ phase 5
@ cash Ann 900
@ cash Bob 900
@ cash Cid 900
@ trains bank 5 5 5
@ size WT 10
@ price WT 100
@ owns Ann WT 5
@ cash WT 200
@ token WT F19
@ trains WT 5
"""
ANN = "@ round stock Ann\n"
BOB = "@ round stock Bob\n"
CID = "@ round stock Cid\n"


def company_lines(sym: str, size: int, price: int | str, owners: str, **more: int | str) -> str:
    """Set-up lines of a company: `owners` as `Ann 2, treasury 1`, the others by their own words."""
    said = [f"size {sym} {size}", f"price {sym} {price}"]
    said += [f"owns {who} {sym} {count}" for who, count in (each.split() for each in owners.split(", "))]
    said += [f"{word} {sym} {value}" for word, value in more.items()]
    return "".join(f"@ {line}\n" for line in said)
