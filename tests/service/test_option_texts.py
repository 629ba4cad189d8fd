"""Every option of a game says what it does where a table is opened."""

from __future__ import annotations

import engine
from bot.discord.completion import OPTION_TEXTS, fitting_options
from bot.position.numbers import decision_lines
from tests.service.test_question_pictures import merger


def test_every_option_of_every_title_has_a_text() -> None:
    assert {option for title in engine.title_names() for option in engine.optional_rules(title)} == {
        *OPTION_TEXTS
    }


def test_options_that_exclude_each_other_are_not_offered_together() -> None:
    names = [name for name, _ in fitting_options("1817", ["five_shorts"])]
    assert "modern_trains" in names and "increased_short_sales" not in names and "five_shorts" not in names
    assert "original_tiles" not in dict(fitting_options("1870", []))
    assert "original_tiles" in dict(fitting_options("1870", ["conventions 18xx.games"]))


def test_in_a_merger_the_numbers_of_all_companies_of_the_president_are_told() -> None:
    lines = decision_lines(merger(), "p0")
    assert [line.partition(":")[0] for line in lines] == ["Ann", "WT", "SR", "Loans"]
