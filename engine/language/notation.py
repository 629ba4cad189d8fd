"""The notation: lines to actions and back.

Theory of operation. The forms declared beside each action are compiled once into parts: fixed words, fields,
each with a `FieldType` that parses and formats it, and optional groups. A line is read by trying every form.
It may end early; fields left out are then completed with whatever is legal. Where no form fits so, fields
may be missing in the middle too (`bid 175` in an auction). Because one type parses and formats a field,
`parse(format_action(a)) == a`.

Failures have three types: `UnreadableError` (no form fits), `RefusedError` (the rules do not allow it) and
`AmbiguousError` (several meanings are legal). Nothing changes in any of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import islice, product
from math import prod
from typing import Any, TypeVar, get_args

import msgspec

from engine.board.tile_geometry import face_at, rotated_face
from engine.core.actions import (
    Action,
    AnyAction,
    BuyTrain,
    LayMine,
    LayTile,
    RunTrains,
    TradePrivate,
)
from engine.core.state import (
    BANK,
    IPO,
    POOL,
    TREASURY,
    OperatingTurn,
    RevenueClaim,
    StockTurn,
)
from engine.game import Game
from engine.kernel import RefusedError, awaited_seats, options, prompt, refusal
from engine.operating.run import best_run, format_routes
from engine.operating.trains import face_price

ItemT = TypeVar("ItemT")

MAX_COMPLETIONS = 400
"""Actions that are tried to complete one line."""
MAX_LISTED_CHOICES = 12
UNSPECIFIED = object()
"""The value of a field that was left out between others."""


class UnreadableError(Exception):
    """The line fits no form. `nearest_lines`: legal lines like it."""

    def __init__(self, message: str, nearest: list[str]) -> None:
        super().__init__(message)
        self.nearest_lines = nearest


class AmbiguousError(Exception):
    """The line can be several legal actions. `choices`: their lines."""

    def __init__(self, message: str, choices: list[str]) -> None:
        super().__init__(message)
        self.choices = choices


# -- field types ----------------------------------------------------------------------------


class FieldType:
    """How a field is parsed from words and formatted, and what it may be where it was left out."""

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


class _Symbol(FieldType):
    """A symbol from a list, in any case and with or without `&`."""

    def symbols(self, g: Game) -> list[str]:
        raise NotImplementedError

    def parse_word(self, g: Game, word: str) -> str | None:
        key = _key(word)
        return next((s for s in self.symbols(g) if _key(s) == key), None)

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        yield from self.symbols(g)


class _CompanySymbol(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return list(g.state.companies)


class _PrivateSymbol(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return list(g.state.private_owners)


class _ShareSource(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return [IPO, POOL, TREASURY]

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        """Where shares can be now; a treasury only where a company owns shares of itself."""
        own = any(sym in company.shares for sym, company in g.state.companies.items())
        yield from self.symbols(g) if own else (IPO, POOL)


class _TrainSeller(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return [BANK, POOL, *g.state.companies]


class _TrainName(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return list(g.title.trains)


class _TileNumber(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return list(g.components.tiles)


class _PlainTile(_TileNumber):
    """A tile; where it was left out, one for a plain hex."""

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        yield from g.components.preprinted_upgrades.get("plain", ())


class _Hex(_Symbol):
    def symbols(self, g: Game) -> list[str]:
        return list(g.components.map.hexes)

    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[str]:
        yield from ()


class _Amount(FieldType):
    def parse_word(self, g: Game, word: str) -> int | None:
        return int(word) if word.isdecimal() and len(word) < 8 else None


class _Count(_Amount):
    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from range(1, 11)


class _ParPrice(_Amount):
    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from g.components.par_prices


class _Rotation(_Amount):
    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from range(6)


class _OfferNumber(_Amount):
    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from (o.number for o in g.state.offers)


class _Player(FieldType):
    """A name at the table, which may be several words."""

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

    def parse(self, g: Game, words: list[str], at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
        hex, dot, node = words[at].partition(".")
        known_hex = _Hex().parse_word(g, hex)
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
            name = _TrainName().parse_word(g, train)
            if name is None and "-" in part:
                name, route = _only_train(g), part
            if name is None or not route:
                return
            routes.append((name, "".join(route.upper().split())))
        yield (tuple(routes),), end

    def format(self, g: Game, values: tuple[Any, ...]) -> str:
        return ", ".join(f"{train} {route}" for train, route in values[0]) or "best"


class _Size(_Amount):
    def candidates(self, g: Game, field: str, fields: dict[str, Any]) -> Iterator[int]:
        yield from g.components.company_sizes


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
    "COMPANY": _CompanySymbol(),
    "PRIVATE": _PrivateSymbol(),
    "SOURCE": _ShareSource(),
    "SELLER": _TrainSeller(),
    "TRAIN": _TrainName(),
    "TILE": _TileNumber(),
    "PLAIN": _PlainTile(),
    "HEX": _Hex(),
    "AMOUNT": _Amount(),
    "COUNT": _Count(),
    "PAR": _ParPrice(),
    "ROTATION": _Rotation(),
    "OFFER": _OfferNumber(),
    "PLAYER": _Player(),
    "CITY": _City(),
    "ROUTES": _Routes(),
    "SIZE": _Size(),
    "PRIVATES": _ListOf(_PrivateSymbol()),
    "HEXES": _ListOf(_Hex()),
}


# -- forms -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Word:
    text: str


@dataclass(frozen=True)
class _Field:
    names: tuple[str, ...]
    field_type: FieldType


@dataclass(frozen=True)
class _Group:
    parts: tuple[_Word | _Field, ...]


_Part = _Word | _Field | _Group
_Form = tuple[_Part, ...]


@cache
def _parse_form(text: str) -> _Form:
    parts: list[_Part] = []
    for group, word in re.findall(r"\[([^]]*)\]|(\S+)", text):
        if group:
            parts.append(_Group(tuple(_parse_form_word(w) for w in group.split())))
        else:
            parts.append(_parse_form_word(word))
    return tuple(parts)


def _parse_form_word(text: str) -> _Word | _Field:
    names, colon, kind = text.partition(":")
    return _Field(tuple(names.split(",")), FIELD_TYPES[kind]) if colon else _Word(text)


@cache
def _all_forms() -> tuple[tuple[type[Action], _Form], ...]:
    return tuple((action, _parse_form(text)) for action in get_args(AnyAction) for text in action.forms)


@cache
def field_defaults(action: type[Action]) -> dict[str, Any]:
    """The default of each field that has one."""
    fields = msgspec.structs.fields(action)
    return {f.name: f.default for f in fields if f.default is not msgspec.NODEFAULT}


@cache
def _forms_starting_with(word: str) -> tuple[tuple[type[Action], _Form], ...]:
    """The forms that a line with that first word can have."""
    return tuple(
        shape for shape in _all_forms() if not isinstance(first := shape[1][0], _Word) or first.text == word
    )


_FormPart = tuple[bool, tuple[str, ...], tuple[_Word | _Field, ...]]


@cache
def _form_parts(text: str) -> tuple[tuple[_FormPart, ...], frozenset[str]]:
    """The parts of a form, and all its fields.

    Each part: whether it may be left out, the fields in it, and its words and fields.
    """
    found: list[_FormPart] = []
    for part in _parse_form(text):
        pieces = part.parts if isinstance(part, _Group) else (part,)
        names = tuple(n for p in pieces if isinstance(p, _Field) for n in p.names)
        found.append((isinstance(part, _Group), names, pieces))
    return tuple(found), frozenset(name for _, names, _ in found for name in names)


def format_action(g: Game, action: Action) -> str:
    """The full line of an action."""
    defaults = field_defaults(type(action))
    due = {name for name, default in defaults.items() if getattr(action, name) != default}
    for text in action.forms:
        parts, fields = _form_parts(text)
        if due <= fields and (line := _format_by(g, action, parts, due)) is not None:
            return line
    raise AssertionError(f"no form writes {action}")


def _format_by(g: Game, action: Action, parts: tuple[_FormPart, ...], due: set[str]) -> str | None:
    """The line in one form, without optional parts that are not due; None where a value is missing."""
    words: list[str] = []
    for may_lack, names, pieces in parts:
        if may_lack and due.isdisjoint(names):
            continue
        for piece in pieces:
            if isinstance(piece, _Word):
                words.append(piece.text)
            else:
                values = tuple([getattr(action, name) for name in piece.names])
                if None in values:
                    return None
                words.append(piece.field_type.format(g, values))
    return " ".join(words)


# -- reading ---------------------------------------------------------------------------------


def is_secret(line: str) -> bool:
    """Whether nobody but its player may see the line, such as `standing protect MP up to 300`."""
    words = [word.casefold() for word in split_words(line)]
    return any(_contains_in_order(fixed, words) for fixed in _secret_keywords())


@cache
def _secret_keywords() -> tuple[list[str], ...]:
    """The fixed words of each form of a secret action."""
    forms = [form for action, form in _all_forms() if action.secret]
    return tuple([part.text for part in form if isinstance(part, _Word)] for form in forms)


def _contains_in_order(fixed: list[str], words: list[str]) -> bool:
    """Whether a line begins with the first fixed word and has the others in their order."""
    rest = iter(words)
    return words[:1] == fixed[:1] and all(word in rest for word in fixed)


def split_words(line: str) -> list[str]:
    """The words of a line, without comment, `$`, commas inside numbers, and `#` before a digit."""
    text = re.sub(r"#(?!\d).*", "", line)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("$", ""))
    return text.replace("#", "").split()


def _readings(
    g: Game, words: list[str], *, gaps: bool = False
) -> Iterator[tuple[type[Action], dict[str, Any]]]:
    """Every action that the words can mean, with the fields that they give.

    `gaps`: fields may be left out between others.
    """
    seen: set[tuple[type[Action], str]] = set()
    for action, form in _forms_starting_with(words[0].casefold()) if words else ():
        for fields in _match(g, form, words, 0, {}, gaps):
            key = (action, repr(sorted(fields.items())))
            if key not in seen:
                seen.add(key)
                yield action, fields


def _match(
    g: Game, form: tuple[_Part, ...], words: list[str], at: int, fields: dict[str, Any], gaps: bool
) -> Iterator[dict[str, Any]]:
    if at == len(words):
        if at:
            yield fields
        return
    if not form:
        return
    part, rest = form[0], form[1:]
    match part:
        case _Word(text):
            if words[at].casefold() == text:
                yield from _match(g, rest, words, at + 1, fields, gaps)
            if gaps and at and rest and isinstance(rest[0], _Field):
                yield from _match(g, rest[1:], words, at, fields | _unspecified(rest[0]), gaps)
        case _Field(names, kind):
            for values, following in kind.parse(g, words, at):
                given = fields | dict(zip(names, values, strict=False))
                yield from _match(g, rest, words, following, given, gaps)
            if gaps:
                yield from _match(g, rest, words, at, fields | _unspecified(part), gaps)
        case _Group(parts):
            yield from _match(g, (*parts, *rest), words, at, fields, gaps)
            yield from _match(g, rest, words, at, fields, gaps)


def _unspecified(part: _Field) -> dict[str, Any]:
    """The fields of a part that was left out between others: they do not get their defaults."""
    return dict.fromkeys(part.names, UNSPECIFIED)


def laid_track(action: Action) -> object:
    """What lies on the hex after a tile is laid, and with what it was laid; None for any other action."""
    if not isinstance(action, LayTile | LayMine):
        return None
    track = frozenset(frozenset(pair) for pair in rotated_face(action.tile, action.rotation).tracks)
    return type(action), action.hex, action.tile, track, getattr(action, "using", None)


def distinct(items: Iterable[ItemT], action_of: Callable[[ItemT], Action]) -> list[ItemT]:
    """The items without tiles in rotations that lie like an earlier one's."""
    seen: set[object] = set()
    found = []
    for item in items:
        track = laid_track(action_of(item))
        if track is None or track not in seen:
            seen.add(track)
            found.append(item)
    return found


