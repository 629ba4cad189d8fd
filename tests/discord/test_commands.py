"""The slash commands as Discord registers them: where they are offered, in which language, what they show."""

from __future__ import annotations

import json
import runpy
from typing import Any

import pytest

from bot.discord.slash import translations
from tests.discord.test_ending import before_the_last_move
from tests.fake_discord import limits
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord


def command(fake: FakeDiscord, name: str) -> dict[str, Any]:
    return next(each for each in fake.commands if each["name"] == name)


def localized(part: dict[str, Any]) -> list[dict[str, Any]]:
    """A command with all its options."""
    return [part, *(each for option in part.get("options", ()) for each in localized(option))]


async def test_every_command_is_offered_in_german(started: RunningBot, fake: FakeDiscord) -> None:
    for each in fake.commands:
        for part in localized(each):
            assert part["name_localizations"]["de"] and part["description_localizations"]["de"]
            limits.check_text(part["name_localizations"]["de"], 1, 32, "name")
            assert part["name_localizations"]["de"].islower()
            limits.check_text(part["description_localizations"]["de"], 1, 100, "description")
            names = [option["name_localizations"]["de"] for option in part.get("options", ())]
            assert len(names) == len(set(names)), names


def test_the_language_file_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is missing, and nothing is left of commands that are gone; the tool prints what there is."""
    runpy.run_module("bot.tools.translation", run_name="__main__")
    assert set(translations()["de"]) == set(json.loads(capsys.readouterr().out))


async def test_where_commands_are_offered(started: RunningBot, fake: FakeDiscord) -> None:
    """In servers and direct messages; one's own turns wherever one is, for who has installed the app."""
    assert command(fake, "table")["contexts"] == [0, 1] and command(fake, "table")["integration_types"] == [0]
    assert command(fake, "me")["contexts"] == [0, 1, 2] and command(fake, "me")["integration_types"] == [0, 1]


async def test_ones_own_turns_are_told_in_a_server_without_the_bot(
    started: RunningBot, fake: FakeDiscord
) -> None:
    elsewhere = fake.open_channel("elsewhere", guild_id=fake.ids())
    done = await fake.run_command("Ann", elsewhere, "me turns")
    assert started.table_code in done.text and not done.public_messages
    assert started.table_code not in (await fake.run_command("Dan", elsewhere, "me turns")).text


async def test_help_names_the_commands(started: RunningBot, fake: FakeDiscord) -> None:
    done = await fake.run_command("Bob", "general", "help")
    assert "/table new" in done.text and "/me turns" in done.text and not done.public_messages


