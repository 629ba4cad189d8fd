"""Hidden orders cannot be read by other players, and have no effect in their plans."""

from __future__ import annotations

import json
import re

import pytest

import engine
from bot.discord.cards import card_texts, layouts
from bot.features.game_files.feature import STATISTICS, TEXT, make_game_file
from bot.features.views.feature import log_view
from bot.hub.log import recent_events
from bot.hub.request import Completed, LineRefused, QueryAnswer
from bot.position import legal_lines, text_views
from engine.game_text import replay
from engine.game_text.redaction import redacted
from renderers import map_png, market_png, sheet_png
from tests.service.conftest import NAMES, ServiceHarness
from tests.tables import started

LIMIT = "85"
"""An amount in dollars that nothing else at this table has."""


@pytest.fixture
async def bidding(empty: ServiceHarness) -> ServiceHarness:
    """The opening of 1817: Ann has put a private up for auction, and Bob has left a secret limit."""
    for name in NAMES:
        await empty.person(name, discord=f"{len(empty.people) + 1}", email=f"{name}@example.org")
    empty.table = (await started(empty.service, empty.people, "1817")).id
    await empty.say("Ann", "bid MAJM 10")
    answer = await empty.say("Bob", f"bid up to {LIMIT}")
    assert isinstance(answer, QueryAnswer) and "Bob bids $15 for the MAJM." in answer.text
    assert f"`auto bid MAJM up to {LIMIT} then pass`" in answer.text, "a limit is an order like any other"
    return empty


async def read_by(world: ServiceHarness, name: str) -> str:
    """Everything that this player can see: views, choices, results, messages and files."""
    seat = NAMES.index(name)
    view = await world.service.queries.view(world.table)
    assert view.state is not None
    texts = []
    shows = ("status", "turn", "help", "market", "board", "log 50", "player Bob", "at start", "export text")
    for line in (*shows, "export csv"):
        answer = await world.say(name, line)
        assert isinstance(answer, QueryAnswer), answer
        texts += [answer.text, *(file.content.decode() for file in answer.files)]
    log = await world.service.queries.log(world.table)
    texts += [f"{row.line} {row.raw_line} {' '.join(row.sentences)}" for row in log]
    texts += [*card_texts.turn_lines(log, NAMES), *card_texts.history_lines(log, NAMES), *recent_events(log)]
    choices = await world.service.queries.choices(world.table, seat)
    texts += [*legal_lines.copyable_lines(choices), *(f"{c.line} {c.label}" for c in choices)]
    for asked in view.pending:
        own = {asked.seat: choices}
        card = layouts.turn_card(view, [asked], own, card_texts.history_lines(log, NAMES), {}, [])
        texts.append(json.dumps(card))
    for _, notification in await world.sent():
        if notification.person_id in (None, world.people[name]):
            texts.append(repr(notification))
    texts += [
        text_views.status_view(view.state, view.pending, seat),
        log_view(await world.service.cache.get(world.table)),
    ]
    return "\n".join(texts)


async def test_nobody_can_read_a_secret_limit(bidding: ServiceHarness) -> None:
    for name, line, bid in (("Cid", "bid 25", 15), ("Ann", "pass", 30), ("Cid", "bid 40", 45)):
        answer = await bidding.say(name, line)
        assert isinstance(answer, Completed)
        seen = await read_by(bidding, "Cid")
        assert f"Bob bids ${bid} for the MAJM." in seen
        assert not re.search(rf"\b{LIMIT}\b", seen)
        last = answer.sentences
    assert "Bob bids $45 for the MAJM." in last


async def test_a_plan_does_not_reveal_a_limit(bidding: ServiceHarness) -> None:
    for bid in (20, 75, 90):
        answer = await bidding.say("Cid", f"plan bid {bid}; Ann: pass")
        assert isinstance(answer, QueryAnswer)
        assert "Bob to act:" in answer.text and not re.search(rf"\b{LIMIT}\b", answer.text)
        assert answer.encoded_state is not None and LIMIT not in str(
            engine.decode_state(answer.encoded_state).stack
        )
    own = await bidding.say("Bob", "plan Cid: bid 80; Ann: pass")
    assert isinstance(own, QueryAnswer)
    assert "Your order would say: bid MAJM 85 — Bob bids $85 for the MAJM." in own.text


async def test_a_limit_in_a_stored_position_is_shown_to_its_owner_alone(bidding: ServiceHarness) -> None:
    """Positions of older versions hold limits themselves."""
    state = (await bidding.service.queries.view(bidding.table)).state
    assert state is not None and LIMIT not in str(state.stack)
    state = engine.play_line(state, "p2", f"bid up to {LIMIT}").state
    for viewer in (None, "p0", "p1"):
        seen = engine.visible_to(state, viewer)
        assert seen != state and LIMIT in str(state.stack) and LIMIT not in str(seen.stack)
        assert engine.visible_to(state, "p2") == state
        for drawn in (map_png, market_png, sheet_png):
            assert drawn(state).png == drawn(seen).png


