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
from bot.discord.controls import (
    CONFIRM,
    ENTER_LINE,
    JOIN,
    LEAVE,
    SELECT,
    START,
    SUBMIT_LINE,
    CardControls,
    CustomId,
    MenuItem,
    card_controls,
    encode_choice,
)
from bot.service import text_views
from bot.service.live_table import LogEntry, TableView, engine_seat
from bot.service.results import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineAmbiguous,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PendingDecision,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.service.tables import TableInfo

Json = dict[str, Any]

MAX_TEXT = 4000
MAX_HEADING, MAX_HISTORY, MAX_BOARD_TEXT, MAX_RESULT = 300, 1400, 1500, 300
MAX_HISTORY_LINES = 8
HISTORY_LINE_LENGTHS = (600, 300, 160)  # characters of a row, the first at which all have room
MAX_ALT_TEXT = 1024
PRIMARY, SECONDARY, SUCCESS, DANGER = 1, 2, 3, 4


class ImageRef(NamedTuple):
    """A picture on a message: its file name and what it shows."""

    filename: str
    alt: str


class CardContent(NamedTuple):
    """What of a card stays when its controls go."""

    texts: list[str]
    images: list[ImageRef]


# -- components ------------------------------------------------------------------------------


def truncate(text: str, most: int) -> str:
    """At most so many characters, never none."""
    return (text if len(text) <= most else f"{text[: most - 1].rstrip()}…") or "—"


def text_display(content: str, most: int = MAX_TEXT) -> Json:
    """A text display."""
    return {"type": 10, "content": truncate(content, most)}


def media_galleries(shots: Sequence[ImageRef]) -> list[Json]:
    """Attached pictures with their descriptions, each by itself and so as wide as the message."""
    return [
        {
            "type": 12,
            "items": [
                {
                    "media": {"url": f"attachment://{shot.filename}"},
                    "description": truncate(shot.alt, MAX_ALT_TEXT),
                }
            ],
        }
        for shot in shots
    ]


def file_components(names: Sequence[str]) -> list[Json]:
    """Attached files that are not shown but can be had."""
    return [{"type": 13, "file": {"url": f"attachment://{name}"}} for name in names]


def container(parts: Sequence[Json], color: int | None = None) -> Json:
    """A framed group."""
    return {"type": 17, "components": list(parts)} | ({} if color is None else {"accent_color": color})


def button(label: str, custom_id: str, style: int = SECONDARY) -> Json:
    """A button."""
    return {"type": 2, "style": style, "label": truncate(label, 80), "custom_id": custom_id}


def action_rows(buttons: Sequence[Json]) -> list[Json]:
    """Buttons in rows of five."""
    return [{"type": 1, "components": list(buttons[i : i + 5])} for i in range(0, len(buttons), 5)]


def select_row(custom_id: str, placeholder: str, items: Sequence[MenuItem]) -> Json:
    """A row with one select."""
    options = [
        {"label": truncate(each.label, 100), "value": each.value}
        | ({"description": truncate(each.description, 100)} if each.description else {})
        for each in items
    ]
    part = {"type": 3, "custom_id": custom_id, "placeholder": truncate(placeholder, 150), "options": options}
    return {"type": 1, "components": [part]}


def code_block(content: str, most: int) -> str:
    """Text in fixed width."""
    return f"```\n{truncate(content.replace('```', ''), most - 8)}\n```"


# -- words -----------------------------------------------------------------------------------


def mention(user: int | str | None, name: str) -> str:
    """Somebody by his Discord id, or by name where he has none."""
    return f"<@{user}>" if user else f"**{name}**"


def player_name(state: engine.State, seat: int) -> str:
    """A player by name, and by the company for which he is asked."""
    company = engine.decision(state).company
    name = state.players[seat]
    if company and state.companies[company].president == engine_seat(seat):
        return f"{name} (president of the {company})"
    return name


def table_heading(table: TableInfo, seq: int) -> str:
    """Which table this is and where its game stands."""
    name = "" if table.name == table.title else f" · {table.name}"
    return f"**{table.code}** · {table.title}{name} · {table.round or table.status} · move {seq}"


def history_lines(rows: Sequence[LogEntry], names: Sequence[str], most: int = MAX_HISTORY_LINES) -> list[str]:
    """What has happened, a line a row, as long as all have room; the last rows where there are more."""
    told = [_history_line(row, names) for row in rows if row.is_live and row.has_text]
    if len(told) > most:
        left = len(told) - most + 1
        told = [f"… and {left} moves before (`/show log`)", *told[-(most - 1) :]]
    for longest in HISTORY_LINE_LENGTHS:
        found = [truncate(said, longest) for said in told]
        if sum(map(len, found)) + len(found) <= MAX_HISTORY:
            break
    return found


def _history_line(row: LogEntry, names: Sequence[str]) -> str:
    said = " ".join(row.sentences) or row.line
    if row.seat is not None and names[row.seat] not in said:
        said = f"{names[row.seat]}: {said}"
    return said


