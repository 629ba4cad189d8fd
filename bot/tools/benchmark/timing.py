"""Durations, and how they are measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import TypeVar

from engine.board import network
from engine.operating import run

Result = TypeVar("Result")


@dataclass
class Timings:
    """Durations in milliseconds, with a description of the longest."""

    samples: list[float] = field(default_factory=list)
    worst: float = 0.0
    worst_case: str = ""

    def add(self, milliseconds: float, description: str) -> None:
        """Add a sample."""
        if milliseconds > self.worst:
            self.worst, self.worst_case = milliseconds, description
        self.samples.append(milliseconds)

    @property
    def mean(self) -> float:
        """The mean, 0 without samples."""
        return sum(self.samples) / len(self.samples) if self.samples else 0.0

    @property
    def p99(self) -> float:
        """The 99th percentile, 0 without samples."""
        return sorted(self.samples)[(len(self.samples) * 99) // 100] if self.samples else 0.0


def clear_caches() -> None:
    """Clear the caches that the rules keep between moves."""
    network.clear_cache()
    run._cached_best_routes.cache_clear()


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a function, and the milliseconds of processor time of this thread."""
    start = thread_time()
    result = work()
    return result, (thread_time() - start) * 1000


def best_time(target: float, work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a function with cleared caches, and the best time: of one run, or of three if the
    first misses the target."""
    clear_caches()
    result, milliseconds = timed(work)
    for _ in range(2 if milliseconds > target else 0):
        clear_caches()
        milliseconds = min(milliseconds, timed(work)[1])
    return result, milliseconds
