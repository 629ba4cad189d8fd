"""XOAUTH2 in place of passwords: the token endpoint, the mailbox and the SMTP server, over sockets."""

import base64
import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiosmtplib
import pytest
from aiohttp import web
from aiosmtpd.smtp import SMTP, AuthResult

from bot.config import OAuthSettings, SettingsError, parse_settings
from bot.email.delivery import mail_account
from bot.email.oauth import FILE_NAME, RefreshedTokens
from mail.connecting import TokenUnavailable
from mail.imap import ConnectionLost, ImapConnection, LoginRefused
from mail.smtp import connect
from tests.mail.fake_imap import fake_imap
from tests.mail.servers import SmtpCatcher, smtp_server

USER = "play@games.test"


@dataclass
class TokenEndpoint:
    """A provider's token endpoint. refresh_token: which it takes now. answers: instead of tokens, in turn."""

    refresh_token: str = "refresh-1"
    rotates: bool = True
    answers: list[web.Response] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    port: int = 0

    async def answer(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        if self.answers:
            return self.answers.pop(0)
        if form["refresh_token"] != self.refresh_token:
            body = {"error": "invalid_grant", "error_description": "expired"}
            return web.json_response(body, status=400)
        number = len(self.forms)
        given: dict[str, Any] = {"access_token": f"access-{number}", "expires_in": 3600}
        if self.rotates:
            self.refresh_token = given["refresh_token"] = f"refresh-{number + 1}"
        return web.json_response(given)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/token"


@pytest.fixture
async def endpoint() -> AsyncIterator[TokenEndpoint]:
    fake = TokenEndpoint()
    application = web.Application()
    application.router.add_post("/token", fake.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.port = runner.addresses[0][1]
    yield fake
    await runner.cleanup()


class Clock:
    at = 1000.0

    def __call__(self) -> float:
        return self.at


def oauth(endpoint: TokenEndpoint, refresh_token: str = "refresh-1") -> OAuthSettings:
    given = {
        "RAILPOST_OAUTH_TOKEN_URL": endpoint.url,
        "RAILPOST_OAUTH_CLIENT_ID": "client",
        "RAILPOST_OAUTH_CLIENT_SECRET": "s3cret",
        "RAILPOST_OAUTH_REFRESH_TOKEN": refresh_token,
        "RAILPOST_OAUTH_SCOPE": "mail.read",
    }
    settings = parse_settings(given).oauth
    assert settings is not None
    return settings


async def test_a_token_is_kept_until_shortly_before_its_end(endpoint: TokenEndpoint, tmp_path: Path) -> None:
    clock = Clock()
    tokens = RefreshedTokens(oauth(endpoint), tmp_path, clock)
    assert [await tokens.token(), await tokens.token()] == ["access-1", "access-1"]
    assert endpoint.forms == [
        {
            "grant_type": "refresh_token", "refresh_token": "refresh-1", "client_id": "client",
            "client_secret": "s3cret", "scope": "mail.read",
        }
    ]  # fmt: skip
    clock.at += 3600 - 120
    assert await tokens.token() == "access-2"
    tokens.forget()
    assert await tokens.token() == "access-3"


async def test_a_refresh_token_that_the_disk_does_not_take_is_used_and_written_later(
    endpoint: TokenEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    tokens = RefreshedTokens(oauth(endpoint), tmp_path)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("bot.email.oauth.write_whole", full)
        assert await tokens.token() == "access-1"
        tokens.forget()
        assert await tokens.token() == "access-2"
    assert "mail-refresh-token cannot be written: No space left on device." in caplog.text
    assert await tokens.token() == "access-2"
    assert await RefreshedTokens(oauth(endpoint), tmp_path).token() == "access-3"


async def test_a_refresh_token_that_is_replaced_survives_a_restart(
    endpoint: TokenEndpoint, tmp_path: Path
) -> None:
    await RefreshedTokens(oauth(endpoint), tmp_path).token()
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert await RefreshedTokens(oauth(endpoint), tmp_path).token() == "access-2"
    endpoint.refresh_token = "anew"
    assert await RefreshedTokens(oauth(endpoint, "anew"), tmp_path).token() == "access-3", "the operator's"


@pytest.mark.parametrize(
    ("response", "said", "refused"),
    [
        (web.json_response({"error": "invalid_grant"}, status=400), "invalid_grant", True),
        (web.Response(text="<html>", status=502), "cannot be used", False),
        (web.json_response({}, status=503), "HTTP 503", False),
    ],
)
async def test_why_there_is_no_token(
    endpoint: TokenEndpoint, tmp_path: Path, response: web.Response, said: str, refused: bool
) -> None:
    endpoint.answers = [response]
    with pytest.raises(TokenUnavailable, match=said) as caught:
        await RefreshedTokens(oauth(endpoint), tmp_path).token()
    assert caught.value.is_refused == refused
    for secret in ("refresh-1", "s3cret"):
        assert secret not in str(caught.value)


async def test_the_mailbox_is_opened_with_a_token(endpoint: TokenEndpoint, tmp_path: Path) -> None:
    tokens = RefreshedTokens(oauth(endpoint), tmp_path)
    async with fake_imap() as server:
        account = replace(server.account, tokens=tokens)
        server.token = "access-1"
        await (await ImapConnection.open(account, 10.0)).close()
        server.token = "access-2"  # the provider has ended the first one
        with pytest.raises(LoginRefused, match=r"refused to log play@games\.test in"):
            await ImapConnection.open(account, 10.0)
        await (await ImapConnection.open(account, 10.0)).close()
        assert len(endpoint.forms) == 2
        tokens.forget()
        endpoint.answers = [web.json_response({"error": "invalid_grant"}, status=400)]
        with pytest.raises(LoginRefused, match="RAILPOST_OAUTH_REFRESH_TOKEN"):
            await ImapConnection.open(account, 10.0)
        endpoint.answers = [web.Response(status=502)]
        with pytest.raises(ConnectionLost, match="token endpoint cannot be used"):
            await ImapConnection.open(account, 10.0)


@asynccontextmanager
async def token_smtp(tokens: set[str]) -> AsyncIterator[SmtpCatcher]:
    """An SMTP server that takes these access tokens and no password."""

    async def auth_xoauth2(server: SMTP, args: list[str]) -> AuthResult:
        said = base64.b64decode(args[1]).decode()
        if said in {f"user={USER}\1auth=Bearer {token}\1\1" for token in tokens}:
            return AuthResult(success=True, auth_data=USER)
        await server.push("334 " + base64.b64encode(b'{"status":"400"}').decode())
        assert server._reader is not None and (await server._reader.readline()).strip() == b""
        return AuthResult(success=False, handled=False)

    async with smtp_server(login=("x", "y")) as player:
        player.auth_XOAUTH2 = auth_xoauth2  # type: ignore[attr-defined]
        yield player


async def test_emails_are_sent_with_a_token(
    endpoint: TokenEndpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = RefreshedTokens(oauth(endpoint), tmp_path)
    async with token_smtp({"access-2"}) as player:
        account = replace(player.account, user=USER, tokens=tokens)
        with pytest.raises(aiosmtplib.SMTPAuthenticationError):
            await connect(account, 10.0)
        smtp = await connect(account, 10.0)
        await smtp.sendmail(USER, ["ann@player.test"], b"Subject: x\r\n\r\nx\r\n")
        await smtp.quit()
        assert len(player.emails) == 1
    ours = [each.getMessage() for each in caplog.records if each.name.startswith(("bot.", "aiosmtplib"))]
    assert "access-2" not in "".join(ours)


def test_settings(tmp_path: Path) -> None:
    """A server with a user and no password logs in with tokens; an incomplete set is refused."""
    servers = {
        "RAILPOST_IMAP": "imaps://play%40games.test@mail.test",
        "RAILPOST_SMTP": "smtps://play%40games.test:secret@mail.test",
    }
    given = {
        "RAILPOST_OAUTH_TOKEN_URL": "https://login.test/token",
        "RAILPOST_OAUTH_CLIENT_ID": "client",
        "RAILPOST_OAUTH_REFRESH_TOKEN": "sEcrEt",
    }
    mail = parse_settings(servers | given).mail
    assert mail is not None and mail.oauth is not None and "sEcrEt" not in repr(mail)
    tokens = RefreshedTokens(mail.oauth, tmp_path)
    assert mail_account(mail.imap, tokens).tokens is tokens and mail_account(mail.smtp, tokens).tokens is None
    with pytest.raises(SettingsError, match="a user but no password"):
        parse_settings(servers)
    for alone in (*given, "RAILPOST_OAUTH_CLIENT_SECRET", "RAILPOST_OAUTH_SCOPE"):
        with pytest.raises(SettingsError, match="are needed together"):
            parse_settings(servers | {alone: given.get(alone, "x")})
    with pytest.raises(SettingsError, match="unencrypted"):
        parse_settings(servers | given | {"RAILPOST_OAUTH_TOKEN_URL": "http://login.test/token"})