def card_result(rows: Sequence[LogEntry], names: Sequence[str], seat: int) -> str:
    """What came of a card: the lines that were said by that seat, or that it is no longer asked."""
    said = [
        row.text for row in rows if row.is_live and row.kind == "move" and row.seat == seat and row.has_text
    ]
    if said:
        return truncate(f"✓ {names[seat]}: {'; '.join(said)}", MAX_RESULT)
    return f"This is no longer asked of {names[seat]}."


# -- cards -----------------------------------------------------------------------------------


def turn_card(
    view: TableView,
    asked: PendingDecision,
    choices: Sequence[engine.Choice],
    past: Sequence[str],
    user: str | None,
    shots: Sequence[ImageRef],
) -> tuple[list[Json], CardContent]:
    """The card of somebody who is asked: its components, and what of it stays.

    past: what happened since his last turn. user: his Discord id. shots: the pictures that will be
    attached; without one the board is written out.
    """
    state = view.state
    assert state is not None
    what = f"It is for {player_name(state, asked.seat)} {asked.prompt}."
    if not asked.is_main:
        what = f"{asked.name} is asked {asked.prompt}."
    head = f"{mention(user, asked.name)} · {table_heading(view.table, view.seq)}"
    texts = [truncate(head, MAX_HEADING)]
    if past:
        texts.append(truncate("\n".join(past), MAX_HISTORY))
    texts.append(truncate(f"### {what}", MAX_HEADING))
    if not shots:
        texts.append(
            code_block(f"{text_views.market_view(state)}\n\n{text_views.map_view(state)}", MAX_BOARD_TEXT)
        )
    key = CustomId(view.table.id, asked.seat, asked.decision_id, SUBMIT_LINE)
    made = _control_rows(
        key,
        card_controls(choices, key.max_argument_length),
        view.current_decision_id,
        choices[0].label if choices else "",
    )
    body = [*media_galleries(shots), *[text_display(each) for each in texts[1 + bool(past) :]], *made]
    parts = [text_display(each) for each in texts[: 1 + bool(past)]]
    return [*parts, container(body)], CardContent(texts, list(shots))


def _control_rows(key: CustomId, found: CardControls, now: str, first: str) -> list[Json]:
    """Rows of controls: buttons, selects, and what is always there; the `first` choice stands out."""
    buttons = [
        button(
            each.label,
            str(key._replace(action=each.action, argument=each.argument)),
            PRIMARY if each.label.rstrip("…") == first else SECONDARY,
        )
        for each in found.buttons
    ]
    selects = [
        select_row(str(key._replace(action=SELECT, argument=str(i))), placeholder, items)
        for i, (placeholder, items) in enumerate(found.selects)
    ]
    always = [
        button("Undo", str(CustomId(key.table_id, None, now, SUBMIT_LINE, "undo"))),
        button("Write…", str(key._replace(action=ENTER_LINE, argument=""))),
    ]
    return [*action_rows(buttons), *selects, *action_rows(always)]


def closed_card(face: CardContent, came: str) -> list[Json]:
    """A card without its controls, with what came of it."""
    first, *rest = face.texts
    return [
        text_display(first),
        container(
            [
                *media_galleries(face.images),
                *[text_display(each) for each in rest],
                text_display(came, MAX_RESULT),
            ]
        ),
    ]


def notification(parts: Sequence[str]) -> list[Json]:
    """A notice to the table."""
    return [text_display("\n".join(part for part in parts if part))]


def vote_card(
    view: TableView, seat: int, decision: str, question: str, user: str | None
) -> tuple[list[Json], CardContent]:
    """A vote put to a seat."""
    name = view.table.names[seat] if seat < len(view.table.names) else "?"
    head = f"{mention(user, name)} · {table_heading(view.table, view.seq)}"
    key = CustomId(view.table.id, seat, decision, SUBMIT_LINE)
    answers = [
        button("Accept", str(key._replace(argument="accept vote")), SUCCESS),
        button("Decline", str(key._replace(argument="decline vote")), DANGER),
    ]
    return [text_display(head), container([text_display(question), *action_rows(answers)])], CardContent(
        [head, question], []
    )


def lobby_card(table: TableInfo) -> list[Json]:
    """A table that is being gathered: who sits there, and the buttons to join, leave and start."""
    title = engine.title_of(table.title, table.options).components
    seats = [
        f"{i}. {s.name}" + ("" if s.joined else " (invited)") for i, s in enumerate(table.seated_players, 1)
    ]
    name = "" if table.name == table.title else f" · {table.name}"
    lines = [
        f"### Table {table.code} · {table.title}{name}",
        f"For {title.players['min']} to {title.players['max']} players"
        + (f", {', '.join(table.options)}" if table.options else "")
        + ".",
        *(seats or ["Nobody sits here yet."]),
    ]
    parts = [text_display("\n".join(lines))]
    if table.status == "lobby":
        key = CustomId(table.id, None, None, JOIN)
        parts += action_rows(
            [
                button("Join", str(key), SUCCESS),
                button("Leave", str(key._replace(action=LEAVE))),
                button("Start", str(key._replace(action=START)), PRIMARY),
            ]
        )
    else:
        parts.append(
            text_display("The game has begun." if table.status != "ended" else "The table was closed.")
        )
    return [container(parts)]


