"""Emails that came in: stored before they are read, and finished once.

The bytes are in a file named by their SHA-256, and a row counts the attempts. The outcome, our reply and the
reply's tokens are stored in one transaction, with the key by which the same email is recognized when it
arrives in another way.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from bot.email.outgoing import enqueue_mail, gather_answer
from bot.service import Service
from mail.port import (
    Arrival,
    Folder,
    MailOutcome,
)


class InboundMail:
    """What arrives, and what came of it. `folder` has the bytes of emails that are not finished."""

    def __init__(self, service: Service, folder: Path) -> None:
        self._service, self._store, self._folder = service, service.store, folder

    async def record_arrival(self, digest: str, raw: bytes, when: datetime) -> Arrival:
        """Store the bytes and count the attempt, before anything is read."""
        path = self._mail_path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_bytes(raw)
            path.with_suffix(".part").replace(path)
        async with self._store.begin(excludes_others=False) as unit:
            row = await unit.inbound_mail.record_attempt(digest, digest, path.name)
        folder = Folder(row.outcome.partition(":")[0]) if row.outcome else None
        return Arrival(row.attempts, folder)

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Store the outcome with our replies and their tokens; no replies for a key stored already."""
        async with self._store.begin(excludes_others=False) as unit:
            is_new = await unit.inbound_mail.record_outcome(digest, f"{outcome.folder}: {outcome.reason}")
            if outcome.idempotency_key is not None and is_new:
                request_id = f"mail:{outcome.idempotency_key}"
                is_new = await unit.move_log.request_result(request_id) is None
                if is_new:
                    await unit.move_log.save_request_result(request_id, outcome.reason.encode())
            for reply in outcome.replies if is_new else ():
                await enqueue_mail(unit, reply, "answer")
            if outcome.gathered and is_new:
                await gather_answer(unit, outcome.gathered, digest)
        if outcome.folder is not Folder.QUARANTINE:
            with suppress(OSError):
                self._mail_path(digest).unlink()
        self._service.wake_subscribers()

    async def delete_before(self, age: timedelta) -> None:
        """Delete what is kept of emails that were finished so long ago, and tokens that ended then."""
        async with self._store.begin() as unit:
            before = unit.now - age
            digests = await unit.inbound_mail.delete_finished(before)
            await unit.mail_tokens.delete_expired(before)
        for digest in digests:
            self._mail_path(digest).unlink(missing_ok=True)

    def _mail_path(self, digest: str) -> Path:
        return self._folder / f"{digest}.eml"

    async def count_replies(self, since: datetime, who: str | None = None, reason: str | None = None) -> int:
        """The number of our replies since then, to that seat or address, for that reason."""
        fields = {"kind": "answer", "who": who, "reason": reason}
        async with self._store.read() as unit:
            return await unit.outbox.count(
                "mail", since, **{k: v for k, v in fields.items() if v is not None}
            )
