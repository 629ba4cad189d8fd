"""`railpost review`: what decided a game, in sentences or as one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import errors_in_sentences
from bot.cli.export import game_of_source
from bot.features.review import texts
from bot.features.review.review import Review
from bot.features.review.second_opinion import second_opinion
from bot.features.review.texts import review_page
from bot.features.robots.robot import Robot
from storage import write_whole


def tell(doing: str) -> None:
    """Say what is being done to whoever watches: a review of a long game takes a while."""
    if sys.stderr.isatty():
        print(f"{doing} …", file=sys.stderr, flush=True)


def command(
    source: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="A table's code or name, or a file.")],
    out: Annotated[
        Path | None, typer.Option(help="A folder for one HTML page with pictures; else text is printed.")
    ] = None,
) -> None:
    """Review a game: its money, turning points, routes and trains.

    It also says what the robot would have done.
    """
    with errors_in_sentences():
        tell("Reading the game")
        game = game_of_source(source)
        review = Review(game.history)
        tell("Reviewing the money and the turning points")
        points, sentences = texts.turns_text(review), review.sentences
        tell("Asking the robot")
        opinions = second_opinion(review.game, review.places, Robot().ranking) if review.may_study else []
        if out is None:
            parts = ["\n".join(sentences), f"Turning points\n{points}"]
            if review.may_study:
                parts += [
                    texts.routes_text(review),
                    texts.trains_text(review),
                    texts.robot_text(review, opinions),
                ]
            typer.echo("\n\n".join(parts))
            return
        tell("Drawing")
        target = out / f"{game.stem}-review.html"
        write_whole(target, review_page(review, opinions).encode())
        typer.echo(f"The review is in {target}.")
