"""Pictures and files as an email has them: PNGs in the text, an animation and files attached."""

from __future__ import annotations

from collections.abc import Iterable

from bot.hub.request import ExportedFile
from bot.pictures.views import NamedPicture
from mail import InlineImage
from mail.port import Attachment

ANIMATION = "animation"
CSS_WIDTHS = {"market": 560}  # pixels
DEFAULT_CSS_WIDTH = 640


def inline_images(named: Iterable[NamedPicture]) -> tuple[InlineImage, ...]:
    """Pictures as a mail shows them; of several of a kind each has its own name."""
    images: list[InlineImage] = []
    for name, picture in named:
        count = sum(image.name.partition("-")[0] == name for image in images)
        own = f"{name}-{count + 1}" if count else name
        width = CSS_WIDTHS.get(name, DEFAULT_CSS_WIDTH)
        images.append(InlineImage(own, picture.png, picture.alt, width))
    return tuple(images)


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
