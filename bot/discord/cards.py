"""What a message on Discord looks like: payloads of Components V2, made from plain values (pure).

A turn card says whose turn it is and where, what has happened since that player's last turn, what is
needed, and offers the controls, which are made from the engine's choices for every kind of decision
alike. Everything is kept within Discord's limits here: 4000 characters and 40 components of a message,
80 of a label, 100 of an option, 1024 of a picture's description.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import engine
from bot import words
from bot.answers import (
    Ambiguous,
    Answer,
    Asked,
    Closed,
    Confirm,
    Done,
    NotYours,
    Refused,
    Shown,
    Stale,
    Unreadable,
    Voted,
)
from bot.discord.controls import (
    JOIN,
    LEAVE,
    PICK,
    SAY,
    START,
    SURE,
    WRITE,
    Controls,
    Item,
    Key,
    controls,
    named,
)
from bot.play import Happening, View, seat_name
from bot.tables import TableInfo

Json = dict[str, Any]

MOST_TEXT = 4000
MOST_HEAD, MOST_PAST, MOST_BOARD, MOST_RESULT = 300, 1400, 1500, 300
MOST_SINCE = 8
LONGEST_SINCE = (600, 300, 160)  # characters of a row, the first at which all have room
LONGEST_ALT = 1024
PRIMARY, SECONDARY, SUCCESS, DANGER = 1, 2, 3, 4


class Shot(NamedTuple):
    """A picture on a message: its file name and what it shows."""

    name: str
    alt: str


class Face(NamedTuple):
    """What of a card stays when its controls go."""

    texts: list[str]
    shots: list[Shot]


# -- components ------------------------------------------------------------------------------


def cut(text: str, most: int) -> str:
    """At most so many characters, never none."""
    return (text if len(text) <= most else f"{text[: most - 1].rstrip()}…") or "—"


def text(content: str, most: int = MOST_TEXT) -> Json:
    """A text display."""
    return {"type": 10, "content": cut(content, most)}


def pictures(shots: Sequence[Shot]) -> list[Json]:
    """Attached pictures with their descriptions, each by itself and so as wide as the message."""
    return [
        {
            "type": 12,
            "items": [
                {
                    "media": {"url": f"attachment://{shot.name}"},
                    "description": cut(shot.alt, LONGEST_ALT),
                }
            ],
        }
        for shot in shots
    ]


def documents(names: Sequence[str]) -> list[Json]:
    """Attached files that are not shown but can be had."""
    return [{"type": 13, "file": {"url": f"attachment://{name}"}} for name in names]


def container(parts: Sequence[Json], color: int | None = None) -> Json:
    """A framed group."""
    return {"type": 17, "components": list(parts)} | ({} if color is None else {"accent_color": color})


def button(label: str, custom_id: str, style: int = SECONDARY) -> Json:
    """A button."""
    return {"type": 2, "style": style, "label": cut(label, 80), "custom_id": custom_id}


def rows(buttons: Sequence[Json]) -> list[Json]:
    """Buttons in rows of five."""
    return [{"type": 1, "components": list(buttons[i : i + 5])} for i in range(0, len(buttons), 5)]


def select(custom_id: str, placeholder: str, items: Sequence[Item]) -> Json:
    """A row with one select."""
    options = [
        {"label": cut(each.label, 100), "value": each.value}
        | ({"description": cut(each.about, 100)} if each.about else {})
        for each in items
    ]
    part = {"type": 3, "custom_id": custom_id, "placeholder": cut(placeholder, 150), "options": options}
    return {"type": 1, "components": [part]}


def code(content: str, most: int) -> str:
    """Text in fixed width."""
    return f"```\n{cut(content.replace('```', ''), most - 8)}\n```"


# -- words -----------------------------------------------------------------------------------


def mention(user: int | str | None, name: str) -> str:
    """Somebody by his Discord id, or by name where he has none."""
    return f"<@{user}>" if user else f"**{name}**"


def who(state: engine.State, seat: int) -> str:
    """A player by name, and by the company for which he is asked."""
    company = engine.decision(state).company
    name = state.players[seat]
    if company and state.companies[company].president == seat_name(seat):
        return f"{name} (president of the {company})"
    return name


def heading(table: TableInfo, seq: int) -> str:
    """Which table this is and where its game stands."""
    name = "" if table.name == table.title else f" · {table.name}"
    return f"**{table.code}** · {table.title}{name} · {table.round or table.status} · move {seq}"


def since(rows: Sequence[Happening], names: Sequence[str], most: int = MOST_SINCE) -> list[str]:
    """What has happened, a line a row, as long as all have room; the last rows where there are more."""
    told = [_told(row, names) for row in rows if row.live and row.tells]
    if len(told) > most:
        left = len(told) - most + 1
        told = [f"… and {left} moves before (`/show log`)", *told[-(most - 1) :]]
    for longest in LONGEST_SINCE:
        found = [cut(said, longest) for said in told]
        if sum(map(len, found)) + len(found) <= MOST_PAST:
            break
    return found


def _told(row: Happening, names: Sequence[str]) -> str:
    said = " ".join(row.sentences) or row.line
    if row.seat is not None and names[row.seat] not in said:
        said = f"{names[row.seat]}: {said}"
    return said


def result(rows: Sequence[Happening], names: Sequence[str], seat: int) -> str:
    """What came of a card: the lines that were said by that seat, or that it is no longer asked."""
    said = [row.words for row in rows if row.live and row.kind == "move" and row.seat == seat and row.tells]
    if said:
        return cut(f"✓ {names[seat]}: {'; '.join(said)}", MOST_RESULT)
    return f"This is no longer asked of {names[seat]}."


# -- cards -----------------------------------------------------------------------------------


def turn_card(
    view: View,
    asked: Asked,
    choices: Sequence[engine.Choice],
    past: Sequence[str],
    user: str | None,
    shots: Sequence[Shot],
) -> tuple[list[Json], Face]:
    """The card of somebody who is asked: its components, and what of it stays.

    past: what happened since his last turn. user: his Discord id. shots: the pictures that will be
    attached; without one the board is written out.
    """
    state = view.state
    assert state is not None
    what = f"It is for {who(state, asked.seat)} {asked.needs}."
    if not asked.main:
        what = f"{asked.name} is asked {asked.needs}."
    head = f"{mention(user, asked.name)} · {heading(view.table, view.seq)}"
    texts = [cut(head, MOST_HEAD)]
    if past:
        texts.append(cut("\n".join(past), MOST_PAST))
    texts.append(cut(f"### {what}", MOST_HEAD))
    if not shots:
        texts.append(code(f"{words.market(state)}\n\n{words.board(state)}", MOST_BOARD))
    key = Key(view.table.id, asked.seat, asked.decision, SAY)
    made = _controls(key, controls(choices, key.room), view.now, choices[0].says if choices else "")
    body = [*pictures(shots), *[text(each) for each in texts[1 + bool(past) :]], *made]
    parts = [text(each) for each in texts[: 1 + bool(past)]]
    return [*parts, container(body)], Face(texts, list(shots))


def _controls(key: Key, found: Controls, now: str, first: str) -> list[Json]:
    """Rows of controls: buttons, selects, and what is always there; the `first` choice stands out."""
    buttons = [
        button(
            each.label,
            str(key._replace(act=each.act, arg=each.arg)),
            PRIMARY if each.label.rstrip("…") == first else SECONDARY,
        )
        for each in found.buttons
    ]
    selects = [
        select(str(key._replace(act=PICK, arg=str(i))), placeholder, items)
        for i, (placeholder, items) in enumerate(found.selects)
    ]
    always = [
        button("Undo", str(Key(key.table, None, now, SAY, "undo"))),
        button("Write…", str(key._replace(act=WRITE, arg=""))),
    ]
    return [*rows(buttons), *selects, *rows(always)]


def stripped(face: Face, came: str) -> list[Json]:
    """A card without its controls, with what came of it."""
    first, *rest = face.texts
    return [
        text(first),
        container([*pictures(face.shots), *[text(each) for each in rest], text(came, MOST_RESULT)]),
    ]


def told(parts: Sequence[str]) -> list[Json]:
    """A notice to the table."""
    return [text("\n".join(part for part in parts if part))]


def vote_card(
    view: View, seat: int, decision: str, question: str, user: str | None
) -> tuple[list[Json], Face]:
    """A vote put to a seat."""
    name = view.table.names[seat] if seat < len(view.table.names) else "?"
    head = f"{mention(user, name)} · {heading(view.table, view.seq)}"
    key = Key(view.table.id, seat, decision, SAY)
    answers = [
        button("Accept", str(key._replace(arg="accept vote")), SUCCESS),
        button("Decline", str(key._replace(arg="decline vote")), DANGER),
    ]
    return [text(head), container([text(question), *rows(answers)])], Face([head, question], [])


def lobby_card(table: TableInfo) -> list[Json]:
    """A table that is being gathered: who sits there, and the buttons to join, leave and start."""
    title = engine.title_of(table.title, table.options).facts
    seats = [f"{i}. {s.name}" + ("" if s.joined else " (invited)") for i, s in enumerate(table.sitters, 1)]
    name = "" if table.name == table.title else f" · {table.name}"
    lines = [
        f"### Table {table.code} · {table.title}{name}",
        f"For {title.players['min']} to {title.players['max']} players"
        + (f", {', '.join(table.options)}" if table.options else "")
        + ".",
        *(seats or ["Nobody sits here yet."]),
    ]
    parts = [text("\n".join(lines))]
    if table.status == "lobby":
        key = Key(table.id, None, None, JOIN)
        parts += rows(
            [
                button("Join", str(key), SUCCESS),
                button("Leave", str(key._replace(act=LEAVE))),
                button("Start", str(key._replace(act=START)), PRIMARY),
            ]
        )
    else:
        parts.append(text("The game has begun." if table.status != "ended" else "The table was closed."))
    return [container(parts)]


def invitation(table: TableInfo, host: str) -> list[Json]:
    """A seat is kept for the reader."""
    key = Key(table.id, None, None, JOIN)
    said = f"{host} keeps a seat for you at table **{table.code}** · {table.title} · {table.name}."
    return [
        container(
            [
                text(said),
                *rows([button("Join", str(key), SUCCESS), button("Leave", str(key._replace(act=LEAVE)))]),
            ]
        )
    ]


# -- private answers -------------------------------------------------------------------------


def menu(key: Key, title: str, items: Sequence[Item], shots: Sequence[Shot] = ()) -> list[Json]:
    """A further level of a menu, shown to one person."""
    pick = select(str(key._replace(act=PICK, arg="0")), title, items)
    return [text(f"**{title}**"), *pictures(shots), pick]


def answered(answer: Answer, table: TableInfo, seat: int | None, link: str | None = None) -> list[Json]:
    """What came of what somebody said, for him alone: up to five lines to say instead as buttons."""
    said, lines = spoken(answer)
    if isinstance(answer, Stale) and link:
        said = f"{said}\n[The card as it is now]({link})"
    parts = [text(said, 3000)]
    key = Key(table.id, seat, answer.decision, SAY)
    known = [engine.Choice(line, line, (line,)) for line in lines[:5]]
    fitting = [(i, named(known, i, key.room)) for i in range(len(known))]
    buttons = [
        button(
            known[i].line, str(key._replace(arg=name)), DANGER if isinstance(answer, Confirm) else SECONDARY
        )
        for i, name in fitting
        if not name.startswith("#")
    ]
    return [*parts, *rows(buttons)]


def spoken(answer: Answer) -> tuple[str, Sequence[str]]:
    """An answer in words, and the lines that may be said instead."""
    match answer:
        case Done():
            moves = [
                f"`{m.line}` — {' '.join(m.sentences)}" if m.sentences else f"`{m.line}`"
                for m in answer.moves
            ]
            return "\n".join(["Done.", *moves, *answer.sentences]), ()
        case Unreadable():
            return f"`{cut(answer.line, 200)}`: {answer.reason}", answer.nearest
        case Refused():
            return f"`{cut(answer.line, 200)}`: {answer.reason}", answer.suggestions
        case Ambiguous():
            return f"`{cut(answer.line, 200)}`: {answer.reason}", answer.choices
        case Stale():
            happened = [f"- {each}" for each in answer.since[-MOST_SINCE:]]
            return "\n".join([answer.reason, *(["Since then:", *happened] if happened else [])]), ()
        case Confirm():
            return answer.reason, (answer.line,)
        case Voted():
            return "\n".join(answer.sentences), ()
        case Shown():
            return code(answer.text, 3000), ()
        case NotYours() | Closed():
            return answer.reason, ()


def wrong_person(state: engine.State | None, names: Sequence[str], seat: int) -> str:
    """Whose controls these are, for somebody else."""
    name = who(state, seat) if state and not state.over else names[seat]
    return f"These controls are for {name}."


def sure(key: Key, line: str) -> list[Json]:
    """Ask once more before something that ends the game."""
    said = f"`{line}` ends the game. Is that what you want?"
    return [text(said), *rows([button("Yes, end the game", str(key._replace(act=SURE)), DANGER)])]


# -- forms -----------------------------------------------------------------------------------


def amount_form(key: Key, choice: engine.Choice) -> Json:
    """A form that asks for dollars."""
    assert choice.amounts is not None
    low = choice.amounts[0]
    field = {
        "type": 4, "custom_id": "amount", "style": 1, "required": True,
        "min_length": 1, "max_length": 7, "value": str(low),
    }  # fmt: skip
    label = {
        "type": 18, "label": "Dollars", "component": field,
        "description": cut(f"{choice.says}: ${low} to {choice.most}", 100),
    }  # fmt: skip
    return {"title": cut(choice.says, 45), "custom_id": str(key), "components": [label]}


def line_form(key: Key, example: str) -> Json:
    """A form that asks for a line as players write it."""
    field = {
        "type": 4, "custom_id": "line", "style": 1, "required": True, "max_length": 500,
        "placeholder": cut(example, 100),
    }  # fmt: skip
    label = {
        "type": 18, "label": "Line", "component": field,
        "description": "As in letters and in /do; several with ; between them",
    }  # fmt: skip
    return {"title": "Say a line", "custom_id": str(key), "components": [label]}
