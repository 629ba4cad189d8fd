"""The content of Discord messages: Components V2 payloads, built from plain values (pure functions).

A turn card says whose turn it is and at which table, what has happened since that player's last turn and
what they may do. Its controls are built from the engine's choices in the same way for every kind of
decision. This module keeps Discord's limits: 4000 characters and 40 components per message, 80 characters
per button label, 100 per select option, 1024 per picture description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import engine
from bot.discord.controls import (
    CLAIM,
    CONFIRM,
    CUSTOM_ID_VERSION,
    ENTER_LINE,
    JOIN,
    LEAVE,
    OPEN_CARD,
    ORDER,
    SELECT,
    SELL,
    START,
    SUBMIT_LINE,
    TRY,
    CardControls,
    CustomId,
    MenuItem,
)
from bot.discord.decision_controls import decision_controls
from bot.service import decision_numbers, text_views
from bot.service.live_table import LogEntry, TableView, engine_seat
from bot.service.results import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PendingDecision,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.service.tables import TableInfo, open_seats
from storage import TablePoll

Json = dict[str, Any]

MAX_TEXT = 4000
MAX_HEADING, MAX_HISTORY, MAX_NUMBERS, MAX_BOARD_TEXT = 300, 1200, 1600, 1300
MAX_RESULT, MAX_LINE, MAX_PRIVATE_TEXT = 400, 250, 3000
MAX_HISTORY_LINES = 8
HISTORY_LINE_LENGTHS = (600, 300, 160)  # characters per line; the first at which all lines fit is used
MAX_ALT_TEXT = 1024
VOTES = ("accept", "decline")
PRIMARY, SECONDARY, SUCCESS, DANGER = 1, 2, 3, 4


class ImageRef(NamedTuple):
    """A picture attached to a message: its file name and its description."""

    filename: str
    alt: str


# -- components ------------------------------------------------------------------------------


def truncate(text: str, limit: int) -> str:
    """The text in at most `limit` characters; an em dash for an empty text, which Discord refuses."""
    return (text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…") or "—"


def text_display(content: str, limit: int = MAX_TEXT) -> Json:
    """A text display of at most `limit` characters."""
    return {"type": 10, "content": truncate(content, limit)}


def media_galleries(images: Sequence[ImageRef]) -> list[Json]:
    """Attached pictures with their descriptions, one per gallery so that each is as wide as the message."""
    return [
        {
            "type": 12,
            "items": [
                {
                    "media": {"url": f"attachment://{image.filename}"},
                    "description": truncate(image.alt, MAX_ALT_TEXT),
                }
            ],
        }
        for image in images
    ]


def file_components(names: Sequence[str]) -> list[Json]:
    """Attached files, offered for download."""
    return [{"type": 13, "file": {"url": f"attachment://{name}"}} for name in names]


def container(parts: Sequence[Json], color: int | None = None) -> Json:
    """A frame around components; `color` is its accent as 0xRRGGBB."""
    return {"type": 17, "components": list(parts)} | ({} if color is None else {"accent_color": color})


def button(label: str, custom_id: str, style: int = SECONDARY) -> Json:
    """A button that sends `custom_id` when it is pressed."""
    return {"type": 2, "style": style, "label": truncate(label, 80), "custom_id": custom_id}


def action_rows(buttons: Sequence[Json]) -> list[Json]:
    """Buttons in action rows of at most five."""
    return [{"type": 1, "components": list(buttons[i : i + 5])} for i in range(0, len(buttons), 5)]


def select_row(custom_id: str, placeholder: str, items: Sequence[MenuItem]) -> Json:
    """An action row with one select menu."""
    options = [
        {"label": truncate(each.label, 100), "value": each.value}
        | ({"description": truncate(each.description, 100)} if each.description else {})
        for each in items
    ]
    part = {"type": 3, "custom_id": custom_id, "placeholder": truncate(placeholder, 150), "options": options}
    return {"type": 1, "components": [part]}


def code_block(content: str, limit: int) -> str:
    """Text in fixed width, at most `limit` characters with its fences."""
    return f"```\n{truncate(content.replace('```', ''), limit - 8)}\n```"


def without_files(components: Sequence[Json]) -> list[Json]:
    """The components without pictures and files."""
    kept = [part for part in components if part["type"] not in (12, 13)]
    return [
        part | {"components": without_files(part["components"])} if part["type"] == 17 else part
        for part in kept
    ] or [text_display("The file cannot be attached here.")]


# -- texts -----------------------------------------------------------------------------------


def mention(user: int | str | None, name: str) -> str:
    """A mention of a Discord user, or the name in bold for a player without a Discord id."""
    return f"<@{user}>" if user else f"**{name}**"


def player_name(state: engine.State, seat: int) -> str:
    """A player's name; with the company for which they are acting, where they are its president."""
    company = engine.decision(state).company
    name = state.players[seat]
    if company and state.companies[company].president == engine_seat(seat):
        return f"{name} (president of the {company})"
    return name


