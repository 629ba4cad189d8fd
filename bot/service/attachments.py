"""What a running service talks to, and whether it is there."""

from datetime import datetime
from typing import Literal

import msgspec

AttachmentState = Literal["configured", "attached", "away", "standing by"]


class Attachment(msgspec.Struct):
    """What the service talks to: `discord`, `mail`. detail: the reason where it is away.

    Standing by: another process does what one does at a time.
    """

    name: str
    state: AttachmentState
    since: datetime
    detail: str = ""
