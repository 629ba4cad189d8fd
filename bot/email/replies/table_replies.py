"""Commands about tables, addresses and settings, each carried out once."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from bot.email.replies.personal_commands import (
    carry_out_address,
    carry_out_personal,
    is_address_command,
    is_personal_command,
    is_wish_about_data,
)
from bot.email.replies.seat_replies import game_verbs
from bot.email.replies.table_commands import (
    OWN_WORDS,
    CommandAnswer,
    TableCommands,
    TableRequest,
    admits_host,
)
from bot.email.stored_mail import HeldLineStore
from bot.email.tokens import ServiceToken, service_token, table_token, token_owner
from bot.hub import people
from bot.service import Service
from mail import InlineImage, ReplyToken
from mail.port import TableAnswer
from mail.reading.line_text import first_word
from mail.reading.parts import MailFile

log = logging.getLogger(__name__)

MAX_STRANGERS = 100  # of whom the operator reads until the next start
PROSE_TO_A_TABLE = ("options", "seat", "join", "leave", "agree")
"""Words with which players begin what they tell the table, in a reply for a seat of a game."""
UNSURE = ("start", "join", "keep", "agree", "decline")
"""Words that mean something else where no table waits for its start."""


PersonalCommand = Callable[[Service, int, str, bool], Awaitable[tuple[str, ...]]]


def _about_oneself(service: Service, token: ReplyToken, lines: Sequence[str]) -> PersonalCommand | None:
    """What carries out a command about oneself; None for other lines, and for those that a game reads."""
    if lines and is_address_command(lines[0]):
        return carry_out_address
    if lines and (
        is_wish_about_data(lines[0]) or (token.seat is None and is_personal_command(service, lines[0]))
    ):
        return carry_out_personal
    return None


class TableReplies:
    """Commands by email. hosts: who may host besides verified addresses, see `admits_host`."""

    def __init__(self, service: Service, commands: TableCommands, held: HeldLineStore, hosts: str) -> None:
        self._service, self._store, self._hosts = service, service.store, hosts
        self._table_commands, self._held = commands, held
        self._strangers = set[str]()

    async def table_command(
        self,
        token: ReplyToken,
        lines: Sequence[str],
        name: str,
        request_id: str,
        files: Sequence[MailFile] = (),
    ) -> TableAnswer | None:
        """Carry out a command about tables; None where it is none, or means something else here."""
        async with self._store.read() as unit:
            person_id = await token_owner(unit, token)
            known = await unit.move_log.request_result(f"table:{request_id}")
        table_id = token.table_id if isinstance(token, ServiceToken) else None
        about_oneself = _about_oneself(self._service, token, lines)
        if person_id is None or not (
            about_oneself or await self._is_table_command(token, person_id, lines, table_id)
        ):
            return None
        images: tuple[InlineImage, ...] = ()
        if known is None:
            request = await self._begin_request(request_id)
            try:
                if about_oneself:
                    is_reply = isinstance(token, ServiceToken)
                    said = await about_oneself(self._service, person_id, lines[0], is_reply)
                    answer = CommandAnswer(said, table_id)
                else:
                    answer = await self._table_commands.run(person_id, lines, table_id, name, request, files)
            except ValueError as error:
                answer = CommandAnswer(tuple(str(error).splitlines()), table_id, is_done=False)
            images = answer.images  # an answer that is sent again after a crash has its sentences
            async with self._store.begin() as unit:
                known = msgspec.json.encode((answer.sentences, answer.table_id, answer.is_done))
                await unit.move_log.save_request_result(f"table:{request_id}", known)
        sentences, about, is_done = msgspec.json.decode(known, type=tuple[tuple[str, ...], int | None, bool])
        about_token = await table_token(self._service, token, person_id, about)
        return TableAnswer(sentences, about_token, is_done, images=images)

    async def _begin_request(self, request_id: str) -> TableRequest:
        """Note that a request is begun, so that the next attempt after a crash knows."""
        async with self._store.begin() as unit:
            key = f"begun:{request_id}"
            is_repeated = await unit.move_log.request_result(key) is not None
            if not is_repeated:
                await unit.move_log.save_request_result(key, b"begun")
        return TableRequest(request_id, is_repeated)

    async def _is_table_command(
        self, token: ReplyToken, person_id: int, lines: Sequence[str], table_id: int | None
    ) -> bool:
        word, commands = first_word(lines[0]) if lines else "", self._service.commands
        if word not in OWN_WORDS and not commands.from_outside(word):
            return False
        if token.seat is not None and (word in PROSE_TO_A_TABLE or self._is_of_the_game(word)):
            return False
        if word in ("who", "help", "ask") and len(lines[0].split()) > 2:
            return False  # prose
        if word not in UNSURE:
            return True
        if table_id is not None:
            return (await self._service.queries.table_info(table_id)).status == "lobby"
        return bool(await self._service.queries.list_tables(person_id=person_id, statuses=("lobby",)))

    def _is_of_the_game(self, word: str) -> bool:
        """Whether a line that begins so is read with the lines of a game in play."""
        return self._service.commands.get(word) is not None or word in game_verbs()

    async def ask_new_host(
        self, address: str, lines: Sequence[str], name: str, request_id: str
    ) -> TableAnswer | None:
        """Hold a command of an address that is not verified, if the operator admits it."""
        if not admits_host(self._hosts, address):
            self._warn_of_stranger(address)
            return None
        async with self._store.begin() as unit:
            person = await people.person_by_address(unit, address, people.player_name(name) if name else "")
        token = ServiceToken("host", address, frozenset({address}), "", person_id=person.id)
        code = await self._held.hold_lines(token, lines, request_id)
        sentence = "Somebody has asked for a table with this address."
        return TableAnswer((sentence,), token, offered_code=code)

    def _warn_of_stranger(self, address: str) -> None:
        if address not in self._strangers and len(self._strangers) < MAX_STRANGERS:
            self._strangers.add(address)
            log.warning(
                "for the operator: %s has asked for a table and got no answer, because the address is not "
                "verified; `railpost host add %s` lets its owner host",
                address,
                address,
            )

    async def confirm_host(self, token: ReplyToken) -> None:
        """The owner of the address has answered."""
        async with self._store.begin() as unit:
            await unit.people.add_identity(service_token(token).person_id, "email", token.address)
