"""`/me orders` with the real client: buttons and forms for the commonest orders, seen by nobody else."""

from __future__ import annotations

from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord


async def test_orders_by_buttons_and_forms(started: RunningBot, fake: FakeDiscord) -> None:
    shown = await fake.run_command("Bob", "general", "me orders", table=started.table_code)
    assert "You have left no orders at this table." in shown.text
    card = shown.private_messages[-1]
    opened = await fake.click("Bob", card, "Bid up to…")
    assert opened.modal is not None
    await fake.submit_modal("Bob", opened.modal, {"Bid up to": "BO up to 260"})
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


async def test_who_only_passes_in_a_stock_round_presses_once(started: RunningBot, fake: FakeDiscord) -> None:
    """*Auto pass* is on the card; its answer is seen by nobody else, and later turns need no ping."""
    await started.play_lines(
        "Ann: bid BO 225", "Bob: buy SV", "Cid: buy CS", "Ann: buy DH", "Bob: buy MH", "Cid: buy CA",
        "Ann: par B&O 67", "Ann: pass",
    )  # fmt: skip
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
    opened = await fake.click("Bob", card, "An order…")
    assert opened.modal is not None
    await fake.submit_modal("Bob", opened.modal, {"An order": "auto bid BO up to 200"})
    await fake.wait_until(lambda: "The least bid for the BO is $225" in card.text, "the reason")