async def test_a_limit_that_stays_in_the_position_is_as_secret(bidding: ServiceHarness) -> None:
    """That of a robot or a deputy: others see that it answers in advance, and not what."""
    answer = await bidding.service.submit(
        bidding.table, None, ["bid up to 105"], None, "robot", person_id=bidding.people["Ann"],
        transport="robot",
    )  # fmt: skip
    assert isinstance(answer, Completed)
    state = (await bidding.service.queries.view(bidding.table)).state
    assert state is not None and "105" in str(engine.visible_to(state, "p0").stack)
    listed = await bidding.say("Ann", "auto")
    assert isinstance(listed, QueryAnswer) and "`bid up to 105` holds in the auction now." in listed.text
    for name in ("Bob", "Cid"):
        assert not re.search(r"\b105\b", await read_by(bidding, name)), name
        assert "105" not in str(engine.visible_to(state, f"p{NAMES.index(name)}").stack)


async def test_an_exported_text_has_the_bids_and_replays_to_the_same_game(bidding: ServiceHarness) -> None:
    for name, line in (("Cid", "bid 25"), ("Ann", "bid 30"), ("Cid", "bid 90"), ("Ann", "pass")):
        assert isinstance(await bidding.say(name, line), Completed)
    history = await bidding.service.queries.history(bidding.table)
    script = make_game_file(history, TEXT, "", "x").content.decode()
    bids = re.findall(r"^(\w+): (bid .*|pass)$", script, re.M)
    assert bids == [
        ("Ann", "bid MAJM 10"), ("Bob", "bid MAJM 15"), ("Cid", "bid MAJM 25"), ("Ann", "bid MAJM 30"),
        ("Bob", "bid MAJM 35"), ("Cid", "bid MAJM 90"), ("Ann", "pass"), ("Bob", "pass"),
    ]  # fmt: skip
    report = replay(script)
    state = (await bidding.service.queries.view(bidding.table)).state
    assert report.failure is None and report.state is not None and state is not None
    assert report.state.cash == state.cash and report.state.private_owners == state.private_owners
    assert redacted(history) is history and make_game_file(history, STATISTICS, "", "x").content


async def test_an_undo_and_a_stale_decision_do_not_reveal_a_limit(bidding: ServiceHarness) -> None:
    seen = (await bidding.service.queries.view(bidding.table)).decision_id_of(2)
    await bidding.say("Bob", "undo")
    for answer in (await bidding.say("Cid", "bid 30", seen=seen), await bidding.say("Cid", "log 20")):
        assert not re.search(rf"\b{LIMIT}\b", repr(answer))
    assert not re.search(rf"\b{LIMIT}\b", await read_by(bidding, "Cid"))


async def test_all_bidders_are_notified_at_once_and_each_answer_counts(bidding: ServiceHarness) -> None:
    """Bob has answered. It is Cid's turn, and Ann need not wait for them."""
    assert await bidding.asked_names() == ["Cid", "Ann"]
    notified = {
        notification.seat for sent, notification in await bidding.sent("turn") if sent.channel == "mail"
    }
    assert notified == {0, 1, 2}
    view = await bidding.service.queries.view(bidding.table)
    emails = {seat: view.decision_id_of(seat) for seat in (0, 2)}
    early = await bidding.say("Ann", "bid 20", seen=emails[0])
    assert isinstance(early, LineRefused) and "Cid bids first" in early.reason
    assert isinstance(await bidding.say("Ann", "bid nothing", seen=emails[0]), QueryAnswer)
    answer = await bidding.say("Cid", "bid 40", seen=emails[2])
    assert isinstance(answer, Completed) and "Bob bids $45 for the MAJM." in answer.sentences
    seen = await read_by(bidding, "Cid")
    assert "Ann passes." in seen
    log = await bidding.service.queries.log(bidding.table)
    assert all("nothing" not in f"{row.line}{row.raw_line}" for row in log)


async def test_a_bidder_who_waits_is_notified_when_their_turn_comes(bidding: ServiceHarness) -> None:
    """Ann was notified with the others. After Cid's bid it is Ann's turn, and only Ann is notified."""
    assert [(a.name, a.acts_now) for a in (await bidding.service.queries.view(bidding.table)).pending] == [
        ("Cid", True),
        ("Ann", False),
    ]
    await bidding.deliver()
    before = await bidding.decision()
    await bidding.say("Cid", "bid 40")
    assert [
        notification.seat for sent, notification in await bidding.sent("turn") if sent.channel == "mail"
    ] == [0]
    assert await bidding.decision() == before
    pending = (await bidding.service.queries.view(bidding.table)).pending
    assert [(a.name, a.acts_now) for a in pending] == [("Ann", True), ("Bob", False)]
