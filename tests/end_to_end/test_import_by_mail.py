"""A game moves in by an attached file; its seats are taken by replies, and it goes on."""

from __future__ import annotations

import gzip
import json
from email.message import EmailMessage
from email.policy import SMTP

import pytest

import engine
from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine.game_text.history import history_script
from engine.site_18xx.export import export_game
from engine.title import SITE_CONVENTIONS
from tests.end_to_end.mail_players import ADDRESS, MailHarness, MailPlayer, asks, headline
from tests.mail.servers import Delivery

GZIP = "application/gzip"


def running_game(title: str) -> SimulatedGame:
    return simulate_game(title, 3, 6, (SITE_CONVENTIONS,), max_moves=40)


async def sent_with_file(
    player: MailPlayer,
    subject: str,
    text: str,
    name: str,
    content: bytes,
    kind: str = "application/json",
    number: str = "",
) -> Delivery:
    """The answer to an email with a file."""
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = f"{player.name} <{player.address}>", ADDRESS, subject
    mail["Message-ID"] = f"<import{number}.{player.address}>"
    mail.set_content(text)
    main, _, sub = kind.partition("/")
    mail.add_attachment(content, maintype=main, subtype=sub, filename=name)
    await player.office.mail(mail.as_bytes(), sender=player.address)
    return await player.email()


@pytest.mark.parametrize(
    "title", ["1830", *(pytest.param(title, marks=pytest.mark.soak) for title in ("1870", "1817"))]
)
async def test_a_running_game_of_the_site_goes_on_by_mail(office: MailHarness, title: str) -> None:
    await office.person("Cleo")
    cleo, dina, emil = (office.player(name) for name in ("Cleo", "Dina", "Emil"))
    game = running_game(title)
    content = gzip.compress(json.dumps(export_game(game.history)).encode())
    done = await sent_with_file(cleo, "A game", "import Our game", "game.json.gz", content, GZIP)
    assert headline(done) == "OK." and f"has the game: {title}" in done.text
    first, second, third = game.players
    assert "Name an open seat" in (await cleo.said("seat Nobody")).text
    assert "You play on as Cleo" in (await cleo.said(f"seat {first}", to=done)).text
    asked = await cleo.said(f"invite {second} <{dina.address}>, {third} <{emil.address}>", to=done)
    assert "Invitations go to" in asked.text
    for player, seat in ((dina, second), (emil, third)):
        offer = await player.email()
        assert headline(offer) == f"Cleo invites you to play on as {seat}."
        assert f"You play on as {seat}" in (await player.said("yes")).text
        told = await cleo.email()
        if player is dina:
            assert "has taken their seat" in told.text
        elif engine.decision(game.state).awaited == ("p0",):
            assert asks(told, "Cleo")
        else:
            assert "the game goes on" in told.text
    (table,) = await office.service.queries.list_tables()
    view = await office.service.queries.view(table.id)
    assert view.table.status == "running" and view.state and view.state.stack == game.state.stack
    players = dict(zip(view.table.names, (cleo, dina, emil), strict=True))
    acting = players[view.pending[0].name]
    await acting.until_asked()
    assert asks(acting.inbox[-1], view.pending[0].name)
    line = engine.legal_lines(view.state, f"p{view.pending[0].seat}")[0]
    assert headline(await acting.answered(line)) == "OK: all lines were carried out."


async def test_a_text_in_an_email_whose_subject_is_the_command(office: MailHarness) -> None:
    await office.person("Cleo")
    game = simulate_game("1851", 3, 2, max_moves=30)
    text = history_script(game.history).encode()
    done = await sent_with_file(office.player("Cleo"), "import", "", "game.18xx", text, "text/plain")
    assert headline(done) == "OK." and "has the game: 1851" in done.text