async def test_show_bids_privates_trains_tiles_and_routes(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_lines("Ann: bid MH 115", "Bob: bid MH 120")
    thread = started.thread
    bids = await fake.run_command("Cid", thread, "show bids")
    assert "MH Mohawk & Hudson, $110, pays $20: Ann $115, Bob $120 leads" in bids.text
    assert "Bob $680" in bids.text, "what a bid holds back is not free"
    private = await fake.run_command("Cid", thread, "show private", name="MH")
    assert "Its owner may trade it" in private.text
    assert "2" in (await fake.run_command("Cid", thread, "show trains")).text
    assert "Tiles left" in (await fake.run_command("Cid", thread, "show tiles")).text
    tile = await fake.run_command("Cid", thread, "show tiles", tile="57")
    assert "It may lie on" in tile.text and len(fake.shown_images(tile.message)) == 2
    assert "no tile #999" in (await fake.run_command("Cid", thread, "show tiles", tile="999")).text
    assert "No company has run yet" in (await fake.run_command("Cid", thread, "show routes")).text
    offered = await fake.autocomplete("Cid", thread, "show private", option="name", typed="moh")
    assert [each.value for each in offered] == ["MH"]


async def test_who_only_types_does_not_become_a_person(started: RunningBot, fake: FakeDiscord) -> None:
    thread, dan = started.thread, str(fake.find_user("Dan").id)
    assert await fake.autocomplete("Dan", "general", "show map", option="table")
    assert await fake.autocomplete("Dan", thread, "do", option="line") == []
    assert await fake.autocomplete("Dan", thread, "show company", option="name")
    async with started.service.store.read() as unit:
        assert await unit.people.find_by_identity("discord", dan) is None


async def test_an_answer_that_is_longer_than_a_message_is_a_file_too(
    running: RunningBot, fake: FakeDiscord
) -> None:
    await before_the_last_move(running)
    async with running.online():
        done = await fake.run_command("Ann", "general", "show log", count=100)
        (file,) = done.message.attachments
        assert file.filename == "log.txt" and len(file.content.decode().splitlines()) == 100
        assert done.text.startswith("```") and done.text.endswith("…\n```")
        assert not (await fake.run_command("Ann", "general", "show log")).message.attachments
    fake.check_violations()


async def test_my_card_asks_again_and_can_be_pressed(started: RunningBot, fake: FakeDiscord) -> None:
    nothing = await fake.run_command("Bob", started.thread, "show card")
    assert "Nothing waits for you" in nothing.text and "Ann to act" in nothing.text
    again = await fake.run_command("Ann", fake.find_dm("Ann"), "show card", table=started.table_code)
    assert "Ann to act" in again.text and fake.shown_images(again.message)
    await fake.click("Ann", again.message, "Buy the SV for $20")
    await started.wait_for_card("Bob")
    assert await started.played_lines() == ["buy SV"]


async def test_a_code_says_nothing_in_another_server(started: RunningBot, fake: FakeDiscord) -> None:
    """A table is found from its server and by its members, whatever its code."""
    fake.open_guild("Strangers", "elsewhere", guild_id=fake.guild_id + (1 << 22))
    code = started.table_code
    for command, options in (("show turn", {}), ("show map", {}), ("show log", {}), ("do", {"line": "pass"})):
        refused = await fake.run_command("Dan", "elsewhere", command, table=code, **options)
        assert f"no table {code}" in refused.text or "no such table" in refused.text, (command, refused.text)
    offered = await fake.autocomplete("Dan", "elsewhere", "show map", option="table")
    assert code not in [choice.value for choice in offered]
    at_home = await fake.run_command("Dan", "general", "show turn", table=code)
    member = await fake.run_command("Bob", "elsewhere", "show turn", table=code)
    assert "Ann" in at_home.text and "Ann" in member.text


async def test_who_does_not_see_the_channel_of_a_table_reads_nothing_of_it(
    running: RunningBot, fake: FakeDiscord
) -> None:
    fake.open_channel("hall")
    fake.find_channel("general").hidden_from = [fake.find_user("Bob"), fake.find_user("Dan")]
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        code = running.table_code
        for command in ("show turn", "watch", "show log"):
            refused = await fake.run_command("Dan", "hall", command, table=code)
            assert refused.text == f"There is no table {code}."
        assert "no table" in (await fake.run_command("Dan", "hall", "show turn", table="Friday")).text
        assert code not in (await fake.run_command("Dan", "hall", "table list")).text
        assert not await fake.autocomplete("Dan", "hall", "show map", option="table")
        for seer in ("Ann", "Bob"):  # one sees the channel, the other plays
            assert "Ann to act" in (await fake.run_command(seer, "hall", "show turn", table=code)).text
            assert await fake.autocomplete(seer, "hall", "show map", option="table")
            assert code in (await fake.run_command(seer, "hall", "table list")).text


async def test_a_table_without_a_name_says_its_title_once(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online() as service:
        await fake.run_command("Ann", "general", "table new", title="1830")
        (table,) = await service.queries.list_tables()
        listed = await fake.run_command("Ann", "general", "table list")
        assert listed.text == f"**{table.code}** · 1830 · lobby · Ann"
        (offered,) = await fake.autocomplete("Ann", "general", "table start", option="table")
        assert offered.name == f"{table.code} · 1830 · lobby"


async def test_options_of_a_new_table_say_what_they_do(started: RunningBot, fake: FakeDiscord) -> None:
    """Several are chosen one after the other."""
    offered = await fake.autocomplete("Ann", "general", "table new", option="options", title="1830")
    assert any("three trains of size 6" in each.name for each in offered)
    typed = "optional_6_train, mul"
    (second,) = await fake.autocomplete(
        "Ann", "general", "table new", option="options", typed=typed, title="1830"
    )
    assert second.value == "optional_6_train, multiple_brown_from_ipo"


async def test_in_the_thread_of_a_table_a_command_is_about_that_table(
    pair: RunningBot, fake: FakeDiscord
) -> None:
    """Whatever its status: `/table pause` in the thread of a paused table paused the player's other table."""
    first = pair.thread
    code = pair.table_code
    await pair.start_game("Ann", "Cid")
    assert "is paused" in (await fake.run_command("Ann", first, "table pause")).text
    told = await fake.run_command("Ann", first, "table pause")
    assert code in told.text, told.text
    for command in ("show card", "table join", "table start"):
        told = await fake.run_command("Ann", first, command)
        assert told.text and pair.table_code not in told.text, f"{command}: {told.text}"
    refused = (await fake.run_command("Ann", first, "do", line="buy SV")).text
    assert refused == f"Table {code} is paused. `resume` lets it go on."
    elsewhere = (await fake.run_command("Ann", "general", "table pause")).text
    assert f"Table {pair.table_code} is paused." in elsewhere, "of a channel's, the pair one"
    assert [t.status for t in await pair.service.queries.list_tables()] == ["paused", "paused"]


async def test_a_table_is_found_by_its_name(started: RunningBot, fake: FakeDiscord) -> None:
    """Who types the name, and does not choose what is offered for it, need not know the code."""
    asked = {"table": "friday"}
    assert "Ann" in (await fake.run_command("Dan", "general", "show turn", **asked)).text
    first = started.table_code
    await started.open_table("Bob", host="Ann", name="Friday")
    several = (await fake.run_command("Dan", "general", "show turn", **asked)).text
    assert several == f"Several tables are named Friday: {first} and {started.table_code}. Say the code."
    none = (await fake.run_command("Dan", "general", "show turn", table="Monday")).text
    assert none == "There is no table MONDAY."


async def test_what_is_for_a_lobby_is_not_read_as_a_line_of_the_game(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """`start shuffled` is what the command says for its user, who has never written it."""
    for name in ("start", "join", "leave", "agree"):
        done = await fake.run_command("Ann", started.thread, f"table {name}")
        assert done.text == f"Table {started.table_code} is being played."


async def test_a_public_question_that_is_refused_is_answered_in_private(
    started: RunningBot, fake: FakeDiscord
) -> None:
    for place in (started.thread, fake.dm_channel(fake.find_user("Ann"))):
        done = await fake.run_command("Ann", place, "show company", name="zz", public=True)
        await fake.wait_until(lambda d=done: d.private_messages, "an answer")  # type: ignore[misc]
        assert "There is no company zz" in done.text
        assert not [message for message in done.public_messages if not message.deleted]
