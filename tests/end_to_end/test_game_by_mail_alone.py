"""A game of 1830 by three players with nothing but mail programs: from `new` to the final email.

The SMTP server asks for a login. Whole games are a soak, with a mailbox of Dovecot, which tells of each mail
half a second late.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

import engine
from tests.end_to_end.mail_players import MailHarness, MailPlayer, Server, headline, served
from tests.end_to_end.test_tables_by_mail import sent
from tests.end_to_end.test_whole_games import LONGEST, GameToPlay, beginning_of, broken_bank, early_end
from tests.mail.servers import dovecot_server, pymap_server

DOVECOT = partial(dovecot_server, "play")


async def seated(office: MailHarness, game: GameToPlay) -> list[MailPlayer]:
    """The first player opens the table and confirms the address; the others join by a reply; it starts."""
    host, *guests = players = [office.player(name) for name in game.names]
    named = ", ".join(f"{guest.name} <{guest.address}>" for guest in guests)
    assert headline(await sent(host, f"new {game.title} {named}")) == "Did you ask for a table?"
    assert headline(await host.said("yes")) == "OK."
    for guest in guests:
        await guest.email()
        assert "You have a seat" in (await guest.said("yes")).text
        told = "Start the game?" if guest is guests[-1] else f"{guest.name} has joined"
        assert told in (await host.email()).text
    await host.reply("start")
    begun = {headline(await host.email()), headline(await host.email())}
    assert begun == {"OK.", f"It is your turn, {host.name}."}
    for guest in guests:
        assert headline(await guest.email()) == "The game begins."
    return players


async def test_from_new_to_the_first_operating_turns(tmp_path: Path) -> None:
    await played_by_mail(tmp_path, beginning_of("1830", 3, 17, 48), pymap_server)


@pytest.mark.soak
@pytest.mark.dovecot
@pytest.mark.timeout(900)
async def test_from_new_to_the_final_email(tmp_path: Path) -> None:
    await played_by_mail(tmp_path, early_end())


@pytest.mark.soak
@pytest.mark.dovecot
@pytest.mark.timeout(1800)
async def test_until_the_bank_breaks(tmp_path: Path) -> None:
    await played_by_mail(tmp_path, broken_bank())


async def played_by_mail(folder: Path, game: GameToPlay, server: Server = DOVECOT) -> None:
    """Open a table by email, play the game and compare how it stands, also in the final emails."""
    hosts = {"RAILPOST_MAIL_HOSTS": "anyone"}
    async with served(folder, server, environment=hosts, login=("post", "secret")) as office:
        players = await seated(office, game)
        (table,) = await office.service.queries.list_tables()
        for seat, group in groupby(game.lines, key=lambda said: said.seat):
            lines = [said.line for said in group]
            for start in range(0, len(lines), LONGEST):
                view = await office.service.queries.view(table.id)
                if view.decision_id_of(seat) is not None:
                    await players[seat].until_asked()
                receipt = await players[seat].answered_in_time(*lines[start : start + LONGEST])
                assert headline(receipt) == "OK: all lines were carried out.", receipt.text
        view = await office.service.queries.view(table.id)
        assert view.state is not None
        scores = engine.standings(view.state)
        assert tuple(scores[seat] for seat in view.state.seats) == game.scores
        if not game.over:
            return
        for player in players:
            async with asyncio.timeout(60):
                while " with $" not in headline(player.inbox[-1]):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            for name, dollars in zip(game.names, game.scores, strict=True):
                assert f"{name} ${dollars:,}" in player.inbox[-1].text
        assert (await office.service.queries.table_info(table.id)).status == "finished"
        assert await office.mailbox.count("INBOX") == 0
