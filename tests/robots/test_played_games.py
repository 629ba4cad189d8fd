"""Games in `docs/` that a person played against robots: what were blunders there are none now."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.features.robots.robot import Robot
from engine import Action, State, decision
from engine.core.actions import LayTile, SellShares
from engine.game_text import replay

DOCS = Path(__file__).parents[2] / "docs"


def before_move(title: str, number: int) -> State:
    """The position before a move, as `docs/robots.md` counts them."""
    lines, moves = [], 0
    for line in (DOCS / f"robots-{title}.18xx").read_text(encoding="utf-8").splitlines():
        moves += ": " in line and not line.startswith("#")
        if moves == number:
            break
        lines.append(line)
    report = replay("\n".join(lines))
    assert report.failure is None and report.state is not None
    return report.state


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.18xx")), ids=lambda path: path.stem)
def test_every_game_of_the_documents_can_be_replayed(path: Path) -> None:
    assert replay(path.read_text(encoding="utf-8")).failure is None


def choice(state: State) -> Action:
    return Robot().choose_action(state, decision(state).awaited[0])


def test_a_lay_counts_what_it_brings_the_companies_of_others() -> None:
    """$50 a round for a company in which the others hold more, and nothing for its own."""
    action = choice(before_move("1851", 266))
    assert isinstance(action, LayTile)
    assert action.hex != "F16"


def test_nobody_waits_to_inherit_a_company_without_a_train() -> None:
    """The IC has no train, and Dan holds most of it after its president, who sells next."""
    action = choice(before_move("1851", 340))
    assert isinstance(action, SellShares)
    assert (action.company, action.count >= 2) == ("IC", True)


@pytest.mark.parametrize("number", [746, 747])
def test_over_the_certificate_limit_those_go_that_bring_least(number: int) -> None:
    """A share of the SSW costs less than one of the MKT or the ATSF, but two cost more than one."""
    action = choice(before_move("1870", number))
    assert isinstance(action, SellShares)
    assert action.company == "SSW"
