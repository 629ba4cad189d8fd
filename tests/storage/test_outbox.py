"""The outbox: leases, ordering keys, collapse keys, attempts."""

from datetime import timedelta

import pytest

from storage import OutboxMessage, Store
from tests.storage.conftest import ManualClock, new_message

LEASE = timedelta(minutes=1)


async def take(store: Store, limit: int = 10) -> list[OutboxMessage]:
    async with store.begin() as unit:
        return await unit.outbox.lease_due("mail", limit, LEASE)


def keys(messages: list[OutboxMessage]) -> list[str]:
    return [message.idempotency_key for message in messages]


async def test_a_known_idempotency_key_is_not_enqueued_again(store: Store) -> None:
    async with store.begin() as unit:
        assert await unit.outbox.enqueue(new_message("a"), new_message("b"), new_message("a")) == 2
        assert await unit.outbox.enqueue(new_message("b", payload=b"other"), new_message("c")) == 1
    assert [(message.idempotency_key, message.payload) for message in await take(store)] == [
        ("a", b"a"),
        ("b", b"b"),
        ("c", b"c"),
    ]


async def test_a_leased_message_is_not_due_until_its_lease_expires(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a"), new_message("b"), new_message("x", channel="discord"))
    (first,) = await take(store, limit=1)
    assert (first.idempotency_key, first.attempts, first.address, first.payload) == (
        "a",
        1,
        {"to": "ann"},
        b"a",
    )
    assert first.lease_expires_at == clock.at + LEASE
    assert keys(await take(store)) == ["b"]
    assert await take(store) == []
    async with store.read() as unit:
        assert await unit.outbox.next_due_at("mail") == clock.at + LEASE
        assert await unit.outbox.next_due_at("discord") == clock.at
    clock.advance(seconds=59.9)
    assert await take(store) == []
    clock.advance(seconds=0.1)
    assert [(message.idempotency_key, message.attempts) for message in await take(store)] == [
        ("a", 2),
        ("b", 2),
    ]


async def test_a_lease_is_renewed_while_the_message_is_ours_and_wanted(
    store: Store, clock: ManualClock
) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(*(new_message(key, collapse_key=key) for key in "abc"))
    mine = {message.idempotency_key: message.attempts for message in await take(store)}
    clock.advance(seconds=50)
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("newer", collapse_key="c"))
        assert await unit.outbox.renew_leases(mine, LEASE) == {"a", "b"}
    clock.advance(seconds=50)
    assert keys(await take(store)) == ["newer"]
    clock.advance(seconds=10)
    assert keys(await take(store)) == ["a", "b"], "another worker takes what was not renewed"
    async with store.begin() as unit:
        assert await unit.outbox.renew_leases(mine, LEASE) == frozenset()


async def test_messages_to_some_domains_are_left_out(store: Store) -> None:
    async with store.begin() as unit:
        for key, to in (("a", "a@one.test"), ("b", "b@two.test"), ("c", "c@not-two.test")):
            await unit.outbox.enqueue(new_message(key, address={"to": to}))
        await unit.outbox.enqueue(new_message("d", address={"email": "d@two.test"}))
        left = await unit.outbox.lease_due("mail", 10, LEASE, ["@two.test"])
        assert keys(left) == ["a", "c", "d"]
    assert keys(await take(store)) == ["b"]


async def test_a_sent_message_is_never_due_again_and_its_payload_is_deleted(
    store: Store, clock: ManualClock
) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a"))
    (message,) = await take(store)
    async with store.begin() as unit:
        await unit.outbox.mark_sent(message.idempotency_key, "msg-1")
    clock.advance(days=1)
    assert await take(store) == []
    async with store.begin() as unit:
        row = await unit.outbox.get("a")
        assert row is not None and (row.status, row.external_id, row.payload) == ("sent", "msg-1", b"")
        assert await unit.outbox.next_due_at("mail") is None
        assert await unit.outbox.enqueue(new_message("a")) == 0
        assert await unit.outbox.delete_finished(clock.at) == 1
        assert await unit.outbox.get("a") is None


