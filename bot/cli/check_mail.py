"""`railpost check-mail`: logs in, names the folders, and sends an email through a reply address and
finds it again. Then it reads what DNS says of the sender's domain.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from email import message_from_bytes
from email.message import EmailMessage
from typing import Annotated

import aiosmtplib
import dns.asyncresolver
import dns.exception
import dns.resolver
import typer

from bot.config import MailSettings, Settings, Tls, load_mail_secret, load_settings
from bot.email.delivery import mail_account
from bot.email.oauth import RefreshedTokens
from mail.connecting import AccessTokens, connection_fault
from mail.imap import ConnectionLost, Folder, ImapConnection, LoginRefused, why_unreachable
from mail.reading.bounces import classify
from mail.reply_address import ServiceAddress, new_token
from mail.smtp import connect

DNS_TIMEOUT = 10.0  # seconds for a name

TextRecords = Callable[[str], Awaitable[list[str]]]
"""The TXT records of a name, none where there is no such name. Raises DnsUnavailable."""


class DnsUnavailable(Exception):
    """DNS does not answer."""


async def text_records(name: str) -> list[str]:
    """The TXT records of a name, from the DNS of this machine."""
    try:
        answer = await dns.asyncresolver.resolve(name, "TXT", lifetime=DNS_TIMEOUT)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as error:
        raise DnsUnavailable(str(error)) from error
    return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]


async def check_domain(address: str, message: bytes, lookup: TextRecords = text_records) -> list[str]:
    """A sentence about each record of the domain of an address. message: one of ours as it came back."""
    domain = address.rpartition("@")[2].casefold()
    try:
        return [await spf(domain, lookup), await dkim(domain, message, lookup), await dmarc(domain, lookup)]
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


async def dkim(domain: str, message: bytes, lookup: TextRecords) -> str:
    """Whether emails are signed, and the key is there."""
    signatures = message_from_bytes(message).get_all("DKIM-Signature", [])
    tags = [dict(re.findall(r"(?:^|;)\s*([a-z]+)\s*=\s*([^;]*)", str(one))) for one in signatures]
    own = next((each for each in tags if _covers(each.get("d", ""), domain)), None)
    if own is None:
        return (
            f"DKIM: the email came back without a signature of {domain}. Your server may sign only "
            "emails to others: look at one, and if it has no DKIM-Signature, switch signing on."
        )
    name = f"{own.get('s', '').strip()}._domainkey.{own['d'].strip()}"
    keys = [text for text in await lookup(name) if re.search(r"(?:^|;)\s*p\s*=\s*[^;\s]", text)]
    if not keys:
        return f"DKIM fails: emails are signed, but {name} has no TXT record with the public key; add it."
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


TIMEOUT = 5.0  # seconds, for each step but the way of the email


IMAP_ADVICE = (
    "Write the host and the port that your provider names into RAILPOST_IMAP: imaps:// with port 993, where "
    "TLS begins with the first byte."
)
SMTP_ADVICE = (
    "Write the host and the port that your provider names into RAILPOST_SMTP: smtps:// with port 465, where "
    "TLS begins with the first byte, or smtp+starttls:// with port 587."
)


class CheckFailed(Exception):
    """A step failed; the message says what to repair."""


async def check(settings: Settings, seconds: float, lookup: TextRecords = text_records) -> list[str]:
    """Sentences about each step. Raises CheckFailed with one about the step that failed.

    seconds: how long to wait for the email. lookup: of TXT records in DNS.
    """
    mail = settings.mail
    if mail is None:
        raise CheckFailed("Mail is not configured: set RAILPOST_IMAP and RAILPOST_SMTP.")
    address = ServiceAddress(mail.address, load_mail_secret(settings), mail.separator)
    tokens = RefreshedTokens(mail.oauth, settings.data) if mail.oauth else None
    imap = await _log_in(mail, tokens)
    try:
        told = [
            f"Mailbox: logged in as {mail.imap.user} at {mail.imap.host}; folders INBOX, {', '.join(Folder)}."
        ]
        recipient = address.reply_address(new_token())
        before = await imap.uids(1)
        message_id = await _send(mail, recipient, tokens)
        told.append(f"SMTP: {mail.smtp.host} took an email to {_shown(recipient)}.")
        message = await _find(imap, message_id, max(before, default=0) + 1, seconds, _shown(recipient))
    finally:
        await imap.close()
    told.append("The email came back to the mailbox: replies will arrive.")
    return [*told, *await check_domain(mail.address, message, lookup)]


async def _log_in(mail: MailSettings, tokens: AccessTokens | None) -> ImapConnection:
    account = mail_account(mail.imap, tokens)
    if why := await why_unreachable(account, TIMEOUT):
        where = f"{account.host}:{account.port}"
        raise CheckFailed(f"Mailbox: {where} cannot be used: {why}. {IMAP_ADVICE}")
    try:
        return await ImapConnection.open(account, TIMEOUT)
    except LoginRefused as refused:
        hint = "Check the user and RAILPOST_IMAP_PASSWORD; many providers want a password for apps."
        raise CheckFailed(f"Mailbox: {refused} {hint}") from refused
    except ConnectionLost as lost:
        raise CheckFailed(f"Mailbox: {str(lost).rstrip('.')}. {IMAP_ADVICE}") from lost


async def _send(mail: MailSettings, recipient: str, tokens: AccessTokens | None) -> str:
    """Send the email; returns its Message-ID."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = mail.address, recipient, "Check of the mail settings"
    message["Message-ID"] = message_id = f"<check.{new_token()}@{mail.address.partition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("Railpost sends this email to itself.\n")
    account = mail_account(mail.smtp, tokens)
    try:
        smtp = await connect(account, TIMEOUT)
        async with smtp:
            await smtp.sendmail(mail.address, [recipient], message.as_bytes())
    except aiosmtplib.SMTPAuthenticationError as error:
        raise CheckFailed(
            f"SMTP: {account.host} refused the login: {error.message}. Check RAILPOST_SMTP_PASSWORD."
        ) from error
    except (aiosmtplib.SMTPException, OSError) as error:
        where = f"SMTP: {account.host}:{account.port}"
        if why := _why_not(error, mail.smtp.tls):
            raise CheckFailed(f"{where} cannot be used: {why}. {SMTP_ADVICE}") from error
        hint = " The server has something against the sender: SPF, DKIM or its address may be missing."
        hint = hint if classify(str(error)) == "operator" else ""
        raise CheckFailed(f"{where}: {error}.{hint}") from error
    return message_id


