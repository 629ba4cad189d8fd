"""The command line: `railpost` is the service with its terminal; sub-commands do one thing each."""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib import import_module
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.config import Settings, SettingsError, load_settings

log = logging.getLogger("railpost")

RunTransport = Callable[[Any, Settings, Any], Coroutine[Any, Any, None]]

# Sub-commands that other modules bring; each is imported only when it is used.
LAZY_COMMANDS = {
    "import": "bot.cli.import_games",
    "export": "bot.cli.export",
    "replay": "bot.cli.replay",
    "simulate": "bot.simulation.simulate",
    "bench": "bot.benchmark",
}


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command line, with the sub-commands of others that these words may mean."""
    own = {info.name or (info.callback.__name__ if info.callback else "") for info in app.registered_commands}
    word = next((word for word in words if not word.startswith("-")), None)
    if not words or word in own:
        return app
    for name in [word] if word in LAZY_COMMANDS else LAZY_COMMANDS:
        app.command(name)(import_module(LAZY_COMMANDS[name]).command)
    return app


# -- the service -----------------------------------------------------------------------------


def configure_logging(settings: Settings, *, also_shown: bool) -> None:
    """Log to `railpost.log` in the data folder; to standard error too where nobody sits at a prompt."""
    form = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handlers: list[logging.Handler] = [
        RotatingFileHandler(
            settings.data / "railpost.log", maxBytes=2_000_000, backupCount=3, encoding="utf-8"
        )
    ]
    if also_shown:
        handlers.append(logging.StreamHandler())
        if not (settings.discord or settings.mail):
            handlers[-1].setLevel(logging.WARNING)
    for handler in handlers:
        handler.setFormatter(form)
    logging.basicConfig(level=settings.log_level.upper(), handlers=handlers, force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)


def create_data_folder(settings: Settings) -> None:
    """Raises SettingsError where it cannot be made or written."""
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"RAILPOST_DATA: {settings.data} cannot be made: {error.strerror}.") from None


@asynccontextmanager
async def open_service(settings: Settings, *, pictures: bool = True) -> AsyncIterator[Any]:
    """The service over the store of the settings, with its picture workers."""
    from bot.service.picture_workers import PictureWorkers
    from bot.service.service import Service
    from storage import open_store

    conventions = settings.table_conventions
    options = () if conventions == "rulebook" else (f"conventions {conventions}",)
    async with await open_store(settings.database_url) as store:
        with PictureWorkers(settings.picture_workers) as drawing:
            yield Service(
                store,
                default_options=options,
                ping_holdoff=settings.ping_holdoff,
                pictures=drawing if pictures else None,
            )


class CommandError(Exception):
    """Something that cannot be done, as a sentence for who wanted it."""


class ShutdownRequested(Exception):
    """Somebody asked the service to end."""


async def wait_for_shutdown() -> None:
    """Wait for SIGTERM, or for SIGINT where no prompt takes it. Raises Stopped."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    await stop.wait()
    raise ShutdownRequested


def configured_transports(settings: Settings) -> dict[str, RunTransport]:
    """The transports that are configured, by what they are called."""
    found: dict[str, RunTransport] = {}
    if settings.discord:
        found["Discord"] = import_module("bot.discord.client").run
    if settings.mail:
        found["mail"] = import_module("bot.email.delivery").run
    return found


NO_TRANSPORT_MESSAGE = (
    "Nothing but the terminal is attached, so this is the end. A Discord token (RAILPOST_DISCORD_TOKEN) or a "
    "mailbox (RAILPOST_IMAP and RAILPOST_SMTP) in the environment or in .env attaches Discord or mail."
)


