"""The command line: `railpost` runs the service with its terminal; each sub-command does one thing."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from bot.config import PREFIX, Settings, SettingsError, check_database, load_settings

if TYPE_CHECKING:
    from bot.operations.status import ErrorCounter
    from bot.pictures.workers import PictureWorkers
    from bot.service import Service
    from bot.terminal.console import Console

log = logging.getLogger("railpost")

RunTransport = Callable[["Service", Settings, "PictureWorkers | None"], Coroutine[None, None, None]]
BeginTable = Callable[["Console"], Awaitable[str]]
"""Makes the first table of a terminal session; the text to greet with."""

# Sub-commands in modules of their own, which are imported only when they are used.
LAZY_COMMANDS = {
    "import": "bot.cli.import_games",
    "export": "bot.cli.export",
    "render": "bot.cli.render",
    "replay": "bot.cli.replay",
    "review": "bot.cli.review",
    "snapshot": "bot.cli.snapshot",
    "check-mail": "bot.cli.check_mail",
    "host": "bot.email.hosts",
    "simulate": "bot.tools.simulation.simulate",
    "bench": "bot.tools.benchmark",
    "check": "bot.operations.check",
    "arena": "bot.tools.arena.command",
    "status": "bot.cli.status",
    "invite-link": "bot.discord.invite_link",
}


SERVICE_OPTIONS = {"--role": 2, "--shards": 2, "--new": 1, "--stay": 1}
"""Options of the service itself, and of how many words each is."""
NO_RETRY = 2
"""The exit status of what no later attempt can help: a wrong setting, a damaged store, a newer Railpost's."""

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command line, with the sub-command that these words name, or with all for help and errors."""
    while words and words[0] in SERVICE_OPTIONS:
        words = words[SERVICE_OPTIONS[words[0]] :]
    own = {info.name or (info.callback.__name__ if info.callback else "") for info in app.registered_commands}
    word = next((word for word in words if not word.startswith("-")), None)
    if not words or word in own:
        return app
    for name in [word] if word in LAZY_COMMANDS else LAZY_COMMANDS:
        app.command(name)(import_module(LAZY_COMMANDS[name]).command)
    return app


# -- the service -----------------------------------------------------------------------------


def create_data_folder(settings: Settings) -> None:
    """Create the data folder, and make it private. Raises SettingsError if it cannot be used."""
    from bot.operations.backups import FOLDER_MODE, make_private

    try:
        settings.data.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        make_private(settings.data)
    except OSError as error:
        why = f"{settings.data} cannot be used as a folder: {error.strerror}."
        raise SettingsError(f"RAILPOST_DATA: {why}") from None


@asynccontextmanager
async def open_service(settings: Settings, *, allows_new: bool = False) -> AsyncIterator[Service]:
    """The service with the store and the picture workers of the settings.

    allows_new: also an empty store, or another one, beside backups of a former one; else InvalidStore.
    """
    from bot.hub.people import PrivacySettings
    from bot.operations.check import check_pages, naming_a_backup
    from bot.operations.store_watch import accept_store, check_start
    from bot.pictures.workers import PictureWorkers
    from bot.service import Service
    from storage import open_store

    conventions = settings.table_conventions
    options = () if conventions == "rulebook" else (f"conventions {conventions}",)
    if (path := settings.store_path) and not allows_new:
        check_start(path, settings.data)
    with naming_a_backup(settings.data):
        opened = await open_store(settings.database_url)
    async with opened as store:
        await check_pages(store, settings.data, at_start=True)
        if store.path and allows_new:
            await accept_store(store, settings.data)
        with PictureWorkers() as pictures:
            pictures.card_files = settings.card_pictures
            yield Service(
                store,
                default_options=options,
                ping_holdoff=settings.ping_holdoff,
                keep_megabytes=settings.keep,
                pictures=pictures,
                robot_seconds=settings.robot_seconds,
                watched_sites=settings.watch_sites.replace(",", " ").split(),
                privacy=PrivacySettings(
                    settings.privacy_url or "",
                    settings.game_keep_days,
                    settings.log_keep_days,
                    settings.data,
                    has_mailbox=settings.mail is not None,
                ),
            )


class CommandError(Exception):
    """The command cannot be carried out; the message is a sentence for the operator."""


class ShutdownRequested(Exception):
    """The service was asked to end."""


def wait_to_be_stopped() -> None:
    """Wait for SIGTERM or SIGINT. Docker restarts a container whatever the status is, so it must not end."""
    stops = (signal.SIGTERM, signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    print("No restart helps: Railpost waits to be stopped.", file=sys.stderr, flush=True)
    signal.sigwait(stops)


async def wait_for_shutdown() -> None:
    """Wait for SIGTERM, or for SIGINT if no prompt catches it. Raises ShutdownRequested."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    await stop.wait()
    raise ShutdownRequested


