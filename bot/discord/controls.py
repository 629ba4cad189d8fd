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

VERSION = "r1"
LONGEST = 100
MOST_OPTIONS = 25
MOST_LABELS = 2
MOST_TOGETHER = 12  # kinds of act, of two ways at most, in one select
MOST_BUTTONS = 10
MOST_BUTTON, LONGEST_BUTTON = 40, 80  # characters: what a phone shows of a button, and what there can be
VERY_FEW = 3

SAY, SURE, MENU, PICK, AMOUNT, WRITE = "s", "y", "m", "p", "a", "w"
JOIN, LEAVE, START = "join", "leave", "start"


class Key(NamedTuple):
    """What a custom id says. `seat` None is that of whoever presses; `decision` what is answered."""

    table: int
    seat: int | None
    decision: str | None
    act: str
    arg: str = ""

    def __str__(self) -> str:
        seat = "-" if self.seat is None else str(self.seat)
        return f"{VERSION}:{self.table}:{seat}:{self.decision or '-'}:{self.act}:{self.arg}"

    @property
    def room(self) -> int:
        """How long the argument may be."""
        return LONGEST - len(str(self._replace(arg="")))


def read(custom_id: str) -> Key | None:
    """The key that was written so; None for anything else."""
    parts = custom_id.split(":", 5)
    if len(parts) != 6 or parts[0] != VERSION or not parts[1].isdecimal():
        return None
    _, table, seat, decision, act, arg = parts
    if seat != "-" and not seat.isdecimal():
        return None
    return Key(
        int(table), None if seat == "-" else int(seat), None if decision == "-" else decision, act, arg
    )


# -- choices by name -------------------------------------------------------------------------


def named(choices: Sequence[engine.Choice], place: int, room: int) -> str:
    """A choice's line, or where that is longer than `room` its place and checksum."""
    line = choices[place].line
    return line if len(line) <= room else f"#{place}.{crc32(line.encode()):08x}"


def find(choices: Sequence[engine.Choice], name: str) -> engine.Choice | None:
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
class Item:
    """A line of a menu: what it is called, what is said about it, and what choosing it does."""

    label: str
    about: str
    act: str
    arg: str

    @property
    def value(self) -> str:
        """As the value of an option of a select."""
        return f"{self.act}:{self.arg}"


class Step(NamedTuple):
    """Where in a menu one is: how many labels are chosen, which page, and a choice that lies below."""

    depth: int
    page: int
    name: str

    def __str__(self) -> str:
        return f"{self.depth}.{self.page}.{self.name}"


def read_step(arg: str) -> Step | None:
    """The step that was written so."""
    depth, _, rest = arg.partition(".")
    page, _, name = rest.partition(".")
    return Step(int(depth), int(page), name) if depth.isdecimal() and page.isdecimal() else None


def below(choices: Sequence[engine.Choice], step: Step) -> list[int]:
    """The places of the choices below a step; none where the choices have changed."""
    first = find(choices, step.name)
    if first is None or len(first.path) < step.depth:
        return []
    prefix = first.path[: step.depth]
    return [i for i, c in enumerate(choices) if c.path[: step.depth] == prefix]


def items(
    choices: Sequence[engine.Choice], places: Sequence[int], depth: int = 1, page: int = 0
) -> list[Item]:
    """A page of the menu of those choices, which agree in their first `depth` labels; at most 25 items."""
    few = len(places) <= MOST_OPTIONS
    if few and shallow(choices, places, depth):
        return [leaf(choices, i) for i in places]
    groups = grouped(choices, places, depth)
    while len(groups) == 1 and not few:
        depth += 1
        groups = grouped(choices, places, depth)
    found = [
        leaf(choices, group[0]) if len(group) == 1 else _branch(choices, group, label, depth + 1)
        for label, group in groups.items()
    ]
    if len(found) <= MOST_OPTIONS:
        return found
    first = page * (MOST_OPTIONS - 1)
    shown = found[first : first + MOST_OPTIONS - 1]
    rest = len(found) - first - len(shown)
    if not rest:
        return shown
    on = Step(depth, page + 1, named(choices, places[0], LONGEST - 12))
    return [*shown, Item("More…", f"{rest} further", MENU, str(on))]


def shallow(choices: Sequence[engine.Choice], places: Iterable[int], depth: int) -> bool:
    """Whether these choices differ in no more labels than one line can tell."""
    return max(len(choices[i].path) for i in places) - depth <= MOST_LABELS


def grouped(choices: Sequence[engine.Choice], places: Iterable[int], depth: int) -> dict[str, list[int]]:
    """Those choices by their label at that depth. What ends there stands for itself, under its words."""
    groups: dict[str, list[int]] = {}
    for i in places:
        path = choices[i].path
        label = path[depth] if depth < len(path) else f"{choices[i].says}\0{i}"
        groups.setdefault(label, []).append(i)
    return groups


def leaf(choices: Sequence[engine.Choice], place: int, room: int = LONGEST - 2) -> Item:
    """A choice as an item: it is said, or asks for dollars first."""
    choice = choices[place]
    act = SAY if choice.amounts is None else AMOUNT
    more = "" if choice.amounts is None else "…"
    return Item(choice.says + more, choice.line, act, named(choices, place, room))


def _branch(choices: Sequence[engine.Choice], group: Sequence[int], label: str, depth: int) -> Item:
    step = Step(depth, 0, named(choices, group[0], LONGEST - 12))
    return Item(label, f"{len(group)} ways", MENU, str(step))


class Controls(NamedTuple):
    """The controls of a decision: buttons, and selects with a placeholder each."""

    buttons: list[Item]
    selects: list[tuple[str, list[Item]]]


def controls(choices: Sequence[engine.Choice], room: int, most_selects: int = 6) -> Controls:
    """Buttons for what is few and short, selects for what is several; `room` is that of a custom id.

    What is few but long stands together in one select; what is very few has its buttons, however long.
    """
    buttons: list[Item] = []
    selects: list[tuple[str, list[Item]]] = []
    several: list[tuple[str, list[int]]] = []
    long: list[tuple[str, list[int]]] = []
    most = LONGEST_BUTTON if len(choices) <= VERY_FEW else MOST_BUTTON
    for verb, places in grouped(choices, range(len(choices)), 0).items():
        leaves = [leaf(choices, i, room) for i in places]
        short = all(len(each.label) <= most for each in leaves)
        plain = len(leaves) == 1 or (len(leaves) == 2 and shallow(choices, places, 1))
        if plain and short and len(buttons) + len(leaves) <= MOST_BUTTONS:
            buttons += leaves
        else:
            (long if plain else several).append((verb, places))
    several = [*long[MOST_TOGETHER:], *several]
    if long := long[:MOST_TOGETHER]:
        places = [i for _, each in long for i in each]
        verbs = ", ".join(verb for verb, _ in long)
        selects.append((_ways(verbs, places), [leaf(choices, i) for i in places]))
        most_selects -= 1
    fitting = several if len(several) <= most_selects else several[: most_selects - 1]
    for verb, places in fitting:
        selects.append((_ways(verb, places), items(choices, places)))
    rest = [i for _, places in several[len(fitting) :] for i in places]
    if rest:
        selects.append((_ways("more", rest), items(choices, rest, 0)))
    return Controls(buttons, selects)


def _ways(verb: str, places: Sequence[int]) -> str:
    """What a select offers: `Lay: 12 ways`."""
    return f"{titled(verb)}: {len(places)} way{'s' * (len(places) > 1)}"


def titled(text: str) -> str:
    """With a capital first."""
    return text[:1].upper() + text[1:]
