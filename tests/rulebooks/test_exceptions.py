"""The list of the books' exceptions names tests that there are."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.rulebooks.exceptions import entries, main, sentences

TESTS = Path(__file__).parent.parent


@cache
def names_of(title: str) -> frozenset[str]:
    texts = [path.read_text(encoding="utf-8") for path in (TESTS / f"t{title}").glob("test_*.py")]
    return frozenset(name for text in texts for name in re.findall(r"^def test_(\w+)", text, re.M))


def test_each_sentence_has_a_test_or_a_reason() -> None:
    for (book, key), entry in entries().items():
        assert entry.reason or entry.tests, key
        assert set(entry.tests) <= names_of(book[:4]), key


def test_a_sentence_that_is_not_listed_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for book in ("1830", "1851", "1870", "1817", "1817-notes"):
        (tmp_path / f"{book}.txt").write_text(
            "7.3 A Heading\nCows may not fly over the\nmoon. They may walk.\n"
        )
    assert next(sentences(tmp_path)).text == "Cows may not fly over the moon."
    assert main(str(tmp_path), "--missing") == 1
    assert "1830 §7.3  Cows may not fly over the moon.\n    NOTHING" in capsys.readouterr().out
