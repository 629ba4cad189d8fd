"""Commands on files and tables (import, export, render, replay, review, snapshot), check-mail and status."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from bot.config import SettingsError
from storage import StoreError


@contextmanager
def errors_in_sentences() -> Iterator[None]:
    """End the command with status 1, and print a sentence, for what is wrong with its files, its words, the
    settings or the store."""
    try:
        yield
        return
    except OSError as error:
        told = f"{error.filename or 'A file'} cannot be used: {error.strerror}."
    except (ValueError, SettingsError, StoreError) as error:
        told = str(error)
    typer.echo(told, err=True)
    raise typer.Exit(1)
