"""Emails about tables and oneself that answer no email about a seat: what below their first line counts."""

from __future__ import annotations

import pytest

from tests.mail.mail_desk import ADDRESS, ANN, MailDesk


async def unread(desk: MailDesk, *lines: str) -> list[str]:
    """The lines that the answer names as not read."""
    await desk.write("Ann", *lines, to=ADDRESS)
    rest = desk.newest[ANN].text.partition("\nNot read\n")[2].splitlines()
    return [line.removeprefix("| ") for line in rest if line.startswith("| ")]


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (["new 1830 Bob <bob@player.test>,", "Cid", "pace 24h", "", "Thanks", "Ann"], ["Cid"]),
        (["Hi,", "new 1830", "Bob <bob@player.test>", "", "Ann", "CEO, Railways", "+49 170 1234567"], []),
        (["new 1830", "robot", "and Eve", "Viele Grüße", "A. Lee"], ["and Eve"]),
        (["list", "turns", "", "Sent from my iPhone"], ["turns"]),
    ],
)
async def test_what_is_not_read_is_named_but_no_signature(
    desk: MailDesk, lines: list[str], named: list[str]
) -> None:
    """Players without an address were left out without a word, and so was a second question."""
    await desk.person("Ann")
    assert await unread(desk, *lines) == named


async def test_several_settings_are_set(desk: MailDesk) -> None:
    """Of those below the first nothing was done or said."""
    ann = await desk.person("Ann")
    await desk.write("Ann", "settings", to=ADDRESS)
    await desk.write("Ann", "settings zone Europe/Berlin", "settings next on", "", "Thanks!")
    told = desk.newest[ANN].text
    assert "Set: zone Europe/Berlin." in told and "Set: next on." in told and "Not read" not in told
    assert (await desk.service.settings.settings(ann)).for_table("").next
    await desk.write("Ann", "settings", "settings next off", to=ADDRESS)
    assert "reply to this email with `settings next off`" in desk.newest[ANN].text
    assert (await desk.service.settings.settings(ann)).for_table("").next, "the sender may be forged"
    await desk.write("Ann", "unlink a@example.org", "unlink b@example.org")
    assert "unlink b@example.org" in desk.newest[ANN].text.partition("\nNot read\n")[2]