async def test_a_message_that_is_deleted_while_it_is_sent_marks_no_other(store: Store) -> None:
    """SQLite gives the number of the last row that is deleted to the next one."""
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a"))
    (leaving,) = await take(store)
    async with store.begin() as unit:
        await unit.personal_data.delete_messages(lambda address: True)
        await unit.outbox.enqueue(new_message("b"))
    async with store.begin() as unit:
        await unit.outbox.mark_sent(leaving.idempotency_key, "msg-1")
    assert keys(await take(store)) == ["b"]


async def test_a_failed_message_is_retried_and_the_last_failure_is_final(
    store: Store, clock: ManualClock
) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a"))
    (message,) = await take(store)
    again = clock.at + timedelta(minutes=5)
    async with store.begin() as unit:
        await unit.outbox.mark_failed(message.idempotency_key, "451 later", again)
        assert await unit.outbox.next_due_at("mail") == again
    clock.advance(minutes=4)
    assert await take(store) == []
    clock.advance(minutes=1)
    (message,) = await take(store)
    assert (message.attempts, message.error, message.payload) == (2, "451 later", b"a")
    async with store.begin() as unit:
        await unit.outbox.mark_failed(message.idempotency_key, "550 never", None)
        assert (await unit.outbox.queue_status("mail"))[:3] == (0, None, 1)
    clock.advance(days=9)
    assert await take(store) == []
    async with store.read() as unit:
        row = await unit.outbox.get("a")
        assert row is not None and (row.status, row.error, row.payload) == ("dead", "550 never", b"a")


async def test_hold_off(store: Store, clock: ManualClock) -> None:
    later = clock.at + timedelta(seconds=45)
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("late", not_before=later), new_message("now"))
    assert keys(await take(store)) == ["now"]
    clock.advance(seconds=45)
    assert keys(await take(store)) == ["late"]


async def test_the_newest_of_a_collapse_key_supersedes_pending_messages(
    store: Store, clock: ManualClock
) -> None:
    later = clock.at + timedelta(seconds=45)
    async with store.begin() as unit:
        await unit.outbox.enqueue(
            new_message("turn1", collapse_key="g", not_before=later), new_message("other", collapse_key="h")
        )
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("turn2", collapse_key="g"))
        old = await unit.outbox.get("turn1")
        assert old is not None and (old.status, old.payload) == ("superseded", b"")
    clock.advance(minutes=1)
    assert keys(await take(store)) == ["other", "turn2"]


async def test_a_message_that_is_kept_supersedes_and_is_not_superseded(
    store: Store, clock: ManualClock
) -> None:
    later = clock.at + timedelta(seconds=45)
    for key in ("turn1", "turn2", "turn3"):
        async with store.begin() as unit:
            turn = new_message(key, collapse_key="g", not_before=later, is_kept=key == "turn2")
            await unit.outbox.enqueue(turn)
    clock.advance(minutes=1)
    assert keys(await take(store)) == ["turn2", "turn3"]


async def test_a_superseded_message_being_sent_is_not_retried(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("turn1", collapse_key="g"))
    (first,) = await take(store)
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("turn2", collapse_key="g"))
        await unit.outbox.mark_failed(first.idempotency_key, "lost the line", clock.at)
    assert keys(await take(store)) == ["turn2"]


