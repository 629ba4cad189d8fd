"""A process of its own, at low priority, in which robots think."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import NamedTuple, TypeVar, TypeVarTuple

import engine
from bot.features.robots.planning import loses_little
from bot.features.robots.robot import LEAST_EFFORT, Effort, Robot, effort_in
from bot.pictures.workers import end_with_parent
from engine.core.actions import Pass

log = logging.getLogger(__name__)

Ts = TypeVarTuple("Ts")
ResultT = TypeVar("ResultT")

NICENESS = 15
PATIENCE = 20.0
"""How many times the usual time a decision may take before its process is ended."""
LEAST_TIMEOUT = 30.0


class RobotMove(NamedTuple):
    """What a robot would do: the line, and why, as part of a sentence."""

    line: str
    reason: str


class RobotWorker:
    """Asks robots for their moves, one after the other. `seconds`: of one core, for a hard decision."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._pool: ProcessPoolExecutor | None = None
        self._turn = asyncio.Lock()

    async def decide(self, state: engine.State, seat: str, seed: int) -> RobotMove | None:
        """What the robot of a seat does; None if there is nothing to do.

        A position that takes too long, or ends the process, is judged once more with little effort. Where
        that fails too, or a judgement does, the move is the plainest legal one, so that no table waits for a
        robot.
        """
        async with self._turn:
            for effort in (effort_in(self.seconds), LEAST_EFFORT):
                try:
                    return await self._ask(state, seat, seed, effort)
                except (BrokenProcessPool, TimeoutError):
                    log.warning("a robot's process was ended: %s", effort)
                    self.close()
                except Exception:  # a faulty judgement; the table goes on
                    log.exception("a robot could not judge its move")
                    break
        return plain_move(state, seat)

    async def accepts(self, now: engine.State, then: engine.State, seat: str) -> bool:
        """Whether the robot of a seat agrees to an undo or a redo, which leads from one position to another.

        What it cannot think through it agrees to, so that no vote waits for a robot.
        """
        async with self._turn:
            try:
                return await self._run(agrees, _visible(now, seat), _visible(then, seat), seat)
            except (BrokenProcessPool, TimeoutError):
                log.warning("a robot's process was ended by a vote")
                self.close()
            except Exception:  # a faulty judgement; the table goes on
                log.exception("a robot could not judge a vote")
        return True

    async def _ask(self, state: engine.State, seat: str, seed: int, effort: Effort) -> RobotMove | None:
        found = await self._run(decide_now, _visible(state, seat), seat, seed, effort)
        return RobotMove(*found) if found else None

    async def _run(self, job: Callable[[*Ts], ResultT], *args: *Ts) -> ResultT:
        """The result of a function in the process. Raises TimeoutError if it takes too long."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_init_worker)
        result = asyncio.get_running_loop().run_in_executor(self._pool, job, *args)
        async with asyncio.timeout(max(self.seconds * PATIENCE, LEAST_TIMEOUT)):
            return await result

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def plain_move(state: engine.State, seat: str) -> RobotMove | None:
    """A legal move without any judgement: to pass where that may be done, else what the rules list first;
    None if the seat has nothing to decide."""
    found = [option.action for option in engine.options(engine.visible_to(state, seat), seat)]
    if not found:
        return None
    action = next((each for each in found if isinstance(each, Pass)), found[0])
    return RobotMove(engine.format_action(state, action), "it could not think this position through")


def _visible(state: engine.State, seat: str) -> bytes:
    """A position in bytes: what a seat may not know never reaches the process."""
    return engine.encode_state(engine.visible_to(state, seat))


def _init_worker() -> None:
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(NICENESS)


@lru_cache(maxsize=64)
def _robot(seed: int, effort: Effort) -> Robot:
    return Robot(seed, effort)


def decide_now(raw: bytes, seat: str, seed: int, effort: Effort) -> tuple[str, str] | None:
    """The line and the reason of a robot in an encoded position; None if the seat has nothing to decide."""
    state = engine.decode_state(raw)
    ranking = _robot(seed, effort).ranking(state, seat)
    if not ranking:
        return None
    return engine.format_action(state, ranking[0].action), ranking[0].reason


def agrees(now: bytes, then: bytes, seat: str) -> bool:
    """Whether a robot agrees to a vote that leads from one encoded position to another."""
    return loses_little(engine.decode_state(now), engine.decode_state(then), seat)
