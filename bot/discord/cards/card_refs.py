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
from typing import Any

import msgspec

from bot.discord.api import ImageAttachment, KeptAttachment
from bot.position.pending import PendingDecision
from storage import Card

LOBBY, RUN, SAID_FILES, ASKED, OVER = "lobby", "run", "said:files", "asked", "over"
REMIND, ENDED = "remind", "ended"
LASTING_SLOTS = (RUN, ENDED, SAID_FILES, OVER)
"""Slots of messages that are not brought up to date."""
OLD_PREFIX = "old:"


class AttachedFile(msgspec.Struct, array_like=True):
    """A file that Discord has attached to a message, with its description and a digest of its bytes."""

    filename: str
    id: int
    alt: str
    digest: str


class CardRef(msgspec.Struct, omit_defaults=True):
    """The Discord message of a card, and what it shows.

    `seq` is the row of the log after which the card was made; of a list of turns, and of a card that is
    queued, the row up to which it tells. `since`: the row after which it tells, if that is another. `key` is
    that of its outbox message. `files` is what is really attached. is_plain: no file may be attached there.
    `pinged`: the seats that the message has notified. `payload_digest`: of what it shows, "" if that is not
    known. `brought_down`: the decision for which the card was posted again below chat.
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


def card_ref(card: Card) -> CardRef:
    """The reference that is stored with a card."""
    return msgspec.convert(card.message_ref, CardRef)


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


def files_to_send(ref: CardRef, images: Iterable[ImageAttachment]) -> list[ImageAttachment | KeptAttachment]:
    """The files of an edit: pictures that the message has already are kept by their ids."""
    attached = {(each.filename, each.digest): each for each in ref.files}
    files: list[ImageAttachment | KeptAttachment] = []
    for image in images:
        known = attached.get((image.filename, digest(image.picture.png)))
        files.append(image if known is None else KeptAttachment(known.id, known.filename, image.ref.alt))
    return files


def kept_ids(files: Iterable[ImageAttachment | KeptAttachment]) -> set[int]:
    """The ids of the files of an edit that the message has already."""
    return {each.id for each in files if isinstance(each, KeptAttachment)}


def attached_files(images: Iterable[ImageAttachment], attachments: Iterable[Any]) -> list[AttachedFile]:
    """What Discord says it has attached, of these pictures."""
    ids = {each.filename: each.id for each in attachments}
    return [
        AttachedFile(each.filename, ids[each.filename], each.ref.alt, digest(each.picture.png))
        for each in images
        if each.filename in ids
    ]


def card_slot(pending: PendingDecision, prefix: str) -> str:
    """The slot of a decision's card: of a seat's turn, or of one offer."""
    name = "turn" if pending.is_main else pending.decision_id.rpartition(".")[2]
    return f"{prefix}{name}:{pending.seat}"


def is_prompt_slot(slot: str) -> bool:
    """Whether the card of this slot asks a player to act or to vote."""
    name = slot.removeprefix(slot_prefix(slot)).partition(":")[0]
    return name not in (LOBBY, RUN, ENDED, "said", OVER, REMIND) and not is_old_slot(slot)


def is_old_slot(slot: str) -> bool:
    """Whether the card of this slot still has controls that nobody needs."""
    return slot.removeprefix(slot_prefix(slot)).startswith(OLD_PREFIX)


def slot_prefix(slot: str) -> str:
    """The prefix of a slot: `u123/` for a direct message, "" for the table's own channel or thread."""
    head, slash, _ = slot.partition("/")
    return f"{head}/" if slash else ""
