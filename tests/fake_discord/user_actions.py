"""Users of the fake Discord: what they see, and what they can do.

An action uses only what the user's message, form or list of commands offers at that moment. Otherwise it
raises AssertionError with a clear sentence: nobody can press a button that is removed, disabled or another
user's, choose an option that is not listed, or send a form with an empty required field.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.fake_discord.models import (
    AUTOCOMPLETE,
    COMMAND,
    COMPONENT,
    DM,
    MODAL_SUBMIT,
    Channel,
    Interaction,
    Json,
    Message,
    Modal,
    OptionChoice,
    UploadedFile,
    User,
    walk_components,
)
from tests.fake_discord.server_state import MessageRequest, ServerState, shown_pictures

USER_OPTION, ATTACHMENT_OPTION = 6, 11
"""The type of an option that takes a file; its value here is a pair: filename and bytes."""
CONTROL_KINDS = {2: "button", 3: "select"}


@dataclass(frozen=True)
class MessageControl:
    """A button or select of a message.

    `label`: a button's label, or a select's placeholder. No control of ours is disabled.
    """

    kind: str
    label: str
    custom_id: str
    options: tuple[OptionChoice, ...]
    component: Json

    def __str__(self) -> str:
        return f"{self.kind} {self.label!r}"


def parse_control(part: Json) -> MessageControl:
    label = part.get("label") or part.get("placeholder") or ""
    options = tuple(OptionChoice(each["label"], each["value"]) for each in part.get("options", []))
    return MessageControl(CONTROL_KINDS[part["type"]], label, part["custom_id"], options, part)


class UserActions(ServerState):
    """Actions of users and queries. Users, channels and threads may be given by name."""

    # --- finding ----------------------------------------

    def find_user(self, who: User | str) -> User:
        if isinstance(who, User):
            return who
        assert who in self.users, f"Nobody here is called {who}; there are {', '.join(self.users)}."
        return self.users[who]

    def find_channel(self, where: Channel | Message | str | int) -> Channel:
        """A channel by a message in it, by name (the newest of that name) or by id."""
        if isinstance(where, Message):
            return where.channel
        if isinstance(where, Channel):
            return where
        found = [
            each
            for each in self.channels.values()
            if not each.deleted and where in (each.name, each.id) and each.kind != DM
        ]
        assert found, (
            f"There is no channel {where}; there are {[each.name for each in self.channels.values()]}."
        )
        return found[-1]

    @property
    def threads(self) -> list[Channel]:
        """All threads that are not deleted, oldest first."""
        return [each for each in self.channels.values() if each.is_thread and not each.deleted]

    def find_dm(self, user: User | str) -> Channel:
        """The channel of direct messages between a user and the bot."""
        return self.dm_channel(self.find_user(user))

    # --- looking ----------------------------------------

    def visible_messages(self, channel: Channel | str | int, user: User | str | None = None) -> list[Message]:
        """The messages that `user` (None: everybody) sees in a channel, oldest first; no system messages."""
        reader = None if user is None else self.find_user(user)
        return [
            each
            for each in self.find_channel(channel).messages
            if not each.deleted and each.type == 0 and each.visible_to in (None, reader)
        ]

    def last_message(self, channel: Channel | str | int, user: User | str | None = None) -> Message:
        """The newest visible message. Raises AssertionError in an empty channel."""
        seen = self.visible_messages(channel, user)
        assert seen, f"Nothing has been said in {self.find_channel(channel).name}."
        return seen[-1]

    def controls(self, message: Message) -> list[MessageControl]:
        """The controls of a message, in reading order; a deleted message shows none."""
        shown = [] if message.deleted else walk_components(message.components)
        return [parse_control(part) for part in shown if part["type"] in CONTROL_KINDS]

    def messages_with_controls(
        self, channel: Channel | str | int, user: User | str | None = None
    ) -> list[Message]:
        """The visible messages with controls."""
        return [each for each in self.visible_messages(channel, user) if self.controls(each)]

    def alt_texts(self, message: Message) -> list[str | None]:
        """The descriptions of the pictures, in reading order; None for a picture without one."""
        return [description or None for _, description in shown_pictures(message)]

    def shown_images(self, message: Message) -> list[UploadedFile]:
        """The uploaded pictures that a reader sees, in reading order."""
        shown = [name for name, _ in shown_pictures(message)]
        return [each for name in shown for each in message.attachments if each.filename == name]

    def messages_pinging(self, user: User | str) -> list[Message]:
        """The messages that notified a user, in order."""
        wanted = self.find_user(user)
        return [each.message for each in self.pings if each.user is wanted]

    # --- waiting ----------------------------------------

    async def wait_until(self, condition: Callable[[], Any], what: str, timeout: float | None = None) -> None:
        """Wait until `condition()`; AssertionError with `what` after `timeout` seconds."""
        seconds = self.default_timeout if timeout is None else timeout
        assert await self.changes.wait_until(condition, seconds), f"Waited {seconds:g} s in vain for {what}."

    async def wait_ready(self) -> None:
        """Wait until a client is connected and has registered its commands."""
        await self.wait_until(lambda: self.gateway.connected and self.commands, "a client with commands")

    # --- doing ----------------------------------------

    async def send_text(self, user: User | str, channel: Channel | str | int, text: str) -> Message:
        """Write a plain message."""
        person = self.find_user(user)
        return await self.create_message(
            self.find_channel(channel), MessageRequest({"content": text}), author=person
        )

    async def run_command(
        self, user: User | str, channel: Channel | str | int, command: str, /, **options: Any
    ) -> Interaction:
        """Run a slash command: `slash("Ann", "general", "table new", title="1830")`.

        Values are what a person would type or pick: text, numbers, booleans, a `User` or name, or the name
        or value of a fixed choice. An option whose name is no identifier is given as
        `**{"the-name": value}`.
        """
        person, place, root, path, leaf = self._find_command(user, channel, command)
        given = self._option_values(leaf, options)
        missing = [
            each["name"] for each in leaf["options"] if each.get("required") and each["name"] not in options
        ]
        assert not missing, f"/{command} needs {', '.join(missing)}."
        return await self._interact(COMMAND, person, place, self._command_data(root, path, given))

    async def autocomplete(
        self,
        user: User | str,
        channel: Channel | str | int,
        command: str,
        /,
        *,
        option: str,
        typed: str = "",
        **given: Any,
    ) -> list[OptionChoice]:
        """The suggestions for `typed` in `option`, with the options in `given` already filled in.

        Raises AssertionError where the bot does not answer in time.
        """
        person, place, root, path, leaf = self._find_command(user, channel, command)
        declared = {each["name"]: each for each in leaf["options"]}
        assert option in declared, f"/{command} has no option {option}; it has {', '.join(declared)}."
        assert declared[option].get("autocomplete"), f"Option {option} of /{command} suggests nothing."
        sent = self._option_values(leaf, given)
        sent.append({"name": option, "type": declared[option]["type"], "value": typed, "focused": True})
        done = await self._interact(AUTOCOMPLETE, person, place, self._command_data(root, path, sent))
        assert not done.is_unanswered, f"Loading options for /{command} {option} failed."
        return done.choices

    async def click(
        self, user: User | str, message: Message, label: str | None = None, *, custom_id: str | None = None
    ) -> Interaction:
        """Press the button with this label, or with this custom_id."""
        person = self._require_reader(user, message)
        wanted = [
            each
            for each in self.controls(message)
            if each.kind == "button"
            and (each.custom_id == custom_id if custom_id is not None else each.label == label)
        ]
        pressed = self._single_control(wanted, message, f"button {custom_id or label!r}")
        return await self._interact(
            COMPONENT,
            person,
            message.channel,
            {"custom_id": pressed.custom_id, "component_type": 2, "id": pressed.component["id"]},
            message,
        )

    async def select(
        self,
        user: User | str,
        message: Message,
        control: str | None,
        *choices: str,
    ) -> Interaction:
        """Choose from the select with this placeholder or custom_id (None: the only one).

        A choice is an option's label or value.
        """
        person = self._require_reader(user, message)
        menus = [each for each in self.controls(message) if each.kind == "select"]
        wanted = [each for each in menus if control in (None, each.custom_id, each.label)]
        used = self._single_control(wanted, message, f"select {control!r}")
        data: Json = {
            "custom_id": used.custom_id,
            "component_type": used.component["type"],
            "values": self._selected_values(used.component, choices, str(used)),
            "id": used.component["id"],
        }
        return await self._interact(COMPONENT, person, message.channel, data, message)

    async def submit_modal(
        self, user: User | str, modal: Modal | None, values: dict[str, Any] | None = None
    ) -> Interaction:
        """Fill in a form by the labels of its fields and send it.

        Fields that are left out keep their values.
        """
        person = self.find_user(user)
        assert modal is not None, "No form is open."
        assert modal.user is person, f"The form {modal.title!r} is open on {modal.user.name}'s screen."
        assert modal.is_open, f"The form {modal.title!r} has been sent already."
        given = dict(values or {})
        parts = [
            {"type": 18, "id": part["id"], "component": self._field_value(part, given)}
            for part in modal.components
        ]
        assert not given, (
            f"The form {modal.title!r} has no field {', '.join(given)}; "
            f"it has {', '.join(part['label'] for part in modal.components)}."
        )
        data: Json = {"custom_id": modal.custom_id, "components": parts}
        done = await self._interact(MODAL_SUBMIT, person, modal.channel, data, modal.message)
        modal.is_open = done.is_unanswered  # a form that failed stays open and may be sent again
        return done

    async def fill_in(
        self, user: User | str, message: Message, label: str, values: dict[str, Any]
    ) -> Interaction:
        """Press the button that opens a form, fill it in and send it."""
        return await self.submit_modal(user, (await self.click(user, message, label)).modal, values)

    # --- how ----------------------------------------

    async def _interact(
        self,
        kind: int,
        user: User,
        channel: Channel,
        data: Json,
        source: Message | None = None,
    ) -> Interaction:
        person = user.name
        assert user.is_member or channel.guild_id is None, f"{person} is not a member of the guild."
        assert not channel.deleted, f"The channel {channel.name} is deleted."
        assert not channel.locked, f"The thread {channel.name} is locked."
        assert not channel.archived, f"The thread {channel.name} is archived."
        done = await self.start_interaction(kind, user, channel, copy.deepcopy(data), source)
        if done.ack_type == 5:
            await self.wait_until(lambda: not done.is_thinking, f"the bot to stop thinking about {done}")
        return done

    def _require_reader(self, user: User | str, message: Message) -> User:
        person = self.find_user(user)
        assert not message.deleted, "That message is deleted."
        assert message.visible_to in (None, person), (
            f"Only {message.visible_to.name if message.visible_to else ''} sees that message, "
            f"not {person.name}."
        )
        recipient = message.channel.recipient
        assert recipient in (None, person), f"{person.name} cannot see into the direct messages of another."
        return person

    def _single_control(self, wanted: list[MessageControl], message: Message, what: str) -> MessageControl:
        offered = "; ".join(map(str, self.controls(message))) or "nothing"
        assert wanted, f"There is no {what} on {message!r}; it offers {offered}."
        assert len(wanted) == 1, f"There are {len(wanted)} of {what} on {message!r}; say which by custom_id."
        return wanted[0]

    def _selected_values(self, part: Json, choices: Iterable[str], what: str) -> list[str]:
        values: list[str] = []
        for choice in choices:
            found = [each["value"] for each in part["options"] if choice in (each["value"], each["label"])]
            labels = ", ".join(each["label"] for each in part["options"])
            assert found, f"The {what} has no option {choice!r}; it has {labels}."
            values.append(found[0])
        assert len(set(values)) == len(values), f"An option of the {what} can be chosen only once."
        most = part.get("max_values", 1)
        assert 1 <= len(values) <= most, f"The {what} takes 1 to {most} choices, not {len(values)}."
        return values

    def _resolve_user(self, value: object, resolved: Json) -> str:
        assert isinstance(value, (User, str)), f"{value!r} is no person."
        user = self.find_user(value)
        resolved.setdefault("users", {})[str(user.id)] = user.to_json()
        if user.is_member:
            resolved.setdefault("members", {})[str(user.id)] = user.member_json(user=False)
        return str(user.id)

    # commands

    def _find_command(
        self,
        user: User | str,
        channel: Channel | str | int,
        command: str,
    ) -> tuple[User, Channel, Json, list[Json], Json]:
        """Resolve `table new` into user, channel, root command, path of sub-commands, and leaf."""
        person, place = self.find_user(user), self.find_channel(channel)
        assert place.recipient in (None, person), (
            f"{person.name} cannot write into the direct messages of another."
        )
        words = command.split()
        context = 0 if place.recipient is None else 1
        offered = [each for each in self.commands if context in each["contexts"]]
        path: list[Json] = []
        for i, word in enumerate(words):
            found = next((each for each in offered if each["name"] == word), None)
            names = ", ".join(each["name"] for each in offered)
            assert found is not None, (
                f"{person.name} is offered no /{' '.join(words[: i + 1])} here, only: {names}."
            )
            path.append(found)
            offered = [each for each in found.get("options") or [] if each["type"] in (1, 2)]
        assert not offered, (
            f"/{command} is a group: it continues with {', '.join(each['name'] for each in offered)}."
        )
        leaf: Json = {"options": []} | path[-1]
        return person, place, path[0], path[1:], leaf

    def _option_values(self, leaf: Json, given: dict[str, Any]) -> list[Json]:
        declared = {each["name"]: each for each in leaf["options"] or []}
        unknown = [name for name in given if name not in declared]
        assert not unknown, (
            f"There is no option {', '.join(unknown)}; there are {', '.join(declared) or 'none'}."
        )
        return [
            {
                "name": name,
                "type": declared[name]["type"],
                "value": self._checked_value(declared[name], value),
            }
            for name, value in given.items()
        ]

    def _checked_value(self, option: Json, value: Any) -> Any:
        kind, name = option["type"], option["name"]
        if offered := option.get("choices"):
            found = [each["value"] for each in offered if value in (each["value"], each["name"])]
            assert found, (
                f"Option {name} offers {', '.join(each['name'] for each in offered)}, not {value!r}."
            )
            return found[0]
        if kind == 3:
            assert isinstance(value, str), f"Option {name} takes text, not {value!r}."
            assert 1 <= len(value) <= 6000, f"Option {name} takes 1 to 6000 characters."
        elif kind == 4:
            assert type(value) is int, f"Option {name} takes a number, not {value!r}."
            low, high = option["min_value"], option["max_value"]
            assert low <= value <= high, f"Option {name} takes a number from {low} to {high}, not {value}."
        elif kind == 5:
            assert isinstance(value, bool), f"Option {name} is yes or no, not {value!r}."
        return value

    def _command_data(self, root: Json, path: list[Json], given: list[Json]) -> Json:
        resolved: Json = {}
        for each in given:
            if each["type"] == ATTACHMENT_OPTION:
                filename, content = each["value"]
                sent = self.store_file(filename, content)
                resolved.setdefault("attachments", {})[str(sent.id)] = sent.to_json()
                each["value"] = str(sent.id)
            if each["type"] == USER_OPTION:
                each["value"] = self._resolve_user(each["value"], resolved)
        options = given
        for part in reversed(path):
            options = [{"name": part["name"], "type": part["type"], "options": options}]
        data: Json = {"id": root["id"], "name": root["name"], "type": 1, "options": options}
        return data | ({"resolved": resolved} if resolved else {})

    # forms

    def _field_value(self, field: Json, given: dict[str, Any]) -> Json:
        """What the client sends for one field; removes its value from `given`."""
        part, label = field["component"], field["label"]
        typed = str(given.pop(label, part.get("value") or ""))
        assert typed or not part.get("required", True), f"Field {label!r} must be filled in."
        least, most = part.get("min_length") or 0, part.get("max_length") or 4000
        assert not typed or least <= len(typed) <= most, (
            f"Field {label!r} takes {least} to {most} characters."
        )
        return {"type": part["type"], "custom_id": part["custom_id"], "id": part["id"], "value": typed}
