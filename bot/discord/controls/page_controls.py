"""The controls of an answer, and those that features add to the card of a turn, as Discord shows them.

The id of a control of an answer names the question whose answer is shown afterwards, and the line that the
control says: `auto|auto pass`. A form has its label in place of the line, and what is entered into it goes
behind the beginning of a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.discord.cards import parts
from bot.discord.cards.parts import DANGER, PRIMARY, SECONDARY, SUCCESS, Json
from bot.discord.controls.controls import PAGE, SELECT, SUBMIT_LINE, CustomId, MenuItem
from bot.hub.feature import Page
from bot.position.controls import Ask, Choose, Control, Emphasis, Say, Show

FORM, ENTERED = "?", "="
"""Begin the label of a form, and the beginning of the line that is made of what is entered into it."""
MAX_OPTION = 96  # characters of what an option stands for
STYLES: dict[Emphasis, int] = {"": SECONDARY, "first": PRIMARY, "good": SUCCESS, "danger": DANGER}


def answer_rows(table_id: int, question: str, controls: Sequence[Control]) -> list[Json]:
    """Rows of the controls of an answer, selects first. A line that is too long for an id is left out."""
    page = CustomId(table_id, None, None, PAGE)

    def says(line: str) -> CustomId:
        return page._replace(argument=f"{question}|{line}")

    selects, buttons = list[Json](), list[Json]()
    for control in controls:
        match control:
            case Choose():
                items = [
                    MenuItem(each.label, each.effect or each.line, PAGE, says(each.line).argument)
                    for each in control.options
                    if len(says(each.line).argument) <= MAX_OPTION
                ]
                place = page._replace(action=SELECT, argument=str(len(selects)))
                selects += [parts.select_row(str(place), control.label, items)] if items else []
            case Ask():
                buttons.append(parts.button(f"{control.label}…", str(says(f"{FORM}{control.label}"))))
            case Say() if len(control.line) + len(question) < page.max_argument_length:
                buttons.append(parts.button(control.label, str(says(control.line)), STYLES[control.emphasis]))
            case Show():
                buttons.append(_show_button(page, control))
    return [*selects, *parts.action_rows(buttons)]


def added_buttons(
    table_id: int, decision_id: str | None, controls: Iterable[Say | Show], seat: int | None = None
) -> list[Json]:
    """The buttons that features add to the card of a turn. Each acts for a seat, or for the one who presses
    it."""
    custom_id = CustomId(table_id, seat, decision_id, SUBMIT_LINE)
    return [
        _show_button(CustomId(table_id, None, None, PAGE), control)
        if isinstance(control, Show)
        else parts.button(
            control.label, str(custom_id._replace(argument=control.line)), STYLES[control.emphasis]
        )
        for control in controls
    ]


def page_card(table_id: int, page: Page, above: Sequence[str], media: Sequence[Json] = ()) -> list[Json]:
    """A page as a message. above: lines before it. media: its pictures and files."""
    lines = [*above, *page.sentences]
    room = parts.MAX_TEXT - sum(len(line) + 1 for line in lines)
    lists = [
        "\n- ".join([f"**{title}**", *items]) if title else "\n".join(items)
        for title, items in _fitting(page.lists, room)
    ]
    text = parts.text_display("\n".join([*lines, *lists]))
    buttons = added_buttons(table_id, page.decision_id, page.controls)
    return [parts.container([text, *media, *parts.action_rows(buttons)])]


def _fitting(lists: Sequence[tuple[str, Sequence[str]]], room: int) -> Sequence[tuple[str, Sequence[str]]]:
    """Lists in so many characters: the longest loses entries from its end. Its last stays: it says what else
    there is."""
    kept = [(title, list(items)) for title, items in lists]
    lengths = [len(title) + 5 + sum(len(item) + 3 for item in items) for title, items in kept]
    while sum(lengths) > room:
        longest = lengths.index(max(lengths))
        if len(items := kept[longest][1]) < 2:
            break
        lengths[longest] -= len(items.pop(-2)) + 3
    return kept


def _show_button(page: CustomId, control: Show) -> Json:
    return parts.button(control.label, str(page._replace(argument=control.question)))


def form_modal(custom_id: CustomId, question: str, form: Ask) -> Json:
    """A form of one field."""
    sent = str(custom_id._replace(argument=f"{question}|{ENTERED}{form.start}"))
    example = parts.truncate(form.example, 100)
    return parts.modal(form.label, sent, form.label, "line", max_length=300, placeholder=example)
