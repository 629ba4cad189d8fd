"""Play by email: inbound and outbound mail. This package knows neither rules nor tables.

Inbound: `InboxWatcher` watches the IMAP mailbox. For each mail it asks the service to keep the bytes
(`ServicePort.record_arrival`), lets a `ParserProcess` parse them (bytes to `ParsedMail`), lets `MailPolicy`
decide (who may do what; `reading.reply_reader.ReplyReader` finds the order lines), passes the outcome to the
service (`ServicePort.record_outcome`: outcome, reply and tokens in one transaction), and moves the mail
to a folder.

Outbound: `compose` makes an email once, from a `MailPage` that `mail.composing.pages` writes, with a fixed
Message-ID and fresh tokens. The service stores it as an `OutgoingMail`. `SmtpDeliveryWorker` sends what is
due in the outbox, always the same bytes, until the server has accepted them.

A service implements `mail.port.ServicePort` and `mail.smtp.MailOutbox`, and runs in its task group:

    address = ServiceAddress("play@games.example.org", key)
    async with ParserProcess(authserv_id) as parser:
        policy = MailPolicy(address, service)
        tasks.create_task(InboxWatcher(imap_account, service, policy, parser).run())
        worker = SmtpDeliveryWorker(smtp_account, outbox)  # worker.wake() after every commit
        tasks.create_task(worker.run())

To tell a player that they are to act, in the transaction of the move:

    page = pages.turn_notice(TurnNotice(...))
    token = ReplyToken("reply", address, verified_addresses, table_label, table_code, seat, decision_id)
    mail = compose(service_address, page, token, now, reason="notice")

The service puts `mail` into its outbox, and stores its `issued_tokens` by their hashes and its
`reply_token` by `message_id`. With the promises of `mail.port`, every step here may be repeated.
"""

from mail.composing.compose import compose
from mail.composing.page import MailPage
from mail.imap import ImapAccount
from mail.inbox import InboxTiming, InboxWatcher
from mail.policy import MailPolicy
from mail.port import InlineImage, OutgoingMail, ReplyToken
from mail.reading.parser_process import ParserProcess
from mail.replies import ReplyLimits
from mail.reply_address import ServiceAddress, TokenRedactionFilter, normalize_address, redact
from mail.smtp import SmtpDeliveryWorker
from mail.smtp_connections import SmtpAccount

__all__ = [
    "ImapAccount",
    "InboxTiming",
    "InboxWatcher",
    "InlineImage",
    "MailPage",
    "MailPolicy",
    "OutgoingMail",
    "ParserProcess",
    "ReplyLimits",
    "ReplyToken",
    "ServiceAddress",
    "SmtpAccount",
    "SmtpDeliveryWorker",
    "TokenRedactionFilter",
    "compose",
    "normalize_address",
    "redact",
]
