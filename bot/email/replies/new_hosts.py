"""Strangers who ask for a table by email: they are asked once a day whether they did, and `yes` opens it."""

from __future__ import annotations

from dataclasses import replace

from bot.email.pages import answer_pages, refusal_pages
from bot.email.replies.reply_limits import Replies, Ruling, idempotency_key
from bot.email.replies.reply_reader import ReadReply
from bot.email.replies.table_replies import TableReplies
from bot.email.replies.yes_and_no import NO_WORDS
from bot.email.stored_mail import HeldLineStore, host_request
from bot.hub import people
from bot.hub.loading import operator_log
from mail.imap import Folder
from mail.inbox import MailOutcome
from mail.reading.line_text import first_word
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken
from storage import AlreadyExists, Store

MAX_STRANGERS = 100  # of whom the operator reads until the next start
ASKED = "host asked"


def admits_host(hosts: str, address: str) -> bool:
    """Whether an address that is not verified may host, by the setting: `verified`, `anyone`, or a list of
    addresses and domains.
    """
    allowed = hosts.casefold().replace(",", " ").split()
    domain = address.casefold().rpartition("@")[2]
    return allowed == ["anyone"] or address.casefold() in allowed or domain in allowed


class NewHosts:
    """Asks those whom the operator admits, and carries out what they answer."""

    def __init__(
        self, store: Store, tables: TableReplies, held: HeldLineStore, replies: Replies, hosts: str
    ) -> None:
        """hosts: who may host besides verified addresses, see `admits_host`."""
        self._store, self._tables, self._held = store, tables, held
        self._replies, self._hosts = replies, hosts
        self._strangers = set[str]()

    async def ask(self, mail: ParsedMail, address: str, lines: tuple[str, ...]) -> Ruling | MailOutcome:
        """Hold the command to open a table of an address that is not verified, and ask its owner, if the
        operator admits it."""
        stranger = MailOutcome("stranger", Folder.IGNORED)
        if not lines or first_word(lines[0]) != "new":
            return stranger
        if not admits_host(self._hosts, address):
            self._warn_of_stranger(address)
            return stranger
        name = people.player_name(mail.sender_name) if mail.sender_name else ""
        async with self._store.begin() as unit:
            person = await people.person_by_address(unit, address, name)
        token = ReplyToken("host", address, frozenset({address}), person_id=person.id)
        key = idempotency_key(mail, token, lines)
        if await self._replies.count(86_400, token.actor, ASKED):
            return MailOutcome(ASKED, Folder.PROCESSED, key)
        code = await self._held.hold_lines(token, lines, key)
        return Ruling(ASKED, answer_pages.host_confirmation(lines), token, lines=lines, offered_code=code)

    def _warn_of_stranger(self, address: str) -> None:
        if address not in self._strangers and len(self._strangers) < MAX_STRANGERS:
            self._strangers.add(address)
            operator_log.warning(
                "%s has asked for a table and got no answer, because the address is not "
                "verified; `railpost host add %s` lets its owner host",
                address,
                address,
            )

    async def answer(self, mail: ParsedMail, token: ReplyToken, reply: ReadReply) -> Ruling:
        """Open the table that was asked for, at `yes`; what was answered once is answered so again."""
        offer = await self._held.find_offered(token)
        if offer is None:
            return Ruling("not done", refusal_pages.NOTHING_TO_CONFIRM, token)
        if offer.is_open:
            if reply.word in NO_WORDS:
                page = answer_pages.confirmation("No table is opened, and nobody is invited.")
                return Ruling("confirmed", page, token)
            if not reply.says_yes:
                page = refusal_pages.expects_yes_or_no("host")
                return Ruling("not done", page, token, offered_code=offer.code)
            try:
                async with self._store.begin() as unit:
                    await unit.people.add_identity(token.person_id, "email", token.address)
            except AlreadyExists as error:
                page = answer_pages.table_answer((str(error),), is_done=False)
                return Ruling("not done", page, replace(token, message_id=None))  # nothing is asked any more
        ruling = await self._tables.table_command(token, offer.held.lines, mail, host_request(offer.code))
        assert ruling is not None  # `new …` is a command everywhere
        return ruling
