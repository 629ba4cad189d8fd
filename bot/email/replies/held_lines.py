"""Lines that wait for `yes`: held under a code that only we can compute."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence

import msgspec

from bot.email.outgoing import offer_key
from mail import ReplyToken
from mail.port import HeldLines
from storage import Store


def held_key(token: ReplyToken, code: str) -> str:
    return f"hold:{token.actor}:{code}"


class HeldLineStore:
    """Lines that are held until their player confirms them. key: signs the codes."""

    def __init__(self, store: Store, key: bytes) -> None:
        self._store, self._key = store, key

    async def hold_lines(
        self, token: ReplyToken, lines: Sequence[str], request_id: str, figures: Sequence[str] = ()
    ) -> str:
        """Store lines until the player confirms them; returns the code, which only we can compute."""
        mac = hmac.digest(self._key, f"hold:{request_id}".encode(), "sha256")
        code = base64.b32encode(mac).decode().lower()[:12]
        async with self._store.begin() as unit:
            key = held_key(token, code)
            if await unit.move_log.request_result(key) is None:
                held = HeldLines(tuple(lines), token.decision_id, tuple(figures))
                await unit.move_log.save_request_result(key, msgspec.json.encode(held))
        return code

    async def find_held_lines(self, token: ReplyToken, code: str) -> HeldLines | None:
        """The lines that are held under a code."""
        async with self._store.read() as unit:
            body = await unit.move_log.request_result(held_key(token, code.lower()))
        if body is None:
            return None
        return msgspec.json.decode(body, type=HeldLines)

    async def find_offered_code(self, token: ReplyToken, message_ids: Sequence[str]) -> str | None:
        """The code that the email with this token offered, or the first of these emails that offered one."""
        async with self._store.read() as unit:
            for message_id in filter(None, (token.message_id, *message_ids[:5])):
                body = await unit.move_log.request_result(offer_key(token, message_id))
                if body is not None:
                    return body.decode()
        return None
