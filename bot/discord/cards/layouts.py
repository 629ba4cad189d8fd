"""Cards: what a player has to decide, or a table to vote on, built from plain values (pure functions).

A turn card says whose turn it is and at which table, what has happened since that player's last turn and
what they may do. Its controls are built from the engine's choices in the same way for every kind of decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import engine
from bot.discord.cards.card_texts import MAX_HISTORY, MAX_LINE, mentions, player_name, table_heading
from bot.discord.cards.parts import (
    MAX_TEXT,
    PRIMARY,
    SECONDARY,
    ImageAttachment,
    Json,
    action_rows,
    button,
    code_block,
    container,
    escape_markdown,
    media_galleries,
    select_row,
    text_display,
    truncate,
)
from bot.discord.controls.controls import (
    ENTER_LINE,
    OPEN_CARD,
    SELECT,
    SELL,
    SUBMIT_LINE,
    CardControls,
    CustomId,
)
from bot.discord.controls.decision_controls import decision_controls
from bot.discord.controls.page_controls import added_buttons
from bot.hub.feature import Addition
from bot.hub.polls import VOTE_CONTROLS
from bot.hub.table import TableView
from bot.position import numbers as decision_numbers
from bot.position import text_views
from bot.position.controls import Say, Show
from bot.position.pending import PendingDecision, engine_seat, prompt_of
from storage import TablePoll

NOTHING_ADDED = Addition()
MAX_HEADING, MAX_NUMBERS, MAX_BOARD_TEXT, MIN_BOARD_TEXT = 300, 2400, 1300, 400


def turn_card(
    view: TableView,
    prompts: Sequence[PendingDecision],
    choices: Mapping[int, Sequence[engine.Choice]],
    history: Sequence[str],
    users: Mapping[int, str | None],
    images: Sequence[ImageAttachment],
    revenues: Mapping[str, int] | None = None,
    added: Addition = NOTHING_ADDED,
) -> list[Json]:
    """The card of a player who has to act, or of several.

    `choices` and `users` (Discord ids) are by seat. `history`: lines of what has happened since the player's
    last turn. `revenues`: dollars of each company's last run. `images`: the pictures that will be attached;
    where there are none, the card has the map and market as text. `added`: by features.
    """
    state = view.state
    assert state is not None
    names = mentions([each.seat for each in prompts], users, view.table.names)
    above = [truncate(f"{names} · {table_heading(view.table, view.seq)}", MAX_HEADING)]
    questions = "\n".join(f"### {escape_markdown(_question(state, each))}" for each in prompts)
    texts = [
        "\n".join([truncate(questions, MAX_HEADING * len(prompts)), *map(escape_markdown, added.sentences)])
    ]
    numbers = [
        line
        for each in prompts
        for line in decision_numbers.decision_lines(
            state, engine_seat(each.seat), revenues, offer="" if each.is_main else prompt_of(state, each)
        )
    ]
    texts.append(truncate(escape_markdown("\n".join(dict.fromkeys(numbers))), MAX_NUMBERS))
    if history:
        room = MAX_TEXT - sum(map(len, [*above, *texts])) - (0 if images else MIN_BOARD_TEXT)
        above.append(truncate(escape_markdown("\n".join(history)), min(room, MAX_HISTORY)))
    if not images:
        room = min(MAX_TEXT - sum(map(len, [*above, *texts])), MAX_BOARD_TEXT)
        texts.append(code_block(f"{text_views.market_view(state)}\n\n{text_views.map_view(state)}", room))
    if len(prompts) == 1:
        control_rows = turn_controls(view, prompts[0], choices[prompts[0].seat], added.controls)
    else:
        control_rows = shared_controls(view, prompts, choices, added.controls)
    framed = [*media_galleries(images), *map(text_display, texts), *control_rows]
    return [*map(text_display, above), container(framed)]


def _question(state: engine.State, pending: PendingDecision) -> str:
    actor = player_name(state, pending.seat) if pending.is_main else pending.name
    return f"{actor} to act: {prompt_of(state, pending)}."


def turn_controls(
    view: TableView,
    pending: PendingDecision,
    choices: Sequence[engine.Choice],
    added: Sequence[Say | Show],
) -> list[Json]:
    """The rows of controls of one player. added: by features."""
    custom_id = CustomId(view.table.id, pending.seat, pending.decision_id, SUBMIT_LINE)
    assert view.state is not None
    seat = engine_seat(pending.seat)
    controls = decision_controls(view.state, seat, choices, custom_id.max_argument_length)
    rows = _control_rows(custom_id, controls, choices[0].label if choices else "")
    always = added_buttons(view.table.id, view.current_decision_id, added)
    always.append(button("Write…", str(custom_id._replace(action=ENTER_LINE, argument=""))))
    if pending.acts_now and any(each.is_main and not each.acts_now for each in view.pending):
        in_advance = CustomId(view.table.id, None, pending.decision_id, OPEN_CARD)
        always.append(button("Answer in advance…", str(in_advance)))
    return [*rows, *action_rows(always)]


def shared_controls(
    view: TableView,
    prompts: Sequence[PendingDecision],
    choices: Mapping[int, Sequence[engine.Choice]],
    added: Sequence[Say | Show],
) -> list[Json]:
    """The controls of several players: what all of them may say, and a button of each for the rest."""
    anybody = CustomId(view.table.id, None, prompts[0].decision_id, SUBMIT_LINE)
    lines = [{choice.line for choice in choices[each.seat]} for each in prompts]
    shared = [
        c for c in choices[prompts[0].seat] if c.amounts is None and all(c.line in own for own in lines)
    ]
    buttons = [
        button(
            _label_for_all(each.line, choices.values()), str(anybody._replace(argument=each.line)), PRIMARY
        )
        for each in shared[:2]
        if len(each.line) <= anybody.max_argument_length
    ]
    own = [
        button(
            f"{each.name}: all options…", str(CustomId(view.table.id, each.seat, each.decision_id, OPEN_CARD))
        )
        for each in prompts
    ]
    more = added_buttons(view.table.id, view.current_decision_id, added)
    return action_rows([*buttons, *own, *more])


def _label_for_all(line: str, choices: Iterable[Sequence[engine.Choice]]) -> str:
    """The label of a line that several players may say; what is before its colon where the rest differs."""
    labels = {choice.label for own in choices for choice in own if choice.line == line}
    return labels.pop() if len(labels) == 1 else min(labels).partition(":")[0]


def _control_rows(custom_id: CustomId, controls: CardControls, first_label: str) -> list[Json]:
    """Rows of controls: buttons, then selects; the button `first_label` is highlighted."""
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
    return [*action_rows(buttons), *selects]


def finished_card(lines: Sequence[str]) -> list[Json]:
    """A list of finished turns, without controls."""
    return [text_display(escape_markdown("\n".join(lines)))]


def notification(lines: Sequence[str]) -> list[Json]:
    """A plain message to the table; empty lines are left out."""
    return [text_display("\n".join(line for line in lines if line))]


def poll_card(view: TableView, poll: TablePoll, users: Mapping[int, str | None]) -> list[Json]:
    """The message of a poll: who has voted, and the buttons of those who have not."""
    names = view.table.names
    heads = mentions(users, users, names)
    question = f"### {escape_markdown(poll.poll.details['question'])}"
    marks = {None: "⏳", True: "✅", False: "❌"}
    voters = " · ".join(f"{marks[vote]} {escape_markdown(names[seat])}" for seat, vote in poll.votes.items())
    buttons = added_buttons(view.table.id, f"v{poll.poll.id}", VOTE_CONTROLS)
    head = f"{heads} · {table_heading(view.table, view.seq)}"
    framed = [text_display(question), text_display(voters), *action_rows(buttons)]
    return [text_display(head), container(framed)]


def poll_line(view: TableView, poll: TablePoll, users: Mapping[int, str | None]) -> str:
    """The line that a phone shows about a poll."""
    heads = mentions(users, users, view.table.names)
    line = f"{heads}: {view.table.title}, a vote: {poll.poll.details['question']}"
    return truncate(line, MAX_LINE - 10) + f" · {view.table.code}"
