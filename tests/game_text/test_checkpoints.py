"""Checkpoints: each keyword passes and fails as it should, and a failure gives both values."""

import pytest

from engine.game_text import (
    compare_checkpoint,
    current_checkpoints,
    read_script,
    replay,
    write_script,
)
from engine.game_text.word_reader import InvalidLineError
from tests.t1830.scenarios import SITE, script_text
from tests.t1830.scenarios import run_scenario as played

POSITION = """
@ cash Ann 500
@ cash PRR 300
@ owns Ann PRR 6
@ owns Bob PRR 2
@ owns pool PRR 1
@ par PRR 90
@ price PRR 112 1
@ private SV Bob
@ private CS PRR
@ phase 3
@ trains PRR 3 3
@ trains pool 3
@ tile H10 57 1
@ token PRR H10
@ priority Cid
@ round operating PRR 2
"""

BROKEN = "@ owns Ann PRR 6\n@ par PRR 90\n@ cash PRR 100\n@ phase 5\n@ left 1\n@ round operating PRR 2\n"


@pytest.mark.parametrize(
    ("words", "wrong", "actual"),
    [
        ("cash Ann 500", "cash Ann 501", "$500"),
        ("cash PRR $300", "cash PRR 3,000", "$300"),
        ("cash bank 11200", "cash bank 0", "$11,200"),
        ("owns Ann PRR 6", "owns Ann PRR 5", "6"),
        ("owns Cid PRR 0", "owns Cid PRR 1", "0"),
        ("owns pool PRR 1", "owns pool PRR 2", "1"),
        ("owns ipo prr 1", "owns ipo PRR 0", "1"),
        ("president PRR Ann", "president PRR Bob", "Ann"),
        ("president NYC none", "president NYC Ann", "none"),
        ("private SV Bob", "private SV Ann", "Bob"),
        ("private CS PRR", "private CS closed", "PRR"),
        ("private BO closed", "private BO Ann", "closed"),
        ("price PRR 112", "price PRR 100", "$112"),
        ("price PRR 112 1", "price PRR 112 0", "$112 in row 1"),
        ("price NYC none", "price NYC 67", "none"),
        ("par PRR 90", "par PRR 100", "$90"),
        ("par NYC none", "par NYC 90", "none"),
        ("trains PRR 3 3", "trains PRR 3", "3 3"),
        ("trains NYC none", "trains NYC 3", "none"),
        ("trains pool 3", "trains pool none", "3"),
        ("trains bank 3 3", "trains bank 3", "3 3"),
        ("depot 3 2", "depot 3 3", "3 2"),
        ("depot 3", "depot 4", "3"),
        ("tile H10 57 1", "tile H10 57 4", "#57 turned 1"),
        ("tile H10 57", "tile H10 14", "#57"),
        ("tile H14 none", "tile H14 9 1", "none"),
        ("token PRR H12 H10", "token PRR H16", "H12 H10"),
        ("token PRR H10.0", "token PRR none", "H12 H10"),
        ("token NYC none", "token NYC E19", "none"),
        ("markers PRR 2", "markers PRR 3", "2"),
        ("phase 3", "phase 4", "3"),
        ("priority Cid", "priority Ann", "Cid"),
        ("left none", "left 0", "none"),
        ("limit 20", "limit 16", "20"),
        ("round operating PRR 2", "round operating PRR", "operating PRR 2"),
        ("round operating", "round stock", "operating"),
        ("turn Ann", "turn Bob", "Ann for the PRR"),
        ("turn PRR", "turn NYC", "Ann for the PRR"),
        ("turn Ann PRR", "turn Ann NYC", "Ann for the PRR"),
        ("best PRR 30", "best PRR 40", "$30"),
        ("score Ann 1172", "score Ann 1000", "$1,172"),
        ("score Bob 244", "score Bob 224", "$244"),
    ],
)
def test_each_word(words: str, wrong: str, actual: str) -> None:
    state = played(POSITION + f"= {words}")
    assert compare_checkpoint(state, words)[1] == compare_checkpoint(state, words)[0]
    expected, found = compare_checkpoint(state, wrong)
    assert expected != found and found == actual
    report = replay(script_text(POSITION + f"= {wrong}"))
    assert report.failure is not None
    assert report.failure.line == 4 + POSITION.count("\n")
    assert (report.failure.expected, report.failure.actual) == (expected, actual)
    assert expected in str(report.failure) and actual in str(report.failure)


