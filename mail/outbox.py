"""The emails to be sent, as the delivery worker sees them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DueMail:
    """An email that is due now. attempts: those that failed. created_at: in UTC."""

    id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    attempts: int
    created_at: datetime


class MailOutbox(Protocol):
    """The emails to be sent. An email is leased to one delivery worker at a time."""

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> Sequence[DueMail]:
        """Lease the emails that are due, oldest first. full: domains that get no more for now."""

    async def next_due_at(self) -> datetime | None:
        """When an email may be due next (UTC), also one that a dead worker has; None without emails."""

    async def renew_leases(self, mails: Sequence[DueMail]) -> frozenset[str]:
        """Renew the leases of emails; returns the ids of those that are still ours and still wanted."""

    async def mark_sent(self, mail: DueMail) -> None:
        """The server has accepted the email."""

    async def mark_failed(
        self, mail: DueMail, reason: str, retry_at: datetime | None, is_recipient_refused: bool
    ) -> None:
        """The server has not accepted the email: it is due again at `retry_at` (UTC), or given up (None).

        is_recipient_refused: the server refused the address itself.
        """
