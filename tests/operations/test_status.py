"""What the operator sees of a running service."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import aiohttp
import discord
import pytest
from aiohttp.test_utils import TestClient, TestServer
from typer.testing import CliRunner

from bot.__main__ import app_for
from bot.config import parse_settings
from bot.email.delivery import MailConnection
from bot.hub.request import TableNotRunning
from bot.hub.timers import LAST_TIME
from bot.operations.logs import (
    LogFile,
    LogFormatter,
    Outages,
    PromptNotices,
    expected_in_a_sentence,
    is_not_about_voice,
    secrets_of,
)
from bot.operations.status import ErrorCounter, StatusMonitor, status_text
from bot.operations.status_server import Metrics, StatusServer, ask_status, keep_watchdog
from bot.service import Service
from mail.reply_address import TokenRedactionFilter
from storage import Channel, NewMessage, StoreError, UnitOfWork
from tests.service.conftest import ServiceHarness
from tests.service.test_isolation import execute
from tests.stores import run_sql, sqlite_only


@asynccontextmanager
async def served(
    world: ServiceHarness, data: Path, attached: Sequence[Channel] = ()
) -> AsyncIterator[ErrorCounter]:
    """A status server for the service, with its socket in the folder."""
    errors, metrics = ErrorCounter(), Metrics()
    world.service.on_command = metrics.record_command
    server = StatusServer(StatusMonitor(world.service, attached, errors), metrics, data, None)
    running = asyncio.ensure_future(server.run())
    try:
        await asyncio.wait_for(server.started.wait(), 30)
        yield errors
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def page(data: Path, name: str) -> tuple[int, str]:
    connector = aiohttp.UnixConnector(str(data / "railpost.sock"))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.get(f"http://railpost/{name}") as response,
    ):
        return response.status, await response.text()


async def invoke(*words: str) -> tuple[int, str]:
    """`railpost status` with these words: its exit status, and what it prints."""
    result = await asyncio.to_thread(CliRunner().invoke, app_for(["status"]), ["status", *words])
    return result.exit_code, result.output


async def test_14_8_the_status_says_what_there_is(world: ServiceHarness, tmp_path: Path) -> None:
    async with served(world, tmp_path, ["discord"]) as errors:
        world.service.report_connection("discord", "connected")
        errors.handle(logging.makeLogRecord({"levelno": logging.ERROR, "msg": "it went wrong"}))
        report = await ask_status(tmp_path)
        assert report is not None and report.is_healthy
        assert [(each.name, each.state) for each in report.connections] == [("discord", "connected")]
        assert (report.tables, report.tables_in_memory) == ({"running": 1}, 1)
        assert (report.errors, report.last_error, report.process) == (1, "it went wrong", os.getpid())
        assert await page(tmp_path, "health") == (200, "healthy\n")
        assert (tmp_path / "railpost.sock").stat().st_mode & 0o777 == 0o600
    assert await ask_status(tmp_path) is None


async def test_14_8_a_port_or_socket_that_is_taken_ends_no_service(
    world: ServiceHarness, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (tmp_path / "data" / "railpost.sock").mkdir(parents=True)
        monitor = StatusMonitor(world.service, [], ErrorCounter())
        server = StatusServer(monitor, Metrics(), tmp_path / "data", port)
        running = asyncio.ensure_future(server.run())
        await asyncio.wait_for(server.started.wait(), 30)
        running.cancel()
    told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(told) == 2 and f"the status is not served at port {port} of 127.0.0.1: " in told[1]


async def test_14_8_a_service_manager_that_is_gone_ends_no_service(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    await keep_watchdog(world.store)
    assert "the service manager cannot be told READY=1: No such file or directory" in caplog.text


async def test_14_8_health_names_each_problem(world: ServiceHarness, tmp_path: Path) -> None:
    async with served(world, tmp_path, ["discord"]):
        world.service.report_connection("discord", "away", "the connection is lost")
        async with world.store.begin() as unit:
            message = NewMessage(idempotency_key="k", channel="discord", address={}, payload=b"")
            await unit.outbox.enqueue(message)
            ago = "created_at - 3600000000"
            await run_sql(unit, f"UPDATE outbox SET created_at = {ago}, not_before = {ago}")
        status, body = await page(tmp_path, "health")
        assert status == 503 and body.splitlines() == [
            "discord is away: the connection is lost.",
            "A message to discord has waited for 60 minutes.",
        ]
        async with world.store.begin() as unit:
            await run_sql(unit, "DROP TABLE outbox")
        assert "The store cannot be read now" in (await page(tmp_path, "health"))[1]
        assert "railpost_outbox_pending{" not in (await page(tmp_path, "metrics"))[1]


@sqlite_only
async def test_health_tells_of_a_store_that_another_program_locks(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.store.LOCK_WAIT", 0.05)
    path = world.store.path
    assert path
    async with served(world, tmp_path):
        assert "railpost_outbox_pending{" in (await page(tmp_path, "metrics"))[1]
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            told = (
                503,
                "The store cannot be written now: database is locked (by another program; end that).\n",
            )
            assert await page(tmp_path, "health") == told
            other.execute("ROLLBACK")
        assert await page(tmp_path, "health") == (200, "healthy\n")


async def test_a_store_that_hangs_is_told_and_asked_again(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.operations.status.STORE_ANSWERS_WITHIN", 0.01)
    answered, read = asyncio.Event(), world.store.read

    @asynccontextmanager
    async def hanging() -> AsyncIterator[UnitOfWork]:
        await answered.wait()
        async with read() as unit:
            yield unit

    monkeypatch.setattr(world.store, "read", hanging)
    async with served(world, tmp_path):
        for _ in range(2):
            status, body = await page(tmp_path, "health")
            assert (
                status == 503 and body.startswith("The store has not answered for ") and body.count("\n") == 1
            )
        answered.set()
        while (await page(tmp_path, "health"))[0] != 200:
            pass


async def test_an_answer_that_came_too_late_is_not_the_next_one(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks once a minute would else read that the store was away a minute ago."""
    answered, read = asyncio.Event(), world.store.read

    @asynccontextmanager
    async def failing() -> AsyncIterator[UnitOfWork]:
        await answered.wait()
        async with read() as unit:
            await run_sql(unit, "SELECT * FROM nowhere")
            yield unit

    async with served(world, tmp_path):
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("bot.operations.status.STORE_ANSWERS_WITHIN", 0.01)
            meanwhile.setattr(world.store, "read", failing)
            assert (await page(tmp_path, "health"))[0] == 503
        assert world.store.read == read
        answered.set()
        await asyncio.sleep(0.1)
        assert await page(tmp_path, "health") == (200, "healthy\n")


