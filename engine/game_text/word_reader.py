"""A reader for the words of set-up lines and checkpoints. It uses the field types of the notation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.components import CityTokenAbility, MarketZone
from engine.core.state import BANK, CLOSED, IPO, POOL, TREASURY
from engine.game import Game
from engine.language.field_types import FIELD_TYPES
from engine.language.notation import split_words

NONE = "none"


class InvalidLineError(ValueError):
    """A set-up line or a checkpoint that cannot be read, or describes something impossible.

    `subject`: the company, hex or other thing that it is about, empty where that is unknown. `keyword`: that
    of its line, if others are being applied.
    """

    def __init__(self, message: str, subject: str = "", keyword: str = "") -> None:
        super().__init__(message)
        self.subject, self.keyword = subject, keyword


class WordReader:
    """The words of a line, read one after the other. Every method that reads raises InvalidLineError."""

    def __init__(self, g: Game, text: str) -> None:
        self.g = g
        self.text = text
        self.words = split_words(text)
        self.position = 0

    @property
    def has_more(self) -> bool:
        return self.position < len(self.words)

    def _accept_token(self, kind: str) -> tuple[Any, ...] | None:
        """Read the next words as a field of that type. Returns its values, or None."""
        if self.has_more:
            for values, next_position in FIELD_TYPES[kind].parse(self.g, self.words, self.position):
                self.position = next_position
                return values
        return None

    def _missing(self, wanted: str) -> InvalidLineError:
        if self.has_more:
            return InvalidLineError(f"{self.words[self.position]!r} is not {wanted}.")
        return InvalidLineError(f"{self.text!r} ends where {wanted} should follow.")

    def _expect_token(self, kind: str, wanted: str) -> tuple[Any, ...]:
        found = self._accept_token(kind)
        if found is None:
            raise self._missing(wanted)
        return found

    def accept(self, *words: str) -> str | None:
        """Read the next word if it is one of these. Returns it, or None."""
        if self.has_more and (word := self.words[self.position].casefold()) in words:
            self.position += 1
            return word
        return None

    def _expect_any(self, kinds: tuple[str, ...], words: tuple[str, ...], wanted: str) -> str:
        """Read one of these words, or a field of the first of these types that fits."""
        if word := self.accept(*words):
            return word
        for kind in kinds:
            if found := self._accept_token(kind):
                return str(found[0])
        raise self._missing(wanted)

    def expect(self, *choices: str) -> str:
        return self._expect_any((), choices, f"one of {', '.join(choices)}")

    def any_word(self, wanted: str) -> str:
        if not self.has_more:
            raise self._missing(wanted)
        self.position += 1
        return self.words[self.position - 1]

    def _one_of(self, kind: str, wanted: str, names: Iterable[str]) -> str:
        """A field of that type, of which there are those of these names. Returns its first value."""
        return str(self._expect_token(kind, f"{wanted} ({', '.join(names)})")[0])

    def _players(self) -> str:
        """`a player (Ann, Bob)`."""
        return f"a player ({', '.join(self.g.state.players)})"

    def phase(self) -> str:
        word = self.any_word("a phase").casefold()
        for phase in self.g.title.phases:
            if phase.casefold() == word:
                return phase
        raise InvalidLineError(f"There is no phase {word}; there are {', '.join(self.g.title.phases)}.")

    def player(self) -> str:
        return str(self._expect_token("PLAYER", self._players())[0])

    def company(self) -> str:
        return self._one_of("COMPANY", "a company of this title", self.g.state.companies)

    def private(self) -> str:
        names = (private.sym for private in self.g.components.privates)
        return self._one_of("PRIVATE", "a private of this title", names)

    def cash_holder(self) -> str:
        """A player, a company or the bank."""
        return self._expect_any(("PLAYER", "COMPANY"), (BANK,), f"{self._players()}, a company or {BANK}")

    def actor(self) -> str:
        """A player or a company."""
        return self._expect_any(("PLAYER", "COMPANY"), (), f"{self._players()} or a company")

    def shareholder(self) -> str:
        """A holder of shares: a player, the initial offering, the pool, or a company's treasury."""
        limits = self.g.components.limits
        redeems = limits.redeemed_shares > 0 or bool(self.g.components.company_sizes)
        has_treasuries = self.g.title.flotation.rest_to_treasury or redeems
        holders = (IPO, POOL, TREASURY) if has_treasuries else (IPO, POOL)
        if TREASURY not in holders and self.accept(TREASURY):
            raise InvalidLineError("No company of this title holds shares in its treasury.")
        return self._expect_any(("PLAYER",), holders, f"{self._players()}, {' or '.join(holders)}")

    def private_owner(self) -> str:
        """The owner of a private: a player, a company, the bank, the pool, or `closed`."""
        if self.accept(POOL):
            cells = (cell for row in self.g.components.market.rows for cell in row if cell)
            if not any(MarketZone.CLOSING in cell.zones for cell in cells):
                raise InvalidLineError("No private of this title lies in the pool.")
            return POOL
        return self._expect_any(
            ("PLAYER", "COMPANY"), (BANK, CLOSED), f"{self._players()}, a company or {CLOSED}"
        )

    def amount(self, wanted: str = "an amount in dollars") -> int:
        if (
            self.has_more
            and self.words[self.position].startswith("-")
            and self.words[self.position][1:].isdecimal()
        ):
            self.position += 1
            return int(self.words[self.position - 1])
        return int(self._expect_token("AMOUNT", wanted)[0])

    def city_token(self) -> tuple[str, bool]:
        """A private, named by its token (`cattle`, `port`), and whether the token is an open port."""
        for private in self.g.components.privates:
            ability = private.ability
            if isinstance(ability, CityTokenAbility) and self.accept(ability.token):
                opened = ability.token == "port" and self.expect("open", "closed") == "open"
                return private.sym, opened
        raise self._missing("the token of a private")

    def tile(self) -> str:
        return str(self._expect_token("TILE", "a tile of this title")[0])

    def hex(self) -> str:
        return str(self._expect_token("HEX", "a hex of the map")[0])

    def city(self) -> tuple[str, int | None]:
        """A hex with the node of its city, None where the node is left out."""
        found = self._expect_token("CITY", "a hex of the map")
        return str(found[0]), int(found[1]) if len(found) > 1 else None

    def train(self) -> str:
        names = (train.name for train in self.g.components.trains)
        return self._one_of("TRAIN", "a type of train of this title", names)

    def trains(self) -> list[str]:
        """The types of trains up to the end of the line, in the title's order. `none` is no train."""
        if self.accept(NONE):
            return []
        found = [self.train()]
        while self.has_more:
            found.append(self.train())
        return sorted(found, key=list(self.g.title.trains).index)

    def expect_end(self) -> None:
        if self.has_more:
            raise InvalidLineError(
                f"{' '.join(self.words[self.position :])!r} is left over in {self.text!r}."
            )
