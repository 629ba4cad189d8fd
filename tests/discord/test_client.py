"""The real client as users see it: every command, every kind of control, every private message."""

from __future__ import annotations

import asyncio
import gc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.discord import client as shipped
from bot.discord.controls.controls import encode_choice
from bot.hub.people import player_name
from bot.pictures.workers import PictureWorkers
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord, Message


def options(message: Message, fake: FakeDiscord, placeholder: str) -> list[str]:
    found = next(c for c in fake.controls(message) if c.label.startswith(placeholder))
    return [option.name for option in found.options]


# -- cards and controls ----------------------------------------------------------------------


async def test_a_table_from_the_lobby_to_the_first_turns(online: RunningBot, fake: FakeDiscord) -> None:
    await online.open_table("Bob", "Cid")
    begun = await fake.run_command("Ann", "general", "table start", order="Ann, Bob, Cid")
    assert "begins" in begun.text
    await online.wait_for_card("Ann")
    thread = online.thread
    assert thread.name == f"{online.table_code} · 1830 · Friday"
    assert {u.name for u in thread.members.values()} >= {"Ann", "Bob", "Cid"}
    first = fake.visible_messages(thread)[0]
    assert "Ann, Bob and Cid" in first.text and first.pinned
    card = await online.wait_for_card("Ann")
    assert "Ann to act: buy the SV for $20" in card.text
    assert fake.alt_texts(card) == ["The auction, in words."]
    await fake.click("Ann", card, "Buy the SV for $20")
    second = await online.wait_for_card("Bob")
    assert not fake.controls(card) and "✓" in card.text and "Ann buys the SV for $20" in card.text
    assert "Ann buys the SV for $20" in second.text
    assert not fake.shown_images(card), "a finished card has no pictures"
    assert await online.played_lines() == ["buy SV"]
    assert fake.messages_pinging("Ann") == [card] and fake.messages_pinging("Bob") == [second]
    fake.check_violations(pinged=["Ann", "Bob"])
    assert not fake.messages_without_nonce


async def test_a_form_asks_for_dollars(started: RunningBot, fake: FakeDiscord) -> None:
    card = await started.wait_for_card("Ann")
    done = await fake.select("Ann", card, "Bid: 5 ways", "Bid for the CS, $45 or more…")
    assert done.modal
    (field,) = done.modal.components
    assert field["description"] == "Bid for the CS, $45 or more: $45 to $800"
    assert field["component"]["value"] == "45"
    sent = await fake.submit_modal("Ann", done.modal, {"Dollars": "$1,000"})
    await fake.wait_until(lambda: sent.private_messages, "an answer")
    assert "from $45 to $800" in sent.text
    again = await fake.select("Ann", card, "Bid: 5 ways", "Bid for the CS, $45 or more…")
    await fake.submit_modal("Ann", again.modal, {"Dollars": "55"})
    await started.wait_for_card("Bob")
    assert await started.played_lines() == ["bid CS 55"]


async def test_the_write_form_plays_all_lines_or_none(started: RunningBot, fake: FakeDiscord) -> None:
    sent = await fake.fill_in(
        "Ann", await started.wait_for_card("Ann"), "Write…", {"Line": "bid MH 115; buy SV"}
    )
    await fake.wait_until(lambda: sent.private_messages, "an answer")
    assert "`buy SV`" in sent.text and await started.played_lines() == []
    await fake.fill_in("Ann", await started.wait_for_card("Ann"), "Write…", {"Line": "bid MH 115"})
    await started.wait_for_card("Bob")


async def test_an_order_beside_a_move_is_told_to_its_owner_alone(
    started: RunningBot, fake: FakeDiscord
) -> None:
    sent = await fake.fill_in(
        "Ann", await started.wait_for_card("Ann"), "Write…", {"Line": "bid MH 115; auto bid MH up to 200"}
    )
    await fake.wait_until(lambda: sent.private_messages, "an answer")
    assert "Order 1: `auto bid MH up to 200`." in sent.text
    card = await started.wait_for_card("Bob")
    assert "auto bid" not in card.text and await started.played_lines() == ["bid MH 115"]


