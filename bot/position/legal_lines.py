"""Legal lines as players copy and choose them, and what a choice does, in a few words (pure).

A choice is tried on a copy of the position. Its label says what it is, so only what follows is told: the
money that is left, prices, presidents, the phase, trains that rust.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import engine
from bot.position import text_views
from engine import Choice
from engine.core.words import dollars
from engine.finance.offers import WITHDRAW

MAX_UNGROUPED = 24
MAX_OF_A_VERB = 16  # so many choices of one verb, without open dollars, have a line each among others
MAX_LINES = 55
ANSWERS = ("accept", "decline")
MAX_COUNTED = 4  # lines that count up are one line from so many on
_NUMBERED = re.compile(r"([a-z]+ )(\d{1,2})")
MAX_COMMENT, MAX_SHARED_COMMENT = 240, 600


def copyable_lines(choices: Sequence[Choice]) -> tuple[str, ...]:
    """Lines for the choices, in their order, with comments about the lines that each stands for."""
    if len(choices) <= MAX_UNGROUPED:
        return tuple(_counted_lines(choices))
    count = Counter(choice.path[0] for choice in choices)
    rare = {verb for verb, number in count.items() if number <= MAX_OF_A_VERB}
    rare -= {choice.path[0] for choice in choices if choice.amounts}
    groups = [
        list(group)
        for _, group in groupby(choices, key=lambda c: c.line if c.path[0] in rare else c.path[:2])
    ]
    merged = _merge_similar(groups, rare)
    lines: list[str] = []
    for alone, run in groupby(merged, key=lambda similar: len(similar) == len(similar[0]) == 1):
        found = list(run)
        lines += _counted_lines([group[0] for [group] in found]) if alone else map(_merged_line, found)
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
    verb, _, deal = choice.label.partition(": ")
    if deal and (choice.line[-1].isdecimal() or verb == WITHDRAW) and choice.line.split()[0] in ANSWERS:
        return f"{choice.line}   # {f'{verb.lower()}: ' * (verb == WITHDRAW)}{deal}"
    if choice.amounts is None or len(choice.amounts) < 2:
        return choice.line
    return f"{choice.line}   # or more, up to {choice.limit_text}"


def _count_comment(kind: Sequence[Choice]) -> str:
    return f"   # and {len(kind) - 1} more like it" if len(kind) > 1 else ""


def _merge_similar(groups: Sequence[list[Choice]], rare: Collection[str]) -> list[list[list[Choice]]]:
    """Groups of one kind whose remaining labels and amounts are the same, put together, but of rare verbs."""
    similar: dict[object, list[list[Choice]]] = {}
    for group in groups:
        tails = tuple((choice.path[2:], choice.amounts) for choice in group)
        verb, is_whole = group[0].path[0], not all(tail for tail, _ in tails)
        unique = group[0].line if is_whole or verb in rare else ""
        similar.setdefault((verb, unique, tails), []).append(group)
    return list(similar.values())


def _merged_line(groups: Sequence[list[Choice]]) -> str:
    """Groups that differ in one label only: `# A&S, Belt, GT; each B5 Lansing; C8 Detroit`."""
    first, *others = groups
    if not others:
        return _group_line(first)
    heads = ", ".join(group[0].path[1] for group in groups)
    comment = heads
    if len(first) > 1:  # else the line shows what is the same in all
        comment += f"; each {_label_tree([choice.path[2:] for choice in first])}"
    if len(comment) > MAX_SHARED_COMMENT:
        return _single_line(first[0]) + _count_comment([choice for group in groups for choice in group])
    limits = " or ".join(dict.fromkeys(choice.limit_text for choice in first))
    amounts = f"; ${first[0].amounts[0]:,} or more, up to {limits}" if first[0].amounts else ""
    return f"{first[0].line}   # {comment}{amounts}"


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


def choice_effect(state: engine.State, seat: str, choice: engine.Choice) -> str:
    """`leaves Ann $380, PRR $82 → $76`; the dollars that are possible where they are open; else empty."""
    if choice.amounts is not None:
        return f"{dollars(choice.amounts[0])} to {choice.limit_text}"
    if (played := engine.try_line(state, seat, choice.line)) is None:
        return ""
    after = played.state
    return ", ".join(
        [*_ended(state, after), *_changes(state, after, seat), *_later_falls(state, after, choice.line)]
    )


def line_effect(state: engine.State, seat: str, line: str) -> str:
    """`costs $71, leaves Ann $380, PRR $82 → $76`: what a line costs or brings, and what it changes; empty
    for a line that cannot be played, or changes nothing of this."""
    if (played := engine.try_line(state, seat, line)) is None:
        return ""
    after = played.state
    payers = _payers(state, seat)
    gains = [gain for owner in payers if (gain := after.cash[owner] - state.cash[owner])]
    money = [f"{'brings' if gains[0] > 0 else 'costs'} {dollars(abs(gains[0]))}"] if gains else []
    return ", ".join(
        [*_ended(state, after), *money, *_changes(state, after, seat), *_later_falls(state, after, line)]
    )


def sold_shares(line: str) -> tuple[str, int]:
    """The company and the number of shares of a sale: `sell 2 PRR`."""
    words = line.split()[1:]
    counts = [int(word) for word in words if word.isdecimal()]
    return next((word for word in words if not word.isdecimal()), ""), counts[0] if counts else 1


def price_at_end_of_round(before: engine.State, after: engine.State, company: str) -> str | None:
    """Where the price of a company that was sold moves at the end of the round, as the shares lie then; None
    where it stays, or has moved at once."""
    if text_views.price_text(before, company) != text_views.price_text(after, company):
        return None
    return engine.price_after_stock_round(after, company)


def protection_note(after: engine.State, company: str) -> str:
    """Whether anything may keep the price of a company up whose shares have been sold: `unless protected`."""
    return "unless protected" if engine.can_be_protected(after, company) else "and nobody can protect it"


def _later_falls(state: engine.State, after: engine.State, line: str) -> Iterator[str]:
    company, shares = sold_shares(line)
    if not line.startswith("sell ") or company not in state.companies:
        return
    price = text_views.price_text(state, company)
    lower = engine.later_fall(state, company, shares)
    if lower and lower != text_views.price_text(after, company):
        yield f"{company} {price} → {lower} {protection_note(after, company)}"
    elif later := price_at_end_of_round(state, after, company):
        yield f"{company} {price} → {later} at the end of the round"


def _ended(before: engine.State, after: engine.State) -> list[str]:
    """`stock round 2 ends`: what a player receives then is not the price of what they did."""
    ended = engine.round_name(before)
    return [f"{'the ' * (ended == 'opening')}{ended} ends"] if ended != engine.round_name(after) else []


def _changes(before: engine.State, after: engine.State, seat: str) -> Iterator[str]:
    """What is different, what matters most first."""
    closed = companies_closed(before, after)
    yield from (f"the {sym} closes" for sym in closed)
    for owner in _payers(before, seat):
        if before.cash[owner] != after.cash[owner] and owner not in closed:
            name = f"the {owner}" if owner in before.companies else before.name(owner)
            yield f"leaves {name} {dollars(after.cash[owner])}"
    for sym, company in after.companies.items():
        old, new = text_views.price_text(before, sym), text_views.price_text(after, sym)
        if "-" not in (old, new) and old != new:
            yield f"{sym} {old} → {new}"
        former = before.companies[sym]
        if company.president and company.president != (former.president or seat):
            yield f"{after.name(company.president)} becomes president of the {sym}"
        if company.floated and not former.floated:
            yield f"the {sym} floats"
    if after.phase != before.phase:
        yield f"phase {after.phase} begins"
    if rusted := sorted(_trains(before) - _trains(after)):
        yield f"{', '.join(f'{train}-trains' for train in rusted)} rust"


def companies_closed(before: engine.State, after: engine.State) -> list[str]:
    """The companies that have left the game for good meanwhile."""
    return [sym for sym, each in after.companies.items() if each.closed and not before.companies[sym].closed]


def _payers(state: engine.State, seat: str) -> list[str]:
    """A seat, and the company for which it acts, unless its treasury is hidden."""
    private = engine.hidden_treasuries(state, None)
    return [each for each in (seat, engine.decision(state).company or "") if each and each not in private]


def _trains(state: engine.State) -> set[str]:
    """The types of trains that companies and the pool have."""
    owned = {train for company in state.companies.values() for train in company.trains}
    return owned | set(state.pool_trains)