async def test_a_service_that_does_not_answer_is_not_one_that_is_not_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.operations.status_server.ASK_TIMEOUT", 0.05)
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))

    assert await invoke() == (1, "No service is running with this data folder.\n")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "railpost.sock"))
        silent.listen()
        code, told = await invoke()
        assert code == 1 and told.startswith(
            "A service is running with this data folder, and does not answer."
        )


async def test_health_tells_a_queue_that_stands_still_from_one_message(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for the end of quiet hours is not late, and one mailbox that is full is not all of them."""
    start = world.store.now()
    monitor = StatusMonitor(world.service, ["mail"], ErrorCounter())
    world.service.report_connection("mail", "connected")

    async def after(minutes: int) -> tuple[list[str], list[str]]:
        monkeypatch.setattr(world.store, "now", lambda: start + timedelta(minutes=minutes))
        async with world.store.begin() as unit:
            await unit.settings.set(LAST_TIME, world.store.now().isoformat())
        report = await monitor.report()
        return report.problems, report.degraded

    async def enqueue(key: str, not_before: datetime | None = None) -> None:
        async with world.store.begin() as unit:
            await unit.outbox.enqueue(NewMessage(key, "mail", {}, b"", not_before=not_before))

    await enqueue("quiet", start + timedelta(hours=8))
    assert await after(100) == ([], [])
    await enqueue("full")
    async with world.store.begin() as unit:
        (full,) = await unit.outbox.lease_due("mail", 1, timedelta(minutes=1))
        await unit.outbox.mark_failed(
            full.idempotency_key, "452 full", world.store.now() + timedelta(minutes=50)
        )
    late = "A message to mail has waited for 40 minutes."
    assert await after(140) == ([late], []), "nothing was sent since"
    await enqueue("other")
    async with world.store.begin() as unit:
        (other,) = await unit.outbox.lease_due("mail", 1, timedelta(minutes=1))
        await unit.outbox.mark_sent(other.idempotency_key)
    assert await after(140) == ([], [late])


async def test_health_tells_that_nothing_connects_and_nobody_keeps_time(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, monitor = world.store.now(), StatusMonitor(world.service, ["discord"], ErrorCounter())
    assert (await monitor.report()).problems == []
    monkeypatch.setattr(world.store, "now", lambda: start + timedelta(hours=1))
    clock, connection = (await monitor.report()).problems
    assert connection == "discord has not connected since the start; look at railpost.log."
    assert clock.startswith(f"What is due at a time was not done since {start:%Y-%m-%d %H:%M} UTC.")


async def test_a_backlog_and_messages_given_up_are_told(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.operations.status.BACKLOG", 2)
    async with served(world, tmp_path, ["discord"]):
        async with world.store.begin() as unit:
            for number in range(5):
                message = NewMessage(idempotency_key=f"k{number}", channel="mail", address={}, payload=b"")
                await unit.outbox.enqueue(message)
        for key in ("k0", "k1", "k2"):
            async with world.store.begin() as unit:
                await unit.outbox.mark_failed(key, "gone", None)
        report = await ask_status(tmp_path)
        assert report is not None and report.is_healthy and report.verdict == "degraded"
        waiting, given_up = (re.sub(r"\d+-\d+-\d+ \d+:\d+", "NOW", each) for each in report.troubles)
        assert waiting == "2 messages to mail wait, the first since NOW UTC."
        assert given_up == "3 messages to mail were given up since NOW UTC."
        assert (await page(tmp_path, "health"))[0] == 200


async def test_14_8_mail_is_attached_when_the_mailbox_is_and_nothing_is_wrong(
    world: ServiceHarness, tmp_path: Path
) -> None:
    async with served(world, tmp_path, ["mail"]):
        attachment = MailConnection(world.service, "play@games.test at mail.test")

        async def shown() -> tuple[str, int]:
            report = await ask_status(tmp_path)
            assert report is not None
            (line,) = [line for line in status_text(report).splitlines() if line.startswith("mail: ")][:1]
            return re.sub(r" since .*? UTC", "", line), (await page(tmp_path, "health"))[0]

        assert await shown() == ("mail: configured", 200)
        attachment.report("mailbox", "")
        attachment.report("SMTP", "mail.test:465 cannot be used: no connection")
        why = "mail: away (SMTP: mail.test:465 cannot be used: no connection)"
        assert await shown() == (why, 503)
        attachment.report("SMTP", "")
        attachment.warn("fullness", "the mailbox is 95 % full")
        warned = "mail: connected (as play@games.test at mail.test, but the mailbox is 95 % full)"
        assert await shown() == (warned, 200)
        attachment.report("mailbox", "mail.test refused to log play in.")
        assert await shown() == ("mail: away (mailbox: mail.test refused to log play in.)", 503)


async def test_14_8_metrics_for_prometheus(world: ServiceHarness, tmp_path: Path) -> None:
    async with served(world, tmp_path):
        await world.say("Ann", "buy SV")
        await world.say("Ann", "buy SV")
        status, body = await page(tmp_path, "metrics")
    lines = body.splitlines()
    assert status == 200
    assert 'railpost_commands_total{result="Completed",transport="terminal"} 1.0' in lines
    assert 'railpost_commands_total{result="LineRefused",transport="terminal"} 1.0' in lines
    assert 'railpost_tables{status="running"} 1.0' in lines
    assert 'railpost_outbox_pending{channel="mail"} 0.0' in lines
    assert "railpost_command_seconds_count 2.0" in lines and "railpost_healthy 1.0" in lines


@sqlite_only
async def test_14_8_the_command_prints_the_status(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    alone = await asyncio.to_thread(CliRunner().invoke, app_for(["status"]), ["status"])
    assert (alone.stdout, alone.stderr) == ("", "No service is running with this data folder.\n")
    async with served(world, tmp_path):
        code, told = await invoke()
        assert code == 0 and "tables: 1 running; 1 in memory, 0 MB" in told and told.endswith("healthy\n")
        assert json.loads((await invoke("--json"))[1])["tables"] == {"running": 1}
        assert await invoke("--health") == (0, "healthy\n")


async def test_14_a_table_that_cannot_be_read_is_named_and_is_no_reason_for_a_restart(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`railpost status` ends with 1, as there is something to do, and the health check with 0."""
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    await world.say("Ann", "buy SV")
    code = (await world.service.queries.table_info(world.table)).code
    await execute(
        world.store, "UPDATE moves SET format_version = 99 WHERE table_id = :table", table=world.table
    )
    told = f"1 table cannot be read, and all others are played: {code}."

    async with served(world, tmp_path):
        world.service = Service(world.store)
        assert isinstance(await world.say("Bob", "log"), TableNotRunning)
        assert await page(tmp_path, "health") == (200, f"{told}\n")
        assert "railpost_tables_unreadable 1.0" in (await page(tmp_path, "metrics"))[1].splitlines()
        ended, text = await invoke()
        assert ended == 1 and text.splitlines()[-2:] == [told, "degraded"]
        assert await invoke("--health") == (0, f"{told}\n")
        assert (await invoke("--json"))[0] == 1
        await execute(
            world.store, "UPDATE moves SET format_version = 1 WHERE table_id = :table", table=world.table
        )
        await world.service.queries.log(world.table)
        assert await page(tmp_path, "health") == (200, "healthy\n")


async def forever() -> None:
    await asyncio.Event().wait()


async def test_14_the_status_says_who_stands_by(world: ServiceHarness, tmp_path: Path) -> None:
    standby = Service(world.store)
    attachment = MailConnection(standby, "play@games.test at mail.test")
    tasks = [
        asyncio.ensure_future(world.service.jobs.lead(job, [job], forever)) for job in ("discord", "mailbox")
    ]
    while len(world.service.jobs.all) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    names = {
        "discord": lambda: standby.report_connection("discord", "standing by"),
        "mailbox": attachment.standing_by,
    }
    tasks += [
        asyncio.ensure_future(standby.jobs.lead(job, [job], forever, tell)) for job, tell in names.items()
    ]
    while len(standby.jobs.all) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    texts = [
        status_text(await StatusMonitor(each, ["discord", "mail"], ErrorCounter()).report())
        for each in (world.service, standby)
    ]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert "\njobs of this process: discord, mailbox\n" in texts[0] and "stands by" not in texts[0]
    assert "\nstands by for: discord, mailbox\n" in texts[1] and "jobs of" not in texts[1]
    assert "\ndiscord: standing by since" in texts[1] and "\nmail: standing by since" in texts[1]
    assert "(another process reads the mailbox, and this one sends)" in texts[1]


async def test_14_the_older_of_two_services_is_found_when_the_newer_has_ended(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.operations.status_server.SOCKET_INTERVAL", 0.05)
    async with served(world, tmp_path) as older:
        async with served(world, tmp_path) as newer:
            newer.count, older.count = 2, 1
            for _ in range(4):
                await asyncio.sleep(0.05)
                assert (found := await ask_status(tmp_path)) and found.errors == 2
        async with asyncio.timeout(120):
            while (found := await ask_status(tmp_path)) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert found.errors == 1
        assert (tmp_path / "railpost.sock").stat().st_mode & 0o777 == 0o600


async def test_14_8_one_line_of_the_log_for_each_move(
    world: ServiceHarness, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bot.hub.hub"):
        await world.say("Ann", "buy SV")
        await world.say("Ann", "buy SV")
        await world.say("Bob", "status")
    (told,) = [record.getMessage() for record in caplog.records if record.name == "bot.hub.hub"]
    code = (await world.service.queries.table_info(world.table)).code
    assert told.startswith(f"table {code}, row 2: buy SV (terminal, ")


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("railpost", logging.WARNING, "", 1, message, arguments, None)


@pytest.mark.parametrize("as_json", [False, True])
def test_14_8_no_secret_is_logged(as_json: bool) -> None:
    settings = parse_settings(
        {
            "RAILPOST_DISCORD_TOKEN": "token-of-the-bot",
            "RAILPOST_IMAP": "imaps://play%40example.org:imap-password@mail.example.org",
            "RAILPOST_SMTP": "smtps://play:x@mail.example.org",
            "RAILPOST_SMTP_PASSWORD": "",
            "RAILPOST_MAIL_SECRET": "m" * 40,
            "RAILPOST_DATABASE": "postgresql+psycopg://railpost:db-password@127.0.0.1/railpost",
        }
        | {}
    )
    formatter = LogFormatter(secrets_of(settings), as_json=as_json)
    secrets = ("token-of-the-bot", "imap-password", "m" * 40, "db-password")
    for secret in secrets:
        told = formatter.format(record("login of %s failed", f"user:{secret}@host"))
        assert secret not in told and "user:***@host" in told
    try:
        raise ValueError("bad token-of-the-bot")
    except ValueError as error:
        failed = record("failed")
        failed.exc_info = (type(error), error, error.__traceback__)
    assert "token-of-the-bot" not in formatter.format(failed)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("password", ['say "friend"', "back\\slash", "p%40ss/w:rd"])
def test_a_secret_with_characters_that_are_escaped_is_not_logged(as_json: bool, password: str) -> None:
    """Escapes of JSON, of a URL and of Python hide a secret from a search, and not from a reader."""
    settings = parse_settings({
        "RAILPOST_IMAP": "imaps://ann@mail.test", "RAILPOST_SMTP": "smtps://ann@mail.test",
        "RAILPOST_IMAP_PASSWORD": password, "RAILPOST_SMTP_PASSWORD": password,
        "RAILPOST_MAIL_ADDRESS": "ann@mail.test",
        "RAILPOST_DATABASE": f"postgresql+psycopg://ann:{quote(password, safe='')}@host/name",
    })  # fmt: skip
    formatter = LogFormatter(secrets_of(settings), as_json=as_json)
    for text in (password, quote(password, safe=""), repr(password)[1:-1]):
        told = formatter.format(record("login with %s failed", f"({text})"))
        told = json.loads(told)["message"] if as_json else told
        assert told.endswith("login with (***) failed")


def test_calls_that_nobody_makes_are_not_warned_of() -> None:
    """The sentences are discord.py's, see `discord/client.py`."""
    said = (Path(discord.__path__[0]) / "client.py").read_text()
    assert "voice will NOT be supported" in said
    assert not is_not_about_voice(record("%s is not installed, voice will NOT be supported", "PyNaCl"))
    assert is_not_about_voice(record("logging in using static %s", "token"))


def test_an_outage_is_one_line_a_minute() -> None:
    now = [0.0]
    outages = Outages(lambda: now[0])

    def logged(text: str) -> list[str]:
        one = record("the robots of %s wait: %s", "table ABC", text)
        return [one.getMessage() for _ in range(2) if outages(one)]  # two handlers ask

    away = "The store cannot be read now: the database does not answer; please try again in a moment."
    first = logged(away)
    assert len(first) == 2 and first[0] == first[1]
    assert first[0].endswith("(the same is not said again for a minute)")
    assert not logged(away) and len(logged("the disk is full")) == 2
    now[0] += 60
    assert len(logged(away)) == 2


def test_14_8_the_last_error_in_the_status_has_no_secret() -> None:
    errors = ErrorCounter(["imap-password"])
    errors.handle(logging.makeLogRecord({"levelno": logging.ERROR, "msg": "user:imap-password@host\nmore"}))
    assert errors.last == "user:***@host"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreError("The disk is full."), "mail: it failed: The disk is full."),
        (OSError(errno.ENOSPC, "No space left"), "mail: it failed: [Errno 28] No space left"),
        (ExceptionGroup("", [StoreError("The disk is full.")]), "mail: it failed: The disk is full."),
        (ExceptionGroup("", [StoreError("Full."), ValueError("a mistake")]), "mail: it failed"),
    ],
)
def test_14_a_fault_that_is_expected_is_a_sentence_in_the_log(error: Exception, said: str) -> None:
    failed = record("mail: %s failed", "it")
    failed.exc_info = (type(error), error, None)
    assert expected_in_a_sentence(failed)
    failed.created, failed.msecs = 1767268800.5, 500
    told = LogFormatter().format(failed)
    assert told.startswith("2026-01-01 12:00:00,500Z ")
    assert told.splitlines()[0].endswith(said) and ("a mistake" in told) == (len(told.splitlines()) > 1)


