"""What a control on a Discord message says when it is used: custom ids, and menus (pure).

Theory. A control carries all that is needed to understand it, so that it works after a restart and
long after it was sent: `r1:<table>:<seat>:<decision>:<act>:<argument>`, at most 100 characters. Mostly
the argument is the line that is said. A line that does not fit is named by its place among the
choices and a checksum, `#17.1a2b3c4d`: where the choices have changed, the checksum tells.

A menu is the tree that the paths of the choices make. What has at most 25 leaves, no more than two
labels down, is listed flat, for one press is better than two; everything else is narrowed down by the
next label, and what has more than 25 labels has pages.
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
MAX_COMBINED_VERBS = 12  # kinds of act, of two ways at most, in one select
MAX_BUTTONS = 10
PHONE_LABEL_LENGTH, MAX_LABEL_LENGTH = (
    40,
    80,
)  # characters: what a phone shows of a button, and what there can be
FEW_CHOICES = 3

SUBMIT_LINE, CONFIRM, OPEN_MENU, SELECT, ENTER_AMOUNT, ENTER_LINE = "s", "y", "m", "p", "a", "w"
JOIN, LEAVE, START = "join", "leave", "start"


class CustomId(NamedTuple):
    """What a custom id says. `seat` None is that of whoever presses; `decision` what is answered."""

    table_id: int
    seat: int | None
    decision_id: str | None
    action: str
    argument: str = ""

    def __str__(self) -> str:
        seat = "-" if self.seat is None else str(self.seat)
        place = f"{CUSTOM_ID_VERSION}:{self.table_id}:{seat}:{self.decision_id or '-'}"
        return f"{place}:{self.action}:{self.argument}"

    @property
    def max_argument_length(self) -> int:
        """How long the argument may be."""
        return MAX_CUSTOM_ID - len(str(self._replace(argument="")))


def parse_custom_id(custom_id: str) -> CustomId | None:
    """The key that was written so; None for anything else."""
    parts = custom_id.split(":", 5)
    if len(parts) != 6 or parts[0] != CUSTOM_ID_VERSION or not parts[1].isdecimal():
        return None
    _, table, seat, decision, act, arg = parts
    if seat != "-" and not seat.isdecimal():
        return None
    return CustomId(
        int(table), None if seat == "-" else int(seat), None if decision == "-" else decision, act, arg
    )


# -- choices by name -------------------------------------------------------------------------


def encode_choice(choices: Sequence[engine.Choice], place: int, room: int) -> str:
    """A choice's line, or where that is longer than `room` its place and checksum."""
    line = choices[place].line
    return line if len(line) <= room else f"#{place}.{crc32(line.encode()):08x}"


def find_choice(choices: Sequence[engine.Choice], name: str) -> engine.Choice | None:
    """The choice that was named so; None where it is not, or no longer, among them."""
    if not name.startswith("#"):
        return next((c for c in choices if c.line == name), None)
    place, _, checksum = name[1:].partition(".")
    if not place.isdecimal() or int(place) >= len(choices):
        return None
    found = choices[int(place)]
    return found if f"{crc32(found.line.encode()):08x}" == checksum else None


# -- menus -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MenuItem:
    """A line of a menu: what it is called, what is said about it, and what choosing it does."""

    label: str
    description: str
    action: str
    argument: str

    @property
    def value(self) -> str:
        """As the value of an option of a select."""
        return f"{self.action}:{self.argument}"


class MenuPosition(NamedTuple):
    """Where in a menu one is: how many labels are chosen, which page, and a choice that lies below."""

    depth: int
    page: int
    choice: str

    def __str__(self) -> str:
        return f"{self.depth}.{self.page}.{self.choice}"


def parse_menu_position(arg: str) -> MenuPosition | None:
    """The step that was written so."""
    depth, _, rest = arg.partition(".")
    page, _, name = rest.partition(".")
    return MenuPosition(int(depth), int(page), name) if depth.isdecimal() and page.isdecimal() else None


def choices_below(choices: Sequence[engine.Choice], step: MenuPosition) -> list[int]:
    """The places of the choices below a step; none where the choices have changed."""
    first = find_choice(choices, step.choice)
    if first is None or len(first.path) < step.depth:
        return []
    prefix = first.path[: step.depth]
    return [i for i, c in enumerate(choices) if c.path[: step.depth] == prefix]


