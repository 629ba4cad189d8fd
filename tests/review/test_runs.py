"""Runs against the best possible, what changed best runs, and the accounts of trains."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.features.review.runs import best_run_changes, runs_of, train_accounts
from engine.core.events import TrainsRan, TrainsRusted
from engine.game_text import GameHistory
from tests.game_text.histories import history_of

GAMES = Path(__file__).parents[1] / "games"
FILES = ("1830-3p-9.18xx", "1870-3p-5004.18xx", "1817-3p-5601.18xx")


def game(name: str) -> GameHistory:
    return history_of(GAMES / name)


def test_a_run_below_the_best_is_told() -> None:
    """By the conventions of 18xx.games a company may run for less."""
    played = game("1830-4p-16-18xx.games.18xx")
    at, run = next(
        (at, event)
        for at, move in enumerate(played.lines)
        for event in move.events
        if isinstance(event, TrainsRan) and event.revenue > 20
    )
    less = [
        TrainsRan(e.company, e.routes, e.revenue - 20) if e is run else e for e in played.lines[at].events
    ]
    lines = tuple(move._replace(events=less) if i == at else move for i, move in enumerate(played.lines))
    told = next(each for each in runs_of(GameHistory(played.start, lines)) if each.at == at)
    assert (told.company, told.revenue, told.best) == (run.company, run.revenue - 20, run.revenue)
    assert sorted(train for train, _ in told.best_routes) == sorted(train for train, _ in run.routes)


@pytest.mark.parametrize("name", FILES)
def test_changes_are_those_that_a_search_for_every_company_after_every_move_finds(name: str) -> None:
    """Best runs are searched only for companies that a move may concern; none is missed."""
    played = game(name)
    state = engine.copy_state(played.start)
    known = dict.fromkeys(state.companies, 0)
    changes = {(change.at, change.company): change for change in best_run_changes(played)}
    for at, move in enumerate(played.lines):
        engine.fold(move.events, state)
        for company in known:
            if change := changes.get((at, company)):
                assert change.before == known[company]
                known[company] = change.after
        if type(state.stack[-1]) is engine.OperatingTurn and at % 7 == 0:  # a connection run has its own best
            for company, co in state.companies.items():
                best = sum(train.revenue for train in engine.best_run(state, company))
                assert known[company] == (best if co.trains and co.cell else 0), (at, move.line, company)


@pytest.mark.parametrize("name", FILES)
def test_every_run_is_the_best_and_what_trains_earn_is_what_companies_ran(name: str) -> None:
    """By the book a run has to be the best (1830 §20.3)."""
    played = game(name)
    runs, trains = runs_of(played), train_accounts(played)
    assert runs and all(run.revenue == run.best for run in runs)
    assert sum(train.earned for train in trains) == sum(run.revenue for run in runs)
    rusted = {
        event.train: at
        for at, move in enumerate(played.lines)
        for event in move.events
        if isinstance(event, TrainsRusted)
    }
    last = played.state_after(len(played.lines))
    kept = sorted(train.train for train in trains if train.gone is None)
    assert kept == sorted(train for co in last.companies.values() for train in co.trains)
    for train in trains:
        if train.end == "rusted":
            assert rusted[train.train] == train.gone
