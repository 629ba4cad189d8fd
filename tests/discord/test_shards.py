"""Shards over several processes: each guild has one, which keeps its tables; another takes over."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from bot.config import Settings, SettingsError, Shards, parse_settings
from bot.discord.sessions import SessionStarts, guild_shards_of, job_names
from storage import Store, open_store
from tests.end_to_end.fork_server import ForkServer
from tests.fake_discord.running_bot import bot_process
from tests.fake_discord.server import FakeDiscord
from tests.storage.conftest import ManualClock, new_message
from tests.stores import needs_server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


POSTGRESQL = {"RAILPOST_DATABASE": "postgresql+psycopg://railpost@127.0.0.1/railpost"}


def settings(**given: str) -> Settings:
    return parse_settings(
        {"RAILPOST_DISCORD_TOKEN": "token"} | POSTGRESQL | {f"RAILPOST_{k}": v for k, v in given.items()}
    )


@pytest.mark.parametrize(
    ("text", "shards"), [("0-3/16", Shards(0, 3, 16)), ("4/16", Shards(4, 4, 16)), ("0/1", Shards(0, 0, 1))]
)
def test_shards_are_a_setting(text: str, shards: Shards) -> None:
    assert settings(SHARDS=text).shards == shards


@pytest.mark.parametrize("text", ["16", "3-1/16", "0-16/16", "a/b", "1,2/4"])
def test_shards_that_cannot_be_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(SettingsError, match="RAILPOST_SHARDS should look like 0-3/16"):
        settings(SHARDS=text)


def test_each_shard_is_a_job() -> None:
    assert job_names(None) == ["discord"]
    assert job_names(Shards(2, 3, 16)) == ["discord-2-of-16", "discord-3-of-16"]


async def test_14_11_a_process_takes_the_messages_of_its_guilds_only(
    address: str, clock: ManualClock
) -> None:
    async with await open_store(address, clock) as store:
        guilds = [None, 5 << 22, 6 << 22 | 77, 7 << 22]
        async with store.begin() as unit:
            for number, guild in enumerate(guilds):
                table = await unit.tables.add("1830", "t")
                if guild is not None:
                    await unit.tables.update(table.id, location={"guild": guild})
                await unit.tables.update(table.id, status="running")
                message = new_message(f"g{number}", channel="discord", table_id=table.id)
                await unit.outbox.enqueue(message, new_message(f"no table {number}", channel="discord"))
        taken = []
        for shards in (Shards(0, 0, 4), Shards(1, 1, 4), Shards(2, 3, 4)):
            own = guild_shards_of(shards)
            async with store.begin() as unit:
                due = await unit.outbox.next_due_at("discord", own)
                leased = await unit.outbox.lease_due("discord", 20, timedelta(seconds=9), shards=own)
                assert (due is None) == (not leased)
                taken.append(sorted(m.idempotency_key for m in leased if m.table_id is not None))
                others = [m for m in leased if m.table_id is None]
                assert len(others) == (4 if shards.first == 0 else 0)
            async with store.read() as unit:
                assert len(await unit.tables.ids("running", shards=own)) == len(taken[-1])
        assert taken == [["g0"], ["g1"], ["g2", "g3"]]


class Limits:
    """The part of Discord's API that says how many sessions may be started."""

    def __init__(self, *remaining: int, at_once: int = 1) -> None:
        self.remaining, self.at_once, self.asked = list(remaining), at_once, 0

    async def get_bot_gateway(self) -> tuple[int, str, dict[str, Any]]:
        self.asked += 1
        left = self.remaining.pop(0) if len(self.remaining) > 1 else self.remaining[0]
        return 1, "", {"remaining": left, "reset_after": 1000, "max_concurrency": self.at_once}


async def test_14_11_sessions_of_all_processes_start_five_seconds_apart(
    address: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds=seconds)

    monkeypatch.setattr("bot.discord.sessions.sleep", sleep)
    async with await open_store(address, clock) as store, await open_store(address, clock) as other:
        for each, shard in ((store, 0), (other, 1), (store, 2)):
            await SessionStarts(each).wait(Limits(9), shard)  # type: ignore[arg-type]
        assert waits == [5.0, 5.0]
        waits.clear()
        clock.advance(seconds=60)
        for each, shard in ((store, 0), (other, 1), (other, 16)):
            await SessionStarts(each).wait(Limits(9, at_once=16), shard)  # type: ignore[arg-type]
        assert waits == [5.0], "shards 0 and 16 share a turn, 0 and 1 do not"
        waits.clear()
        limits = Limits(0, 0, 1)
        await SessionStarts(store).wait(limits, 3)  # type: ignore[arg-type]
        assert waits[:2] == [1.0, 1.0] and limits.asked == 3


# -- processes -------------------------------------------------------------------------------


async def open_table(fake: FakeDiscord, channel: str) -> None:
    """Ann opens a table; the process with the shard answers, and posts the card."""
    answer = await fake.run_command("Ann", channel, "table new", title="1830")
    assert answer.delivered and "Table" in answer.text, answer.text
    await fake.wait_until(lambda: fake.messages_with_controls(channel), f"the card in {channel}")


async def cards_in_store(store: Store) -> int:
    async with store.read() as unit:
        tables = await unit.tables.find()
        return sum([len(await unit.tables.cards(table.id)) for table in tables])


@needs_server
@pytest.mark.timeout(240)
async def test_14_11_processes_share_the_shards_and_one_takes_over(
    database: str, forks: ForkServer, tmp_path: Path
) -> None:
    def folder(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    def of_shard(number: int) -> dict[str, str]:
        return {"RAILPOST_DATABASE": database, "RAILPOST_SHARDS": f"{number}/2"}

    async with FakeDiscord(["Ann", "Bob"], channels=["general"]) as fake:
        first = (fake.guild_id >> 22) % 2
        fake.open_guild("Others", "elsewhere", guild_id=(fake.guild_id >> 22) + 1 << 22)
        async with (
            bot_process(forks, fake, folder("one"), of_shard(first)) as one,
            bot_process(forks, fake, folder("two"), of_shard(1 - first)),
        ):
            await fake.wait_until(
                lambda: fake.gateway.identified == 2 and fake.commands, "a session of each shard"
            )
            starts = fake.gateway.identified_shards
            assert {shard for shard, _ in starts} == {0, 1}
            assert abs(starts[0][1] - starts[1][1]) > 4.5, "sessions are not started faster than allowed"
            await open_table(fake, "general")
            await open_table(fake, "elsewhere")
            async with bot_process(forks, fake, folder("three"), of_shard(first)):
                one.kill()
                await one.wait()
                killed_at = monotonic()
                await fake.wait_until(lambda: fake.gateway.identified == 3, "the process that stood by")
                assert fake.gateway.identified_shards[-1][0] == first
                # That process has begun with the kill, too; a lock is had a second after its holder's end.
                assert monotonic() - killed_at < 60
                fake.gateway.drop_dead_sessions()
                before = len(fake.messages_with_controls("general"))
                await fake.run_command("Bob", "general", "table new", title="1830")
                await fake.wait_until(
                    lambda: len(fake.messages_with_controls("general")) > before, "another card"
                )
                async with await open_store(database) as store, asyncio.timeout(60):
                    while await cards_in_store(store) < 3:  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
        assert len(fake.messages_with_controls("elsewhere")) == 1
        assert not fake.repeated_sends and not fake.problems
