"""The sentences of stored games are those that were read through (`python -m tests.sentences.make`)."""

from __future__ import annotations

import pytest

from tests.sentences.make import GAMES, HERE, sentences
from tests.sentences.messages import collect

MAKE = ".venv/bin/python -m tests.sentences.make"


@pytest.mark.parametrize("title", GAMES)
def test_sentences_are_those_that_were_read(title: str) -> None:
    read = (HERE / f"{title}.txt").read_text(encoding="utf-8")
    assert sentences(title) == read, f"Read what is new in tests/sentences/{title}.txt, made by {MAKE}."


async def test_cards_and_emails_are_those_that_were_read() -> None:
    for name, text in (await collect()).items():
        read = (HERE / f"{name}.txt").read_text(encoding="utf-8")
        assert text == read, f"Read what is new in tests/sentences/{name}.txt, made by {MAKE} cards."
