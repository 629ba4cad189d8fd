"""The types of the fields of a line: each one reads and writes its words, and knows what they can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from engine.board.tile_geometry import face_at
from engine.core.state import BANK, IPO, POOL, TREASURY, OperatingTurn
from engine.game import Game


class Noun(str):
    """What a field names, such as `hex`."""


class FieldType:
    """How a field is parsed from words and formatted, and what it may be where it was left out. noun: what it
    names, if one word names that. skipped: words that say nothing before it, `par the PRR at 67`."""

    noun: Noun | None = None
    skipped = frozenset({"the", "at", "on", "in"})

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Values for the part's fields (fewer where the rest is left out), and the index of the next word."""
        value = self.parse_word(g, words[at])
        if value is not None:
            yield (value,), at + 1

    def parse_word(self, g: Game, word: str) -> Any:
        """The value that one word stands for, or None."""

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        return str(values[0])

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[Any]:
        """What a field that was left out may be; nothing where there is no end to that."""
        yield from ()


@lru_cache(maxsize=4096)
def _key(symbol: str) -> str:
    return symbol.casefold().replace("&", "")


Values = Callable[[Game], Iterable[Any]]


class _Symbol(FieldType):
    """A symbol from a list, in any case and with or without `&`. candidates: by default all of them."""

    def __init__(self, noun: str, symbols: Values, candidates: Values | None = None) -> None:
        self.noun = Noun(noun) if noun else None
        self._symbols, self._candidates = symbols, candidates or symbols

    def parse_word(self, g: Game, word: str) -> str | None:
        key = _key(word)
        return next((s for s in self._symbols(g) if _key(s) == key), None)

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        yield from self._candidates(g)


def _nothing(_: Game) -> Iterable[Any]:
    return ()


def _share_places(g: Game) -> Iterable[str]:
    """Where shares can be now; a treasury only where a company owns shares of itself."""
    own = any(sym in company.shares for sym, company in g.state.companies.items())
    return (IPO, POOL, TREASURY) if own else (IPO, POOL)


_HEX = _Symbol("hex", lambda g: g.components.map.hexes, _nothing)
_PRIVATE = _Symbol("private", lambda g: g.state.private_owners)
_TRAIN = _Symbol("train", lambda g: g.title.trains)


class _Number(FieldType):
    """A whole number. candidates: by default none, because there is no end to them."""

    def __init__(self, candidates: Values = _nothing) -> None:
        self._candidates = candidates

    def parse_word(self, g: Game, word: str) -> int | None:
        return int(word) if word.isdecimal() and len(word) < 8 else None

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from self._candidates(g)


class _Count(_Number):
    """How many. Behind `at` stands a price: `loan at 5` does not say that there are five."""

    skipped = frozenset({"the"})


class _Player(FieldType):
    """A name at the table, which may be several words."""

    noun = Noun("player")

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        for seat in g.state.seats:
            name = g.state.name(seat).casefold().split()
            if [w.casefold() for w in words[at : at + len(name)]] == name:
                yield (seat,), at + len(name)

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        return g.state.name(values[0])

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        yield from g.state.seats


class _City(FieldType):
    """A hex, with `.node` where it has several cities."""

    noun = _HEX.noun

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        hex, dot, node = words[at].partition(".")
        known_hex = _HEX.parse_word(g, hex)
        if known_hex is not None and not dot:
            yield (known_hex,), at + 1
        elif known_hex is not None and node.isdecimal():
            yield (known_hex, int(node)), at + 1

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        hex, node = values
        several = len(face_at(g.components, g.state.tiles, hex).nodes) > 1
        return f"{hex}.{node}" if several or node else hex

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        if field == "node" and "hex" in fields:
            yield from range(len(face_at(g.components, g.state.tiles, fields["hex"]).nodes) or 1)


class _Routes(FieldType):
    """`best`, or one route for each train: `3 F2-H4-H10, 2 H12-H18`."""

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        lower = [word.casefold() for word in words[at:]]
        end = at + lower.index("claiming") if "claiming" in lower else len(words)
        if lower[: end - at] == ["best"]:
            yield ((),), end
            return
        routes = []
        for part in " ".join(words[at:end]).split(","):
            train, _, route = part.strip().partition(" ")
            name = _TRAIN.parse_word(g, train)
            if name is None and "-" in part:
                name, route = _only_train(g), part
            if name is None or not route:
                return
            routes.append((name, "".join(route.upper().split())))
        yield (tuple(routes),), end

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        return ", ".join(f"{train} {route}" for train, route in values[0]) or "best"


class _ListOf(FieldType):
    """Several values of one type up to the end of the line, with or without commas."""

    def __init__(self, kind: FieldType) -> None:
        self.item_type = kind

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        parts = [w for w in " ".join(words[at:]).replace(",", " ").split() if w.casefold() != "and"]
        values = tuple(self.item_type.parse_word(g, part) for part in parts)
        if values and None not in values:
            yield (values,), len(words)

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        return ", ".join(values[0])


def _only_train(g: Game) -> str | None:
    """The type of train that need not be named, because the operating company has no other."""
    trains = set(g.company(g.top.company).trains) if isinstance(g.top, OperatingTurn) else set()
    return trains.pop() if len(trains) == 1 else None


FIELD_TYPES: dict[str, FieldType] = {
    "COMPANY": _Symbol("company", lambda g: g.state.companies),
    "PRIVATE": _PRIVATE,
    "SOURCE": _Symbol("", lambda g: (IPO, POOL, TREASURY), _share_places),
    "SELLER": _Symbol("company", lambda g: (BANK, POOL, *g.state.companies)),
    "TRAIN": _TRAIN,
    "TILE": _Symbol("tile", lambda g: g.components.tiles),
    "PLAIN": _Symbol(
        "tile", lambda g: g.components.tiles, lambda g: g.components.preprinted_upgrades.get("plain", ())
    ),
    "HEX": _HEX,
    "AMOUNT": _Number(),
    "COUNT": _Count(lambda g: range(1, 11)),
    "PAR": _Number(lambda g: g.components.par_prices),
    "ROTATION": _Number(lambda g: range(6)),
    "OFFER": _Number(lambda g: (offer.number for offer in g.state.offers)),
    "PLAYER": _Player(),
    "CITY": _City(),
    "ROUTES": _Routes(),
    "SIZE": _Number(lambda g: g.components.company_sizes),
    "PRIVATES": _ListOf(_PRIVATE),
    "HEXES": _ListOf(_HEX),
}
"""By the name that a form has for a field. PLAIN: a tile; where it was left out, one for a plain hex."""
