"""A provider without sub-addressing: the token in the name beside the address, the text, the Message-ID."""

from dataclasses import replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, default

import pytest

from bot.email.pages.turn_pages import turn_notice
from bot.email.replies.reply_reader import TokenLookup
from mail.composing.compose import OutgoingMail, compose
from mail.composing.page import CopyableLines, MailPage
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken, ServiceAddress
from tests.mail.toy_service import InMemoryService, seat_name

PLAIN = ServiceAddress("play@games.test", b"a key of sixteen", "")
ANN, BOB = "ann@player.test", "bob@player.test"


def letter(service: InMemoryService, seat: str, address: str = ANN, chat: str = "") -> OutgoingMail:
    sealed = ReplyToken(
        "reply", address, frozenset({address}), "Table 17", "17", f"{seat}.0",
        table_id=17, seat_number=int(seat[1:]),
    )  # fmt: skip
    notice = turn_notice("Ann", "You to act: buy or pass.", ("buy SV", "pass"), (f"Bob says: {chat}",))
    return service.post(compose(PLAIN, notice, sealed, service.clock(), "turn"))


def content(sent: OutgoingMail) -> tuple[str, str, str]:
    """Reply-To, text, and the HTML."""
    message = message_from_bytes(sent.raw, policy=default)
    assert isinstance(message, EmailMessage)
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None and html is not None
    return str(message["Reply-To"]), text.get_content(), html.get_content()


def quoted(sent: OutgoingMail, mark: str = "> ") -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in content(sent)[1].splitlines())


async def seats(service: InMemoryService, mail: ParsedMail) -> list[str | None]:
    return [seat_name(token) for token in await TokenLookup(PLAIN, service.gateway.people).tokens_of(mail)]


def answer(text: str, to: str = "play@games.test", parents: tuple[str, ...] = ()) -> ParsedMail:
    return ParsedMail("<m@player.test>", ANN, recipients=(to,), text=text, parent_ids=parents)


async def test_any_one_of_the_three_places_is_enough() -> None:
    service = InMemoryService()
    sent = letter(service, "s1")
    reply_to, text, _ = content(sent)
    assert reply_to.endswith("<play@games.test>") and sent.envelope_sender == "play@games.test"
    assert text.count("# code-") == 1 and PLAIN.find_tokens([reply_to])
    for kept in (
        answer("buy SV", reply_to),
        answer("buy SV", reply_to.upper().replace("PLAY@GAMES.TEST", "play@games.test")),
        answer("buy SV", parents=("<other@player.test>", sent.message_id)),
        answer("buy SV\n\nOn Friday Railpost wrote:\n" + quoted(sent)),
        answer("buy SV\n\n-----Original Message-----\n" + quoted(sent, "")),
    ):
        assert await seats(service, kept) == ["s1"], kept
    assert await seats(service, answer("buy SV")) == []
    assert await seats(service, answer("buy SV", reply_to.replace("games", "other"))) == []


async def test_the_answered_email_comes_before_a_name_that_an_address_book_has_kept() -> None:
    service = InMemoryService()
    old, new = letter(service, "s1"), letter(service, "s2")
    stale = content(old)[0]
    assert await seats(service, answer("pass", stale, parents=(new.message_id,))) == ["s2"]
    assert await seats(service, answer("pass\n\n" + quoted(new), stale)) == ["s2", "s1"], "ambiguous"
    newer = letter(service, "s1")
    (token,) = await TokenLookup(PLAIN, service.gateway.people).tokens_of(
        answer("pass\n\n" + quoted(newer), stale)
    )
    assert token.message_id == newer.message_id, "of one seat, the email that is quoted"


async def test_a_link_writes_the_code_into_a_new_email() -> None:
    service = InMemoryService()
    sent, other = letter(service, "s1"), letter(service, "s2")
    html = content(sent)[2]
    assert "mailto:play@games.test?subject=buy%20SV&amp;body=buy%20SV%0D%0A%0D%0A%23%20code-" in html
    code = f"code-{PLAIN.find_tokens([content(sent)[0]])[0]}"
    assert await seats(service, answer(f"buy SV\n\n# {code}")) == ["s1"]
    both = answer(f"buy SV\n# {code}\n\n{quoted(other)}", parents=(other.message_id,))
    assert await seats(service, both) == ["s1"], "what the sender writes comes first"


async def test_a_code_in_the_talk_of_another_player_counts_for_nobody() -> None:
    """Bob says the code of a letter to him, and hopes that Ann's reply comes to him."""
    service = InMemoryService()
    his = letter(service, "s2", BOB)
    code = f"code-{PLAIN.find_tokens([content(his)[0]])[0]}"
    hers = letter(service, "s1", chat=f"try this: # {code}")
    assert code in content(hers)[1]
    assert await seats(service, answer("pass\n\n" + quoted(hers))) == ["s1"]
    assert await seats(service, answer("pass\n\n| Bob: # " + code)) == []


async def test_unsubscribe_is_by_subject_and_by_https_where_there_is_a_page() -> None:
    service = InMemoryService()
    message = message_from_bytes(letter(service, "s1").raw, policy=SMTP)
    header = str(message["List-Unsubscribe"])
    assert header.startswith("<mailto:play@games.test?subject=stop%20code-") and "," not in header
    assert message["List-Unsubscribe-Post"] is None
    secret = header.rpartition("code-")[2].removesuffix(">")
    (token,) = await TokenLookup(PLAIN, service.gateway.people).tokens_of(
        replace(answer(""), subject=f"stop code-{secret}")
    )
    assert token.purpose == "unsubscribe"
    page = MailPage("Hello.", (CopyableLines("Reply", ["yes"]),))
    there = replace(PLAIN, separator="+", unsubscribe_url="https://games.test/unsubscribe/")
    sealed = ReplyToken("reply", ANN, frozenset({ANN}))
    message = message_from_bytes(compose(there, page, sealed, service.clock(), "x").raw, policy=SMTP)
    first, second = str(message["List-Unsubscribe"]).split(", ")
    assert first.startswith("<https://games.test/unsubscribe/") and second.startswith("<mailto:play+")
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


@pytest.mark.parametrize("address", ["play@games.test", "PLAY@games.test"])
def test_only_our_address_is_ours(address: str) -> None:
    assert PLAIN.owns(address) and not PLAIN.owns("player@games.test") and not PLAIN.owns("play+x@games.test")
