"""The end (§8), trains and phases (§2), and variants of running (§9.4)."""

from __future__ import annotations

import pytest

from bot.simulate import Simulated, options_of, simulated
from engine import game_of, round_name
from engine.board.routes import TrainKind, best
from engine.operating.run import stop_value
from tests.t1817.texts import holds


def test_trains_of_two_plus_leave_after_their_last_run() -> None:
    holds(
        """
        @ phase 4
        @ cash Ann 100
        @ size WT 5
        @ price WT 100
        @ owns Ann WT 3
        @ cash WT 500
        @ token WT F19
        @ trains WT 2+ 3
        @ trains bank 4 4
        @ round operating WT
        > until trains
        = trains WT 3
        """
    )


@pytest.mark.parametrize("conventions", ["rulebook", "18xx.games"])
def test_three_operating_rounds_or_a_whole_set_follow_the_first_8_train(conventions: str) -> None:
    """§8: the set in which it comes, and a last one of two rounds, or of three after a second round."""
    found = 0
    for seed in range(1, 6):
        rounds: list[str] = []

        def watch(game: Simulated, seen: list[str] = rounds) -> None:
            now = round_name(game.state)
            if now.startswith("operating") and (not seen or seen[-1] != now):
                seen.append(now)

        game = simulated("1817", 3, seed, options_of(conventions, ()), watch=watch)
        assert game.failure is None
        over = game.state.over
        if game.state.ending and over and over.reason.startswith("The last"):
            after, number = game.state.ending
            of = 3 if number == 2 else 2
            played = {r for r in rounds if int(r.split()[-1].partition(".")[0]) > after}
            assert played <= {f"operating round {after + 1}.{n}" for n in range(1, of + 1)}
            found += 1
    assert found


def test_scores_count_gray_and_red_companies_for_nothing() -> None:
    holds(
        """
        @ cash Ann 100
        @ cash Bob 50
        @ size WT 5
        @ price WT 100
        @ owns Ann WT 2
        @ owns Bob WT -1
        @ owns pool WT 1
        @ size SR 2
        @ price SR acquisition 1
        @ owns Ann SR 2
        @ phase 3
        @ trains bank 3 3
        @ round stock Ann
        = score Ann 300
        = score Bob -50
        """
    )


def test_modern_trains_earn_more_at_own_markers() -> None:
    game = simulated("1817", 4, 3, options_of("rulebook", ("modern_trains",)))
    assert game.failure is None
    g = game_of(game.state)
    companies = [c for _, here in g.state.tokens.items() for _, c in here]
    for company in dict.fromkeys(companies):
        values = {s: stop_value(g.facts, g.state.phase, g.network.node(s)) for s in g.network.stops}
        plain = best(g.network, company, [TrainKind("8", 8), TrainKind("5", 5)], values)
        modern = best(g.network, company, [TrainKind("8", 8, 20), TrainKind("5", 5)], values)
        own = sum(company in there for there in g.network.tokens.values())
        assert plain.revenue <= modern.revenue <= plain.revenue + 20 * own
        assert modern.proven