def menu_items(
    choices: Sequence[engine.Choice], places: Sequence[int], depth: int = 1, page: int = 0
) -> list[MenuItem]:
    """A page of the menu of those choices, which agree in their first `depth` labels; at most 25 items."""
    few = len(places) <= MAX_OPTIONS
    if few and is_shallow(choices, places, depth):
        return [choice_item(choices, i) for i in places]
    groups = group_by_label(choices, places, depth)
    while len(groups) == 1 and not few:
        depth += 1
        groups = group_by_label(choices, places, depth)
    found = [
        choice_item(choices, group[0]) if len(group) == 1 else _submenu_item(choices, group, label, depth + 1)
        for label, group in groups.items()
    ]
    if len(found) <= MAX_OPTIONS:
        return found
    first = page * (MAX_OPTIONS - 1)
    shown = found[first : first + MAX_OPTIONS - 1]
    rest = len(found) - first - len(shown)
    if not rest:
        return shown
    on = MenuPosition(depth, page + 1, encode_choice(choices, places[0], MAX_CUSTOM_ID - 12))
    return [*shown, MenuItem("More…", f"{rest} further", OPEN_MENU, str(on))]


def is_shallow(choices: Sequence[engine.Choice], places: Iterable[int], depth: int) -> bool:
    """Whether these choices differ in no more labels than one line can tell."""
    return max(len(choices[i].path) for i in places) - depth <= MAX_FLAT_DEPTH


def group_by_label(
    choices: Sequence[engine.Choice], places: Iterable[int], depth: int
) -> dict[str, list[int]]:
    """Those choices by their label at that depth. What ends there stands for itself, under its words."""
    groups: dict[str, list[int]] = {}
    for i in places:
        path = choices[i].path
        label = path[depth] if depth < len(path) else f"{choices[i].label}\0{i}"
        groups.setdefault(label, []).append(i)
    return groups


def choice_item(choices: Sequence[engine.Choice], place: int, room: int = MAX_CUSTOM_ID - 2) -> MenuItem:
    """A choice as an item: it is said, or asks for dollars first."""
    choice = choices[place]
    act = SUBMIT_LINE if choice.amounts is None else ENTER_AMOUNT
    more = "" if choice.amounts is None else "…"
    return MenuItem(choice.label + more, choice.line, act, encode_choice(choices, place, room))


def _submenu_item(choices: Sequence[engine.Choice], group: Sequence[int], label: str, depth: int) -> MenuItem:
    step = MenuPosition(depth, 0, encode_choice(choices, group[0], MAX_CUSTOM_ID - 12))
    return MenuItem(label, f"{len(group)} ways", OPEN_MENU, str(step))


class CardControls(NamedTuple):
    """The controls of a decision: buttons, and selects with a placeholder each."""

    buttons: list[MenuItem]
    selects: list[tuple[str, list[MenuItem]]]


def card_controls(choices: Sequence[engine.Choice], room: int, most_selects: int = 6) -> CardControls:
    """Buttons for what is few and short, selects for what is several; `room` is that of a custom id.

    What is few but long stands together in one select; what is very few has its buttons, however long.
    """
    buttons: list[MenuItem] = []
    selects: list[tuple[str, list[MenuItem]]] = []
    several: list[tuple[str, list[int]]] = []
    long: list[tuple[str, list[int]]] = []
    most = MAX_LABEL_LENGTH if len(choices) <= FEW_CHOICES else PHONE_LABEL_LENGTH
    for verb, places in group_by_label(choices, range(len(choices)), 0).items():
        leaves = [choice_item(choices, i, room) for i in places]
        short = all(len(each.label) <= most for each in leaves)
        plain = len(leaves) == 1 or (len(leaves) == 2 and is_shallow(choices, places, 1))
        if plain and short and len(buttons) + len(leaves) <= MAX_BUTTONS:
            buttons += leaves
        else:
            (long if plain else several).append((verb, places))
    several = [*long[MAX_COMBINED_VERBS:], *several]
    if long := long[:MAX_COMBINED_VERBS]:
        places = [i for _, each in long for i in each]
        verbs = ", ".join(verb for verb, _ in long)
        selects.append((_select_placeholder(verbs, places), [choice_item(choices, i) for i in places]))
        most_selects -= 1
    fitting = several if len(several) <= most_selects else several[: most_selects - 1]
    for verb, places in fitting:
        selects.append((_select_placeholder(verb, places), menu_items(choices, places)))
    rest = [i for _, places in several[len(fitting) :] for i in places]
    if rest:
        selects.append((_select_placeholder("more", rest), menu_items(choices, rest, 0)))
    return CardControls(buttons, selects)


def _select_placeholder(verb: str, places: Sequence[int]) -> str:
    """What a select offers: `Lay: 12 ways`."""
    return f"{capitalized(verb)}: {len(places)} way{'s' * (len(places) > 1)}"


def capitalized(text: str) -> str:
    """With a capital first."""
    return text[:1].upper() + text[1:]
