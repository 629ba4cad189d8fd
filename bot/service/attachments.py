"""What a running service talks to, and whether it is there."""

from datetime import datetime
from typing import Literal

import msgspec

AttachmentState = Literal["configured", "attached", "away"]


class Attachment(msgspec.Struct):
    """What the service talks to: `discord`, `mail`. detail: the reason where it is away."""

    name: str
    state: AttachmentState
    since: datetime
    detail: str = ""