async def test_menus_have_levels(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_opening()
    await started.play_lines("Ann: par B&O 67")
    card = await started.wait_for_card("Ann")
    par = next(c for c in fake.controls(card) if c.label.startswith("Par"))
    assert "NYC" in [option.name for option in par.options]
    menu = await fake.select("Ann", card, par.custom_id, "NYC")
    assert options(menu.message, fake, "Par")[0] == "Par the NYC at $67, for $134"
    done = await fake.select("Ann", menu.message, None, "Par the NYC at $67, for $134")
    await started.wait_for_card("Bob")
    await fake.wait_until(lambda: done.updated, "the menu to close")
    assert not fake.controls(menu.message) and "Done." in menu.message.text
    assert (await started.played_lines())[-1] == "par NYC 67"


async def test_a_player_who_acts_again_keeps_the_same_card(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_opening()
    card = await started.wait_for_card("Ann", holding="par")
    pings = len(fake.pings)
    await fake.select("Ann", card, "Par: 6 ways", "Par the B&O at $67")
    again = await started.wait_for_card("Ann", holding="or pass")
    assert again is card and len(fake.pings) == pings
    assert "Ann to act: buy, par a company, or pass." in again.text.rpartition("###")[2]
    assert len(fake.shown_images(again)) == 2


async def operating(online: RunningBot) -> Message:
    """Ann's B&O has floated and may lay track; her card."""
    await online.play_opening()
    await online.play_lines("Ann: par B&O 67")
    for _ in range(4):
        await online.play_lines("Ann: buy B&O from ipo", "Bob: pass", "Cid: pass")
    await online.play_lines("Ann: pass")
    await (
        online.wait_for_delivery()
    )  # until then her last card may be the one that is shown, and makes way for a new one
    return await online.wait_for_card("Ann", holding="track")


async def test_track_is_chosen_by_hex_and_shown_in_all_rotations(
    started: RunningBot, fake: FakeDiscord
) -> None:
    card = await operating(started)
    lay = next(c for c in fake.controls(card) if c.label.startswith("Lay"))
    assert [option.name for option in lay.options] == ["I17", "J14 Washington"]
    shown = (await fake.select("Ann", card, lay.custom_id, "I17")).message
    assert [each.filename for each in fake.shown_images(shown)] == ["ways-1.png"]
    ways = options(shown, fake, "Look closer")
    assert ways[-1].endswith(": #9 on I17, rotation 1, for $80")
    assert "**1** · #7 on I17" in shown.text
    await fake.select("Ann", card, lay.custom_id, "J14 Washington")
    assert len(options(fake.last_message(started.thread, "Ann"), fake, "Look closer")) == 1, (
        "0 and 3 lie alike"
    )
    await started.play_lines("Ann: lay 57 J14")
    again = await started.wait_for_card("Ann", holding="lays #57 on J14")
    assert again is card and (await started.played_lines())[-1] == "lay 57 J14 0"


async def test_real_pictures(fake: FakeDiscord, tmp_path: Path) -> None:
    with PictureWorkers(1) as pictures:
        running = RunningBot(fake, tmp_path / "railpost.db", pictures=pictures)
        async with running.online():
            await running.start_game("Ann", "Bob", "Cid")
            first = await running.wait_for_card("Ann")
            await fake.click("Ann", first, "Pass")
            card = await running.wait_for_card("Bob")
            shown = fake.shown_images(card)
            assert [each.filename for each in shown] == ["auction-1.png"]
            assert all(each.pixel_size and each.pixel_size[0] >= 800 for each in shown)
            assert all(len(each.content) < 400_000 for each in shown)
            assert all(alt and len(alt) > 20 for alt in fake.alt_texts(card))
            done = await fake.run_command("Cid", running.thread, "show company")
            assert fake.shown_images(done.message)
    fake.check_violations(pinged=["Ann", "Bob"])


async def test_the_library_remembers_nothing(started: RunningBot, fake: FakeDiscord) -> None:
    await fake.click("Ann", await started.wait_for_card("Ann"), "Write…")
    await started.submit_lines("Ann", "buy CS")
    await fake.click("Ann", await started.wait_for_card("Ann"), "Pass")
    await started.wait_for_card("Bob")
    clients = [each for each in gc.get_objects() if type(each) is shipped.Client and not each.is_closed()]
    stores = [each._connection._view_store for each in clients]
    assert stores and all(not s._views and not s._modals and not s._dynamic_items for s in stores)


async def test_undo_gives_the_turn_back(started: RunningBot, fake: FakeDiscord) -> None:
    await fake.click("Ann", await started.wait_for_card("Ann"), "Buy the SV for $20")
    card = await started.wait_for_card("Bob")
    await fake.click("Ann", card, "Undo")
    again = await started.wait_for_card("Ann")
    assert again.id == card.id, "the card becomes theirs in place: they know, and need no ping"
    assert any("Ann undoes" in m.text for m in fake.visible_messages(started.thread)[-3:])
    assert await started.played_lines() == []
    await fake.run_command("Ann", started.thread, "undo", what="redo")
    await started.wait_for_card("Bob")
    assert await started.played_lines() == ["buy SV"] and not fake.controls(again)


async def test_undoing_moves_of_others_needs_their_votes(started: RunningBot, fake: FakeDiscord) -> None:
    await started.submit_lines("Ann", "buy SV")
    await started.submit_lines("Bob", "pass")
    await started.wait_for_card("Cid")
    await fake.run_command("Ann", started.thread, "undo")
    await fake.wait_until(lambda: len(started.cards) == 2, "a vote beside the turn")
    vote = started.votes[0]
    wrong = await fake.click("Cid", vote, "Accept")
    await fake.wait_until(lambda: wrong.private_messages, "an answer")
    assert "you have no vote in it" in wrong.text
    await fake.click("Bob", vote, "Accept")
    await started.wait_for_card("Ann")
    assert await started.played_lines() == [] and not fake.controls(vote)
    told = [message.text for message in fake.visible_messages(started.thread)]
    assert any(
        "Bob accepts: Ann would like to undo 2 moves (Ann: buy SV; Bob: pass)." in text for text in told
    )


@pytest.mark.parametrize("is_in_list", [True, False])
async def test_a_deputy_of_two_players_votes_for_each(
    started: RunningBot, fake: FakeDiscord, is_in_list: bool
) -> None:
    """By the message of the vote, or by the list of what waits, in which the vote is twice."""
    await fake.run_command("Dan", "general", "me turns")
    await started.play_lines("Ann: pass", "Bob: pass", "Cid: buy SV", "Ann: pass", "Bob: pass")
    for name in ("Ann", "Bob"):
        line = f"away until {datetime.now(UTC) + timedelta(days=9):%Y-%m-%d} deputy Dan"
        away = await fake.run_command(name, started.thread, "me settings", line=line)
        assert "Dan plays for you until then." in away.text
    await started.service.clock.tick()
    done = await started.submit_lines("Cid", "undo")
    assert "vote" in done.text, done.text
    await started.wait_for_delivery()
    vote = started.votes[0]
    for missing in (2, 1):
        listed = (await fake.run_command("Dan", started.thread, "me turns")).private_messages[-1]
        accept = [each.custom_id for each in fake.controls(listed) if each.label == "Accept"]
        assert len(accept) == missing
        if is_in_list:
            await fake.click("Dan", listed, custom_id=accept[0])
        else:
            await fake.click("Dan", vote, "Accept")
        await started.wait_for_delivery()
    await fake.wait_until(lambda: not fake.controls(vote), "the outcome")
    assert await started.played_lines() == ["pass", "pass"]


async def test_a_poll_is_one_message(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_lines("Ann: buy SV", "Bob: pass", "Cid: pass")
    await started.wait_for_card("Ann")
    await fake.run_command("Ann", started.thread, "table end")  # as its host she may, so Bob asks
    await started.start_game("Ann", "Bob", "Cid")
    await fake.run_command("Bob", started.thread, "table end")
    await fake.wait_until(lambda: len(started.cards) == 2, "a vote beside the turn")
    vote = started.votes[0]
    assert {each.name for each in vote.pinged} == {"Ann", "Cid"} and "⏳ Cid" in vote.text
    await fake.click("Ann", vote, "Accept")
    await fake.wait_until(lambda: "✅ Ann" in vote.text, "the vote")
    await fake.click("Cid", vote, "Decline")
    await started.wait_for_card("Ann")
    await fake.wait_until(lambda: "Cid declines" in vote.text, "the outcome")
    assert "Ann accepts" in vote.text and not fake.controls(vote)


async def test_a_notification_is_one_readable_line(started: RunningBot, fake: FakeDiscord) -> None:
    """Phones show nothing of a message of components: the line comes first, the card replaces it."""
    await fake.click("Ann", await started.wait_for_card("Ann"), "Pass")
    card = await started.wait_for_card("Bob")
    bob = fake.find_user("Bob").mention
    line = f"{bob}: 1830 opening, buy the SV for $20, bid on another private, or pass, $800 · "
    assert card.history[0].content == line + started.table_code and not card.content
    assert card in fake.messages_pinging("Bob")


async def test_a_refused_plan_stays_a_plan(started: RunningBot, fake: FakeDiscord) -> None:
    """A suggestion inside a plan is tried, never played."""
    await started.wait_for_card("Ann")
    refused = await fake.run_command("Ann", started.thread, "show plan", lines="bid CS 41")
    offered = [each.label for each in fake.controls(refused.message)]
    assert offered and all(each.startswith("plan ") for each in offered)
    await fake.click("Ann", refused.message, offered[0])
    await fake.wait_until(lambda: "Standings:" in refused.message.text, "the plan")
    more = await fake.run_command("Ann", started.thread, "show plan", lines="more Bob: bid CS 41")
    assert all(each.label.startswith("plan more Bob: ") for each in fake.controls(more.message))
    assert await started.played_lines() == []


async def test_a_suggestion_is_for_the_decision_at_which_it_was_made(
    started: RunningBot, fake: FakeDiscord
) -> None:
    refused = await started.submit_lines("Ann", "bid CS 41")
    suggested = fake.controls(refused.message)[0].label
    await started.submit_lines("Ann", "buy SV")
    await fake.click("Ann", refused.message, suggested)
    await fake.wait_until(lambda: "no longer open" in refused.message.text, "an answer")
    assert await started.played_lines() == ["buy SV"]


async def test_a_refused_batch_names_its_line_and_plays_nothing(
    started: RunningBot, fake: FakeDiscord
) -> None:
    await started.play_opening()
    done = await started.submit_lines("Ann", "par B&O 67", "sell B&O 5")
    assert "Line 2, `sell B&O 5`" in done.text and "Nothing was played." in done.text
    for each in fake.controls(done.message):
        assert each.label.startswith("par B&O 67; ")
    assert "par B&O 67" not in await started.played_lines()


async def test_a_table_is_read_only_from_its_server_and_by_its_players(
    started: RunningBot, fake: FakeDiscord
) -> None:
    code = started.table_code
    assert (
        f"no table {code}"
        in (await fake.run_command("Dan", fake.find_dm("Dan"), "show map", table=code)).text
    )
    own = await fake.run_command("Bob", fake.find_dm("Bob"), "show turn", table=code)
    assert "Ann to act" in own.text
    assert "Ann to act" in (await fake.run_command("Dan", "general", "show turn", table=code)).text


async def test_a_table_in_direct_messages_promises_no_card(online: RunningBot, fake: FakeDiscord) -> None:
    done = await fake.run_command("Ann", fake.find_dm("Ann"), "table new", title="1830")
    assert "its card" not in done.text and "/table invite" in done.text


# -- private answers -------------------------------------------------------------------------


async def test_controls_of_another_player_are_refused(started: RunningBot, fake: FakeDiscord) -> None:
    card = await started.wait_for_card("Ann")
    for done in (
        await fake.click("Bob", card, "Pass"),
        await fake.click("Dan", card, "Pass"),
        await fake.select("Bob", card, "Bid: 5 ways", "Bid for the CS, $45 or more…"),
        await fake.click("Bob", card, "Write…"),
    ):
        await fake.wait_until(lambda d=done: d.private_messages, "an answer")  # type: ignore[misc]
        assert done.text == "These controls are for Ann." and not done.public_messages and done.modal is None
    assert await started.played_lines() == []


async def test_the_card_names_the_president(started: RunningBot, fake: FakeDiscord) -> None:
    card = await operating(started)
    assert "president of the B&O" in card.text
    done = await fake.click("Bob", card, custom_id=fake.controls(card)[0].custom_id)
    await fake.wait_until(lambda: done.private_messages, "an answer")
    assert done.text == "These controls are for Ann (president of the B&O)."


async def test_stale_card(started: RunningBot, fake: FakeDiscord) -> None:
    old = (await started.wait_for_card("Ann")).snapshot()
    await started.submit_lines("Ann", "buy SV")
    await started.submit_lines("Bob", "pass")
    await started.submit_lines("Cid", "pass")
    await started.wait_for_card("Ann")
    for done in (
        await fake.click("Ann", old, "Pass"),
        await fake.select("Ann", old, "Bid: 5 ways", "Bid for the MH, $115 or more…"),
    ):
        await fake.wait_until(lambda d=done: d.private_messages, "an answer")  # type: ignore[misc]
        assert "no longer open" in done.text and "Bob" in done.text and "Cid" in done.text
        assert "https://discord.com/channels/" in done.text
    assert await started.played_lines() == ["buy SV", "pass", "pass"]


async def test_a_press_on_a_table_that_has_ended(started: RunningBot, fake: FakeDiscord) -> None:
    card = (await started.wait_for_card("Ann")).snapshot()
    await fake.run_command("Ann", started.thread, "table end")  # as its host she may
    await fake.wait_until(lambda: not started.cards, "no card with controls")
    for name, label in (("Ann", "Pass"), ("Ann", "Try…"), ("Bob", "Pass")):
        done = await fake.click(name, card, label)
        await fake.wait_until(lambda d=done: d.private_messages, "an answer")  # type: ignore[misc]
        assert done.text, label
    bid = await fake.select("Ann", card, "Bid: 5 ways", "Bid for the MH, $115 or more…")
    assert bid.text == f"Table {started.table_code} is ended.", "without a link to a card that is no more"
    card.components[-1]["components"][-1]["components"][-1]["custom_id"] = "r1:1:0:0.1:c:"
    done = await fake.click("Ann", card, custom_id="r1:1:0:0.1:c:")
    await fake.wait_until(lambda: done.private_messages and done.text, "an answer")
    assert done.text == f"Table {started.table_code} is ended."
    assert await started.played_lines() == []


async def test_two_simultaneous_presses_make_one_move(started: RunningBot, fake: FakeDiscord) -> None:
    card = (await started.wait_for_card("Ann")).snapshot()
    both = await asyncio.gather(*(fake.click("Ann", card, "Pass") for _ in range(2)))
    await started.wait_for_card("Bob")
    await fake.wait_until(lambda: any(d.private_messages for d in both), "an answer to the second press")
    assert await started.played_lines() == ["pass"]


async def test_refused_unreadable_ambiguous(started: RunningBot, fake: FakeDiscord) -> None:
    refused = await started.submit_lines("Ann", "buy CS")
    assert "`buy CS`" in refused.text and not refused.public_messages
    near = [c for c in fake.controls(refused.message) if c.kind == "button"]
    assert 1 <= len(near) <= 5
    unreadable = await started.submit_lines("Ann", "bye SV")
    assert "buy SV" in [c.label for c in fake.controls(unreadable.message)]
    assert await started.played_lines() == []
    done = await fake.click("Ann", unreadable.message, "buy SV")
    await started.wait_for_card("Bob")
    await fake.wait_until(lambda: done.updated, "the private answer")
    assert "Done." in unreadable.message.text
    assert await started.played_lines() == ["buy SV"]


async def test_do_answers_queries(started: RunningBot, fake: FakeDiscord) -> None:
    assert "Ann" in (await started.submit_lines("Bob", "status")).text or fake.shown_images(
        (await started.submit_lines("Bob", "status")).message
    )
    assert "buy SV" in (await started.submit_lines("Ann", "help")).text


async def test_resign_asks_first(started: RunningBot, fake: FakeDiscord) -> None:
    asked = await started.submit_lines("Bob", "resign")
    sure = next(c for c in fake.controls(asked.message) if c.kind == "button")
    assert sure.component["style"] == 4
    await fake.click("Bob", asked.message, sure.label)
    await fake.wait_until(lambda: not started.cards, "a game that stands still")
    table = await started.service.queries.find_table(started.table_code)
    assert [s.name for s in table.seated_players] == ["Ann", "Cid"]


async def test_a_vote_stands_while_the_game_is_paused(started: RunningBot, fake: FakeDiscord) -> None:
    """Who plays on for Bob is asked while his seat is empty; that vote was not shown."""
    asked = await started.submit_lines("Bob", "resign")
    await fake.click("Bob", asked.message, fake.controls(asked.message)[0].label)
    await fake.wait_until(lambda: not started.cards, "a game that stands still")
    await started.submit_lines("Ann", "robot Bob")
    await fake.wait_until(lambda: started.cards, "the vote")
    await started.submit_lines("Ann", "pace 24h")
    await started.wait_for_delivery()
    await fake.wait_until(lambda: len(started.cards) == 2, "the second vote beside it")
    vote = next(m for m in started.cards if "Ann would like a robot to play on for Bob." in m.text)
    await fake.click("Cid", vote, "Accept")
    await fake.wait_until(lambda: not fake.controls(vote), "the outcome")
    table = await started.service.queries.find_table(started.table_code)
    assert table.status == "running" and table.names[1] == "Robot"


async def test_a_card_with_seats_that_is_posted_anew_is_in_the_channel(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """Who looks for a seat is not in the thread. Somebody has deleted the card of the lobby."""
    for message in fake.visible_messages("general"):
        await fake.delete_message(message, is_heard=False)
    asked = await started.submit_lines("Bob", "resign")
    await fake.click("Bob", asked.message, fake.controls(asked.message)[0].label)
    await fake.wait_until(lambda: fake.messages_with_controls("general"), "the card with the seat")
    (card,) = fake.messages_with_controls("general")
    assert [each.label for each in fake.controls(card)] == ["The seat of Bob"]
    await started.wait_for_delivery()
    assert not started.cards


async def test_an_open_seat_is_asked_for_and_the_host_admits(started: RunningBot, fake: FakeDiscord) -> None:
    """The card in the channel has a button for the seat; the host has two that answer."""
    asked = await started.submit_lines("Bob", "resign")
    await fake.click("Bob", asked.message, fake.controls(asked.message)[0].label)
    await fake.wait_until(lambda: fake.messages_with_controls("general"), "the card with the seat")
    done = await fake.click("Dan", fake.messages_with_controls("general")[-1], "The seat of Bob")
    await fake.wait_until(lambda: done.text, "an answer")
    assert "You have asked for the seat of Bob" in done.text
    await fake.wait_until(
        lambda: fake.messages_with_controls(fake.find_dm("Ann")), "the question to the host"
    )
    question = fake.messages_with_controls(fake.find_dm("Ann"))[-1]
    assert "Dan asks for the seat of Bob" in question.text
    await fake.click("Ann", question, "Admit")
    await fake.wait_until(lambda: fake.visible_messages(fake.find_dm("Dan")), "the answer")
    assert "You have a seat at table" in fake.visible_messages(fake.find_dm("Dan"))[-1].text
    table = await started.service.queries.find_table(started.table_code)
    assert [s.name for s in table.seated_players] == ["Ann", "Dan", "Cid"] and table.status == "running"


async def test_odd_controls_get_an_answer(started: RunningBot, fake: FakeDiscord) -> None:
    card = await started.wait_for_card("Ann")
    for custom_id in ("r1:1:0:0.1:z:", "r2:whatever", "r1:999:-:-:s:pass", "r1:1:0:0.1:s:#5.00000000",
                      "r1:1:0:0.1:m:zzz", "r1:1:0:0.1:a:nothing"):  # fmt: skip
        odd = card.snapshot()
        odd.components[-1]["components"][-1]["components"][-1]["custom_id"] = custom_id
        done = await fake.click("Ann", odd, custom_id=custom_id)
        await fake.wait_until(lambda d=done: d.private_messages and d.text, f"an answer to {custom_id}")  # type: ignore[misc]
        assert done.text
    assert await started.played_lines() == []


async def test_an_internal_error_is_reported_in_one_sentence(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(started.service, "submit", broken)
    pressed = await fake.click("Ann", await started.wait_for_card("Ann"), "Pass")
    await fake.wait_until(lambda: pressed.private_messages, "an answer")
    written = await started.submit_lines("Ann", "pass")
    for done in (pressed, written):
        assert "internal error" in done.text and "secret" not in done.text
    monkeypatch.undo()
    await started.submit_lines("Ann", "pass")
    await started.wait_for_card("Bob")


async def test_an_answer_that_is_lost_does_not_say_that_nothing_was_done(
    started: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    fake.rest.inject_fault("PATCH", "@original", 0)
    done = await started.submit_lines("Ann", "pass")
    assert done.text.startswith("Discord did not take the answer. What you wanted may be done;")
    card = await started.wait_for_card("Bob")
    fake.rest.inject_fault("POST", "^/webhooks/", 0, times=2)
    await fake.click("Ann", card, "Pass")  # no answer can be sent at all
    await fake.wait_until(lambda: caplog.text.count("could not be answered") == 3, "the lines of the log")
    assert await started.played_lines() == ["pass"]
    assert not [each for each in caplog.records if each.levelname == "ERROR"], caplog.text


async def test_a_command_of_another_version_is_answered_in_a_sentence(
    started: RunningBot, fake: FakeDiscord
) -> None:
    fake.commands = [each | {"name": "former"} if each["name"] == "do" else each for each in fake.commands]
    done = await fake.run_command("Ann", started.thread, "former", line="pass")
    assert done.text == "This command belongs to another version of Railpost. Reload Discord, then try again."


# -- commands --------------------------------------------------------------------------------


async def test_commands_are_registered(online: RunningBot, fake: FakeDiscord) -> None:
    names = {c["name"]: [o["name"] for o in c["options"]] for c in fake.commands}
    assert {"new", "join", "leave", "invite", "start", "list", "replace", "end", "export"} <= {
        *names["table"]
    }
    assert {"card", "sheet", "bids", "private", "tiles", "trains", "routes", "map", "at"} <= {*names["show"]}
    assert {"turns", "settings", "email"} <= {*names["me"]}
    assert {"do", "undo", "help"} <= set(names)


async def test_commands_are_registered_once_until_they_change(
    fake: FakeDiscord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def puts() -> int:
        return sum(method == "PUT" and path.endswith("/commands") for method, path in fake.rest.requests)

    for _ in range(2):
        async with RunningBot(fake, tmp_path / "railpost.db").online():
            assert puts() == 1
    monkeypatch.setattr("bot.discord.slash.translations", lambda: {"de": {"help": "rat"}})
    async with RunningBot(fake, tmp_path / "railpost.db").online():
        assert puts() == 2, "a changed translation is shown"


async def test_lobby(online: RunningBot, fake: FakeDiscord) -> None:
    card = await online.open_table("Bob")
    await _follows(fake, card, "2. Bob")
    again = await fake.click("Bob", card, "Join")
    assert "already sit" in again.text
    await fake.click("Bob", card, "Leave")
    await _gone(fake, card, "Bob")
    assert "1. Ann" in card.text
    not_host = await fake.click("Bob", card, "Start")
    assert "host" in not_host.text
    too_few = await fake.click("Ann", card, "Start")
    assert "players" in too_few.text
    await fake.run_command("Bob", "general", "table join", table=online.table_code, name="Robert")
    await _follows(fake, card, "2. Robert")
    done = await fake.run_command("Bob", "general", "table leave")
    assert "left" in done.text
    await fake.run_command("Bob", "general", "table join")
    assert online.table_code in (await fake.run_command("Cid", "general", "table list")).text
    await fake.click("Ann", card, "Start")
    await fake.wait_until(lambda: fake.threads, "the thread")
    await fake.wait_until(lambda: not fake.controls(card), "the lobby card without its controls")


async def test_three_of_one_name_press_join_at_once(tmp_path: Path) -> None:
    async with FakeDiscord(["Ann", "Ann!", "ANN.", "Ann?"]) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online():
            card = await running.open_table()
            pressed = await asyncio.gather(*(fake.click(each, card, "Join") for each in list(fake.users)[1:]))
            await fake.wait_until(lambda: all(each.text for each in pressed), "the answers")
            assert {each.text.partition(" as ")[2].casefold() for each in pressed} == {
                "ann 2.",
                "ann 3.",
                "ann 4.",
            }


async def test_a_host_who_leaves_hands_the_lobby_over_and_the_last_closes_it(
    online: RunningBot, fake: FakeDiscord
) -> None:
    card = await online.open_table("Bob")
    left = await fake.click("Ann", card, "Leave")
    assert "Bob is the host now." in left.text
    await _gone(fake, card, "Ann")
    assert "host" in (await fake.click("Ann", card, "Start")).text
    closed = await fake.click("Bob", card, "Leave")
    assert "closed, because nobody is left there" in closed.text
    await fake.wait_until(lambda: not fake.controls(card), "the lobby card without its controls")
    assert "The table was closed." in card.text
    await fake.wait_until(
        lambda: any("nobody is left" in each.text for each in fake.visible_messages("general")), "why"
    )


async def _follows(fake: FakeDiscord, card: Message, text: str) -> None:
    await fake.wait_until(lambda: text in card.text, f"{text!r} on the lobby card")


async def _gone(fake: FakeDiscord, card: Message, text: str) -> None:
    await fake.wait_until(lambda: text not in card.text, f"no {text!r} on the lobby card")


async def test_invitations(online: RunningBot, fake: FakeDiscord) -> None:
    card = await online.open_table()
    done = await fake.run_command("Ann", "general", "table invite", user="Bob")
    assert done.text == "Invitations go to Bob."
    await fake.wait_until(lambda: fake.visible_messages(fake.find_dm("Bob")), "a direct message")
    await fake.click("Bob", fake.last_message(fake.find_dm("Bob")), "Join")
    by_mail = await fake.run_command("Ann", "general", "table invite", address="Eve@Example.org", name="Eve")
    assert "Invitations go to Eve" in by_mail.text
    await _follows(fake, card, "3. Eve (invited)")
    both = await fake.run_command("Ann", "general", "table invite")
    assert "one of `user`, `address`" in both.text
    wrong = await fake.run_command("Ann", "general", "table invite", address="nonsense")
    assert "`invite <nonsense>`" in wrong.text and "not one plain email address" in wrong.text
    late = await fake.run_command("Ann", "general", "table start")
    assert "Eve has not joined yet" in late.text
    async with online.service.store.read() as unit:
        eve = await unit.people.find_by_identity("email", "eve@example.org")
        assert eve is not None and await unit.people.verified_addresses(eve.id) == []
        assert (await unit.outbox.queue_status("mail")).pending == 1
    for _ in range(2):
        unnamed = await fake.run_command("Ann", "general", "table invite", address="bob@example.org")
        assert unnamed.text == "Invitations go to bob 2 (bob@example.org)."
    await _follows(fake, card, "4. bob 2 (invited)")
    other = await fake.run_command("Ann", "general", "table invite", address="bob@example.net")
    assert other.text == "Invitations go to bob 3 (bob@example.net)."
    await fake.run_command("Ann", "general", "table invite", address="dan@example.org", name="Dan")
    namesake = await fake.run_command("Ann", "general", "table invite", user="Dan")
    assert "is full" in namesake.text
    await fake.run_command("Bob", "general", "table leave")
    for _ in range(2):
        namesake = await fake.run_command("Ann", "general", "table invite", user="Dan")
        assert namesake.text == "Invitations go to Dan 2."
    await _follows(fake, card, "6. Dan 2 (invited)")


async def test_who_may_not_invite_adds_nobody(online: RunningBot, fake: FakeDiscord) -> None:
    await online.open_table()
    for invited in ({"user": "Dan"}, {"address": "dan@example.org"}):
        done = await fake.run_command("Cid", "general", "table invite", table=online.table_code, **invited)
        assert "Only Ann, its host, or a player may do that" in done.text
    async with online.service.store.read() as unit:
        assert await unit.people.by_name("Dan") == []


@pytest.mark.parametrize(
    "code", [50007, 50278, 0], ids=["blocks the bot", "accepts none from servers", "they cannot be opened"]
)
async def test_a_user_without_direct_messages_is_invited_in_the_channel(
    online: RunningBot, fake: FakeDiscord, code: int
) -> None:
    await online.open_table()
    if code:
        fake.find_user("Bob").accepts_dms, fake.dm_refusal = False, code
    else:
        fake.rest.inject_fault("POST", "/users/@me/channels$", 403)
    await fake.run_command("Ann", "general", "table invite", user="Bob")
    await fake.wait_until(lambda: fake.messages_pinging("Bob"), "a mention")
    assert fake.messages_pinging("Bob")[0].channel is fake.find_channel("general")
    fake.check_violations(pinged=["Bob"], ignoring=[str(code)])


async def test_pause_resume_replace_end(started: RunningBot, fake: FakeDiscord) -> None:
    thread = started.thread
    await fake.run_command("Bob", thread, "table pause")
    await fake.wait_until(lambda: not started.cards, "no controls while paused")
    assert "paused" in (await started.submit_lines("Ann", "pass")).text
    await fake.run_command("Bob", thread, "table resume")
    await started.wait_for_card("Ann")
    done = await fake.run_command("Ann", thread, "table replace", seat="Ann", user="Dan")
    assert "Dan is asked to play on for Ann" in done.text
    await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Dan")), "the offer of the seat")
    asked = await fake.click("Dan", fake.messages_with_controls(fake.find_dm("Dan"))[-1], "Play on")
    assert "Ann is asked" in asked.text
    await fake.wait_until(lambda: started.votes, "the vote of the old player")
    await fake.click("Ann", started.votes[-1], "Accept")
    card = await started.wait_for_card("Dan")
    assert [each for each in fake.messages_pinging("Dan") if each.channel is thread] == [card]
    await fake.click("Dan", card, "Pass")
    await started.wait_for_card("Bob")
    vote = await fake.run_command("Bob", thread, "table end")
    assert "asked" in vote.text or "Only" in vote.text or "ends" in vote.text
    done = await fake.run_command("Ann", thread, "table end")
    await fake.wait_until(lambda: not started.cards, "no controls at the end")
    await fake.wait_until(lambda: "ends the game" in fake.last_message(thread).text, "the last notice")


async def test_show(started: RunningBot, fake: FakeDiscord) -> None:
    await started.submit_lines("Ann", "buy SV")
    thread = started.thread
    assert fake.shown_images((await fake.run_command("Dan", thread, "show map")).message)
    assert fake.shown_images((await fake.run_command("Dan", thread, "show market")).message)
    assert fake.shown_images((await fake.run_command("Dan", thread, "show company")).message)
    assert "PRR" in (await fake.run_command("Dan", thread, "show company", name="PRR")).text
    assert "Bob" in (await fake.run_command("Dan", thread, "show player", name="Bob")).text
    assert "Printed:" in (await fake.run_command("Dan", thread, "show board")).text
    assert "buy SV" in (await fake.run_command("Dan", thread, "show log", count=3)).text
    turn = await fake.run_command("Dan", thread, "show turn")
    assert "Bob to act" in turn.text and turn.private_messages and not turn.public_messages
    assert (await fake.run_command("Dan", thread, "show turn", public=True)).public_messages
    wrong = await fake.run_command("Dan", thread, "show company", name="XYZ", public=True)
    await fake.wait_until(lambda: bool(wrong.private_messages), "the error")
    assert "There is no company XYZ" in wrong.private_messages[-1].text
    assert not [each for each in wrong.public_messages if not each.deleted]
    assert isinstance(started.pictures, OnePixelPictures)
    started.pictures.fails = True
    assert "67" in (await fake.run_command("Dan", thread, "show market")).text


async def test_plans_past_positions_and_exports(started: RunningBot, fake: FakeDiscord) -> None:
    await started.submit_lines("Ann", "buy SV")
    thread = started.thread
    plan = await fake.run_command("Bob", thread, "show plan", lines="buy CS; Cid: bid CA 165")
    assert "1. Bob: buy CS" in plan.text and "Standings:" in plan.text and not plan.public_messages
    assert fake.shown_images(plan.message)
    assert "2. Cid: bid CA 165" in (await fake.run_command("Bob", thread, "show plan")).text
    assert "no plan" in (await fake.run_command("Cid", thread, "show plan")).text
    assert "no seat" in (await fake.run_command("Dan", thread, "show plan")).text
    assert await started.played_lines() == ["buy SV"]
    assert "Done." in (await fake.run_command("Bob", thread, "show plan", lines="play")).text
    assert await started.played_lines() == ["buy SV", "buy CS"]
    table = await started.service.queries.find_table(started.table_code)
    choices = await started.service.queries.choices(table.id, 2)
    suggested = encode_choice(choices, 0, 1)  # as of a line that is too long for a suggestion
    assert choices[0].line in (await fake.run_command("Cid", thread, "show plan", lines=suggested)).text
    assert "changed since" in (await fake.run_command("Ann", thread, "show plan", lines=suggested)).text
    assert fake.shown_images((await fake.run_command("Dan", thread, "show at", place="start")).message)
    assert "neither a round" in (await fake.run_command("Dan", thread, "show at", place="noon")).text
    for to in ("18xx.games", "text", "csv"):
        assert (await fake.run_command("Cid", thread, "table export", to=to)).text.startswith("Here is ")


async def test_me(started: RunningBot, fake: FakeDiscord) -> None:
    assert started.table_code in (await fake.run_command("Ann", "general", "me turns")).text
    assert "No table" in (await fake.run_command("Bob", fake.find_dm("Bob"), "me turns")).text
    done = await fake.run_command("Bob", "general", "me email", address="bob@example.org")
    assert "bob@example.org" in done.text
    async with started.service.store.read() as unit:
        bob = await unit.people.find_by_identity("discord", str(fake.find_user("Bob").id))
        assert bob is not None
        assert (await unit.people.claim_of_person(bob.id)).address == "bob@example.org"  # type: ignore[union-attr]
        assert (await unit.outbox.queue_status("mail")).pending == 1
    assert "not one plain" in (await fake.run_command("Bob", "general", "me email", address="x")).text


async def test_autocompletion_of_lines(started: RunningBot, fake: FakeDiscord) -> None:
    thread = started.thread
    every = await fake.autocomplete("Ann", thread, "do", option="line")
    assert [c.value for c in every][:2] == ["buy SV", "bid CS 45"] and every[-1].value == "pass"
    assert [
        c.value for c in await fake.autocomplete("Ann", thread, "do", option="line", typed="bid cs 55")
    ] == ["bid CS 55"]
    assert "bid CS 45" in [
        c.value for c in await fake.autocomplete("Ann", thread, "do", option="line", typed="cs")
    ]
    assert await fake.autocomplete("Bob", thread, "do", option="line") == []
    assert await fake.autocomplete("Dan", thread, "do", option="line") == []
    elsewhere = await fake.autocomplete("Ann", "general", "do", option="line", table=started.table_code)
    assert elsewhere == every
    tables = await fake.autocomplete("Ann", "general", "do", option="table")
    assert tables[0].value == started.table_code and "your turn" in tables[0].name
    assert "PRR" in [c.value for c in await fake.autocomplete("Dan", thread, "show company", option="name")]
    assert [
        c.value for c in await fake.autocomplete("Dan", thread, "show player", option="name", typed="b")
    ] == ["Bob"]


async def test_resolving_the_table(online: RunningBot, fake: FakeDiscord) -> None:
    none = await fake.run_command("Ann", "general", "do", line="pass")
    assert "no such table" in none.text
    await online.start_game("Ann", "Bob")
    first = online.table_code
    await online.start_game("Ann", "Bob", "Cid")
    second = online.table_code
    unclear = await fake.run_command("Ann", "general", "do", line="pass")
    assert first in unclear.text and second in unclear.text
    waiting = await fake.run_command("Cid", "general", "do", line="pass")  # Cid sits only at the second
    assert "Ann" in waiting.text
    await fake.run_command("Ann", "general", "do", line="pass", table=first.lower())
    alone = await fake.run_command("Ann", "general", "do", line="buy SV")  # now only the second waits for her
    assert "Done." in alone.text
    assert await online.played_lines() == ["buy SV"]
    lost = await fake.run_command("Ann", "general", "do", line="pass", table="ZZZ")
    assert "no table ZZZ" in lost.text


async def test_a_table_without_a_channel_is_played_in_direct_messages(
    online: RunningBot, fake: FakeDiscord
) -> None:
    service = online.service
    people = {name: await online.person(name) for name in ("Ann", "Bob")}
    table = await service.lobby.create("1830", None)
    for name, person in people.items():
        await service.lobby.join(table.id, person, name)
    await service.lobby.start(table.id, by=None, order=["Ann", "Bob"])
    await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Ann")), "a card for Ann")
    card = fake.messages_with_controls(fake.find_dm("Ann"))[0]
    await fake.click("Ann", card, "Buy the SV for $20")
    await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Bob")), "a card for Bob")
    await fake.wait_until(
        lambda: not fake.messages_with_controls(fake.find_dm("Ann")), "the first without controls"
    )
    done = await fake.run_command("Bob", fake.find_dm("Bob"), "do", line="pass")
    assert "Done." in done.text


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("Ann", "Ann"),
        ("B&O fan!!", "B O fan"),
        ("🚂", "Player"),
        ("x" * 40, "x" * 20),
        ("eve@a.org", "eve"),
        ("\N{MATHEMATICAL BOLD SCRIPT CAPITAL B}\N{MATHEMATICAL BOLD SCRIPT SMALL O}b", "Bob"),
        ("Jose\N{COMBINING ACUTE ACCENT}", "José"),
        ("Z\N{COMBINING LONG SOLIDUS OVERLAY}oe", "Zoe"),
    ],
)
def test_player_names(called: str, name: str) -> None:
    assert player_name(called) == name


async def test_players_are_asked_by_button_whether_a_robot_may_play(
    online: RunningBot, fake: FakeDiscord
) -> None:
    card = await online.open_table("Bob")
    done = await fake.run_command("Ann", "general", "table invite", robot=True)
    assert "once everybody there agrees" in done.text
    await fake.wait_until(lambda: fake.visible_messages(fake.find_dm("Bob")), "the question")
    question = fake.last_message(fake.find_dm("Bob"))
    assert "Ann asks whether a computer player, Robot, may play" in question.text
    agreed = await fake.click("Bob", question, "Agree")
    assert agreed.text == "You agree. The robot takes its seat."
    await _follows(fake, card, "3. Robot")
    declined = await fake.run_command("Bob", "general", "table agree", agree=False)
    assert "No robot plays at table" in declined.text
    await _gone(fake, card, "3. Robot")


async def test_notes_are_private(started: RunningBot, fake: FakeDiscord) -> None:
    thread = started.thread
    written = await fake.run_command("Ann", thread, "do", line="note the 4s come next round")
    assert "1. the 4s come next round" in written.text and not written.public_messages
    assert "is empty" in (await fake.run_command("Bob", thread, "do", line="notes")).text
    read = await fake.run_command("Ann", thread, "do", line="notes")
    assert "1. the 4s come next round" in read.text and not read.public_messages


async def test_say_is_told_where_there_is_no_thread(online: RunningBot, fake: FakeDiscord) -> None:
    """Who plays in direct messages cannot just write there."""
    places = {name: fake.dm_channel(fake.find_user(name)) for name in ("Ann", "Bob")}
    opened = await fake.run_command("Ann", places["Ann"], "table new", title="1830", name="Friday")
    code = opened.text.split()[1]
    await fake.run_command("Ann", places["Ann"], "table invite", user="Bob", table=code)
    await fake.wait_until(lambda: fake.messages_with_controls(places["Bob"]), "the invitation")
    await fake.click("Bob", fake.messages_with_controls(places["Bob"])[-1], "Join")
    await fake.run_command("Ann", places["Ann"], "table start", table=code)
    answer = await fake.run_command("Bob", places["Bob"], "do", line="say hello *all*")
    assert answer.text == r"The table is told: hello \*all\*"
    answer = await fake.run_command("Bob", places["Bob"], "do", line=f"say {'word ' * 300}")
    assert answer.text.endswith("word word…")
    told = r"Bob says: hello \*all\*"
    await fake.wait_until(lambda: any(told in m.text for m in places["Ann"].messages), "the words of Bob")


async def test_who_plays_by_email_alone_hears_what_is_said_on_discord(
    started: RunningBot, fake: FakeDiscord
) -> None:
    service, code = started.service, started.table_code
    bob = (await service.queries.find_table(code)).seated_players[1].person_id
    async with service.store.begin() as unit:
        await unit.people.add_identity(bob, "email", "bob@example.org")
        await unit.people.remove_identity(bob, "discord", str(fake.find_user("Bob").id))
    answer = await fake.run_command("Ann", started.thread, "do", line="say hello")
    assert answer.text == "The table is told: hello"
    async with service.store.read() as unit:
        assert (await unit.outbox.queue_status("mail")).pending == 1


async def test_say_is_no_line_and_offers_no_move(started: RunningBot, fake: FakeDiscord) -> None:
    answer = await fake.run_command("Ann", started.thread, "do", line="say hello")
    assert "People talk in the thread" in answer.text and not fake.controls(answer.message)
    answer = await fake.run_command("Ann", started.thread, "do", line="xyzzy")
    assert not fake.controls(answer.message) and not answer.public_messages
    assert await started.played_lines() == []
