"""The files of this process that may name a person: mails, the log, and what the terminal has saved; and
once a day what has been kept long enough is deleted: games that are over, people who were invited and never
came, and lines of the log.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import parseaddr
from pathlib import Path

from bot.features.privacy.replacing import Replacing, mail_text
from bot.hub.cache import RETENTION
from bot.hub.notifications.preferences import deputies_in
from bot.hub.people import PrivacySettings
from engine.core.words import counted
from mail.reply_address import own_address, redact
from storage import Store, StoreError, write_whole

ERASED = "(erased)"
DAY = re.compile(r'^(?:\{"time":")?(\d{4}-\d{2}-\d{2})[ T]')
"""The day with which a line of the log begins, in text or JSON. A line without one belongs to that before."""

FROM = re.compile("^From: (.*)$", re.MULTILINE | re.IGNORECASE)


def _is_from(text: str, own: Iterable[str], of_others: Collection[str]) -> bool:
    """Whether a mail comes from a person with these addresses, or from one of them with another `+tag`."""
    found = FROM.search(text)
    sender = parseaddr(found[1])[1].casefold() if found else ""
    return own_address(sender, {each.casefold() for each in own}, of_others) is not None


def _contents(paths: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
    """Files with what is in them, without those that somebody deletes meanwhile."""
    for path in paths:
        with suppress(FileNotFoundError):
            yield path, path.read_bytes()


class DataFolder:
    """The data folder of a process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mails_from(self, addresses: Sequence[str], of_others: Collection[str]) -> list[str]:
        """The mails that are kept of a person, as text without secrets."""
        texts = [mail_text(raw) for _, raw in _contents(self._files("inbound_mail", "*.eml"))]
        return [redact(text) for text in texts if _is_from(text, addresses, of_others)]

    async def erase(self, replacing: Replacing, codes: Sequence[str], of_others: Collection[str]) -> None:
        """Take a person out of the files. codes: of the tables with which they have had to do. of_others:
        the addresses of other people."""
        await asyncio.to_thread(self._erase, replacing, codes, of_others)

    def erase_mails(self, replacing: Replacing, of_others: Collection[str]) -> None:
        """Delete the mails that name a person, or come from them."""
        for path, raw in _contents(self._files("inbound_mail", "*")):
            if replacing.holds(text := mail_text(raw)) or _is_from(text, replacing.identifiers, of_others):
                path.unlink(missing_ok=True)

    def _erase(self, replacing: Replacing, codes: Sequence[str], of_others: Collection[str]) -> None:
        self.erase_mails(replacing, of_others)
        for path in self._of_tables("pictures", codes):
            path.unlink(missing_ok=True)
        for path, raw in _contents(self._of_tables("games", codes)):
            if replacing.holds(text := raw.decode("utf-8", "replace")):
                rewrite = replacing.game_text if path.suffix == ".18xx" else replacing.text
                write_whole(path, rewrite(text).encode())
        blotted = Replacing(replacing.identifiers, replacing.names, ERASED)
        self._rewrite_logs(blotted.text)

    def delete_log_before(self, day: datetime) -> None:
        """Delete the lines of the log from before a day."""
        first, is_kept = f"{day:%Y-%m-%d}", True

        def kept(line: str) -> str:
            nonlocal is_kept
            if found := DAY.match(line):
                is_kept = found[1] >= first
            return line if is_kept else ""

        self._rewrite_logs(kept)

    def _files(self, folder: str, pattern: str) -> Iterator[Path]:
        yield from sorted(path for path in (self._path / folder).glob(pattern) if path.is_file())

    def _of_tables(self, folder: str, codes: Iterable[str]) -> Iterator[Path]:
        """The files that the terminal has saved of these tables; their names begin with the code."""
        for code in codes:
            yield from (
                path for path in self._files(folder, f"{code}*") if re.match(rf"{code}[.-]", path.name)
            )

    def _rewrite_logs(self, rewrite: Callable[[str], str]) -> None:
        """Rewrite the log line by line, oldest first, while nothing is written to it."""
        current = self._path / "railpost.log"
        handlers = [
            each for each in logging.getLogger().handlers
            if isinstance(each, logging.FileHandler) and Path(each.baseFilename) == current.absolute()
        ]  # fmt: skip
        for handler in handlers:
            handler.acquire()
        try:
            for handler in handlers:
                if handler.stream is not None:
                    handler.stream.close()
                    handler.stream = None  # the next record opens it again
            for path in sorted(self._path.glob("railpost.log*"), reverse=True):
                before = path.read_text(encoding="utf-8", errors="replace")
                after = "".join(map(rewrite, before.splitlines(keepends=True)))
                if after != before:
                    path.write_text(after, encoding="utf-8")  # a second service may have it open
        finally:
            for handler in handlers:
                handler.release()


log = logging.getLogger(__name__)

INTERVAL = timedelta(hours=24)


class Retainer:
    """Deletes games and people for all processes of a store, and the lines of the log of this one."""

    def __init__(self, store: Store, settings: PrivacySettings) -> None:
        self._store, self._settings = store, settings
        self._folder = DataFolder(settings.data) if settings.data else None

    async def run(self) -> None:
        """Delete games and people once a day. One process of a store does it. Never returns."""
        await _daily(self.delete_old, "what has been kept long enough could not be deleted: %s")

    async def run_log(self) -> None:
        """Delete lines of the log once a day. Every process does it. Never returns."""
        await _daily(self.delete_log_lines, "the log could not be shortened: %s")

    async def delete_old(self) -> None:
        """Delete what has been kept long enough."""
        await self.delete_games()
        await self.delete_invited()

    async def delete_invited(self) -> int:
        """Delete the people who were invited by email long ago and have never said yes; how many. People who
        want no emails stay, so that nobody invites them again; so do deputies of others."""
        async with self._store.begin() as unit:
            invited = await unit.personal_data.invited_before(unit.now - RETENTION)
            deputies = set[int]().union(*map(deputies_in, await unit.personal_data.all_preferences()))
            found = [
                person
                for person in invited
                if person.preferences.get("mail") is not False and person.id not in deputies
            ]
            for person in found:
                await unit.personal_data.forget(person.id, ())
        if found:
            log.info("deleted: %s that nobody has answered", counted(len(found), "invitation"))
        return len(found)

    async def delete_games(self) -> int:
        """Delete the games that have been over for long enough; how many."""
        if not self._settings.game_days:
            return 0
        async with self._store.read() as unit:
            before = unit.now - timedelta(days=self._settings.game_days)
            found = await unit.personal_data.tables_over_before(before)
        for table_id in found:
            async with self._store.begin(table=table_id) as unit:
                await unit.personal_data.delete_table(table_id)
        if found:
            log.info("deleted: %s over since before %s", counted(len(found), "game"), f"{before:%Y-%m-%d}")
        return len(found)

    async def delete_log_lines(self) -> None:
        """Delete the lines of the log that are old enough."""
        if self._settings.log_days and self._folder is not None:
            before = self._store.now() - timedelta(days=self._settings.log_days)
            await asyncio.to_thread(self._folder.delete_log_before, before)


async def _daily(step: Callable[[], Awaitable[object]], complaint: str) -> None:
    """Take a step once a day, also after it has failed. Never returns."""
    while True:
        try:
            await step()
        except (StoreError, OSError) as error:
            log.warning(complaint, error)
        await asyncio.sleep(INTERVAL.total_seconds())
