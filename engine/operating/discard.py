"""Discards of trains above the limit: they go to the pool, where companies may buy them (1830 §21)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.actions import Action, DiscardTrain
from engine.core.components import train_label
from engine.core.events import TrainMoved
from engine.core.hooks import never
from engine.core.reasons import TrainReason
from engine.core.state import CLOSED, POOL, Discard
from engine.game import Game
from engine.mechanics import Option
from engine.operating.trains import is_obsolete


@dataclass(frozen=True)
class DiscardQuestion:
    """Asks the president of a company with too many trains which one to discard.

    `bank_discards`: of a company without a president the bank takes the oldest train (1817 §7.4); on
    18xx.games the player with the priority chooses. `scraps_obsolete`: a discarded obsolete train leaves the
    game; the 1817 book does not say where it goes. `next_interruption`: what is looked for right after.
    """

    bank_discards: bool = True
    scraps_obsolete: bool = False
    next_interruption: Callable[[Game], bool] = never

    def asked(self, g: Game, frame: Discard) -> tuple[str, ...]:
        return (g.company(frame.company).president or g.state.seats_from(g.state.priority)[0],)

    def prompt(self, g: Game, frame: Discard) -> str:
        return f"discard a train of the {frame.company}"

    def options(self, g: Game, frame: Discard, seat: str) -> Iterator[Option]:
        for train in sorted(set(g.company(frame.company).trains)):
            yield Option(
                DiscardTrain(train, frame.company), f"Discard {train_label(train)} of the {frame.company}"
            )

    def refusal(self, g: Game, frame: Discard, seat: str, action: Action) -> str | None:
        match action:
            case DiscardTrain(train, company) if company == frame.company:
                if train in g.company(company).trains:
                    return None
                return f"The {company} has no {train}-train."
        return (
            f"The {frame.company} is above the train limit and has to discard a train "
            f"first{g.cite('1830 §21')}."
        )

    def apply(self, g: Game, frame: Discard, seat: str, action: Action) -> None:
        assert isinstance(action, DiscardTrain)
        self._discard(g, frame, action.train)

    def _discard(self, g: Game, frame: Discard, train: str) -> None:
        g.pop()
        scrapped = self.scraps_obsolete and is_obsolete(g, train)
        g.emit(TrainMoved(train, frame.company, CLOSED if scrapped else POOL, TrainReason.DISCARDED))
        self.next_interruption(g)

    def advance(self, g: Game, frame: Discard) -> bool:
        if not self.bank_discards or g.company(frame.company).president is not None:
            return False
        self._discard(g, frame, next(t for t in g.title.trains if t in g.company(frame.company).trains))
        return True
