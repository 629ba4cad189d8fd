"""Bids, their leader, and privates by name with income and ability, in plain text (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import engine
from bot.position.sentences import dollars

MAX_DESCRIPTION = 160  # characters of a private's ability in a list
MAX_SENTENCES = 260  # the same in an answer about bids, in whole sentences


def for_sale(state: engine.State) -> dict[str, dict[str, int]]:
    """What is auctioned or for sale by the bank: the bids in dollars by seat, the leader last."""
    found: dict[str, dict[str, int]] = {
        private: {}
        for private, owner in state.private_owners.items()
        if owner == engine.BANK and engine.round_name(state) == "opening"
    }
    return found | engine.bids(state)


def bids_text(state: engine.State, bids: Mapping[str, int]) -> str:
    """`Ann $110, Bob $115 leads`; `no bid`."""
    offers = [f"{state.name(seat)} {dollars(amount)}" for seat, amount in bids.items()]
    return f"{', '.join(offers)} leads" if offers else "no bid"


def sale_line(state: engine.State, item: str, bids: Mapping[str, int], *, with_power: bool = False) -> str:
    """A private or a company that is auctioned, in one line: `MH Mohawk & Hudson, $110, pays $20: no bid`.

    with_power: what the private can do follows.
    """
    private = _private_of_auction(state, item)
    head = company_head(state, item) if private is None else _private_head(private)
    power = _power(private) if private is not None and with_power else ""
    return f"{head}: {bids_text(state, bids)}{f'. {power}' if power else ''}"


def auction_lines(state: engine.State) -> list[str]:
    """What is for sale, as a bidder needs it: with what it can do. Where bids are asked for one item, that is
    the first, and the others without bids are one line."""
    items, asked = for_sale(state), engine.auctioned(state)
    if asked is None:
        return [sale_line(state, item, bids, with_power=True) for item, bids in items.items()]
    others = {item: bids for item, bids in items.items() if item != asked}
    waiting = [_short_head(state, item) for item, bids in others.items() if not bids]
    return [
        sale_line(state, asked, items.get(asked, {}), with_power=True),
        *(sale_line(state, item, bids) for item, bids in others.items() if bids),
        *([f"Not bid on yet: {', '.join(waiting)}"] if waiting else []),
    ]


def _short_head(state: engine.State, item: str) -> str:
    """`PSM Pittsburgh Steel Mill $40`."""
    private = _private_of_auction(state, item)
    return item if private is None else f"{item} {private.name} {dollars(private.price)}"


def private_text(state: engine.State, sym: str) -> str:
    """A private in a list of possessions: `SV Schuylkill Valley (pays $5)`."""
    private = _private(state, sym)
    if private is None:
        return sym
    return f"{sym} {private.name}" + (f" (pays {dollars(private.revenue)})" if private.revenue else "")


def free_cash_line(state: engine.State) -> str:
    """Everybody's cash without what their bids hold back."""
    free = [f"{state.name(seat)} {dollars(amount)}" for seat, amount in engine.free_cash(state).items()]
    return f"Free cash: {', '.join(free)}"


def bids_view(state: engine.State) -> str:
    """What is auctioned with its bids, and everybody's free cash."""
    items = for_sale(state)
    if not items:
        return "Nothing is auctioned now."
    return "\n".join(
        [
            *(_described(state, item, bids) for item, bids in items.items()),
            free_cash_line(state),
        ]
    )


def _described(state: engine.State, item: str, bids: Mapping[str, int]) -> str:
    """`sale_line`, and what a private can do in whole sentences."""
    private = _private_of_auction(state, item)
    power = _power(private) if private else ""
    if len(power) > MAX_SENTENCES:
        power = power[:MAX_SENTENCES].rpartition(". ")[0] + "."
    return f"{sale_line(state, item, bids)}{f'. {power}' if power else ''}"


def private_view(state: engine.State, symbol: str = "") -> str:
    """One private by name, or all: face value, income, owner, bids, and what it can do. Raises ValueError."""
    wanted = symbol.casefold()
    known = [p for p in _privates(state) if wanted in ("", p.sym.casefold(), p.name.casefold())]
    if not known and symbol:
        raise ValueError(f"There is no private {symbol}.")
    if not known:
        return "This game has no privates."
    return "\n".join(line for private in known for line in _private_lines(state, private, bool(symbol)))


def _privates(state: engine.State) -> list[engine.PrivateDefinition]:
    return [p for p in engine.game_of(state).components.privates if p.sym in state.private_owners]


def _private(state: engine.State, sym: str) -> engine.PrivateDefinition | None:
    return next((private for private in _privates(state) if private.sym == sym), None)


def _private_of_auction(state: engine.State, item: str) -> engine.PrivateDefinition | None:
    """The private that is auctioned; None where the item is a company."""
    return None if item == engine.auctioned_company(state) else _private(state, item)


def company_head(state: engine.State, sym: str) -> str:
    """`ME Morristown and Erie`."""
    return f"{sym} {engine.game_of(state).company_definition(sym).name}"


def _private_head(private: engine.PrivateDefinition) -> str:
    pays = f", pays {dollars(private.revenue)}" if private.revenue else ""
    return f"{private.sym} {private.name}, {dollars(private.price)}{pays}"


def _private_lines(state: engine.State, private: engine.PrivateDefinition, in_full: bool) -> Iterator[str]:
    owner = state.private_owners[private.sym]
    if owner == engine.CLOSED:
        place = "closed"
    elif owner == engine.BANK:
        place = bids_text(state, engine.bids(state).get(private.sym, {}))
    else:
        place = f"owned by {state.name(owner)}"
    yield f"{_private_head(private)}; {place}."
    if power := _power(private):
        yield f"  {power if in_full else _cut(power, MAX_DESCRIPTION)}"


def _power(private: engine.PrivateDefinition) -> str:
    """What a private can do, in sentences."""
    blocks = f"Blocks {', '.join(private.blocks)} while a player owns it." if private.blocks else ""
    return " ".join(filter(None, (private.description, blocks)))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
