"""Everything that goes on beside the transports: status, watchdog, backups, checks."""

from __future__ import annotations

import asyncio

from bot.config import Settings
from bot.email.unsubscribe import UnsubscribePage
from bot.operations.backups import ScheduledBackups
from bot.operations.check import check_pages
from bot.operations.status import ErrorCounter, StatusMonitor
from bot.operations.status_server import Metrics, StatusServer, keep_watchdog
from bot.operations.store_watch import StoreWatch
from bot.service import Service


async def run_operations(service: Service, settings: Settings, errors: ErrorCounter | None) -> None:
    """Never returns. errors: the errors in the log are counted there."""
    backups, metrics = ScheduledBackups(service.store, settings), Metrics()
    errors = errors or ErrorCounter()
    monitor = StatusMonitor(service, settings.transports, errors, backups, settings.data)
    service.on_command = metrics.record_command
    async with asyncio.TaskGroup() as tasks:
        server = StatusServer(monitor, metrics, settings.data, settings.status_port)
        if settings.mail and settings.mail.unsubscribe_url:
            server.add_pages(UnsubscribePage(service).add_to)
        tasks.create_task(server.run())
        tasks.create_task(keep_watchdog(service.store))
        tasks.create_task(backups.run())
        tasks.create_task(service.retainer.run_log())
        tasks.create_task(StoreWatch(service.store).run())
        tasks.create_task(check_pages(service.store, settings.data, at_start=False))