def table_heading(table: TableInfo, seq: int) -> str:
    """Which table this is and how far its game is."""
    name = "" if table.name == table.title else f" · {table.name}"
    return f"**{table.code}** · {table.title}{name} · {table.round or table.status} · move {seq}"


def history_lines(
    entries: Sequence[LogEntry], names: Sequence[str], limit: int = MAX_HISTORY_LINES
) -> list[str]:
    """Log entries as lines, one per entry; of more than `limit` only the last ones.

    Every line is cut to the first of `HISTORY_LINE_LENGTHS` at which all of them fit.
    """
    lines = [_history_line(entry, names) for entry in entries if entry.is_live and entry.has_text]
    if len(lines) > limit:
        left_out = len(lines) - limit + 1
        lines = [f"… and {left_out} earlier moves (`/show log`)", *lines[-(limit - 1) :]]
    for length in HISTORY_LINE_LENGTHS:
        cut = [truncate(line, length) for line in lines]
        if sum(map(len, cut)) + len(cut) <= MAX_HISTORY:
            break
    return cut


def _history_line(entry: LogEntry, names: Sequence[str]) -> str:
    line = " ".join(entry.sentences) or entry.line
    if entry.seat is not None and names[entry.seat] not in line:
        line = f"{names[entry.seat]}: {line}"
    return line


def turn_lines(entries: Sequence[LogEntry], names: Sequence[str]) -> list[str]:
    """Finished turns, a line for the successive moves of each player: `✓ Ann buys the SV for $20.`"""
    moves = [e for e in entries if e.is_live and e.kind == "move" and e.seat is not None and e.has_text]
    lines = []
    for seat, group in groupby(moves, key=lambda entry: entry.seat or 0):
        told = " ".join(" ".join(entry.sentences) or entry.line for entry in group)
        name = "" if names[seat] in told else f"{names[seat]}: "
        lines.append(truncate(f"✓ {name}{told}", MAX_RESULT))
    return lines


def poll_result(entries: Sequence[LogEntry], texts: Sequence[str]) -> list[str]:
    """What became of a poll: the votes that were cast, else that it was closed."""
    votes = [e.text if e.sentences == () else e.sentences[0] for e in entries if e.line in VOTES]
    question = texts[-1] if texts else "The vote"
    return [truncate(each, MAX_RESULT) for each in votes or [f"{question} The vote is closed."]]


def short_round(round_name: str) -> str:
    """`OR 2.1` for `operating round 2.1`."""
    name, _, number = round_name.partition(" round ")
    short = {"stock": "SR", "operating": "OR", "merger": "MR"}.get(name)
    return f"{short} {number}" if short else round_name


def notification_line(
    view: TableView, prompts: Sequence[PendingDecision], users: Mapping[int, str | None]
) -> str:
    """The line that a phone shows, such as `@Bob: TITLE OR 2.1, lay track for the NYC, $430 · A7K`."""
    state = view.state
    assert state is not None
    names = " ".join(mention(users.get(each.seat), each.name) for each in prompts)
    parts = [f"{view.table.title} {short_round(engine.round_name(state))}", prompts[0].prompt]
    if len(prompts) == 1:
        parts.append(text_views.dollars(available_cash(state, prompts[0].seat)))
    return truncate(f"{names}: {', '.join(parts)}", MAX_LINE - 10) + f" · {view.table.code}"


def available_cash(state: engine.State, seat: int) -> int:
    """The cash of the company for which a seat acts, if it acts for one; else the player's own."""
    company = engine.decision(state).company
    owner = engine_seat(seat)
    if company and state.companies[company].president == owner:
        owner = company
    return state.cash[owner]


def is_same_line(text: str, line: str) -> bool:
    """Whether a text notifies the same players at the same table as a line, whatever it asks."""
    return bool(text) and (text.partition(": ")[0], text.rpartition(" · ")[2]) == (
        line.partition(": ")[0],
        line.rpartition(" · ")[2],
    )


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


# -- cards -----------------------------------------------------------------------------------


