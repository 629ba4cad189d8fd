"""Short lines: a part with only one legal value may be left out, wherever it is."""

from typing import Any

import pytest

from engine import format_action, nearest_lines, new_game, parse, play
from engine.core.state import State
from engine.game import Game
from engine.kernel import RefusedError, game_of
from engine.language import notation
from engine.language.field_types import FIELD_TYPES
from engine.language.notation import AmbiguousError, UnreadableError, split_words
from tests.t1830.scenarios import BOUGHT, run_scenario
from tests.t1830.test_18_track import running
from tests.t1830.test_conventions import ERIE


def test_left_out_in_an_auction_is_the_private() -> None:
    run_scenario(
        "Ann: bid CS 45\nBob: bid CS 50\nCid: buy\nAnn: bid 55\nBob: pass\n= private CS Ann\n= cash Ann 745"
    )


def test_left_out_of_a_par_is_the_company_that_came_with_a_private() -> None:
    run_scenario(BOUGHT + "Cid: par 67\n= par B&O 67")


def test_left_out_of_a_home_is_the_company() -> None:
    run_scenario(ERIE + "Ann: home E11.1\n= token Erie E11.1")


def test_left_out_of_a_train_is_the_pool_where_the_bank_has_none() -> None:
    pool = running("PRR", "@ trains PRR 5\n@ trains pool 5", phase="6", cash=2000) + "> until train\n"
    run_scenario(pool + "!Ann: buy train 4\nAnn: buy train 5\n= trains pool none\n= trains PRR 5 5")


def test_left_out_of_an_offer_between_two_players_is_the_other() -> None:
    two = "@ private CS Ann\n@ cash Bob 100\n@ cash Ann 500\n{0}@ round stock Ann\n"
    run_scenario(two.format("") + "Ann: sell private CS for 40\nBob: accept\n= private CS Bob", "Ann, Bob")
    three = run_scenario(two.format("@ cash Cid 100\n") + "= turn Ann")
    with pytest.raises(AmbiguousError):
        parse(three, "p0", "sell private CS for 40")


def test_the_stored_line_is_explicit() -> None:
    state = new_game("1830", ["Ann", "Bob"]).state
    for seat, line in (("p0", "bid CS 45"), ("p1", "bid CS 50"), ("p0", "buy")):
        state = play(state, seat, parse(state, seat, line)).state
    assert format_action(state, parse(state, "p0", "bid $55")) == "bid CS 55"


def test_several_legal_values_are_ambiguous() -> None:
    state = run_scenario(BOUGHT + "Cid: par 67")
    with pytest.raises(AmbiguousError) as several:
        parse(state, "p0", "par 100")
    assert "par PRR 100" in several.value.choices and "par B&O 100" not in several.value.choices
    with pytest.raises(UnreadableError):
        parse(state, "p0", "sell hello 100")


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("bid $45 on CS", "bid CS 45"),
        ("bid 45 for the CS", "bid CS 45"),
        ("bid on the MH 115", "bid MH 115"),
        ("buy the SV", "buy SV"),
    ],
)
def test_words_between_the_parts_say_nothing(line: str, whole: str) -> None:
    state = new_game("1830", ["Ann", "Bob"]).state
    assert format_action(state, parse(state, "p0", line)) == whole
    with pytest.raises(UnreadableError):
        parse(state, "p0", f"{line} the")


def test_a_word_that_begins_a_name_is_not_skipped() -> None:
    """The offer went to Bob where one to The Bob was refused."""
    state = new_game("1830", ["Ann", "Bob", "The Bob"]).state
    g = game_of(state)
    kind = FIELD_TYPES["PLAYER"]
    assert [*notation._parse_field(g, kind, ["the", "bob"], 0)] == [(("p2",), 2)]
    assert [*notation._parse_field(g, kind, ["the", "ann"], 0)] == [(("p0",), 2)]
    assert not [*notation._parse_field(g, FIELD_TYPES["COUNT"], ["at", "5"], 0)]


