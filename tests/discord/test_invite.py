"""The link that adds the bot to a server."""

from __future__ import annotations

import base64
from importlib.metadata import version
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import discord
import pytest

from bot.discord.invite_link import PERMISSIONS, application_id_of, invite_link
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.terminal.conftest import Run, command

__all__ = ["command"]

ID = 1234567890123456789
TOKEN = base64.urlsafe_b64encode(str(ID).encode()).decode().rstrip("=") + ".GabcdE.secret-part"


def test_the_link_names_the_application_its_scopes_and_permissions() -> None:
    link = invite_link(TOKEN)
    assert link is not None and "secret" not in link
    query = parse_qs(urlsplit(link).query)
    assert query["client_id"] == [str(ID)]
    assert query["scope"] == ["bot applications.commands"]
    asked = discord.Permissions(int(query["permissions"][0]))
    assert asked == PERMISSIONS and asked.attach_files and not asked.administrator
    assert asked.read_message_history, "to find what an earlier attempt has sent"
    assert asked.pin_messages, "of its own since February 2026"


@pytest.mark.parametrize("token", ["", "a", "nonsense", "bm90IGFuIGlk.x.y", "ü.x"])
def test_another_text_is_no_token(token: str) -> None:
    assert application_id_of(token) is None and invite_link(token) is None


def test_the_command_prints_it(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAILPOST_DISCORD_TOKEN", raising=False)
    assert "is not set" in command("invite-link").stderr
    monkeypatch.setenv("RAILPOST_DISCORD_TOKEN", TOKEN)
    assert command("invite-link").stdout == f"{invite_link(TOKEN)}\n"
    monkeypatch.setenv("RAILPOST_DISCORD_TOKEN", "public-key")
    wrong = command("invite-link")
    assert wrong.returncode == 2 and "developer portal" in wrong.stderr


def test_the_version(command: Run) -> None:
    assert command("--version").stdout == f"railpost {version('railpost')}\n"


async def test_the_start_prints_the_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with FakeDiscord(["Ann"]) as fake:
        fake.token = TOKEN
        async with RunningBot(fake, tmp_path / "railpost.db").online():
            assert f"Add the bot to a Discord server: {invite_link(TOKEN)}\n" in capsys.readouterr().out