def turn_card(
    view: TableView,
    prompts: Sequence[PendingDecision],
    choices: Mapping[int, Sequence[engine.Choice]],
    history: Sequence[str],
    users: Mapping[int, str | None],
    images: Sequence[ImageRef],
    revenues: Mapping[str, int] | None = None,
) -> tuple[list[Json], list[str]]:
    """The card of a player who has to act, or of several: its components, and its texts.

    `choices` and `users` (Discord ids) are by seat. `history`: lines of what has happened since the player's
    last turn. `revenues`: dollars of each company's last run. `images`: the pictures that will be attached;
    where there are none, the card has the map and market as text.
    """
    state = view.state
    assert state is not None
    names = " ".join(mention(users.get(each.seat), each.name) for each in prompts)
    above = [truncate(f"{names} · {table_heading(view.table, view.seq)}", MAX_HEADING)]
    if history:
        above.append(truncate("\n".join(history), MAX_HISTORY))
    questions = "\n".join(f"### {_question(state, each)}" for each in prompts)
    texts = [truncate(questions, MAX_HEADING * len(prompts))]
    numbers = [
        line
        for each in prompts
        for line in decision_numbers.decision_lines(state, engine_seat(each.seat), revenues)
    ]
    texts.append(truncate("\n".join(dict.fromkeys(numbers)), MAX_NUMBERS))
    if not images:
        room = min(MAX_TEXT - sum(map(len, [*above, *texts])), MAX_BOARD_TEXT)
        texts.append(code_block(f"{text_views.market_view(state)}\n\n{text_views.map_view(state)}", room))
    if len(prompts) == 1:
        control_rows = turn_controls(view, prompts[0], choices[prompts[0].seat])
    else:
        control_rows = shared_controls(view, prompts, choices)
    framed = [*media_galleries(images), *map(text_display, texts), *control_rows]
    return [*map(text_display, above), container(framed)], [*above, *texts]


def _question(state: engine.State, pending: PendingDecision) -> str:
    actor = player_name(state, pending.seat) if pending.is_main else pending.name
    return f"{actor} to act: {pending.prompt}."


def turn_controls(view: TableView, pending: PendingDecision, choices: Sequence[engine.Choice]) -> list[Json]:
    """The rows of controls of one player."""
    custom_id = CustomId(view.table.id, pending.seat, pending.decision_id, SUBMIT_LINE)
    assert view.state is not None
    seat = engine_seat(pending.seat)
    controls = decision_controls(view.state, seat, choices, custom_id.max_argument_length)
    rows = _control_rows(custom_id, controls, view.current_decision_id, choices[0].label if choices else "")
    if pending.acts_now and any(each.is_main and not each.acts_now for each in view.pending):
        in_advance = CustomId(view.table.id, None, pending.decision_id, OPEN_CARD)
        rows[-1]["components"].append(button("Answer in advance…", str(in_advance)))
    return rows


def shared_controls(
    view: TableView, prompts: Sequence[PendingDecision], choices: Mapping[int, Sequence[engine.Choice]]
) -> list[Json]:
    """The controls of several players: what all of them may say, and a button of each for the rest."""
    anybody = CustomId(view.table.id, None, prompts[0].decision_id, SUBMIT_LINE)
    lines = [{choice.line for choice in choices[each.seat]} for each in prompts]
    shared = [
        c for c in choices[prompts[0].seat] if c.amounts is None and all(c.line in own for own in lines)
    ]
    buttons = [
        button(each.label, str(anybody._replace(argument=each.line)), PRIMARY)
        for each in shared[:2]
        if len(each.line) <= anybody.max_argument_length
    ]
    own = [
        button(f"{each.name}…", str(CustomId(view.table.id, each.seat, each.decision_id, OPEN_CARD)))
        for each in prompts
    ]
    return action_rows([*buttons, *own, orders_button(view.table.id)])


def orders_button(table_id: int) -> Json:
    """What everybody may press on a public card: their own orders, shown to them alone."""
    return button("Orders…", str(CustomId(table_id, None, None, ORDER)))


def _control_rows(
    custom_id: CustomId, controls: CardControls, current_decision_id: str, first_label: str
) -> list[Json]:
    """Rows of controls: buttons, selects, then Undo and Write; the button `first_label` is highlighted."""
    buttons = [
        button(
            each.label,
            str(custom_id._replace(action=each.action, argument=each.argument)),
            PRIMARY if each.label.rstrip("…") == first_label else SECONDARY,
        )
        for each in controls.buttons
    ]
    selects = [
        select_row(str(custom_id._replace(action=SELECT, argument=str(i))), placeholder, items)
        for i, (placeholder, items) in enumerate(controls.selects)
    ]
    if controls.sales:
        row = select_row(str(custom_id._replace(action=SELL)), "Sell: choose one or more", controls.sales)
        row["components"][0]["max_values"] = len(controls.sales)
        selects.append(row)
    always = [
        button("Undo", str(CustomId(custom_id.table_id, None, current_decision_id, SUBMIT_LINE, "undo"))),
        button("Try…", str(custom_id._replace(action=TRY, argument=""))),
        button("Write…", str(custom_id._replace(action=ENTER_LINE, argument=""))),
        orders_button(custom_id.table_id),
    ]
    return [*action_rows(buttons), *selects, *action_rows(always)]


