"""A person is deleted: unique strings in every field, and in what others have written, are nowhere then."""

from __future__ import annotations

import asyncio
import base64
import logging
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from unittest.mock import Mock
from zlib import crc32

import msgspec
import pytest

import engine
from bot.config import parse_settings
from bot.features.privacy.files import DataFolder
from bot.features.privacy.person import MAILBOX
from bot.features.privacy.replacing import Replacing
from bot.hub.people import PrivacySettings
from bot.hub.request import Completed, QueryAnswer, encode_result
from bot.operations.logs import configure_logging
from bot.service import Service
from engine.game_text import replay
from storage import NewMessage, Store, open_store
from storage.models import Card, InboundMail, Model, RequestResult
from storage.repositories.personal_data import NEVER_ABOUT_OTHERS, TEXTS

NAME, DISCORD, ADDRESS = "Zwiebold", "771234567890123456", "own77@secret.test"
MARKS = (
    NAME,
    DISCORD,
    ADDRESS,
    "plan-of-zwie",
    "note-of-zwie",
    "order-of-zwie",
    "wish-of-zwie",
    "claim@zwie.test",
)
TOKEN = "abcdefghijklmnopqrstuvwxyz"
GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


@dataclass
class Host:
    """A service with its folder, and the ids of people and tables by name."""

    folder: Path
    store: Store
    service: Service
    people: dict[str, int]
    tables: dict[str, int]

    async def say(self, table: str, name: str, *lines: str) -> None:
        request, person_id = f"{table}.{crc32(repr((name, lines)).encode())}", self.people[name]
        said = await self.service.submit(self.tables[table], None, lines, None, request, person_id=person_id)
        assert isinstance(said, Completed | QueryAnswer), said


@pytest.fixture
async def host(tmp_path: Path, address: str) -> AsyncIterator[Host]:
    """Zwiebold, Ann and Bob have played; the log is written into the folder."""
    settings = parse_settings({"RAILPOST_DATA": str(tmp_path)})
    before = logging.getLogger().handlers[:], logging.getLogger().level
    configure_logging(settings, to_stderr=False)
    async with await open_store(address) as store:
        service = Service(store, privacy=PrivacySettings(data=tmp_path, has_mailbox=True))
        host = Host(tmp_path, store, service, {}, {})
        async with store.begin() as unit:
            for name in (NAME, "Ann", "Bob", "Dora"):
                host.people[name] = (await unit.people.add(name)).id
            own = host.people[NAME]
            await unit.people.add_identity(own, "discord", DISCORD)
            await unit.people.add_identity(own, "email", ADDRESS)
            await unit.people.add_identity(host.people["Ann"], "email", "ann@x.test")
        await _fill(host)
        yield host
    for handler in logging.getLogger().handlers:
        handler.close()
    logging.getLogger().handlers[:], level = before
    logging.getLogger().setLevel(level)


async def _fill(host: Host) -> None:
    """Tables of every status, and something in every field."""
    service, people, own = host.service, host.people, host.people[NAME]
    for table, names, by in (
        ("running", (NAME, "Ann", "Bob"), "Ann"), ("left", (NAME, "Ann", "Bob"), NAME),
        ("lobby", ("Ann", NAME), "Ann"), ("own lobby", (NAME,), NAME), ("ended", (NAME, "Ann", "Bob"), NAME),
    ):  # fmt: skip
        info = await service.lobby.create(
            "1830", people[by], name=f"{NAME} and others {table.replace(' ', '')}"
        )
        host.tables[table] = info.id
        for name in names:
            await service.lobby.join(info.id, people[name], name)
        if "lobby" not in table:
            await service.lobby.start(info.id, by=people[by], order=names)
    await host.say("running", NAME, "buy SV")
    await host.say("running", "Ann", "buy CS")
    await host.say("running", "Ann", f"note {NAME.lower()} will sell; note of Ann")
    await host.say("running", NAME, "note note-of-zwie")
    await service.running.announce(
        host.tables["running"], f"Ann says: thanks {NAME}, and {ADDRESS} is nice", "say"
    )
    await host.say("left", NAME, "buy SV")
    await host.say("left", NAME, "resign yes")
    await service.running.replace_player(host.tables["left"], 0, people["Dora"], "Dora", by=None)
    await service.running.end_now(host.tables["ended"], by=own)
    await service.watcher.keep(
        await service.watcher.look(_game_of(NAME), "discord:5", None), "discord:5", "9"
    )
    await service.watcher.keep(
        await service.watcher.look(_game_of("Quinn"), "discord:5", None), "discord:5", "8"
    )
    await service.submit_personal(own, ["link claim@zwie.test"])
    await _fill_rows(host)
    _fill_files(host.folder)


