"""The controls of Discord messages: custom ids, and menus built from the engine's choices (pure functions).

Theory of operation. A control carries all that is needed to handle it, so it works after a restart and long
after it was sent: `r1:<table>:<seat>:<decision>:<action>:<argument>`, at most 100 characters. The argument
is usually the line to submit. A line that is too long is replaced by its index among the choices and a
checksum, `#17.1a2b3c4d`; the checksum shows when the choices have changed.

The labels of the choices (`Choice.path`) form a tree. At most 25 choices that differ in at most two labels
are listed flat, because one click is better than two. Others are narrowed down label by label; more than 25
labels are split into pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import engine

CUSTOM_ID_VERSION = "r1"
MAX_CUSTOM_ID = 100
MAX_OPTIONS = 25
MAX_FLAT_DEPTH = 2
MAX_COMBINED_VERBS = 12  # verbs with at most two choices each that share one select
MAX_BUTTONS = 10
PHONE_LABEL_LENGTH = 40  # characters of a button's label that a phone shows
MAX_LABEL_LENGTH = 80
ALWAYS_SELECTS = ("par",)  # verbs that keep their select however few their choices are
FEW_CHOICES = 3  # so few choices get buttons even when their labels are long

SUBMIT_LINE, OPEN_MENU, SELECT, ENTER_AMOUNT, ENTER_LINE = "s", "m", "p", "a", "w"
OPEN_CARD, OPEN_TILES, LOOK_CLOSER, SELL, PAGE = "c", "T", "L", "v", "P"
WATCH, ERASE = "watch", "erase"

NO_TABLE = 0
"""The table of a control that is about a person or a channel alone."""


class CustomId(NamedTuple):
    """The parts of a custom id. `seat` None means the seat of the user who uses the control."""

    table_id: int
    seat: int | None
    decision_id: str | None
    action: str
    argument: str = ""

    def __str__(self) -> str:
        seat = "-" if self.seat is None else str(self.seat)
        decision = self.decision_id or "-"
        return f"{CUSTOM_ID_VERSION}:{self.table_id}:{seat}:{decision}:{self.action}:{self.argument}"

    @property
    def max_argument_length(self) -> int:
        """How many characters are left for the argument."""
        return MAX_CUSTOM_ID - len(str(self._replace(argument="")))


def parse_custom_id(custom_id: str) -> CustomId | None:
    """The parts of a custom id; None for one of another version."""
    parts = custom_id.split(":", 5)
    if len(parts) != 6 or parts[0] != CUSTOM_ID_VERSION or not parts[1].isdecimal():
        return None
    _, table, seat, decision, action, argument = parts
    if seat != "-" and not seat.isdecimal():
        return None
    return CustomId(
        int(table),
        None if seat == "-" else int(seat),
        None if decision == "-" else decision,
        action,
        argument,
    )


# -- choices as arguments --------------------------------------------------------------------


def encode_choice(choices: Sequence[engine.Choice], index: int, max_length: int) -> str:
    """A choice's line, or its index and checksum where the line is longer than `max_length`."""
    line = choices[index].line
    return line if len(line) <= max_length else f"#{index}.{crc32(line.encode()):08x}"


def find_choice(choices: Sequence[engine.Choice], code: str) -> engine.Choice | None:
    """The choice that `encode_choice` wrote as `code`; None where it is not among these choices."""
    if not code.startswith("#"):
        return next((c for c in choices if c.line == code), None)
    index, _, checksum = code[1:].partition(".")
    if not index.isdecimal() or int(index) >= len(choices):
        return None
    found = choices[int(index)]
    return found if f"{crc32(found.line.encode()):08x}" == checksum else None


# -- menus -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MenuItem:
    """A button or an option of a select: its label and description, and the action it triggers."""

    label: str
    description: str
    action: str
    argument: str

    @property
    def value(self) -> str:
        """The value of an option of a select."""
        return f"{self.action}:{self.argument}"


class MenuPosition(NamedTuple):
    """A place in the menu tree: how many labels are chosen, the page, and one of the choices below.

    `choice` is as `encode_choice` writes it.
    """

    depth: int
    page: int
    choice: str

    def __str__(self) -> str:
        return f"{self.depth}.{self.page}.{self.choice}"


def parse_menu_position(argument: str) -> MenuPosition | None:
    """The position that was written as `argument`; None for anything else."""
    depth, _, rest = argument.partition(".")
    page, _, choice = rest.partition(".")
    return MenuPosition(int(depth), int(page), choice) if depth.isdecimal() and page.isdecimal() else None


def choices_below(choices: Sequence[engine.Choice], position: MenuPosition) -> list[int]:
    """The indices of the choices below a position; none where the choices have changed."""
    first = find_choice(choices, position.choice)
    if first is None or len(first.path) < position.depth:
        return []
    prefix = first.path[: position.depth]
    return [i for i, c in enumerate(choices) if c.path[: position.depth] == prefix]


def menu_items(
    choices: Sequence[engine.Choice], indices: Sequence[int], depth: int = 1, page: int = 0
) -> list[MenuItem]:
    """One page of a menu: at most 25 items for the choices at `indices`, which share `depth` labels."""
    fits = len(indices) <= MAX_OPTIONS
    if fits and is_shallow(choices, indices, depth):
        return [choice_item(choices, i) for i in indices]
    groups = group_by_label(choices, indices, depth)
    while len(groups) == 1 and not fits:
        depth += 1
        groups = group_by_label(choices, indices, depth)
    all_items = [
        choice_item(choices, group[0]) if len(group) == 1 else _submenu_item(choices, group, label, depth + 1)
        for label, group in groups.items()
    ]
    next_page = MenuPosition(depth, page + 1, encode_choice(choices, indices[0], MAX_CUSTOM_ID - 12))
    return page_of(all_items, page, OPEN_MENU, str(next_page))


