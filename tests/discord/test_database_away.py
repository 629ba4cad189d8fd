"""PostgreSQL is away for long: players read so, the session lives on, and two processes answer as one."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from sqlalchemy import make_url

from storage import Store, StoreError
from tests.end_to_end.fork_server import ForkServer
from tests.fake_discord.running_bot import RunningBot, bot_process
from tests.fake_discord.server import FakeDiscord
from tests.stores import needs_server, stoppable_server, url_text

AWAY = ": the database does not answer; please try again in a moment."


async def answers(store: Store) -> bool:
    try:
        return bool(await store.table_version(0))
    except StoreError:
        return False


@needs_server
@pytest.mark.parametrize("is_hung", [False, True], ids=["away", "hung"])
async def test_14_11_while_the_database_is_away_a_press_is_answered_and_the_session_lives_on(
    fake: FakeDiscord, tmp_path: Path, *, is_hung: bool
) -> None:
    with stoppable_server() as server:
        running = RunningBot(fake, tmp_path / "unused.db", address=server.address)
        async with running.online() as service:
            await running.start_game("Ann", "Bob")
            await running.wait_for_delivery()
            card, sessions = await running.wait_for_card("Ann"), fake.gateway.identified
            await asyncio.to_thread(server.freeze if is_hung else server.stop)
            told = [await fake.click("Ann", card, "Buy the SV for $20")]  # at once, and after a while
            async with asyncio.timeout(60):
                while not service.jobs.is_uncertain("discord"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            told.append(await fake.click("Ann", card, "Buy the SV for $20"))
            told.append(await running.submit_lines("Ann", "buy SV"))
            told.append(await fake.run_command("Bob", running.thread, "show map"))
            for each in told:
                await fake.wait_until(lambda each=each: AWAY in each.text, f"a sentence: {each.text}")  # type: ignore[misc]
            await asyncio.to_thread(server.thaw if is_hung else server.start)
            async with asyncio.timeout(60):
                while service.jobs.is_uncertain("discord") or not await answers(service.store):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await fake.click("Ann", card, "Buy the SV for $20")
            await running.wait_for_card("Bob")
            assert await running.played_lines() == ["buy SV"]
            assert fake.gateway.identified == sessions
    fake.check_violations()


class Wire:
    """A way to a database that can be cut: who is connected loses the connection, and nobody gets another."""

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def join(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        ends = {writer, far_writer}
        self._writers |= ends
        try:
            await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))
        finally:
            self._writers -= ends

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@needs_server
@pytest.mark.soak
@pytest.mark.timeout(240)
async def test_14_11_a_process_that_alone_is_cut_off_from_the_database_leaves_the_session_to_another(
    fake: FakeDiscord, forks: ForkServer, tmp_path: Path
) -> None:
    """Each command is answered once, by either process, and soon by the one that can."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    with stoppable_server() as server:
        url = make_url(server.address)
        assert url.host and url.port
        wire = Wire(url.host, url.port)
        await wire.join()
        sessions = fake.gateway
        first, others = (
            {"RAILPOST_DATABASE": address} for address in (url_text(url.set(port=wire.port)), server.address)
        )
        async with bot_process(forks, fake, folders[0], first):
            await fake.wait_until(lambda: sessions.identified == 1 and fake.commands, "the first")
            async with bot_process(forks, fake, folders[1], others) as second:
                opened = await fake.run_command("Ann", "general", "table new", title="1830")
                assert "Table" in opened.text
                await wire.cut()
                await fake.wait_until(lambda: sessions.identified == 2, "the second")
                commands = 0
                while len(sessions.live_sessions()) > 1:
                    asked = await fake.run_command("Ann", "general", "table list")
                    assert asked.ack_type is not None and len(asked.responses) <= 1
                    commands += 1
                    assert commands < 60, "the session of the first lives on"
                for _ in range(3):
                    asked = await fake.run_command("Ann", "general", "table list")
                    await fake.wait_until(lambda asked=asked: "1830" in asked.text, asked.text)  # type: ignore[misc]
                await wire.join()
                await fake.wait_until(lambda: not wire_is_idle(wire), "the first at the database again")
                assert sessions.identified == 2 and len(sessions.live_sessions()) == 1
                second.kill()
                await fake.wait_until(lambda: sessions.identified == 3, "the first serves again")
        await wire.cut()
    fake.check_violations(ignoring=["40060"])


def wire_is_idle(wire: Wire) -> bool:
    return not wire._writers
