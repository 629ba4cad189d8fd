"""Letters in, letters out: a mail channel that knows neither rules nor tables.

How it works ------------ *In.* `Inbox` watches the mailbox. Each mail is kept by the desk (`Desk.received`),
read by a `Reader` in a process of its own (`letter.read`: bytes to `Letter`), decided about by the `Clerk`
(one table of who may do what; `trim.reading` finds the order lines), settled (`Desk.settle`: the outcome, its
one answer and that answer's tokens, in one transaction) and moved to a folder.

*Out.* A letter is made once (`compose.compose`: a `wording` page into bytes with fixed Message-ID and fresh
tokens) and stored as an `Outgoing`; the `Courier` sends rows of the outbox until the server has taken them,
always the same bytes.

How a service uses it --------------------- It implements two protocols of `mail.port`: `Desk` (tables,
tokens, ledger) and `Pouch` (the outbox), and runs three things in its task group::

    post = Post("play@games.example.org", key) async with Reader(authserv_id) as reader: clerk = Clerk(post,
    desk) group.create_task(Inbox(imap_account, desk, clerk, reader).run()) group.create_task(courier.run())
    # courier = Courier(smtp_account, pouch); courier.wake() after a commit

To tell a seat that it is asked, in the transaction of the move that asked it::

    outgoing = compose(post, wording.notice(Notice(...)), Sealed("reply", address, addresses, label, table,
    seat, decision), now, reason="notice")

and stores `outgoing` as an outbox row (`to`, `sender`, `raw`, `message_id`), its `issued` tokens by SHA-256,
and its `sealed` by `message_id` (for `Desk.sealed_by_message`). The letters in `Outcome.letters` are stored
in the same way by `settle`, which is where `answers` counts them. The desk keeps its promises (see
`mail.port`), and the rest follows: any step may be repeated.
"""

from mail.compose import MailPage, compose
from mail.imap import ImapAccount
from mail.inbox import InboxTiming, InboxWatcher
from mail.pages import TurnNotice
from mail.parser_process import ParserProcess
from mail.policy import MailPolicy, ReplyLimits
from mail.port import (
    InlineImage,
    MailOutbox,
    OutgoingMail,
    ReplyToken,
    ServicePort,
)
from mail.reply_address import (
    ServiceAddress,
    TokenRedactionFilter,
    normalize_address,
    redact,
)
from mail.smtp import SmtpAccount, SmtpDeliveryWorker

__all__ = [
    "ImapAccount",
    "InboxTiming",
    "InboxWatcher",
    "InlineImage",
    "MailOutbox",
    "MailPage",
    "MailPolicy",
    "OutgoingMail",
    "ParserProcess",
    "ReplyLimits",
    "ReplyToken",
    "ServiceAddress",
    "ServicePort",
    "SmtpAccount",
    "SmtpDeliveryWorker",
    "TokenRedactionFilter",
    "TurnNotice",
    "compose",
    "normalize_address",
    "redact",
]
