"""What Discord refuses in the things a bot makes: messages, components, modals, commands, choices.

Pure functions over wire objects; each raises `Refused` (mostly 400/50035) at the first breach and returns
nothing. The figures are Discord's published ones; where a rule is unpublished the fake takes the stricter
reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .model import Json, Refused, malformed, walk

CONTENT, EMBED_TEXT, V2_TEXT, V2_COMPONENTS, FILES = 2000, 6000, 4000, 40, 10
REQUEST_BYTES = 25 * 1024 * 1024
SELECTS = frozenset({3, 5, 6, 7, 8})
IN_LABEL = SELECTS | {4, 19, 21, 22, 23}
IN_CONTAINER = frozenset({1, 9, 10, 12, 13, 14})
IN_MESSAGE = IN_CONTAINER | {17}
COMMAND_NAME = re.compile(r"[-_'\w]{1,32}")
AUTO_ARCHIVE = frozenset({60, 1440, 4320, 10080})

At = tuple[str | int, ...]


def text(value: object, least: int, most: int, *at: str | int) -> str:
    """Require a string of `least` to `most` characters; an empty or missing one counts as no characters."""
    if value is not None and not isinstance(value, str):
        raise malformed("Must be a string.", *at)
    length = len(value or "")
    if not least <= length <= most:
        raise malformed(f"Must be between {least} and {most} in length (it is {length}).", *at)
    return value or ""


def count(items: object, least: int, most: int, *at: str | int) -> list[Any]:
    if not isinstance(items, list):
        raise malformed("Must be a list.", *at)
    if not least <= len(items) <= most:
        raise malformed(f"Must be between {least} and {most} in length (it has {len(items)}).", *at)
    return items


def number(value: object, least: int, most: int, *at: str | int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise malformed(f"Must be a whole number from {least} to {most} (it is {value!r}).", *at)
    return value


def given(part: Json, key: str, default: int) -> object:
    """The value of a field that may be left out or null."""
    value = part.get(key)
    return default if value is None else value


# --- messages ----------------------------------------


def message(
    *, content: str, embeds: list[Json], components: list[Json], files: int, v2: bool, thinking: bool
) -> None:
    """Check a whole message as it would stand after the request. Errors: 50006 empty, 50035 anything else."""
    text(content, 0, CONTENT, "content")
    if files > FILES:
        raise malformed(f"Must be {FILES} or fewer in length (it has {files}).", "attachments")
    if v2:
        if content or embeds:
            field = "content" if content else "embeds"
            raise malformed(
                "The message flag for components V2 cannot go with content, embeds or polls.", field
            )
        v2_components(components)
    else:
        check_embeds(embeds)
        legacy_components(components)
    if not (content.strip() or embeds or components or (files and not v2) or thinking):
        raise Refused(400, 50006, "Cannot send an empty message")
    unique_ids(components)


def check_embeds(embeds: list[Json]) -> None:
    count(embeds, 0, 10, "embeds")
    total = 0
    for i, embed in enumerate(embeds):
        at: At = ("embeds", i)
        said = [
            text(embed.get("title"), 0, 256, *at, "title"),
            text(embed.get("description"), 0, 4096, *at, "description"),
            text((embed.get("footer") or {}).get("text"), 0, 2048, *at, "footer"),
            text((embed.get("author") or {}).get("name"), 0, 256, *at, "author"),
        ]
        for j, each in enumerate(count(embed.get("fields", []), 0, 25, *at, "fields")):
            said += [
                text(each.get("name"), 1, 256, *at, "fields", j, "name"),
                text(each.get("value"), 1, 1024, *at, "fields", j, "value"),
            ]
        total += sum(map(len, said))
    if total > EMBED_TEXT:
        raise malformed(f"Embeds exceed {EMBED_TEXT} characters in total.", "embeds")


def legacy_components(components: list[Json]) -> None:
    count(components, 0, 5, "components")
    for i, row in enumerate(components):
        if row.get("type") != 1:
            raise malformed(
                "Value must be one of {1,}: only action rows without the V2 flag.", "components", i, "type"
            )
        action_row(row, ("components", i))


def v2_components(components: list[Json]) -> None:
    total = sum(1 for _ in walk(components))
    if total > V2_COMPONENTS:
        raise malformed(
            f"The total number of components must be at most {V2_COMPONENTS} (it is {total}).", "components"
        )
    said = sum(len(part.get("content") or "") for part in walk(components) if part.get("type") == 10)
    if said > V2_TEXT:
        raise malformed(f"The total displayable text must be at most {V2_TEXT} (it is {said}).", "components")
    for i, part in enumerate(components):
        block(part, ("components", i), IN_MESSAGE)


def block(part: Json, at: At, allowed: frozenset[int]) -> None:
    kind = part.get("type")
    if kind not in allowed:
        raise malformed(f"A component of type {kind} cannot stand here.", *at, "type")
    if kind == 1:
        action_row(part, at)
    elif kind == 9:
        section(part, at)
    elif kind == 10:
        text(part.get("content"), 1, V2_TEXT, *at, "content")
    elif kind == 12:
        for i, item in enumerate(count(part.get("items"), 1, 10, *at, "items")):
            media(item.get("media"), (*at, "items", i, "media"))
            text(item.get("description"), 0, 1024, *at, "items", i, "description")
    elif kind == 13:
        media(part.get("file"), (*at, "file"))
    elif kind == 17:
        for i, child in enumerate(count(part.get("components"), 1, V2_COMPONENTS, *at, "components")):
            block(child, (*at, "components", i), IN_CONTAINER)


def section(part: Json, at: At) -> None:
    for i, child in enumerate(count(part.get("components"), 1, 3, *at, "components")):
        block(child, (*at, "components", i), frozenset({10}))
    accessory = part.get("accessory")
    if not isinstance(accessory, dict) or accessory.get("type") not in (2, 11):
        raise malformed("A section needs a button or a thumbnail as its accessory.", *at, "accessory")
    if accessory["type"] == 2:
        button(accessory, (*at, "accessory"))
    else:
        media(accessory.get("media"), (*at, "accessory", "media"))
        text(accessory.get("description"), 0, 1024, *at, "accessory", "description")


def media(item: object, at: At) -> None:
    if not isinstance(item, dict) or not str(item.get("url", "")).startswith(
        ("attachment://", "http://", "https://")
    ):
        raise malformed("Not a well formed URL.", *at, "url")


def action_row(row: Json, at: At) -> None:
    children = count(row.get("components"), 1, 5, *at, "components")
    kinds = {child.get("type") for child in children}
    if kinds - {2} and (len(children) > 1 or not kinds <= SELECTS):
        raise malformed("An action row holds up to five buttons or a single select.", *at, "components")
    for i, child in enumerate(children):
        (button if child["type"] == 2 else select)(child, (*at, "components", i))


def button(part: Json, at: At) -> None:
    style = number(part.get("style"), 1, 6, *at, "style")
    text(part.get("label"), 0, 80, *at, "label")
    if style == 5:
        text(part.get("url"), 1, 512, *at, "url")
        if part.get("custom_id"):
            raise malformed("A custom id and url cannot both be specified.", *at)
    elif style != 6:
        custom_id(part, at)
    if style != 6 and not part.get("label") and not part.get("emoji"):
        raise malformed("A button needs a label or an emoji.", *at)
    emoji(part.get("emoji"), at)


def emoji(value: Json | None, at: At) -> None:
    """Refuse what is neither a Unicode emoji nor one with an id."""
    if value is None or value.get("id"):
        return
    name = str(value.get("name") or "")
    if (
        not name
        or len(name) > 32
        or not any(ord(sign) > 0x203B or ord(sign) in (0xA9, 0xAE) for sign in name)
    ):
        raise malformed("Invalid emoji", *at, "emoji", "name")


def custom_id(part: Json, at: At) -> None:
    text(part.get("custom_id"), 1, 100, *at, "custom_id")


def select(part: Json, at: At) -> None:
    custom_id(part, at)
    text(part.get("placeholder"), 0, 150, *at, "placeholder")
    most = number(part.get("max_values", 1), 1, 25, *at, "max_values")
    least = number(part.get("min_values", 1), 0, 25, *at, "min_values")
    if least > most:
        raise malformed("min_values must not exceed max_values.", *at, "min_values")
    if part["type"] == 3:
        options(part, at, 1, 25)
        if most > len(part["options"]):
            raise malformed("max_values must not exceed the number of options.", *at, "max_values")
        if sum(bool(each.get("default")) for each in part["options"]) > most:
            raise malformed("More default options than max_values.", *at, "options")


def options(part: Json, at: At, least: int, most: int) -> None:
    seen: set[str] = set()
    for i, each in enumerate(count(part.get("options"), least, most, *at, "options")):
        here: At = (*at, "options", i)
        text(each.get("label"), 1, 100, *here, "label")
        text(each.get("description"), 0, 100, *here, "description")
        value = text(each.get("value"), 1, 100, *here, "value")
        emoji(each.get("emoji"), here)
        if value in seen:
            raise malformed("The specified option value is already used", *here, "value")
        seen.add(value)


def unique_ids(components: list[Json]) -> None:
    seen: set[str] = set()
    for part in walk(components):
        name = part.get("custom_id")
        if name is not None and name in seen:
            raise malformed("Component custom id cannot be duplicated", "components")
        seen.add(str(name))


def allowed_mentions(allowed: Json | None) -> None:
    if allowed is None:
        return
    parse = allowed.get("parse", [])
    for name in ("users", "roles"):
        listed = count(allowed.get(name) or [], 0, 100, "allowed_mentions", name)
        if listed and name in parse:
            raise malformed(
                f"parse:[{name}] and {name}: [ids...] are mutually exclusive.", "allowed_mentions"
            )


# --- modals ----------------------------------------


def modal(data: Json) -> None:
    text(data.get("title"), 1, 45, "data", "title")
    custom_id(data, ("data",))
    parts = count(data.get("components"), 1, 5, "data", "components")
    for i, part in enumerate(parts):
        at: At = ("data", "components", i)
        if part.get("type") == 10:
            text(part.get("content"), 1, V2_TEXT, *at, "content")
        elif part.get("type") == 18:
            label(part, at)
        elif part.get("type") == 1:
            inputs = count(part.get("components"), 1, 1, *at, "components")
            if inputs[0].get("type") != 4:
                raise malformed("An action row of a modal holds one text input.", *at, "components")
            text(inputs[0].get("label"), 1, 45, *at, "components", 0, "label")
            text_input(inputs[0], (*at, "components", 0))
        else:
            raise malformed(f"A component of type {part.get('type')} cannot stand in a modal.", *at, "type")
    unique_ids(parts)


def label(part: Json, at: At) -> None:
    text(part.get("label"), 1, 45, *at, "label")
    text(part.get("description"), 0, 100, *at, "description")
    child = part.get("component")
    if not isinstance(child, dict) or child.get("type") not in IN_LABEL:
        raise malformed("A label wraps one input.", *at, "component")
    here: At = (*at, "component")
    kind = child["type"]
    if kind == 4:
        if child.get("label"):
            raise malformed("A text input inside a label has no label of its own.", *here, "label")
        text_input(child, here)
    elif kind in SELECTS:
        if child.get("disabled"):
            raise malformed("A select in a modal cannot be disabled.", *here, "disabled")
        select(child, here)
    else:
        custom_id(child, here)
        if kind in (21, 22):
            options(child, here, 2 if kind == 21 else 1, 10)


def text_input(part: Json, at: At) -> None:
    custom_id(part, at)
    number(part.get("style"), 1, 2, *at, "style")
    text(part.get("placeholder"), 0, 100, *at, "placeholder")
    text(part.get("value"), 0, 4000, *at, "value")
    least = number(given(part, "min_length", 0), 0, 4000, *at, "min_length")
    most = number(given(part, "max_length", 4000), 1, 4000, *at, "max_length")
    if least > most:
        raise malformed("min_length must not exceed max_length.", *at, "min_length")
    if part.get("value"):
        text(part["value"], least, most, *at, "value")


# --- commands ----------------------------------------


def commands(tree: list[Json]) -> None:
    """Check a bulk upsert."""
    seen: set[tuple[int, str]] = set()
    for i, command in enumerate(tree):
        kind = number(command.get("type", 1), 1, 3, i, "type")
        if kind == 1:
            command_name(command, (i,))
            text(command.get("description"), 1, 100, i, "description")
            command_options(command, (i,), 3)
            if (size := characters(command)) > 8000:
                raise malformed(f"Command exceeds maximum size (8000): it has {size} characters.", i)
        else:
            text(command.get("name"), 1, 32, i, "name")
            if command.get("description") or command.get("options"):
                raise malformed("Context menu commands cannot have descriptions or options.", i)
        key = (kind, command["name"])
        if key in seen:
            raise malformed("Application command names must be unique", i, "name")
        seen.add(key)
    for kind, most in ((1, 100), (2, 15), (3, 15)):
        if sum(1 for each, _ in seen if each == kind) > most:
            raise Refused(400, 30032, f"Maximum number of application commands reached ({most})")


def command_name(part: Json, at: At) -> None:
    name = part.get("name")
    if not isinstance(name, str) or not COMMAND_NAME.fullmatch(name) or name != name.lower():
        raise malformed(
            f"Command name is invalid: {name!r} (1-32 lower-case letters, digits, - or _).", *at, "name"
        )


def command_options(part: Json, at: At, above: int) -> None:
    """`above` is the kind of option around these: 3 the command itself, 2 a group, 1 a sub-command."""
    items = count(part.get("options") or [], 0, 25, *at, "options")
    kinds = {item.get("type") for item in items}
    if kinds & {1, 2} and kinds - {1, 2}:
        raise malformed(
            "Sub-command and sub-command group options are mutually exclusive to others.", *at, "options"
        )
    names = [item.get("name") for item in items]
    if len(set(names)) < len(names):
        raise malformed("Option names must be unique", *at, "options")
    optional = False
    for i, item in enumerate(items):
        here: At = (*at, "options", i)
        kind = number(item.get("type"), 1, 11, *here, "type")
        if kind < 3 and kind >= above:
            raise malformed("Sub-commands are nested too deeply.", *here, "type")
        command_name(item, here)
        text(item.get("description"), 1, 100, *here, "description")
        if kind < 3:
            if kind == 2:
                count(item.get("options"), 1, 25, *here, "options")
                if any(child.get("type") != 1 for child in item["options"]):
                    raise malformed("A sub-command group holds sub-commands only.", *here, "options")
            command_options(item, here, kind)
            continue
        if item.get("required") and optional:
            raise malformed("Required options must be placed before non-required options", *here, "required")
        optional = optional or not item.get("required")
        option_limits(item, here)


def option_limits(item: Json, at: At) -> None:
    offered = item.get("choices") or []
    if offered and item.get("autocomplete"):
        raise malformed("Choices and autocomplete are mutually exclusive.", *at, "choices")
    if (offered or item.get("autocomplete")) and item["type"] not in (3, 4, 10):
        raise malformed("Only texts and numbers can have choices or autocomplete.", *at, "type")
    choices(offered, item["type"], at)
    if item["type"] == 3:
        number(given(item, "min_length", 0), 0, 6000, *at, "min_length")
        number(given(item, "max_length", 6000), 1, 6000, *at, "max_length")


def choices(offered: object, kind: int, at: At) -> None:
    """Check choices of an option or the suggestions of an autocompletion (`kind` is the option's type)."""
    for i, each in enumerate(count(offered, 0, 25, *at, "choices")):
        here: At = (*at, "choices", i)
        text(each.get("name"), 1, 100, *here, "name")
        value = each.get("value")
        if kind == 3:
            text(value, 1, 100, *here, "value")
        elif not isinstance(value, (int, float)) or (kind == 4 and not isinstance(value, int)):
            raise malformed("The value does not fit the option's type.", *here, "value")


def characters(part: Json) -> int:
    """Names, descriptions and choice values of a command together; the longest localisation of each
    counts."""

    def longest(key: str, item: Json) -> int:
        said: Iterable[str] = (item.get(f"{key}_localizations") or {}).values()
        return max([len(str(item.get(key) or "")), *map(len, said)])

    own = longest("name", part) + longest("description", part)
    own += sum(longest("name", each) + len(str(each.get("value"))) for each in part.get("choices") or [])
    return own + sum(map(characters, part.get("options") or []))