def page_of(items: list[MenuItem], page: int, action: str, next_page: str) -> list[MenuItem]:
    """All items if a menu has room for them, else those of one page. action, next_page: of *More…*."""
    if len(items) <= MAX_OPTIONS:
        return items
    first = page * (MAX_OPTIONS - 1)
    shown = items[first : first + MAX_OPTIONS - 1]
    rest = len(items) - first - len(shown)
    return [*shown, MenuItem("More…", f"{rest} further", action, next_page)] if rest else shown


def is_shallow(choices: Sequence[engine.Choice], indices: Iterable[int], depth: int) -> bool:
    """Whether the choices below `depth` have at most two more labels each."""
    return max(len(choices[i].path) for i in indices) - depth <= MAX_FLAT_DEPTH


def group_by_label(
    choices: Sequence[engine.Choice], indices: Iterable[int], depth: int
) -> dict[str, list[int]]:
    """The indices of choices by their label at `depth`; a choice whose path ends before is its own group."""
    groups: dict[str, list[int]] = {}
    for i in indices:
        path = choices[i].path
        label = path[depth] if depth < len(path) else f"{choices[i].label}\0{i}"
        groups.setdefault(label, []).append(i)
    return groups


def choice_item(
    choices: Sequence[engine.Choice], index: int, max_length: int = MAX_CUSTOM_ID - 2
) -> MenuItem:
    """The item of one choice: it submits the line, or opens the form for the dollars first."""
    choice = choices[index]
    action = SUBMIT_LINE if choice.amounts is None else ENTER_AMOUNT
    ellipsis = "" if choice.amounts is None else "…"
    return MenuItem(choice.label + ellipsis, choice.line, action, encode_choice(choices, index, max_length))


def _submenu_item(choices: Sequence[engine.Choice], group: Sequence[int], label: str, depth: int) -> MenuItem:
    position = MenuPosition(depth, 0, encode_choice(choices, group[0], MAX_CUSTOM_ID - 12))
    return MenuItem(label, f"{len(group)} ways", OPEN_MENU, str(position))


class CardControls(NamedTuple):
    """The controls of a decision: buttons, (placeholder, items) of each select, and a select of sales, of
    which several can be chosen."""

    buttons: list[MenuItem]
    selects: list[tuple[str, list[MenuItem]]]
    sales: Sequence[MenuItem] = ()


def card_controls(
    choices: Sequence[engine.Choice],
    max_argument: int,
    max_selects: int = 6,
    indices_shown: Sequence[int] | None = None,
) -> CardControls:
    """The controls for these choices, or for those at `indices_shown`; an argument of a button has at most
    `max_argument` characters.

    A verb (the first label) with one or two short choices gets buttons, a verb with more gets a select; so
    does a verb of `ALWAYS_SELECTS`, which thereby keeps its place while its choices become fewer.
    Verbs with one or two long choices share one select. At most `FEW_CHOICES` choices all get buttons. Verbs
    for which no select is left share the last one.
    """
    buttons: list[MenuItem] = []
    selects: list[tuple[str, list[MenuItem]]] = []
    for_selects: list[tuple[str, list[int]]] = []
    combined: list[tuple[str, list[int]]] = []
    max_label = MAX_LABEL_LENGTH if len(choices) <= FEW_CHOICES else PHONE_LABEL_LENGTH
    shown = range(len(choices)) if indices_shown is None else indices_shown
    for verb, indices in group_by_label(choices, shown, 0).items():
        verb_items = [choice_item(choices, i, max_argument) for i in indices]
        all_short = all(len(each.label) <= max_label for each in verb_items)
        one_or_two = len(verb_items) == 1 or (len(verb_items) == 2 and is_shallow(choices, indices, 1))
        if verb in ALWAYS_SELECTS:
            for_selects.append((verb, indices))
        elif one_or_two and all_short and len(buttons) + len(verb_items) <= MAX_BUTTONS:
            buttons += verb_items
        else:
            (combined if one_or_two else for_selects).append((verb, indices))
    for_selects = [*combined[MAX_COMBINED_VERBS:], *for_selects]
    if combined := combined[:MAX_COMBINED_VERBS]:
        indices = [i for _, each in combined for i in each]
        verbs = ", ".join(verb for verb, _ in combined)
        selects.append((_select_placeholder(verbs, indices), [choice_item(choices, i) for i in indices]))
        max_selects -= 1
    own_select = for_selects if len(for_selects) <= max_selects else for_selects[: max_selects - 1]
    for verb, indices in own_select:
        selects.append((_select_placeholder(verb, indices), menu_items(choices, indices)))
    rest = [i for _, indices in for_selects[len(own_select) :] for i in indices]
    if rest:
        selects.append((_select_placeholder("more", rest), menu_items(choices, rest, 0)))
    return CardControls(buttons, selects)


def _select_placeholder(verb: str, indices: Sequence[int]) -> str:
    """The placeholder of a select: `Lay: 12 ways`."""
    return f"{capitalized(verb)}: {len(indices)} way{'s' * (len(indices) > 1)}"


def capitalized(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
