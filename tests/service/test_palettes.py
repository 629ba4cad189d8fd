"""The palette of a table's pictures, and a person's own."""

from __future__ import annotations

import pytest

from bot.hub.info import stored_palette
from bot.hub.request import LineRefused, QueryAnswer
from tests.service.conftest import ServiceHarness
from tests.service.test_lobby import table_with_players


async def test_players_choose_the_palette_of_their_table(world: ServiceHarness) -> None:
    said = await world.say("Bob", "palette")
    assert isinstance(said, QueryAnswer) and said.text.endswith("are light.")
    said = await world.say("Bob", "palette Dark")
    assert isinstance(said, QueryAnswer) and said.text.endswith("are dark.")
    assert (await world.service.queries.table_info(world.table)).palette == "dark"
    noted = (await world.service.queries.log(world.table))[-1]
    assert noted.sentences == ("Bob chooses dark pictures for the table.",)
    again = await world.say("Ann", "palette dark")
    assert isinstance(again, LineRefused) and again.reason.endswith("are dark already.")
    unknown = await world.say("Ann", "palette blue")
    assert isinstance(unknown, LineRefused) and "there are `light` and `dark`" in unknown.reason


async def test_a_palette_in_the_lobby_and_only_for_members(empty: ServiceHarness) -> None:
    table = await table_with_players(empty, "Ann", "Bob")
    stranger = await empty.person("Dan")
    with pytest.raises(ValueError, match="its host, or a player"):
        await empty.service.lobby.set_palette(table, "dark", by=stranger)
    info = await empty.service.lobby.set_palette(table, "dark", by=empty.people["Bob"])
    assert (info.palette, info.status) == ("dark", "lobby")
    assert (await empty.service.lobby.start(table, by=empty.people["Ann"])).palette == "dark"


async def test_a_person_sees_their_own_palette_or_that_of_the_table(world: ServiceHarness) -> None:
    service, ann = world.service, world.people["Ann"]
    await world.say("Bob", "palette dark")
    info = await service.queries.table_info(world.table)
    assert [await service.settings.palette(info, reader) for reader in (None, ann)] == ["dark", "dark"]
    await world.say("Ann", "settings palette light")
    assert [await service.settings.palette(info, reader) for reader in (None, ann)] == ["dark", "light"]
    await world.say("Ann", "settings palette as the table")
    assert await service.settings.palette(info, ann) == "dark"


def test_a_palette_of_a_later_version_is_light_here() -> None:
    assert [stored_palette(name) for name in ("dark", "light", "sepia")] == ["dark", "light", "light"]
