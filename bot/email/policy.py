"""The policy table: what one inbound mail may do, and the one reply that it gets.

The first row that fits decides. "Token" is a reply token in the recipient headers, "From" the address of
the sender, "DMARC" the verdict of our own mail server, "automatic" a sign that no human wrote the mail. Of
many tokens those of the sender count, as a reply to all carries those of others.

| token  | From           | DMARC        | automatic | result                                           |
|--------|----------------|--------------|-----------|--------------------------------------------------|
| any    | any            | any          | any       | quarantined, if it could not be parsed; one receipt |
| any    | ours           | any          | any       | ignored: our own mail came back                  |
| bounce | any            | any          | any       | counted if it is ours, by class; no reply        |
| one    | the seat's     | any          | of a list | as if it were not automatic                      |
| unsubscribe | the seat's | any         | generated | the same: a mail program unsubscribes            |
| any    | any            | any          | yes       | ignored, no reply                                |
| many   | the seats' or no seat's | any | no        | nothing is done; one receipt                     |
| one    | not the seat's | any          | no        | held; the player is told, and may say `yes CODE` |
| one    | the seat's     | fail         | no        | quarantined; the player is told, once a day      |
| one    | the seat's     | pass or none | no        | carried out; one receipt, but none for an echo   |
| none   | verified       | not fail     | no        | a command about tables, or help once a day       |
| none   | unknown        | not fail     | no        | `new …`, if the operator admits it: asked once   |
| none   | unknown        | any          | no        | dropped: strangers never get a reply             |

The way of a reply for a seat: `handle` finds whose it is (`TokenLookup`), `_from_owner` has it read
(`ReplyReader`), `SeatRulings` has its lines played and its questions answered (`SeatReplies`), and what came
of it is a `Ruling`, from which `Replies` composes the receipt. Commands about tables and oneself
(`TableReplies`), answers with yes and no (`Confirmations`) and those of strangers (`NewHosts`) give a
`Ruling` too.

An echo is a text that cannot be read, or says `away`, and comes again within the hour, while nothing else of
the player was read in between: a mail program may answer so by itself.

Replies go to the registered address only. What the policy needs to know of the past is in the store; only the
texts that may come as an echo are in memory (`Replies`). All its calls may be repeated after a crash, as the
idempotency key of a request is made from the seat, the Message-ID and the lines.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.email.confirmations import Confirmations, agreement
from bot.email.pages import answer_pages, refusal_pages
from bot.email.reachability import Bounce, Correspondents
from bot.email.replies.new_hosts import NewHosts
from bot.email.replies.reply_limits import (
    NOTICES_PER_DAY,
    REPEATED,
    Replies,
    ReplyLimits,
    Ruling,
    idempotency_key,
    tokens_of_sender,
)
from bot.email.replies.reply_reader import ReadReply
from bot.email.replies.seat_replies import SeatReplies, SeatRulings, named_problem, plain_subject
from bot.email.replies.table_replies import TableReplies
from bot.email.stored_mail import HeldLineStore
from bot.email.tokens import TokenLookup
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail.imap import Folder
from mail.inbox import MailOutcome, OperatorAlerts
from mail.reading.automatic_mail import FROM_A_LIST, GENERATED, DeliveryReport
from mail.reading.line_text import first_word, without_courtesies
from mail.reading.parser import ParsedMail
from mail.reading.parts import UNPARSABLE, MailProblem
from mail.reading.reply_text import split_reply
from mail.reading.small_talk import is_greeting
from mail.reply_address import ReplyToken, ServiceAddress, redact

NOT_UNDERSTOOD = frozenset({"unclear", "no moves", "unreadable", "not done"})
"""Reasons of replies to a mail that was not understood."""
STILL_ASKED = NOT_UNDERSTOOD | {"shown", "said"}
"""Reasons of replies to a mail after which what was asked is still asked."""
UNREAD = NOT_UNDERSTOOD | {"help", "rejected"}
"""Reasons of replies to a mail from which nothing was done. A mail program may say `Away until 5 January`."""
MAIL_SWITCHES = ("start", "stop", "unsubscribe")
YES_NO_PURPOSES = frozenset({"link", "invite", "answer", "export", "erase"})
ABOUT_TABLES = frozenset({"invite", "answer"})
"""Of these: questions whose email may also be answered with a command about its table."""


class MailPolicy:
    """Applies the policy table to inbound mail."""

    def __init__(
        self,
        service: Service,
        pictures: PictureWorkers,
        address: ServiceAddress,
        people: Correspondents,
        key: bytes,
        *,
        hosts: str,
        limits: ReplyLimits,
    ) -> None:
        """key: signs the codes of held lines. hosts: as in `NewHosts`."""
        self._commands, self._address = service.commands, address
        self._alerts = OperatorAlerts(service.store.now)
        self._people = people
        self._lookup = TokenLookup(service, address)
        self._seats = SeatReplies(service, pictures)
        self._held = HeldLineStore(service.store, key)
        self._rulings = SeatRulings(service.commands, self._seats, people, self._held)
        self._tables = TableReplies(service, pictures)
        self._confirmations = Confirmations(service)
        self._replies = Replies(address, service.store, self._alerts, limits)
        self._hosts = NewHosts(service.store, self._tables, self._held, self._replies, hosts)

    # --- the table, row by row ---

    async def handle(self, mail: ParsedMail) -> MailOutcome:
        """Decide on one mail and carry it out; the outcome goes to `InboundMail.record_outcome`."""
        ruling = await self._ruling(mail)
        return await self._replies.reply(mail, ruling) if isinstance(ruling, Ruling) else ruling

    async def _ruling(self, mail: ParsedMail) -> Ruling | MailOutcome:
        """The ruling on a mail, or the outcome of one that gets no reply."""
        if mail.problem in UNPARSABLE:
            return await self._unparsable(mail, mail.problem)
        if self._is_ours(mail):
            return MailOutcome("our own mail", Folder.IGNORED)
        tokens = await self._lookup.tokens_of(mail)
        if bounce := await self._bounce(mail, tokens):
            return bounce
        tokens = tokens_of_sender(mail, tokens) or tokens
        if mail.automatic_sign and not _is_owners_own(mail, tokens):
            return MailOutcome(f"automatic: {mail.automatic_sign}", Folder.IGNORED)
        if not tokens:
            return await self._without_token(mail)
        if len(tokens) > 1:
            return Ruling("ambiguous", refusal_pages.AMBIGUOUS_RECIPIENT, tokens[0])
        return await self._with_token(mail, tokens[0])

    def _is_ours(self, mail: ParsedMail) -> bool:
        return (
            self._address.is_own_message_id(mail.message_id)
            or self._address.domain in (loop.casefold() for loop in mail.loop_headers)
            or (mail.sender is not None and self._address.owns(mail.sender))
        )

    async def _bounce(self, mail: ParsedMail, tokens: Sequence[ReplyToken]) -> MailOutcome | None:
        """A bounce is ours by the token that it is sent to, or by the Message-ID of ours that it quotes.

        None for a mail that is no bounce.
        """
        bounces = [token for token in tokens if token.purpose == "bounce"]
        report = mail.report
        if report is None:
            return MailOutcome("no report, to a bounce address", Folder.IGNORED) if bounces else None
        if report.kind == "arrived":
            return MailOutcome("a report that a mail has arrived", Folder.IGNORED)
        for message_id in report.message_ids:
            sent = await self._lookup.of_message(message_id)
            if sent and (not bounces or sent.person_id in {token.person_id for token in bounces}):
                if _is_about_former(sent, bounces, report):
                    return MailOutcome("bounce of a mail that goes elsewhere by now", Folder.IGNORED)
                return await self._bounced(sent, message_id, report)
        if bounces and not report.message_ids:
            return await self._bounced(bounces[0], mail.message_id, report)
        return MailOutcome("bounce of a mail that is not ours", Folder.IGNORED)

    async def _bounced(self, token: ReplyToken, message_id: str, report: DeliveryReport) -> MailOutcome:
        await self._people.record_bounce(
            Bounce(token, message_id, report.kind, redact(report.reason) or report.status)
        )
        return MailOutcome(f"bounce: {report.kind}", Folder.PROCESSED)

    async def _without_token(self, mail: ParsedMail) -> Ruling | MailOutcome:
        if mail.sender is None or mail.dmarc == "fail":
            return MailOutcome("stranger", Folder.IGNORED)
        lines = self._command_lines(mail)
        person = await self._people.find_correspondent(mail.sender)
        if person is None:
            return await self._hosts.ask(mail, mail.sender, lines)
        await self._people.heard_from(person.address)
        token = ReplyToken("reply", person.address, frozenset({person.address}), person_id=person.person_id)
        if ruling := await self._table_command(mail, token, is_reply=False):
            return ruling
        if _is_only_line(lines, *MAIL_SWITCHES):
            sentence = f"To protect your settings, reply to this email with `{lines[0].casefold()}`."
            page = answer_pages.table_answer((sentence,), is_done=False)
            return Ruling("not done", page, token, lines=lines)
        return Ruling("help", refusal_pages.help_without_table(person.seats), token, daily=1)

    async def _table_command(
        self, mail: ParsedMail, token: ReplyToken, *, is_reply: bool = True
    ) -> Ruling | None:
        """Carry out a command about tables in the first line; None where there is none."""
        lines = self._command_lines(mail)
        key = idempotency_key(mail, token, lines)
        return await self._tables.table_command(token, lines, mail, key, is_reply=is_reply)

    def _command_lines(self, mail: ParsedMail) -> tuple[str, ...]:
        """The sender's own lines, else the subject as one; `start please` as `start`."""
        words, lines = self._commands.words.union(MAIL_SWITCHES), split_reply(mail.text, ()).lines
        greeting = next((at for at, line in enumerate(lines) if not is_greeting(line)), 0)
        lines = lines[greeting:] or ((mail.subject,) if mail.subject and not mail.parent_ids else ())
        plain = without_courtesies(lines[0], words) if lines else ""
        return (plain, *lines[1:]) if plain.casefold() in words else lines

    async def _with_token(self, mail: ParsedMail, token: ReplyToken) -> Ruling:
        writer = await self._people.find_writer(token, mail.sender)
        if writer is None:
            return await self._wrong_sender(mail, token)
        if mail.dmarc == "fail":
            page = refusal_pages.FAILED_AUTHENTICATION
            return Ruling("forged", page, token, Folder.QUARANTINE, daily=1)
        await self._people.heard_from(writer)
        if token.purpose in {"reply", "unsubscribe"}:
            token = replace(token, address=writer)  # a person with several is answered where they write
        is_read = mail.problem is None or (mail.problem is MailProblem.EMPTY and _mail_switch(mail))
        if is_read or token.purpose == "unsubscribe":
            return await self._from_owner(mail, token)
        page = refusal_pages.unreadable_mail(named_problem(mail, self._commands))
        return await self._still_asked(Ruling("unreadable", page, token))

    async def _wrong_sender(self, mail: ParsedMail, token: ReplyToken) -> Ruling:
        reply = (await self._seats.reader(token)).read(mail, token.address)
        lines = reply.lines
        can_be_held = lines and not reply.parsed.fault and token.purpose == "reply" and token.seat
        notices, code = await self._replies.count(86_400, token.actor, "wrong sender"), None
        if can_be_held and notices < NOTICES_PER_DAY:
            code = await self._held.hold_lines(token, lines, idempotency_key(mail, token, lines))
        page = refusal_pages.wrong_sender(lines[:10], code)
        return Ruling("wrong sender", page, token, lines=lines, daily=NOTICES_PER_DAY)

    # --- mail from the owner of the token ---

    async def _from_owner(self, mail: ParsedMail, token: ReplyToken) -> Ruling:
        reply = (await self._seats.reader(token)).read(mail, token.address)
        ruling = await self._still_asked(await self._reply_of_owner(mail, token, reply))
        moves = [line for line in reply.lines if not self._commands.is_personal(line)]
        means_something = moves or reply.parsed.meant or reply.says_yes
        says_away = reply.lines and all(first_word(line) == "away" for line in reply.lines)
        is_read = bool(means_something) or ruling.reason not in UNREAD
        if is_read:
            self._replies.forget_other_texts(mail, token, reply.text)
        may_be_echo = not means_something and (says_away or not is_read)
        if may_be_echo and self._replies.is_echo(mail, token, reply.text):
            return ruling._replace(reason=REPEATED)
        return ruling

    async def _still_asked(self, ruling: Ruling) -> Ruling:
        """The same ruling; where no move was made, `yes` to it confirms what waits for that."""
        if ruling.reason not in STILL_ASKED or ruling.offered_code:
            return ruling
        offer = await self._held.find_offered(ruling.token)
        if offer is None or not offer.is_open:
            return ruling
        page = refusal_pages.still_asked(ruling.page, offer.held.lines, offer.held.figures)
        return ruling._replace(page=page, offered_code=offer.code)

    async def _reply_of_owner(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        lines = reply.lines
        may_be_command = token.purpose == "reply" and (token.seat is None or not lines)
        if may_be_command and (ruling := await self._table_command(mail, token)):
            return ruling
        if token.purpose == "host":
            return await self._hosts.answer(mail, token, reply)
        lines = lines or _mail_switch(mail)
        is_generated = mail.automatic_sign == GENERATED  # a mail program unsubscribes, whatever it writes
        if token.purpose in {"reply", "unsubscribe"} and _is_only_line(lines, "start") and not is_generated:
            sentence = await self._people.start_mail(token)
            return Ruling("started", answer_pages.confirmation(sentence), token, lines=("start",))
        if token.purpose == "unsubscribe" or _is_only_line(lines, "stop", "unsubscribe"):
            return await self._rulings.stopped(token)
        if token.purpose in YES_NO_PURPOSES:
            return await self._yes_or_no(mail, token, reply)
        return await self._rulings.rule(mail, token, reply)

    async def _yes_or_no(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        lines, agrees = reply.answer[:1], agreement(token, reply)
        if agrees is None:
            if token.purpose in ABOUT_TABLES and (ruling := await self._table_command(mail, token)):
                return ruling
            page = refusal_pages.expects_yes_or_no(token.purpose, token.table_label, reply.wants_no_emails)
            return Ruling("not done", page, token, lines=lines)
        return (await self._confirmations.confirm(token, agrees))._replace(lines=lines)

    async def _unparsable(self, mail: ParsedMail, problem: MailProblem) -> Ruling | MailOutcome:
        """Quarantine a mail that could not be handled; the owner of its reply token gets one receipt."""
        self._alerts.send(
            "unread", f"An email could not be handled, because {problem.value}. It was put into Quarantine."
        )
        for token in await self._lookup.find(self._address.find_tokens(mail.recipients)):
            if token.purpose != "bounce":
                page = refusal_pages.unreadable_mail(problem)
                return Ruling("unreadable", page, token, Folder.QUARANTINE, daily=NOTICES_PER_DAY)
        return MailOutcome("unreadable", Folder.QUARANTINE)


def _is_owners_own(mail: ParsedMail, tokens: Sequence[ReplyToken]) -> bool:
    """Whether a mail that looks automatic is the owner's all the same: on a list, or to unsubscribe."""
    if len(tokens) != 1 or not tokens_of_sender(mail, tokens):
        return False
    return mail.automatic_sign in (FROM_A_LIST, *([GENERATED] if tokens[0].purpose == "unsubscribe" else []))


def _is_about_former(sent: ReplyToken, bounces: Sequence[ReplyToken], report: DeliveryReport) -> bool:
    """Whether a report names the address to which our email went before it was sent to another: that of its
    bounce token, which stays. A mail server may name any address to which it has forwarded an email."""
    former = {token.address for token in bounces} - {sent.address}
    return sent.address not in report.recipients and not former.isdisjoint(report.recipients)


def _mail_switch(mail: ParsedMail) -> tuple[str, ...]:
    """The word for emails to stop or to begin again as the only line, if it is the subject; else none."""
    subject = plain_subject(mail)
    return (subject,) if subject in MAIL_SWITCHES else ()


def _is_only_line(lines: Sequence[str], *words: str) -> bool:
    """Whether the only line is one of these words."""
    return len(lines) == 1 and lines[0].casefold() in words