def test_words_between_the_parts_of_a_lay_and_a_par_say_nothing() -> None:
    run_scenario(running("PRR") + "Ann: lay 57 on the H10 1\n= tile H10 57 1")
    run_scenario(BOUGHT + "Cid: par B&O at $67\n= par B&O 67")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lay #57 H10", ["lay", "57", "H10"]),
        ("lay 57 H10 # near 3 hexes", ["lay", "57", "H10"]),
        ("bid BO $1,225#good", ["bid", "BO", "1225"]),
        ("run 2 H10-H12,2 H12-H18", ["run", "2", "H10-H12,2", "H12-H18"]),
        ("#", []),
    ],
)
def test_dollars_commas_and_comments(line: str, words: list[str]) -> None:
    assert split_words(line) == words


def test_left_out_of_a_route_is_the_only_type_of_train() -> None:
    track = running("PRR", "@ tile H10 57 1\n@ trains PRR {0}", phase="3")
    run_scenario(track.format("2") + "Ann: run h12-h10\nAnn: pay\n= price PRR 112")
    run_scenario(track.format("2 2") + "Ann: run H12-H10\n= cash Ann 0")
    with pytest.raises(UnreadableError):
        parse(run_scenario(track.format("2 3") + "= turn Ann"), "p0", "run H12-H10")


def test_the_lines_nearest_to_a_refused_lay_are_on_its_hex() -> None:
    state = run_scenario(running("PRR") + "> until track\n!Ann: lay 57 H14 1")
    near = nearest_lines(state, "p0", "lay 57 H14 1")
    assert near
    assert {line.split()[2] for line in near} == {"H14"}


def test_half_a_line_names_no_company_that_nobody_spoke_of() -> None:
    """Only what is unlike the other reasons is told: it is about what the player has."""
    unsaid = "The line does not say which {}, and none fits now (1830 §4)."
    state = run_scenario(BOUGHT + "Cid: par 67")
    assert why_not(state, "p0", "short") == "In a stock round a player buys, sells or passes (1830 §4)."
    companies = ("PRR", "NYC", "CPR", "C&O", "Erie", "NYNH", "B&M", "B&O")
    started = "".join(f"@ par {company} 67\n@ owns Cid {company} 2\n" for company in companies)
    state = run_scenario(started + "@ private MH Bob\n@ cash Ann 500\n@ round stock Ann\n= turn Ann")
    assert why_not(state, "p0", "par") == unsaid.format("company")
    not_owned = " Ann does not own the MH (1830 Table 1.3)."
    assert why_not(state, "p0", "exchange") == unsaid.format("private") + not_owned


def why_not(state: State, seat: str, line: str) -> str:
    with pytest.raises(RefusedError) as refused:
        parse(state, seat, line)
    return str(refused.value)


def test_no_private_is_guessed_where_the_line_is_about_a_train() -> None:
    state = run_scenario("@ private CS Ann\n@ private SV Ann\n@ cash Bob 500\n@ round stock Bob\n= turn Bob")
    assert nearest_lines(state, "p1", "buy CS 9") == ["buy private CS from Ann for 9"]
    assert nearest_lines(state, "p1", "buy train 9") == []


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("pass pls", ["pass"]),
        ("I'll pass 👍", ["pass"]),
        ("nope", ["pass"]),
        ("buy a share of Pennsylvania", ["buy PRR from ipo"]),
        ("buy PPR", ["buy PRR from ipo"]),
        ("PRR please", ["buy PRR from ipo", "sell 1 PRR", "sell 2 PRR"]),
        ("buy prr, thanks!", ["buy PRR from ipo"]),
        ("buy PRR for $67", ["buy PRR from ipo"]),
        ("sell prr 1", ["sell 1 PRR"]),
        ("start b & o at 100", ["par B&O 100"]),
        ("100 Baltimore", ["par B&O 100"]),
        ("buy CS from Bob 50", ["buy private CS from Bob for 50"]),
        ("50 for CS from Bob", ["buy private CS from Bob for 50"]),
        ("buy CS from Bob 5,000", ["buy private CS from Bob for 0"]),
        ("how much money do I have", []),
        ("Skip plz", ["pass"]),
        ("👍", []),
        ("100", []),
    ],
)
def test_a_loosely_written_text_is_like_the_line_that_it_means(text: str, near: list[str]) -> None:
    state = run_scenario(
        "@ cash Ann 500\n@ owns Ann PRR 2\n@ owns Bob PRR 3\n@ president PRR Bob\n@ par PRR 67\n"
        "@ private CS Bob\n@ round stock Ann\n= turn Ann"
    )
    assert nearest_lines(state, "p0", text) == near


