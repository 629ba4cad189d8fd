"""A provider without sub-addressing: the token in the name beside the address, the text, the Message-ID."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.email.tokens import TokenLookup
from mail.composing.compose import compose
from mail.composing.page import CopyableLines, MailPage
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken
from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.mail_desk import ADDRESS, ANN, BOB, POST, MailDesk, mail_desk
from tests.mail.servers import Delivery

PLAIN = replace(POST, separator="")
ONE, TWO = 1, 2  # the tables


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[MailDesk]:
    """Two tables of Ann and Bob; each has an email about each."""
    with OnePixelPictures() as pictures:
        async with mail_desk(tmp_path, pictures, address=PLAIN) as desk:
            for name in ("One", "Two"):
                await desk.table("1830", ["Ann", "Bob"], name)
            await desk.take()
            yield desk


def email(desk: MailDesk, table: str, to: str = ANN) -> Delivery:
    """The newest email to somebody about a table."""
    return [each for each in desk.emails if each.recipients == (to,) and table in each.message["Subject"]][-1]


def reply_to(sent: Delivery) -> str:
    return str(sent.message["Reply-To"])


def code_of(sent: Delivery) -> str:
    return f"code-{PLAIN.find_tokens([reply_to(sent)])[0]}"


def id_of(sent: Delivery) -> str:
    return str(sent.message["Message-ID"])


def quoted(sent: Delivery, mark: str = "> ") -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in sent.text.splitlines())


async def tokens(desk: MailDesk, mail: ParsedMail) -> list[ReplyToken]:
    return await TokenLookup(desk.service, PLAIN).tokens_of(mail)


async def tables(desk: MailDesk, mail: ParsedMail) -> list[int | None]:
    return [token.table_id for token in await tokens(desk, mail)]


def answer(text: str, to: str = ADDRESS, parents: tuple[str, ...] = ()) -> ParsedMail:
    return ParsedMail("<m@player.test>", ANN, recipients=(to,), text=text, parent_ids=parents)


async def test_any_one_of_the_three_places_is_enough(desk: MailDesk) -> None:
    sent = email(desk, "One")
    to = reply_to(sent)
    assert to.endswith(f"<{ADDRESS}>") and sent.sender == ADDRESS
    assert sent.text.count("# code-") == 1 and PLAIN.find_tokens([to])
    for kept in (
        answer("buy SV", to),
        answer("buy SV", to.upper().replace(ADDRESS.upper(), ADDRESS)),
        answer("buy SV", parents=("<other@player.test>", id_of(sent))),
        answer("buy SV\n\nOn Friday Railpost wrote:\n" + quoted(sent)),
        answer("buy SV\n\n-----Original Message-----\n" + quoted(sent, "")),
    ):
        assert await tables(desk, kept) == [ONE], kept
    assert await tables(desk, answer("buy SV")) == []
    assert await tables(desk, answer("buy SV", to.replace("games", "other"))) == []


async def test_the_answered_email_comes_before_a_name_that_an_address_book_has_kept(desk: MailDesk) -> None:
    old, new = email(desk, "One"), email(desk, "Two")
    stale = reply_to(old)
    assert await tables(desk, answer("pass", stale, parents=(id_of(new),))) == [TWO]
    assert await tables(desk, answer("pass\n\n" + quoted(new), stale)) == [TWO, ONE], "ambiguous"
    await desk.write("Ann", "turn", original=old)
    newer = email(desk, "One")
    (token,) = await tokens(desk, answer("pass\n\n" + quoted(newer), stale))
    assert token.message_id == id_of(newer) != id_of(old), "of one seat, the email that is quoted"


async def test_a_link_writes_the_code_into_a_new_email(desk: MailDesk) -> None:
    sent, other = email(desk, "One"), email(desk, "Two")
    link = f"mailto:{ADDRESS}?subject=buy%20SV&amp;body=buy%20SV%0D%0A%0D%0A%23%20code-"
    assert link in sent.part("html")
    code = code_of(sent)
    assert await tables(desk, answer(f"buy SV\n\n# {code}")) == [ONE]
    both = answer(f"buy SV\n# {code}\n\n{quoted(other)}", parents=(id_of(other),))
    assert await tables(desk, both) == [ONE], "what the sender writes comes first"


async def test_a_code_in_the_talk_of_another_player_counts_for_nobody(desk: MailDesk) -> None:
    """Bob says the code of an email to him, and hopes that Ann's reply comes to him."""
    his = email(desk, "One", BOB)
    code = code_of(his)
    await desk.write("Bob", f"say try this: {code}", original=his)
    hers = email(desk, "One")
    assert f"Bob says: try this: {code}" in " ".join(hers.text.split())
    assert await tables(desk, answer("pass\n\n" + quoted(hers))) == [ONE]
    assert await tables(desk, answer("pass\n\n| Bob: # " + code)) == []


async def test_unsubscribe_is_by_subject_and_by_https_where_there_is_a_page(desk: MailDesk) -> None:
    message = email(desk, "One").message
    header = str(message["List-Unsubscribe"])
    assert header.startswith(f"<mailto:{ADDRESS}?subject=stop%20code-") and "," not in header
    assert message["List-Unsubscribe-Post"] is None
    secret = header.rpartition("code-")[2].removesuffix(">")
    (token,) = await tokens(desk, replace(answer(""), subject=f"stop code-{secret}"))
    assert token.purpose == "unsubscribe"
    page = MailPage("Hello.", (CopyableLines("Reply", ["yes"]),))
    there = replace(POST, unsubscribe_url="https://games.test/unsubscribe/")
    sealed = ReplyToken("reply", ANN, frozenset({ANN}))
    message = Delivery("", (), compose(there, page, sealed, desk.clock[0], "x").raw).message
    first, second = str(message["List-Unsubscribe"]).split(", ")
    assert first.startswith("<https://games.test/unsubscribe/") and second.startswith("<mailto:play+")
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


@pytest.mark.parametrize("address", [ADDRESS, "PLAY@games.test"])
def test_only_our_address_is_ours(address: str) -> None:
    assert PLAIN.owns(address) and not PLAIN.owns("player@games.test") and not PLAIN.owns("play+x@games.test")