def finished_card(lines: Sequence[str]) -> list[Json]:
    """A list of finished turns, without controls."""
    return [text_display("\n".join(lines))]


def notification(lines: Sequence[str]) -> list[Json]:
    """A plain message to the table; empty lines are left out."""
    return [text_display("\n".join(line for line in lines if line))]


def poll_card(
    view: TableView, poll: TablePoll, users: Mapping[int, str | None]
) -> tuple[list[Json], list[str]]:
    """The message of a poll: who has voted, and the buttons of those who have not. Its last text is the
    question."""
    names = view.table.names
    heads = " ".join(mention(user, names[seat]) for seat, user in users.items())
    question = f"### {poll.poll.details['question']}"
    marks = {None: "⏳", True: "✅", False: "❌"}
    voters = " · ".join(f"{marks[vote]} {names[seat]}" for seat, vote in poll.votes.items())
    buttons = vote_buttons(view.table.id, f"v{poll.poll.id}")
    head = f"{heads} · {table_heading(view.table, view.seq)}"
    framed = [text_display(question), text_display(voters), *action_rows(buttons)]
    return [text_display(head), container(framed)], [head, poll.poll.details["question"]]


def vote_buttons(table_id: int, poll_id: str) -> list[Json]:
    """The buttons that answer a vote."""
    custom_id = CustomId(table_id, None, poll_id, SUBMIT_LINE)
    return [
        button("Accept", str(custom_id._replace(argument="accept vote")), SUCCESS),
        button("Decline", str(custom_id._replace(argument="decline vote")), DANGER),
    ]


def poll_line(view: TableView, poll: TablePoll, users: Mapping[int, str | None]) -> str:
    """The line that a phone shows about a poll."""
    heads = " ".join(mention(user, view.table.names[seat]) for seat, user in users.items())
    line = f"{heads}: {view.table.title}, a vote: {poll.poll.details['question']}"
    return truncate(line, MAX_LINE - 10) + f" · {view.table.code}"


def rematch_row(table: TableInfo) -> list[Json]:
    """The button that opens a table with the same people, after a game."""
    custom_id = CustomId(table.id, None, None, SUBMIT_LINE, "rematch")
    return action_rows([button("Rematch", str(custom_id))]) if table.seated_players else []


def lobby_card(table: TableInfo) -> list[Json]:
    """A table before its game starts: who is seated, and the buttons to join, leave and start."""
    components = engine.title_of(table.title, table.options).components
    seats = [
        f"{i}. {s.name}" + ("" if s.joined else " (invited)") for i, s in enumerate(table.seated_players, 1)
    ]
    name = "" if table.name == table.title else f" · {table.name}"
    lines = [
        f"### Table {table.code} · {table.title}{name}",
        f"For {components.players['min']} to {components.players['max']} players"
        + (f", {', '.join(table.options)}" if table.options else "")
        + ".",
        *([f"Pace: {table.pace}."] if table.pace.kind != "none" else []),
        *(seats or ["Nobody is seated yet."]),
    ]
    parts = [text_display("\n".join(lines))]
    if table.status == "lobby":
        custom_id = CustomId(table.id, None, None, JOIN)
        parts += action_rows(
            [
                button("Join", str(custom_id), SUCCESS),
                button("Leave", str(custom_id._replace(action=LEAVE))),
                button("Start", str(custom_id._replace(action=START)), PRIMARY),
            ]
        )
    elif table.status == "paused" and (seats_left := open_seats(table)):
        custom_id = CustomId(table.id, None, None, CLAIM)
        parts.append(text_display("The game goes on once each seat has its player. Whose seat is yours?"))
        parts += action_rows(
            [
                button(f"The seat of {table.names[seat]}", str(custom_id._replace(seat=seat)), SUCCESS)
                for seat in seats_left
            ]
        )
    else:
        parts.append(
            text_display("The game has begun." if table.status != "ended" else "The table was closed.")
        )
    return [container(parts)]


