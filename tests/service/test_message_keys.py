"""No message is taken for another: what is asked or said twice arrives twice, whatever the clock shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
import pytest

from bot.hub.notifications import messages
from bot.hub.notifications.notify import Recipient
from bot.hub.request import Completed, LineRefused, PollUpdated
from bot.service import Service
from storage import NewMessage, open_store
from tests.service.conftest import NAMES, ServiceHarness
from tests.service.test_orders import OPENING, say_all

MOMENT = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
async def frozen(address: str) -> AsyncIterator[ServiceHarness]:
    """A table in play at which everybody gets emails, and a clock that stands still."""
    async with await open_store(address, now=lambda: MOMENT) as store:
        world = ServiceHarness(store, Service(store), {})
        for name in (*NAMES, "Dan"):
            await world.person(name, email=f"{name}@example.org")
        info = await world.service.lobby.create("1830", world.people["Ann"])
        for name in NAMES:
            await world.service.lobby.join(info.id, world.people[name], name)
        await world.service.lobby.start(info.id, by=world.people["Ann"], order=NAMES)
        world.table = info.id
        await world.deliver()
        yield world


async def test_of_two_votes_that_fail_both_outcomes_are_told(frozen: ServiceHarness) -> None:
    """Neither has a row in the log."""
    for proposal in ("pace 24h", "pace 48h"):
        assert isinstance(await frozen.say("Ann", proposal), PollUpdated)
        assert isinstance(await frozen.say("Bob", "decline vote"), PollUpdated)
    told = [n for _, n in await frozen.sent("news") if n.person_id == frozen.people["Cid"]]
    assert len(told) == 2


async def test_who_has_declined_can_be_invited_again(frozen: ServiceHarness) -> None:
    lobby, host, dan = frozen.service.lobby, frozen.people["Ann"], frozen.people["Dan"]
    info = await lobby.create("1830", host)
    for _ in range(2):
        await lobby.invite(info.id, dan, "Dan", by=host)
        assert [n.person_id for _, n in await frozen.deliver() if n.kind == "invited"] == [dan]
        await lobby.leave(info.id, dan, by=host)


async def test_a_full_table_is_put_to_its_host_each_time(frozen: ServiceHarness) -> None:
    lobby, host, dan = frozen.service.lobby, frozen.people["Ann"], frozen.people["Dan"]
    info = await lobby.create("1830", host)
    await lobby.join(info.id, host, "Ann")
    for _ in range(2):
        await lobby.invite(info.id, dan, "Dan", by=host)
        await lobby.join(info.id, dan, "Dan")
        assert [n.kind for _, n in await frozen.deliver() if n.kind == "full"] == ["full"]
        await lobby.leave(info.id, dan, by=dan)


async def test_messages_of_one_moment_have_keys_of_their_own(frozen: ServiceHarness) -> None:
    info = await frozen.service.queries.table_info(frozen.table)
    pending = (await frozen.service.queries.view(frozen.table)).pending[0]
    to = Recipient(frozen.people["Ann"], 0, "1", "ann@example.org")
    keys = [
        message.idempotency_key
        for _ in range(2)
        for message in (
            *messages.direct_messages(info, to, "Hello."),
            *messages.seat_offers(info, to, 0),
            *messages.lobby_answers(info, to, "Dan comes."),
            *messages.turn_emails(info, 3, pending, to, frozen.store.now(), messages.unique_suffix()),
        )
    ]
    assert len(keys) == 10 == len(set(keys))


def test_what_an_email_about_a_turn_says_of_its_reader_is_in_its_order() -> None:
    def email(kind: str, *sentences: str) -> NewMessage:
        payload = msgspec.json.encode(messages.Notification(kind, 1, 5, person_id=2, sentences=sentences))
        return NewMessage(kind, "mail", {}, payload, ordering_key="mail:2", collapse_key=kind)

    beside = [email("order", "Your order has ended."), email("time_up", "Your time was up.")]
    (turn,) = messages.with_own_news([email("turn")], beside)
    told = messages.decode_notification(turn.payload).sentences
    assert told == ("Your order has ended.", "Your time was up.") and not beside
    assert (turn.collapse_key, turn.is_kept) == ("turn", True), "it takes the place of an earlier one"


async def test_every_offer_is_told_also_in_ones_turn_or_beside_another(frozen: ServiceHarness) -> None:
    await say_all(frozen, *OPENING, *((name, "pass") for name in NAMES))
    for name, line, asked in (
        ("Bob", "sell private CS to Ann for 50", "Ann"),
        ("Bob", "sell private CA to Ann for 170", "Ann"),
        ("Ann", "buy private DH from Cid for 70", "Cid"),
        ("Ann", "buy private DH from Cid for 75", "Cid"),
    ):
        await frozen.deliver()
        assert isinstance(await frozen.say(name, line), Completed)
        assert [n.person_id for _, n in await frozen.sent("turn")] == [frozen.people[asked]], line
    again = await frozen.say("Ann", "buy private DH from Cid for 75")
    assert isinstance(again, LineRefused) and "offered already" in again.reason
    await frozen.deliver()
    assert isinstance(await frozen.say("Ann", "accept 1"), Completed)
    assert not await frozen.sent("turn"), "an offer that is gone is nothing new"


async def test_who_was_asked_and_need_not_answer_any_more_is_told_by_email(frozen: ServiceHarness) -> None:
    """The email that asks stays in the mailbox; the card on Discord does not."""
    await say_all(frozen, *OPENING, *((name, "pass") for name in NAMES))
    told = "An offer to you has ended.", "You need not answer it any more: the CS from Bob to Cid for $50."
    await frozen.say("Ann", "pass")
    for ending in ("decline", "pass"):
        assert isinstance(await frozen.say("Bob", "sell private CS to Cid for 50"), Completed)
        await frozen.deliver()
        assert isinstance(await frozen.say("Bob", ending), Completed)
        expected = [] if ending == "pass" else [(frozen.people["Cid"], told)]  # then it is Cid's turn
        assert [(n.person_id, n.sentences) for _, n in await frozen.sent("news")] == expected
    assert isinstance(await frozen.say("Cid", "sell private DH to Bob for 50"), Completed)
    await frozen.deliver()
    await frozen.say("Cid", "pass")
    assert [n.person_id for _, n in await frozen.sent("news")] == [frozen.people["Bob"]]


async def test_an_offer_that_waits_in_a_pause_has_not_ended(frozen: ServiceHarness) -> None:
    await say_all(frozen, *OPENING, *((name, "pass") for name in NAMES))
    await say_all(frozen, ("Ann", "pass"), ("Bob", "sell private CS to Cid for 50"))
    await frozen.service.running.pause(frozen.table, by=frozen.people["Bob"])
    await frozen.deliver()
    await frozen.say("Ann", "auto pass")
    assert await frozen.sent() == []


async def test_an_answer_that_is_undone_is_told_in_one_email(frozen: ServiceHarness) -> None:
    """Ann goes on with another question: the email that has it says why."""
    await say_all(frozen, *OPENING, *((name, "pass") for name in NAMES))
    await say_all(frozen, ("Ann", "buy private CS from Bob for 50"), ("Bob", "accept"))
    await frozen.deliver()
    assert isinstance(await frozen.say("Bob", "undo"), Completed)
    told = [(n.kind, n.person_id) for _, n in await frozen.sent()]
    assert sorted(told) == [("news", frozen.people["Cid"]), ("turn", frozen.people["Ann"])]