async def run_terminal(
    service: Any, settings: Settings, begin: Callable[[Any], Awaitable[str]] | None
) -> bool:
    """The prompt, or the lines of standard input; whether `quit` was said."""
    from bot.terminal.console import Console
    from bot.terminal.prompt import run_prompt, run_stdin

    console = Console(service, settings.data, service.pictures)
    greeting = await begin(console) if begin else await console.open_latest()
    if greeting:
        print(greeting, flush=True)
    if sys.stdin is None or sys.stdin.closed:
        return False
    if not sys.stdin.isatty():
        return await run_stdin(console)
    print("Railpost. `help` lists what can be said, `quit` ends.", flush=True)
    return await run_prompt(console)


async def serve(settings: Settings, begin: Callable[[Any], Awaitable[str]] | None = None) -> None:
    """Run the service until it is told to end: the parent of every task there is."""
    transports = configured_transports(settings)
    async with open_service(settings) as service:
        exempt_modules_from_gc()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(wait_for_shutdown())
                tasks.create_task(service.run())
                for run in transports.values():
                    tasks.create_task(run(service, settings, service.pictures))
                quit = await run_terminal(service, settings, begin)
                if quit or not transports:
                    if not quit:
                        print(NO_TRANSPORT_MESSAGE, flush=True)
                    raise ShutdownRequested
                others = " and ".join(transports)
                print(f"The terminal is closed; the service goes on by {others}.", flush=True)
        except* ShutdownRequested:
            pass


def run_service(begin: Callable[[Any], Awaitable[str]] | None = None) -> None:
    """Read the settings, and serve."""
    settings = load_settings()
    create_data_folder(settings)
    configure_logging(settings, also_shown=not sys.stdin.isatty() if sys.stdin else True)
    asyncio.run(serve(settings, begin))


@app.callback(invoke_without_command=True)
def service(ctx: typer.Context) -> None:
    """Play 18xx by Discord, by mail and in this terminal. Without a command: the service and its prompt."""
    if ctx.invoked_subcommand is None:
        run_service()


@app.command()
def play(
    title: Annotated[str, typer.Argument(help="What is played.")],
    players: Annotated[str, typer.Option(help="Names, in seating order: Ann,Bob,Cid.")],
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    seed: Annotated[int | None, typer.Option(help="Shuffle the seating from this number.")] = None,
) -> None:
    """A new table in this terminal, begun at once: all play from one prompt."""

    async def begin(console: Any) -> str:
        names = [name.strip() for name in players.split(",") if name.strip()]
        try:
            info = await console.new(title, names, option or ())
            order = None if seed is not None else names
            await console.service.lobby.start(info.id, by=None, order=order, seed=seed)
        except ValueError as error:
            raise CommandError(str(error)) from error
        reply = await console.answer("show turn")
        seating = ", ".join((await console.service.table(info.id)).names)
        return f"Table {info.code}: {seating}.\n{reply.text}"

    run_service(begin)


# -- backups ---------------------------------------------------------------------------------

MAIL_SECRET = "mail-secret"


def secret_backup_path(path: Path) -> Path:
    """Where the mail secret of a backup lies."""
    return path.with_name(f"{path.name}.{MAIL_SECRET}")


@app.command()
def backup(path: Annotated[Path, typer.Argument(help="A new file.")]) -> None:
    """Copy the store to a file, while the service runs or not; the mail secret is put beside it."""
    from storage import backup as copy

    settings = load_settings()
    asyncio.run(copy(settings.database_url, path))
    secret = settings.data / MAIL_SECRET
    told = [str(path)]
    if secret.is_file():
        shutil.copyfile(secret, secret_backup_path(path))
        secret_backup_path(path).chmod(0o600)
        told.append(str(secret_backup_path(path)))
    typer.echo(f"Kept in {' and '.join(told)}.")


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(help="A file that `backup` made.")],
) -> None:
    """Put a backup in the place of the store, while the service runs or not; what was there is kept."""
    from storage import restore as put

    settings = load_settings()
    create_data_folder(settings)
    kept = asyncio.run(put(path, settings.database_url, replace=True))
    if secret_backup_path(path).is_file():
        secret = settings.data / MAIL_SECRET
        if secret.is_file() and secret.read_bytes() != secret_backup_path(path).read_bytes():
            stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
            secret.replace(secret.with_name(f"{MAIL_SECRET}.{stamp}"))
        shutil.copyfile(secret_backup_path(path), secret)
        secret.chmod(0o600)
    typer.echo("Restored." + (f" What was there is in {kept}." if kept else ""))


