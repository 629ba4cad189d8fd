"""The end (§8), trains and phases (§2), and variants of running (§9.4)."""

from __future__ import annotations

from bot.simulate import options_of, simulated
from engine import game_of
from engine.board.routes import TrainKind, best
from engine.operating.run import stop_value
from tests.t1817.texts import holds


def test_2_plus_trains_leave_after_their_last_run() -> None:
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


def test_the_last_set_follows_the_first_8_train() -> None:
    game = simulated("1817", 3, 1)
    assert game.failure is None
    ending = game.state.ending
    if ending and not game.state.out:
        assert game.state.over
    sets = [line for line in game.checkpoints]
    assert sets


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
