"""Replays: moves, refusals, optional moves, and declining until a condition holds."""

from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bot.cli.replay import command
from bot.features.game_files.feature import MAX_TEXT
from engine.core.state import Auction
from engine.game_text import replay
from engine.mechanics import AutomaticRules
from engine.titles import title_names, title_of
from tests.t1830.scenarios import SITE, run_scenario, scenario_error, script_text

STARTED = """
@ cash Ann 1000
@ cash Bob 1000
@ cash PRR 500
@ cash NYC 500
@ owns Ann PRR 6
@ owns Bob NYC 6
@ par PRR 100
@ par NYC 90
@ tile H10 57 1
@ trains PRR 2
@ round stock Ann
"""


def test_a_refused_move_stops_with_its_line_and_the_rule() -> None:
    report = replay(script_text("Ann: buy SV\nBob: buy DH\nCid: pass"))
    assert report.failure is not None and report.failure.line == 5
    assert "is refused" in str(report.failure) and "CS" in str(report.failure)
    assert report.move_count == 1


def test_an_unreadable_move_stops_with_the_nearest_lines() -> None:
    assert "cannot be read" in scenario_error("Ann: purchase SV")


def test_an_ambiguous_move_stops_with_the_choices() -> None:
    said = scenario_error(STARTED + "> until track\nAnn: lay 8 H14")
    assert "ambiguous" in said and "lay 8 H14" in said


def test_a_refusal_that_is_legal_stops_with_both_values() -> None:
    report = replay(script_text("!Ann: buy SV"))
    assert report.failure is not None
    assert (report.failure.expected, report.failure.actual) == ("refused", "legal")


def test_a_refusal_leaves_the_state_as_it_is() -> None:
    assert run_scenario("!Ann: bid SV 30\n!Bob: buy SV\n= cash Ann 800\n= turn Ann") == run_scenario(
        "= turn Ann"
    )


def test_a_refusal_is_for_the_reason_that_is_named() -> None:
    run_scenario("!Ann: bid CS 41 | 1830 §7.2\n!Bob: buy SV | 1830 §7.1\n= turn Ann")
    said = scenario_error("!Ann: bid CS 41 | 1830 §7.1")
    assert "is refused for another reason: A bid on the CS must be $45 or more (1830 §7.2)." in said
    assert "is legal" in scenario_error("!Ann: buy SV | 1830 §7.1")


def test_a_citation_is_complete() -> None:
    assert "| is followed by a section: !Ann: pass | 1830 §17." in scenario_error("!Ann: bid CS 41 |")
    assert "is refused for another reason" in scenario_error("!Ann: bid CS 41 | 1830 §7")


@pytest.mark.parametrize("name", title_names())
def test_the_book_has_a_place_for_every_question(name: str) -> None:
    sections = import_module(f"engine.titles.t{name}.composition").QUESTION_SECTIONS
    questions = title_of(name).questions.items()
    asked = {kind for kind, rules in questions if not isinstance(rules, AutomaticRules)} - {Auction}
    assert asked <= set(sections) and all(section.startswith(name) for section in sections.values())


@pytest.mark.parametrize("line", ["!Ann: purchase SV", "!Ann: bid XX 30", "!Ann: frobnicate"])
def test_a_line_that_cannot_be_read_was_not_refused_by_a_rule(line: str) -> None:
    assert "cannot be read" in scenario_error(line)


def test_an_ambiguous_line_is_no_refusal_either() -> None:
    assert "ambiguous" in scenario_error(STARTED + "> until track\n!Ann: lay 8 H14")


def test_an_optional_move_is_played_if_legal_and_ignored_otherwise() -> None:
    run_scenario(
        "?Bob: buy SV\n?Ann: buy SV\n= private SV Ann\n?Ann: pass\n= turn Bob\n?Bob: frobnicate\n= turn Bob"
    )


def test_until_a_player_or_a_company_is_to_act() -> None:
    run_scenario("> until Cid\n= turn Cid\n> until Cid\n= turn Cid\n= cash Cid 800")
    run_scenario(STARTED + "> until NYC\n= turn Bob NYC\n= round operating NYC 1")
    run_scenario(STARTED + "> until PRR\n= turn Ann PRR")


def test_until_the_next_round_of_that_name() -> None:
    run_scenario(
        STARTED
        + "> until operating\n= round operating PRR 1\n> until stock\n= round stock Ann\n> until stock"
    )
    two = STARTED.replace("@ round", "@ phase 3\n@ trains NYC 3\n@ round")
    run_scenario(
        two + "> until operating\n> until operating\n= round operating PRR 2\n> until operating\n= left none"
    )


