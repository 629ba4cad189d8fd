"""What a person sets for themselves by email, at no table in particular.

    settings                         how and when they are told
    settings quiet 22:00-07:00       changed; each line of the answer to `settings` can be sent back changed
    away until 2026-12-24, back
    turns                            the tables that wait for them
    my data, erase me                all that is stored about them, and its end, after `yes` to an email

In a reply for a seat the same lines are read with those of the game. The From of an email can be forged, so
changes count only in a reply to an email of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.features.privacy.person import Wanted
from bot.service import Service

_PERSONAL = re.compile(
    r"settings(?: [^?]{1,80})?|away until \S+(?: deputy .{1,40})?|back|turns|my data|erase me", re.IGNORECASE
)

WANTED: Mapping[str, Wanted] = {"my data": "export", "erase me": "erase"}


def is_personal_command(line: str) -> bool:
    """Whether a line is a command about oneself, and no prose that begins like one."""
    return _PERSONAL.fullmatch(line.strip()) is not None


async def run(service: Service, person_id: int, line: str, is_reply: bool) -> tuple[str, ...]:
    """Carry out a command about oneself; returns sentences. is_reply: to an email of ours.

    Raises ValueError with a sentence.
    """
    word = line.strip().casefold()
    if word == "turns":
        text = await service.settings.turns(person_id)
    elif word in WANTED:
        text = await service.personal_data.ask_by_mail(person_id, WANTED[word])
    elif word != "settings" and not is_reply:
        raise ValueError(f"To protect your settings, reply to this email with `{line.strip()}`.")
    else:
        text = await service.settings.apply(person_id, [line])
    return tuple(filter(None, (each.strip() for each in text.splitlines())))
