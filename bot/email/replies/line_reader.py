"""What the game and the service can read of a player's email: what `mail.reading` asks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import engine
from bot.email.pages.turn_pages import offered_lines
from bot.hub.command import Commands
from bot.position.pending import engine_seat
from mail.port import AcceptedLine
from mail.reading.line_text import first_word, without_comment, words_of
from mail.reading.unclear_lines import Vocabulary

MAX_LEGAL_LINES = 400  # that a reply is compared with

_ALWAYS = frozenset("pass done buy bid par sell lay token run pay withhold".split())


HEADER_WORD = "from"
"""It begins the head of a quoted email, so in a reply no line begins with it: `show from E11 east` asks."""


@cache
def game_verbs() -> frozenset[str]:
    """The first words of all lines of notation."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


class LineReader:
    """Reads lines as the game and the commands of the service do."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    @property
    def verbs(self) -> frozenset[str]:
        """The words that begin a line."""
        return (self._commands.words | game_verbs() | {"show"}) - {HEADER_WORD}

    def vocabulary_of(
        self, state: engine.State | None, seat: int, choices: Sequence[engine.Choice]
    ) -> Vocabulary:
        """What a seat can say now. choices: of the seat."""
        lines = tuple(choice.line for choice in choices[:MAX_LEGAL_LINES])
        if state is None:
            return Vocabulary(self.verbs)
        symbols = frozenset([*state.companies, *state.private_owners])
        names = frozenset(words_of(state.players[seat]))
        verbs = _ALWAYS | {first_word(line) for line in lines}
        return Vocabulary(self.verbs, verbs, symbols, lines, names, offered_lines(state, seat, choices))

    def readable_lines(self, state: engine.State | None, seat: int, lines: Sequence[str]) -> frozenset[str]:
        """Those of the lines that the game or the service can read, each after those before it."""
        found = {line for line in lines if self.is_service_line(state, line)}
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

    def is_service_line(self, state: engine.State | None, line: str) -> bool:
        """Whether the service reads a line itself: `undo`, `log 20`, `company PRR`."""
        companies, players = (state.companies, state.players) if state else ((), ())
        return self._commands.read_line(without_comment(line), companies, players)

    def without_show(self, line: str) -> str:
        """A question without the word `show` before it; any other line as it is."""
        rest = line.partition(" ")[2]
        is_question = first_word(line) == "show" and self._commands.is_query(first_word(rest))
        return rest if is_question else line

    @staticmethod
    def try_lines(
        state: engine.State | None, seat: int, lines: Sequence[str]
    ) -> tuple[AcceptedLine, ...] | None:
        """What lines would do now, as the seat sees it; None if they cannot all be played."""
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
