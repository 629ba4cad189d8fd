"""Posts by a Discord webhook: text with pictures, and the edit of such a post.

The address is a secret: anybody who has it can post. No sentence and no log names it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import stamina

from renderers import Picture

MAX_TEXT = 2000  # characters of a Discord message
ATTEMPTS = 6
LONGEST_WAIT = 300.0  # seconds that all attempts take together
TIMEOUT = aiohttp.ClientTimeout(total=60)


class WebhookError(Exception):
    """The post could not be made; the message is a sentence for people."""


class _TryLater(Exception):
    """The server is busy. seconds: how long it wants us to wait."""

    def __init__(self, status: int, seconds: float) -> None:
        super().__init__(f"it answers {status}")
        self.seconds = seconds


def check_webhook_url(url: str) -> str:
    """The address of a webhook. Raises WebhookError."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WebhookError("A webhook's address begins with https://; the settings of the channel show it.")
    return url.strip()


class Webhook:
    """A webhook of a channel. Use it in `async with`."""

    def __init__(self, url: str) -> None:
        """Raises WebhookError for a text that is no address."""
        self._parts = urlsplit(check_webhook_url(url))
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Webhook:
        self._session = aiohttp.ClientSession(timeout=TIMEOUT)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, text: str, pictures: Sequence[tuple[str, Picture]]) -> str:
        """Make a post; the id of its message. Raises WebhookError."""
        found = await self._send("POST", self._address("", "wait=true"), text, pictures)
        return str(found.get("id", ""))

    async def edit(self, message: str, text: str, pictures: Sequence[tuple[str, Picture]]) -> bool:
        """Replace a post; False where it is gone. Raises WebhookError."""
        try:
            await self._send("PATCH", self._address(f"/messages/{message}", ""), text, pictures)
        except FileNotFoundError:
            return False
        return True

    def _address(self, path: str, query: str) -> str:
        """The webhook's own query, such as a thread, stays."""
        queries = "&".join(each for each in (self._parts.query, query) if each)
        return urlunsplit(self._parts._replace(path=self._parts.path.rstrip("/") + path, query=queries))

    async def _send(
        self, method: str, address: str, text: str, pictures: Sequence[tuple[str, Picture]]
    ) -> dict[str, object]:
        def wait(error: Exception) -> bool | float:
            if isinstance(error, _TryLater):
                return error.seconds
            return isinstance(error, aiohttp.ClientError | TimeoutError)

        try:
            retry = stamina.AsyncRetryingCaller(attempts=ATTEMPTS, timeout=LONGEST_WAIT)
            return await retry(wait, self._send_once, method, address, text, pictures)
        except FileNotFoundError:
            raise
        except _TryLater as error:
            raise WebhookError(f"The webhook cannot be used now: {error}. Try again later.") from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise WebhookError(f"{self._parts.hostname} cannot be reached: {why}.") from None

    async def _send_once(
        self, method: str, address: str, text: str, pictures: Sequence[tuple[str, Picture]]
    ) -> dict[str, object]:
        assert self._session is not None
        form = aiohttp.FormData()
        listed = [
            {"id": number, "filename": f"{name}.png", "description": picture.alt[:1024]}
            for number, (name, picture) in enumerate(pictures)
        ]
        payload = {"content": text[:MAX_TEXT], "attachments": listed, "allowed_mentions": {"parse": []}}
        form.add_field("payload_json", json.dumps(payload), content_type="application/json")
        for number, (name, picture) in enumerate(pictures):
            form.add_field(f"files[{number}]", picture.png, filename=f"{name}.png", content_type="image/png")
        async with self._session.request(method, address, data=form, allow_redirects=False) as answer:
            if answer.status == 404 and method == "PATCH":
                raise FileNotFoundError
            if answer.status == 429 or answer.status >= 500:
                raise _TryLater(answer.status, _seconds(answer.headers.get("Retry-After")))
            if answer.status in (401, 403, 404):
                raise WebhookError("The webhook does not exist any more, or its address is not complete.")
            if answer.status >= 300:
                raise WebhookError(f"The webhook refuses the post: it answers {answer.status}.")
            found = await answer.json(content_type=None) if answer.status != 204 else {}
            return found if isinstance(found, dict) else {}


def _seconds(retry_after: str | None) -> float:
    """What a Retry-After header says; a second where it says nothing of use."""
    try:
        return min(max(float(retry_after or 1), 0.1), LONGEST_WAIT)
    except ValueError:
        return 1.0
