"""The process in which robots think."""

import os
import subprocess
import sys

THINKING = """
import asyncio, os, signal
from bot.features.robots.worker import RobotWorker
from engine import new_game

async def main():
    worker = RobotWorker(0.0)
    state, _ = new_game("1830", ["Ann", "Bob", "Cid"], (), 1)
    print((await worker.decide(state, "p0", 1)).line, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_the_process_ends_with_a_service_that_is_killed() -> None:
    """It holds the output of the service: as long as it lives, the output does not end."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", THINKING]
    killed = subprocess.run(
        command, capture_output=True, text=True, timeout=200, check=False, env=environment
    )
    assert killed.returncode == -9 and killed.stdout.strip()
