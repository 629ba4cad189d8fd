"""The sentences of stored games are those that were read through (`python -m tests.sentences.make`)."""

from __future__ import annotations

import pytest

from tests.sentences.make import GAMES, HERE, sentences
from tests.sentences.messages import collect


@pytest.mark.parametrize("title", GAMES)
def test_sentences_are_those_that_were_read(title: str) -> None:
    assert sentences(title) == (HERE / f"{title}.txt").read_text(encoding="utf-8")


async def test_cards_and_letters_are_those_that_were_read() -> None:
    for name, text in (await collect()).items():
        assert text == (HERE / f"{name}.txt").read_text(encoding="utf-8")