def invitation_card(table: TableInfo, host: str) -> list[Json]:
    """A seat is kept for the reader."""
    key = CustomId(table.id, None, None, JOIN)
    said = f"{host} keeps a seat for you at table **{table.code}** · {table.title} · {table.name}."
    return [
        container(
            [
                text_display(said),
                *action_rows(
                    [button("Join", str(key), SUCCESS), button("Leave", str(key._replace(action=LEAVE)))]
                ),
            ]
        )
    ]


# -- private answers -------------------------------------------------------------------------


def menu_message(
    key: CustomId, title: str, items: Sequence[MenuItem], shots: Sequence[ImageRef] = ()
) -> list[Json]:
    """A further level of a menu, shown to one person."""
    pick = select_row(str(key._replace(action=SELECT, argument="0")), title, items)
    return [text_display(f"**{title}**"), *media_galleries(shots), pick]


def result_message(
    answer: CommandResult, table: TableInfo, seat: int | None, link: str | None = None
) -> list[Json]:
    """What came of what somebody said, for him alone: up to five lines to say instead as buttons."""
    said, lines = result_text(answer)
    if isinstance(answer, StaleDecision) and link:
        said = f"{said}\n[The card as it is now]({link})"
    parts = [text_display(said, 3000)]
    key = CustomId(table.id, seat, answer.next_decision_id, SUBMIT_LINE)
    known = [engine.Choice(line, line, (line,)) for line in lines[:5]]
    fitting = [(i, encode_choice(known, i, key.max_argument_length)) for i in range(len(known))]
    buttons = [
        button(
            known[i].line,
            str(key._replace(argument=name)),
            DANGER if isinstance(answer, ConfirmationRequired) else SECONDARY,
        )
        for i, name in fitting
        if not name.startswith("#")
    ]
    return [*parts, *action_rows(buttons)]


def result_text(answer: CommandResult) -> tuple[str, Sequence[str]]:
    """An answer in words, and the lines that may be said instead."""
    match answer:
        case Completed():
            moves = [
                f"`{m.line}` — {' '.join(m.sentences)}" if m.sentences else f"`{m.line}`"
                for m in answer.played
            ]
            return "\n".join(["Done.", *moves, *answer.sentences]), ()
        case LineUnreadable():
            return f"`{truncate(answer.line, 200)}`: {answer.reason}", answer.nearest
        case LineRefused():
            return f"`{truncate(answer.line, 200)}`: {answer.reason}", answer.suggestions
        case LineAmbiguous():
            return f"`{truncate(answer.line, 200)}`: {answer.reason}", answer.choices
        case StaleDecision():
            happened = [f"- {each}" for each in answer.since[-MAX_HISTORY_LINES:]]
            return "\n".join([answer.reason, *(["Since then:", *happened] if happened else [])]), ()
        case ConfirmationRequired():
            return answer.reason, (answer.line,)
        case PollUpdated():
            return "\n".join(answer.sentences), ()
        case QueryAnswer():
            return code_block(answer.text, 3000), ()
        case NotYourSeat() | TableNotRunning():
            return answer.reason, ()


def wrong_player_text(state: engine.State | None, names: Sequence[str], seat: int) -> str:
    """Whose controls these are, for somebody else."""
    name = player_name(state, seat) if state and not state.game_over else names[seat]
    return f"These controls are for {name}."


def confirmation_message(key: CustomId, line: str) -> list[Json]:
    """Ask once more before something that ends the game."""
    said = f"`{line}` ends the game. Is that what you want?"
    return [
        text_display(said),
        *action_rows([button("Yes, end the game", str(key._replace(action=CONFIRM)), DANGER)]),
    ]


# -- forms -----------------------------------------------------------------------------------


def amount_modal(key: CustomId, choice: engine.Choice) -> Json:
    """A form that asks for dollars."""
    assert choice.amounts is not None
    low = choice.amounts[0]
    field = {
        "type": 4, "custom_id": "amount", "style": 1, "required": True,
        "min_length": 1, "max_length": 7, "value": str(low),
    }  # fmt: skip
    label = {
        "type": 18, "label": "Dollars", "component": field,
        "description": truncate(f"{choice.label}: ${low} to {choice.limit_text}", 100),
    }  # fmt: skip
    return {"title": truncate(choice.label, 45), "custom_id": str(key), "components": [label]}


def line_modal(key: CustomId, example: str) -> Json:
    """A form that asks for a line as players write it."""
    field = {
        "type": 4, "custom_id": "line", "style": 1, "required": True, "max_length": 500,
        "placeholder": truncate(example, 100),
    }  # fmt: skip
    label = {
        "type": 18, "label": "Line", "component": field,
        "description": "As in letters and in /do; several with ; between them",
    }  # fmt: skip
    return {"title": "Say a line", "custom_id": str(key), "components": [label]}
