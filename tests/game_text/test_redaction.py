"""Redaction: an order that was left beforehand appears only when it takes effect."""

from __future__ import annotations

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine import is_secret
from engine.core.events import FramePopped
from engine.core.hidden_orders import visible_to
from engine.game_text import GameHistory, replay
from engine.game_text.redaction import redacted
from tests.game_text.histories import end_of
from tests.scenarios import ScenarioRunner
from tests.t1817.scenarios import RUNNER as OF_1817
from tests.t1817.test_07_acquisitions import GRAY, offered, sale
from tests.t1870.test_05_protection import MP
from tests.t1870.test_05_treasury import OPEN_OFFER

OF_1870 = ScenarioRunner("1870")
TWO_BIDDERS = sale(GRAY)
FRIENDLY = offered(60, cash=400)


def lines(book: ScenarioRunner, body: str) -> tuple[list[str], list[str]]:
    """The lines of a game as it was played, and as it is handed out; both lead to the same position."""
    report = replay(book.script_text(body))
    assert report.failure is None and report.history is not None and report.state is not None
    public = redacted(report.history)
    before, after = visible_to(report.state, None), visible_to(end_of(public), None)
    before.question_number = after.question_number = 0
    assert before == after
    lines = [f"{report.state.name(move.seat)}: {move.line}" for move in public.lines]
    return [move.line for move in report.history.lines], lines


def test_a_limit_becomes_the_bids_and_the_pass_that_it_made() -> None:
    played, public = lines(
        OF_1817, f"{TWO_BIDDERS}\nCid: bid 10\nAnn: bid up to 60\nCid: bid 50\nCid: bid 90"
    )
    assert played == ["bid 10", "bid up to 60", "bid 50", "bid 90"]
    assert public == [
        "Cid: bid 10", "Ann: bid 20", "Cid: bid 50", "Ann: bid 60", "Cid: bid 90", "Ann: pass",
    ]  # fmt: skip


def test_two_limits_bid_against_each_other() -> None:
    _, public = lines(OF_1817, f"{TWO_BIDDERS}\nCid: bid up to 40\nAnn: bid up to 60")
    assert public == [
        "Cid: bid 10", "Ann: bid 20", "Cid: bid 30", "Ann: bid 40", "Cid: pass",
    ]  # fmt: skip


def test_an_order_left_beforehand_appears_in_its_turn() -> None:
    played, public = lines(OF_1817, f"{TWO_BIDDERS}Ann: bid up to 60\nCid: bid 30\nCid: bid 50\nCid: pass")
    assert played == ["bid up to 60", "bid 30", "bid 50", "pass"]
    assert public == ["Cid: bid 30", "Ann: bid 40", "Cid: bid 50", "Ann: bid 60", "Cid: pass"]
    assert lines(OF_1817, f"{TWO_BIDDERS}Ann: bid nothing\nCid: bid 30")[1] == ["Cid: bid 30", "Ann: pass"]


def test_a_pass_before_its_turn_is_no_secret() -> None:
    played, public = lines(OF_1817, f"{TWO_BIDDERS}Ann: pass\nCid: bid up to 30")
    assert played == ["pass", "bid up to 30"]
    assert public == ["Ann: pass", "Cid: bid 10"]


def test_a_limit_is_of_its_auction_alone() -> None:
    body = f"{FRIENDLY}Cid: pass\nAnn: bid up to 200"
    _, public = lines(OF_1817, body)
    assert "Ann: bid 120" in public and not any("200" in line for line in public)


@pytest.mark.parametrize(("limit", "answer"), [(200, "Ann: protect MP"), (199, "Ann: decline")])
def test_a_standing_order_becomes_the_answer(limit: int, answer: str) -> None:
    played, public = lines(
        OF_1870, f"{MP}Ann: standing protect MP up to {limit}\nBob: sell 2 MP\nBob: done\n"
    )
    assert any(map(is_secret, played))
    assert public[-1] == answer and not any("standing" in line for line in public)


def test_a_game_without_secrets_stays_as_it_is() -> None:
    report = replay(OF_1817.script_text(f"{sale(GRAY)}Cid: bid 10"))
    assert report.history is not None and redacted(report.history) is report.history


def test_a_random_game_leads_to_the_same_end() -> None:
    game = simulate_game("1817", 7, 200)
    public = redacted(game.history)
    assert any(is_secret(line) for _, line in game.lines) and not any(is_secret(t.line) for t in public.lines)
    before, after = visible_to(game.state, None), visible_to(end_of(public), None)
    before.question_number = after.question_number = 0
    assert before == after


def test_a_pass_that_ended_a_turn_is_left_out_where_the_turn_ends_by_itself_today() -> None:
    """In version 1.0.0 a turn went on while an offer was open that could not be accepted any more."""
    body = OPEN_OFFER + "Bob: standing protect GMO up to 0\nAnn: buy GMO from ipo"
    history = replay(OF_1870.script_text(body)).history
    assert history is not None
    *before, bought = history.lines
    end = next(at for at, event in enumerate(bought.events) if isinstance(event, FramePopped))
    open_turn = GameHistory(history.start, (*before, bought._replace(events=bought.events[:end])))
    ended = bought._replace(line="pass", events=bought.events[end:])
    for stored in (open_turn, GameHistory(history.start, (*open_turn.lines, ended))):
        public = redacted(stored)
        assert [each.line for each in public.lines] == ["redeem MP from Bob", "sell 1 SP", "buy GMO from ipo"]
        assert end_of(public).top == end_of(history).top


def test_a_game_of_older_rules_is_refused() -> None:
    """Nothing is public rather than a secret: here a bid is in the record that nobody could have made."""
    report = replay(OF_1817.script_text(f"{TWO_BIDDERS}Cid: bid up to 40\nAnn: bid 30"))
    assert report.history is not None
    limit, bid = report.history.lines
    strange = GameHistory(report.history.start, (limit, bid._replace(line="bid 35")))
    with pytest.raises(ValueError, match="rules have been corrected"):
        redacted(strange)
    with pytest.raises(ValueError, match="rules have been corrected"):
        redacted(GameHistory(report.history.start, (limit, bid._replace(events=[]))))
