"""Reply addresses, Message-IDs, and tokens that stay out of logs."""

import logging

import pytest

from mail.reply_address import (
    ServiceAddress,
    TokenRedactionFilter,
    hash_token,
    new_token,
    normalize_address,
    redact,
)
from tests.mail.mail_desk import POST

TOKEN = "abcdefghijklmnopqrstuvwxyz"
KEY = b"a key of sixteen"


def test_tokens_are_short_and_survive_change_of_case() -> None:
    tokens = {new_token() for _ in range(1_000)}
    assert len(tokens) == 1_000
    for token in tokens:
        assert len(token) == 26 and token == token.lower() and token.isalnum()
        assert hash_token(token) == hash_token(token.upper())
        assert POST.find_tokens([POST.reply_address(token).upper()]) == [token]
        assert len(POST.reply_address(token).partition("@")[0]) <= 64


@pytest.mark.parametrize("separator", ["+", "-", "=", "_", "."])
def test_separator(separator: str) -> None:
    post = ServiceAddress("play@games.test", KEY, separator)
    assert post.find_tokens([f"Table <{post.reply_address(TOKEN)}>"]) == [TOKEN]
    assert post.owns(post.reply_address(TOKEN)) and post.owns("PLAY@games.test")
    assert not post.owns("player@games.test") and not post.owns("play@games.test.evil.test")


@pytest.mark.parametrize(
    "value",
    [
        f"xplay+{TOKEN}@games.test",
        f"play+{TOKEN}x@games.test",
        f"play+{TOKEN[:-1]}@games.test",
        f"play+{TOKEN}@games.test.evil.test",
        f"play+{TOKEN}@evilgames.test",
        f"play+{TOKEN[:-1]}1@games.test",
        "play@games.test",
    ],
)
def test_what_is_no_reply_address(value: str) -> None:
    assert POST.find_tokens([value]) == []


def test_tokens_keep_the_order_of_the_carriers_and_are_distinct() -> None:
    other = TOKEN[::-1]
    values = [POST.reply_address(other), f"{POST.reply_address(TOKEN)}, {POST.reply_address(other)}"]
    assert POST.find_tokens(values) == [other, TOKEN]


def test_message_ids_are_known_without_a_look_up() -> None:
    made = POST.new_message_id()
    assert made != POST.new_message_id() and len(made) <= 70
    assert POST.is_own_message_id(made) and POST.is_own_message_id(made.upper())
    assert POST.new_message_id("r17") == POST.new_message_id("r17")
    assert not ServiceAddress("play@games.test", b"another key, 16 b").is_own_message_id(made)
    assert not POST.is_own_message_id(made.replace("<t.", "<t.a"))
    assert not POST.is_own_message_id("<t..@games.test>") and not POST.is_own_message_id("x" * 100_000)


@pytest.mark.parametrize(
    ("address", "key", "separator"),
    [
        ("play@games.test", b"short", "+"),
        ("play@games.test", KEY, "/"),
        ("play", KEY, "+"),
        ("a" * 40 + "@games.test", KEY, "+"),
    ],
)
def test_a_post_that_cannot_be(address: str, key: bytes, separator: str) -> None:
    with pytest.raises(ValueError):
        ServiceAddress(address, key, separator)


@pytest.mark.parametrize(
    "text",
    [
        "a@b.test, c@d.test", "", "a", "a@b", "a@b.test\r\nRCPT TO:<x@y.test>", "<a@b.test>", "a@b.test>",
        "a b@c.test", "ü@b.test", '"a"@b.test', "a@b..test", ".a@b.test", "a" * 65 + "@b.test", "a@b.test\0",
        "a@[127.0.0.1]",
    ],
)  # fmt: skip
def test_c22_addresses_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not one plain email address"):
        normalize_address(text)


@pytest.mark.parametrize("text", ["ann@player.test", " Ann.Lee+18xx@Sub.Player.test ", "o'hara@x.example"])
def test_c22_addresses_that_are_taken(text: str) -> None:
    assert normalize_address(text) == text.strip().casefold()


def test_c26_redaction() -> None:
    address = POST.reply_address(TOKEN)
    assert redact(f"to <{address}>") == "to <play+tok:…wxyz@games.test>"
    assert TOKEN not in redact(f"{TOKEN} {TOKEN.upper()}").lower()
    assert redact("incomprehensibilities and 0123456789") == "incomprehensibilities and 0123456789"


def test_c26_a_handler_with_the_filter_shows_no_token(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("mail.test")
    caplog.handler.addFilter(TokenRedactionFilter())
    try:
        log.error("sent to %s", POST.reply_address(TOKEN))
        try:
            raise ValueError(POST.reply_address(TOKEN))
        except ValueError:
            log.exception("failed")
        assert TOKEN not in caplog.text and caplog.text.count("tok:…wxyz") >= 2
    finally:
        caplog.handler.filters.clear()
