"""An office: a service with a mailbox and a mail server, and its players."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.mail_players import MailHarness, served


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[MailHarness]:
    async with served(tmp_path) as office:
        yield office
