"""What the host has set about the data of people."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class PrivacySettings(NamedTuple):
    """url: where the host says what is kept of people; empty for none. game_days, log_days: for how many days
    games that are over and lines of the log are kept; 0 without an end. data: the folder of this process.
    has_mailbox: mail of people lies in a mailbox."""

    url: str = ""
    game_days: int = 0
    log_days: int = 0
    data: Path | None = None
    has_mailbox: bool = False
