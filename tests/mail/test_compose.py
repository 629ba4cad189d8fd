"""Emails as they leave: headers, parts, and what hostile words cannot do to them."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default

import pytest

from bot.email.pages import answer_pages, refusal_pages
from bot.email.pages.notice_pages import announcement, mail_page
from bot.email.pages.turn_pages import turn_notice
from bot.hub.feature import Answer, Page
from mail.composing.compose import OutgoingMail, compose, readdressed, safe_line
from mail.composing.page import (
    BulletList,
    CopyableLines,
    ImageBlock,
    InlineImage,
    MailPage,
    Paragraph,
    PositionBlock,
    Preformatted,
    QuotedLines,
    TableRows,
)
from mail.reading.html_text import visible_text
from mail.reading.quotes import DELIMITER
from mail.reply_address import ReplyToken, hash_token
from tests.mail.mail_desk import POST
from tests.mail.reply_corpus import read_text

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
TOKEN = ReplyToken(
    "reply", "ann@player.test", frozenset({"ann@player.test"}), "Table 17", "17", "s1.0",
    table_id=17, seat_number=1,
)  # fmt: skip
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
EVIL = "x\r\nBcc: victim@elsewhere.test\r\n\r\n"
EVIL += '<script>alert(1)</script><img src=http://evil.test/x.png> "q" \u202e\0'


def parsed(email: OutgoingMail) -> EmailMessage:
    message = BytesParser(policy=default).parsebytes(email.raw)
    assert isinstance(message, EmailMessage)
    return message


def part(email: OutgoingMail, subtype: str) -> str:
    body = parsed(email).get_body((subtype,))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def composed(page: MailPage, sealed: ReplyToken = TOKEN, parent: str | None = None) -> OutgoingMail:
    return compose(POST, page, sealed, NOW, "test", parent=parent)


def notice(chat: tuple[tuple[str, str], ...] = (), sealed: ReplyToken = TOKEN) -> OutgoingMail:
    """The email that asks a seat for its decision."""
    cash = TableRows(
        ("player", "cash"), (("Ann", "$600"), ("Bob", "$70")), ("Ann  $600", "Bob   $70"), (False, True)
    )
    page = turn_notice(
        "It is your turn, Ann.",
        prompt="Buy a private company, bid on one, or pass.",
        legal_lines=("buy SV", "bid CA 165", "pass"),
        events_since=("Bob passed.", *(f"{who} says: {words}" for who, words in chat)),
        position=("opening", cash),
        images=(InlineImage("map", PNG, "The map: nothing is built.", 560),),
    )
    return composed(page, sealed)


def test_headers_of_a_notice() -> None:
    email = notice()
    message = parsed(email)
    assert message["From"] == "Table 17 <play@games.test>"
    assert message["To"] == "ann@player.test"
    assert message["Subject"] == "[Table 17] Your turn"
    assert message["Auto-Submitted"] == "auto-generated" and message["X-Auto-Response-Suppress"] == "All"
    assert message["List-Id"] == "<t17.games.test>" and message["X-Loop"] == "games.test"
    assert message["Message-ID"] == email.message_id and POST.is_own_message_id(email.message_id)
    assert "Precedence" not in message and "Bcc" not in message
    tokens = {
        "reply": POST.find_tokens([message["Reply-To"]]),
        "bounce": POST.find_tokens([email.envelope_sender]),
        "unsubscribe": POST.find_tokens([message["List-Unsubscribe"]]),
    }
    issued = {hash_token(token): purpose for purpose, (token,) in tokens.items()}
    assert {issued.token_hash: issued.token.purpose for issued in email.issued_tokens} == issued
    assert email.issued_tokens[0].token.decision_id == "s1.0"


def test_parts_of_a_notice() -> None:
    email = notice()
    kinds = [piece.get_content_type() for piece in parsed(email).walk()]
    assert kinds == ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"]
    picture = list(parsed(email).walk())[-1]
    assert picture.get_content() == PNG and picture.get_content_disposition() == "inline"
    assert f'src="cid:{picture["Content-ID"].strip("<>")}"' in part(email, "html")
    assert 'width="560"' in part(email, "html") and 'alt="The map: nothing is built."' in part(email, "html")
    for subtype in ("plain", "html"):
        assert DELIMITER in part(email, subtype)
        for words in ("It is your turn, Ann.", "bid CA 165", "Bob passed.", "opening"):
            assert words in part(email, subtype)
    assert part(email, "plain").startswith(DELIMITER)
    assert "\nbuy SV\nbid CA 165\npass\n" in part(email, "plain")
    assert "    Ann  $600\n    Bob   $70\n" in part(email, "plain")
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", part(email, "html"))
    assert cells == ["player", "cash", "Ann", "$600", "Bob", "$70"]


def test_a_wide_table_is_lines_in_html() -> None:
    """A table of more than six columns would be cut on a phone; what a row does not have is left out."""
    head = ("company", "price", "president", "treasury", "ipo%", "trains", "privates")
    rows = TableRows(head, (("PRR", "$40", "Dan", "$326", "10", "3 3", "-"),), ("PRR",), [False] * 7)
    html = part(composed(MailPage("x", (PositionBlock("The position", (rows,)),))), "html")
    line = re.sub(r"<[^>]*>", "", html.split("<h2")[1].split("</div>")[0]).split("\n")[-1]
    assert line == "PRR · price $40 · president Dan · treasury $326 · ipo% 10 · trains 3 3"


def test_lines_on_the_wire() -> None:
    email = notice(chat=(("Ann", "é" * 2_000),))
    assert b"\n" not in email.raw.replace(b"\r\n", b"") and email.raw.isascii()
    body = email.raw.partition(b"\r\n\r\n")[2]
    assert max(len(line) for line in body.split(b"\r\n")) <= 78


@pytest.mark.parametrize("length", [60, 87, 200])
def test_long_ids_stay_whole(length: int) -> None:
    """The standard library would make encoded words of them, and mailers would not thread the email."""
    parent = f"<{'A' * length}@eurprd01.prod.exchangelabs.test>"
    email = composed(answer_pages.confirmation("x"), parent=parent)
    assert f"\r\nIn-Reply-To: {parent}\r\n".encode() in email.raw
    assert f" {parent}\r\n".encode() in email.raw and b"=?" not in email.raw.partition(b"\r\n\r\n")[0]
    assert parsed(email)["Subject"].startswith("Re: ") and parsed(email)["Auto-Submitted"] == "auto-replied"


@pytest.mark.parametrize("parent", ["<a b@c>", "x", "<a@b>\r\nBcc: v@e.test", "<é@b>", ""])
def test_foreign_ids_cannot_break_headers(parent: str) -> None:
    email = composed(answer_pages.confirmation("x"), parent=parent)
    assert parsed(email)["Bcc"] is None and POST.is_own_message_id(parsed(email)["References"].split()[0])


def test_one_table_is_one_thread() -> None:
    first, second, other = notice(), notice(), notice(sealed=replace(TOKEN, table_code="18"))
    assert parsed(first)["References"] == parsed(second)["References"] != parsed(other)["References"]


def test_c21_hostile_names_poison_nothing() -> None:
    sealed = replace(TOKEN, table_label=EVIL, table_code=EVIL)
    page = MailPage(
        EVIL,
        (Paragraph(EVIL), BulletList(EVIL, [EVIL]), CopyableLines(EVIL, [EVIL]), QuotedLines(EVIL, [EVIL])),
        EVIL,
    )
    email = composed(page, sealed)
    message = parsed(email)
    assert message["Bcc"] is None and message.defects == []
    assert message["From"].addresses[0].addr_spec == "play@games.test"
    for line in part(email, "plain").split("\n"):
        assert not line.startswith("Bcc")


def test_c24_nothing_of_a_player_is_markup() -> None:
    html = part(notice(chat=(("Bob", EVIL),)), "html")
    assert "<script" not in html and "<img src=http" not in html and "&lt;script&gt;" in html
    assert "http://" not in html.replace("src=http://evil.test/x.png&gt;", "") and "https://" not in html
    text = part(notice(chat=(("Bob", "<b>&amp;</b>"),)), "plain")
    assert "Bob says: <b>&amp;</b>" in text  # no escaping in text


def test_c15_what_people_write_is_never_bare() -> None:
    hostile = "x\nsell 2 B\u2028sell 3 C\x0bsell 4 D"
    quoted = composed(MailPage("x", (QuotedLines("You wrote", [f"sell 1 A {hostile}"]),)))
    for subtype in ("plain", "html"):
        words = part(quoted, subtype).replace("<div>", "\n")
        assert [line for line in words.splitlines() if "sell" in line and not line.startswith("| ")] == []
    talk = part(notice(chat=(("sell 1 A", hostile),)), "plain").splitlines()
    assert [line for line in talk if "sell" in line] == ["  * sell 1 A says: x sell 2 B sell 3 C sell 4 D"]


def test_pictures_that_are_too_big_are_left_out() -> None:
    big = InlineImage("map", PNG + b"\0" * 600_000, "The map.", 560)
    page = MailPage("x", (ImageBlock(big), ImageBlock(replace(big, name="market", alt="The market."))))
    email = composed(page)
    assert [p.get_filename() for p in parsed(email).walk() if p.get_content_type() == "image/png"] == [
        "map.png"
    ]
    for subtype in ("plain", "html"):
        assert "too big for an email: The market." in part(email, subtype)


def test_long_lists_are_cut() -> None:
    email = composed(MailPage("x", (BulletList("Many", [f"item {n}" for n in range(100)]),)))
    assert "item 59" in part(email, "plain") and "item 60" not in part(email, "plain")
    assert "… and 40 more" in part(email, "plain")
    page = MailPage("x", (Preformatted("The log", "\n".join(f"row {n}" for n in range(1_000))),))
    assert "row 199\n    … and 800 more lines" in part(composed(page), "plain")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError):
        composed(answer_pages.confirmation("x"), replace(TOKEN, address="a@b.test, c@d.test"))


@pytest.mark.parametrize("address", ["bob@player.test", f"{'x' * 60}bob@{'y' * 60}.player.test"])
def test_an_email_to_another_address_differs_in_that_alone(address: str) -> None:
    sent = composed(MailPage("Hi", (Paragraph("To: nobody"),)), replace(TOKEN, address=address))
    assert parsed(sent)["To"] == address
    moved = readdressed(sent.raw, "ann@player.test")
    assert BytesParser(policy=default).parsebytes(moved)["To"] == "ann@player.test"
    assert readdressed(moved, address) == sent.raw and readdressed(moved, "ann@player.test") is moved


def test_line_of() -> None:
    assert safe_line(EVIL, 20) == "x Bcc: victim@elsew…"
    assert safe_line("a\u2028b\tc\u00a0d") == "a b c d"


INVITATION = mail_page(
    Page(
        "Ann invites you to a game.", ["Ann keeps a seat for you."], yes=Answer("To join", "join"),
        no=Answer("To decline", "leave"), invites=True,
    )
)  # fmt: skip

PAGES = {
    "notice": turn_notice("It is your turn, Ann.", "Buy.", ("pass",), more=("Sunday",)),
    "news": announcement("It is over.", ["Ann wins."]),
    "ambiguous": refusal_pages.AMBIGUOUS_RECIPIENT,
    "wrong sender": refusal_pages.wrong_sender(["buy SV"], "abcd2345"),
    "wrong sender, nothing held": refusal_pages.wrong_sender([], None),
    "forged": refusal_pages.FAILED_AUTHENTICATION,
    "sure": refusal_pages.confirm_lines(["resign"], "You give up your seat.", "abcd2345"),
    "unknown code": refusal_pages.UNKNOWN_CODE,
    "yes or no": refusal_pages.expects_yes_or_no("link"),
    "link": answer_pages.question("link", "Ann"),
    "invitation": INVITATION,
    "gathered": answer_pages.gathered_answers(["OK.", "Bob to act."]),
    "alone": refusal_pages.must_be_alone("stop"),
    "stopped": answer_pages.confirmation("No more emails will come."),
}


@pytest.mark.parametrize("name", PAGES)
def test_every_mail_is_complete_in_both_forms(name: str) -> None:
    email = composed(PAGES[name])
    assert PAGES[name].headline in part(email, "plain")
    assert read_text(part(email, "plain")).lines == ()
    for block in PAGES[name].blocks:
        if isinstance(block, Paragraph):
            assert block.text in part(email, "plain")


@pytest.mark.parametrize("length", [40, 60, 62, 70])
def test_a_subject_begins_on_its_first_line(length: int) -> None:
    """The library would leave `Subject:` empty, and the subject would begin with a space."""
    subject = "News: Ann gets no more emails and cannot be reached otherwise, for now"[:length].strip()
    email = composed(MailPage("x", (), subject=subject))
    assert str(parsed(email)["Subject"]) == f"[Table 17] {subject}"
    assert not re.search(rb"(?m)^[A-Za-z-]+: *\r?$", email.raw.partition(b"\r\n\r\n")[0])


# --- on a phone ---


def test_each_line_is_a_link_that_writes_it() -> None:
    page = MailPage(
        "It is your turn.",
        (
            Paragraph("You to act: run."),
            CopyableLines("Lines", ["bid CA 165   # or more, up to $800", "run best; pay; pass"]),
        ),
    )
    email = composed(page)
    reply_to = str(parsed(email)["Reply-To"])
    html = part(email, "html")
    assert f'href="mailto:{reply_to}?subject=bid%20CA%20165&amp;body=bid%20CA%20165%0D%0A"' in html
    assert "body=run%20best%0D%0Apay%0D%0Apass%0D%0A" in html and "or more, up to $800" in html


def test_the_preview_is_hidden_and_says_what_to_do() -> None:
    page = MailPage("Good morning.", (Paragraph("You to act: lay track for the PRR."),))
    html = part(composed(page), "html")
    hidden = html.partition('<div style="display:none')[2].partition("</div>")[0]
    assert hidden.endswith("You to act: lay track for the PRR.")
    assert html.index(hidden) < html.index(DELIMITER) and hidden not in visible_text(html).splitlines()[0]
    assert "prefers-color-scheme: dark" in html


def test_no_word_is_wider_than_a_phone() -> None:
    """A reply address in a heading, a market in text."""
    page = MailPage("x", (CopyableLines(f"Write to play+{'a' * 26}@games.test", ["pass"]),))
    assert 'class="page" style="max-width:640px;padding:4px 12px 16px;overflow-wrap:anywhere"' in part(
        composed(page), "html"
    )
    market = Preformatted("market", "   ".join(str(price) for price in range(60, 80)))
    assert market.is_wide and "white-space:pre;" in part(composed(MailPage("x", (market,))), "html")
    help_text = Preformatted("help", "  status               players, companies and who is to act")
    assert not help_text.is_wide


def test_words_between_backticks_are_code_in_fixed_width_too() -> None:
    order = Preformatted("auto pass", "Order 1: `auto pass` <b>")
    assert "Order 1: <code>auto pass</code> &lt;b&gt;" in part(composed(MailPage("x", (order,))), "html")


@pytest.mark.parametrize("many", [False, True])
def test_the_map_stands_before_a_long_list_of_lines(many: bool) -> None:
    lines = tuple(f"lay 57 H{number} 0" for number in range(12 if many else 3))
    images = tuple(InlineImage(name, PNG, f"The {name}.", 560) for name in ("map", "market"))
    notice = turn_notice(
        "It is your turn, Ann.", "You to act: lay track.", lines, ("Bob passes.",), images=images
    )
    text = part(composed(notice), "plain")
    places = {text.index("[Picture: The map.]"): "map", text.index("[Picture: The market.]"): "market"}
    places |= {text.index("For example"): "lines", text.index("Since your last turn"): "events"}
    order = [places[at] for at in sorted(places)]
    assert order == (["map", "lines", "events", "market"] if many else ["lines", "events", "map", "market"])


def test_the_whole_turn_at_once_says_that_it_lays_nothing() -> None:
    for lays_nothing, title in ((True, "The whole turn at once; it lays nothing"), (False, "at once\n")):
        notice = turn_notice(
            "It is your turn, Ann.",
            "You to act.",
            ("pass",),
            (),
            whole_turns=("run best; pay; pass",),
            lays_nothing=lays_nothing,
        )
        text = part(composed(notice), "plain")
        assert title in text and "run best; pay; pass" in text
