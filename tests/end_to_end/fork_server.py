"""The real `railpost`, started quickly: all is imported once, and each line of standard input forks it.

A kill test needs a thousand processes, and most of the time of a start is the import of modules. Prints the
id of each process that it has forked. Leases expire after four seconds, and pictures have one pixel.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from datetime import timedelta

LEASE = 4.0


def main() -> None:
    """Fork for each line, until standard input ends."""
    from bot.__main__ import main as railpost
    from bot.discord import client
    from bot.email import delivery
    from bot.service import picture_workers
    from tests.fake_discord.running_bot import OnePixelPictures

    setattr(picture_workers, "PictureWorkers", lambda workers: OnePixelPictures())  # noqa: B010
    hurried = delivery.MailTiming(lease=timedelta(seconds=LEASE))
    delivery.run = functools.partial(delivery.run, timing=hurried)
    client.run = functools.partial(client.run, lease=LEASE)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.argv[1:] = []
    while sys.stdin.readline():
        if (process := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(2, 1)  # what the process prints is no answer of ours
            railpost()
            os._exit(0)
        print(process, flush=True)


if __name__ == "__main__":
    main()
