"""The parts of Discord messages: Components V2 as plain values, within Discord's limits (pure functions).

4000 characters and 40 components per message, 80 characters per button label, 100 per select option, 1024 per
picture description.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from bot.discord.controls.controls import MenuItem
from renderers import Picture

Json = dict[str, Any]

MAX_TEXT = 4000
MAX_ALT_TEXT = 1024
MARKS = re.compile(r"`[^`\n]+`|[`\\*_~|<\[]")
"""Code spans in a line, and the characters with which Discord marks text as code, bold, italic, struck
through or hidden, and begins mentions and links."""
PRIMARY, SECONDARY, SUCCESS, DANGER = 1, 2, 3, 4
ROW, GALLERY = 1, 12
"""Types of components: a row of controls, and pictures."""


class ImageAttachment(NamedTuple):
    """A picture to attach to a message, with its file name."""

    filename: str
    picture: Picture

    @property
    def alt(self) -> str:
        """Its description."""
        return truncate(self.picture.alt, MAX_ALT_TEXT)


def truncate(text: str, limit: int) -> str:
    """The text in at most `limit` characters; an em dash for an empty text, which Discord refuses."""
    return (text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…") or "—"


def escape_markdown(text: str) -> str:
    """Text that Discord shows as it is: `PRR 30%*, NYC 20%*` is in italics otherwise. Code spans stay."""
    return MARKS.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", text)


def text_display(content: str, limit: int = MAX_TEXT) -> Json:
    """A text display of at most `limit` characters."""
    return {"type": 10, "content": truncate(content, limit)}


def media_galleries(images: Sequence[ImageAttachment]) -> list[Json]:
    """Attached pictures with their descriptions, one per gallery so that each is as wide as the message."""
    return [
        {
            "type": 12,
            "items": [
                {"media": {"url": f"attachment://{image.filename}"}, "description": image.alt},
            ],
        }
        for image in images
    ]


def file_components(names: Sequence[str]) -> list[Json]:
    """Attached files, offered for download."""
    return [{"type": 13, "file": {"url": f"attachment://{name}"}} for name in names]


def container(parts: Sequence[Json]) -> Json:
    """A frame around components."""
    return {"type": 17, "components": list(parts)}


def button(label: str, custom_id: str, style: int = SECONDARY) -> Json:
    """A button that sends `custom_id` when it is pressed."""
    return {"type": 2, "style": style, "label": truncate(label, 80), "custom_id": custom_id}


def action_rows(buttons: Sequence[Json]) -> list[Json]:
    """Buttons in action rows of at most five."""
    return [{"type": 1, "components": list(buttons[i : i + 5])} for i in range(0, len(buttons), 5)]


def select_row(custom_id: str, placeholder: str, items: Sequence[MenuItem]) -> Json:
    """An action row with one select menu."""
    options = [
        {"label": truncate(each.label, 100), "value": each.value}
        | ({"description": truncate(each.description, 100)} if each.description else {})
        for each in items
    ]
    part = {"type": 3, "custom_id": custom_id, "placeholder": truncate(placeholder, 150), "options": options}
    return {"type": 1, "components": [part]}


def modal(title: str, custom_id: str, label: str, field: str, description: str = "", **details: Any) -> Json:
    """A form of one text field, whose id is `field`. description: below its label. details: of the field."""
    text = {"type": 4, "custom_id": field, "style": 1, "required": True, **details}
    part = {"type": 18, "label": label, "component": text}
    if description:
        part["description"] = truncate(description, 100)
    return {"title": truncate(title, 45), "custom_id": custom_id, "components": [part]}


def code_block(content: str, limit: int) -> str:
    """Text in fixed width, at most `limit` characters with its fences."""
    return f"```\n{truncate(content.replace('```', ''), limit - 8)}\n```"


def without_files(components: Sequence[Json]) -> list[Json]:
    """The components without pictures and files."""
    kept = [part for part in components if part["type"] not in (12, 13)]
    return [
        part | {"components": without_files(part["components"])} if part["type"] == 17 else part
        for part in kept
    ] or [text_display("The file cannot be attached here.")]
