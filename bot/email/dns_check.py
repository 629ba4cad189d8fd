"""What DNS says of the sender's domain, each with a sentence on what to fix: SPF (RFC 7208), DKIM (RFC 6376)
and DMARC (RFC 7489). Other providers read these records, and take or refuse our emails by them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from email import message_from_bytes

import dns.asyncresolver
import dns.exception
import dns.resolver

TIMEOUT = 10.0  # seconds for a name

TextRecords = Callable[[str], Awaitable[list[str]]]
"""The TXT records of a name, none where there is no such name. Raises DnsUnavailable."""


class DnsUnavailable(Exception):
    """DNS does not answer."""


async def text_records(name: str) -> list[str]:
    """The TXT records of a name, from the DNS of this machine."""
    try:
        answer = await dns.asyncresolver.resolve(name, "TXT", lifetime=TIMEOUT)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as error:
        raise DnsUnavailable(str(error)) from error
    return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]


async def check_domain(address: str, letter: bytes, lookup: TextRecords = text_records) -> list[str]:
    """A sentence about each record of the domain of an address. letter: one of ours as it came back."""
    domain = address.rpartition("@")[2].casefold()
    try:
        return [await spf(domain, lookup), await dkim(domain, letter, lookup), await dmarc(domain, lookup)]
    except DnsUnavailable as error:
        return [f"DNS does not answer here ({error}), so SPF, DKIM and DMARC of {domain} were not read."]


async def spf(domain: str, lookup: TextRecords) -> str:
    """Which servers may send for the domain."""
    found = [text for text in await lookup(domain) if re.match(r"v=spf1(?: |$)", text, re.IGNORECASE)]
    if not found:
        return (
            f"SPF is missing: add a TXT record to {domain} that names the servers that send for it, such as "
            "`v=spf1 mx -all`."
        )
    if len(found) > 1:
        return f"SPF fails: {domain} has {len(found)} records that begin with v=spf1; keep one."
    words = found[0].casefold().split()
    if {"all", "+all"} & set(words):
        return f"SPF of {domain} lets everybody send for it: end the record with `-all` or `~all`."
    if not any(word.endswith("all") or word.startswith("redirect=") for word in words):
        return f"SPF of {domain} does not say what holds for other servers: end it with `-all` or `~all`."
    return f"SPF: {found[0]}"


async def dkim(domain: str, letter: bytes, lookup: TextRecords) -> str:
    """Whether letters are signed, and the key is there."""
    signatures = message_from_bytes(letter).get_all("DKIM-Signature", [])
    tags = [dict(re.findall(r"(?:^|;)\s*([a-z]+)\s*=\s*([^;]*)", str(one))) for one in signatures]
    own = next((each for each in tags if _covers(each.get("d", ""), domain)), None)
    if own is None:
        return (
            f"DKIM: the letter came back without a signature of {domain}. Your server may sign only "
            "letters to others: look at one, and if it has no DKIM-Signature, switch signing on."
        )
    name = f"{own.get('s', '').strip()}._domainkey.{own['d'].strip()}"
    keys = [text for text in await lookup(name) if re.search(r"(?:^|;)\s*p\s*=\s*[^;\s]", text)]
    if not keys:
        return f"DKIM fails: letters are signed, but {name} has no TXT record with the public key; add it."
    return f"DKIM: signed, and {name} has the key."


async def dmarc(domain: str, lookup: TextRecords) -> str:
    """What others do with emails that fail SPF and DKIM."""
    labels = domain.split(".")
    for start in range(max(len(labels) - 1, 1)):
        name = "_dmarc." + ".".join(labels[start:])
        found = [text for text in await lookup(name) if text.casefold().startswith("v=dmarc1")]
        if len(found) > 1:
            return f"DMARC fails: {name} has {len(found)} records; keep one."
        if found:
            policy = re.search(r";\s*p\s*=\s*(none|quarantine|reject)", found[0], re.IGNORECASE)
            if policy is None:
                return f"DMARC fails: the record of {name} has no policy; write `p=none`, or a stricter one."
            return f"DMARC: {found[0]}"
    return f"DMARC is missing: add a TXT record to _dmarc.{domain}, to begin with `v=DMARC1; p=none`."


def _covers(signer: str, domain: str) -> bool:
    """Whether a signature of one domain counts for another (relaxed alignment)."""
    signer = signer.strip().casefold()
    if not signer:
        return False
    return domain == signer or domain.endswith(f".{signer}") or signer.endswith(f".{domain}")
