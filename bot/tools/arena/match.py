"""One game of a match, with its players in their seats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import msgspec

from bot.tools.arena.contestants import contestant
from bot.tools.arena.other_version import OtherVersion, Table
from bot.tools.simulation.simulate import PLAYER_NAMES
from engine import State, decision, game_of, new_game, play, standings

MAX_MOVES = 6_000
"""A game that has not ended after so many moves is scored as it stands."""


class SeatResult(msgspec.Struct, frozen=True):
    """The result of one seat of one game: a row of the file.

    `place`: from 1, the mean of tied places. `win`: 1, or a part of it where several tie. `share`: of the
    players' net worth together, a debt counting as nothing. `bankrupt`: the player went bankrupt.
    """

    title: str
    players: int
    options: str
    seed: int
    seat: int
    player: str
    net_worth: int
    share: float
    place: float
    win: float
    bankrupt: int
    game_bankrupt: int
    phase: str
    last_phase: int
    moves: int
    ending: str


class GameSetup(msgspec.Struct, frozen=True):
    """A game to play: who sits where follows from `seed`, by which the players are rotated."""

    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: int

    def seated(self) -> tuple[str, ...]:
        """The players in the order of their seats: rotated by one from game to game."""
        shift = self.seed % len(self.players)
        return self.players[-shift:] + self.players[:-shift] if shift else self.players


def play_game(setup: GameSetup, watch: Callable[[State, int], None]) -> list[SeatResult]:
    """Play one game to its end, and score it. watch: called after every move, with how many there were."""
    seated = setup.seated()
    count = len(seated)
    state, _ = new_game(setup.title, PLAYER_NAMES[:count], setup.options, setup.seed)
    table = Table(setup.title, tuple(PLAYER_NAMES[:count]), setup.options, setup.seed)
    contestants = {
        seat: OtherVersion(name, table, number) if "@" in name else contestant(name, number, count)
        for number, (seat, name) in enumerate(zip(state.seats, seated, strict=True), setup.seed * 31)
    }
    others = [each for each in contestants.values() if isinstance(each, OtherVersion)]
    rng, moves = Random(f"{setup.seed} order"), 0
    while state.game_over is None and moves < MAX_MOVES:
        awaited = decision(state).awaited
        seat = awaited[0] if len(awaited) == 1 else rng.choice(awaited)
        action = contestants[seat].choose_action(state, seat)
        for each in others:
            each.saw(state, seat, action)
        state = play(state, seat, action).state
        moves += 1
        watch(state, moves)
    for each in others:
        each.close()
    return score(setup, state, moves)


def score(setup: GameSetup, state: State, moves: int) -> list[SeatResult]:
    """The rows of a game that has ended."""
    worth = standings(state)
    total = sum(max(w, 0) for w in worth.values()) or 1
    over = state.game_over
    out = {*state.bankrupt_seats, *([over.bankrupt] if over and over.bankrupt else [])}
    names = setup.seated()
    return [
        SeatResult(
            title=setup.title,
            players=len(names),
            options=" ".join(setup.options),
            seed=setup.seed,
            seat=int(seat[1:]),
            player=names[int(seat[1:])],
            net_worth=worth[seat],
            share=round(max(worth[seat], 0) / total, 4),
            place=_place(worth[seat], list(worth.values())),
            win=_win(worth[seat], list(worth.values())),
            bankrupt=int(seat in out),
            game_bankrupt=int(bool(out)),
            phase=state.phase,
            last_phase=int(state.phase == game_of(state).components.phases[-1].name),
            moves=moves,
            ending=over.reason if over else "unfinished",
        )
        for seat in state.seats
    ]


def _place(worth: int, all_worths: Sequence[int]) -> float:
    better = sum(other > worth for other in all_worths)
    tied = sum(other == worth for other in all_worths)
    return better + (tied + 1) / 2


def _win(worth: int, all_worths: Sequence[int]) -> float:
    tied = sum(other == worth for other in all_worths)
    return 1 / tied if worth == max(all_worths) else 0.0