def test_14_a_log_that_the_disk_does_not_take_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    log = LogFile(Path("/dev/full"))
    for _ in range(3):
        log.handle(record("a line"))
    assert capsys.readouterr().err == "/dev/full cannot be written: [Errno 28] No space left on device.\n"
    with suppress(OSError):
        log.close()


def test_what_the_operator_has_to_put_right_stands_above_the_prompt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notices = PromptNotices()
    for name in ("for the operator", "bot.hub"):
        notices.handle(logging.LogRecord(name, logging.ERROR, "", 1, "from %s", (name,), None))
    assert capsys.readouterr().out == "from for the operator\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_14_8_no_token_of_a_reply_address_is_logged_in_a_traceback(as_json: bool) -> None:
    token = "abcdefghijklmnopqrstuvwxyz"
    error = ValueError(f"no mail for play+{token}@games.test")
    failed = record("failed")
    failed.exc_info = (type(error), error, None)
    assert TokenRedactionFilter().filter(failed)
    assert token not in LogFormatter(as_json=as_json).format(failed)


def test_14_8_json_logs_have_a_line_each() -> None:
    told = LogFormatter(as_json=True).format(record("two\nlines"))
    assert "\n" not in told
    fields = json.loads(told)
    assert (fields["level"], fields["message"]) == ("warning", "two\nlines")


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of systemd."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.bind(str(tmp_path / "notify"))
        made.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield made


