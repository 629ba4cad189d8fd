"""What a person sets for themselves by email, at no table in particular.

    settings                         how and when they are told
    settings quiet 22:00-07:00       changed; each line of the answer to `settings` can be sent back changed
    away until 2026-12-24, back
    turns, list                      the tables that wait for them, and all
    my data, erase me                all that is stored about them, and its end, after `yes` to an email
    addresses                        which addresses are theirs, and where their emails go
    link ann@example.org             another address; an email there asks for confirmation
    link ANN@WORK                    with an address that is theirs already: emails go there from now on
    unlink ann@example.org           it is no longer theirs

In a reply for a seat the same lines are read with those of the game. The From of an email can be forged, so
changes count only in a reply to an email of ours, whose reply address nobody else knows.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.features.privacy.person import Wanted
from bot.hub.request import QueryAnswer
from bot.service import Service
from mail.reply_address import ReplyToken

WANTED: Mapping[str, Wanted] = {"my data": "export", "erase me": "erase"}
SHOWING = ("settings", "turns", "list", "addresses")
"""Lines that change nothing, and count in any email."""


def is_about_oneself(service: Service, token: ReplyToken, line: str) -> bool:
    """Whether a line is a command about oneself: no prose that begins like one, and none that a game reads in
    a reply for a seat."""
    is_personal = token.seat is None and service.commands.is_personal(line)
    return is_personal or line.strip().casefold() in WANTED


async def carry_out(service: Service, person_id: int, line: str, is_reply: bool) -> tuple[str, ...]:
    """Carry out a command about oneself; returns sentences. is_reply: to an email of ours.

    Raises ValueError with a sentence.
    """
    word = line.strip().casefold()
    if word in WANTED:
        text = await service.personal_data.ask_by_mail(person_id, WANTED[word])
    elif word not in SHOWING and not is_reply:
        raise ValueError(f"To protect your settings, reply to this email with `{line.strip()}`.")
    else:
        result = await service.submit_personal(person_id, [line])
        if not isinstance(result, QueryAnswer):
            raise ValueError(getattr(result, "reason", ""))
        text = result.text
    return tuple(filter(None, (each.strip() for each in text.splitlines())))