def invitation_card(table: TableInfo, host: str, details: Sequence[str] = ()) -> list[Json]:
    """A direct message that offers the reader a seat. details: what is agreed there, and who plays."""
    custom_id = CustomId(table.id, None, None, JOIN)
    sentence = f"{host} keeps a seat for you at table **{table.code}** · {table.title} · {table.name}."
    join = button("Join", str(custom_id), SUCCESS)
    leave = button("Leave", str(custom_id._replace(action=LEAVE)))
    text = "\n".join([sentence, *details])
    return [container([text_display(text), *action_rows([join, leave])])]


# -- private messages ------------------------------------------------------------------------


def menu_message(
    custom_id: CustomId, title: str, items: Sequence[MenuItem], images: Sequence[ImageRef] = ()
) -> list[Json]:
    """The next level of a menu, as a private message."""
    select = select_row(str(custom_id._replace(action=SELECT, argument="0")), title, items)
    return [text_display(f"**{title}**"), *media_galleries(images), select]


def result_message(
    result: CommandResult,
    table: TableInfo,
    seat: int | None,
    link: str | None = None,
    submitted: Sequence[str] = (),
) -> list[Json]:
    """The result of a command as a private message, with up to five suggested lines as buttons.

    `submitted`: all lines of the command. Of a suggestion for the third the button submits the first two as
    well, because none of them was played.
    """
    text, lines = result_text(result)
    if isinstance(result, LineFailure) and len(submitted) > 1:
        text = f"Line {result.index + 1}, {text}\nNothing was played."
        before = submitted[: result.index]
        lines = ["; ".join([*before, each]) for each in lines if not each.startswith("plan ")]
    if isinstance(result, StaleDecision) and link:
        text = f"{text}\n[The card as it is now]({link})"
    custom_id = CustomId(table.id, seat, result.next_decision_id, SUBMIT_LINE)
    style = DANGER if isinstance(result, ConfirmationRequired) else SECONDARY
    buttons = [
        button(line, str(custom_id._replace(argument=line)), style)
        for line in lines[:5]
        if len(line) <= custom_id.max_argument_length
    ]
    return [text_display(text, 3000), *action_rows(buttons)]


def result_text(result: CommandResult) -> tuple[str, Sequence[str]]:
    """The result of a command in words, and the lines that the player may send instead."""
    match result:
        case Completed():
            moves = [
                f"`{m.line}` — {' '.join(m.sentences)}" if m.sentences else f"`{m.line}`"
                for m in result.played
            ]
            return "\n".join(["Done.", *moves, *result.sentences]), ()
        case LineUnreadable():
            return f"`{truncate(result.line, 200)}`: {result.reason}", result.nearest
        case LineRefused():
            return f"`{truncate(result.line, 200)}`: {result.reason}", result.suggestions
        case LineAmbiguous():
            return f"`{truncate(result.line, 200)}`: {result.reason}", result.choices
        case StaleDecision():
            events = [f"- {each}" for each in result.since[-MAX_HISTORY_LINES:]]
            return "\n".join([result.reason, *(["Since then:", *events] if events else [])]), ()
        case ConfirmationRequired():
            return result.reason, (result.line,)
        case PollUpdated():
            return "\n".join(result.sentences), ()
        case QueryAnswer():
            return code_block(result.text, 3000), ()
        case NotYourSeat() | TableNotRunning():
            return result.reason, ()


def wrong_player_text(state: engine.State | None, names: Sequence[str], seat: int) -> str:
    """What a person reads who uses the controls of another player."""
    name = player_name(state, seat) if state and not state.game_over else names[seat]
    return f"These controls are for {name}."


def confirmation_message(custom_id: CustomId, line: str) -> list[Json]:
    """The question before a line that ends the game."""
    yes = button("Yes, end the game", str(custom_id._replace(action=CONFIRM)), DANGER)
    return [text_display(f"`{line}` ends the game. Is that what you want?"), *action_rows([yes])]


# -- modals ----------------------------------------------------------------------------------


def amount_modal(custom_id: CustomId, choice: engine.Choice) -> Json:
    """A form that asks for an amount of dollars."""
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
    return {"title": truncate(choice.label, 45), "custom_id": str(custom_id), "components": [label]}


def line_modal(custom_id: CustomId, example: str) -> Json:
    """A form that asks for a line of notation."""
    field = {
        "type": 4, "custom_id": "line", "style": 1, "required": True, "max_length": 500,
        "placeholder": truncate(example, 100),
    }  # fmt: skip
    label = {
        "type": 18, "label": "Line", "component": field,
        "description": "As by email and in /do; several lines with ; between them",
    }  # fmt: skip
    return {"title": "Enter a line", "custom_id": str(custom_id), "components": [label]}