async def test_messages_of_an_ordering_key_are_sent_in_order(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(
            new_message("1", ordering_key="t"),
            new_message("2", ordering_key="t"),
            new_message("3"),
            new_message("4", ordering_key="u"),
        )
    first, free, other = await take(store)
    assert keys([first, free, other]) == ["1", "3", "4"]
    async with store.begin() as unit:
        await unit.outbox.mark_failed(first.idempotency_key, "busy", clock.at + LEASE)
    assert await take(store) == []
    clock.advance(minutes=2)
    assert keys([m for m in await take(store) if m.ordering_key == "t"]) == ["1"]
    async with store.begin() as unit:
        await unit.outbox.mark_sent(first.idempotency_key)
    assert keys(await take(store)) == ["2"]


@pytest.mark.parametrize("dies", ["sent", "failed"])
async def test_queue_status(store: Store, clock: ManualClock, dies: str) -> None:
    async with store.begin() as unit:
        assert (await unit.outbox.queue_status("mail"))[:3] == (0, None, 0)
        await unit.outbox.enqueue(new_message("a"))
    start = clock.at
    clock.advance(minutes=20)
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("b"))
        assert (await unit.outbox.queue_status("mail"))[:3] == (2, start, 0)
    first, _ = await take(store)
    async with store.begin() as unit:
        if dies == "sent":
            await unit.outbox.mark_sent(first.idempotency_key)
        else:
            await unit.outbox.mark_failed(first.idempotency_key, "no", None)
        assert (await unit.outbox.queue_status("mail"))[:3] == (1, clock.at, int(dies == "failed"))


async def test_messages_are_counted_by_their_address(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a", address={"to": "ann", "why": "help"}), new_message("b"))
        await unit.outbox.enqueue(new_message("x", channel="discord", address={"to": "ann", "why": "help"}))
    clock.advance(hours=1)
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("c", address={"to": "bob", "why": "help"}))
        early = clock.at - timedelta(hours=2)
        assert await unit.outbox.count("mail", early) == 3
        assert await unit.outbox.count("mail", clock.at) == 1
        assert await unit.outbox.count("mail", early, why="help") == 2
        assert await unit.outbox.count("mail", early, why="help", to="ann") == 1


async def test_a_message_behind_one_that_waits_is_not_due_before_it(store: Store, clock: ManualClock) -> None:
    """Else an outage makes the delivery worker look 50 times a second."""
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a", ordering_key="k"), new_message("b", ordering_key="k"))
    (message,) = await take(store)
    again = clock.at + timedelta(minutes=5)
    async with store.begin() as unit:
        await unit.outbox.mark_failed(message.idempotency_key, "away", again)
        assert await unit.outbox.next_due_at("mail") == again


@pytest.mark.parametrize("hours", [6, 24])
async def test_a_clock_that_is_set_back_holds_no_message(
    store: Store, clock: ManualClock, hours: int
) -> None:
    """New, leased by a worker that died, waiting for a retry, or waiting for the hold-off of a ping."""
    async with store.begin() as unit:
        later = clock.at + timedelta(minutes=2)
        await unit.outbox.enqueue(*map(new_message, ("leased", "retried")))
    _, retried = await take(store)
    async with store.begin() as unit:
        await unit.outbox.mark_failed(retried.idempotency_key, "away", clock.at + timedelta(minutes=5))
        await unit.outbox.enqueue(new_message("new"), new_message("held", not_before=later))
    clock.advance(hours=-hours)
    assert sorted(keys(await take(store))) == ["held", "leased", "new", "retried"]
    assert await take(store) == []


async def test_what_is_held_back_holds_no_later_message(store: Store, clock: ManualClock) -> None:
    """A retry does, so that messages to one place stay in order."""
    async with store.begin() as unit:
        later = clock.at + timedelta(minutes=2)
        await unit.outbox.enqueue(new_message("ping", not_before=later, ordering_key="table:1"))
        await unit.outbox.enqueue(new_message("news", ordering_key="table:1"))
    (news,) = await take(store)
    assert news.idempotency_key == "news"
    async with store.begin() as unit:
        await unit.outbox.mark_failed(news.idempotency_key, "away", clock.at + timedelta(minutes=5))
        await unit.outbox.enqueue(new_message("more news", ordering_key="table:1"))
    clock.advance(minutes=3)
    assert keys(await take(store)) == ["ping"]


async def test_a_retry_still_waits(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.outbox.enqueue(new_message("a"))
    (message,) = await take(store)
    async with store.begin() as unit:
        await unit.outbox.mark_failed(message.idempotency_key, "away", clock.at + timedelta(hours=4))
    assert await take(store) == []
