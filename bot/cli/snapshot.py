"""`railpost snapshot`: a game for people who do not play it, as pictures with sentences or by a webhook.

Exit status: 0 posted or written, 1 the game cannot be read, 3 nothing has changed (with `--if-changed`), 4
the webhook does not take the post.
"""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from bot import config
from bot.cli import errors_in_sentences
from bot.cli.export import game_of_source
from bot.cli.import_games import read_game_file
from bot.features.watch.snapshot import (
    PICTURES,
    Posted,
    Posts,
    Snapshot,
    changes,
    description,
    drawings,
    game_id,
    snapshot_of,
)
from bot.features.watch.webhook import Webhook, WebhookError
from bot.pictures.workers import draw_file
from renderers import Picture
from storage import write_whole

UNCHANGED, NOT_POSTED = 3, 4


class Memory:
    """What was posted last, in a file of the data folder; the address of a webhook is kept as a hash."""

    def __init__(self, path: Path, url: str | None) -> None:
        self._path = path
        self._where = sha256(url.encode()).hexdigest()[:16] if url else "files"
        self._posts = Posts(path.read_bytes() if path.exists() else None)

    def last(self, snapshot: Snapshot) -> Posted | None:
        """What was posted last of this game."""
        return self._posts.last(snapshot, self._where)

    def keep(self, snapshot: Snapshot, message: str) -> None:
        """Remember a post. Raises OSError."""
        self._posts.keep(snapshot, self._where, message)
        write_whole(self._path, self._posts.encode())


async def post(url: str, text: str, drawn: list[tuple[str, Picture]], message: str, beside: str) -> str:
    """Edit the post of a game, or make one; the id of its message. beside: a second post, if not empty.

    Raises WebhookError.
    """
    async with Webhook(url) as webhook:
        if message and await webhook.edit(message, text, drawn):
            if beside:
                await webhook.post(beside, [])
            return message
        return await webhook.post(text, drawn)


def _id_of(source: str) -> str:
    """The id of the game in a file."""
    path = Path(source)
    return game_id(read_game_file(path)) if path.is_file() else ""


def command(
    source: Annotated[str, typer.Argument(metavar="FILE|TABLE", help="A file, or a table's code or name.")],
    webhook: Annotated[
        str | None,
        typer.Option(envvar="DISCORD_WEBHOOK", show_envvar=True, help="Post by this Discord webhook."),
    ] = None,
    only: Annotated[str, typer.Option(help="Which pictures, with commas between them.")] = ",".join(PICTURES),
    if_changed: Annotated[
        bool, typer.Option("--if-changed", help="Only if the game has moved since the last snapshot.")
    ] = False,
    tell_news: Annotated[bool, typer.Option("--news", help="After an edit, post what has changed.")] = False,
    out: Annotated[Path, typer.Option(help="Without a webhook: the folder for the pictures.")] = Path(),
) -> None:
    """Show a game to people who do not play it.

    It draws the map, the market and the sheet, and says what has changed.
    """
    with errors_in_sentences():
        game = game_of_source(source)
        snapshot = snapshot_of(game.history)._replace(
            id=game.stem if game.status else _id_of(source), status=game.status
        )
        kinds = [kind.strip() for kind in only.split(",") if kind.strip()]
        memory = Memory(config.load_settings().data / "snapshots.json", webhook)
        last = memory.last(snapshot)
        since = last.since(snapshot) if last else None
        if if_changed and since == snapshot.moves:
            typer.echo("Nothing has changed since the last snapshot.")
            raise typer.Exit(UNCHANGED)
        wanted = drawings(snapshot, since, kinds)
        drawn = [(kind, draw_file(kind, snapshot.state, (), details)) for kind, details in wanted]
        changed = changes(last, snapshot)
        text, message = "\n".join([*description(snapshot), *changed]), ""
        if webhook:
            beside = "\n".join(changed) if tell_news and since != snapshot.moves else ""
            try:
                message = asyncio.run(post(webhook, text, drawn, last.message if last else "", beside))
            except WebhookError as error:
                typer.echo(str(error), err=True)
                raise typer.Exit(NOT_POSTED) from None
            typer.echo("The snapshot is posted.")
        else:
            for kind, picture in drawn:
                write_whole(out / f"{kind}.png", picture.png)
            typer.echo(text)
        memory.keep(snapshot, message)
