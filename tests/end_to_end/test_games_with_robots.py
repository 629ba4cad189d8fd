"""Games of two people and two robots: on Discord and by mail at one table, and in the terminal.

The people decide as a robot does that thinks little, and say it on their own transport: with the controls of
their cards, by replies to emails, or at the prompt. The robots move by themselves.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import engine
from bot.features.robots.robot import LEAST_EFFORT, Robot
from bot.features.robots.worker import RobotMove, RobotWorker, decide_now
from bot.position.pending import engine_seat
from bot.service import Service
from bot.terminal.console import Console
from storage import open_store
from tests.end_to_end.mail_players import MailHarness, MailPlayer, attached, copied, headline, settings_for
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.scripted_player import ScriptedPlayer, make_players
from tests.fake_discord.server import FakeDiscord
from tests.mail.servers import pymap_server, smtp_server

Say = Callable[[int, str], Awaitable[None]]
"""A person in a seat says a line."""

WHOLE_GAMES = [
    pytest.param(title, 100_000, marks=[pytest.mark.soak, pytest.mark.timeout(3600)], id=title)
    for title in engine.title_names()
]
BEGUN = [pytest.param(title, 12, id=f"{title} begun") for title in engine.title_names()]
ORDER = ("Ann", "Robot", "Bob", "Robot 2")


@pytest.fixture(autouse=True)
def quick_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots decide in this process, and think little."""

    async def decide(worker: RobotWorker, state: engine.State, seat: str, seed: int) -> RobotMove | None:
        found = decide_now(engine.encode_state(state), seat, seed, LEAST_EFFORT)
        return RobotMove(*found) if found else None

    monkeypatch.setattr(RobotWorker, "decide", decide)


async def play_on(service: Service, table_id: int, say: Say, moves: int) -> engine.State:
    """Play until the game is over, or the people have made so many moves; the position then."""
    people = {seat: Robot(seat + 100, LEAST_EFFORT) for seat, name in enumerate(ORDER) if "Robot" not in name}
    for _ in range(moves):
        await service.robots.play(table_id)
        view = await service.queries.view(table_id)
        assert view.state is not None
        if view.state.game_over:
            break
        seat = next(each.seat for each in view.pending if each.seat in people)
        action = people[seat].choose_action(view.state, engine_seat(seat))
        await say(seat, engine.format_action(view.state, action))
    view = await service.queries.view(table_id)
    assert view.state is not None
    return view.state


async def check_moves(service: Service, table_id: int, state: engine.State, moves: int) -> None:
    """Everybody has moved, on their own transport, and a whole game is over."""
    log = await service.queries.log(table_id)
    made = {row.seat for row in log if row.kind == "move"}
    assert made == set(range(len(ORDER)))
    if moves > 1_000:
        assert state.game_over
        assert (await service.queries.table_info(table_id)).status == "finished"


# -- Discord and mail ------------------------------------------------------------------------


@asynccontextmanager
async def discord_and_mail(folder: Path, title: str) -> AsyncIterator[tuple[RunningBot, MailPlayer]]:
    """Ann on Discord opens a table and invites Bob by mail and two robots; Bob agrees by a reply."""
    async with FakeDiscord(["Ann"]) as fake, pymap_server() as mailbox, smtp_server() as smtp:
        running = RunningBot(fake, folder / "railpost.db")
        async with running.online() as service:
            office = MailHarness(service, service.store, settings_for(folder, mailbox, smtp), mailbox, smtp)
            async with attached(office, running.pictures):
                await fake.run_command("Ann", "general", "table new", title=title)
                await fake.wait_until(lambda: fake.messages_with_controls("general"), "the lobby card")
                text = fake.messages_with_controls("general")[-1].text
                running.table_code = text.split("Table ", 1)[1].split(" ", 1)[0]
                bob = office.player("Bob")
                await fake.run_command("Ann", "general", "table invite", address=bob.address, name="Bob")
                await bob.email()
                assert "You have a seat" in (await bob.answered("yes")).text
                for robot in ("Robot", "Robot 2"):
                    done = await fake.run_command("Ann", "general", "table invite", robot=True)
                    assert f"{robot} joins table" in done.text
                    asked = await bob.email()
                    assert headline(asked) == "May a robot play?"
                    assert copied(asked, "To agree, reply with") == ["yes"]
                    assert "takes its seat" in (await bob.answered("yes")).text
                done = await fake.run_command("Ann", "general", "table start", order=", ".join(ORDER))
                assert "begins" in done.text, done.text
                await fake.wait_until(lambda: fake.threads, "the thread")
                yield running, bob


@pytest.mark.parametrize(("title", "moves"), [pytest.param("1830", 6, id="begun"), *WHOLE_GAMES])
async def test_by_discord_and_mail(tmp_path: Path, title: str, moves: int) -> None:
    async with discord_and_mail(tmp_path, title) as (running, bob):
        service = running.service
        table_id = (await service.queries.find_table(running.table_code)).id
        thread = running.thread
        ann: ScriptedPlayer = make_players(
            running.fake, ["Ann"], thread, lambda: service.queries.view(table_id)
        )["Ann"]

        async def say(seat: int, line: str) -> None:
            if ORDER[seat] == "Ann":
                await ann.play_line(line)
                return
            await bob.until_asked()
            receipt = await bob.answered_in_time(line)
            assert headline(receipt) == "OK: all lines were carried out.", receipt.text

        state = await play_on(service, table_id, say, moves)
        await check_moves(service, table_id, state, moves)
        if state.game_over:
            await running.fake.wait_until(
                lambda: "The game is over" in running.fake.last_message(thread).text, "the end on Discord"
            )


# -- the terminal ----------------------------------------------------------------------------


@pytest.mark.parametrize(("title", "moves"), [*BEGUN, *WHOLE_GAMES])
async def test_in_the_terminal(tmp_path: Path, title: str, moves: int) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        service = Service(store)
        console = Console(service, tmp_path)
        made = await console.handle_line(f"table new {title} Ann, robot, Bob, robot")
        assert made.tone == "good", made.text
        started = await console.handle_line("table start")
        assert "Ann, Robot, Bob and Robot 2" in started.text
        table_id = console.table_id
        assert table_id is not None

        async def say(seat: int, line: str) -> None:
            reply = await console.handle_line(f"{ORDER[seat]}: {line}")
            assert reply.tone != "bad", reply.text

        state = await play_on(service, table_id, say, moves)
        await check_moves(service, table_id, state, moves)
