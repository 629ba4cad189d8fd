"""Mail tokens, inbound mail, settings and leases."""

from datetime import timedelta
from pathlib import Path

import pytest

from storage import NotFound, Store, hash_secret, new_secret
from tests.storage.conftest import ManualClock, move, new_table
from tests.stores import sqlite_only


@sqlite_only
async def test_a_token_is_found_in_any_case_and_never_stored(
    store: Store, clock: ManualClock, tmp_path: Path
) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        text = new_secret()
        await unit.mail_tokens.add(
            hash_secret(text),
            "reply",
            table_id=table,
            seat=2,
            decision_id="d7",
            message_id="<c@x>",
            expires_at=clock.at + timedelta(days=9),
        )
        token = await unit.mail_tokens.by_hash(hash_secret(text.upper()))
        assert token is not None and unit.mail_tokens.is_valid(token)
        assert (token.purpose, token.table_id, token.seat, token.decision_id) == ("reply", table, 2, "d7")
        assert await unit.mail_tokens.by_message_id("<c@x>") == token
        assert await unit.mail_tokens.by_hash(hash_secret("x" * 26)) is None
    for file in tmp_path.iterdir():
        assert text.encode() not in file.read_bytes()
    clock.advance(days=9)
    async with store.read() as unit:
        token = await unit.mail_tokens.by_hash(hash_secret(text))
        assert token is not None and not unit.mail_tokens.is_valid(token)


async def test_a_mail_takes_effect_once(store: Store, clock: ManualClock) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        email = await unit.inbound_mail.record_attempt("k", "sha", "raw/1")
        assert (email.attempts, email.outcome, email.received_at) == (1, None, clock.at)
    async with store.begin() as unit:
        assert (await unit.inbound_mail.record_attempt("k", "sha", "raw/1")).attempts == 2
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.move_log.append(table, 0, [move()], b"")
            assert await unit.inbound_mail.record_outcome("k", "done", b"receipt")
            raise ZeroDivisionError
    async with store.begin() as unit:
        assert (await unit.inbound_mail.get("k")).outcome is None
        assert await unit.inbound_mail.record_outcome("k", "done", b"receipt")
        assert not await unit.inbound_mail.record_outcome("k", "ignored")
    async with store.begin() as unit:
        again = await unit.inbound_mail.record_attempt("k", "sha", "raw/2")
        assert (again.outcome, again.reply, again.attempts, again.path) == ("done", b"receipt", 3, "raw/1")
        with pytest.raises(NotFound):
            await unit.inbound_mail.get("unknown")


async def test_another_mail_with_the_same_key_is_noticed(store: Store) -> None:
    async with store.begin() as unit:
        await unit.inbound_mail.record_attempt("k", "one", "raw/1")
        assert (await unit.inbound_mail.record_attempt("k", "two", "raw/2")).sha256 != "two"


async def test_settings(store: Store) -> None:
    async with store.begin() as unit:
        assert await unit.settings.get("guild:1") is None
        await unit.settings.set("guild:1", "{}")
        await unit.settings.set("guild:1", '{"parent": 5}')
        assert await unit.settings.get("guild:1") == '{"parent": 5}'
        await unit.settings.delete("guild:1")
        assert await unit.settings.get("guild:1") is None


async def test_one_process_has_a_turn(store: Store, clock: ManualClock) -> None:
    lasting, began = timedelta(seconds=30), clock.at
    async with store.begin() as unit:
        assert await unit.settings.take_turn("identify", lasting) is None
        assert await unit.settings.take_turn("identify", lasting) == began + lasting
        assert await unit.settings.take_turn("another", lasting) is None
    clock.advance(seconds=29)
    async with store.begin() as unit:
        assert await unit.settings.take_turn("identify", lasting) == began + lasting
    clock.advance(seconds=1)
    async with store.begin() as unit:
        assert await unit.settings.take_turn("identify", lasting) is None
    clock.advance(seconds=-60)  # the clock is set back: the turn is from before that
    async with store.begin() as unit:
        assert await unit.settings.take_turn("identify", lasting) is None


async def test_only_expired_rows_are_deleted(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        await unit.move_log.save_request_result("old", b"")
        lasting = new_secret()
        await unit.mail_tokens.add(hash_secret(new_secret()), "reply", expires_at=clock.at)
        await unit.mail_tokens.add(hash_secret(lasting), "bounce")
        ann = await unit.people.add("Ann")
        await unit.usage.add(ann.id, "tables", f"{clock.at:%Y-%m-%d}")
    clock.advance(days=2)
    async with store.begin() as unit:
        await unit.move_log.save_request_result("new", b"")
        assert await unit.settings.delete_expired(clock.at - timedelta(days=1)) == 3
        assert await unit.move_log.request_result("old") is None
        assert await unit.move_log.request_result("new") == b""
        assert await unit.mail_tokens.by_hash(hash_secret(lasting)) is not None


async def test_a_token_made_elsewhere_is_added_by_its_hash(store: Store) -> None:
    async with store.begin() as unit:
        await unit.mail_tokens.add(hash_secret("abc"), "bounce", address="ann@x.org")
        token = await unit.mail_tokens.by_hash(hash_secret("ABC"))
        assert token is not None and (token.purpose, token.address) == ("bounce", "ann@x.org")
        assert await unit.mail_tokens.by_hash(token.token_hash) == token