def test_until_a_round_in_which_nobody_is_asked() -> None:
    """Nothing has floated: the operating round pays the private, and is over."""
    run_scenario(
        "@ cash Ann 500\n@ private SV Ann\n@ round stock Ann\n> until operating\n= cash Ann 505\n= turn Ann"
    )


@pytest.mark.parametrize("step", ["track", "dividend", "train", "trains", "Trains"])
def test_until_a_step(step: str) -> None:
    first = {"track": "Ann: lay 9 H14 1", "dividend": "Ann: pay"}.get(step, "Ann: buy train 2")
    run_scenario(STARTED + f"> until {step}\n= turn Ann PRR\n{first}")


def test_until_declines_by_running_and_withholding() -> None:
    run_scenario(STARTED + "> until train\n= cash PRR 530\n= price PRR 90 0")


def test_until_the_end() -> None:
    run_scenario("@ cash bank 300\n" + STARTED + "> until over\n= over")


def test_until_something_that_never_comes() -> None:
    said = scenario_error("> until operating")
    assert "has not come" in said


def test_until_something_comes_before_the_end() -> None:
    assert "was over before" in scenario_error("@ cash bank 300\n" + STARTED + "> until Cid")


def test_until_something_that_does_not_exist() -> None:
    assert "'merger'" in scenario_error("> until merger")
    assert "'lunch'" in scenario_error(STARTED + "> until lunch")


def test_until_where_nobody_can_decline() -> None:
    need = STARTED.replace("@ trains PRR 2\n", "") + "> until NYC"
    assert "cannot decline" in scenario_error(need)


def test_until_a_question_of_another_kind() -> None:
    buying = STARTED.replace("@ round", "@ phase 4\n@ trains NYC 4 4 4\n@ depot 5 3\n@ round")
    buying = buying.replace("trains PRR 2", "trains PRR none").replace("PRR 500", "PRR 900")
    run_scenario(buying + "> until train\nAnn: buy train 5\n> until discard\n= turn Bob NYC")


def test_both_conventions_are_options() -> None:
    run_scenario("Ann: buy SV for 1\n= cash Ann 799", options=(SITE,))


# -- the command -----------------------------------------------------------------------------


def run(*paths: Path) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [str(path) for path in paths])
    return result.exit_code, result.output


def test_the_command_reports_each_file(tmp_path: Path) -> None:
    one, two = tmp_path / "one.18xx", tmp_path / "two.18xx"
    one.write_text(script_text("Ann: buy SV\n= cash Ann 780\n"), encoding="utf-8")
    two.write_text(script_text("Ann: buy SV\n"), encoding="utf-8")
    code, out = run(one, two)
    assert code == 0
    assert f"{one}: ok, 1 move, 1 checkpoint" in out.replace("\n", " ").replace("  ", " ")
    assert "two.18xx: ok, 1 move, 0 checkpoints" in out


def test_the_command_stops_at_the_first_failure(tmp_path: Path) -> None:
    one, two = tmp_path / "one.18xx", tmp_path / "two.18xx"
    one.write_text(script_text("Ann: buy SV\n= cash Ann 790\n"), encoding="utf-8")
    two.write_text(script_text("Ann: buy SV\n"), encoding="utf-8")
    code, out = run(one, two)
    assert code == 1
    assert "line 5: = cash Ann 790: expected $790, found $780." in out
    assert "two.18xx" not in out


def test_the_command_names_what_cannot_be_read(tmp_path: Path) -> None:
    code, out = run(tmp_path / "none.18xx")
    assert code == 1 and "cannot be read" in out
    binary, large = tmp_path / "binary.18xx", tmp_path / "large.18xx"
    binary.write_bytes(b"\xff\xfe\x00title")
    code, out = run(binary)
    assert code == 1 and "neither a file of 18xx.games nor a game text" in out
    binary.write_bytes(b"title 1830\nplayers J\xfcrgen, Bob\n---\n")
    code, out = run(binary)
    assert code == 1 and "line 2 is not UTF-8 text; save the file as UTF-8." in out
    large.write_bytes(b"#" * (MAX_TEXT + 1))
    code, out = run(large)
    assert code == 1 and "larger" in out
    code, out = run(tmp_path)
    assert code == 1 and "Traceback" not in out
