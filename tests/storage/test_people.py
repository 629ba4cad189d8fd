"""People and the identities by which they are known."""

from datetime import timedelta

import pytest

from storage import AlreadyExists, Identity, Store, StoreError, UnitOfWork, hash_secret, new_secret
from tests.storage.conftest import ManualClock, move, new_table

DAY = timedelta(days=1)


async def confirm(unit: UnitOfWork, person_id: int) -> Identity:
    """The owner of the address that this person claims has answered."""
    claim = await unit.people.claim_of_person(person_id)
    assert claim is not None
    return await unit.people.accept_claim(claim)


async def test_a_person_is_found_by_their_discord_id(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.get_or_create("discord", "123", "Ann")
    async with store.begin() as unit:
        again = await unit.people.get_or_create("discord", "123", "Ann the Second")
    assert (again.id, again.name) == (ann.id, "Ann")


async def test_two_identities_are_one_person(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.get_or_create("discord", "123", "Ann")
        await unit.people.create_address_claim(ann.id, " Ann@Example.ORG ", DAY)
        assert await unit.people.verified_addresses(ann.id) == []
        await confirm(unit, ann.id)
    async with store.read() as unit:
        assert await unit.people.verified_addresses(ann.id) == ["ann@example.org"]
        for kind, value in (("discord", "123"), ("email", "ANN@example.org")):
            found = await unit.people.find_by_identity(kind, value)  # type: ignore[arg-type]
            assert found is not None and found.id == ann.id
        assert [identity.kind for identity in await unit.people.identities(ann.id)] == ["discord", "email"]


async def test_a_claim_works_once_and_expires(store: Store, clock: ManualClock) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        await unit.people.create_address_claim(ann.id, "a@x.org", DAY)
        await confirm(unit, ann.id)
        assert await unit.people.claim_of_person(ann.id) is None
        await unit.people.create_address_claim(ann.id, "b@x.org", DAY)
    clock.advance(days=1)
    async with store.read() as unit:
        assert await unit.people.claim_of_person(ann.id) is None


async def test_a_new_claim_ends_the_one_before(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        await unit.people.create_address_claim(ann.id, "a@x.org", DAY)
        await unit.people.create_address_claim(ann.id, "b@x.org", DAY)
        assert (await confirm(unit, ann.id)).value == "b@x.org"
        assert await unit.people.claim_of_person(ann.id) is None


async def test_a_claim_gives_nothing_before_it_is_confirmed(store: Store) -> None:
    async with store.begin() as unit:
        mallory, ann = await unit.people.add("Mallory"), await unit.people.add("Ann")
        await unit.people.create_address_claim(mallory.id, "ann@x.org", DAY)
        assert await unit.people.find_by_identity("email", "ann@x.org") is None
        await unit.people.create_address_claim(ann.id, "ann@x.org", DAY)
        await confirm(unit, ann.id)
        assert await unit.people.verified_addresses(mallory.id) == []


async def test_what_a_merged_person_has_chosen_stays_where_the_other_has_chosen_nothing(store: Store) -> None:
    async with store.begin() as unit:
        bob = await unit.people.add("Bob", language="de")
        await unit.people.update(bob.id, preferences={"digest": "daily"})
        guest = await unit.people.add("bob@x.org", language="fr", time_zone="Europe/Berlin")
        await unit.people.update(guest.id, preferences={"digest": "off", "next": True})
        await unit.people.merge(bob.id, guest.id)
        bob = await unit.people.get(bob.id)
        assert (bob.language, bob.time_zone) == ("de", "Europe/Berlin")
        assert bob.preferences == {"digest": "daily", "next": True}


async def test_a_person_invited_by_address_is_merged_with_its_owner(store: Store) -> None:
    table = await new_table(store)
    async with store.begin() as unit:
        guest = await unit.people.get_or_create("email", "bob@x.org", "Bob", verified=False)
        await unit.tables.add_seat(table, guest.id, "Bob", invited=True)
        entry = move()._replace(person_id=guest.id)
        await unit.move_log.append(table, 0, [entry], b"")
        bob = await unit.people.get_or_create("discord", "9", "bob_9")
        await unit.people.create_address_claim(bob.id, "bob@x.org", DAY)
        await confirm(unit, bob.id)
    async with store.read() as unit:
        assert await unit.people.verified_addresses(bob.id) == ["bob@x.org"]
        assert [seat.person_id for seat in await unit.tables.seats(table)] == [bob.id]
        assert [row.person_id for row in await unit.move_log.rows(table)] == [bob.id]
        with pytest.raises(StoreError, match="no person"):
            await unit.people.get(guest.id)


async def test_an_address_of_a_person_with_another_identity_is_not_taken_over(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.get_or_create("discord", "1", "Ann")
        await unit.people.add_identity(ann.id, "email", "ann@x.org")
        bob = await unit.people.get_or_create("discord", "2", "Bob")
        await unit.people.create_address_claim(bob.id, "ann@x.org", DAY)
    with pytest.raises(AlreadyExists, match="belongs to Ann"):
        async with store.begin() as unit:
            await confirm(unit, bob.id)
    with pytest.raises(AlreadyExists):
        async with store.begin() as unit:
            await unit.people.add_identity(bob.id, "discord", "1")
    async with store.begin() as unit:
        assert await unit.people.remove_identity(ann.id, "email", "ANN@x.org")
        assert not await unit.people.remove_identity(ann.id, "email", "ann@x.org")
        assert (await confirm(unit, bob.id)).person_id == bob.id


async def test_an_address_given_at_an_invitation_is_verified_later(store: Store) -> None:
    async with store.begin() as unit:
        cid = await unit.people.get_or_create("email", "cid@x.org", "Cid", verified=False)
        assert await unit.people.verified_addresses(cid.id) == []
        await unit.people.add_identity(cid.id, "email", "cid@x.org")
        assert await unit.people.verified_addresses(cid.id) == ["cid@x.org"]


async def test_an_update_leaves_other_columns(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann", time_zone="Europe/Rome")
        await unit.people.update(ann.id, language="it", preferences={"mail": "off"})
    async with store.read() as unit:
        ann = await unit.people.get(ann.id)
    assert (ann.name, ann.time_zone, ann.language, ann.preferences) == (
        "Ann",
        "Europe/Rome",
        "it",
        {"mail": "off"},
    )


def test_secrets_survive_a_change_of_case() -> None:
    words = {new_secret() for _ in range(500)}
    assert len(words) == 500
    assert all(len(word) == 26 and word == word.lower() and word.isalnum() for word in words)
    word = words.pop()
    assert hash_secret(word.upper()) == hash_secret(word) != word


async def test_a_claim_lasts_until_it_is_verified_or_deleted(store: Store) -> None:
    async with store.begin() as unit:
        ann = await unit.people.add("Ann")
        assert await unit.people.claim_of_person(ann.id) is None
        await unit.people.create_address_claim(ann.id, "ann@x.org", DAY)
        await unit.people.delete_claims(ann.id)
        assert await unit.people.claim_of_person(ann.id) is None
        await unit.people.create_address_claim(ann.id, "Ann@x.org", DAY)
        claim = await unit.people.claim_of_person(ann.id)
        assert claim is not None and claim.address == "ann@x.org"
        assert (await unit.people.accept_claim(claim)).value == "ann@x.org"
        assert await unit.people.claim_of_person(ann.id) is None


async def test_nobody_gets_two_seats_at_a_table_by_a_claim(store: Store) -> None:
    """Who had got a second seat could never act there, so the game was stuck."""
    table = await new_table(store)
    async with store.begin() as unit:
        await unit.tables.update(table, status="running")
        bob = await unit.people.get_or_create("discord", "9", "Bob")
        guest = await unit.people.get_or_create("email", "bob@x.org", "Robert")
        for person in (bob, guest):
            await unit.tables.add_seat(table, person.id, person.name)
        code = (await unit.tables.get(table)).code
    async with store.begin() as unit:
        await unit.people.create_address_claim(bob.id, "bob@x.org", DAY)
        with pytest.raises(AlreadyExists, match=f"bob@x.org has a seat of its own at table {code}."):
            await confirm(unit, bob.id)
    async with store.begin() as unit:
        await unit.tables.update(table, status="finished")
        await unit.people.create_address_claim(bob.id, "bob@x.org", DAY)
        await confirm(unit, bob.id)
    async with store.read() as unit:
        assert [seat.person_id for seat in await unit.tables.seats(table)] == [bob.id, bob.id]
