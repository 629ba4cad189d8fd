"""The fake alone: what its users may do, requests that Discord refuses, and what counts as a violation.

All requests are raw. That the unmodified client is served is shown by every test of the bot.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import aiohttp
import discord
import pytest
from PIL import Image

from tests.fake_discord.models import AUTOCOMPLETE, COMMAND
from tests.fake_discord.server import Channel, FakeDiscord, Interaction

Json = dict[str, Any]
V2 = 1 << 15
EPHEMERAL = 1 << 6
NOBODY: Json = {"allowed_mentions": {"parse": []}}


def png() -> bytes:
    """A picture, three pixels wide."""
    made = io.BytesIO()
    Image.new("L", (3, 2)).save(made, "PNG")
    return made.getvalue()


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server


class RawRequests:
    """Raw HTTP requests; responses are (status, body)."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self.fake, self.session = fake, session

    async def __call__(
        self, method: str, path: str, data: object = None, files: dict[str, bytes] | None = None
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bot {self.fake.token}"}
        if isinstance(data, dict) and ("/messages" in path or "/webhooks" in path):
            data = NOBODY | data
        sent: Json = {"json": data} if data is not None else {}
        if files is not None:
            form = aiohttp.FormData(quote_fields=False)
            form.add_field("payload_json", json.dumps(data))
            for i, (name, content) in enumerate(files.items()):
                form.add_field(f"files[{i}]", content, filename=name)
            sent = {"data": form}
        async with self.session.request(method, self.fake.api_url + path, headers=headers, **sent) as got:
            text = await got.text()
            assert not text or got.headers["Content-Type"] == "application/json"
            return got.status, json.loads(text) if text else None

    async def send(
        self, data: object, files: dict[str, bytes] | None = None, where: Channel | str = "general"
    ) -> tuple[int, Any]:
        return await self("POST", f"/channels/{self.fake.find_channel(where).id}/messages", data, files)

    async def answer(self, doing: Interaction, kind: int, data: Json) -> tuple[int, Any]:
        """Acknowledge an interaction."""
        path = f"/interactions/{doing.id}/{doing.token}/callback?with_response=1"
        return await self("POST", path, {"type": kind, "data": NOBODY | data})

    async def register(self, *commands: Json) -> tuple[int, Any]:
        return await self("PUT", f"/applications/{self.fake.bot.id}/commands", list(commands))


@pytest.fixture
async def raw(fake: FakeDiscord) -> AsyncIterator[RawRequests]:
    async with aiohttp.ClientSession() as session:
        yield RawRequests(fake, session)


def refused(got: tuple[int, Any], status: int, code: int, word: str = "") -> None:
    assert (got[0], got[1]["code"]) == (status, code), got
    assert word.lower() in json.dumps(got[1]).lower(), got


# --- parts of requests


def button(label: str = "x", custom_id: str = "c", **more: Any) -> Json:
    return {"type": 2, "style": 1, "label": label, "custom_id": custom_id} | more


def row(*children: Json) -> Json:
    return {"type": 1, "components": list(children)}


def menu(count: int = 1, **more: Any) -> Json:
    options = [{"label": str(i), "value": str(i)} for i in range(count)]
    return {"type": 3, "custom_id": "s", "options": options} | more


def words(text: str = "x") -> Json:
    return {"type": 10, "content": text}


def v2(*parts: Json) -> Json:
    return {"flags": V2, "components": list(parts)}


def gallery(*names: str) -> Json:
    return {"type": 12, "items": [{"media": {"url": f"attachment://{name}"}} for name in names]}


def field(label: str, custom_id: str, /, **more: Any) -> Json:
    typed = {"type": 4, "custom_id": custom_id, "style": 1}
    return {"type": 18, "label": label, "component": typed | more}


def command(**more: Any) -> Json:
    return {"type": 1, "name": "go", "description": "Go", "contexts": [0]} | more


def option(name: str = "o", kind: int = 3, **more: Any) -> Json:
    return {"name": name, "description": "An option", "type": kind} | more


one, two = {"label": "a", "value": "a"}, {"label": "b", "value": "b"}
choice = {"name": "a", "value": "a"}


# --- the users


TABLE = option(
    "new",
    1,
    options=[
        option("title", required=True, choices=[{"name": "The First", "value": "one"}]),
        option("seats", 4, min_value=2, max_value=6),
    ],
)
COMMANDS = (
    command(name="table", options=[TABLE]),
    command(name="do", options=[option("action", required=True), option("company")]),
    command(name="me", contexts=[1]),
)
BUY = menu(custom_id="buy", placeholder="Buy", options=[{"label": "B&O at 100", "value": "bo"}, two])
CARD = v2(
    words("Ann: your turn"),
    row(BUY),
    row(button("Pass", "pass"), button("Bid…", "bid")),
)
BID = {
    "title": "Bid",
    "custom_id": "bidding",
    "components": [
        field("Item", "item", required=False, value="ca"),
        field("Amount", "amount", max_length=4),
    ],
}


async def test_users_can_only_use_what_their_screen_offers(fake: FakeDiscord, raw: RawRequests) -> None:
    await raw.register(*COMMANDS)
    await raw.send(CARD)
    card = fake.last_message("general")
    asked = await fake.click("Ann", card, "Pass")
    await raw.answer(asked, 4, v2(row(button("Yes, pass", "sure"))) | {"flags": V2 | EPHEMERAL})
    private = asked.message
    bid = await fake.click("Ann", card, "Bid…")
    await raw.answer(bid, 9, BID)
    refusals: list[tuple[Awaitable[Any], str]] = [
        (fake.run_command("Ann", "general", "nonsense"), "is offered no /nonsense"),
        (fake.run_command("Ann", "general", "table"), "is a group"),
        (fake.run_command("Bob", "general", "me"), "is offered no /me"),
        (fake.run_command("Ann", "nowhere", "do", action="x"), "no channel nowhere"),
        (fake.run_command("Eve", "general", "do", action="x"), "Nobody here is called Eve"),
        (fake.run_command("Ann", fake.find_dm("Bob"), "do", action="x"), "direct messages of another"),
        (fake.run_command("Ann", "general", "do"), "needs action"),
        (fake.run_command("Ann", "general", "do", action="x", more=1), "no option more"),
        (fake.run_command("Ann", "general", "table new", title="Other"), "offers The First"),
        (fake.run_command("Ann", "general", "table new", title="one", seats=7), "from 2 to 6"),
        (fake.run_command("Ann", "general", "do", action=7), "takes text"),
        (fake.click("Ann", card, "Sell"), "no button 'Sell'"),
        (fake.click("Bob", private, "Yes, pass"), "Only Ann sees"),
        (fake.select("Ann", card, "Sell", "PRR"), "no select 'Sell'"),
        (fake.select("Ann", card, "Buy", "NYC"), "no option 'NYC'"),
        (fake.select("Ann", card, "buy", "bo", "b"), "takes 1 to 1 choices"),
        (fake.submit_modal("Bob", bid.modal, {}), "open on Ann's screen"),
        (fake.submit_modal("Ann", None, {}), "No form is open"),
        (fake.submit_modal("Ann", bid.modal, {"Item": "bo"}), "'Amount' must be filled in"),
        (fake.submit_modal("Ann", bid.modal, {"Item": "bo", "Amount": "12345"}), "0 to 4 characters"),
        (fake.submit_modal("Ann", bid.modal, {"Item": "bo", "Amount": "1", "Why": "-"}), "no field Why"),
    ]
    for doing, why in refusals:
        with pytest.raises(AssertionError, match=why):
            await doing
    assert bid.modal is not None
    bid.modal.is_open = False
    with pytest.raises(AssertionError, match="sent already"):
        await fake.submit_modal("Ann", bid.modal, {"Item": "bo", "Amount": "1"})
    bought = await fake.select("Ann", card, "Buy", "bo")
    await raw.answer(bought, 6, {})
    hook = f"/webhooks/{fake.bot.id}/{bought.token}"
    await raw("PATCH", f"{hook}/messages/@original", {"components": [words("Bought")]})
    with pytest.raises(AssertionError, match="it offers nothing"):
        await fake.click("Ann", card, "Bid…")
    await raw("POST", f"/channels/{card.channel.id}/threads", {"name": "Table", "type": 11})
    thread = fake.threads[0]
    thread.archived_by_request = True
    with pytest.raises(AssertionError, match="archived"):
        await fake.run_command("Ann", thread, "do", action="x")
    await fake.delete_message(card)
    with pytest.raises(AssertionError, match="deleted"):
        await fake.click("Ann", card, "Bid…")
    fake.users["Ann"].is_member = False
    with pytest.raises(AssertionError, match="not a member"):
        await fake.run_command("Ann", "general", "do", action="x")
    assert fake.rejected == []


# --- answers to interactions


async def asked(fake: FakeDiscord, raw: RawRequests) -> Interaction:
    """A command that waits for its answer."""
    await raw.register(command())
    doing = await fake.run_command("Ann", "general", "go")
    doing.delivered = True
    return doing


async def test_late_and_repeated_callbacks_and_expired_tokens(fake: FakeDiscord, raw: RawRequests) -> None:
    late = await asked(fake, raw)
    fake.clock.advance(3.1)
    refused(await raw.answer(late, 4, {"content": "Too late"}), 404, 10062)
    assert late.is_unanswered

    done = await asked(fake, raw)
    hook = f"/webhooks/{fake.bot.id}/{done.token}"
    refused(await raw("POST", hook, {"content": "before the answer"}), 404, 10015)
    assert (await raw.answer(done, 4, {"content": "One"}))[0] == 200
    refused(await raw.answer(done, 4, {"content": "Two"}), 400, 40060)
    assert (await raw("POST", hook, {"content": "In time", "flags": EPHEMERAL}))[0] == 200
    assert done.text == "One\nIn time" and [each.ephemeral for each in done.responses] == [False, True]
    refused(await raw("PATCH", f"{hook}/messages/1", {"content": "x"}), 404, 10008)
    fake.clock.advance(901)
    refused(await raw("PATCH", f"{hook}/messages/@original", {"content": "Late"}), 401, 50027)
    refused(await raw("POST", f"/webhooks/{fake.bot.id}/nonsense", {"content": "x"}), 404, 10015)
    assert len(fake.violations()) == 7, "six refusals and one unanswered"
    with pytest.raises(AssertionError, match="10062"):
        fake.check_violations()
    assert fake.slowest_ack == float("inf")


async def test_a_machine_that_stands_still_is_not_late(
    fake: FakeDiscord, raw: RawRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing, real = await asked(fake, raw), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 10)
    await raw.answer(doing, 4, {"content": "In time"})
    assert doing.text == "In time"
    fake.check_violations()


async def test_callbacks_that_do_not_answer(fake: FakeDiscord, raw: RawRequests) -> None:
    doing = await asked(fake, raw)
    modal = {"title": "T", "custom_id": "m"}

    def form(label: str = "L", description: str = "", **typed: Any) -> Json:
        return modal | {"components": [field(label, "t", **typed) | {"description": description}]}

    cases: list[tuple[int, Json, str]] = [
        (8, {"choices": []}, "does not answer"),
        (7, {"content": "x"}, "does not answer"),
        (9, form() | {"title": "x" * 46}, "title"),
        (9, modal | {"components": []}, "components"),
        (9, modal | {"components": [field("L", str(i)) for i in range(6)]}, "components"),
        (9, modal | {"components": [field("L", "t"), field("L", "t")]}, "duplicated"),
        (9, form() | {"custom_id": "m" * 101}, "custom_id"),
        (9, modal | {"components": [{"type": 2}]}, "type"),
        (9, form(label="x" * 46), "label"),
        (9, form(description="x" * 101), "description"),
        (9, modal | {"components": [field("L", "t") | {"component": menu()}]}, "text input"),
        (9, modal | {"components": [field("L", "t", label="x")]}, "no label of its own"),
        (9, modal | {"components": [field("L", "c" * 101)]}, "custom_id"),
        (9, form(style=3), "style"),
        (9, form(placeholder="x" * 101), "placeholder"),
        (9, form(value="x" * 4001), "4001"),
        (9, form(value="xyz", max_length=2), "value"),
        (9, form(max_length=0), "max_length"),
        (9, form(min_length=3, max_length=2), "min_length"),
        (4, {"content": "x" * 2001}, "content"),
    ]
    for kind, data, word in cases:
        refused(await raw.answer(doing, kind, data), 400, 50035, word)
    refused(await raw("POST", f"/interactions/1/{doing.token}/callback", {"type": 4}), 404, 10062)

    typing = await fake.start_interaction(
        AUTOCOMPLETE, fake.users["Ann"], fake.find_channel("general"), {"name": "x", "options": []}
    )
    many = [{"name": str(i), "value": str(i)} for i in range(26)]
    refused(await raw.answer(typing, 8, {"choices": many}), 400, 50035, "26")
    refused(await raw.answer(typing, 8, {"choices": [choice | {"name": "x" * 101}]}), 400, 50035, "101")
    refused(await raw.answer(typing, 4, {"content": "x"}), 400, 50035, "does not answer")
    assert (await raw.answer(typing, 8, {"choices": many[:25]}))[0] == 200
    assert len(typing.choices) == 25


# --- limits of messages and commands


BAD_MESSAGES: dict[str, tuple[Json, str]] = {
    "content": ({"content": "x" * 2001}, "2000"),
    "nonce": ({"content": "x", "nonce": "n" * 26}, "nonce"),
    "no flag": ({"components": [row(button())]}, "V2"),
    "six buttons": (v2(row(*(button(custom_id=str(i)) for i in range(6)))), "components"),
    "select beside button": (v2(row(menu(), button())), "single select"),
    "text input in message": (
        v2(row({"type": 4, "custom_id": "t", "style": 1})),
        "single select",
    ),
    "label": (v2(row(button("x" * 81))), "label"),
    "no label": (v2(row(button(""))), "label"),
    "long custom_id": (v2(row(button(custom_id="c" * 101))), "custom_id"),
    "no custom_id": (v2(row({"type": 2, "style": 1, "label": "x"})), "custom_id"),
    "duplicate custom_id": (v2(row(button(), button())), "duplicated"),
    "nested duplicate": (v2({"type": 17, "components": [row(button())]}, row(button())), "duplicated"),
    "a link": (v2(row(button(style=5, url="https://example.org"))), "url"),
    "disabled": (v2(row(button(disabled=True))), "disabled"),
    "emoji": (v2(row(button(emoji={"name": "train"}))), "emoji"),
    "26 options": (v2(row(menu(26))), "options"),
    "no options": (v2(row(menu(0))), "options"),
    "option label": (v2(row(menu(options=[one | {"label": "x" * 101}]))), "label"),
    "option value": (v2(row(menu(options=[one | {"value": "x" * 101}]))), "value"),
    "option description": (
        v2(row(menu(options=[one | {"description": "x" * 101}]))),
        "description",
    ),
    "same value": (v2(row(menu(options=[one, one]))), "already used"),
    "placeholder": (v2(row(menu(placeholder="x" * 151))), "placeholder"),
    "max_values": (v2(row(menu(max_values=2))), "max_values"),
    "v2 with content": (v2(words()) | {"content": "x"}, "V2"),
    "41 components": (
        v2(*({"type": 17, "components": [words(), words(), words()]} for _ in range(10)), words()),
        "41",
    ),
    "v2 text": (v2(words("x" * 2001), words("x" * 2000)), "4000"),
    "empty text": (v2(words("")), "content"),
    "a section": (v2({"type": 9, "components": [words()], "accessory": button()}), "type"),
    "container in container": (
        v2({"type": 17, "components": [{"type": 17, "components": [words()]}]}),
        "type",
    ),
    "gallery of eleven": (v2(gallery(*"abcdefghijk")), "items"),
    "gallery without file": (v2(gallery("map.png")), "not found"),
    "file without file": (v2({"type": 13, "file": {"url": "attachment://x.txt"}}), "not found"),
    "unknown attachment": ({"content": "x", "attachments": [{"id": 0, "filename": "x"}]}, "uploaded"),
    "an embed": ({"embeds": [{"title": "x"}]}, "embeds"),
    "mention lists": (
        {"content": "x", "allowed_mentions": {"parse": ["users"]}},
        "mentions",
    ),
    "any mention": ({"content": "x", "allowed_mentions": None}, "mentions"),
    "content is no text": ({"content": 5}, "string"),
    "picture description": (
        v2({"type": 12, "items": [{"media": {"url": "attachment://a.png"}, "description": "x" * 1025}]}),
        "1025",
    ),
    "picture address": (v2({"type": 12, "items": [{"media": {"url": "map.png"}}]}), "URL"),
    "select custom_id": (v2(row(menu(custom_id="c" * 101))), "custom_id"),
    "26 values": (v2(row(menu(25, max_values=26))), "max_values"),
    "a default": (v2(row(menu(options=[one | {"default": True}]))), "default"),
    "option emoji": (v2(row(menu(options=[one | {"emoji": {"name": "x"}}]))), "emoji"),
    "a reply": ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference"),
    "many mentions": ({"content": "x", "allowed_mentions": {"users": [str(i) for i in range(101)]}}, "users"),
}


async def test_messages_over_a_limit(fake: FakeDiscord, raw: RawRequests) -> None:
    for count, (case, (data, word)) in enumerate(BAD_MESSAGES.items(), 1):
        refused(await raw.send(data), 400, 50035, word)
        assert fake.visible_messages("general") == [] and len(fake.rejected) == count, case


async def test_empty_messages_files_and_sizes(fake: FakeDiscord, raw: RawRequests) -> None:
    for empty in ({}, {"content": " "}, {"flags": V2, "components": []}, {"content": "", "components": []}):
        refused(await raw.send(empty), 400, 50006)
    eleven = {f"{i}.txt": b"x" for i in range(11)}
    refused(await raw.send({}, eleven), 400, 50035)
    status, ten = await raw.send({}, dict(list(eleven.items())[:10]))
    path = f"/channels/{ten['channel_id']}/messages/{ten['id']}"
    assert status == 200
    refused(await raw("PATCH", path, {}, {"one more.txt": b"x"}), 400, 50035)
    refused(await raw.send({}, {"big.bin": b"x" * (10 * 1024 * 1024 + 1)}), 413, 40005)
    nine = b"x" * (9 * 1024 * 1024)
    refused(await raw.send({}, {"a": nine, "b": nine, "c": nine}), 413, 40005)
    described = {"attachments": [{"id": 0, "description": "x" * 1025}]}
    refused(await raw.send(described, {"a.png": png()}), 400, 50035, "description")


BAD_COMMANDS: dict[str, Json] = {
    "no description": command(description=""),
    "long description": command(description="x" * 101),
    "for some members only": command(default_member_permissions="8"),
    "a short text": command(options=[option(max_length=20)]),
    "no option description": command(options=[option(description="")]),
    "26 options": command(options=[option(f"o{i}") for i in range(26)]),
    "26 sub-commands": command(options=[option(f"o{i}", 1) for i in range(26)]),
    "26 choices": command(options=[option(choices=[choice | {"value": str(i)} for i in range(26)])]),
    "choice name": command(options=[option(choices=[choice | {"name": "x" * 101}])]),
    "choice value": command(
        options=[option("a", 1, options=[option(choices=[choice | {"value": "x" * 101}])])]
    ),
    "number as text": command(options=[option(choices=[choice | {"value": 1}])]),
    "choices and autocomplete": command(options=[option(choices=[choice], autocomplete=True)]),
    "8000 characters": command(
        options=[
            option(f"o{i}", choices=[{"name": "x" * 90, "value": f"{i}{j}"} for j in range(25)])
            for i in range(4)
        ]
    ),
}


async def test_commands_over_a_limit(fake: FakeDiscord, raw: RawRequests) -> None:
    for case, bad in BAD_COMMANDS.items():
        refused(await raw.register(bad), 400, 50035)
        assert fake.commands == [], case


# --- messages, mentions, nonces, permissions


async def test_only_allowed_mentions_notify(fake: FakeDiscord, raw: RawRequests) -> None:
    ann, bob = fake.users["Ann"], fake.users["Bob"]
    both = f"{ann.mention} {bob.mention}"
    cases: list[tuple[Json, list[str]]] = [
        ({"content": both, "allowed_mentions": {"users": [ann.id, bob.id]}}, ["Ann", "Bob"]),
        ({"content": both, "allowed_mentions": {"parse": []}}, []),
        ({"content": both, "allowed_mentions": {"parse": [], "users": [str(bob.id)]}}, ["Bob"]),
        ({"content": "nobody", "allowed_mentions": {"users": [str(bob.id)]}}, []),
        (v2(words(both)) | {"allowed_mentions": {"users": [ann.id]}}, ["Ann"]),
    ]
    for data, names in cases:
        got = (await raw.send(data))[1]
        assert [user.name for user in fake.last_message("general").pinged] == names, data
        assert got["id"] == str(fake.last_message("general").id)
    said = len(fake.pings)
    await raw("PATCH", f"/channels/{got['channel_id']}/messages/{got['id']}", data | v2(words(both)))
    assert len(fake.pings) == said, "edits notify nobody"
    with pytest.raises(AssertionError, match="Bob was notified"):
        fake.check_violations(pinged=["Ann"])


async def test_a_nonce_is_sent_once(fake: FakeDiscord, raw: RawRequests) -> None:
    def once(nonce: str) -> Awaitable[tuple[int, Any]]:
        return raw.send({"content": "Once", "nonce": nonce, "enforce_nonce": True})

    first = (await once("outbox-7"))[1]
    assert (await once("outbox-7"))[1]["id"] == first["id"]
    assert fake.visible_messages("general") == fake.repeated_sends == [fake.last_message("general")]
    fake.check_violations()
    fake.rest.inject_fault("POST", "messages$", 502, after=True)
    assert [(await once("outbox-8"))[0] for _ in range(2)] == [502, 200]
    assert len(fake.visible_messages("general")) == 2, "the retry of a lost answer finds the first"
    fake.clock.advance(3600)
    await once("outbox-7")
    with pytest.raises(AssertionError, match="second message"):
        fake.check_violations()


async def test_pictures_need_descriptions_and_are_served(fake: FakeDiscord, raw: RawRequests) -> None:
    described: Json = {"attachments": [{"id": 0, "description": "A map"}]}
    (served,) = (await raw.send(described, {"map.png": png()}))[1]["attachments"]
    assert served["width"] == 3
    async with raw.session.get(served["url"]) as got:
        assert await got.read() == png()
    fake.check_violations()
    await raw.send({}, {"bare.png": png()})
    assert fake.alt_texts(fake.last_message("general")) == [None]
    with pytest.raises(AssertionError, match=r"bare\.png .* has no description"):
        fake.check_violations()

    def card(text: str, **more: Any) -> Json:
        return v2(words(text), gallery("map.png")) | more

    made = (await raw.send(card("x"), {"map.png": png()}))[1]
    path = f"/channels/{made['channel_id']}/messages/{made['id']}"
    refused(await raw("PATCH", path, card("y", attachments=[])), 400, 50035, "not found")
    shown = fake.last_message("general")
    assert shown.texts[0] == "x", "a refused edit changes nothing"
    assert (await raw("PATCH", path, card("y", attachments=made["attachments"])))[0] == 200
    assert fake.shown_images(shown), "attachments that are listed stay"


async def test_permissions_non_members_and_deleted_objects(fake: FakeDiscord, raw: RawRequests) -> None:
    general = fake.find_channel("general")
    base = f"/channels/{general.id}"
    sent = (await raw.send({"content": "x"}))[1]
    said = await fake.send_text("Ann", "general", "mine")
    general.denied |= {
        "SEND_MESSAGES",
        "PIN_MESSAGES",
        "CREATE_PUBLIC_THREADS",
        "MANAGE_MESSAGES",
        "ATTACH_FILES",
    }
    refused(await raw.send({"content": "x"}), 403, 50013)
    refused(await raw("PUT", f"{base}/messages/pins/{sent['id']}"), 403, 50013)
    refused(await raw("POST", f"{base}/threads", {"name": "t", "type": 11}), 403, 50013)
    refused(await raw("DELETE", f"{base}/messages/{said.id}"), 403, 50013)
    refused(await raw("PATCH", f"{base}/messages/{said.id}", {"content": "yours"}), 403, 50005)
    general.denied = {"ATTACH_FILES"}
    refused(await raw.send({}, {"a.txt": b"x"}), 403, 50013)
    general.denied = {"VIEW_CHANNEL"}
    refused(await raw.send({"content": "x"}), 403, 50001)
    general.denied = set()
    assert (await raw("DELETE", f"{base}/messages/{sent['id']}"))[0] == 204
    refused(await raw("PATCH", f"{base}/messages/{sent['id']}", {"content": "x"}), 404, 10008)
    refused(await raw("POST", "/channels/1/messages", {"content": "x"}), 404, 10003)
    refused(await raw("POST", "/users/@me/channels", {"recipient_id": 1}), 404, 10013)
    general.denied = {"MANAGE_THREADS"}
    refused(await raw("PATCH", base, {"name": "new"}), 400, 50035, "name")
    own = (await raw("POST", f"{base}/threads", {"name": "t", "type": 11}))[1]["id"]
    assert (await raw("PATCH", f"/channels/{own}", {"archived": False}))[0] == 200, "its maker may"
    refused(await raw("PATCH", f"/channels/{own}", {"locked": True}), 403, 50013)
    fake.threads[0].locked = True
    refused(await raw("PATCH", f"/channels/{own}", {"archived": False}), 403, 50013)
    refused(await raw("POST", f"/channels/{own}/threads", {"name": "t", "type": 11}), 400, 50024)
    general.denied = set()
    refused(await raw("GET", "/no/such/route"), 404, 0, "does not serve")
    await fake.vanish_channel(general)
    refused(await raw("POST", f"{base}/messages", {"content": "x"}), 404, 10003)
    fake.token = "changed"
    raw.fake = FakeDiscord()
    raw.fake.base_url = fake.base_url
    refused(await raw("GET", "/users/@me"), 401, 0)


# --- threads, old messages, rate limits


def asleep(thread: Channel) -> bool:
    return thread.archived


async def test_threads_are_archived_locked_and_unarchived(fake: FakeDiscord, raw: RawRequests) -> None:
    parent = fake.find_channel("general")
    path = f"/channels/{parent.id}/threads"
    refused(await raw("POST", path, {"name": "x"}), 400, 50035, "private")
    refused(await raw("POST", path, {"name": "x" * 101, "type": 11}), 400, 50035, "name")
    refused(await raw("POST", path, {"name": "x", "type": 11, "auto_archive_duration": 61}), 400, 50035)
    status, data = await raw("POST", path, {"name": "Table", "type": 11, "auto_archive_duration": 1440})
    thread = fake.find_channel("Table")
    assert status == 201 and data["id"] == str(thread.id) and parent.messages[-1].type == 18
    message = (await raw.send({"content": "x"}, where=thread))[1]
    own = f"/channels/{thread.id}"
    fake.clock.advance(86401)
    assert asleep(thread)
    refused(await raw("PATCH", f"{own}/messages/{message['id']}", {"content": "y"}), 400, 50083)
    refused(await raw("PUT", f"{own}/messages/pins/{message['id']}"), 400, 50083)
    refused(await raw("PUT", f"{own}/thread-members/{fake.users['Bob'].id}"), 400, 50083)
    doing = await fake.start_interaction(COMMAND, fake.users["Ann"], thread, {})
    refused(await raw.answer(doing, 4, {"content": "x"}), 400, 50083)
    assert (await raw.send({"content": "awake"}, where=thread))[0] == 200 and not asleep(thread)
    assert (await raw("PATCH", own, {"archived": True}))[0] == 200 and asleep(thread)
    assert (await raw("PATCH", own, {"archived": False}))[0] == 200 and not asleep(thread)
    fake.clock.advance(86000)
    refused(await raw("PATCH", own, {"auto_archive_duration": 61}), 400, 50035)
    assert (await raw("PATCH", own, {"auto_archive_duration": 4320}))[0] == 200
    fake.clock.advance(86401)
    assert not asleep(thread), "a changed duration counts as activity"
    thread.locked = True
    refused(await raw.send({"content": "x"}, where=thread), 400, 160005)
    started = f"/channels/{parent.id}/messages/{(await raw.send({'content': 'x'}))[1]['id']}/threads"
    assert (await raw("POST", started, {"name": "From a message"}))[0] == 201
    refused(await raw("POST", started, {"name": "Again"}), 400, 160004)


async def test_old_edits_are_limited(fake: FakeDiscord, raw: RawRequests) -> None:
    await raw("POST", f"/channels/{fake.find_channel('general').id}/threads", {"name": "Table", "type": 11})
    thread = fake.find_channel("Table")
    sent = (await raw.send({"content": "x"}, where=thread))[1]
    path = f"/channels/{thread.id}/messages/{sent['id']}"
    fake.old_edit_limit = (1, 20.0)
    for _ in range(3):
        assert (await raw("PATCH", path, {"content": "young"}))[0] == 200
    fake.clock.advance(3601)
    assert (await raw("PATCH", path, {"content": "old"}))[0] == 200
    status, told = await raw("PATCH", path, {"content": "older"})
    refused((status, told), 429, 30046)
    assert 0 < told["retry_after"] <= 20 and fake.last_message(thread).text == "old"


async def test_malformed_requests(raw: RawRequests) -> None:
    for broken in (
        {"components": "x"},
        {"components": ["x"]},
        {"embeds": ["x"]},
        {"attachments": [{"id": "x"}]},
    ):
        refused(await raw.send(broken), 400, 50035)
    refused(await raw.send(["x"]), 400, 50035)


# --- the gateway


async def test_privileged_intents_are_refused(fake: FakeDiscord) -> None:
    with fake.attached():
        async with discord.Client(intents=discord.Intents.all()) as greedy:
            with pytest.raises(discord.PrivilegedIntentsRequired):
                await greedy.start(fake.token)