def test_left_counts_once_the_end_is_triggered() -> None:
    state = played(BROKEN + "= left 1")
    assert compare_checkpoint(state, "left 2") == ("2", "1")
    played(
        BROKEN.replace("round operating PRR 2", "round stock Ann").replace("left 1", "left 3") + "= left 3"
    )


def test_over() -> None:
    played(BROKEN + "> until over\n= over\n= round over")
    assert compare_checkpoint(played(BROKEN + "= phase 5"), "over") == ("over", "not over")


def test_rounds_and_turns_of_the_opening_and_of_a_stock_round() -> None:
    state = played("= round opening\n= turn Ann\n= private SV bank")
    assert compare_checkpoint(state, "round stock Ann") == ("stock Ann", "opening")
    state = played("@ cash Bob 500\n@ round stock Bob\n= round stock Bob\n= turn Bob\n= round stock")
    assert compare_checkpoint(state, "round stock Ann") == ("stock Ann", "stock Bob")


def test_a_player_with_an_offer_to_answer_is_to_act_too() -> None:
    offered = POSITION.replace("@ cash Ann 500\n", "") + "Ann: buy private SV for 20\n"
    state = played(offered + "= turn Bob\n= turn Ann\n= turn Bob PRR")
    assert compare_checkpoint(state, "turn Cid") == ("Cid", "Ann and Bob for the PRR")
    played(offered + "Bob: decline\n= turn Ann")
    assert (
        compare_checkpoint(played(offered + "Bob: decline\n= turn Ann"), "turn Bob")[1] == "Ann for the PRR"
    )


def test_unlimited_trains_are_named_without_a_number() -> None:
    state = played(
        "@ owns Ann PRR 6\n@ par PRR 100\n@ depot D\n@ round stock Ann\n= depot D", options=(SITE,)
    )
    assert compare_checkpoint(state, "depot D 6") == ("D 6", "D")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "ends where"),
        ("money Ann 5", "money"),
        ("cash Dan 5", "Dan"),
        ("cash Ann", "ends where"),
        ("cash Ann much", "much"),
        ("cash Ann 500 600", "left over"),
        ("owns Ann 5", "company"),
        ("tile H10 999 1", "999"),
        ("token PRR Z9", "Z9"),
        ("round lunch PRR", "lunch"),
        ("new PRR", "new"),
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_an_error_of_its_own(words: str, sentence: str) -> None:
    state = played(POSITION + "= phase 3")
    with pytest.raises(InvalidLineError, match=sentence):
        compare_checkpoint(state, words)
    if words:
        failure = replay(script_text(f"{POSITION}= {words}")).failure
        assert failure is not None and sentence in str(failure) and failure.expected is None


def test_current_checkpoints_hold() -> None:
    state = played(POSITION + "= phase 3")
    for words in current_checkpoints(state):
        expected, actual = compare_checkpoint(state, words)
        assert expected == actual, words
    over = played(BROKEN + "> until over")
    assert "over" in current_checkpoints(over) and all(
        a == b for a, b in (compare_checkpoint(over, w) for w in current_checkpoints(over))
    )


def test_a_whole_game_with_checkpoints_on_its_way() -> None:
    start = read_script(script_text("")).start
    moves = [("p0", "buy SV"), ("p1", "buy CS")]
    written = write_script("1830", [], ["Ann", "Bob", "Cid"], moves, {0: current_checkpoints(start)})
    report = replay(written)
    assert (
        report.ok and report.state is not None and report.checkpoint_count == len(current_checkpoints(start))
    )