def _game_of(name: str) -> bytes:
    return f"title 1830\nplayers {name}, Otto, Pia\n---\n{name}: buy SV\n".encode()


async def _fill_rows(host: Host) -> None:
    """What needs a transport or time, as these would write it."""
    own, table = host.people[NAME], host.tables["running"]
    sentence = f"{NAME} buys the SV; write to {ADDRESS}."
    email = _email(sentence)
    async with host.store.begin() as unit:
        bob = await unit.people.get(host.people["Bob"])
        wish = {"settings": {"deputy": NAME, "deputy_id": own}}
        await unit.people.update(bob.id, preferences=bob.preferences | wish)
        await unit.people.update(own, preferences={"wish": "wish-of-zwie"})
        await unit.facts.set("plans", table, own, {"lines": ["plan-of-zwie"]})
        await unit.polls.open(table, "end", [1], {"question": f"{NAME} would like to end.", "person": own})
        await unit.orders.add(table, 0, own, "auto order-of-zwie", armed_at=1, armed_seq=1)
        await unit.clocks.set_due("x.1", "digest", unit.now, person_id=own, details={"for": NAME})
        await unit.clocks.add_request(host.tables["lobby"], -1, own, NAME)
        await unit.usage.add(own, "tables", "2026-01-01")
        await unit.mail_tokens.add(
            "hash", "reply", person_id=own, address=ADDRESS, message_id="<1@games.test>"
        )
        await unit.outbox.enqueue(
            NewMessage("m1", "mail", {"person": 2, "email": "ann@x.test"}, email, table_id=table),
            NewMessage("m2", "mail", {"to": ADDRESS, "sender": f"b+{TOKEN}@games.test"}, email, text=TOKEN),
            NewMessage("m3", "discord", {"user": DISCORD}, b'{"kind":"news"}', table_id=table),
            NewMessage("m4", "discord", {}, msgspec.json.encode({"kind": "news", "sentences": [sentence]})),
        )  # fmt: skip
        add = unit._transaction.add
        await add(
            RequestResult(
                request_id="q", body=encode_result(QueryAnswer("log", sentence)), created_at=unit.now
            )
        )
        await add(
            Card(
                table_id=table,
                slot="run",
                posted_at=unit.now,
                message_ref={"channel_id": 1, "texts": [sentence]},
            )
        )
        await add(
            Card(table_id=table, slot=f"u{DISCORD}/turn:0", posted_at=unit.now, message_ref={"channel_id": 2})
        )
        await add(InboundMail(key="k", sha256="k", path="k.eml", received_at=unit.now, reply=email))


