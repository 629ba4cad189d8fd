"""Emails in and out. This package knows neither rules nor tables, nor where anything is stored.

Inbound: `InboxWatcher` watches the IMAP mailbox. It is given two things: where emails that came in are kept
(`mail.inbox.Arrivals`), and what decides about them (`mail.inbox.Handle`). For each mail it has the bytes
kept, lets a `ParserProcess` parse them (bytes to `ParsedMail`), asks the handler, has the outcome kept, with
the replies and their tokens in one transaction, and moves the mail to a folder. `mail.reading` finds the
lines in a reply that may be moves, and what is not clear about them.

Outbound: `compose` makes an email once, from a `MailPage`, with a fixed Message-ID and fresh tokens.
`SmtpDeliveryWorker` sends what is due in the outbox that it is given (`mail.smtp.MailOutbox`), always the
same bytes, until the server has accepted them.

Whoever stores an `OutgoingMail` stores its `issued_tokens` by their hashes and its `reply_token` by
`message_id`. With the promises of `Arrivals`, every step here may be repeated.
"""
