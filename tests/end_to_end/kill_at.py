"""The real `railpost` that kills itself at one point: MODULE:CLASS.METHOD before|after COUNT.

It dies at the COUNT-th call of that coroutine, before its body or after it has returned. Its leases expire
after two seconds, so that the next process need not wait.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from datetime import timedelta
from importlib import import_module
from typing import Any

LEASE = 2.0


def kill_at(module: str, path: str, when: str, count: int) -> None:
    """Wrap the coroutine so that the process kills itself there."""
    owner = getattr(import_module(module), path.partition(".")[0])
    name = path.partition(".")[2]
    method = getattr(owner, name)
    calls = 0

    @functools.wraps(method)
    async def dying(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        mine = calls
        if when == "before" and mine == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await method(*args, **kwargs)
        if when == "after" and mine == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)


def main() -> None:
    """Wrap the coroutine, then run the program."""
    place, when, count = sys.argv[1:4]
    module, _, path = place.partition(":")
    from bot.discord import client
    from bot.email import delivery

    mail, discord = delivery.run, client.run
    hurried = delivery.MailTiming(lease=timedelta(seconds=LEASE))
    delivery.run = functools.partial(mail, timing=hurried)
    client.run = functools.partial(discord, lease=LEASE)
    kill_at(module, path, when, int(count))
    sys.argv[1:] = []
    from bot.__main__ import main as railpost

    railpost()


if __name__ == "__main__":
    main()
