"""How far a game has come at the start of a round: computer players beside the people of recorded games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.cli.import_games import read_game_file
from bot.tools.arena.agreement import Recorded
from bot.tools.arena.match import GameSetup, play_game
from engine import Action, State, game_of, round_name, standings
from engine.site_18xx.game_file import read_site_file


class Development(NamedTuple):
    """A position at the start of a round.

    `worth`: dollars of a player on the average. `idle`: the cash of players and companies, as a part of what
    the players are worth and the treasuries hold. `floated`: companies that operate; `stalled`: those that
    have started and have not floated. `trains`: of companies. `phase`: its number from 0.
    """

    players: int
    worth: float
    idle: float
    floated: int
    stalled: int
    trains: int
    phase: int


def development(state: State) -> Development:
    """The development of a position."""
    g = game_of(state)
    worths = standings(state).values()
    running = [c for c, co in state.companies.items() if co.floated and not co.closed]
    cash = sum(g.cash(owner) for owner in (*state.seats, *running))
    treasuries = sum(g.cash(company) for company in running)
    phases = [phase.name for phase in g.components.phases]
    return Development(
        players=len(state.seats),
        worth=sum(worths) / len(state.seats),
        idle=cash / max(sum(worths) + treasuries, 1),
        floated=len(running),
        stalled=sum(
            co.cell is not None and not co.floated and not co.closed for co in state.companies.values()
        ),
        trains=sum(len(state.companies[company].trains) for company in running),
        phase=phases.index(state.phase),
    )


class RoundStarts:
    """The development of one game at the start of each of its rounds."""

    def __init__(self) -> None:
        self.by_round: dict[str, Development] = {}

    def watch(self, state: State) -> None:
        """Look at the next position of the game."""
        name = round_name(state)
        if name not in self.by_round:
            self.by_round[name] = development(state)


def recorded_starts(path: Path) -> RoundStarts:
    """The development of a recorded game. Raises ValueError for a file that is none."""
    starts = RoundStarts()

    def seen(state: State, seat: str, action: Action) -> None:
        starts.watch(state)

    replay = Recorded(read_site_file(read_game_file(path)), seen)
    for _ in replay.run():
        pass
    return starts


def played_starts(setup: GameSetup) -> RoundStarts:
    """The development of a game between computer players."""
    starts = RoundStarts()
    play_game(setup, lambda state, moves: starts.watch(state))
    return starts


HEADINGS = ("round", "games", "worth a player", "idle cash", "companies", "not floated", "trains", "phase")


def table(games: Sequence[RoundStarts], rounds: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for each round that some of the games reached: the means over those that did."""
    for name in rounds:
        found = [game.by_round[name] for game in games if name in game.by_round]
        if not found:
            continue
        n = len(found)
        yield (
            name,
            str(n),
            f"${sum(d.worth for d in found) / n:.0f}",
            f"{100 * sum(d.idle for d in found) / n:.0f} %",
            f"{sum(d.floated for d in found) / n:.1f}",
            f"{sum(d.stalled for d in found) / n:.1f}",
            f"{sum(d.trains for d in found) / n:.1f}",
            f"{sum(d.phase for d in found) / n + 1:.1f}",
        )
