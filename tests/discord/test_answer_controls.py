"""Answers with controls, with the real client: orders, and what a feature adds to the card of a turn."""

from __future__ import annotations

import engine
from bot.features.standing_orders.pages import PROTECTION
from bot.hub.feature import Addition, TurnPage
from bot.position.controls import Show
from tests.discord.test_presses import reach
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord


async def test_orders_by_buttons_and_forms(started: RunningBot, fake: FakeDiscord) -> None:
    shown = await fake.run_command("Bob", "general", "me orders", table=started.table_code)
    assert "You have left no orders at this table." in shown.text
    card = shown.private_messages[-1]
    await fake.fill_in("Bob", card, "Bid up to…", {"Bid up to": "BO up to 260"})
    await fake.wait_until(lambda: "1. `auto bid BO up to 260`" in card.text, "the bid")
    await fake.click("Bob", card, "Auto pass")
    await fake.wait_until(lambda: "2. `auto pass`" in card.text, "the pass")
    await started.wait_for_card("Ann")
    await fake.run_command("Ann", "general", "do", line="buy SV", table=started.table_code)
    await started.wait_for_card("Cid")
    assert await started.played_lines() == ["buy SV", "bid BO 225"]
    public = [m.text for c in fake.channels.values() for m in c.messages if m.visible_to is None]
    assert any("Bob bids $225" in text for text in public)
    assert not [text for text in public if "auto" in text or "$260" in text]
    await fake.click("Bob", card, "Take all back")
    await fake.wait_until(lambda: "Taken back" in card.text, "the orders are taken back")


async def test_only_an_answer_with_columns_has_fixed_width(started: RunningBot, fake: FakeDiscord) -> None:
    """In fixed width a phone shows the marks of a line, as in `auto pass`."""
    for line, has_columns in (
        ("auto pass", False),
        ("who", False),
        ("note Bob wants the CA.  So does Cid.", False),
        ("help", True),
    ):
        done = await started.submit_lines("Bob", line)
        assert done.text.startswith("```") == has_columns, done.text


async def test_a_question_that_is_asked_in_a_form_is_answered_alone(
    started: RunningBot, fake: FakeDiscord
) -> None:
    for asked, answer in (("help", "```"), ("export text", "Here is"), ("sheet", "")):
        done = await fake.run_command("Ann", started.thread, "me orders")
        await fake.fill_in("Ann", done.private_messages[0], "An order…", {"An order": asked})
        shown = done.private_messages[0]
        await fake.wait_until(lambda m=shown: "no orders" not in m.text, asked)  # type: ignore[misc]
        assert shown.text.startswith(answer) and bool(shown.attachments) == (asked != "help")
    fake.check_violations()


async def test_who_only_passes_in_a_stock_round_presses_once(started: RunningBot, fake: FakeDiscord) -> None:
    """*Auto pass* is on the card; its answer is seen by nobody else, and later turns need no ping."""
    await started.play_opening()
    await started.play_lines("Ann: par B&O 67", "Ann: pass")
    card = await started.wait_for_card("Bob")
    pressed = await fake.click("Bob", card, "Auto pass")
    await fake.wait_until(lambda: "It has said `pass`" in pressed.text, "the answer")
    assert not pressed.public_messages
    pings = len(fake.messages_pinging("Bob"))
    cid = await started.wait_for_card("Cid")
    early = await fake.click("Ann", cid, "Auto pass")  # whose turn it is not
    await fake.wait_until(lambda: "`auto pass`" in early.text, "the answer")
    assert not early.public_messages and await started.wait_for_card("Cid") is cid
    await started.play_lines("Cid: buy B&O from ipo")
    await started.wait_for_card("Cid")
    assert (await started.played_lines())[-4:] == ["pass", "buy B&O from ipo", "pass", "pass"]
    assert len(fake.messages_pinging("Bob")) == pings


async def test_a_wrong_order_is_explained_on_the_card(started: RunningBot, fake: FakeDiscord) -> None:
    shown = await fake.run_command("Bob", "general", "me orders", table=started.table_code)
    card = shown.private_messages[-1]
    await fake.fill_in("Bob", card, "An order…", {"An order": "auto bid BO up to 200"})
    await fake.wait_until(lambda: "The least bid for the BO is $225" in card.text, "the reason")


async def test_a_president_answers_price_protection_in_advance(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """1870 §5.9: *Protect…* on `/me orders` opens a form for the amount; another amount replaces it."""

    def of_cid(state: engine.State) -> list[str]:
        lines = [] if state.game_over else [each.line for each in engine.choices(state, "p2")]
        return [line.split()[2] for line in lines if line.startswith(PROTECTION)]

    (company,) = of_cid(await reach(running, lambda state: bool(of_cid(state)), "1870"))
    async with running.online():
        shown = await fake.run_command("Cid", "general", "me orders", table=running.table_code)
        card = shown.private_messages[-1]
        for limit in ("300", "0"):
            await fake.fill_in(
                "Cid", card, f"Protect {company} up to $…", {f"Protect {company} up to $": limit}
            )
            listed = f"1. `auto protect {company} up to {limit}`"
            await fake.wait_until(lambda: listed in card.text, "the order")  # noqa: B023
            assert "2. " not in card.text
        await fake.fill_in("Cid", card, f"Protect {company} up to $…", {f"Protect {company} up to $": "all"})
        await fake.wait_until(lambda: "all" in card.text, "the reason")
        assert f"1. `auto protect {company} up to 0`" in card.text
        await fake.click("Cid", card, "Take all back")
        await fake.wait_until(lambda: "Taken back" in card.text, "the orders are taken back")
        other = await fake.run_command("Bob", "general", "me orders", table=running.table_code)
        assert not [c for c in fake.controls(other.private_messages[-1]) if c.label.startswith("Protect")]


async def test_a_feature_adds_to_the_card_of_a_turn(started: RunningBot, fake: FakeDiscord) -> None:
    """A sentence and a button; the answer that the button shows has a form."""

    async def add(page: TurnPage) -> Addition:
        return Addition(["Do not forget your *notes*."], [Show("Notes…", "notes")])

    started.service.turn_pages.append(add)
    await started.play_lines("Ann: buy SV")
    card = await started.wait_for_card("Bob")
    assert r"Do not forget your \*notes\*." in card.text
    shown = (await fake.click("Bob", card, "Notes…")).private_messages[-1]
    assert "Your notepad here is empty." in shown.text
    await fake.fill_in("Bob", shown, "Write…", {"Write": "sell the PRR"})
    await fake.wait_until(lambda: "1. sell the PRR" in shown.text, "the note")
    other = (await fake.click("Ann", card, "Notes…")).private_messages[-1]
    assert "Your notepad here is empty." in other.text
