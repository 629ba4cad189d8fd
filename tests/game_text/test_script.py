"""Scripts: the types of lines, and the errors of lines without one."""

import pytest

from engine.game_text import ScriptError, read_script, replay, write_script
from engine.game_text.script import Checkpoint, ScriptMove, SetupLine, UntilCommand

HEADER = "title 1830\nplayers Ann, Bob Lee, Cid\n---\n"


def test_every_line_has_its_type_and_number() -> None:
    script = read_script(
        "# a game\ntitle 1830\n\nplayers Ann,  Bob Lee , Cid   # in seating order\n"
        "option optional_6_train\noption conventions 18xx.games\n---\n"
        "@ cash Ann 100\n= cash Ann $100\nAnn: buy SV   # cheap\n!bob lee: bid CS 41\n"
        "? Bob  Lee : done\n> until stock\n"
    )
    assert script.start.players == ["Ann", "Bob Lee", "Cid"]
    assert script.start.options == ("conventions 18xx.games", "optional_6_train")
    assert script.setup == (SetupLine(8, "cash Ann 100"),)
    assert script.items == (
        Checkpoint(9, "cash Ann $100"),
        ScriptMove(10, "p0", "buy SV"),
        ScriptMove(11, "p1", "bid CS 41", "must not"),
        ScriptMove(12, "p1", "done", "may"),
        UntilCommand(13, "stock"),
    )


def test_a_number_sign_before_a_digit_is_no_comment() -> None:
    (move,) = read_script(HEADER + "Ann: lay #57 H10 1 # here").items
    assert move == ScriptMove(4, "p0", "lay #57 H10 1")


def test_case_does_not_matter() -> None:
    script = read_script(
        "Title 1830\nPlayers Ann, Bob\nOption OPTIONAL_6_train\n---\nANN: Buy sv\n> Until Stock"
    )
    assert script.start.options == ("optional_6_train",)
    assert script.items == (ScriptMove(5, "p0", "Buy sv"), UntilCommand(6, "Stock"))
    assert replay(
        "title 1830\nplayers Ann, Bob\n---\n@ PHASE d\n@ CASH ann 500\n@ Round STOCK ann\n= Phase d"
    ).ok


def test_windows_line_ends_and_a_byte_order_mark_are_read() -> None:
    assert len(read_script("\ufeff" + (HEADER + "Ann: pass\n").replace("\n", "\r\n")).items) == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "---"),
        ("title 1830\nplayers Ann, Bob\nAnn: pass", 3, "---"),
        ("players Ann, Bob\n---", 2, "no title"),
        ("title 1830\n---", 2, "no players"),
        ("title 1899\nplayers Ann, Bob\n---", 1, "no title 1899"),
        ("title\nplayers Ann, Bob\n---", 1, "header"),
        ("title 1830\ntitle 1830\nplayers Ann, Bob\n---", 2, "line 1"),
        ("title 1830\nAnn, Bob\n---", 2, "header"),
        ("title 1830\nplayers Ann\n---", 2, "2 to 6"),
        ("title 1830\nplayers Ann, Ann\n---", 2, "Two players"),
        ("title 1830\nplayers Ann, pool\n---", 2, "pool"),
        ("title 1830\nplayers Ann, Bob\noption finish_on_400\n---", 3, "finish_on_400"),
        ("option optional_6_train\ntitle 1830\nplayers Ann, Bob\n---", 1, "after the title"),
        (HEADER + "buy SV", 4, "not a line of a game"),
        (HEADER + "Ann:", 4, "not a line of a game"),
        (HEADER + "Dan: pass", 4, "Dan"),
        (HEADER + "!Dan: pass", 4, "Dan"),
        (HEADER + "!", 4, "not a line of a game"),
        (HEADER + "Ann: pass\n@ cash Ann 5", 5, "before the first move"),
        (HEADER + "> until stock\n@ cash Ann 5", 5, "before the first move"),
        (HEADER + "@", 4, "line is empty"),
        (HEADER + "=", 4, "line is empty"),
        (HEADER + "> stock", 4, "until"),
        (HEADER + "> until", 4, "until"),
    ],
)
def test_a_line_without_a_type_is_an_error_with_its_number(text: str, line: int, words: str) -> None:
    with pytest.raises(ScriptError) as caught:
        read_script(text)
    assert caught.value.line == line
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"line {line}: ")
    assert str(caught.value).endswith(".")
    failure = replay(text).failure
    assert failure is not None and failure.line == line


def test_what_is_written_is_read_and_holds() -> None:
    moves = [("p0", "buy SV"), ("p1", "bid CA 165"), ("p2", "pass")]
    checks = {0: ["cash Ann 800"], 2: ["turn Cid"], 3: ["cash Ann 780", "private SV Ann"]}
    text = write_script("1830", ["optional_6_train"], ["Ann", "Bob Lee", "Cid"], moves, checks)
    assert text.splitlines() == [
        "title 1830",
        "players Ann, Bob Lee, Cid",
        "option optional_6_train",
        "---",
        "= cash Ann 800",
        "Ann: buy SV",
        "Bob Lee: bid CA 165",
        "= turn Cid",
        "Cid: pass",
        "= cash Ann 780",
        "= private SV Ann",
    ]
    report = replay(text)
    assert report.ok and report.move_count == 3 and report.checkpoint_count == 4
