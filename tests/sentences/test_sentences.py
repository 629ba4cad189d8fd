"""The sentences of stored games are those that were read through (`python -m tests.sentences.make`)."""

from __future__ import annotations

import pytest

from tests.sentences.make import GAMES, HERE, sentences


@pytest.mark.parametrize("title", GAMES)
def test_sentences_are_those_that_were_read(title: str) -> None:
    assert sentences(title) == (HERE / f"{title}.txt").read_text(encoding="utf-8")
