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
from contextlib import suppress
from functools import cache
from itertools import islice, product
from math import prod
from typing import Any, TypeVar

import msgspec

from engine.board.tile_geometry import rotated_face
from engine.core.actions import Action, BuyTrain, LayMine, LayTile, RunTrains, TradePrivate
from engine.core.state import OperatingTurn, RevenueClaim, StockTurn
from engine.core.words import join_words
from engine.game import Game
from engine.kernel import RefusedError, awaited_seats, options, prompt, refusal
from engine.language.field_types import FIELD_TYPES, FieldType, Noun
from engine.language.forms import (
    FormField,
    FormGroup,
    FormPart,
    FormWord,
    all_forms,
    field_defaults,
    format_action,
    forms_starting_with,
    parse_form,
)
from engine.language.similar_lines import may_be_known, nearest_lines, several_moves
from engine.operating.run import best_run, format_routes
from engine.operating.track import candidate_tiles, refuse_hex, refuse_tile, tile_fits
from engine.operating.trains import face_price

ItemT = TypeVar("ItemT")

MAX_COMPLETIONS = 400
"""Actions that are tried to complete one line."""
MAX_LISTED_CHOICES, MAX_LISTED_AMOUNTS = 12, 5
NAMED_TYPES = tuple(FIELD_TYPES[name] for name in ("COMPANY", "PRIVATE", "PLAYER"))
"""The fields of which a refusal names none that the line does not say."""

MAX_WORDS = 60
"""Of a text that is no line, in which a line and a name are looked for: more than any line has."""
UNKNOWN = Noun("?")
"""Stands in a line for a word that names nothing: a field that has a noun takes the noun as its value."""
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


def is_secret(line: str) -> bool:
    """Whether nobody but its player may see the line, such as `standing protect MP up to 300`."""
    words = [word.casefold() for word in split_words(line)]
    return any(_contains_in_order(fixed, words) for fixed in _secret_keywords())


@cache
def _secret_keywords() -> tuple[list[str], ...]:
    """The fixed words of each form of a secret action."""
    forms = [form for action, form in all_forms() if action.secret]
    return tuple([part.text for part in form if isinstance(part, FormWord)] for form in forms)


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
    for action, form in forms_starting_with(words[0].casefold()) if words else ():
        for fields in _match(g, form, words, 0, {}, gaps):
            key = (action, repr(sorted(fields.items())))
            if key not in seen:
                seen.add(key)
                yield action, fields


def _match(
    g: Game, form: tuple[FormPart, ...], words: list[str], at: int, fields: dict[str, Any], gaps: bool
) -> Iterator[dict[str, Any]]:
    if at == len(words):
        if at:
            yield fields
        return
    if not form:
        return
    part, rest = form[0], form[1:]
    match part:
        case FormWord(text):
            if words[at].casefold() == text:
                yield from _match(g, rest, words, at + 1, fields, gaps)
            if gaps and at and rest and isinstance(rest[0], FormField):
                yield from _match(g, rest[1:], words, at, fields | _unspecified(rest[0]), gaps)
        case FormField(names, kind):
            for values, following in _parse_field(g, kind, words, at):
                given = fields | dict(zip(names, values, strict=False))
                yield from _match(g, rest, words, following, given, gaps)
            if gaps:
                yield from _match(g, rest, words, at, fields | _unspecified(part), gaps)
        case FormGroup(parts):
            yield from _match(g, (*parts, *rest), words, at, fields, gaps)
            yield from _match(g, rest, words, at, fields, gaps)