TRANSPORT_MODULES = {"discord": "bot.discord.client", "mail": "bot.email.delivery"}
TRANSPORT_NAMES = {"discord": "Discord", "mail": "mail"}


async def import_aside(module: str) -> ModuleType:
    """Import a module on another thread: what is imported at a start would else stop the event loop for
    half a second."""
    return await asyncio.to_thread(import_module, module)


NO_TRANSPORT_MESSAGE = (
    "Railpost ends, because neither Discord nor mail is configured. Set RAILPOST_DISCORD_TOKEN, or "
    "RAILPOST_IMAP and RAILPOST_SMTP, in the environment or in .env."
)


async def run_terminal(service: Service, settings: Settings, begin: BeginTable | None) -> bool:
    """Run the prompt, or read the lines of standard input; True if `quit` was entered."""
    prompt = await import_aside("bot.terminal.prompt")
    from bot.terminal.console import Console

    console = Console(service, settings.data, service.pictures)
    greeting = await begin(console) if begin else await console.open_latest()
    is_prompt = sys.stdin is not None and sys.stdin.isatty()
    show = prompt.print_wrapped if is_prompt else partial(print, flush=True)
    if greeting:
        show(greeting)
    if sys.stdin is None or sys.stdin.closed:
        return False
    if not is_prompt:
        return bool(await prompt.run_stdin(console))
    print("Railpost. `help` lists the commands, `quit` ends.", flush=True)
    if offer := await console.practice_offer():
        show(offer)
    return bool(await prompt.run_prompt(console))


async def run_transport(transport: str, service: Service, settings: Settings, *, is_only: bool) -> None:
    """Run a transport. One that cannot run with its settings ends alone, unless it is the only one."""
    run: RunTransport = (await import_aside(TRANSPORT_MODULES[transport])).run
    exempt_modules_from_gc()
    try:
        await run(service, settings, service.pictures)
    except SettingsError as error:
        if is_only:
            raise
        name = TRANSPORT_NAMES[transport]
        why = str(error).rstrip(".")
        service.report_connection(transport, "away", f"{name} is off until the next start, because {why}")
        log.error("%s is off until the next start; everything else goes on. %s", name, error)


async def run_operations(service: Service, settings: Settings, errors: ErrorCounter | None) -> None:
    """Everything that goes on beside the transports (`bot.operations.background`)."""
    run = (await import_aside("bot.operations.background")).run_operations
    await run(service, settings, errors)


async def serve(
    settings: Settings,
    begin: BeginTable | None = None,
    errors: ErrorCounter | None = None,
    *,
    allows_new: bool = False,
) -> None:
    """Run the service until it is asked to end. Every task runs in this task group."""
    transports = settings.transports
    async with open_service(settings, allows_new=allows_new) as service:
        exempt_modules_from_gc()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(wait_for_shutdown())
                tasks.create_task(service.run(does_work="work" in settings.role))
                tasks.create_task(run_operations(service, settings, errors))
                has_terminal = sys.stdin is not None and sys.stdin.isatty()
                for transport in transports:
                    is_only = len(transports) == 1 and not has_terminal
                    tasks.create_task(run_transport(transport, service, settings, is_only=is_only))
                quit = await run_terminal(service, settings, begin)
                if quit or (settings.does_everything and not transports):
                    if not quit:
                        print(NO_TRANSPORT_MESSAGE, flush=True)
                    raise ShutdownRequested
                names = " and ".join(TRANSPORT_NAMES[each] for each in transports) or "what is due at a time"
                print(f"The terminal is closed; the service goes on with {names}.", flush=True)
        except* ShutdownRequested:
            pass