def parse(g: Game, seat: str, line: str) -> Action:
    """The action that a line means for the seat now.

    Raises UnreadableError, RefusedError or AmbiguousError, each with a sentence for the player.
    """
    words = split_words(line)
    readings = list(_readings(g, words)) or list(_readings(g, words, gaps=True))
    if not readings:
        raise _unreadable(g, seat, " ".join(words))
    legal: list[Action] = []
    reasons: list[tuple[type[Action], str]] = []
    for action, fields in readings:
        actions, why = _legal_actions(g, seat, action, fields)
        legal += [a for a in actions if a not in legal]
        if why:
            reasons.append((action, why))
    legal = distinct(legal, lambda action: action)
    if len(legal) == 1:
        return made_explicit(g, legal[0])
    if legal:
        choices = [format_action(g, a) for a in legal]
        lower = [word.casefold() for word in words]
        whole = [
            a for a, c in zip(legal, choices, strict=True) if [w.casefold() for w in split_words(c)] == lower
        ]
        if len(whole) == 1:
            return made_explicit(g, whole[0])
        shown = choices[:MAX_LISTED_CHOICES]
        more = f", and {len(choices) - len(shown)} more" if len(choices) > len(shown) else ""
        raise AmbiguousError(f"That can mean {', or '.join(shown)}{more}.", choices)
    raise _best_refusal(g, seat, words, reasons)


