"""Pictures and files as an email has them: PNGs in the text, an animation and files attached."""

from __future__ import annotations

from collections.abc import Iterable

from bot.service.images import NamedPicture, inline_images
from bot.service.results import ExportedFile
from mail import InlineImage
from mail.port import Attachment

ANIMATION = "animation"


def mail_pictures(
    named: Iterable[NamedPicture],
) -> tuple[tuple[InlineImage, ...], tuple[Attachment, ...]]:
    """The pictures that stand in the text, and the animation as a file."""
    pictures = list(named)
    images = inline_images(each for each in pictures if each.name != ANIMATION)
    files = (
        Attachment("animation.gif", "image/gif", each.picture.png)
        for each in pictures
        if each.name == ANIMATION
    )
    return images, tuple(files)


def mail_file(file: ExportedFile) -> Attachment:
    """A file of the service as an email has it."""
    return Attachment(file.name, file.media_type, file.content)