@app.command()
def migrate() -> None:
    """Make the store, or bring it to the newest form."""
    from storage import open_store

    settings = load_settings()
    create_data_folder(settings)

    async def once() -> None:
        async with await open_store(settings.database_url):
            pass

    asyncio.run(once())
    typer.echo("The store is up to date.")


# -- pictures --------------------------------------------------------------------------------


@app.command()
def render(
    source: Annotated[str, typer.Argument(help="A text game (FILE.18xx) or the code of a table.")],
    at: Annotated[int | None, typer.Option(help="After so many moves; otherwise as it stands.")] = None,
    map: Annotated[Path | None, typer.Option(help="Write the map here.")] = None,
    market: Annotated[Path | None, typer.Option(help="Write the stock market here.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Write the sheet of players and companies here.")] = None,
) -> None:
    """Write pictures of a position as PNG files."""
    from bot.cli.render import render_files

    wanted = {"map": map, "market": market, "sheet": sheet}
    paths = {what: path for what, path in wanted.items() if path is not None}
    if not paths:
        raise typer.BadParameter("say what to draw: --map, --market or --sheet, each with a file to write.")
    try:
        for path in render_files(load_settings(), source, at, paths):
            typer.echo(path)
    except ValueError as error:
        raise CommandError(str(error)) from error


# -- the way in ------------------------------------------------------------------------------


def print_error(text: str, code: int) -> int:
    """Sentences on standard error."""
    print(text, file=sys.stderr)
    return code


def run_command(command: Callable[[], object]) -> int:
    """Run a command; the exit code. Whatever goes wrong is told in a sentence."""
    try:
        command()
    except KeyboardInterrupt:
        return print_error("Stopped.", 130)
    except BrokenPipeError:
        return 1
    except Exception as error:
        return _report_failure(error)
    return 0


def _flatten(error: Exception) -> list[Exception]:
    """The failures in a group of them, or the one that there is."""
    if isinstance(error, ExceptionGroup):
        return [leaf for part in error.exceptions for leaf in _flatten(part)]
    return [error]


def _report_failure(whole: Exception) -> int:
    """What is foreseen is a sentence; for the rest the traceback goes into the log."""
    from storage import StoreError

    errors = _flatten(whole)
    if all(isinstance(error, SettingsError) for error in errors):
        return print_error("\n".join(map(str, errors)), 2)
    if all(isinstance(error, StoreError | CommandError) for error in errors):
        return print_error("\n".join(map(str, errors)), 1)
    try:
        path = load_settings().data / "railpost.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not any(isinstance(h, logging.FileHandler) for h in logging.getLogger().handlers):
            logging.getLogger().addHandler(logging.FileHandler(path, encoding="utf-8"))
        shown = [h for h in logging.getLogger().handlers if not isinstance(h, logging.FileHandler)]
        for handler in shown:
            logging.getLogger().removeHandler(handler)
        log.error("a failure that nobody foresaw", exc_info=whole)
        where = f"{path} says what"
    except (OSError, SettingsError):
        where = "nothing could be logged"
    return print_error(f"Something failed that should not ({type(errors[0]).__name__}); {where}.", 1)


GC_THRESHOLDS = 10_000, 20, 20
"""Objects more than before, and rounds of each kind, after which memory is looked through."""


def exempt_modules_from_gc() -> None:
    """Modules stay as long as the process: looking through them for garbage again and again is a third
    of the time of a replay, and stops every table of a service for 80 ms."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def main() -> None:
    """The command `railpost`."""

    def command() -> None:
        line = app_for(sys.argv[1:])
        exempt_modules_from_gc()
        line(prog_name="railpost")

    sys.exit(run_command(command))


if __name__ == "__main__":
    main()
