"""What one player alone sees: menus, the results of their lines, and the forms that ask for more."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.discord.cards.card_texts import MAX_HISTORY_LINES, player_name
from bot.discord.cards.parts import (
    DANGER,
    SECONDARY,
    Json,
    action_rows,
    button,
    code_block,
    escape_markdown,
    modal,
    select_row,
    text_display,
    truncate,
)
from bot.discord.controls.controls import ENTER_AMOUNT, SELECT, CustomId, MenuItem
from bot.hub.request import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineFailure,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)

MAX_PRIVATE_TEXT = 3000
MAX_ANSWER = 3800  # of an answer that stands alone, such as `help`


def menu_message(custom_id: CustomId, title: str, items: Sequence[MenuItem]) -> list[Json]:
    """The next level of a menu, as a private message."""
    select = select_row(str(custom_id._replace(action=SELECT, argument="0")), title, items)
    return [text_display(f"**{title}**"), select]


def result_message(
    result: CommandResult, custom_id: CustomId, link: str | None, submitted: Sequence[str], limit: int
) -> list[Json]:
    """The result of a command as a private message, with up to five suggested lines as buttons.

    custom_id: of a button, without its line. link: to the card as it is now. submitted: all lines of the
    command. Of a suggestion for the third the button submits the first two as well, because none of them was
    played. limit: characters of its text.
    """
    text, lines = result_text(result)
    if isinstance(result, LineFailure) and len(submitted) > 1:
        text = f"Line {result.index + 1}, {text}\nNothing was played."
        before = submitted[: result.index]
        lines = ["; ".join([*before, each]) for each in lines if not each.startswith("plan ")]
    if isinstance(result, StaleDecision) and link:
        text = f"{text}\n[The card as it is now]({link})"
    style = DANGER if isinstance(result, ConfirmationRequired) else SECONDARY
    buttons = [
        button(line, str(custom_id._replace(argument=line)), style)
        for line in lines[:5]
        if len(line) <= custom_id.max_argument_length
    ]
    return [text_display(text, limit), *action_rows(buttons)]


def result_text(result: CommandResult) -> tuple[str, Sequence[str]]:
    """The result of a command in words, and the lines that the player may send instead."""
    match result:
        case Completed():
            moves = [
                f"`{m.line}` — {' '.join(m.sentences)}" if m.sentences else f"`{m.line}`"
                for m in result.played
            ]
            return "\n".join(["Done.", *moves, *result.sentences]), ()
        case LineFailure():
            return _why_not(result), result.suggestions
        case StaleDecision():
            events = [f"- {each}" for each in result.since[-MAX_HISTORY_LINES:]]
            return "\n".join([result.reason, *(["Since then:", *events] if events else [])]), ()
        case ConfirmationRequired():
            return result.reason, (result.line,)
        case PollUpdated():
            return "\n".join(result.sentences), ()
        case QueryAnswer():
            return answer_text(result, MAX_ANSWER), ()
        case NotYourSeat() | TableNotRunning():
            return result.reason, ()


def answer_text(answer: QueryAnswer, limit: int) -> str:
    """An answer in at most `limit` characters; in fixed width where it has columns."""
    if "  " in answer.text:
        return code_block(answer.text, limit)
    return truncate(escape_markdown(answer.text), limit)


def _why_not(failure: LineFailure) -> str:
    """Why a line is not possible, with the line, unless the reason names it."""
    line = f"`{truncate(failure.line, 200)}`"
    return failure.reason if line in failure.reason else f"{line}: {failure.reason}"


def wrong_player_text(state: engine.State | None, names: Sequence[str], seat: int) -> str:
    """What a person reads who uses the controls of another player."""
    name = player_name(state, seat) if state and not state.game_over else names[seat]
    return f"These controls are for {name}."


def amount_modal(custom_id: CustomId, choice: engine.Choice) -> Json:
    """A form that asks for an amount of dollars."""
    assert choice.amounts is not None
    low = choice.amounts[0]
    allowed = f"{choice.label}: ${low:,} to {choice.limit_text}"
    return modal(
        choice.label, str(custom_id), "Dollars", "amount", allowed,
        min_length=1, max_length=7, value=str(low),
    )  # fmt: skip


def wrong_amount_message(custom_id: CustomId, choice: engine.Choice, typed: str) -> list[Json]:
    """The answer to dollars that are not possible, with a button that opens the form again."""
    assert choice.amounts is not None
    sentence = (
        f"{typed!r} is not possible: {choice.label}, from ${choice.amounts[0]:,} to {choice.limit_text}."
    )
    again = button("Enter another amount…", str(custom_id._replace(action=ENTER_AMOUNT)), SECONDARY)
    return [text_display(sentence), *action_rows([again])]


def line_modal(custom_id: CustomId, example: str) -> Json:
    """A form that asks for a line of notation."""
    how = "As by email and in /do; several lines with ; between them"
    example = truncate(example, 100)
    return modal("Enter a line", str(custom_id), "Line", "line", how, max_length=500, placeholder=example)
