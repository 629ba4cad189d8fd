"""Whether mail is connected, for the operator: the mailbox and the SMTP server both have to work."""

from __future__ import annotations

from bot.service import Service


class MailConnection:
    """Puts what the parts of the mail channel report together, for `railpost status` and `/health`."""

    def __init__(self, service: Service, account: str) -> None:
        """account: as whom mail is connected, and where."""
        self._service = service
        self._account = account
        self._problems: dict[str, str] = {}
        self._seen: set[str] = set()
        self._warning = ""
        self._reads = True

    def report(self, part: str, problem: str) -> None:
        """A part works (empty), or not and why. SMTP is tried only when there is something to send."""
        self._seen.add(part)
        self._reads = self._reads or part == "mailbox"
        self._problems[part] = problem
        self._publish()

    def standing_by(self) -> None:
        """Another process reads the mailbox; this one sends."""
        self._seen.discard("mailbox")
        self._problems.pop("mailbox", None)
        self._reads = False
        self._publish()

    def warn(self, text: str) -> None:
        """Something that still works, but will not for long; empty when it is repaired."""
        self._warning = text
        self._publish()

    def _publish(self) -> None:
        problems = [f"{part}: {why}" for part, why in sorted(self._problems.items()) if why]
        if problems:
            self._service.report_connection("mail", "away", "; ".join(problems))
        elif not self._reads:
            detail = "another process reads the mailbox, and this one sends"
            self._service.report_connection("mail", "standing by", detail)
        elif "mailbox" in self._seen:
            detail = f"as {self._account}{f', but {self._warning}' if self._warning else ''}"
            self._service.report_connection("mail", "connected", detail)
