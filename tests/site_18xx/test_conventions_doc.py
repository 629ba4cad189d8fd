"""`docs/conventions.md` lists every difference of the conventions, as the code has them."""

from __future__ import annotations

from engine.titles import title_names
from tests.site_18xx.conventions_doc import PAGE, WORDS, differences, page


def test_every_difference_has_words_and_no_words_are_left_over() -> None:
    assert {each.parameter for title in title_names() for each in differences(title)} == WORDS.keys()


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.site_18xx.conventions_doc`"
