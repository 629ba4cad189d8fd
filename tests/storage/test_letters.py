"""Mail tokens and the ledger of letters; what an installation remembers."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import func, select

from storage import Missing, Store, hashed
from storage.tables import Setting
from tests.storage.conftest import Clock, move, new_table
from tests.stores import in_a_file


@in_a_file
async def test_a_token_is_known_in_any_case_and_never_kept(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        text = await unit.letters.issue(
            "reply",
            table_id=table,
            seat=2,
            decision="d7",
            carrier="<c@x>",
            expires=clock.at + timedelta(days=9),
        )
        token = await unit.letters.token(text.upper())
        assert token is not None and unit.letters.holds(token)
        assert (token.purpose, token.table_id, token.seat, token.decision) == ("reply", table, 2, "d7")
        assert await unit.letters.carried("<c@x>") == token
        assert await unit.letters.token("x" * 26) is None
    for file in tmp_path.iterdir():
        assert text.encode() not in file.read_bytes()
    clock.pass_by(days=9)
    async with store.read() as unit:
        token = await unit.letters.token(text)
        assert token is not None and not unit.letters.holds(token)


async def test_tokens_are_revoked_by_what_they_are_for(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        mine = await unit.letters.issue("reply", table_id=table, seat=0)
        other = await unit.letters.issue("reply", table_id=table, seat=1)
        bounce = await unit.letters.issue("bounce", table_id=table, seat=0)
        assert await unit.letters.revoke(table_id=table, seat=0, purpose="reply") == 1
        assert await unit.letters.revoke(table_id=table, seat=0, purpose="reply") == 0
        held = []
        for text in (mine, other, bounce):
            token = await unit.letters.token(text)
            assert token is not None
            held.append(unit.letters.holds(token))
        assert held == [False, True, True]
        with pytest.raises(ValueError, match="condition"):
            await unit.letters.revoke()


async def test_a_letter_takes_effect_once(store: Store, clock: Clock) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        letter = await unit.letters.receive("k", "sha", "raw/1")
        assert (letter.attempts, letter.outcome, letter.received) == (1, None, clock.at)
    async with store.begin() as unit:
        assert (await unit.letters.receive("k", "sha", "raw/1")).attempts == 2
        assert [row.key for row in await unit.letters.unsettled()] == ["k"]
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as unit:
            await unit.moves.append(table, 0, [move()], b"")
            assert await unit.letters.settle("k", "done", b"receipt")
            raise ZeroDivisionError
    async with store.begin() as unit:
        assert (await unit.letters.letter("k")).outcome is None
        assert await unit.letters.settle("k", "done", b"receipt")
        assert not await unit.letters.settle("k", "ignored")
    async with store.begin() as unit:
        again = await unit.letters.receive("k", "sha", "raw/2")
        assert (again.outcome, again.receipt, again.attempts, again.path) == ("done", b"receipt", 3, "raw/1")
        assert await unit.letters.unsettled() == []
        with pytest.raises(Missing):
            await unit.letters.letter("unknown")


async def test_another_letter_under_the_same_key_shows(store: Store) -> None:
    async with store.begin() as unit:
        await unit.letters.receive("k", "one", "raw/1")
        assert (await unit.letters.receive("k", "two", "raw/2")).sha != "two"


async def test_settings_and_secrets(store: Store) -> None:
    async with store.begin() as unit:
        assert await unit.installation.get("guild:1") is None
        await unit.installation.put("guild:1", "{}")
        await unit.installation.put("guild:1", '{"parent": 5}')
        assert await unit.installation.get("guild:1") == '{"parent": 5}'
        secret = await unit.installation.secret("carrier")
    async with store.begin() as unit:
        assert await unit.installation.secret("carrier") == secret
        assert await unit.installation.secret("other") != secret
    assert len(secret) == 32
    async with store.read() as unit:
        assert await unit._work.value(select(func.count()).select_from(Setting)) == 3


async def test_one_process_leads(store: Store, clock: Clock) -> None:
    lasting = timedelta(seconds=30)
    async with store.begin() as unit:
        assert await unit.installation.lead("mail", "a", lasting)
        assert not await unit.installation.lead("mail", "b", lasting)
        assert await unit.installation.lead("discord", "b", lasting)
    clock.pass_by(seconds=29)
    async with store.begin() as unit:
        assert await unit.installation.lead("mail", "a", lasting)
    clock.pass_by(seconds=29)
    async with store.begin() as unit:
        assert not await unit.installation.lead("mail", "b", lasting)
    clock.pass_by(seconds=1)
    async with store.begin() as unit:
        assert await unit.installation.lead("mail", "b", lasting)
        await unit.installation.resign("mail", "a")
        assert not await unit.installation.lead("mail", "a", lasting)
        await unit.installation.resign("mail", "b")
        assert await unit.installation.lead("mail", "a", lasting)


async def test_sweep_forgets_only_what_is_of_no_use(store: Store, clock: Clock) -> None:
    async with store.begin() as unit:
        await unit.moves.remember("old", b"")
        await unit.letters.issue("reply", expires=clock.at)
        lasting = await unit.letters.issue("bounce")
    clock.pass_by(days=2)
    async with store.begin() as unit:
        await unit.moves.remember("new", b"")
        assert await unit.installation.sweep(clock.at - timedelta(days=1)) == 2
        assert await unit.moves.answered("old") is None
        assert await unit.moves.answered("new") == b""
        assert await unit.letters.token(lasting) is not None


async def test_a_token_made_elsewhere_is_entered_by_its_hash(store: Store) -> None:
    async with store.begin() as unit:
        await unit.letters.enter(hashed("abc"), "bounce", address="ann@x.org")
        token = await unit.letters.token("ABC")
        assert token is not None and (token.purpose, token.address) == ("bounce", "ann@x.org")
        assert await unit.letters.entered(token.hash) == token
