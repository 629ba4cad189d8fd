"""What the operator is told at once, in the log, which they read."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MAX_KINDS = 1000

log = logging.getLogger(__name__)


class OperatorAlerts:
    """Alerts the operator, not more often than once in some time for each kind of alert."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last_sent: dict[str, datetime] = {}

    def send(self, kind: str, text: str, every: timedelta = HOUR) -> None:
        """Send an alert, unless one of this kind was sent within `every`."""
        last = self._last_sent.get(kind)
        if last is None or self._now() - last >= every:
            if len(self._last_sent) >= MAX_KINDS:
                self._last_sent.clear()
            self._last_sent[kind] = self._now()
            log.error("for the operator: %s", text)
