"""`review` at a table, while it runs and when it is over."""

from __future__ import annotations

import re

from bot.discord.cards.parts import MAX_TEXT
from bot.discord.controls.page_controls import page_card
from bot.hub.feature import Page
from bot.hub.request import LineRefused, QueryAnswer
from tests.service.conftest import ServiceHarness
from tests.service.test_ending import ending, finished


async def asked(world: ServiceHarness, line: str) -> QueryAnswer:
    answer = await world.service.ask(world.table, line, person_id=None)
    assert isinstance(answer, QueryAnswer), answer
    return answer


async def test_every_part_of_a_finished_game(empty: ServiceHarness) -> None:
    await finished(empty)
    money = await asked(empty, "review")
    assert money.picture == "review" and money.review and len(money.review.bars) == 3
    assert len(money.text.splitlines()) <= 13 and " won with $" in money.text
    assert money.review.marks and money.text.endswith(
        "More: `review turns` (the numbers in the review's chart), `review routes`, `review trains` and "
        "`review robot`."
    )
    turns = await asked(empty, "review turns")
    numbers = [int(n) for n in re.findall(r"`at (\d+) ", turns.text)]
    assert numbers == sorted(numbers) and len(numbers) == 5
    for number, picture in re.findall(r"`at (\d+) (\w+)`", turns.text):
        moment = await asked(empty, f"at {number} {picture}")
        assert moment.picture == picture and moment.encoded_state
    routes = (await asked(empty, "review routes")).text
    assert "runs, each the best possible" in routes
    laid = re.findall(r", at (\d+): #(\w+) on (\w+) by", routes)
    log = (await empty.service.cache.get(empty.table)).log
    assert laid and all(log.row(int(at)).line.startswith(f"lay {tile} {hex}") for at, tile, hex in laid)
    assert "earned" in (await asked(empty, "review trains")).text.splitlines()[0]
    assert (await asked(empty, "review robot")).text.startswith("The robot's opinion")


async def test_a_running_game_is_no_study(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    money = await asked(world, "review money")
    assert "`review turns`." in money.text and "robot" not in money.text
    assert (await asked(world, "review turns")).text == "Nothing has turned the game yet."
    for part in ("routes", "trains", "robot"):
        refused = await world.service.ask(world.table, f"review {part}", person_id=None)
        assert isinstance(refused, LineRefused) and "when the game is over" in refused.reason


async def test_an_ended_game_waits_for_nobody(world: ServiceHarness) -> None:
    await world.service.submit(world.table, None, ["end yes"], None, None)
    for question in ("status", "turn"):
        text = (await asked(world, question)).text
        assert text.endswith("The game was ended unfinished.") and "to act" not in text
    assert (await asked(world, "review turns")).text == "Nothing has turned the game."


async def test_a_table_of_practice_studies_the_running_game(world: ServiceHarness) -> None:
    async with world.service.store.begin() as unit:
        await unit.tables.update(world.table, hints=True)
    await world.say("Ann", "buy SV")
    assert (await asked(world, "review routes")).text.startswith("No company has run a train.")
    assert (await asked(world, "review robot")).text.startswith("The robot's opinion")
    assert "`review robot`" in (await asked(world, "review")).text


async def test_an_ending_tells_where_the_money_came_from(empty: ServiceHarness) -> None:
    await finished(empty)
    page = await ending(empty)
    assert page is not None
    sentences = dict(page.lists)["Review"]
    assert 2 <= len(sentences) <= 12 and "gained $" in sentences[1]
    assert sentences[-1].startswith("More: `review turns`")


def test_discord_shows_whole_sentences_up_to_its_limit() -> None:
    sentences = [f"{'word ' * 60}{number}." for number in range(20)]
    lists = [("", ["1. Ann $900"]), ("Review", [*sentences, "More: `review turns`."]), ("Last", ["Short."])]
    (card,) = page_card(1, Page("", ["The game is over."], lists), ["Ann wins."])
    shown = card["components"][0]["content"]
    assert MAX_TEXT - 310 < len(shown) <= MAX_TEXT
    first, why, place, title, *told, more, last, short = shown.splitlines()
    assert (first, why, place) == ("Ann wins.", "The game is over.", "1. Ann $900")
    assert (title, more) == ("**Review**", "- More: `review turns`.")
    assert (last, short) == ("**Last**", "- Short.")
    assert [line[2:] for line in told] == sentences[: len(told)] and told
