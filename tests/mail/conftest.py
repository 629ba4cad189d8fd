"""A service by mail for a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.mail_desk import MailDesk, mail_desk
from tests.mail.servers import Delivery


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[MailDesk]:
    """A service of its own."""
    with OnePixelPictures() as pictures:
        async with mail_desk(tmp_path, pictures) as desk:
            yield desk


@pytest.fixture
async def notice(desk: MailDesk) -> Delivery:
    """The email that asks Ann for the first move of 1830; Bob has had the news."""
    return await desk.begun()
