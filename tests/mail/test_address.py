"""Reply addresses, Message-IDs, and tokens that stay out of logs."""

import logging

import pytest

from mail.address import Post, Redaction, addr_spec, new_token, redact, token_sha
from tests.mail.desks import POST

TOKEN = "abcdefghijklmnopqrstuvwxyz"
KEY = b"a key of sixteen"


def test_tokens_are_short_and_survive_change_of_case() -> None:
    tokens = {new_token() for _ in range(1_000)}
    assert len(tokens) == 1_000
    for token in tokens:
        assert len(token) == 26 and token == token.lower() and token.isalnum()
        assert token_sha(token) == token_sha(token.upper())
        assert POST.tokens([POST.with_token(token).upper()]) == [token]
        assert len(POST.with_token(token).partition("@")[0]) <= 64


@pytest.mark.parametrize("separator", ["+", "-", "=", "_", "."])
def test_separator(separator: str) -> None:
    post = Post("play@games.test", KEY, separator)
    assert post.tokens([f"Table <{post.with_token(TOKEN)}>"]) == [TOKEN]
    assert post.owns(post.with_token(TOKEN)) and post.owns("PLAY@games.test")
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
    assert POST.tokens([value]) == []


def test_tokens_keep_the_order_of_the_carriers_and_are_distinct() -> None:
    other = TOKEN[::-1]
    values = [POST.with_token(other), f"{POST.with_token(TOKEN)}, {POST.with_token(other)}"]
    assert POST.tokens(values) == [other, TOKEN]


def test_message_ids_are_known_without_a_look_up() -> None:
    made = POST.message_id()
    assert made != POST.message_id() and len(made) <= 70
    assert POST.issued(made) and POST.issued(made.upper())
    assert POST.message_id("r17") == POST.message_id("r17")
    assert not Post("play@games.test", b"another key, 16 b").issued(made)
    assert not POST.issued(made.replace("<t.", "<t.a"))
    assert not POST.issued("<t..@games.test>") and not POST.issued("x" * 100_000)


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
        Post(address, key, separator)


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
        addr_spec(text)


@pytest.mark.parametrize("text", ["ann@player.test", " Ann.Lee+18xx@Sub.Player.test ", "o'hara@x.example"])
def test_c22_addresses_that_are_taken(text: str) -> None:
    assert addr_spec(text) == text.strip().casefold()


def test_c26_redaction() -> None:
    address = POST.with_token(TOKEN)
    assert redact(f"to <{address}>") == "to <play+tok:…wxyz@games.test>"
    assert TOKEN not in redact(f"{TOKEN} {TOKEN.upper()}").lower()
    assert redact("incomprehensibilities and 0123456789") == "incomprehensibilities and 0123456789"


def test_c26_a_handler_with_the_filter_shows_no_token(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("mail.test")
    caplog.handler.addFilter(Redaction())
    try:
        log.error("sent to %s", POST.with_token(TOKEN))
        try:
            raise ValueError(POST.with_token(TOKEN))
        except ValueError:
            log.exception("failed")
        assert TOKEN not in caplog.text and caplog.text.count("tok:…wxyz") >= 2
    finally:
        caplog.handler.filters.clear()
