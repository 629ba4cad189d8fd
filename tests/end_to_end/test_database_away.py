"""The whole service, with Discord and mail attached, while PostgreSQL is away for long."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.end_to_end.fork_server import ForkServer
from tests.end_to_end.mail_players import asks
from tests.end_to_end.site import site
from tests.stores import needs_server, stoppable_server

AWAY = ": the database does not answer; please try again in a moment."
SECONDS_AWAY = 8.0  # seconds: several looks at every lock


@needs_server
@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_14_11_a_database_that_is_away_for_long_costs_no_move_and_no_session(
    tmp_path: Path, forks: ForkServer
) -> None:
    """The same process and session go on; what came by mail meanwhile is handled when it is back."""
    with stoppable_server() as server:
        async with site(tmp_path, server.address) as here:
            here.fake.default_timeout = 60.0
            bob = here.office.player("Bob")
            process = forks.start(tmp_path, here.settings(RAILPOST_DATABASE=server.address))
            try:
                await here.fake.wait_until(lambda: here.fake.threads and here.fake.commands, "the thread")
                thread = here.fake.threads[0]
                done = await here.fake.run_command("Ann", thread, "do", line="buy SV")
                await here.fake.wait_until(lambda: done.text.startswith("Done."), done.text)
                async with asyncio.timeout(60):
                    while not (asking := [each for each in bob.inbox if asks(each, "Bob")]):  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
                begun = (await here.view()).seq
                await asyncio.to_thread(server.stop)
                await here.office.mail(bob.written(asking[-1], "bid MH 115"), sender=bob.address)
                refused = await here.fake.run_command("Ann", thread, "do", line="pass")
                await here.fake.wait_until(lambda: AWAY in refused.text, refused.text)
                await asyncio.sleep(SECONDS_AWAY)
                refused = await here.fake.run_command("Ann", thread, "do", line="pass")
                await here.fake.wait_until(lambda: AWAY in refused.text, refused.text)
                await asyncio.to_thread(server.start)
                async with asyncio.timeout(120):
                    while (await here.view()).seq == begun:  # noqa: ASYNC110
                        await asyncio.sleep(0.5)  # Bob's mail is looked at again within a minute
                await here.fake.run_command("Ann", thread, "do", line="pass")
                async with asyncio.timeout(60):
                    while (await here.view()).seq < begun + 2:  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
                async with here.office.store.read() as unit:
                    lines = [row.line for row in await unit.move_log.rows(here.table)]
                assert [line for line in lines if line][-3:] == ["buy SV", "bid MH 115", "pass"]
                assert here.fake.gateway.identified == 1 and process.returncode is None
                said = (tmp_path / "out.txt").read_text()
                for job in ("discord", "mailbox", "clock", "robots"):
                    assert f"the database answers again, and this process still does this job: {job}" in said
                assert "Traceback" not in said, said
            finally:
                process.kill()
