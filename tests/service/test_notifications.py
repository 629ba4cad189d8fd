"""Who is notified of what, through which channel, once; the outbox holds it from the commit on."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.hub.notifications.messages import decode_notification, turn_emails
from bot.hub.notifications.notify import Recipient
from bot.hub.request import Completed, PollUpdated
from bot.service import Service
from tests.service.conftest import ServiceHarness
from tests.service.test_orders import OPENING, say_all
from tests.tables import started


async def table(
    world: ServiceHarness, place: dict[str, object] | None = None, **people: dict[str, str]
) -> None:
    """A started table with these players in this order."""
    for name, ways in people.items():
        await world.person(name, **ways)
    world.table = (await started(world.service, world.people, location=place)).id


DISCORD = {"discord": "11"}
MAIL = {"email": "bob@example.org"}


async def test_the_acting_player_is_notified_on_their_channel(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann=DISCORD, Bob=MAIL, Cid={})
    began = await empty.deliver()
    assert {(n.kind, m.channel) for m, n in began} == {
        ("lobby", "discord"), ("started", "discord"), ("started", "mail"), ("turn", "discord"),
    }  # fmt: skip
    await empty.say("Ann", "buy SV")
    sent = await empty.deliver()
    assert [(n.kind, m.channel, n.seat) for m, n in sent] == [("turn", "discord", 1), ("turn", "mail", 1)]
    (card, _), (mail, notification) = sent
    assert card.address == {}, "Bob cannot be pinged"
    assert mail.address == {"person": empty.people["Bob"], "email": "bob@example.org"}
    view = await empty.service.queries.view(empty.table)
    assert notification.decision_id == view.decision_id_of(1)
    assert notification.seq == view.seq
    await empty.say("Bob", "buy CS")
    assert [(n.kind, n.seat) for _, n in await empty.deliver()] == [("turn", 2)]
    await empty.say("Cid", "buy DH")
    ((card, notification),) = await empty.deliver()
    assert (notification.seat, card.address) == (0, {"user": "11"})


async def test_without_a_location_each_player_is_notified_directly(empty: ServiceHarness) -> None:
    await table(empty, None, Ann={}, Bob={**DISCORD, **MAIL}, Cid=MAIL | {"email": "cid@example.org"})
    await empty.deliver()
    await empty.say("Ann", "pass")
    found = {(m.channel, n.seat) for m, n in await empty.deliver() if n.kind == "turn"}
    assert found == {("discord", 1), ("mail", 1)}


async def test_a_player_without_a_channel_is_not_notified(empty: ServiceHarness) -> None:
    await table(empty, None, Ann={}, Bob={}, Cid={})
    await empty.say("Ann", "buy SV")
    assert await empty.sent() == []


async def test_an_unverified_address_and_one_that_opted_out_get_nothing(empty: ServiceHarness) -> None:
    await table(empty, None, Ann={}, Bob=MAIL, Cid={})
    async with empty.store.begin() as unit:
        await unit.people.update(empty.people["Bob"], preferences={"mail": False})
        await unit.people.add_identity(empty.people["Cid"], "email", "cid@example.org", verified=False)
    await empty.deliver()
    await empty.say("Ann", "pass")
    await empty.say("Bob", "pass")
    assert await empty.sent() == []


async def test_the_same_player_acts_again_without_a_ping(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann=DISCORD, Bob=MAIL, Cid={"discord": "33"})
    await say_all(empty, *OPENING[:5])
    await empty.deliver()
    await empty.say("Cid", "buy BO")
    ((card, notification),) = await empty.deliver()
    assert (notification.kind, notification.seat, card.address) == ("refresh", 2, {})
    assert notification.decision_id == (await empty.service.queries.view(empty.table)).decision_id_of(2)


async def test_the_recipient_of_an_offer_is_notified(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann=DISCORD, Bob=MAIL, Cid={})
    await say_all(empty, *OPENING[:5])
    await empty.say("Cid", "buy BO", "par BO 100")
    for name in ("Ann", "Bob", "Cid"):  # nothing is sold between players in the first stock round
        await empty.say(name, "pass")
    await empty.deliver()
    assert isinstance(await empty.say("Ann", "sell private SV to Bob for 30"), Completed)
    messages = await empty.deliver()
    assert {(n.kind, n.seat, m.channel) for m, n in messages} == {("turn", 1, "discord"), ("turn", 1, "mail")}
    assert all(n.decision_id and ".o" in n.decision_id for _, n in messages)
    await empty.say("Bob", "accept")
    answered = [(n.kind, n.seat, m.channel) for m, n in await empty.deliver()]
    assert answered == [("turn", 0, "discord")], "Ann has proposed it, and goes on with the answer"


async def test_an_undo_is_announced_and_the_turn_notified(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann=DISCORD, Bob=MAIL, Cid={})
    await empty.say("Ann", "buy SV")
    await empty.deliver()
    await empty.say("Ann", "undo")
    messages = [(n.kind, m.channel, n.seat) for m, n in await empty.deliver()]
    assert messages == [("news", "discord", None), ("news", "mail", 1), ("turn", "discord", 0)]


async def test_voters_are_notified(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann=DISCORD, Bob=MAIL, Cid={})
    await empty.say("Ann", "buy SV")
    await empty.say("Bob", "buy CS")
    await empty.deliver()
    asked = await empty.say("Ann", "undo")
    assert isinstance(asked, PollUpdated)
    messages = await empty.deliver()
    assert [(n.kind, m.channel, n.seat, n.decision_id) for m, n in messages] == [
        ("vote", "discord", 1, asked.poll_id), ("vote", "mail", 1, asked.poll_id),
    ]  # fmt: skip
    assert "Ann: buy SV; Bob: buy CS" in messages[0][1].sentences[0]


async def test_a_pause_is_announced_and_its_end_notifies_again(empty: ServiceHarness) -> None:
    await table(empty, None, Ann=DISCORD, Bob=MAIL, Cid={})
    await empty.deliver()
    await empty.service.running.pause(empty.table, by=empty.people["Ann"])
    told = [(n.person_id, n.sentences[0]) for _, n in await empty.deliver()]
    assert told == [(empty.people["Bob"], "Ann pauses the game.")], "Ann has the answer"
    await empty.service.running.resume(empty.table, by=empty.people["Bob"])
    assert [(n.kind, n.seat) for _, n in await empty.deliver() if n.kind == "turn"] == [("turn", 0)]


async def test_a_replacement_is_notified_of_the_turn(empty: ServiceHarness) -> None:
    await table(empty, None, Ann={}, Bob={}, Cid={})
    dora = await empty.person("Dora", email="dora@example.org")
    await empty.service.running.replace_player(empty.table, 0, dora, "Dora", by=None)
    assert [(n.kind, n.person_id) for _, n in await empty.deliver()] == [("turn", dora)]
    since = await empty.service.queries.log_since_last_move(empty.table, 0)
    assert "Dora" in since[-1].sentences[0], "the notification of their turn says it"


async def test_the_holdoff_and_messages_superseded_meanwhile(empty: ServiceHarness) -> None:
    empty.service = Service(empty.store, ping_holdoff=45)
    await table(empty, None, Ann=DISCORD, Bob=MAIL, Cid={})
    await empty.deliver()
    await empty.say("Ann", "buy SV")
    ((mail, _),) = await empty.sent()
    assert mail.wait == 45
    await empty.say("Ann", "undo")
    await empty.say("Ann", "bid CA 165")
    turns = [n for _, n in await empty.sent("turn") if n.seat == 1]
    assert len(turns) == 1 and turns[0].decision_id == (
        await empty.service.queries.view(empty.table)
    ).decision_id_of(1)


async def test_a_refused_line_notifies_nobody(empty: ServiceHarness) -> None:
    await table(empty, None, Ann=DISCORD, Bob=MAIL, Cid={})
    await empty.deliver()
    await empty.say("Ann", "buy BO")
    await empty.say("Bob", "buy SV")
    assert await empty.sent() == []


async def test_subscribers_wake_after_every_commit(world: ServiceHarness) -> None:
    with world.service.subscribe() as bell:
        await world.say("Ann", "buy XX")
        bell.clear()
        await world.say("Ann", "buy SV")
        assert bell.is_set()
    world.service.wake_subscribers()


async def test_a_notification_is_small_json(empty: ServiceHarness) -> None:
    await table(empty, None, Ann={}, Bob=MAIL, Cid={})
    await empty.deliver()
    await empty.say("Ann", "buy SV")
    async with empty.store.begin() as unit:
        ((mail, notification),) = await empty.sent()
        message = await unit.outbox.get(mail.key)
    assert message is not None and len(message.payload) < 200
    assert decode_notification(message.payload) == notification


async def test_a_decision_changed_by_another_player_is_sent_by_mail_only(empty: ServiceHarness) -> None:
    await table(empty, {"thread": 9}, Ann={**DISCORD, "email": "ann@example.org"}, Bob=MAIL, Cid={})
    info = await empty.service.queries.table_info(empty.table)
    (asked,) = (await empty.service.queries.view(empty.table)).pending
    ann = Recipient(empty.people["Ann"], 0, "11", "ann@example.org")
    moved = turn_emails(info, 7, asked, ann, datetime(2026, 1, 1, tzinfo=UTC))
    assert [(p.channel, p.address) for p in moved] == [
        ("mail", {"person": empty.people["Ann"], "email": "ann@example.org"})
    ]