def test_who_writes_too_much_reads_the_beginning_that_can_be_played() -> None:
    """A line of a later step is none of the options, and can be played all the same."""
    state = run_scenario(running("PRR", "@ depot 2\n@ trains PRR none", phase="2") + "= turn Ann")
    with pytest.raises(UnreadableError) as unread:
        parse(state, "p0", "buy train 2 today")
    assert unread.value.nearest_lines == ["buy train 2"]


def test_yes_and_no_are_like_the_answers_to_the_question() -> None:
    offer = "@ cash Ann 500\n@ private CS Bob\n@ round stock Ann\nAnn: buy private CS from Bob for 60"
    state = run_scenario(offer)
    assert [nearest_lines(state, "p1", text) for text in ("ok", "no")] == [["accept"], ["decline"]]


def test_who_writes_nothing_that_is_like_a_line_reads_what_is_asked() -> None:
    state = run_scenario("@ cash Ann 500\n@ round stock Ann\n= turn Ann")
    with pytest.raises(UnreadableError) as unread:
        parse(state, "p0", "well done!")
    asked = "Ann to act: par a company, or pass. `help` lists what you can do."
    assert str(unread.value) == f"This is not a line of this game. {asked}"


NO_LINE = "This is not a line of this game."


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("lay 57 H99 0", "There is no hex H99."),
        ("token h99", "There is no hex h99."),
        ("lay 999 H10 0", "There is no tile 999."),
        ("lay ? H10 0", NO_LINE),
        ("buy train 9", "There is no train 9."),
        ("buy train 2 from XYZ for 50", "There is no company XYZ."),
        ("buy private XYZ for 50", "There is no private XYZ."),
        ("sell private SV to Zed for 50", "There is no player Zed."),
        ("buy XYZ", "There is no private or company XYZ."),
        ("lay 999 H99 0", NO_LINE),
        ("sell 1 Pennsylvania", NO_LINE),
        ("sell 1 Can", NO_LINE),
        ("buy train 2 from NYNHH for 50", NO_LINE),
        ("buy train 2 from B+O for 50", NO_LINE),
        ("buy train 2 from Bob for 50", NO_LINE),
        ("buy private SV from PRR for 50", NO_LINE),
        ("buy train 2 please", NO_LINE),
        ("token H10.", NO_LINE),
        ("lay 57 H10, 0", NO_LINE),
    ],
)
def test_a_name_that_the_game_does_not_have_is_said(line: str, why: str) -> None:
    """Of what may be a name that it has, or none, nothing is said."""
    state = run_scenario(running("PRR", phase="2") + "= turn Ann")
    with pytest.raises(UnreadableError) as unread:
        parse(state, "p0", line)
    assert str(unread.value).startswith(why)


def test_of_a_text_without_end_only_the_beginning_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was read once for each of its words, in which names were looked for too."""
    state, texts, readings = run_scenario(running("PRR", phase="2") + "= turn Ann"), [], []

    def nearest(g: Game, seat: str, text: str) -> list[str]:
        texts.append(text)
        return nearest_lines(state, seat, text)

    def read(g: Game, words: list[str], *, gaps: bool = False) -> list[Any]:
        readings.append(words)
        return []

    monkeypatch.setattr(notation, "nearest_lines", nearest)
    monkeypatch.setattr(notation, "_readings", read)
    with pytest.raises(UnreadableError, match=NO_LINE):
        parse(state, "p0", "token " + "H99 " * 2_000)
    assert len(texts[0].split()) == notation.MAX_WORDS and len(readings) < 3 * notation.MAX_WORDS


@pytest.mark.parametrize("between", [", ", " and ", " / ", " + ", " & ", ", then ", " THEN "])
def test_who_writes_two_moves_in_one_line_reads_how(between: str) -> None:
    state = run_scenario(
        "@ cash Ann 500\n@ owns Ann PRR 2\n@ owns Bob PRR 3\n@ par PRR 67\n@ round stock Ann\n= turn Ann"
    )
    with pytest.raises(UnreadableError) as unread:
        parse(state, "p0", f"sell 1 PRR{between}par NYC 67")
    assert "`;` between them" in str(unread.value)
    assert unread.value.nearest_lines == ["sell 1 PRR"]
