"""Whole turns in one line, and the subject of a turn."""

from bot.email.pages.turn_pages import bundle_lines, turn_subject, with_outcomes
from engine.game_text import replay

SCRIPT = """title 1830
players Ann, Bob, Cid
---
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ tile H10 57 1
@ trains PRR 2
@ round operating PRR
Ann: pass
Ann: pass
"""


def test_what_running_paying_and_withholding_bring() -> None:
    report = replay(SCRIPT)
    assert report.state is not None, report.failure
    paid, withheld = bundle_lines(report.state, 0)
    assert paid.startswith("run best; pay") and withheld.startswith("run best; withhold")
    assert "a 2-train on" in paid and "a 2-train on" not in withheld, "it is said once"
    assert paid.endswith("(paid).") and withheld.endswith("(withheld).")


def test_there_is_no_bundle_where_nothing_runs() -> None:
    report = replay("title 1830\nplayers Ann, Bob, Cid\n---\n")
    assert report.state is not None
    assert bundle_lines(report.state, 0) == ()
    assert turn_subject(report.state, "buy the SV for $20, bid, or pass") == (
        "Your turn: opening, buy the SV for $20"
    )


def test_runs_and_dividends_say_what_they_bring() -> None:
    report = replay(SCRIPT)
    assert report.state is not None
    run, passed = with_outcomes(report.state, 0, ["run best", "pass"])
    assert run.startswith("run best   # The PRR runs for $30: a 2-train on ") and passed == "pass"
    ran = replay(SCRIPT + "Ann: run best\n").state
    assert ran is not None
    pay, withhold = with_outcomes(ran, 0, ["pay", "withhold"])
    assert "# The PRR pays $" in pay and "# The PRR withholds $" in withhold


def test_a_subject_says_what_is_to_be_decided() -> None:
    state = replay("title 1830\nplayers Ann, Bob, Cid\n---\n").state
    assert state is not None
    assert turn_subject(state, "buy, or pass") == "Your turn: opening, buy or pass"
    assert (
        turn_subject(state, "say whether to merge: act, or pass")
        == "Your turn: opening, say whether to merge"
    )
    trading = replay("title 1830\nplayers Ann, Bob, Cid\n---\n@ cash Ann 500\n@ round stock Ann\n").state
    assert trading is not None
    ways = "par a company, buy a private, or pass (which ends the round)"
    assert turn_subject(trading, ways) == "Your turn: SR 2, par a company, buy a private or pass"
