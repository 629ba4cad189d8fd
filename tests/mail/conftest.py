"""A service by mail for a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.letter_desk import LetterDesk, letter_desk
from tests.mail.servers import Delivery


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[LetterDesk]:
    """A service of its own."""
    with OnePixelPictures() as pictures:
        async with letter_desk(tmp_path, pictures) as desk:
            yield desk


@pytest.fixture
async def notice(desk: LetterDesk) -> Delivery:
    """The email that asks Ann for the first move of 1830; Bob has had the news."""
    return await desk.begun()
