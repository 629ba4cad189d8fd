"""Legal lines ready to copy: few enough for a letter, and nothing left out without a word (pure).

Where there are many, those that differ only in their last parts (the tiles and rotations on one hex, the
par prices of one company) are one line, and behind its `#` stands what else could be written there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from engine import Choice

MAX_UNGROUPED = 24
MAX_LINES = 55
MAX_COMMENT, MAX_SHARED_COMMENT = 240, 600


def copyable_lines(choices: Sequence[Choice]) -> tuple[str, ...]:
    """Lines for those choices, in their order; comments say what they stand for."""
    if len(choices) <= MAX_UNGROUPED:
        return tuple(_single_line(choice) for choice in choices)
    groups = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:2])]
    told = [_merged_line(each) for each in _merge_similar(groups)]
    if len(told) <= MAX_LINES:
        return tuple(told)
    kinds = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:1])]
    return tuple(_single_line(kind[0]) + _count_comment(kind) for kind in kinds[:MAX_LINES])


def _single_line(choice: Choice) -> str:
    if choice.amounts is None or len(choice.amounts) < 2:
        return choice.line
    return f"{choice.line}   # or more, up to {choice.limit_text}"


def _count_comment(kind: Sequence[Choice]) -> str:
    return f"   # and {len(kind) - 1} more like it" if len(kind) > 1 else ""


def _merge_similar(groups: Sequence[list[Choice]]) -> list[list[list[Choice]]]:
    """Groups of one kind that go on alike, with the same dollars, together."""
    found: dict[object, list[list[Choice]]] = {}
    for group in groups:
        tails = tuple((choice.path[2:], choice.amounts) for choice in group)
        alone = group[0].path[:2] if not all(tail for tail, _ in tails) else ()
        found.setdefault((group[0].path[0], alone, tails), []).append(group)
    return list(found.values())


def _merged_line(groups: Sequence[list[Choice]]) -> str:
    """Groups that differ in one label and go on alike: `# A&S, Belt, GT; each B5 Lansing; C8 Detroit`."""
    first, *others = groups
    if not others:
        return _group_line(first)
    heads = ", ".join(group[0].path[1] for group in groups)
    told = f"{heads}; each {_label_tree([choice.path[2:] for choice in first])}"
    if len(told) > MAX_SHARED_COMMENT:
        return _single_line(first[0]) + _count_comment([choice for group in groups for choice in group])
    lead = first[0]
    more = f"; ${lead.amounts[0]} or more, up to {lead.limit_text}" if lead.amounts else ""
    return f"{lead.line}   # {told}{more}"


def _group_line(group: Sequence[Choice]) -> str:
    first, *others = group
    if not others:
        return _single_line(first)
    labels = [choice.path[2:] for choice in group]
    told = _label_tree(labels) if all(labels) else ""
    return f"{first.line}   # {told}" if 0 < len(told) <= MAX_COMMENT else first.line + _count_comment(group)


def _label_tree(paths: Sequence[tuple[str, ...]]) -> str:
    """`#7 rotation 0 1 5; #8 rotation 1 4`: labels with what follows each."""
    parts = _by_first_label(paths)
    if not any(rest for _, rest in parts):
        return _with_common_prefix([head for head, _ in parts])
    return "; ".join(f"{head} {_label_tree(rest)}" if rest else head for head, rest in parts)


def _by_first_label(paths: Sequence[tuple[str, ...]]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The first labels, each with the paths that go on behind it."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in filter(None, paths):
        found.setdefault(path[0], []).extend([path[1:]] if path[1:] else [])
    return list(found.items())


def _with_common_prefix(labels: Sequence[str]) -> str:
    """One or more labels, the words with which all begin said once."""
    start = labels[0].rpartition(" ")[0] + " "
    if len(start) == 1 or not all(label.startswith(start) for label in labels):
        return ", ".join(labels)
    return start + " ".join(label.removeprefix(start) for label in labels)
