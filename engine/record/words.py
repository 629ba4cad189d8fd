"""Reading the words of set-up lines and checkpoints, by the kinds of token that moves are made of."""

from __future__ import annotations

from typing import Any

from engine.game import Game
from engine.notation import KINDS, words_of
from engine.state import BANK, CLOSED, IPO, POOL, TREASURY

NONE = "none"


class Wrong(ValueError):
    """A set-up line or a checkpoint that cannot be read or cannot be; a sentence says why.

    `about`: the company, hex or other thing that it is about, where that is known.
    """

    def __init__(self, sentence: str, about: str = "") -> None:
        super().__init__(sentence)
        self.about = about


class Words:
    """The words of a line, taken one after the other. Every reader raises Wrong."""

    def __init__(self, g: Game, text: str) -> None:
        self.g = g
        self.text = text
        self.words = words_of(text)
        self.at = 0

    @property
    def more(self) -> bool:
        return self.at < len(self.words)

    def _take(self, kind: str) -> tuple[Any, ...] | None:
        """The fields that the next words are of that kind of token, if they are."""
        if self.more:
            for values, following in KINDS[kind].read(self.g, self.words, self.at):
                self.at = following
                return values
        return None

    def _missed(self, wanted: str) -> Wrong:
        if self.more:
            return Wrong(f"{self.words[self.at]!r} is not {wanted}.")
        return Wrong(f"{self.text!r} ends where {wanted} should follow.")

    def _field(self, kind: str, wanted: str) -> tuple[Any, ...]:
        found = self._take(kind)
        if found is None:
            raise self._missed(wanted)
        return found

    def is_next(self, *words: str) -> str | None:
        """Take the next word if it is one of these."""
        if self.more and (word := self.words[self.at].casefold()) in words:
            self.at += 1
            return word
        return None

    def _one_of(self, kinds: tuple[str, ...], words: tuple[str, ...], wanted: str) -> str:
        """One of the words, or what the first fitting kind of token reads."""
        if word := self.is_next(*words):
            return word
        for kind in kinds:
            if found := self._take(kind):
                return str(found[0])
        raise self._missed(wanted)

    def word(self, *choices: str) -> str:
        return self._one_of((), choices, f"one of {', '.join(choices)}")

    def anything(self, wanted: str) -> str:
        if not self.more:
            raise self._missed(wanted)
        self.at += 1
        return self.words[self.at - 1]

    def phase(self) -> str:
        said = self.anything("a phase").casefold()
        for phase in self.g.title.phases:
            if phase.casefold() == said:
                return phase
        raise Wrong(f"There is no phase {said}; there is {', '.join(self.g.title.phases)}.")

    def player(self) -> str:
        return str(self._field("PLAYER", "a player of this table")[0])

    def company(self) -> str:
        return str(self._field("COMPANY", "a company of this title")[0])

    def private(self) -> str:
        return str(self._field("PRIVATE", "a private of this title")[0])

    def purse(self) -> str:
        """A player, a company or the bank."""
        return self._one_of(("PLAYER", "COMPANY"), (BANK,), f"a player, a company or {BANK}")

    def actor(self) -> str:
        """A player or a company."""
        return self._one_of(("PLAYER", "COMPANY"), (), "a player or a company")

    def holder(self) -> str:
        """Who holds shares: a player, the initial offering, the pool, or a company's treasury."""
        limits = self.g.facts.limits
        own = "redeemed_shares" in limits or bool(self.g.facts.company_sizes)
        keeps = self.g.title.flotation.keeps_rest or own
        places = (IPO, POOL, TREASURY) if keeps else (IPO, POOL)
        if TREASURY not in places and self.is_next(TREASURY):
            raise Wrong("No company of this title holds shares in its treasury.")
        return self._one_of(("PLAYER",), places, f"a player, {' or '.join(places)}")

    def owner(self) -> str:
        """Who owns a private: a player, a company, the bank, or nobody any more."""
        if self.is_next(POOL):
            cells = (cell for row in self.g.facts.market.rows for cell in row if cell)
            if not any("closing" in cell.zones for cell in cells):
                raise Wrong("No private of this title lies in the pool.")
            return POOL
        return self._one_of(("PLAYER", "COMPANY"), (BANK, CLOSED), f"a player, a company or {CLOSED}")

    def amount(self, wanted: str = "an amount in dollars") -> int:
        if self.more and self.words[self.at].startswith("-") and self.words[self.at][1:].isdecimal():
            self.at += 1
            return int(self.words[self.at - 1])
        return int(self._field("AMOUNT", wanted)[0])

    def improvement(self) -> tuple[str, bool]:
        """The private whose token a line is about, by its word, and whether it is an open port."""
        for private in self.g.facts.privates:
            word = private.effect.get("word")
            if word and self.is_next(word):
                opened = "open_bonus" in private.effect and self.word("open", "closed") == "open"
                return private.sym, opened
        raise self._missed("the token of a private")

    def tile(self) -> str:
        return str(self._field("TILE", "a tile of this title")[0])

    def hex(self) -> str:
        return str(self._field("HEX", "a hex of the map")[0])

    def city(self) -> tuple[str, int | None]:
        """A hex with the node of its city, None where that was left out."""
        found = self._field("CITY", "a hex of the map")
        return str(found[0]), int(found[1]) if len(found) > 1 else None

    def train(self) -> str:
        return str(self._field("TRAIN", "a type of train of this title")[0])

    def trains(self) -> list[str]:
        """The types of trains up to the end of the line, in the title's order; `none` for no train."""
        if self.is_next(NONE):
            return []
        found = [self.train()]
        while self.more:
            found.append(self.train())
        return sorted(found, key=list(self.g.title.trains).index)

    def end(self) -> None:
        if self.more:
            raise Wrong(f"{' '.join(self.words[self.at :])!r} is too much in {self.text!r}.")
