"""Whole games, move by move, with the running service: half of the players on Discord, half by email.

The real Discord client is connected to the fake Discord, and its players use the controls of their cards. The
others reply to emails over real IMAP and SMTP. All play at one table, which was opened on Discord and to
which the players by email were invited by address.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

import engine
from bot.hub.request import Completed
from bot.pictures.workers import PictureWorkers
from bot.position.pending import engine_seat
from bot.service import Service
from bot.tools.simulation import random_player
from bot.tools.simulation.simulate import MAX_MOVES, SimulatedGame, simulate_game
from engine.finance.offers import without_open_offers
from engine.game_text import set_up_position
from engine.game_text.history import GameHistory
from engine.game_text.script import ScriptMove, read_script
from engine.title import SITE_CONVENTIONS
from storage import open_store
from tests.end_to_end.mail_players import MailHarness, MailPlayer, attached, headline, settings_for
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.scripted_player import ScriptedPlayer, make_players
from tests.fake_discord.server import FakeDiscord
from tests.mail.servers import pymap_server, smtp_server
from tests.site_18xx.recorded_games import replay_file

GAMES = Path(__file__).parent.parent / "games"
LONGEST = 6  # lines in one email


class GameLine(NamedTuple):
    """A line of the game and the number of its seat."""

    seat: int
    line: str


@dataclass(frozen=True)
class GameToPlay:
    """A game to play: names in seating order, options, lines, and the final worth in dollars by seat.

    `over`: it is a whole game, not a part of one.
    """

    title: str
    names: tuple[str, ...]
    options: tuple[str, ...]
    lines: tuple[GameLine, ...]
    scores: tuple[int, ...]
    over: bool = True


def site_game(path: Path) -> GameToPlay:
    """A recorded game; it must end with the recorded result."""
    replay = replay_file(gzip.decompress(path.read_bytes()))
    result = replay.file.result
    assert result is not None
    return GameToPlay(
        replay.file.title,
        tuple(replay.state.players),
        (SITE_CONVENTIONS, *replay.file.settings.optional_rules),
        tuple(GameLine(int(said.seat[1:]), said.line) for said in replay.lines),
        tuple(result[key] for key in replay.player_keys),
    )


def own_game(path: Path) -> GameToPlay:
    """A simulated game in the text form."""
    game = told_game(path.read_text(encoding="utf-8"))
    assert game.over
    return game


def told_game(text: str) -> GameToPlay:
    """A game in the text form, perhaps only its beginning."""
    script = read_script(text)
    state, said = set_up_position(script.start, script.setup), []
    for item in script.items:
        if isinstance(item, ScriptMove):
            action = engine.parse(state, item.seat, item.text)
            said.append(GameLine(int(item.seat[1:]), engine.format_action(state, action)))
            state = engine.play(state, item.seat, action).state
    scores = engine.standings(state)
    return GameToPlay(
        state.title,
        tuple(script.start.players),
        tuple(script.start.options),
        tuple(said),
        tuple(scores[seat] for seat in state.seats),
        over=state.game_over is not None,
    )


def table_game(title: str, players: int, seed: int, *, max_moves: int = MAX_MOVES) -> SimulatedGame:
    """A random game as a table lets it be played: what is offered already is not offered again, and nothing
    is said that the service makes an order."""

    def offered(state: engine.State, seat: str) -> list[engine.Option]:
        found = without_open_offers(engine.game_of(state), seat, engine.options(state, seat))
        return [each for each in found if not engine.is_secret(engine.format_action(state, each.action))]

    def asked(state: engine.State) -> engine.Decision:
        found = engine.decision(state)
        return replace(found, awaited=tuple(seat for seat in found.awaited if offered(state, seat)))

    with patch.multiple(random_player, options=offered, decision=asked):
        return simulate_game(title, players, seed, max_moves=max_moves)


def random_game(game: SimulatedGame) -> GameToPlay:
    """A random game to its end."""
    assert game.failure is None and game.state.game_over
    scores = engine.standings(game.state)
    said = tuple(GameLine(int(seat[1:]), line) for seat, line in game.lines)
    return GameToPlay(
        game.title, game.players, game.options, said, tuple(scores[seat] for seat in game.state.seats)
    )


def beginning_of(title: str, players: int, seed: int, moves: int) -> GameToPlay:
    """The first moves of a random game."""
    return told_game(table_game(title, players, seed, max_moves=moves).text)


def early_end() -> GameToPlay:
    """A whole random game of 1830 with three players that ends early, by bankruptcy."""
    games = (table_game("1830", 3, seed, max_moves=500) for seed in count(8))
    return random_game(next(game for game in games if game.state.game_over and game.state.game_over.bankrupt))


def broken_bank() -> GameToPlay:
    """A whole random game of 1830 with three players in which the bank breaks."""
    ended = ((game, game.state.game_over) for seed in count(4) if (game := table_game("1830", 3, seed)))
    return random_game(next(game for game, end in ended if end and not end.bankrupt))


@dataclass
class PlayedTable:
    """A running game on both transports."""

    running: RunningBot
    office: MailHarness
    service: Service
    id: int
    discord: dict[int, ScriptedPlayer]
    mail: dict[int, MailPlayer]

    async def said(self, seat: int, lines: Sequence[str]) -> None:
        """A player plays lines on their own transport."""
        if seat in self.discord:
            for line in lines:
                await self.discord[seat].play_line(line)
        else:
            for start in range(0, len(lines), LONGEST):
                await self._written(seat, lines[start : start + LONGEST])

    async def _written(self, seat: int, lines: Sequence[str]) -> None:
        player = self.mail[seat]
        view = await self.service.queries.view(self.id)
        if view.decision_id_of(seat) is not None:
            await player.until_asked()
        receipt = await player.answered_in_time(*lines)
        assert headline(receipt) == "OK: all lines were carried out.", receipt.text


@asynccontextmanager
async def begun(folder: Path, game: GameToPlay) -> AsyncIterator[PlayedTable]:
    """A table on Discord; every second player is invited by email and joins by a reply.

    Pictures are drawn for whole games only.
    """
    on_discord, by_mail = game.names[::2], game.names[1::2]
    async with (
        FakeDiscord(on_discord) as fake,
        pymap_server() as mailbox,
        smtp_server() as smtp,
    ):
        running = RunningBot(
            fake, folder / "railpost.db", pictures=PictureWorkers(1) if game.over else OnePixelPictures()
        )
        with running.pictures:
            async with running.online() as service:
                office = MailHarness(
                    service, service.store, settings_for(folder, mailbox, smtp), mailbox, smtp
                )
                async with attached(office, running.pictures):
                    yield await seated(running, office, service, game, on_discord, by_mail)


async def seated(
    running: RunningBot,
    office: MailHarness,
    service: Service,
    game: GameToPlay,
    on_discord: Sequence[str],
    by_mail: Sequence[str],
) -> PlayedTable:
    """Open the table with commands, buttons and replies."""
    fake, host = running.fake, on_discord[0]
    options = {"options": ", ".join(game.options)} if game.options else {}
    await fake.run_command(host, "general", "table new", title=game.title, **options)
    await fake.wait_until(lambda: fake.messages_with_controls("general"), "the lobby card")
    card = fake.messages_with_controls("general")[-1]
    running.table_code = card.text.split("Table ", 1)[1].split(" ", 1)[0]
    for name in on_discord[1:]:
        await fake.click(name, card, "Join")
    guests = {name: office.player(name) for name in by_mail}
    for name, guest in guests.items():
        done = await fake.run_command(host, "general", "table invite", address=guest.address, name=name)
        assert f"Invitations go to {name}" in done.text, done.text
        await guest.email()
        assert "You have a seat" in (await guest.answered("yes")).text
    done = await fake.run_command(host, "general", "table start", order=", ".join(game.names))
    assert "begins" in done.text, done.text
    await fake.wait_until(lambda: fake.threads, "the thread")
    table = (await service.queries.find_table(running.table_code)).id
    seats = {name: seat for seat, name in enumerate(game.names)}
    pressing = make_players(fake, on_discord, running.thread, lambda: service.queries.view(table))
    return PlayedTable(
        running, office, service, table,
        {seats[name]: player for name, player in pressing.items()},
        {seats[name]: guest for name, guest in guests.items()},
    )  # fmt: skip


async def played(folder: Path, game: GameToPlay) -> None:
    """Play the game and compare its end with the record."""
    async with begun(folder, game) as table:
        for seat, group in groupby(game.lines, key=lambda said: said.seat):
            await table.said(seat, [said.line for said in group])
        view = await table.service.queries.view(table.id)
        assert view.state is not None
        assert view.table.status == ("finished" if game.over else "running")
        scores = engine.standings(view.state)
        assert tuple(scores[engine_seat(seat)] for seat in range(len(game.names))) == game.scores
        log = await table.service.queries.log(table.id)
        open_to_all = [said for said in game.lines if not engine.is_secret(said.line)]
        assert [(row.seat, row.line) for row in log if row.kind == "move" and row.line] == open_to_all
        ways = Counter(dict.fromkeys(range(len(game.names)), 0))
        for row in log:
            if row.kind == "move" and row.seat is not None:
                ways[row.seat] += 1
        assert all(ways.values())
        if game.over:
            await told_of_the_end(table, game)
        pressed = sum((player.inputs_used for player in table.discord.values()), Counter[str]())
        assert pressed["do"] <= pressed.total() // 10, pressed
        stale = sum(player.stale for player in table.mail.values())
        assert stale <= len(game.lines) // 20, stale


async def told_of_the_end(table: PlayedTable, game: GameToPlay) -> None:
    """Everybody gets the end and the standings on their own transport."""
    fake, thread = table.running.fake, table.running.thread
    await fake.wait_until(lambda: "The game is over" in fake.last_message(thread).text, "the end on Discord")
    for player in table.mail.values():
        async with asyncio.timeout(60):
            while " with $" not in headline(player.inbox[-1]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        for name, dollars in zip(game.names, game.scores, strict=True):
            assert f"{name} ${dollars:,}" in player.inbox[-1].text


@pytest.mark.parametrize("title", engine.title_names())
async def test_a_table_takes_every_line_of_a_random_game(tmp_path: Path, title: str) -> None:
    """As a move, not as an order."""
    game = table_game(title, 3, 6, max_moves=160)
    async with await open_store(tmp_path / "railpost.db") as store:
        service = Service(store)
        table = await service.lobby.import_game(GameHistory(game.start), name=title)
        for number, (seat, line) in enumerate(game.lines):
            done = await service.submit(table.id, int(seat[1:]), [line], None, f"{number}")
            assert isinstance(done, Completed), (line, done)
        played = [(row.seat, row.line) for row in await service.queries.log(table.id) if row.kind == "move"]
    assert played == [(int(seat[1:]), line) for seat, line in game.lines]


@pytest.mark.timeout(900)
@pytest.mark.soak
@pytest.mark.parametrize("name", ["played-29133", "played-bank"])
async def test_a_recorded_game(tmp_path: Path, shared: Path, name: str) -> None:
    await played(tmp_path, site_game(shared / "games/18xx.games/1830" / f"{name}.json.gz"))


@pytest.mark.timeout(900)
@pytest.mark.soak
async def test_a_game_that_ends_early(tmp_path: Path) -> None:
    await played(tmp_path, early_end())


@pytest.mark.timeout(900)
@pytest.mark.soak
async def test_a_game_of_our_own(tmp_path: Path) -> None:
    shortest = min(GAMES.glob("1830-*.18xx"), key=lambda path: path.read_text(encoding="utf-8").count(": "))
    await played(tmp_path, own_game(shortest))