async def test_a_game_that_is_over_is_asked_about_by_who_has_brought_it(office: MailHarness) -> None:
    """They have no seat there: the answer named questions that were then answered with `NOT DONE`."""
    await office.person("Cleo")
    cleo = office.player("Cleo")
    text = history_script(simulate_game("1830", 2, 1).history).encode()
    done = await sent_with_file(cleo, "import", "", "game.18xx", text, "text/plain")
    assert "It is over; `show map` and `show sheet` show it, and `show review` says" in done.text
    asked = await cleo.said("show review", "words", to=done)
    assert headline(asked) == "Here is: review, words." and " won with $" in asked.text
    for line in ("pass", "say Hello"):
        assert headline(await cleo.said(line, to=done)) == "NOT DONE."


@pytest.mark.parametrize(("name", "words"), [("notes.json", "cannot be"), ("notes.doc", "Attach the game")])
async def test_what_is_no_game_is_answered_with_a_sentence(
    office: MailHarness, name: str, words: str
) -> None:
    await office.person("Cleo")
    done = await sent_with_file(office.player("Cleo"), "", "import", name, b"{hello")
    assert headline(done).startswith("NOT DONE") and "Traceback" not in done.text
    assert not await office.service.queries.list_tables()
    assert words in done.text or "not a game file" in done.text


async def test_the_host_hears_of_a_seat_that_is_taken_and_not_of_one_that_is_asked_for(
    office: MailHarness,
) -> None:
    """The second offer to a person ends the first; a yes to that one only asks for the seat."""
    await office.person("Cleo")
    cleo, dina = office.player("Cleo"), office.player("Dina")
    game = running_game("1830")
    text = json.dumps(export_game(game.history)).encode()
    done = await sent_with_file(cleo, "", "import", "game.json", text)
    offers = []
    for seat in game.players[:2]:
        assert "go to" in (await cleo.said(f"invite {seat} <{dina.address}>", to=done)).text
        offers.append(await dina.email())
    first, second = game.players[:2]
    assert f"You have asked for the seat of {first}" in (await dina.said("yes", to=offers[0])).text
    assert f"asks for the seat of {first}" in (await cleo.email()).text
    assert f"You play on as {second}" in (await dina.said("yes", to=offers[1])).text
    assert f"{second} has taken their seat" in (await cleo.email()).text
    await cleo.said("who", to=done)
    assert not [each for each in cleo.inbox if f"{first} has taken their seat" in each.text]


async def test_a_seat_is_declined_and_offered_again(office: MailHarness) -> None:
    await office.person("Cleo")
    cleo, dina = office.player("Cleo"), office.player("Dina")
    game = running_game("1830")
    text = json.dumps(export_game(game.history)).encode()
    done = await sent_with_file(cleo, "", "import", "game.json", text)
    await cleo.said(f"invite {game.players[0]} <{dina.address}>", to=done)
    await dina.email()
    assert "You have declined the seat" in (await dina.said("no")).text
    assert "has declined the seat" in (await cleo.email()).text
    assert "You play on as Cleo" in (await cleo.said(f"seat {game.players[0]}", to=done)).text
    assert (
        "Name an open seat" in (await cleo.said(f"invite {game.players[0]} <{dina.address}>", to=done)).text
    )


async def test_a_snapshot_of_a_game_that_is_played_elsewhere(office: MailHarness) -> None:
    await office.person("Cleo")
    cleo = office.player("Cleo")
    start = "title 1830\nplayers Nora, Otto\n---\nNora: buy SV\n"
    first = await sent_with_file(cleo, "snapshot", "", "game.18xx", start.encode(), "text/plain")
    assert headline(first) == "A snapshot." and "Otto to act" in first.text
    kinds = [part.get_content_type() for part in first.message.walk()]
    assert kinds.count("image/png") == 3
    assert await office.service.queries.list_tables() == []
    later = (start + "Otto: buy CS\n").encode()
    second = await sent_with_file(cleo, "snapshot", "", "g.18xx", later, "text/plain", "2")
    assert "Since the last snapshot, 1 move:" in second.text and "Otto buys the CS" in second.text
