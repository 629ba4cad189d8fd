"""The line of play that follows from a log."""

import random
from typing import NamedTuple

import pytest

from storage import LineOfPlay, StoreError, resolve_line_of_play


class MoveRow(NamedTuple):
    seq: int
    kind: str = "move"
    rewinds_to: int | None = None


def test_an_empty_log_stands_before_the_first_move() -> None:
    assert resolve_line_of_play([]) == LineOfPlay((), ())
    assert resolve_line_of_play([]).current_move == 0


def test_moves_follow_each_other() -> None:
    assert resolve_line_of_play([MoveRow(1), MoveRow(2)]) == LineOfPlay((1, 2), ())


def test_other_rows_are_not_on_the_line() -> None:
    assert resolve_line_of_play(
        [MoveRow(1), MoveRow(2, "note"), MoveRow(3, "replace"), MoveRow(4)]
    ) == LineOfPlay((1, 4), ())


def test_undo_keeps_what_it_takes_back_for_a_redo() -> None:
    line = resolve_line_of_play([MoveRow(1), MoveRow(2), MoveRow(3), MoveRow(4, "undo", 1)])
    assert line == LineOfPlay((1,), (2, 3))
    assert line.current_move == 1


def test_undo_to_the_start() -> None:
    assert resolve_line_of_play([MoveRow(1), MoveRow(2), MoveRow(3, "undo", 0)]) == LineOfPlay((), (1, 2))


def test_redo_goes_to_its_move() -> None:
    rows = [MoveRow(1), MoveRow(2), MoveRow(3), MoveRow(4, "undo", 0), MoveRow(5, "redo", 2)]
    assert resolve_line_of_play(rows) == LineOfPlay((1, 2), (3,))


def test_a_move_ends_the_redo() -> None:
    rows = [MoveRow(1), MoveRow(2), MoveRow(3, "undo", 1), MoveRow(4)]
    assert resolve_line_of_play(rows) == LineOfPlay((1, 4), ())
    with pytest.raises(StoreError, match="goes to move 2"):
        resolve_line_of_play([*rows, MoveRow(5, "redo", 2)])


def test_a_note_leaves_the_redo() -> None:
    rows = [MoveRow(1), MoveRow(2), MoveRow(3, "undo", 1), MoveRow(4, "note"), MoveRow(5, "redo", 2)]
    assert resolve_line_of_play(rows) == LineOfPlay((1, 2), ())


def test_an_undo_of_an_undo_is_a_redo() -> None:
    twice = [MoveRow(1), MoveRow(2), MoveRow(3), MoveRow(4, "undo", 2), MoveRow(5, "undo", 1)]
    assert resolve_line_of_play(twice) == LineOfPlay((1,), (2, 3))
    assert resolve_line_of_play([*twice, MoveRow(6, "redo", 3)]) == LineOfPlay((1, 2, 3), ())


@pytest.mark.parametrize("target", [3, 4, 99, -1])
def test_a_row_cannot_rewind_to_a_missing_move(target: int) -> None:
    with pytest.raises(StoreError, match="not on the line of play"):
        resolve_line_of_play([MoveRow(1), MoveRow(2), MoveRow(3, "note"), MoveRow(4, "undo", target)])


@pytest.mark.parametrize("seed", range(150))
def test_random_logs(seed: int) -> None:
    """Against a model that keeps every position as a path in a tree of moves."""
    dice = random.Random(seed)
    parents: dict[int, int] = {}
    at, reach, rows, line = 0, 0, list[MoveRow](), LineOfPlay()

    def path(move: int) -> list[int]:
        return [*path(parents[move]), move] if move else []

    for seq in range(1, dice.randint(2, 60)):
        kind = dice.choice(["move", "move", "move", "note", "stand"])
        if kind == "move":
            parents[seq] = at
            at = reach = seq
            row = MoveRow(seq)
        elif kind == "stand":
            target = dice.choice([0, *path(reach)])
            row = MoveRow(seq, "undo" if target in path(at) else "redo", target)
            at = target
        else:
            row = MoveRow(seq, "note")
        rows.append(row)
        line = resolve_line_of_play([row], line)
        assert line == resolve_line_of_play(rows), "a row at a time is the same as all at once"
        assert list(line.played) == path(at)
        assert [*line.played, *line.undone] == path(reach)
        assert line.current_move == at
