"""One-click unsubscribe by HTTPS (RFC 8058): a POST to the address in the header of an email ends emails.

The page listens with the status on a port of loopback; the operator's web server passes `/unsubscribe/` on,
and nothing else. A GET changes nothing, because mail scanners follow links: it shows a button.
"""

from __future__ import annotations

from html import escape

from aiohttp import web

from bot.email.reachability import Correspondents
from bot.email.tokens import token_of_secret
from bot.service import Service

PATH = "/unsubscribe/{token}"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<title>Emails of Railpost</title>
</head>
<body style="font:18px/1.5 sans-serif;margin:2em auto;max-width:32em;padding:0 1em"><p>{text}</p>{form}</body>
</html>
"""
FORM = '<form method="post"><button style="font-size:1em;padding:.5em">Send me no more emails</button></form>'
ASKED = "Do you want no more emails about your games? You keep your seats."
DONE = "No more emails come to you. You keep your seats. Reply `start` to any email to get emails again."
UNKNOWN = "This link is not valid any more. Reply `stop` to any email to end emails."


class UnsubscribePage:
    """Ends emails to the owner of an unsubscribe token."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._people = Correspondents(service)

    def add_to(self, application: web.Application) -> None:
        """Serve the page."""
        application.router.add_get(PATH, self._ask)
        application.router.add_post(PATH, self._unsubscribe)

    async def _ask(self, request: web.Request) -> web.Response:
        if await self._owner(request) is None:
            return _page(UNKNOWN, status=404)
        return _page(ASKED, FORM)

    async def _unsubscribe(self, request: web.Request) -> web.Response:
        owner = await self._owner(request)
        if owner is None:
            return _page(UNKNOWN, status=404)
        await self._people.stop(*owner)
        return _page(DONE)

    async def _owner(self, request: web.Request) -> tuple[int, str] | None:
        """The person whose token it is, and the address that it went to."""
        async with self._service.store.read() as unit:
            token = await token_of_secret(unit, request.match_info["token"])
        return (token.person_id, token.address) if token and token.purpose == "unsubscribe" else None


def _page(text: str, form: str = "", status: int = 200) -> web.Response:
    body = PAGE.format(text=escape(text), form=form)
    headers = {"Cache-Control": "no-store"}
    return web.Response(text=body, status=status, content_type="text/html", headers=headers)
