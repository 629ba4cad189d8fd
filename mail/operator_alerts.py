"""What the operator is told at once."""

from collections.abc import Callable
from datetime import datetime, timedelta

from mail.port import ServicePort


class OperatorAlerts:
    """Alerts the operator, at most once an hour for each kind of alert."""

    def __init__(self, service: ServicePort, now: Callable[[], datetime]) -> None:
        self._service = service
        self._now = now
        self._last_sent: dict[str, datetime] = {}

    async def send(self, kind: str, text: str) -> None:
        """Send an alert, unless one of this kind was sent in the last hour."""
        last = self._last_sent.get(kind)
        if last is None or self._now() - last >= timedelta(hours=1):
            self._last_sent[kind] = self._now()
            await self._service.alert_operator(text)