async def test_14_8_the_watchdog_of_systemd_hears_that_the_store_answers(
    world: ServiceHarness, manager: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep_watchdog(world.store)
    monkeypatch.setenv("WATCHDOG_USEC", "3000")
    watched = asyncio.ensure_future(keep_watchdog(world.store))
    heard = [await asyncio.to_thread(manager.recv, 100) for _ in range(4)]
    watched.cancel()
    assert heard == [b"READY=1", b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]


async def test_14_8_the_watchdog_restarts_nothing_while_the_store_is_away(
    world: ServiceHarness,
    manager: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A start would fail then, and who presses a button would read nothing at all."""

    async def away(_: int) -> object:
        raise StoreError("The database does not answer.")

    monkeypatch.setattr(world.store, "table_version", away)
    monkeypatch.setenv("WATCHDOG_USEC", "3000")
    watched = asyncio.ensure_future(keep_watchdog(world.store))
    heard = [await asyncio.to_thread(manager.recv, 100) for _ in range(3)]
    watched.cancel()
    assert heard == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
    told = [each.name for each in caplog.records if each.getMessage() == "The database does not answer."]
    assert told == ["for the operator"]


async def test_the_port_serves_this_machine_only(world: ServiceHarness, tmp_path: Path) -> None:
    server = StatusServer(StatusMonitor(world.service, [], ErrorCounter()), Metrics(), tmp_path, None)
    async with TestClient(TestServer(server.application())) as client:
        for page_name in ("/health", "/status", "/metrics"):
            assert (await client.get(page_name)).status == 200
            assert (await client.get(page_name, headers={"Host": "localhost:9618"})).status == 200
            assert (await client.get(page_name, headers={"Host": "[::1]:9618"})).status == 200
            for headers in ({"Host": "evil.example"}, {"X-Forwarded-For": "10.0.0.1"}):
                assert (await client.get(page_name, headers=headers)).status == 403
