"""Metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.operations.status import StatusReport

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """All metrics of this process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self._commands = Counter(
            "railpost_commands", "Commands carried out", ["transport", "result"], registry=registry
        )
        self._seconds = Histogram(
            "railpost_command_seconds", "From a command to its result", buckets=BUCKETS, registry=registry
        )
        self._healthy = Gauge("railpost_healthy", "1 if nothing needs the operator", registry=registry)
        self._tables = Gauge("railpost_tables", "Tables in the store", ["status"], registry=registry)
        self._in_memory = Gauge("railpost_tables_in_memory", "Tables in memory", registry=registry)
        self._pending = Gauge("railpost_outbox_pending", "Messages waiting", ["channel"], registry=registry)
        self._oldest = Gauge(
            "railpost_outbox_oldest_seconds", "Wait of the first message", ["channel"], registry=registry
        )
        self._dead = Gauge("railpost_outbox_dead", "Messages given up", ["channel"], registry=registry)
        self._pictures = Gauge("railpost_pictures_waiting", "Pictures waiting", registry=registry)
        self._errors = Gauge("railpost_log_errors", "Errors in the log since the start", registry=registry)
        self._unreadable = Gauge(
            "railpost_tables_unreadable", "Tables that could not be read since the start", registry=registry
        )
        self._leading = Gauge(
            "railpost_job_leading",
            "1 if this process does the job, 0 if it stands by",
            ["job"],
            registry=registry,
        )
        self._attached = Gauge("railpost_connected", "1 if connected", ["name"], registry=registry)

    def record_command(self, transport: str, result: str, seconds: float) -> None:
        """Count a command. result: the name of its result's class."""
        self._commands.labels(transport, result).inc()
        self._seconds.observe(seconds)

    def text(self, report: StatusReport) -> bytes:
        """All metrics in Prometheus' format, with those of a status."""
        self._healthy.set(report.is_healthy)
        self._in_memory.set(report.tables_in_memory)
        self._pictures.set(report.waiting_pictures)
        self._errors.set(report.errors)
        self._unreadable.set(len(report.unreadable))
        for job in report.jobs:
            self._leading.labels(job.name).set(job.state != "standing by")
        self._tables.clear()
        for status, count in (report.tables or {}).items():
            self._tables.labels(status).set(count)
        for queue in report.queues:
            self._pending.labels(queue.channel).set(queue.pending)
            self._oldest.labels(queue.channel).set(queue.oldest_seconds)
            self._dead.labels(queue.channel).set(queue.dead)
        for connection in report.connections:
            self._attached.labels(connection.name).set(connection.state == "connected")
        return generate_latest(self.registry)