def made_explicit(g: Game, action: Action) -> Action:
    """The action with everything that is stored: the best routes instead of `best`, the owner of a private
    that a player buys, and the price of a company's train where only one is possible.
    """
    if isinstance(action, BuyTrain) and action.price is None and action.source in g.state.companies:
        return msgspec.structs.replace(action, price=face_price(g, action))
    if (
        isinstance(action, RunTrains)
        and not action.routes
        and isinstance(g.top, OperatingTurn | RevenueClaim)
    ):
        return msgspec.structs.replace(action, routes=format_routes(g, best_run(g, g.top.company)))
    if isinstance(action, TradePrivate) and isinstance(g.top, StockTurn) and action.target is None:
        return msgspec.structs.replace(action, source=g.state.private_owners[action.private])
    return action


def _legal_actions(
    g: Game, seat: str, action: type[Action], fields: dict[str, Any]
) -> tuple[list[Action], str | None]:
    """The legal actions that a reading can mean, and the reason where there is none."""
    defaults = field_defaults(action)
    left_out = [n for n, value in fields.items() if value is UNSPECIFIED]
    fields = {n: value for n, value in fields.items() if n not in left_out}
    missing = [
        n for n in action.__struct_fields__ if n in left_out or (n not in fields and n not in defaults)
    ]
    if not missing:
        complete = action(**fields)
        why = refusal(g, seat, complete)
        if why is None:
            return [complete], None
        alternatives = _alternatives(g, seat, complete, fields)
        return alternatives, None if alternatives else why
    spaces = [list(_field_type_of(action, name).candidates(g, name, fields)) for name in missing]
    if not all(spaces):
        return _matching_options(g, seat, action, fields)
    if prod(map(len, spaces)) > MAX_COMPLETIONS:
        offered, _ = _matching_options(g, seat, action, fields)
        if offered:
            return offered, None
    legal: list[Action] = []
    reasons: Counter[str] = Counter()
    for values in islice(product(*spaces), MAX_COMPLETIONS):
        complete = action(**fields, **dict(zip(missing, values, strict=True)))
        why = refusal(g, seat, complete)
        if why is None:
            legal.append(complete)
        else:
            reasons[why] += 1
    return legal, None if legal else _joined_reason(reasons)


