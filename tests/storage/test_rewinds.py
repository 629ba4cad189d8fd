"""The line of play that follows from a log."""

import random

import pytest

from storage import LineOfPlay, LogRow, StoreError, resolve_line_of_play


def move_row(seq: int, kind: str = "move", rewinds_to: int | None = None) -> LogRow:
    return LogRow("terminal", kind=kind, seq=seq, rewinds_to=rewinds_to)  # type: ignore[arg-type]


def log(text: str) -> list[LogRow]:
    """The rows of `move move undo:1`."""
    words = (word.partition(":") for word in text.split())
    return [move_row(seq, kind, int(to) if to else None) for seq, (kind, _, to) in enumerate(words, 1)]


@pytest.mark.parametrize(
    ("text", "played", "undone"),
    [
        ("", (), ()),
        ("move move", (1, 2), ()),
        ("move note replace move", (1, 4), ()),
        ("move move move undo:1", (1,), (2, 3)),
        ("move move undo:0", (), (1, 2)),
        ("move move move undo:0 redo:2", (1, 2), (3,)),
        ("move move undo:1 move", (1, 4), ()),
        ("move move undo:1 note redo:2", (1, 2), ()),
        ("move move move undo:2 undo:1", (1,), (2, 3)),
        ("move move move undo:2 undo:1 redo:3", (1, 2, 3), ()),
    ],
)
def test_the_line_of_play(text: str, played: tuple[int, ...], undone: tuple[int, ...]) -> None:
    line = resolve_line_of_play(log(text))
    assert line == LineOfPlay(played, undone)
    assert line.current_move == (0, *played)[-1]


@pytest.mark.parametrize(
    "text", ["move move undo:1 move redo:2", *(f"move move note undo:{to}" for to in (3, 4, 99, -1))]
)
def test_a_row_cannot_rewind_to_a_move_that_is_missing_or_replaced(text: str) -> None:
    target = text.rpartition(":")[2]
    with pytest.raises(StoreError, match=f"goes to move {target}, which is not on the line of play"):
        resolve_line_of_play(log(text))


@pytest.mark.parametrize("seed", range(150))
def test_random_logs(seed: int) -> None:
    """Against a model that keeps every position as a path in a tree of moves."""
    dice = random.Random(seed)
    parents: dict[int, int] = {}
    at, reach, rows, line = 0, 0, list[LogRow](), LineOfPlay()

    def path(move: int) -> list[int]:
        return [*path(parents[move]), move] if move else []

    for seq in range(1, dice.randint(2, 60)):
        kind = dice.choice(["move", "move", "move", "note", "stand"])
        if kind == "move":
            parents[seq] = at
            at = reach = seq
            row = move_row(seq)
        elif kind == "stand":
            target = dice.choice([0, *path(reach)])
            row = move_row(seq, "undo" if target in path(at) else "redo", target)
            at = target
        else:
            row = move_row(seq, "note")
        rows.append(row)
        line = resolve_line_of_play([row], line)
        assert line == resolve_line_of_play(rows), "a row at a time is the same as all at once"
        assert list(line.played) == path(at)
        assert [*line.played, *line.undone] == path(reach)
        assert line.current_move == at
