"""`railpost bench --database URL`: how many moves one process makes at a database, and how many two.

The processes play at tables of their own, of which the other one knows nothing. Each is measured by the clock
and in processor time. On a machine whose cores are busy already, two processes cannot make more moves than
its cores allow, so the cost of a move beside another process counts too: where nobody waits for anybody, it
is as it was alone.
"""

from __future__ import annotations

import asyncio
import random
import sys
from dataclasses import dataclass
from time import perf_counter, process_time

import msgspec

import engine
from bot.hub.request import Completed
from bot.position.pending import seat_number
from bot.service import Service
from bot.tools.benchmark.games import BenchmarkError
from engine.game_text.history import GameHistory
from storage import open_store

TABLES, PLAYERS = 24, ("Ann", "Bob", "Cid")
PROGRAM = "from bot.tools.benchmark.processes import main; main()"


class ProcessFigures(msgspec.Struct):
    """What one process did: moves, seconds by the clock and of processor time."""

    moves: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One process alone, and two at once."""

    alone: ProcessFigures
    together: tuple[ProcessFigures, ProcessFigures]

    @property
    def ratio(self) -> float:
        """How many times the moves of one process two make, by the clock."""
        return sum(p.moves / p.seconds for p in self.together) / (self.alone.moves / self.alone.seconds)

    @property
    def dearer(self) -> float:
        """How many times the processor time of a move alone a move beside another process costs."""
        moves = sum(p.moves for p in self.together)
        beside = sum(p.cpu_seconds for p in self.together) / moves
        return beside / (self.alone.cpu_seconds / self.alone.moves)


async def new_tables(service: Service, count: int) -> list[int]:
    """Tables at the start of a game."""
    start, _ = engine.new_game(engine.title_names()[0], PLAYERS, (), 1)
    lobby, game = service.lobby, GameHistory(start)
    return [(await lobby.import_game(game, name=f"Table {n}")).id for n in range(count)]


async def play(database: str, seconds: float, seed: int) -> ProcessFigures:
    """Play at random at new tables, all at once."""
    async with await open_store(database) as store:
        service, dice, moves = Service(store), random.Random(seed), 0
        tables = await new_tables(service, TABLES)
        print("ready", flush=True)
        sys.stdin.readline()
        began, cpu_began = perf_counter(), process_time()

        async def at_table(table_id: int) -> None:
            nonlocal moves
            while perf_counter() - began < seconds:
                view = await service.queries.view(table_id)
                if view.state is None or view.state.game_over or not view.pending:
                    return
                pending = view.pending[0]
                seat = f"p{pending.seat}"
                line = dice.choice(engine.legal_lines(view.state, seat))
                result = await service.submit(
                    table_id, seat_number(seat), [line], pending.decision_id, f"{seed}.{table_id}.{view.seq}"
                )
                if not isinstance(result, Completed):
                    raise BenchmarkError(f"Table {table_id} refuses {line!r}: {result}")
                moves += 1

        async with asyncio.TaskGroup() as tasks:
            for table_id in tables:
                tasks.create_task(at_table(table_id))
        return ProcessFigures(moves, perf_counter() - began, process_time() - cpu_began)


async def _run(database: str, seconds: float, seeds: list[int]) -> list[ProcessFigures]:
    """Processes that begin at once."""
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, database, str(seconds), str(seed),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )
        for seed in seeds
    ]  # fmt: skip
    for process in processes:
        if process.stdout is None or await process.stdout.readline() != b"ready\n":
            for other in processes:
                if other.returncode is None:
                    other.kill()
                await other.communicate(b"")
            raise BenchmarkError("A process that is to be measured could not begin.")
    answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    return [msgspec.json.decode(answer, type=ProcessFigures) for answer, _ in answers]


def measure_processes(database: str, seconds: float) -> Comparison:
    """Measure one process, then two. The tables stay in the database. Raises BenchmarkError."""

    async def measure() -> Comparison:
        (alone,) = await _run(database, seconds, [1])
        first, second = await _run(database, seconds, [2, 3])
        return Comparison(alone, (first, second))

    return asyncio.run(measure())


def comparison_text(comparison: Comparison) -> str:
    """The figures in sentences."""
    alone, together = comparison.alone, comparison.together
    pace = sum(p.moves / p.seconds for p in together)
    share = sum(p.cpu_seconds / p.seconds for p in together)
    return (
        f"One process made {alone.moves / alone.seconds:.0f} moves a second "
        f"({1000 * alone.cpu_seconds / alone.moves:.1f} ms of processor time each, "
        f"{alone.cpu_seconds / alone.seconds:.0%} of a core); "
        f"two made {pace:.0f} with {share:.0%} of a core: "
        f"{comparison.ratio:.2f} times as many, at {comparison.dearer:.2f} times the processor time a move."
    )


def main() -> None:
    """Be one process: database, seconds and seed are arguments."""
    figures = asyncio.run(play(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
    print(msgspec.json.encode(figures).decode(), flush=True)