def _joined_reason(reasons: Counter[str]) -> str:
    """Why none of several meanings is legal: both of two reasons, of more the most frequent one."""
    return " ".join(reasons) if len(reasons) == 2 else reasons.most_common(1)[0][0]


def _alternatives(g: Game, seat: str, refused: Action, fields: dict[str, Any]) -> list[Action]:
    """Options that differ from a refused action in fields that were left out and have defaults.

    `buy train 3` means the one in the pool where the bank has none.
    """
    unsaid = [n for n, d in field_defaults(type(refused)).items() if n not in fields and d is not None]
    if not unsaid:
        return []
    others = (option.action for option in options(g, seat) if isinstance(option.action, type(refused)))
    return [
        other
        for other in others
        if all(getattr(other, n) == getattr(refused, n) for n in refused.__struct_fields__ if n not in unsaid)
    ]


def _matching_options(
    g: Game, seat: str, action: type[Action], fields: dict[str, Any]
) -> tuple[list[Action], str | None]:
    """The options that fit a reading with a field that cannot be completed by trying every value."""
    matching: list[Action] = []
    open_ended: list[str] = []
    offered = options(g, seat)
    if not any(isinstance(option.action, action) for option in offered):
        who = " or ".join(g.state.name(s) for s in awaited_seats(g))
        return [], f"That cannot be done now. {who} to act: {prompt(g)}." if who else "The game is over."
    for option in offered:
        offer = option.action
        if isinstance(offer, action) and all(getattr(offer, n) == v for n, v in fields.items()):
            if option.amounts is not None and len(option.amounts) > 1:
                open_ended.append(f"{format_action(g, offer)} up to {option.amounts[-1]}")
            else:
                matching.append(offer)
    if open_ended:
        lines = [*open_ended, *(format_action(g, offer) for offer in matching)]
        which = "which, and for" if len(lines) > 1 else "for"
        return [], f"Say {which} how much: {'; '.join(lines[:MAX_LISTED_CHOICES])}."
    return matching, None if matching else "The line is not complete, and no legal line begins like that."