def _email(text: str) -> bytes:
    """A mail in which nothing can be read without decoding."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "play@games.test", "bob@x.test", "Your turn"
    mail.set_content(f"Grüße. {text}", cte="base64")
    mail.add_alternative(f"<p>Grüße. {text}</p>", subtype="html", cte="quoted-printable")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="map.png")
    return mail.as_bytes()


def _fill_files(folder: Path) -> None:
    for name in ("inbound_mail", "games", "pictures"):
        (folder / name).mkdir()
    (folder / "inbound_mail/a.eml").write_bytes(_email(f"from {ADDRESS}"))
    (folder / "inbound_mail/b.eml").write_bytes(_email("from somebody else"))
    of_nobody = f"From: {ADDRESS}\nContent-Type: text/plain; charset=x-none\n\nTo play+{TOKEN}@games.test"
    (folder / "inbound_mail/c.eml").write_text(of_nobody)
    tagged = ADDRESS.replace("@", "+games@").upper()
    (folder / "inbound_mail/e.eml").write_text(f"From: A <{tagged}>\nTo: play@games.test\n\npass")
    (folder / "inbound_mail/d.eml").write_text("From: spam@x.test\nMessage-ID: <<\n\nNot a header.")
    (folder / "railpost.log.1").write_text(f"2026-01-02 10:00:00,1 INFO x: {NAME}\n", encoding="utf-8")
    logging.getLogger("test").warning("mail from %s by %s, %s", ADDRESS, NAME, DISCORD)


def _stored_bytes(folder: Path) -> list[tuple[str, bytes]]:
    """Everything in the folder, and everything that is packed or encoded within."""
    return [(path.name, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]


async def stored_rows(store: Store) -> list[tuple[str, str]]:
    """Every row of every table as text, with what is packed in it."""
    found = []
    async with store.read() as unit:
        for table in Model.metadata.sorted_tables:
            for row in await unit.personal_data._mappings(table.select()):
                found.append((table.name, repr(tuple(row.values()))))
                for value in row.values():
                    found += [(table.name, text) for text in _packed(value)]
    return found


def _packed(value: object) -> list[str]:
    if isinstance(value, bytes):
        return [value.decode("utf-8", "replace"), *(_texts_of_mail(value))]
    if isinstance(value, str) and len(value) > 40:
        try:
            return [zlib.decompress(base64.b64decode(value.partition(" ")[2])).decode()]
        except (ValueError, zlib.error):
            return []
    return []


def _texts_of_mail(raw: bytes) -> list[str]:
    import email

    parsed = email.message_from_bytes(raw)
    return [part.get_payload(decode=True).decode("utf-8", "replace")  # type: ignore[union-attr]
            for part in parsed.walk() if part.get_content_maintype() == "text"]  # fmt: skip


def _marks_in(text: str) -> list[str]:
    return [mark for mark in MARKS if mark.casefold() in text.casefold()]


async def test_everything_about_a_person_is_gone(host: Host) -> None:
    written = {mark for _, text in await stored_rows(host.store) for mark in _marks_in(text)}
    assert written == set(MARKS), "each string is really stored before"
    ids = {key: (await host.service.queries.table_info(table)).code for key, table in host.tables.items()}
    (host.folder / f"games/{ids['running']}.18xx").write_bytes(_game_of(NAME))
    (host.folder / f"pictures/{ids['running']}-sheet.png").write_bytes(b"\x89PNG")
    await host.service.personal_data.erase(host.people[NAME])
    left = [(table, mark) for table, text in await stored_rows(host.store) for mark in _marks_in(text)]
    assert left == [("settings", ADDRESS)], "for the mailbox alone"
    addresses = await host.service.personal_data.erased_addresses()
    await host.service.personal_data.mailbox_is_erased(addresses)
    async with host.store.begin() as unit:
        assert await unit.settings.get(MAILBOX) is None
    if host.store.path is not None:
        await host.store.write_back()
    for name, raw in _stored_bytes(host.folder):
        assert not _marks_in(raw.decode("utf-8", "replace")), name
    names = sorted(path.name for path in (host.folder / "inbound_mail").iterdir())
    assert names == ["b.eml", "d.eml"] and not list((host.folder / "pictures").iterdir())
    logging.getLogger("test").warning("the log goes on")
    log = (host.folder / "railpost.log").read_text(encoding="utf-8")
    assert "mail from (erased) by (erased), (erased)" in log and log.endswith("the log goes on\n")


async def test_mail_of_another_process_goes_with_the_mailbox(host: Host, tmp_path: Path) -> None:
    """The process that is asked need not be the one that reads mail."""
    elsewhere = Service(host.store, privacy=PrivacySettings(data=tmp_path / "elsewhere", has_mailbox=True))
    await elsewhere.personal_data.erase(host.people[NAME])
    assert (host.folder / "inbound_mail/a.eml").exists()
    data = host.service.personal_data
    await data.mailbox_is_erased(await data.erased_addresses())
    assert {path.name for path in (host.folder / "inbound_mail").iterdir()} == {"b.eml", "d.eml"}


async def test_a_name_that_is_a_word_of_records_or_orders_changes_neither(host: Host) -> None:
    """A plan and an order of Dora's, with an amount and a word that others are called by."""
    place, names = {"guild": 1, "channel": 2, "thread": 3}, ("Channel", "Pass", "165", "Dora")
    async with host.store.begin() as unit:
        host.people |= {name: (await unit.people.add(name)).id for name in names[:3]}
    info = await host.service.lobby.create("1830", host.people["Dora"], name="words", location=place)
    host.tables["words"] = info.id
    for name in names:
        await host.service.lobby.join(info.id, host.people[name], name)
    await host.service.lobby.start(info.id, by=host.people["Dora"], order=names)
    await host.say("words", "Dora", "auto bid CA up to 165")
    await host.say("words", "Dora", "plan Channel: buy SV; Pass: bid CA 165; 165: pass")
    for name in names[:3]:
        await host.service.personal_data.erase(host.people[name])
    assert (await host.service.queries.table_info(info.id)).location == place
    async with host.store.read() as unit:
        assert [each.line for each in await unit.orders.armed(info.id)] == ["auto bid CA up to 165"]
        plan = await unit.facts.get("plans", info.id, host.people["Dora"])
        assert plan is not None and plan["lines"] == [[0, "buy SV"], [1, "bid CA 165"], [2, "pass"]]