def _why_not(error: BaseException, tls: Tls) -> str:
    """Why no server takes mail there, without numbers of the operating system; empty if one does."""
    if isinstance(error, aiosmtplib.SMTPTimeoutError | TimeoutError) and tls == "tls":
        return "it does not answer with TLS from the first byte"
    if fault := connection_fault(error):
        return fault
    answered = isinstance(error, aiosmtplib.SMTPResponseException) and error.code > 0
    is_refusal = answered or isinstance(error, aiosmtplib.SMTPRecipientsRefused)
    return "" if is_refusal else "it does not speak SMTP on this port"


async def _find(imap: ImapConnection, message_id: str, first: int, seconds: float, shown: str) -> bytes:
    """Wait for the email in the inbox, and put it away; returns its bytes."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                for uid in await imap.uids(first):
                    raw = await imap.fetch(uid, 16_384)
                    if raw and message_id.encode() in raw:
                        await imap.move(uid, Folder.IGNORED)
                        return raw
                await imap.wait_for_mail(2.0)
    except TimeoutError:
        raise CheckFailed(
            f"The email to {shown} did not come back within {seconds:.0f} seconds. "
            "The server has to deliver addresses with something behind the separator into the mailbox: "
            "turn sub-addressing on, or set RAILPOST_MAIL_SEPARATOR (`none` does without). "
            "(A running service takes the email itself: stop it for this check.)"
        ) from None


def _shown(recipient: str) -> str:
    """The address without its token."""
    return re.sub(r"[a-z2-7]{26}@", "…@", recipient)


def command(
    seconds: Annotated[float, typer.Option(help="How long to wait for the email.")] = 60.0,
) -> None:
    """Check the mail settings with an email that comes back.

    It logs in, sends an email to a reply address, and finds it again.
    """
    try:
        for sentence in asyncio.run(check(load_settings(), seconds)):
            typer.echo(sentence)
    except CheckFailed as failed:
        typer.echo(str(failed), err=True)
        raise typer.Exit(1) from None
