"""`railpost check-mail` reads SPF, DKIM and DMARC, and says what to mend. No test asks a real DNS."""

from __future__ import annotations

import pytest

from bot.cli.check_mail import DnsUnavailable, check_domain

SIGNED = b"DKIM-Signature: v=1; a=rsa-sha256; d=example.org;\r\n s=mail; bh=x=; b=abc=\r\nSubject: x\r\n\r\nx"
GOOD = {
    "games.example.org": ["other=1", "v=spf1 mx -all"],
    "mail._domainkey.example.org": ["v=DKIM1; k=rsa; p=MIGf"],
    "_dmarc.example.org": ["v=DMARC1; p=none"],
}


async def told(records: dict[str, list[str]], email: bytes = SIGNED) -> list[str]:
    async def lookup(name: str) -> list[str]:
        return records.get(name, [])

    return await check_domain("play@Games.Example.org", email, lookup)


async def test_all_is_well() -> None:
    assert await told(GOOD) == [
        "SPF: v=spf1 mx -all",
        "DKIM: signed, and mail._domainkey.example.org has the key.",
        "DMARC: v=DMARC1; p=none",
    ]


@pytest.mark.parametrize(
    ("number", "name", "records", "said"),
    [
        (0, "games.example.org", [], "SPF is missing: add a TXT record to games.example.org"),
        (0, "games.example.org", ["v=spf1 mx -all", "v=spf1 a -all"], "has 2 records"),
        (0, "games.example.org", ["v=spf1 +all"], "lets everybody send"),
        (0, "games.example.org", ["v=spf1 mx"], "end it with `-all`"),
        (0, "games.example.org", ["v=spf10 -all"], "SPF is missing"),
        (1, "mail._domainkey.example.org", [], "DKIM fails: emails are signed, but mail._domainkey"),
        (1, "mail._domainkey.example.org", ["v=DKIM1; p="], "has no TXT record with the public key"),
        (2, "_dmarc.example.org", [], "DMARC is missing: add a TXT record to _dmarc.games.example.org"),
        (2, "_dmarc.example.org", ["v=DMARC1; rua=mailto:x@example.org"], "has no policy"),
        (2, "_dmarc.games.example.org", ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "has 2 records"),
    ],
)
async def test_each_fault_has_a_sentence(number: int, name: str, records: list[str], said: str) -> None:
    assert said in (await told(GOOD | {name: records}))[number]


@pytest.mark.parametrize("email", [b"Subject: x\r\n\r\nx", SIGNED.replace(b"example.org", b"other.org")])
async def test_an_email_without_our_signature(email: bytes) -> None:
    assert "without a signature of games.example.org" in (await told(GOOD, email))[1]


async def test_without_dns_it_says_so() -> None:
    async def lookup(name: str) -> list[str]:
        raise DnsUnavailable("timed out")

    (sentence,) = await check_domain("play@games.example.org", SIGNED, lookup)
    assert sentence.startswith("DNS does not answer here (timed out)")