async def test_two_presses_at_once_delete_once(host: Host) -> None:
    erase, own = host.service.personal_data.erase, host.people[NAME]
    await asyncio.gather(erase(own), erase(own))
    view = await host.service.queries.view(host.tables["running"])
    assert view.state is not None and view.state.players == ["Player 1", "Ann", "Bob"]
    log = await host.service.queries.log(host.tables["running"])
    told = [sentence for entry in log for sentence in entry.sentences]
    assert sum("has left Railpost" in sentence for sentence in told) == 1


async def test_files_that_cannot_be_changed_are_no_reason_to_forget_whose_they_are(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person would be unknown at the second attempt."""
    erase, own = host.service.personal_data.erase, host.people[NAME]
    with monkeypatch.context() as meanwhile, pytest.raises(PermissionError):
        meanwhile.setattr(DataFolder, "_rewrite_logs", Mock(side_effect=PermissionError))
        await erase(own)
    await erase(own)
    assert not [
        path for path, raw in _stored_bytes(host.folder) if path.endswith("log") and _marks_in(str(raw))
    ]


async def test_the_tables_go_on_without_the_person(host: Host) -> None:
    service = host.service
    view = await service.queries.view(host.tables["running"])
    await service.personal_data.erase(host.people[NAME])
    for fresh in (service, Service(host.store)):
        view = await fresh.queries.view(host.tables["running"])
        assert view.state is not None and view.state.players == ["Player 1", "Ann", "Bob"]
        assert view.table.status == "paused" and [p.name for p in view.table.seated_players] == ["Ann", "Bob"]
        assert view.table.host_id == host.people["Ann"], "a table without a host may be shown anywhere"
        log = await fresh.queries.log(host.tables["running"])
        said = " ".join(sentence for entry in log for sentence in entry.sentences)
        assert "Player 1 buys the SV" in said and "thanks Player 1" in said
        assert "Player 1 has left Railpost." in said and "takes over" not in said
        text = await fresh.submit(host.tables["running"], None, ["export text"], None, None,
                                  person_id=host.people["Ann"])  # fmt: skip
        assert isinstance(text, QueryAnswer) and replay(text.files[0].content.decode()).failure is None
    async with host.store.read() as unit:
        told = [row for row in await _texts(host.store, "outbox") if "The game waits" in row]
        bob = await unit.people.get(host.people["Bob"])
    assert any(
        "Player 1 has left Railpost. The game waits until somebody takes that seat." in row for row in told
    )
    assert bob.preferences["settings"] == {"deputy": "", "deputy_id": None}
    left = await service.queries.view(host.tables["left"])
    assert left.state is not None and left.state.players == ["Dora", "Ann", "Bob"]
    lobby = (await service.queries.table_info(host.tables["lobby"])).seated_players
    assert [p.name for p in lobby] == ["Ann"]
    assert (await service.queries.table_info(host.tables["own lobby"])).status == "ended"
    await service.running.replace_player(host.tables["running"], 0, host.people["Dora"], "Dora", by=None)
    await host.say("running", "Bob", "buy DH")


async def _texts(store: Store, table: str) -> list[str]:
    return [text for name, text in await stored_rows(store) if name == table]


async def test_players_are_told_of_another_host_also_where_the_former_had_no_seat(host: Host) -> None:
    running, left = host.tables["running"], host.tables["left"]
    async with host.store.begin() as unit:
        for table in (running, left):
            await unit.tables.update(table, host_id=host.people[NAME])
    await host.service.personal_data.erase(host.people[NAME])
    sent = await _texts(host.store, "outbox")
    for table, name, told in (
        (running, "Ann", "The game waits until somebody takes that seat. Ann is the host now."),
        (left, "Dora", "The host has left Railpost. Dora is the host now."),
    ):
        assert (await host.service.queries.table_info(table)).host_id == host.people[name]
        assert any(told in row for row in sent)


async def test_what_belongs_to_others_stays(host: Host) -> None:
    """The notes of others stay with the name taken out, so do games that other people are shown."""
    await host.service.personal_data.erase(host.people[NAME])
    async with host.store.read() as unit:
        assert await unit.facts.get("notepad", host.tables["running"], host.people["Ann"]) == [
            "Player 1 will sell; note of Ann"
        ]
    watcher = host.service.watcher
    kept = await watcher.answer("discord:5", "8", None, "changed", Mock())
    assert "Quinn" in kept.text
    with pytest.raises(ValueError, match="too old"):
        await watcher.answer("discord:5", "9", None, "changed", Mock())
    rows = await _texts(host.store, "outbox")
    assert not any("'user'" in text for text in rows), "a direct message would go to nobody"
    assert any("Grüße. Player 1 buys the SV; write to Player 1." in text for text in rows)


async def test_all_that_is_stored_is_one_file_without_secrets(host: Host) -> None:
    file = await host.service.personal_data.export(host.people[NAME])
    text = file.content.decode()
    assert set(_marks_in(text)) == set(MARKS) and "hash" not in text and TOKEN not in text
    data = msgspec.json.decode(file.content)
    assert set(data) >= {"people", "identities", "seats", "moves", "orders", "facts", "mails", "messages"}
    mail, tagged = data["mails"]
    assert mail["text"].endswith("To play+tok:…wxyz@games.test"), "and no mail of somebody who names them"
    assert "+GAMES@" in tagged["text"]
    told = [(row["address"], row["text"]) for row in data["messages"]]
    assert ({"to": ADDRESS, "sender": "b+tok:…wxyz@games.test"}, "tok:…wxyz") in told
    nobody = await host.service.personal_data.export(host.people["Dora"])
    assert not _marks_in(nobody.content.decode())


async def test_an_address_that_somebody_claims_gives_them_nothing_and_takes_nothing(host: Host) -> None:
    """`link` with the address of another person needs no proof, and neither does `/me export`."""
    data, thief = host.service.personal_data, host.people["Dora"]
    await host.service.submit_personal(thief, [f"link {ADDRESS}"])
    found = msgspec.json.decode((await data.export(thief)).content)
    assert found["mails"] == [] and [row["address"]["person"] for row in found["messages"]] == [thief]
    await data.erase(thief)
    assert await data.erased_addresses() == []
    assert (
        ADDRESS in str(await _texts(host.store, "outbox")) and (host.folder / "inbound_mail/c.eml").exists()
    )


async def test_an_address_is_not_part_of_a_longer_one(host: Host) -> None:
    async with host.store.begin() as unit:
        short = await unit.people.add("Short")
        await unit.people.add_identity(short.id, "email", ADDRESS[1:])
    data = host.service.personal_data
    assert msgspec.json.decode((await data.export(short.id)).content)["mails"] == []
    await data.erase(short.id)
    assert (host.folder / "inbound_mail/a.eml").exists() and (host.folder / "inbound_mail/c.eml").exists()


async def test_mail_from_an_address_that_is_anothers_but_for_its_tag_is_theirs(host: Host) -> None:
    """Two people who share a mailbox: it was in the file of the one, and erased with them."""
    async with host.store.begin() as unit:
        await unit.people.add_identity(host.people["Dora"], "email", ADDRESS.replace("@", "+dora@"))
    theirs = host.folder / "inbound_mail/f.eml"
    theirs.write_text(f"From: {ADDRESS.replace('@', '+dora@')}\n\nThis is of Dora.\n")
    data = host.service.personal_data
    assert b"of Dora" not in (await data.export(host.people[NAME])).content
    await data.erase(host.people[NAME])
    await data.mailbox_is_erased(await data.erased_addresses())
    assert theirs.exists()


def test_every_column_with_text_is_known() -> None:
    """A new column is listed as one that can name others, or as one that cannot."""
    from sqlalchemy import JSON, LargeBinary, String

    keys = set(
        "code sha256 path key kind status title pace palette decision_id transport request_id feature slot "
        "outcome channel ordering_key collapse_key idempotency_key external_id options absence".split()
    )
    for table in Model.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, String | JSON | LargeBinary) and table.name not in NEVER_ABOUT_OTHERS:
                known = (
                    column.name in TEXTS.get(table.name, ())
                    or f"{table.name}.{column.name}" in NEVER_ABOUT_OTHERS
                )
                assert known or column.name in keys, f"{table.name}.{column.name}"


def test_names_are_whole_words_and_codes_stay() -> None:
    replacing = Replacing(["77"], ["Al", "Buy"], "Player 1")
    assert replacing.text("Al, Alf and al: 77 is Al's") == "Player 1, Alf and al: Player 1 is Player 1's"
    assert replacing.line("buy SV from Al for 77") == "buy SV from Player 1 for 77"
    number = Replacing((), ["100"], "Player 1")
    game = "players 100, Ann\n100: buy SV\n!100: bid CA 100\n100: sell private SV to 100 for 100\n"
    for line in game.splitlines():
        without = (
            line.replace("100:", "Player 1:").replace("to 100", "to Player 1").replace("100,", "Player 1,")
        )
        assert number.game_text(line) == without
    checked = Replacing((), ["Al"], "Player 1").game_text("Al: pass\n= cash Al 780\n= turn Al\n")
    assert checked == "Player 1: pass\n= cash Player 1 780\n= turn Player 1\n"
    assert number.line("auto bid BO up to 100") == "auto bid BO up to 100"
    assert number.text("100 pays $100 and $1,100.") == "Player 1 pays $100 and $1,100."
    assert replacing.value({"type": "Buy", "n": 77, "t": ("Al", b"\x01")}) == {
        "type": "Buy", "n": 0, "t": ["Player 1", b"\x01"]
    }  # fmt: skip
    state = engine.encode_state(engine.new_game("1830", ["Al", "Ida"], (), 1)[0])
    assert replacing.raw(state) != state and engine.decode_state(replacing.raw(state)).players == [
        "Player 1",
        "Ida",
    ]
    assert replacing.raw(b"\xff\xfe not text") == b"\xff\xfe not text"
