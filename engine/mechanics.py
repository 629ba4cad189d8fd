"""The contract of a mechanic: what the kernel and a title expect of the rules for one kind of decision.

A `Question` answers for one kind of frame on the stack: whom it asks, what they may answer, and what
follows. An `Activity` is one thing that may be done in some context: a step of an operating turn, an
extra action of a stock turn, or an action out of turn. A question is no activity, because it decides who
is asked and goes on by itself where nobody has a choice; activities are what its answers consist of.

Both judge with `refusal` alone: an option is offered, a line is accepted, and a player is told the reason
by that one function. Titles choose mechanics and set their parameters; no mechanic asks which title it
serves.

The protocols are generic in the game that rules are given (`engine.game.Game`), so that a title can hold
mechanics, and a game its title.

Hooks that do nothing are the defaults wherever a mechanic can be given a function of its title. They accept
any arguments, so one function per result fits every hook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from engine.core.actions import Action
from engine.core.state import AnyFrame

G_contra = TypeVar("G_contra", contravariant=True)
F_contra = TypeVar("F_contra", contravariant=True)
C_contra = TypeVar("C_contra", contravariant=True)
A_contra = TypeVar("A_contra", bound=Action, contravariant=True)


@dataclass(frozen=True, slots=True)
class Option:
    """One action that a player may take now.

    `label`: the action in words. Where `amounts` is set, the action's dollars may be anything in that
    range; the action itself has the first of them.
    """

    action: Action
    label: str
    amounts: range | None = None


class Question(Protocol[G_contra, F_contra]):
    """How frames of one kind are asked, answered, and advanced."""

    def asked(self, g: G_contra, frame: F_contra) -> tuple[str, ...]:
        """The seats that may answer."""

    def prompt(self, g: G_contra, frame: F_contra) -> str:
        """What is asked, as an imperative phrase: `lay track for the PRR`.

        It is shown as `Ann to act: lay track for the PRR.`
        """

    def options(self, g: G_contra, frame: F_contra, seat: str) -> Iterable[Option]:
        """Every answer that is not refused."""

    def refusal(self, g: G_contra, frame: F_contra, seat: str, action: Action) -> str | None:
        """Why the answer is not allowed, in the rulebook's words, or None."""

    def apply(self, g: G_contra, frame: F_contra, seat: str, action: Action) -> None:
        """Carry out an answer that is not refused."""

    def advance(self, g: G_contra, frame: F_contra) -> bool:
        """Go on where nobody has anything to decide. False: the frame waits for an answer."""


@dataclass(frozen=True)
class AutomaticRules:
    """Base of the questions of frames that ask nobody anything, and only advance."""

    def asked(self, g: object, frame: AnyFrame) -> tuple[str, ...]:
        return ()

    def prompt(self, g: object, frame: AnyFrame) -> str:
        return ""

    def options(self, g: object, frame: AnyFrame, seat: str) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: object, frame: AnyFrame, seat: str, action: Action) -> str | None:
        return "Nobody has anything to decide now."

    def apply(self, g: object, frame: AnyFrame, seat: str, action: Action) -> None:
        raise AssertionError("nothing is asked")


class Activity(Protocol[G_contra, C_contra, A_contra]):
    """Something that may be done in a context: an operating turn, a stock turn, or by a seat out of turn.

    It is asked only about the kinds of action that it handles.
    """

    @property
    def handles(self) -> tuple[type[Action], ...]:
        """The kinds of action that it carries out."""

    def options(self, g: G_contra, context: C_contra, /) -> Iterable[Option]:
        """Every action of these kinds that is not refused."""

    def refusal(self, g: G_contra, context: C_contra, action: A_contra, /) -> str | None:
        """Why the action is not allowed, in the rulebook's words, or None."""

    def apply(self, g: G_contra, context: C_contra, action: A_contra, /) -> None:
        """Carry out an action that is not refused."""


class OutOfTurn(Activity[G_contra, str, A_contra], Protocol[G_contra, A_contra]):
    """Actions beside the question on top: exchanges, offers and their answers.

    The context is the seat that acts.
    """

    handles: ClassVar[tuple[type[Action], ...]]

    def applies(self, g: G_contra, action: Action) -> bool:
        """Whether this activity carries out the action now, rather than the question on top."""
        return True

    def asked(self, g: G_contra) -> tuple[str, ...]:
        """The seats that an answer is expected from."""
        return ()


class Flotation(Protocol[G_contra]):
    """What happens when a company floats.

    `rest_to_treasury`: shares left in the initial offering go into the company's treasury. `places_home`:
    the home token is placed at once, not in the company's first turn. `in_next_operating_round`: capital
    comes with the next operating round, not at once (1830 §11).
    """

    @property
    def rest_to_treasury(self) -> bool: ...

    @property
    def places_home(self) -> bool: ...

    @property
    def in_next_operating_round(self) -> bool: ...

    def __call__(self, g: G_contra, company: str) -> None:
        """Carry it out."""

    def capital(self, g: G_contra, company: str, par: int) -> int:
        """Dollars that the bank pays a company that floats at a par price."""

    def awaited(self, g: G_contra, company: str) -> int:
        """Dollars of capital that a company awaits; 0 where it awaits none."""

    def pay_awaited(self, g: G_contra) -> None:
        """Pay the companies that await their capital, at the beginning of an operating round."""


def do_nothing(*args: object) -> None:
    """A hook that has no effect, or gives nothing."""


def never(*args: object) -> bool:
    """A condition that does not hold."""
    return False


def no_reason(*args: object) -> str | None:
    """A rule that has no objection."""
    return None


def no_items(*args: object) -> tuple[()]:
    """A rule that names nothing."""
    return ()