@cache
def _field_type_of(action: type[Action], name: str) -> FieldType:
    for text in action.forms:
        for part in _parse_form(text):
            for piece in part.parts if isinstance(part, _Group) else (part,):
                if isinstance(piece, _Field) and name in piece.names:
                    return piece.field_type
    raise AssertionError(f"{action.__name__}.{name} is in no form")


def _best_refusal(g: Game, seat: str, words: list[str], reasons: list[tuple[type[Action], str]]) -> Exception:
    """The reason that fits best: the one for an action that is offered, if there is one."""
    offered = {type(option.action) for option in options(g, seat)}
    for action, why in reasons:
        if action in offered:
            return RefusedError(why)
    return RefusedError(reasons[0][1])


def legal_lines(g: Game, seat: str) -> list[str]:
    """The line of everything that the seat may do now; dollars that are open at their least."""
    return [format_action(g, option.action) for option in options(g, seat)]


def nearest_lines(g: Game, seat: str, text: str, limit: int = 5) -> list[str]:
    """The legal lines most like a text, at most so many."""
    lines = {line.casefold(): line for line in legal_lines(g, seat)}
    close = get_close_matches(text.casefold(), list(lines), limit, 0.3)
    return [lines[c] for c in close] or list(lines.values())[:limit]


def _unreadable(g: Game, seat: str, text: str) -> UnreadableError:
    near = nearest_lines(g, seat, text)
    hint = f" Did you mean: {'; '.join(near)}?" if near else ""
    return UnreadableError(f"{text!r} is not a line of this game.{hint}", near)
