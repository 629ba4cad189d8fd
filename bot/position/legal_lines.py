"""Legal lines ready to copy, few enough for a mail; nothing is left out without a mention (pure).

If there are many, lines that differ only in their last parts (the tiles and rotations on one hex, the par
prices of one company) are merged into one line, and the comment after its `#` lists the alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from engine import Choice

MAX_UNGROUPED = 24
MAX_LINES = 55
MAX_COUNTED = 4  # lines that count up are one line from so many on
_NUMBERED = re.compile(r"([a-z]+ )(\d{1,2})")
MAX_COMMENT, MAX_SHARED_COMMENT = 240, 600


def copyable_lines(choices: Sequence[Choice]) -> tuple[str, ...]:
    """Lines for the choices, in their order, with comments about the lines that each stands for."""
    if len(choices) <= MAX_UNGROUPED:
        return tuple(_counted_lines(choices))
    groups = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:2])]
    lines = [_merged_line(similar) for similar in _merge_similar(groups)]
    if len(lines) <= MAX_LINES:
        return tuple(lines)
    kinds = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:1])]
    return tuple(_single_line(kind[0]) + _count_comment(kind) for kind in kinds[:MAX_LINES])


def _counted_lines(choices: Sequence[Choice]) -> Iterator[str]:
    """A line for each choice, and one for `loan 1`, `loan 2` …: `loan 1   # or more, up to 9`."""
    numbered = [_NUMBERED.fullmatch(choice.line) for choice in choices]
    for _, run in groupby(range(len(choices)), key=lambda at: _run_of(numbered[at], at)):
        first, last = (found := list(run))[0], found[-1]
        if last - first < MAX_COUNTED - 1 or not (ends := numbered[last]):
            yield from (_single_line(choice) for choice in choices[first : last + 1])
        else:
            yield f"{choices[first].line}   # or more, up to {ends[2]}"


def _run_of(numbered: re.Match[str] | None, at: int) -> tuple[str, int]:
    """The same for all lines of a run that counts up; another for every line that is not in one."""
    return (numbered[1], int(numbered[2]) - at) if numbered else (str(at), 0)


def _single_line(choice: Choice) -> str:
    if choice.amounts is None or len(choice.amounts) < 2:
        return choice.line
    return f"{choice.line}   # or more, up to {choice.limit_text}"


def _count_comment(kind: Sequence[Choice]) -> str:
    return f"   # and {len(kind) - 1} more like it" if len(kind) > 1 else ""


def _merge_similar(groups: Sequence[list[Choice]]) -> list[list[list[Choice]]]:
    """Groups of one kind whose remaining labels and amounts are the same, put together."""
    similar: dict[object, list[list[Choice]]] = {}
    for group in groups:
        tails = tuple((choice.path[2:], choice.amounts) for choice in group)
        unique = group[0].path[:2] if not all(tail for tail, _ in tails) else ()
        similar.setdefault((group[0].path[0], unique, tails), []).append(group)
    return list(similar.values())


def _merged_line(groups: Sequence[list[Choice]]) -> str:
    """Groups that differ in one label only: `# A&S, Belt, GT; each B5 Lansing; C8 Detroit`."""
    first, *others = groups
    if not others:
        return _group_line(first)
    heads = ", ".join(group[0].path[1] for group in groups)
    comment = f"{heads}; each {_label_tree([choice.path[2:] for choice in first])}"
    if len(comment) > MAX_SHARED_COMMENT:
        return _single_line(first[0]) + _count_comment([choice for group in groups for choice in group])
    choice = first[0]
    amounts = f"; ${choice.amounts[0]} or more, up to {choice.limit_text}" if choice.amounts else ""
    return f"{choice.line}   # {comment}{amounts}"


def _group_line(group: Sequence[Choice]) -> str:
    first, *others = group
    if not others:
        return _single_line(first)
    labels = [choice.path[2:] for choice in group]
    comment = _label_tree(labels) if all(labels) else ""
    if 0 < len(comment) <= MAX_COMMENT:
        return f"{first.line}   # {comment}"
    return first.line + _count_comment(group)


def _label_tree(paths: Sequence[tuple[str, ...]]) -> str:
    """Labels, each with those that follow it: `#7 rotation 0 1 5; #8 rotation 1 4`."""
    parts = _by_first_label(paths)
    if not any(rest for _, rest in parts):
        return _with_common_prefix([head for head, _ in parts])
    return "; ".join(f"{head} {_label_tree(rest)}" if rest else head for head, rest in parts)


def _by_first_label(paths: Sequence[tuple[str, ...]]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The first labels, each with the rests of its paths."""
    rests: dict[str, list[tuple[str, ...]]] = {}
    for path in filter(None, paths):
        rests.setdefault(path[0], []).extend([path[1:]] if path[1:] else [])
    return list(rests.items())


def _with_common_prefix(labels: Sequence[str]) -> str:
    """Labels in one text, with their common first words only once."""
    prefix = labels[0].rpartition(" ")[0] + " "
    if len(prefix) == 1 or not all(label.startswith(prefix) for label in labels):
        return ", ".join(labels)
    return prefix + " ".join(label.removeprefix(prefix) for label in labels)
