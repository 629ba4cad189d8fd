"""Discord's limits for what a bot sends: messages, components, modals, commands, choices.

Pure functions on JSON objects; each raises `ApiError` (mostly 400/50035) for the first error. The numbers are
Discord's published limits; where a rule is not published, the fake is strict. What no card of ours has is
refused, such as embeds, sections, links, emoji, components without the flag V2, and selects in forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.fake_discord.models import ApiError, Json, invalid_form, walk_components

CONTENT, V2_TEXT, V2_COMPONENTS, FILES = 2000, 4000, 40, 10
REQUEST_BYTES = 25 * 1024 * 1024
IN_CONTAINER = frozenset({1, 10, 12, 13, 14})
IN_MESSAGE = IN_CONTAINER | {17}
AUTO_ARCHIVE = frozenset({60, 1440, 4320, 10080})

FieldPath = tuple[str | int, ...]


def check_text(value: object, least: int, most: int, *at: str | int) -> str:
    """Require a string of `least` to `most` characters; a missing one has no characters."""
    if value is not None and not isinstance(value, str):
        raise invalid_form("Must be a string.", *at)
    length = len(value or "")
    if not least <= length <= most:
        raise invalid_form(f"Must be between {least} and {most} in length (it is {length}).", *at)
    return value or ""


def check_list(items: object, least: int, most: int, *at: str | int) -> list[Any]:
    if not isinstance(items, list):
        raise invalid_form("Must be a list.", *at)
    if not least <= len(items) <= most:
        raise invalid_form(f"Must be between {least} and {most} in length (it has {len(items)}).", *at)
    return items


def check_integer(value: object, least: int, most: int, *at: str | int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise invalid_form(f"Must be a whole number from {least} to {most} (it is {value!r}).", *at)
    return value


# --- messages ----------------------------------------


def check_message(*, content: str, components: list[Json], files: int, v2: bool, thinking: bool) -> None:
    """Check a message as it would be after the request. Errors: 50006 empty, 50035 anything else."""
    check_text(content, 0, CONTENT, "content")
    if files > FILES:
        raise invalid_form(f"Must be {FILES} or fewer in length (it has {files}).", "attachments")
    if v2:
        if content:
            raise invalid_form("The message flag for components V2 cannot go with content.", "content")
    elif components:
        raise invalid_form("No message of ours has components without the V2 flag.", "components")
    check_components(components)
    if not (content.strip() or components or (files and not v2) or thinking):
        raise ApiError(400, 50006, "Cannot send an empty message")
    check_unique_ids(components)


def check_fields(part: Json, allowed: str, at: FieldPath) -> None:
    """Refuse what no part of ours has."""
    if others := set(part) - set(allowed.split()):
        raise invalid_form(f"No part of ours has {', '.join(sorted(others))}.", *at)


def check_components(components: list[Json]) -> None:
    total = sum(1 for _ in walk_components(components))
    if total > V2_COMPONENTS:
        raise invalid_form(
            f"The total number of components must be at most {V2_COMPONENTS} (it is {total}).", "components"
        )
    text_length = sum(
        len(part.get("content") or "") for part in walk_components(components) if part.get("type") == 10
    )
    if text_length > V2_TEXT:
        raise invalid_form(
            f"The total displayable text must be at most {V2_TEXT} (it is {text_length}).", "components"
        )
    for i, part in enumerate(components):
        check_component(part, ("components", i), IN_MESSAGE)


def check_component(part: Json, at: FieldPath, allowed: frozenset[int]) -> None:
    kind = part.get("type")
    if kind not in allowed:
        raise invalid_form(f"A component of type {kind} is not allowed here.", *at, "type")
    if kind == 1:
        check_action_row(part, at)
    elif kind == 10:
        check_text(part.get("content"), 1, V2_TEXT, *at, "content")
    elif kind == 12:
        for i, item in enumerate(check_list(part.get("items"), 1, 10, *at, "items")):
            check_media(item.get("media"), (*at, "items", i, "media"))
            check_text(item.get("description"), 0, 1024, *at, "items", i, "description")
    elif kind == 13:
        check_media(part.get("file"), (*at, "file"))
    elif kind == 17:
        for i, child in enumerate(check_list(part.get("components"), 1, V2_COMPONENTS, *at, "components")):
            check_component(child, (*at, "components", i), IN_CONTAINER)


def check_media(item: object, at: FieldPath) -> None:
    if not isinstance(item, dict) or not str(item.get("url", "")).startswith(("attachment://", "http://")):
        raise invalid_form("Not a well formed URL.", *at, "url")


def check_action_row(row: Json, at: FieldPath) -> None:
    children = check_list(row.get("components"), 1, 5, *at, "components")
    kinds = {child.get("type") for child in children}
    if kinds - {2} and (len(children) > 1 or kinds != {3}):
        raise invalid_form("An action row holds up to five buttons or a single select.", *at, "components")
    for i, child in enumerate(children):
        (check_button if child["type"] == 2 else check_select)(child, (*at, "components", i))


def check_button(part: Json, at: FieldPath) -> None:
    check_fields(part, "type style label custom_id disabled", at)
    if part.get("disabled"):
        raise invalid_form("No button of ours is disabled.", *at, "disabled")
    check_integer(part.get("style"), 1, 4, *at, "style")
    check_text(part.get("label"), 1, 80, *at, "label")
    check_custom_id(part, at)


def check_custom_id(part: Json, at: FieldPath) -> None:
    check_text(part.get("custom_id"), 1, 100, *at, "custom_id")


def check_select(part: Json, at: FieldPath) -> None:
    check_fields(part, "type custom_id placeholder max_values options", at)
    check_custom_id(part, at)
    check_text(part.get("placeholder"), 0, 150, *at, "placeholder")
    most = check_integer(part.get("max_values", 1), 1, 25, *at, "max_values")
    if most > check_options(part, at):
        raise invalid_form("max_values must not exceed the number of options.", *at, "max_values")


def check_options(part: Json, at: FieldPath) -> int:
    """Check the options of a select; how many there are."""
    seen: set[str] = set()
    options = check_list(part.get("options"), 1, 25, *at, "options")
    for i, each in enumerate(options):
        here: FieldPath = (*at, "options", i)
        check_fields(each, "label description value", here)
        check_text(each.get("label"), 1, 100, *here, "label")
        check_text(each.get("description"), 0, 100, *here, "description")
        value = check_text(each.get("value"), 1, 100, *here, "value")
        if value in seen:
            raise invalid_form("The specified option value is already used", *here, "value")
        seen.add(value)
    return len(options)


def check_unique_ids(components: list[Json]) -> None:
    seen: set[str] = set()
    for part in walk_components(components):
        name = part.get("custom_id")
        if name is not None and name in seen:
            raise invalid_form("Component custom id cannot be duplicated", "components")
        seen.add(str(name))


def check_allowed_mentions(allowed: Json | None) -> None:
    """What may be mentioned: users by their ids, and nobody else."""
    if allowed is None or allowed.get("parse") or allowed.get("roles"):
        raise invalid_form("A message of ours says which users it mentions.", "allowed_mentions")
    listed = check_list(allowed.get("users") or [], 0, 100, "allowed_mentions", "users")
    if len(set(listed)) < len(listed):
        raise invalid_form("The set already contains this value", "allowed_mentions", "users")


# --- modals ----------------------------------------


def check_modal(data: Json) -> None:
    check_text(data.get("title"), 1, 45, "data", "title")
    check_custom_id(data, ("data",))
    parts = check_list(data.get("components"), 1, 5, "data", "components")
    for i, part in enumerate(parts):
        at: FieldPath = ("data", "components", i)
        if part.get("type") != 18:
            raise invalid_form(
                f"A component of type {part.get('type')} is not allowed in a modal.", *at, "type"
            )
        check_label(part, at)
    check_unique_ids(parts)


def check_label(part: Json, at: FieldPath) -> None:
    check_text(part.get("label"), 1, 45, *at, "label")
    check_text(part.get("description"), 0, 100, *at, "description")
    child = part.get("component")
    if not isinstance(child, dict) or child.get("type") != 4:
        raise invalid_form("A label wraps one text input.", *at, "component")
    here: FieldPath = (*at, "component")
    if child.get("label"):
        raise invalid_form("A text input inside a label has no label of its own.", *here, "label")
    check_text_input(child, here)


def check_text_input(part: Json, at: FieldPath) -> None:
    check_custom_id(part, at)
    check_integer(part.get("style"), 1, 2, *at, "style")
    check_text(part.get("placeholder"), 0, 100, *at, "placeholder")
    check_text(part.get("value"), 0, 4000, *at, "value")
    least = check_integer(part.get("min_length") or 0, 0, 4000, *at, "min_length")
    most = check_integer(part.get("max_length", 4000), 1, 4000, *at, "max_length")
    if least > most:
        raise invalid_form("min_length must not exceed max_length.", *at, "min_length")
    if part.get("value"):
        check_text(part["value"], least, most, *at, "value")


# --- commands ----------------------------------------


def check_commands(tree: list[Json]) -> None:
    """Check a bulk upsert. The library judges names, kinds and the order of options before it sends them."""
    for i, command in enumerate(tree):
        check_command(command, (i,))
        if (size := command_size(command)) > 8000:
            raise invalid_form(f"Command exceeds maximum size (8000): it has {size} characters.", i)


def check_command(part: Json, at: FieldPath) -> None:
    """Check a command, or an option of one: both have a description and options of their own."""
    check_text(part.get("description"), 1, 100, *at, "description")
    for name in ("default_member_permissions", "min_length", "max_length"):
        if part.get(name) is not None:
            raise invalid_form(f"No command of ours has {name}.", *at, name)
    if part.get("choices") and part.get("autocomplete"):
        raise invalid_form("Choices and autocomplete are mutually exclusive.", *at, "choices")
    check_choices(part.get("choices") or [], at)
    for i, option in enumerate(check_list(part.get("options") or [], 0, 25, *at, "options")):
        check_command(option, (*at, "options", i))


def check_choices(offered: object, at: FieldPath) -> None:
    """Check the choices of an option, or the suggestions of autocompletion. All of ours are texts."""
    for i, each in enumerate(check_list(offered, 0, 25, *at, "choices")):
        check_text(each.get("name"), 1, 100, *at, "choices", i, "name")
        check_text(each.get("value"), 1, 100, *at, "choices", i, "value")


def command_size(part: Json) -> int:
    """The characters of all names, descriptions and choice values, each in its longest localization."""

    def longest(key: str, item: Json) -> int:
        localized: Iterable[str] = (item.get(f"{key}_localizations") or {}).values()
        return max([len(str(item.get(key) or "")), *map(len, localized)])

    own = longest("name", part) + longest("description", part)
    own += sum(longest("name", each) + len(str(each.get("value"))) for each in part.get("choices") or [])
    return own + sum(map(command_size, part.get("options") or []))
