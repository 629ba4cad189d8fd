"""Legal lines like a text that is no legal line, as suggestions. Nothing here decides what a line means.

A text and a line are alike by the words that they share. In the text, names and misspelt words count as the
words of legal lines that they come closest to: `buy a share of Pennsylvania` is like `buy PRR from ipo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache

from engine.core.components import CompanyDefinition, PrivateDefinition
from engine.finance.offers import without_open_offers
from engine.game import Game
from engine.kernel import options
from engine.language.forms import FormGroup, FormWord, all_forms, format_action
from engine.mechanics import Option

TRADED = {"train", "private"}
"""Words of a line that say what it is about."""
LINKING = frozenset("a at by for from in of on please pls plz thanks the thx to using with".split())
NO, YES = ("pass", "decline"), ("accept", "protect", "act")
MEANT = {
    "borrow": ("loan",), "dividend": ("pay",), "float": ("par",), "get": ("buy",), "hold": ("withhold",),
    "keep": ("withhold",), "next": NO, "no": NO, "nope": NO, "nothing": NO, "ok": YES, "okay": YES,
    "operate": ("run",), "p": NO, "par": ("start",), "payout": ("pay",), "place": ("token",),
    "purchase": ("buy",), "retain": ("withhold",), "skip": NO, "split": ("half",), "start": ("par",),
    "station": ("token",), "take": ("loan",), "upgrade": ("lay",), "y": YES, "yes": YES,
}  # fmt: skip
"""Words that no legal line has now, with those of which one may stand there for them."""
BETWEEN_MOVES = re.compile(r"\s*(?:[,/+&]|\band\b|\bthen\b)(?:\s+then\b)?\s+", re.IGNORECASE)
MIN_NAME = 4  # letters of a name by which it is known
MIN_MISSPELT = 3  # letters of a word that may stand for another
MAX_WORDS_FOR_ONE = 3  # words of a text in which one is known


def legal_lines(g: Game, seat: str) -> list[str]:
    """The line of everything that the seat may do now but what it has offered already; dollars that are open
    at their least."""
    return [format_action(g, option.action) for option in _offered(g, seat)]


def _offered(g: Game, seat: str) -> Iterable[Option]:
    return without_open_offers(g, seat, options(g, seat))


def nearest_lines(g: Game, seat: str, text: str, limit: int = 5) -> list[str]:
    """The legal lines most like a text, at most so many; none that has nothing in common with it.

    Where some are about a hex of the text, the others are left out; so are those that are not about a train
    or a private, where the text is. Dollars that are open are those of the text, if these are possible.
    """
    lines = {line: set(_words(line)) for line in (_with_dollars(g, o, text) for o in _offered(g, seat))}
    said = [word for word in _words(text) if word not in LINKING]
    words = _meant(g, said, sorted(set().union(*lines.values())))
    hexes = words & {hex.casefold() for hex in g.components.map.hexes}
    lines = {line: own for line, own in lines.items() if own & hexes} or lines
    shared = {line: _weight(own & words) for line, own in lines.items() if words & TRADED <= own}
    most = max(shared.values(), default=(0, 0))
    if most[0] * MAX_WORDS_FOR_ONE < max(len(said), 1):
        return []
    akin = [line for line, weight in shared.items() if weight == most]
    folded = text.casefold()
    return sorted(akin, key=lambda line: -SequenceMatcher(None, line.casefold(), folded).ratio())[:limit]


def _weight(shared: set[str]) -> tuple[int, int]:
    """How much shared words say: a number says little without them."""
    numbers = sum(map(str.isdecimal, shared))
    return len(shared) - numbers, numbers


def several_moves(text: str) -> list[str]:
    """The lines that somebody has written as one, `sell 1 B&O and buy PRR`; empty for other texts."""
    parts = BETWEEN_MOVES.split(text)
    several = len(parts) > 1 and all(part.casefold().split(" ", 1)[0] in _verbs() for part in parts)
    return parts if several else []


@cache
def _form_words() -> frozenset[str]:
    """The fixed words of all lines."""
    parts = (part for _, form in all_forms() for part in form)
    pieces = (piece for part in parts for piece in (part.parts if isinstance(part, FormGroup) else (part,)))
    return frozenset(piece.text for piece in pieces if isinstance(piece, FormWord))


@cache
def _verbs() -> frozenset[str]:
    """The first words of all lines."""
    return frozenset(form[0].text for _, form in all_forms() if isinstance(form[0], FormWord))


def _with_dollars(g: Game, option: Option, text: str) -> str:
    """The line of an option; where its dollars are open, with the last number of the text."""
    line, amounts = format_action(g, option.action), option.amounts
    named = re.findall(r"(?<!\S)\d+(?!\S)", re.sub("[$,]", "", text))
    if amounts is None or not named or int(named[-1]) not in amounts:
        return line
    return f"{line.rpartition(' ')[0]} {named[-1]}"


def _words(text: str) -> list[str]:
    """The words of a text as they are compared: `B&O`, `B & O` and `BO` are one."""
    joined = re.sub(r"\b([a-z]{1,2}) ?(?:&|\+|\band\b) ?([a-z])\b", r"\1\2", text.casefold())
    return [word.strip(".-") for word in re.findall(r"[\w.+-]+", joined.replace("&", "").replace(",", ""))]


def _meant(g: Game, words: Sequence[str], known: Sequence[str]) -> set[str]:
    """The words, each as the known word that it stands for, if it is none itself."""
    return {word if word in known else _known_word(g, word, known) for word in words}


def _known_word(g: Game, word: str, known: Sequence[str]) -> str:
    if meant := [each for each in MEANT.get(word, ()) if each in known]:
        return meant[0]
    if word.isdecimal() or word in _form_words():
        return word
    named = {
        symbol
        for symbol, name in _names(g)
        if symbol in known and len(word) >= MIN_NAME and any(part.startswith(word) for part in _words(name))
    }
    alike = [each for each in known if len(each) >= MIN_MISSPELT]
    close = get_close_matches(word, alike, 1, 0.65 if MIN_MISSPELT <= len(word) <= MIN_NAME else 0.75)
    return named.pop() if len(named) == 1 else (close or [word])[0]


def may_be_known(g: Game, word: str) -> bool:
    """Whether a word is a word of lines, begins one of a name that the game has, is initials of one, or has
    signs, such as the dot behind a sentence."""
    folded = word.casefold()
    players = (("", g.state.name(seat)) for seat in g.state.seats)
    names = [[*_words(name), symbol] for symbol, name in (*_names(g), *players)]
    return (
        not word.isalnum()
        or folded in _form_words() | LINKING | MEANT.keys()
        or any(part.startswith(folded) for parts in names for part in parts)
        or any(folded in "".join(part[:1] for part in parts) for parts in names)
    )


def _names(g: Game) -> Iterator[tuple[str, str]]:
    """What stands in a line for each company, private and hex that has a name."""
    owners: list[CompanyDefinition | PrivateDefinition] = [*g.components.companies, *g.components.privates]
    yield from (("".join(_words(owner.sym)), owner.name) for owner in owners)
    yield from ((hex.casefold(), place.name) for hex, place in g.components.map.hexes.items() if place.name)
