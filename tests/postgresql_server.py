"""A PostgreSQL server for one run of the tests, from the installed package (Debian: postgresql)."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


def binaries() -> Path | None:
    """The folder of the newest installed server; None if there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")]
    if (other := shutil.which("pg_ctl")) is not None:
        found.append(Path(os.path.realpath(other)).parent)
    return max(found, key=lambda path: float(path.parent.name)) if found else None


def start_postgresql(options: Sequence[str] = ()) -> str:
    """Start a server on a free port of this machine; the address of a database. It ends with this process.

    The server does not run as root: root becomes `postgres`, the user of Debian's package. Returns "" where
    no server is installed.
    """
    folder = binaries()
    if folder is None:
        return ""
    data = Path(tempfile.mkdtemp(prefix="railpost-postgresql-"))
    become = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    )
    if become:
        shutil.chown(data, "postgres", "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*command: str) -> None:
        done = subprocess.run([*become, *command], cwd=data, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr or done.stdout}")

    cluster, log = str(data / "cluster"), str(data / "log")
    run(str(folder / "initdb"), "-D", cluster, "-U", "railpost", "-A", "trust", "-E", "UTF8", "--no-sync")
    # The server outlives every process that a test kills, so that it need not wait for the disk.
    unsafe = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
    addresses = ("listen_addresses=127.0.0.1", f"unix_socket_directories={data}")
    fixed = (f"port={port}", "max_connections=200", *unsafe, *addresses)
    arguments = " ".join([*(f"-c {setting}" for setting in fixed), *options])
    run(str(folder / "pg_ctl"), "-D", cluster, "-w", "-s", "-l", log, "-o", arguments, "start")

    def stop() -> None:
        subprocess.run(
            [*become, str(folder / "pg_ctl"), "-D", cluster, "-m", "immediate", "stop"],
            cwd="/", capture_output=True, check=False,
        )  # fmt: skip
        shutil.rmtree(data, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql+psycopg://railpost@127.0.0.1:{port}/postgres"
