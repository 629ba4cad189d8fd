"""Which Discord message is the card of which decision: the references that the store keeps.

A slot names a card of a table: `turn:2` is the card of seat 2's turn, `asked` the one message to all whom a
question asks at once, `o7:2` that of an offer to seat 2, `v3` the poll 3, `lobby` the lobby card. The prefix
`u123/` marks a card in the direct messages of user 123. `old:<message>` is a card that still has controls but
cannot be edited now. `run` is the message that lists the finished turns, `said:files` the remark that files
may not be attached, `over` the ending of the game. `ended` is the list of turns before `run`. `remind:2` is
the newest reminder of seat 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from bot.discord.cards.parts import ImageAttachment
from bot.position.pending import PendingDecision
from storage import Card, Store, UnitOfWork

LOBBY, RUN, SAID_FILES, ASKED, OVER = "lobby", "run", "said:files", "asked", "over"
REMIND, ENDED = "remind", "ended"
LASTING_SLOTS = (LOBBY, RUN, ENDED, SAID_FILES, OVER)
"""Slots of messages that are not brought up to date."""
WHOLE = "payload_digest"
"""The entry that is stored of a card, unless it is still to be completed or finished."""
OLD_PREFIX = "old:"
NO_MESSAGE = 0
"""The message id of a list of turns that is not begun, and of a card that is not posted."""


class AttachedFile(msgspec.Struct, array_like=True):
    """A file that Discord has attached to a message, with its description and a digest of its bytes."""

    filename: str
    id: int
    alt: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """The entry of an edit's list of attachments, by which the file stays."""
        return {"id": str(self.id), "filename": self.filename, "description": self.alt}


class CardRef(msgspec.Struct, omit_defaults=True):
    """The Discord message of a card, and what it shows.

    `seq` is the row of the log after which the card was made; of a list of turns, and of a card that is
    queued, the row up to which it tells. `since`: the row after which it tells, if that is another. `key` is
    that of its outbox message. `files` is what is really attached. is_plain: no file may be attached there.
    `pinged` (a stored name): the seats that are asked. `told`: the ids of the people who are notified of what
    it asks. `payload_digest`: of what it shows, "" if that is not known. `brought_down`: the decision for
    which the card was posted again below chat. posting: the key of a message that may have been posted in its
    place, and of which the store does not know yet. `news`: what else it tells its reader, in direct
    messages.
    """

    channel_id: int
    message_id: int
    person_id: int | None = None
    seat: int | None = None
    seq: int = 0
    since: int | None = None
    key: str = ""
    payload_digest: str = ""
    files: list[AttachedFile] = []
    is_plain: bool = False
    pinged: list[int] = []
    brought_down: str = ""
    posting: str | None = None
    news: list[str] = []
    told: list[int] = []


class TableCard(NamedTuple):
    """A message of a table: the slot that it has, and the reference to it."""

    table_id: int
    slot: str
    ref: CardRef

    @property
    def user(self) -> str:
        """The user in whose direct messages it is; "" in the table's own channel or thread."""
        head, slash, _ = self.slot.partition("/")
        return head[1:] if slash else ""

    @property
    def name(self) -> str:
        """The slot without the user."""
        return self.slot.partition("/")[2] or self.slot

    @property
    def is_queued(self) -> bool:
        """Whether it still has controls that nobody needs."""
        return self.name.startswith(OLD_PREFIX)

    @property
    def asks(self) -> bool:
        """Whether it asks a player to act or to vote."""
        kind = self.name.partition(":")[0]
        return kind not in (LOBBY, RUN, ENDED, "said", OVER, REMIND) and not self.is_queued

    def with_unknown_content(self) -> TableCard:
        """The card where it is not known any more what its message shows."""
        return self._replace(ref=msgspec.structs.replace(self.ref, files=[], payload_digest=""))


async def cards_of(unit: UnitOfWork, table_id: int) -> list[TableCard]:
    """All messages of a table that have a slot."""
    return [_table_card(card) for card in await unit.tables.cards(table_id)]


class CardStore:
    """The references that the store keeps."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def of_table(self, table_id: int) -> list[TableCard]:
        """All messages of a table that have a slot."""
        async with self._store.read() as unit:
            return await cards_of(unit, table_id)

    async def get(self, table_id: int, slot: str) -> TableCard | None:
        """The message in a slot."""
        async with self._store.read() as unit:
            card = await unit.tables.card(table_id, slot)
        return _table_card(card) if card else None

    async def change(self, table_id: int, *put: TableCard | None, remove: Iterable[str] = ()) -> None:
        """Empty slots, then fill others, in one transaction."""
        async with self._store.begin(table=table_id) as unit:
            for slot in remove:
                await unit.tables.remove_card(table_id, slot)
            for card in filter(None, put):
                await unit.tables.set_card(table_id, card.slot, msgspec.to_builtins(card.ref))

    async def forget_files(self, card: TableCard) -> None:
        """Store that it is not known what a card has attached, before an edit that takes files from it.

        So a process that dies between the edit and storing it leaves no ids of files that are gone.
        """
        if card.ref.files:
            await self.change(card.table_id, card.with_unknown_content())


def _table_card(card: Card) -> TableCard:
    return TableCard(card.table_id, card.slot, msgspec.convert(card.message_ref, CardRef))


def moved(ref: CardRef, posted: CardRef) -> CardRef:
    """A reference to the same card where it was posted anew."""
    return msgspec.structs.replace(
        ref, channel_id=posted.channel_id, message_id=posted.message_id, files=posted.files,
        is_plain=posted.is_plain, payload_digest=posted.payload_digest,
    )  # fmt: skip


def digest(value: Any) -> str:
    """A short hash of bytes or of a JSON value, to compare contents."""
    raw = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return hashlib.sha256(raw).hexdigest()[:16]


def files_to_send(ref: CardRef, images: Iterable[ImageAttachment]) -> list[ImageAttachment | AttachedFile]:
    """The files of an edit: pictures that the message has already are kept by their ids."""
    attached = {(each.filename, each.digest): each for each in ref.files}
    files: list[ImageAttachment | AttachedFile] = []
    for image in images:
        known = attached.get((image.filename, digest(image.picture.png)))
        files.append(msgspec.structs.replace(known, alt=image.alt) if known else image)
    return files


def attached_files(images: Iterable[ImageAttachment], attachments: Iterable[Any]) -> list[AttachedFile]:
    """What Discord says it has attached, of these pictures."""
    ids = {each.filename: each.id for each in attachments}
    return [
        AttachedFile(each.filename, ids[each.filename], each.alt, digest(each.picture.png))
        for each in images
        if each.filename in ids
    ]


def card_slot(pending: PendingDecision, user: str | None = None) -> str:
    """The slot of a decision's card: of a seat's turn, or of one offer."""
    name = "turn" if pending.is_main else pending.decision_id.rpartition(".")[2]
    return slot_for(user, f"{name}:{pending.seat}")


def slot_for(user: str | None, name: str) -> str:
    """A slot in the direct messages of a user, or in the table's own channel or thread."""
    return f"u{user}/{name}" if user else name