def run_service(
    begin: BeginTable | None = None,
    given: Mapping[str, str] | None = None,
    *,
    allows_new: bool = False,
    must_serve: bool = False,
) -> None:
    """Read the settings and run the service. given: settings from the command line. allows_new: as in
    `open_service`. must_serve: to have neither Discord nor mail is a wrong setting."""
    from bot.operations.logs import configure_logging, secrets_of
    from bot.operations.status import ErrorCounter

    settings = load_settings(given=given)
    if must_serve and settings.does_everything and not settings.transports:
        raise SettingsError(NO_TRANSPORT_MESSAGE)
    create_data_folder(settings)
    errors = ErrorCounter(secrets_of(settings))
    to_stderr = not sys.stdin.isatty() if sys.stdin else True
    try:
        configure_logging(settings, to_stderr=to_stderr, more=[errors])
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from error
    gc.disable()  # a tenth of a start went into looking for garbage among modules; `serve` enables it again
    asyncio.run(serve(settings, begin, errors, allows_new=allows_new))


def print_version(wanted: bool) -> None:
    """Print the version and end, where it is asked."""
    if wanted:
        typer.echo(f"railpost {version('railpost')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def service(
    ctx: typer.Context,
    role: Annotated[
        str | None,
        typer.Option(help="What this process does, of several at one database: discord,mail,work; or all."),
    ] = None,
    shards: Annotated[
        str | None, typer.Option(help="The shards of Discord that this process serves: 0-3/16.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Begin with a new store, although there are backups of another.")
    ] = False,
    stay: Annotated[
        bool, typer.Option("--stay", help="Where no restart helps, wait to be stopped: for containers.")
    ] = False,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True)
    ] = False,
) -> None:
    """Play 18xx on Discord, by email and in this terminal. Without a command: run the service and its
    prompt."""
    given = {"RAILPOST_ROLE": role, "RAILPOST_SHARDS": shards}
    if ctx.invoked_subcommand is None:
        settings = {name: value for name, value in given.items() if value}
        managed = stay or "NOTIFY_SOCKET" in os.environ  # by Docker or systemd, without anybody at a terminal
        code = run_command(partial(run_service, given=settings, allows_new=new, must_serve=managed))
        if stay and code == NO_RETRY:
            wait_to_be_stopped()
        raise typer.Exit(code)
    if role or shards or new or stay:
        *first, last = SERVICE_OPTIONS
        raise typer.BadParameter(f"{', '.join(first)} and {last} are for the service itself, not a command.")


HOW_TO_GET_HINTS = "`hint` is off at this table; `--option hints` at the start allows it."


@app.command()
def play(
    title: Annotated[str, typer.Argument(help="The title to play.")],
    players: Annotated[str, typer.Option(help="Names, in seating order: Ann,Bob,robot.")],
    option: Annotated[list[str] | None, typer.Option(help="An optional rule; may be repeated.")] = None,
    seed: Annotated[int | None, typer.Option(help="Shuffle the seating from this seed.")] = None,
) -> None:
    """Start a table in this terminal; its players share the prompt."""
    from bot.hub.seating import robots_of

    async def begin(console: Console) -> str:
        options = "".join(f" option {each}" for each in option or ())
        try:
            info = await console.tables.new_table(f"{title} {players}{options}")
            order = None if seed is not None else [p.name for p in info.seated_players]
            await console.service.lobby.start(info.id, by=None, order=order, seed=seed)
        except ValueError as error:
            raise CommandError(str(error)) from error
        reply = await console.handle_line("show turn")
        seating = ", ".join((await console.service.queries.table_info(info.id)).names)
        asked = [] if info.hints or not robots_of(info) else [HOW_TO_GET_HINTS]
        return "\n".join([f"Table {info.code}: {seating}.", *asked, reply.text])

    run_service(begin)


# -- backups ---------------------------------------------------------------------------------


@app.command()
def backup(path: Annotated[Path, typer.Argument(help="A new file.")]) -> None:
    """Copy the store to a file and the mail secret beside it. The service may be running."""
    from bot.operations.backups import back_up

    settings = load_settings()
    secret = asyncio.run(back_up(settings.database_url, settings.data, path))
    typer.echo(f"Backup written to {' and '.join(str(file) for file in (path, secret) if file)}.")


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(help="A file that `backup` made.")],
) -> None:
    """Replace the store with a backup and keep the former store. The service may be running."""
    from bot.operations.backups import restore_mail_secret
    from storage import restore as restore_store

    settings = load_settings()
    create_data_folder(settings)
    former = asyncio.run(restore_store(path, settings.database_url))
    restore_mail_secret(path, settings.data)
    typer.echo("Restored." + (f" The former store is in {former}." if former else ""))


