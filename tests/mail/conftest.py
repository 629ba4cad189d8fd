"""A service by mail for a test."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import copyfile

import pytest

from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.mail_desk import MailDesk, mail_desk
from tests.mail.servers import Delivery
from tests.stores import StoreFactory

FILE = "railpost.db"


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Delivery]]:
    """The store of a game of 1830 between Ann and Bob, and the emails that they have had; made once, as each
    test that begins so has a copy."""
    folder = tmp_path_factory.mktemp("begun")

    async def emails() -> list[Delivery]:
        with OnePixelPictures() as pictures:
            async with mail_desk(folder, pictures) as desk:
                await desk.begun()
                return desk.emails

    return folder / FILE, asyncio.run(emails())


@pytest.fixture
def had(tmp_path: Path, places: StoreFactory, request: pytest.FixtureRequest) -> list[Delivery]:
    """The emails that were sent before a test. Its store is in its folder: `begun` for one with `notice`."""
    if "notice" not in request.fixturenames:
        with places.empty_store("sqlite", tmp_path):
            return []
    file, emails = request.getfixturevalue("begun")
    copyfile(file, tmp_path / FILE)
    return [*emails]


@pytest.fixture
async def desk(tmp_path: Path, had: list[Delivery]) -> AsyncIterator[MailDesk]:
    """A service of its own."""
    with OnePixelPictures() as pictures:
        async with mail_desk(tmp_path, pictures) as desk:
            desk.emails = had
            desk.newest = {each.recipients[0]: each for each in had}
            yield desk


@pytest.fixture
def notice(desk: MailDesk) -> Delivery:
    """The email that asks Ann for the first move of 1830; Bob has had the news."""
    return desk.newest["ann@player.test"]
