"""What the game and the service can read of a player's email: the knowledge behind `mail.reply_text`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import engine
from bot.hub.commands import TIME_WORDS, UNLOCKED_WORDS
from bot.position.pending import engine_seat
from mail.doubts import Vocabulary
from mail.line_text import first_word, words_of
from mail.port import AcceptedLine

MAX_LEGAL_LINES = 400  # that a reply is compared with

SERVICE_VERBS = frozenset(
    """
    auto standing undo redo resign accept decline company player status turn sheet board map market log at
    export help show plan try bids privates trains tiles routes chart records animation palette
    """.split()
) | frozenset((*TIME_WORDS, *UNLOCKED_WORDS))
_ALWAYS = frozenset("pass done buy bid par sell lay token run pay withhold".split())
_SERVICE_LINE = re.compile(
    r"(?:auto(?: (?:off|first|help|pass|buy|bid|run|turn|decline|protect)\b.*)?"
    r"|undo|redo|resign(?: yes)?|(?:accept|decline)(?: vote)?|(?:plan|try)(?: .+)?"
    r"|(?:show )?(?:help|status|turn|sheet|board|map|market)[?!]?|(?:show )?log(?: \d{1,4})?"
    r"|(?:show )?(?:bids|privates|trains|tiles|routes)[?!]?|(?:show )?privates [\w&]{1,5}"
    r"|(?:show )?chart(?: (?:worth|prices|revenue))?[?!]?|(?:show )?(?:records|animation)[?!]?"
    r"|(?:show )?tiles #?\w?\d\w{0,3}"
    r"|(?:show )?export(?: [\w.-]{1,20})?(?: (?:--)?as[ -]far[ -]as[ -]possible)?"
    r"|(?:show )?at (?:start|opening|(?:(?:stock|operating|merger) round |[a-z]{2,4} ?)?[\d.]{1,8})"
    r"(?: (?:map|market|sheet))?|hint)",
    re.IGNORECASE,
)
_TIME_LINE = re.compile(
    r"settings(?: .{1,80})?|away (?:until|from|off).{0,60}|back|extend|turns|rematch|pace(?: .{1,80})?"
    r"|palette(?: (?:light|dark))?|pause|resume",
    re.IGNORECASE,
)
_ABOUT_LINE = re.compile(r"(?:show )?(company|player|routes) (.{1,40})", re.IGNORECASE)


@cache
def game_verbs() -> frozenset[str]:
    """The first words of all lines of notation."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


def vocabulary_of(state: engine.State | None, seat: int, legal_lines: Iterable[str]) -> Vocabulary:
    """What a seat can say now. legal_lines: of the seat."""
    lines = tuple(legal_lines)[:MAX_LEGAL_LINES]
    verbs = SERVICE_VERBS | game_verbs()
    if state is None:
        return Vocabulary(verbs)
    symbols = frozenset([*state.companies, *state.private_owners])
    names = frozenset(words_of(state.players[seat]))
    return Vocabulary(verbs, _ALWAYS | {first_word(line) for line in lines}, symbols, lines, names)


def readable_lines(state: engine.State | None, seat: int, lines: Sequence[str]) -> frozenset[str]:
    """Those of the lines that the game or the service can read, each after those before it."""
    found = {line for line in lines if is_service_line(state, line)}
    for line in lines:
        if state is None or line in found or "?" in line:
            continue
        try:
            state = engine.play_line(state, engine_seat(seat), line).state
        except engine.UnreadableError:
            continue
        except (engine.AmbiguousError, engine.RefusedError):
            pass
        found.add(line)
    return frozenset(found)


def is_service_line(state: engine.State | None, line: str) -> bool:
    """Whether the service reads a line itself: `undo`, `log 20`, `company PRR`."""
    if _SERVICE_LINE.fullmatch(line) or _TIME_LINE.fullmatch(line):
        return True
    about = _ABOUT_LINE.fullmatch(line)
    if about is None or state is None:
        return False
    known = state.players if about[1].casefold() == "player" else state.companies
    return about[2].strip().casefold() in {name.casefold() for name in known}


def try_lines(state: engine.State | None, seat: int, lines: Sequence[str]) -> tuple[AcceptedLine, ...] | None:
    """What lines would do if they were played now, as the seat sees it; None if they cannot all be played."""
    if state is None:
        return None
    state = engine.visible_to(state, engine_seat(seat))
    accepted = []
    for line in lines:
        try:
            played = engine.play_line(state, engine_seat(seat), line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
            return None
        state = played.state
        accepted.append(AcceptedLine(line, " ".join(engine.narrate(state, played.events)) or played.line))
    return tuple(accepted) or None
