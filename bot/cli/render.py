"""`railpost render`: pictures of a position or of a whole game, of a file or of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

import engine
from bot.cli import errors_in_sentences
from bot.cli.export import game_of_source
from bot.pictures.draw import animation_of_game, chart_of_game
from bot.pictures.views import changed_hexes, repriced_companies
from engine.game_text import GameHistory
from renderers import (
    CHART_KINDS,
    PaletteName,
    auction_png,
    map_png,
    market_png,
    sheet_png,
)
from storage import write_whole

PICTURES = ("map", "market", "sheet", "auction", *CHART_KINDS, "animation")


def render_files(
    source: str,
    at: int | None,
    paths: Mapping[str, Path],
    palette: PaletteName = "light",
) -> Iterator[Path]:
    """Draw pictures into files, with the changes of the last move highlighted; yields the files written.

    source: a file, or the code or name of a table. at: after so many moves, None for the current position.
    paths: by picture, one of `PICTURES`. Raises ValueError with a sentence, OSError, StoreError.
    """
    start, events = stored_game(game_of_source(source).history)
    if at is not None:
        check_move_number(at, len(events))
        events = events[:at]
    for kind, path in paths.items():
        write_whole(path, _draw(kind, start, events, palette))
        yield path


def stored_game(history: GameHistory) -> tuple[engine.State, tuple[bytes, ...]]:
    """The first position of a game, and the events of each move, encoded."""
    return history.start, tuple(engine.encode_events(line.events) for line in history.lines)


def _draw(kind: str, start: engine.State, events: Sequence[bytes], palette: PaletteName) -> bytes:
    for chart in CHART_KINDS:
        if kind == chart:
            return chart_of_game(start, events, chart, palette=palette).png
    if kind == "animation":
        return animation_of_game(start, events, palette=palette).png
    state = engine.copy_state(start)
    before, revenues = state, dict[str, int]()
    for i, raw in enumerate(events, 1):
        if i == len(events):
            before = engine.copy_state(state)
        moved = engine.decode_events(raw)
        engine.fold(moved, state)
        revenues |= {event.company: event.revenue for event in moved if isinstance(event, engine.TrainsRan)}
    match kind:
        case "map":
            return map_png(state, highlight=changed_hexes(before, state), palette=palette).png
        case "market":
            return market_png(state, highlight=repriced_companies(before, state), palette=palette).png
        case "auction":
            return auction_png(state, palette=palette).png
        case _:
            return sheet_png(state, revenues=revenues, palette=palette).png


def check_file_type(kind: str, path: Path) -> None:
    """Raises ValueError where the file has the name of another kind of picture."""
    suffix = ".gif" if kind == "animation" else ".png"
    if path.suffix.casefold() != suffix:
        what = f"--{kind} {path}: the picture is a {suffix[1:].upper()} file"
        raise ValueError(f"{what}; name it {path.with_suffix(suffix)}.")


def check_move_number(at: int, moves: int) -> None:
    """Raises ValueError if the game has fewer moves."""
    if not 0 <= at <= moves:
        raise ValueError(f"The game has {moves} moves; --at {at} is not among them.")


def command(
    source: Annotated[str, typer.Argument(help="A file of a game, or a table's code or name.")],
    at: Annotated[
        int | None, typer.Option(help="After this many moves; by default the current position.")
    ] = None,
    map: Annotated[Path | None, typer.Option(help="Write the map here.")] = None,
    market: Annotated[Path | None, typer.Option(help="Write the stock market here.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Write the sheet of players and companies here.")] = None,
    auction: Annotated[Path | None, typer.Option(help="Write bids and free money here.")] = None,
    worth: Annotated[Path | None, typer.Option(help="Write a chart of everybody's worth here.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Write a chart of share prices here.")] = None,
    revenue: Annotated[Path | None, typer.Option(help="Write a chart of revenue here.")] = None,
    animation: Annotated[Path | None, typer.Option(help="Write the whole game as a GIF here.")] = None,
    dark: Annotated[bool, typer.Option(help="In dark colours.")] = False,
) -> None:
    """Write pictures of a position or a game as PNG and GIF files."""
    options = {
        "map": map, "market": market, "sheet": sheet, "auction": auction,
        "worth": worth, "prices": prices, "revenue": revenue, "animation": animation,
    }  # fmt: skip
    paths = {picture: path for picture, path in options.items() if path is not None}
    if not paths:
        raise typer.BadParameter("name at least one file to write, such as --map map.png.")
    with errors_in_sentences():
        for picture, path in paths.items():
            check_file_type(picture, path)
        for path in render_files(source, at, paths, "dark" if dark else "light"):
            typer.echo(path)
