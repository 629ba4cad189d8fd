"""A PostgreSQL server for one run of the tests, from the installed package (Debian: postgresql)."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path


def binaries() -> Path | None:
    """The folder of the newest installed server; None if there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")]
    if (other := shutil.which("pg_ctl")) is not None:
        found.append(Path(os.path.realpath(other)).parent)
    return max(found, key=lambda path: float(path.parent.name)) if found else None


class PostgresqlServer:
    """A server on a free port of this machine, which can be stopped and started again.

    It does not run as root: root becomes `postgres`, the user of Debian's package. address: of a database.
    """

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._data = data = Path(tempfile.mkdtemp(prefix="railpost-postgresql-"))
        self._become = list[str]()
        if os.geteuid() == 0:
            self._become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(data, "postgres", "postgres")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"postgresql+psycopg://railpost@127.0.0.1:{port}/postgres"
        # The server outlives every process that a test kills, so that it need not wait for the disk.
        unsafe = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
        addresses = ("listen_addresses=127.0.0.1", f"unix_socket_directories={data}")
        fixed = (f"port={port}", "max_connections=200", *unsafe, *addresses)
        self._arguments = " ".join(f"-c {setting}" for setting in fixed)
        made = ("-U", "railpost", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._run("initdb", "-D", self._cluster, *made)
        self.start()

    @property
    def _cluster(self) -> str:
        return str(self._data / "cluster")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._become, str(self._programs / program), *arguments]
        done = subprocess.run(command, cwd=self._data, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr or done.stdout}")

    def start(self) -> None:
        """Start it, and wait until it listens."""
        log = str(self._data / "log")
        self._run("pg_ctl", "-D", self._cluster, "-w", "-s", "-l", log, "-o", self._arguments, "start")

    def stop(self) -> None:
        """Stop it at once, as if it had crashed."""
        self._run("pg_ctl", "-D", self._cluster, "-m", "immediate", "stop")

    def freeze(self) -> None:
        """Let it hang: it still takes connections, by its system, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the server and its processes; it first, so that it starts no further one."""
        pid_file = Path(self._cluster) / "postmaster.pid"
        first = int(pid_file.read_text().split()[0])
        os.kill(first, number)
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                pid, _, rest = status.read_text().partition(" ")
                if int(rest.rpartition(")")[2].split()[1]) == first:
                    os.kill(int(pid), number)

    def remove(self) -> None:
        """Stop it if it runs, and delete its data."""
        with suppress(RuntimeError, OSError):
            self.thaw()
            self.stop()
        shutil.rmtree(self._data, ignore_errors=True)


def start_postgresql() -> str:
    """Start a server that ends with this process; the address of a database, or "" without a server."""
    programs = binaries()
    if programs is None:
        return ""
    server = PostgresqlServer(programs)
    atexit.register(server.remove)
    return server.address
