"""What a choice does, in a few words, for menus whose options stand beside each other (pure).

The choice is tried on a copy of the position. Its label says what it is, so only what follows is told: the
money that is left, prices, presidents, the phase, trains that rust.
"""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.position import text_views
from bot.position.sentences import dollars


def choice_effect(state: engine.State, seat: str, choice: engine.Choice) -> str:
    """`leaves Ann $380, PRR $82 → $76`; the dollars that are possible where they are open; else empty."""
    if choice.amounts is not None:
        return f"{dollars(choice.amounts[0])} to {choice.limit_text}"
    try:
        after = engine.play_line(state, seat, choice.line).state
    except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
        return ""
    return ", ".join([*_changes(state, after, seat), *_later_falls(state, after, choice.line)])


def line_effect(state: engine.State, seat: str, line: str) -> str:
    """`costs $71, leaves Ann $380, PRR $82 → $76`: what a line costs or brings, and what it changes; empty
    for a line that cannot be played, or changes nothing of this."""
    try:
        after = engine.play_line(state, seat, line).state
    except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
        return ""
    payers = _payers(state, seat)
    gains = [gain for owner in payers if (gain := after.cash[owner] - state.cash[owner])]
    money = [f"{'brings' if gains[0] > 0 else 'costs'} {dollars(abs(gains[0]))}"] if gains else []
    return ", ".join([*money, *_changes(state, after, seat), *_later_falls(state, after, line)])


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
    if lower := engine.later_fall(state, company, shares):
        yield f"{company} {price} → {lower} {protection_note(after, company)}"
    elif later := price_at_end_of_round(state, after, company):
        yield f"{company} {price} → {later} at the end of the round"


def _changes(before: engine.State, after: engine.State, seat: str) -> Iterator[str]:
    """What is different, what matters most first."""
    for owner in _payers(before, seat):
        if before.cash[owner] != after.cash[owner]:
            name = f"the {owner}" if owner in before.companies else before.name(owner)
            yield f"leaves {name} {dollars(after.cash[owner])}"
    for sym, company in after.companies.items():
        old, new = text_views.price_text(before, sym), text_views.price_text(after, sym)
        if "-" not in (old, new) and old != new:
            yield f"{sym} {old} → {new}"
        former = before.companies[sym]
        if company.president and company.president != former.president:
            yield f"{after.name(company.president)} becomes president of the {sym}"
        if company.floated and not former.floated:
            yield f"the {sym} floats"
    if after.phase != before.phase:
        yield f"phase {after.phase} begins"
    if rusted := sorted(_trains(before) - _trains(after)):
        yield f"{', '.join(f'{train}-trains' for train in rusted)} rust"


def _payers(state: engine.State, seat: str) -> list[str]:
    """A seat, and the company for which it acts, unless its treasury is hidden."""
    private = engine.hidden_treasuries(state, None)
    return [each for each in (seat, engine.decision(state).company or "") if each and each not in private]


def _trains(state: engine.State) -> set[str]:
    """The types of trains that companies and the pool have."""
    owned = {train for company in state.companies.values() for train in company.trains}
    return owned | set(state.pool_trains)
