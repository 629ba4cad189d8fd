"""Pictures on Discord: cards in the palette of the table, private answers in that of their reader."""

from __future__ import annotations

import engine
from bot.hub.request import QueryAnswer
from bot.pictures.views import answer_pictures
from tests.discord.test_presses import reach
from tests.drawn_here import DrawnHere
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord


async def test_cards_and_private_answers(started: RunningBot, fake: FakeDiscord) -> None:
    pictures = started.pictures
    assert isinstance(pictures, OnePixelPictures)

    async def palettes(kind: str, user: str, command: str, **options: object) -> set[str]:
        """Of the pictures of a kind that are on no card of an auction."""
        pictures.drawn.clear()
        await fake.run_command(user, started.thread, command, **options)
        return {palette for drawn, palette in pictures.drawn if drawn == kind}

    assert await palettes("map", "Ann", "show map") == {"light"}
    done = await fake.run_command("Bob", started.thread, "table palette", colors="dark")
    assert done.text.startswith(f"The pictures of table {started.table_code} are dark.")
    await started.play_lines("Ann: buy SV")
    await fake.wait_until(lambda: ("auction", "dark") in pictures.drawn, "the card of the next player")
    card = (await fake.run_command("Ann", started.thread, "me settings")).private_messages[-1]
    await fake.click("Ann", card, "Light pictures")
    await fake.wait_until(lambda: "palette light" in card.text, "the palette")
    assert await palettes("map", "Ann", "show map") == {"light"}
    assert await palettes("upgrades", "Ann", "show tiles", tile="57") == {"light"}
    assert await palettes("map", "Ann", "show map", public=True) == {"dark"}
    assert await palettes("map", "Bob", "show map") == {"dark"}
    refused = await fake.run_command("Dan", started.thread, "table palette", colors="light")
    assert "its host, or a player" in refused.text


async def test_the_turn_and_a_run_are_shown_with_their_pictures(
    started: RunningBot, fake: FakeDiscord
) -> None:
    shown = await fake.run_command("Cid", started.thread, "show turn")
    assert "Ann to act" in shown.text and len(fake.shown_images(shown.message)) == 1
    bids = await fake.run_command("Cid", started.thread, "show bids")
    assert "free" in bids.text.casefold() and len(fake.shown_images(bids.message)) == 1


async def test_routes_and_trains_have_pictures_without_a_name(
    running: RunningBot, fake: FakeDiscord, users: tuple[str, ...]
) -> None:
    """The run of the company that is to act, or of the latest; the sheet with everybody's trains."""
    await reach(running, lambda state: getattr(state.stack[-1], "step", "") == "dividend")
    async with running.online() as service:
        table = (await service.queries.find_table(running.table_code)).id
        for command in ("show routes", "show trains"):
            shown = await fake.run_command(users[2], running.thread, command)
            assert len(fake.shown_images(shown.message)) == 1, command
        view = await service.queries.view(table)
        assert view.state is not None
        company = engine.decision(view.state).company
        for asked in ("routes", f"routes {company}".lower()):
            answer = await service.ask(table, asked, person_id=None)
            assert isinstance(answer, QueryAnswer) and answer.text.startswith(f"{company}: $")
            (drawn,) = await answer_pictures(service.queries, DrawnHere(), view, answer)
            assert drawn.name == "map" and "Route 1: " in drawn.picture.alt
