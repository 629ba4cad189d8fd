"""The shipped client as people use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .fake import FakeDiscord
from .party import Party


@pytest.fixture
async def party(tmp_path: Path) -> AsyncIterator[Party]:
    async with FakeDiscord(["Ann", "Bob", "Cid", "Dan"]) as fake:
        yield Party(fake, tmp_path / "railpost.db")


async def test_a_table_from_the_lobby_to_the_first_turns(party: Party) -> None:
    async with party.online():
        thread = await party.begun("Ann", "Bob", "Cid")
        card = await party.card_for("Ann")
        print(card.text)
        for c in party.fake.controls(card):
            print(c, c.options)
        await party.fake.click("Ann", card, "Buy the SV for $20")
        card = await party.card_for("Bob")
        print(card.text)
        assert [m.text.split()[0] for m in party.fake.pinged("Bob")] == [party.fake.person("Bob").mention]
        assert party.fake.visible(thread)
        assert await party.said() == ["buy SV"]
    party.fake.check(pinged=["Ann", "Bob"])