@app.command()
def migrate() -> None:
    """Create the store, or migrate it to the newest schema."""
    from storage import open_store

    settings = load_settings()
    create_data_folder(settings)

    async def open_once() -> None:
        async with await open_store(settings.database_url):
            pass

    asyncio.run(open_once())
    typer.echo("The store is up to date.")


@app.command()
def move_store(
    url: Annotated[str, typer.Argument(help="An empty database: postgresql+psycopg://… or sqlite:///…")],
) -> None:
    """Copy the store into another database and compare every row. Stop the service before."""
    from pydantic import SecretStr

    from storage import move_store

    try:
        check_database(SecretStr(url))
    except ValueError as error:
        raise CommandError(f"The address of the new database {error}.") from None
    counts = asyncio.run(move_store(load_settings().database_url, url))
    typer.echo(
        f"Copied and compared: tables {counts['game_tables']:,}, moves {counts['moves']:,}, "
        f"people {counts['people']:,}, rows in all {sum(counts.values()):,}.\n"
        f"Now set {PREFIX}DATABASE to the new address and start the service. The former store is as it was: "
        "keep it until you are content, and start no service with it."
    )


# -- the entry point -------------------------------------------------------------------------


def print_error(text: str, code: int) -> int:
    """Print to standard error; the exit code."""
    print(text, file=sys.stderr)
    return code


def run_command(command: Callable[[], object]) -> int:
    """Run a command and print a sentence for any error; the exit code."""
    try:
        command()
    except KeyboardInterrupt:
        return print_error("Stopped.", 130)
    except Exception as error:
        return _report_failure(error)
    return 0


def _flatten(error: Exception) -> list[Exception]:
    """The single exceptions of a group, or the exception itself."""
    if isinstance(error, ExceptionGroup):
        return [leaf for part in error.exceptions for leaf in _flatten(part)]
    return [error]


REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
"""Why a file cannot be used that is no fault of ours: no right to it, or no room on its disk."""


def _report_failure(error: Exception) -> int:
    """Print expected errors as sentences; log the traceback of any other; the exit code."""
    from storage import InvalidStore, NewerStore, StoreError

    errors = _flatten(error)
    if all(isinstance(each, BrokenPipeError) for each in errors):  # whoever read has gone
        return 1
    if all(isinstance(each, SettingsError | InvalidStore | NewerStore) for each in errors):
        return print_error("\n".join(map(str, errors)), NO_RETRY)
    if all(isinstance(each, StoreError | CommandError) for each in errors):
        return print_error("\n".join(map(str, errors)), 1)
    refused = [each for each in errors if isinstance(each, OSError) and each.errno in REFUSED]
    if len(refused) == len(errors):
        told = [f"{each.filename or 'A file'} cannot be used: {each.strerror}." for each in refused]
        return print_error("\n".join(told), 1)
    try:
        path = load_settings().data / "railpost.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not any(isinstance(h, logging.FileHandler) for h in logging.getLogger().handlers):
            logging.getLogger().addHandler(logging.FileHandler(path, encoding="utf-8"))
        for handler in [h for h in logging.getLogger().handlers if not isinstance(h, logging.FileHandler)]:
            logging.getLogger().removeHandler(handler)
        log.error("unexpected error", exc_info=error)
        details = f"the traceback is in {path}"
    except (OSError, SettingsError):
        details = "the log file could not be written"
    return print_error(f"Unexpected error ({type(errors[0]).__name__}); {details}.", 1)


GC_THRESHOLDS = 10_000, 20, 20
"""Thresholds of the three generations of the garbage collector."""


def exempt_modules_from_gc() -> None:
    """Exempt everything loaded so far from garbage collection, and collect less often.

    Modules live as long as the process. Searching them for garbage takes a third of the time of a replay, and
    stops every table of a service for 80 ms.
    """
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()


def main() -> None:
    """The command `railpost`."""

    def command() -> None:
        logging.getLogger("stamina").setLevel(logging.ERROR)  # the code that tries again says why
        command_line = app_for(sys.argv[1:])
        exempt_modules_from_gc()
        command_line(prog_name="railpost")

    sys.exit(run_command(command))


if __name__ == "__main__":
    main()
