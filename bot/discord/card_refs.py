"""Which Discord message is the card of which decision: the references that the store keeps.

A slot names a card of a table: `turn:2` is the card of seat 2's turn, `o7:2` that of an offer to seat 2,
`v3:2` that of seat 2's vote in poll 3, `lobby` the lobby card. The prefix `u123/` marks a card in the direct
messages of user 123. `old:<message>` is a card that still has controls but is too old to be edited now.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from bot.discord.cards import CardContent, ImageRef
from bot.service.results import PendingDecision
from storage import Card


class CardRef(msgspec.Struct, omit_defaults=True):
    """The Discord message of a card, and what it shows.

    `seq` is the row of the log after which the card was made, `key` that of its outbox message. `texts` and
    `images` (file name, description) stay when the card is closed.
    """

    channel_id: int
    message_id: int
    person_id: int | None = None
    seat: int | None = None
    seq: int = 0
    key: str = ""
    payload_digest: str = ""
    picture_digest: str = ""
    texts: list[str] = []
    images: list[tuple[str, str]] = []

    @property
    def content(self) -> CardContent:
        return CardContent(self.texts, [ImageRef(*each) for each in self.images])


def card_ref(card: Card) -> CardRef:
    """The reference that is stored with a card."""
    return msgspec.convert(card.message_ref, CardRef)


def digest(value: Any) -> str:
    """A short hash of bytes or of a JSON value, to compare contents."""
    raw = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return hashlib.sha256(raw).hexdigest()[:16]


def card_slot(pending: PendingDecision, prefix: str) -> str:
    """The slot of a decision's card: of a seat's turn, or of one offer."""
    name = "turn" if pending.is_main else pending.decision_id.rpartition(".")[2]
    return f"{prefix}{name}:{pending.seat}"


def is_prompt_slot(slot: str) -> bool:
    """Whether the card of this slot asks a player to act or to vote."""
    return slot != "lobby" and not slot.startswith("old:")


def slot_prefix(slot: str) -> str:
    """The prefix of a slot: `u123/` for a direct message, "" for the table's own channel or thread."""
    head, slash, _ = slot.partition("/")
    return f"{head}/" if slash else ""