def _parse_field(
    g: Game, kind: FieldType, words: list[str], at: int
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Values of a field, and the index of the next word. A word such as `the` is skipped only where it begins
    no value: a player may be called The Bob."""
    if words[at] is UNKNOWN and kind.noun is not None:
        yield (kind.noun,), at + 1
        return
    values = list(kind.parse(g, words, at))
    while not values and words[at].casefold() in kind.skipped and at + 1 < len(words):
        at += 1
        values = list(kind.parse(g, words, at))
    yield from values


def _unspecified(part: FormField) -> dict[str, Any]:
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
        more = [f"{len(choices) - len(shown)} others"] if len(choices) > len(shown) else []
        raise AmbiguousError(f"That can mean {join_words([*shown, *more], 'or')}.", choices)
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
    if issubclass(action, LayTile) and "tile" in missing and "hex" in fields:
        return _tiles_for(g, seat, action, fields)
    if not all(spaces):
        return _matching_options(g, seat, action, fields)
    if prod(map(len, spaces)) > MAX_COMPLETIONS:
        offered, _ = _matching_options(g, seat, action, fields)
        if offered:
            return offered, None
    legal: list[Action] = []
    refused: list[tuple[Action, str]] = []
    for values in islice(product(*spaces), MAX_COMPLETIONS):
        complete = action(**fields, **dict(zip(missing, values, strict=True)))
        why = refusal(g, seat, complete)
        if why is None:
            legal.append(complete)
        else:
            refused.append((complete, why))
    return legal, None if legal else _joined_reason(g, missing, refused)


def _tiles_for(
    g: Game, seat: str, action: type[LayTile], fields: dict[str, Any]
) -> tuple[list[Action], str | None]:
    """The legal lays on a hex of which no tile was named; else why, with the tiles that fit there."""
    hex = fields["hex"]
    legal, reasons = _matching_options(g, seat, action, fields)
    if legal or not any(isinstance(option.action, action) for option in options(g, seat)):
        return legal, reasons
    if why := refuse_hex(g, hex):
        return [], why
    fitting = [
        tile
        for tile in candidate_tiles(g, hex)
        if refuse_tile(g, tile, hex) is None and tile_fits(g, tile, hex)
    ]
    if not fitting:
        return [], f"No tile fits on {hex} now{g.cite('1830 §18')}."
    of_each = [
        refusal(g, seat, action(**fields | {"tile": tile, "rotation": fit.rotation}))
        for tile in fitting
        for fit in tile_fits(g, tile, hex)
    ]
    why = Counter(filter(None, of_each)).most_common(1)[0][0]
    names = ", ".join(f"#{tile}" for tile in fitting)
    return [], f"On {hex} {names} would fit, but it is not possible now: {why}"


def _joined_reason(g: Game, missing: list[str], refused: list[tuple[Action, str]]) -> str:
    """Why none of several meanings is legal: both of two reasons, of more the most frequent one.

    Where that one differs by what the line does not say, such as the company, the sentence says so. One or
    two reasons of another kind follow: they are mostly about what the player has.
    """
    reasons = list(dict.fromkeys(why for _, why in refused))
    if len(reasons) == 2:
        return " ".join(reasons)
    patterns = {why: _pattern(g, action, missing, why) for action, why in refused}
    frequent = Counter(patterns[why] for _, why in refused).most_common(1)[0][0]
    alike = [why for why in reasons if patterns[why] == frequent]
    if len(alike) == 1:
        return alike[0]
    unsaid = " and ".join(name for name in missing if f"{{{name}}}" in frequent)
    sentence = g.title.with_citation(f"The line does not say which {unsaid}, and none fits now.", g.top)
    others = [why for why in reasons if why not in alike]
    return " ".join([sentence, *others]) if len(others) <= 2 else sentence


def _pattern(g: Game, action: Action, missing: list[str], reason: str) -> str:
    """A reason with the names of missing fields in place of the companies, privates and players in them."""
    for name in missing:
        kind, value = _field_type_of(type(action), name), getattr(action, name)
        if kind in NAMED_TYPES and value is not None:
            written = re.escape(kind.format(g, (value,)))
            reason = re.sub(rf"(?<!\w){written}(?!\w)", f"{{{name}}}", reason)
    return reason


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
        asked = _what_is_asked(g)
        return [], f"That cannot be done now. {asked}" if asked else "The game is over."
    for option in offered:
        offer = option.action
        if isinstance(offer, action) and all(getattr(offer, n) == v for n, v in fields.items()):
            if option.amounts is not None and len(option.amounts) > 1:
                open_ended.append(f"`{format_action(g, offer)}` or more, up to ${option.amounts[-1]:,}")
            else:
                matching.append(offer)
    if open_ended:
        lines = [*open_ended, *(f"`{format_action(g, offer)}`" for offer in matching)]
        which = "which, and for" if len(lines) > 1 else "for"
        shown = lines[:MAX_LISTED_AMOUNTS]
        more = f", or one of {len(lines) - len(shown)} more" if len(lines) > len(shown) else ""
        return [], f"Say {which} how much: {'; '.join(shown)}{more}."
    return matching, None if matching else "The line is not complete, and no legal line begins like that."


@cache
def _field_type_of(action: type[Action], name: str) -> FieldType:
    for text in action.forms:
        for part in parse_form(text):
            for piece in part.parts if isinstance(part, FormGroup) else (part,):
                if isinstance(piece, FormField) and name in piece.names:
                    return piece.field_type
    raise AssertionError(f"{action.__name__}.{name} is in no form")


def _best_refusal(g: Game, seat: str, words: list[str], reasons: list[tuple[type[Action], str]]) -> Exception:
    """The reason that fits best: the one for an action that is offered, if there is one."""
    offered = {type(option.action) for option in options(g, seat)}
    for action, why in reasons:
        if action in offered:
            return RefusedError(why)
    return RefusedError(reasons[0][1])


def _unreadable(g: Game, seat: str, text: str) -> UnreadableError:
    words = text.split()[:MAX_WORDS]
    moves = several_moves(text := " ".join(words))
    near = nearest_lines(g, seat, moves[0] if moves else text) or _legal_beginning(g, seat, words)
    hints = [] if near else [_what_is_asked(g), "`help` lists what you can do."]
    if moves:
        hints = ["Write each move on a line of its own, or put `;` between them."]
    why = _unknown_name(g, words) or "This is not a line of this game."
    return UnreadableError(" ".join(filter(None, [why, *hints])), near)


def _unknown_name(g: Game, words: list[str]) -> str:
    """`There is no hex H99.`, where one word keeps a text from being a line; else nothing."""
    for at, word in enumerate(words[1:], 1):
        readings = _readings(g, [*words[:at], UNKNOWN, *words[at + 1 :]])
        nouns = dict.fromkeys(
            value for _, fields in readings for value in fields.values() if isinstance(value, Noun)
        )
        if nouns and not may_be_known(g, word):
            return f"There is no {join_words(list(nouns), 'or')} {word}."
    return ""


def _what_is_asked(g: Game) -> str:
    """`Ann to act: sell, buy, or pass.`; nothing after the end."""
    who = join_words([g.state.name(s) for s in awaited_seats(g)], "or")
    return f"{who} to act: {prompt(g)}." if who else ""


def _legal_beginning(g: Game, seat: str, words: list[str]) -> list[str]:
    """The first words of a text, if they are a line that can be played, such as one of a later step."""
    for count in range(len(words) - 1, 0, -1):
        if list(_readings(g, beginning := words[:count])):
            line = " ".join(beginning)
            with suppress(RefusedError, AmbiguousError):
                parse(g, seat, line)
                return [line]
    return []
