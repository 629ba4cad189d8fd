"""Legal lines ready to copy: few enough for a letter, and nothing left out without a word (pure).

Where there are many, those that differ only in their last parts (the tiles and rotations on one hex, the
par prices of one company) are one line, and behind its `#` stands what else could be written there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from engine import Choice

MANY = 24
MOST = 55
LONGEST, LONGEST_SHARED = 240, 600


def lines(choices: Sequence[Choice]) -> tuple[str, ...]:
    """Lines for those choices, in their order; comments say what they stand for."""
    if len(choices) <= MANY:
        return tuple(_line(choice) for choice in choices)
    groups = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:2])]
    told = [_alike(each) for each in _with_the_same(groups)]
    if len(told) <= MOST:
        return tuple(told)
    kinds = [list(group) for _, group in groupby(choices, key=lambda c: c.path[:1])]
    return tuple(_line(kind[0]) + _counted(kind) for kind in kinds[:MOST])


def _line(choice: Choice) -> str:
    if choice.amounts is None or len(choice.amounts) < 2:
        return choice.line
    return f"{choice.line}   # or more, up to {choice.most}"


def _counted(kind: Sequence[Choice]) -> str:
    return f"   # and {len(kind) - 1} more like it" if len(kind) > 1 else ""


def _with_the_same(groups: Sequence[list[Choice]]) -> list[list[list[Choice]]]:
    """Groups of one kind that go on alike, with the same dollars, together."""
    found: dict[object, list[list[Choice]]] = {}
    for group in groups:
        tails = tuple((choice.path[2:], choice.amounts) for choice in group)
        alone = group[0].path[:2] if not all(tail for tail, _ in tails) else ()
        found.setdefault((group[0].path[0], alone, tails), []).append(group)
    return list(found.values())


def _alike(groups: Sequence[list[Choice]]) -> str:
    """Groups that differ in one label and go on alike: `# A&S, Belt, GT; each B5 Lansing; C8 Detroit`."""
    first, *others = groups
    if not others:
        return _group(first)
    heads = ", ".join(group[0].path[1] for group in groups)
    told = f"{heads}; each {_tree([choice.path[2:] for choice in first])}"
    if len(told) > LONGEST_SHARED:
        return _line(first[0]) + _counted([choice for group in groups for choice in group])
    lead = first[0]
    more = f"; ${lead.amounts[0]} or more, up to {lead.most}" if lead.amounts else ""
    return f"{lead.line}   # {told}{more}"


def _group(group: Sequence[Choice]) -> str:
    first, *others = group
    if not others:
        return _line(first)
    labels = [choice.path[2:] for choice in group]
    told = _tree(labels) if all(labels) else ""
    return f"{first.line}   # {told}" if 0 < len(told) <= LONGEST else first.line + _counted(group)


def _tree(paths: Sequence[tuple[str, ...]]) -> str:
    """`#7 rotation 0 1 5; #8 rotation 1 4`: labels with what follows each."""
    parts = _by_head(paths)
    if not any(rest for _, rest in parts):
        return _shared([head for head, _ in parts])
    return "; ".join(f"{head} {_tree(rest)}" if rest else head for head, rest in parts)


def _by_head(paths: Sequence[tuple[str, ...]]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The first labels, each with the paths that go on behind it."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in filter(None, paths):
        found.setdefault(path[0], []).extend([path[1:]] if path[1:] else [])
    return list(found.items())


def _shared(labels: Sequence[str]) -> str:
    """One or more labels, the words with which all begin said once."""
    start = labels[0].rpartition(" ")[0] + " "
    if len(start) == 1 or not all(label.startswith(start) for label in labels):
        return ", ".join(labels)
    return start + " ".join(label.removeprefix(start) for label in labels)
