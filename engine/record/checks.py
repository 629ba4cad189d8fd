"""Checkpoints: what was expected beside what is so, in the same words.

Every reader takes the words of its line and gives both as text; the checkpoint holds where they
are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.game import Game
from engine.holdings import certificate_limit, unit
from engine.kernel import asked, game_of
from engine.operating.run import best_run
from engine.operating.trains import for_sale
from engine.record.setup import ZONES, zone_cell
from engine.record.words import NONE, Words
from engine.rounds import OperatingRounds
from engine.state import BANK, POOL, TREASURY, MergerRound, OperatingRound, State, StockRound, StockTurn
from engine.stock.turn import holder_of

Compared = tuple[str, str]
"""(expected, actual)."""


def compared(state: State, text: str) -> Compared:
    """What a checkpoint expects, and what is so. Raises Wrong for one that cannot be read."""
    g = game_of(state)
    words = Words(g, text)
    found = CHECKS[words.word(*CHECKS)](g, words)
    words.end()
    return found


def _dollars(amount: int) -> str:
    return f"-${-amount}" if amount < 0 else f"${amount}"


def _listed(things: Iterable[str]) -> str:
    return " ".join(things) or NONE


def _cash(g: Game, words: Words) -> Compared:
    who = words.purse()
    return _dollars(words.amount()), _dollars(g.cash(who))


def _owns(g: Game, words: Words) -> Compared:
    holder, company = words.holder(), words.company()
    held = g.held(holder_of(company, holder), company)
    return str(words.amount("a number of shares")), str(held // unit(g, company))


def _president(g: Game, words: Words) -> Compared:
    president = g.company(words.company()).president
    expected = words.is_next(NONE) or g.state.name(words.player())
    return expected, g.state.name(president) if president else NONE


def _private(g: Game, words: Words) -> Compared:
    owner = g.state.privates[words.private()]
    return g.state.name(words.owner()), g.state.name(owner)


def _price(g: Game, words: Words) -> Compared:
    co = g.company(words.company())
    if zone := words.is_next(*ZONES):
        return f"{zone} {zone_cell(words, zone)[1]}", _zone(g, co.cell, zone)
    expected = words.is_next(NONE) or _dollars(words.amount())
    actual = _dollars(g.title.cell(co.cell).price) if co.cell else NONE
    if words.more:
        expected += f" in row {words.amount('a row of the market, from 0')}"
        actual += f" in row {co.cell[0]}" if co.cell else ""
    return expected, actual


def _zone(g: Game, at: tuple[int, int] | None, zone: str) -> str:
    """Where a token stands, by a zone if it is in that one."""
    if at is None:
        return NONE
    cell = g.title.cell(at)
    return f"{zone} {at[1]}" if zone in cell.zones else _dollars(cell.price)


def _size(g: Game, words: Words) -> Compared:
    size = g.company(words.company()).size
    return words.is_next(NONE) or str(words.amount("a number of shares")), NONE if size is None else str(size)


def _loans(g: Game, words: Words) -> Compared:
    loans = g.company(words.company()).loans
    return str(words.amount("a number of loans")), str(loans)


def _interest(g: Game, words: Words) -> Compared:
    return _dollars(words.amount()), _dollars(g.state.interest)


def _mine(g: Game, words: Words) -> Compared:
    hex = words.hex()
    return hex, hex if hex in g.state.mines else NONE


def _bridge(g: Game, words: Words) -> Compared:
    hex = words.hex()
    return hex, hex if hex in g.state.bridges else NONE


def _par(g: Game, words: Words) -> Compared:
    par = g.company(words.company()).par
    return words.is_next(NONE) or _dollars(words.amount()), NONE if par is None else _dollars(par)


def _trains(g: Game, words: Words) -> Compared:
    if words.is_next(BANK):
        train, left = _sold(g)
        return _listed(words.trains()), _listed([train] * (left or 1) if train else [])
    owned = g.state.pool if words.is_next(POOL) else g.company(words.company()).trains
    order = list(g.title.trains)
    return _listed(words.trains()), _listed(sorted(owned, key=order.index))


def _sold(g: Game) -> tuple[str | None, int | None]:
    """The type now sold and how many are left, None where unlimited."""
    train = next(iter(for_sale(g)), None)
    return train, g.state.depot[train] if train else 0


def _depot(g: Game, words: Words) -> Compared:
    train, left = _sold(g)
    expected = words.is_next(NONE) or words.train()
    if words.more:
        expected += f" {words.amount('a number of trains')}"
    elif left is not None:
        left = None
    return expected, NONE if train is None else train if left is None else f"{train} {left}"


def _tile(g: Game, words: Words) -> Compared:
    laid = g.state.tiles.get(words.hex())
    expected = words.is_next(NONE) or f"#{words.tile()}"
    actual = f"#{laid[0]}" if laid else NONE
    if words.more:
        expected += f" turned {words.amount('a rotation from 0 to 5')}"
        actual += f" turned {laid[1]}" if laid else ""
    return expected, actual


def _token(g: Game, words: Words) -> Compared:
    """Those that are named must stand; `markers` says how many are still to come."""
    company = words.company()
    standing = [
        (hex, node) for hex, tokens in g.state.tokens.items() for node, owner in tokens if owner == company
    ]
    actual = _listed(hex if node <= 0 else f"{hex}.{node}" for hex, node in standing)
    if words.is_next(NONE):
        return NONE, actual
    named = [words.city()]
    while words.more:
        named.append(words.city())
    if all(any(h == hex and node in (None, n) for h, n in standing) for hex, node in named):
        return actual, actual
    return _listed(hex if node is None else f"{hex}.{node}" for hex, node in named), actual


def _markers(g: Game, words: Words) -> Compared:
    company = words.company()
    return str(words.amount("a number of tokens")), str(g.company(company).markers)


def _phase(g: Game, words: Words) -> Compared:
    return words.phase(), g.state.phase


def _priority(g: Game, words: Words) -> Compared:
    return g.state.name(words.player()), g.state.name(g.state.priority)


def _left(g: Game, words: Words) -> Compared:
    expected = words.is_next(NONE) or str(words.amount("a number of rounds"))
    if not g.state.broken or g.state.over:
        return expected, NONE
    rounds = g.title.questions[OperatingRound]
    assert isinstance(rounds, OperatingRounds)
    return expected, str(rounds.left(g))


def _limit(g: Game, words: Words) -> Compared:
    return str(words.amount("a number of certificates")), str(certificate_limit(g))


def _round(g: Game, words: Words) -> Compared:
    kind = words.word("opening", "stock", "operating", "merger", "over")
    expected, actual = [kind], _now(g)
    if kind == "stock" and words.more:
        expected.append(g.state.name(words.player()))
    elif kind == "operating" and words.more:
        expected.append(words.company())
        expected.append(str(words.amount("the number of the round in its set")) if words.more else "1")
    if len(expected) == 1:
        actual = actual[:1]
    return " ".join(expected), " ".join(actual)


def _now(g: Game) -> list[str]:
    """The round in words, with who is to act in it."""
    if g.state.over:
        return ["over"]
    match g.state.stack[0]:
        case StockRound(turn=turn):
            seat = next((f.seat for f in g.state.stack if isinstance(f, StockTurn)), turn)
            return ["stock", g.state.name(seat)]
        case OperatingRound(number=number):
            return ["operating", _company(g) or "?", str(number)]
        case MergerRound(number=number):
            return ["merger", _company(g) or "?", str(number)]
    return ["opening"]


def _company(g: Game) -> str | None:
    """The company that the question is about."""
    return getattr(g.top, "company", None)


def _turn(g: Game, words: Words) -> Compared:
    who = words.actor()
    company = words.company() if words.more else None
    seats = () if g.state.over else asked(g)
    actual = " and ".join(g.state.name(s) for s in seats) or "nobody"
    if _company(g):
        actual += f" for the {_company(g)}"
    holds = (who in seats or who == _company(g)) and company in (None, _company(g))
    expected = g.state.name(who) + (f" for the {company}" if company else "")
    return actual if holds else expected, actual


def _best(g: Game, words: Words) -> Compared:
    company = words.company()
    return _dollars(words.amount()), _dollars(best_run(g, company).revenue)


def _over(g: Game, words: Words) -> Compared:
    return "over", "over" if g.state.over else "not over"


def _score(g: Game, words: Words) -> Compared:
    seat = words.player()
    bankrupt = g.state.over.bankrupt if g.state.over else None
    return _dollars(words.amount()), _dollars(g.title.scores(g, bankrupt)[seat])


def _destination(g: Game, words: Words) -> Compared:
    actual = g.state.destinations.get(words.company(), NONE)
    return words.is_next(NONE) or words.hex(), actual


def _improvement(g: Game, words: Words) -> Compared:
    words.at -= 1
    private, opened = words.improvement()
    here = g.state.improvements.get(private)
    expected = words.is_next(NONE) or f"{words.hex()} {words.company()} {opened}"
    return expected, f"{here.hex} {here.company} {here.open}" if here else NONE


def _connected(g: Game, words: Words) -> Compared:
    company = words.company()
    return "connected", "connected" if g.company(company).connected else "not connected"


def _closed(g: Game, words: Words) -> Compared:
    return "closed", "closed" if g.company(words.company()).closed else "open"


CHECKS: dict[str, Callable[[Game, Words], Compared]] = {
    "cash": _cash,
    "owns": _owns,
    "president": _president,
    "private": _private,
    "price": _price,
    "par": _par,
    "trains": _trains,
    "depot": _depot,
    "tile": _tile,
    "token": _token,
    "markers": _markers,
    "phase": _phase,
    "priority": _priority,
    "left": _left,
    "limit": _limit,
    "round": _round,
    "turn": _turn,
    "best": _best,
    "destination": _destination,
    "cattle": _improvement,
    "port": _improvement,
    "connected": _connected,
    "closed": _closed,
    "over": _over,
    "size": _size,
    "loans": _loans,
    "interest": _interest,
    "mine": _mine,
    "bridge": _bridge,
    "score": _score,
}


def observed(state: State) -> list[str]:
    """Checkpoints that hold now: money, prices, holdings, trains, tokens, phase, and the end."""
    g = game_of(state)
    found = [f"cash {state.name(who)} {amount}" for who, amount in state.cash.items()]
    for company, co in state.companies.items():
        if co.cell is None:
            continue
        found.append(f"price {company} {g.price(company)} {co.cell[0]}")
        if co.size is not None:
            found += [f"size {company} {co.size}", f"loans {company} {co.loans}"]
        for holder, percent in co.shares.items():
            name = TREASURY if holder == company else state.name(holder)
            found.append(f"owns {name} {company} {percent // unit(g, company)}")
        found.append(f"trains {company} {_listed(sorted(co.trains, key=list(g.title.trains).index))}")
        found.append(f"markers {company} {co.markers}")
    found.append(f"phase {state.phase}")
    if state.over:
        scores = g.title.scores(g, state.over.bankrupt)
        found += [f"score {state.name(seat)} {dollars}" for seat, dollars in scores.items()] + ["over"]
    return found
