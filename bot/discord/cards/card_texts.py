"""The texts of cards: headings, what has happened, and the line of a notification."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import engine
from bot.discord.cards.parts import truncate
from bot.discord.controls.controls import CUSTOM_ID_VERSION, OPEN_CARD
from bot.hub.info import TableInfo
from bot.hub.log import LogEntry
from bot.hub.table import TableView
from bot.position.pending import PendingDecision, engine_seat, prompt_of
from engine.core.words import dollars, join_words

MAX_HISTORY, MAX_RESULT, MAX_LINE = 1200, 400, 250
MAX_HISTORY_LINES = 12
MAX_HISTORY_LINE = 500  # characters
VOTES = ("accept", "decline")


def mention(user: int | str | None, name: str) -> str:
    """A mention of a Discord user, or the name in bold for a player without a Discord id."""
    return f"<@{user}>" if user else f"**{name}**"


def mentions(seats: Iterable[int], users: Mapping[int, str | None], names: Sequence[str]) -> str:
    """Mentions of the players in these seats; one of a deputy who acts for several."""
    return " ".join(dict.fromkeys(mention(users.get(seat), names[seat]) for seat in seats))


def player_name(state: engine.State, seat: int) -> str:
    """A player's name; with the company for which they are acting, where they are its president."""
    company = engine.decision(state).company
    name = state.players[seat]
    if company and state.companies[company].president == engine_seat(seat):
        return f"{name} (president of the {company})"
    return name


def table_heading(table: TableInfo, seq: int) -> str:
    """Which table this is and how far its game is."""
    how_far = f"{table.round} · move {seq}" if table.round else table.status
    return f"**{table.code}** · {table.title_and_name} · {how_far}"


def history_lines(entries: Sequence[LogEntry], names: Sequence[str]) -> list[str]:
    """Log entries in a line for each turn: the last ones, in at most `MAX_HISTORY` characters; the first line
    then says how many turns are left out."""
    told: list[str] = []
    turns = [each for each in told_turns([entry for entry in entries if entry.is_live]) if each.news]
    room = MAX_HISTORY - len(left_out(len(turns)))
    for kept, turn in enumerate(reversed(turns)):
        line = truncate(turn.text(names), MAX_HISTORY_LINE)
        room -= len(line) + 1
        if kept == MAX_HISTORY_LINES or room < 0:
            return [left_out(len(turns) - kept), *told]
        told.insert(0, line)
    return told


def left_out(turns: int) -> str:
    """The first line of a list of turns that has no room for the earliest."""
    return f"… and {turns} earlier turn{'s' * (turns != 1)} (`/show log`)"


def is_vote(entry: LogEntry) -> bool:
    """Whether an entry is a vote that was cast."""
    return entry.kind == "note" and entry.line in VOTES and bool(entry.sentences)


def turn_lines(entries: Sequence[LogEntry], names: Sequence[str]) -> list[str]:
    """Finished turns, a line for each: `✓ Ann buys the SV for $20.`, or
    `↶ Ann buys the SV for $20. (undone)`; and votes."""
    lines = []
    told = [e for e in entries if e.seat is not None and e.has_text and (e.kind == "move" or is_vote(e))]
    for (is_live, voted), group in groupby(told, key=lambda e: (e.is_live, is_vote(e))):
        texts = [truncate(turn.text(names), MAX_RESULT) for turn in told_turns(list(group))]
        lines += texts if voted else [_marked(text, is_live) for text in texts]
    return lines


def _marked(text: str, is_live: bool) -> str:
    return f"✓ {text}" if is_live else f"↶ {text} (undone)"


def notification_line(
    view: TableView, prompts: Sequence[PendingDecision], users: Mapping[int, str | None]
) -> str:
    """The line that a phone shows, such as `@Bob: TITLE OR 2.1, lay track for the NYC, $430 · A7K`."""
    state = view.state
    assert state is not None
    names = mentions([each.seat for each in prompts], users, view.table.names)
    parts = [
        f"{view.table.title} {engine.short_round(engine.round_name(state))}",
        prompt_of(state, prompts[0]),
    ]
    if len(prompts) == 1:
        parts.append(dollars(available_cash(state, prompts[0].seat)))
    return truncate(f"{names}: {', '.join(parts)}", MAX_LINE - 10) + f" · {view.table.code}"


def available_cash(state: engine.State, seat: int) -> int:
    """The cash of the company for which a seat acts, if it acts for one; else the player's own."""
    company = engine.decision(state).company
    owner = engine_seat(seat)
    if company and state.companies[company].president == owner:
        owner = company
    return state.cash[owner]


def is_line_for(text: str, names: Sequence[str], code: str) -> bool:
    """Whether a text is a line that notifies one of these players at a table. names: as it mentions them."""
    told = text.partition(": ")[0]
    return text.endswith(f" · {code}") and any(name in told for name in names)


def is_card_of(components: str, table_id: int, name: str) -> bool:
    """Whether a message is the card of a slot, by the custom ids in the JSON of its components."""
    kind, _, seat = name.partition(":")
    start = f'"{CUSTOM_ID_VERSION}:{table_id}:{seat or "-"}:'
    match kind:
        case "turn" | "asked":
            return start in components and (kind == "turn" or f":{OPEN_CARD}:" in components)
        case _ if kind.startswith("v"):
            return f"{start}{kind}:" in components
    return start in components and f".{kind}:" in components


PASS = re.compile(r"(.+) passes\.")
NEW_ROUND = re.compile(r"\w+ round [\d.]+ begins(, the \w+ of \d+)?\.")
DECLINED_STEP = re.compile(r"The \S+ declines to [a-z ]+\.")


@dataclass(slots=True)
class TurnSummary:
    """Successive moves of one player, or players who pass one after the other. line: of the first move."""

    seat: int | None
    line: str
    sentences: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    @property
    def news(self) -> list[str]:
        """What others want to know of it."""
        return self.passed or [each for each in self.sentences if not DECLINED_STEP.fullmatch(each)]

    def text(self, names: Sequence[str]) -> str:
        """`Ann buys the SV for $20.`; `Ann: The PRR runs…`; `Bob and Cid pass.`"""
        if self.passed:
            who = list(dict.fromkeys(self.passed))
            return f"{join_words(who)} pass{'es' * (len(who) == 1)}."
        told = " ".join(self.news or self.sentences) or self.line
        name = "" if self.seat is None else names[self.seat]
        return told if name in told else f"{name}: {told}"


def told_turns(entries: Sequence[LogEntry]) -> list[TurnSummary]:
    """Log entries as turns, without those that say nothing."""
    turns: list[TurnSummary] = []
    for entry in (each for each in entries if each.has_text):
        is_note = entry.kind != "move"
        seat = None if is_note else entry.seat  # a note says itself whom it is about
        said = [" ".join(entry.sentences) or entry.line] if is_note else entry.sentences
        for sentence in said or [""]:  # a `pass` that ends a turn says nothing
            passing = PASS.fullmatch(sentence)
            seat = None if passing or NEW_ROUND.fullmatch(sentence) else seat  # what follows is nobody's move
            last = turns[-1] if turns else None
            if is_note or last is None or last.seat != seat or bool(passing) != bool(last.passed):
                last = TurnSummary(seat, entry.line)
                turns.append(last)
            if passing:
                last.passed.append(passing[1])
            elif sentence:
                last.sentences.append(sentence)
    return turns
