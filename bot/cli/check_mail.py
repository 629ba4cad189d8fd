"""`railpost check-mail`: logs in, names the folders, and sends a letter through a reply address and
finds it again. Then it reads what DNS says of the sender's domain.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from email.message import EmailMessage
from typing import Annotated

import aiosmtplib
import typer

from bot.config import MailSettings, Settings, Tls, load_mail_secret, load_settings
from bot.email.delivery import imap_account, smtp_account
from bot.email.dns_check import TextRecords, check_domain, text_records
from bot.email.oauth import RefreshedTokens
from mail.credentials import AccessTokens
from mail.imap import ConnectionLost, ImapConnection, LoginRefused, why_unreachable
from mail.port import Folder
from mail.reading.bounces import classify
from mail.reply_address import ServiceAddress, new_token
from mail.smtp_connections import connect

TIMEOUT = 5.0  # seconds, for each step but the way of the letter


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

    seconds: how long to wait for the letter. lookup: of TXT records in DNS.
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
        told.append(f"SMTP: {mail.smtp.host} took a letter to {_shown(recipient)}.")
        letter = await _find(imap, message_id, max(before, default=0) + 1, seconds, _shown(recipient))
    finally:
        await imap.close()
    told.append("The letter came back to the mailbox: replies will arrive.")
    return [*told, *await check_domain(mail.address, letter, lookup)]


async def _log_in(mail: MailSettings, tokens: AccessTokens | None) -> ImapConnection:
    account = imap_account(mail, tokens)
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
    """Send the letter; returns its Message-ID."""
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = mail.address, recipient, "Check of the mail settings"
    letter["Message-ID"] = message_id = f"<check.{new_token()}@{mail.address.partition('@')[2]}>"
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content("Railpost sends this letter to itself.\n")
    account = smtp_account(mail.smtp, tokens)
    try:
        smtp = await connect(account, TIMEOUT)
        async with smtp:
            await smtp.sendmail(mail.address, [recipient], letter.as_bytes())
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
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    match cause:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {cause.verify_message}"
        case ssl.SSLError():
            return "it does not speak TLS on this port"
        case aiosmtplib.SMTPTimeoutError() | TimeoutError():
            return "it does not answer" + (" with TLS from the first byte" if tls == "tls" else "")
        case socket.gaierror():
            return "there is no such host"
        case OSError(errno=int(number)):
            return os.strerror(number)
    answered = isinstance(error, aiosmtplib.SMTPResponseException) and error.code > 0
    is_refusal = answered or isinstance(error, aiosmtplib.SMTPRecipientsRefused)
    return "" if is_refusal else "it does not speak SMTP on this port"


async def _find(imap: ImapConnection, message_id: str, first: int, seconds: float, shown: str) -> bytes:
    """Wait for the letter in the inbox, and put it away; returns its bytes."""
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
            f"The letter to {shown} did not come back within {seconds:.0f} seconds. "
            "The server has to deliver addresses with something behind the separator into the mailbox: "
            "turn sub-addressing on, or set RAILPOST_MAIL_SEPARATOR (`none` does without). "
            "(A running service takes the letter itself: stop it for this check.)"
        ) from None


def _shown(recipient: str) -> str:
    """The address without its token."""
    return re.sub(r"[a-z2-7]{26}@", "…@", recipient)


def command(
    seconds: Annotated[float, typer.Option(help="How long to wait for the letter.")] = 60.0,
) -> None:
    """Check the mail settings with a letter that comes back.

    It logs in, sends a letter to a reply address, and finds it again.
    """
    try:
        for sentence in asyncio.run(check(load_settings(), seconds)):
            typer.echo(sentence)
    except CheckFailed as failed:
        typer.echo(str(failed), err=True)
        raise typer.Exit(1) from None
